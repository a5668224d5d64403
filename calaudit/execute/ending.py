"""How a step ended: the first thing that is wrong with it is raised, with where its logs are."""

from collections.abc import Mapping
from pathlib import Path

from calaudit.execute.masking import Needles
from calaudit.execute.nouns import NO_NETWORK, Log, Outcome, Step, StepFailed

__all__ = ["demand_good_end", "demand_no_leak", "logs"]


def demand_good_end(step: Step, outcome: Outcome) -> None:
    """Hold how a command ended against what the step says.

    Raises:
        StepFailed: with the first thing that is wrong.
    """
    name = f"The step {step.name}"
    leak = next(((log, log.leaked[0]) for log in (outcome.stdout, outcome.stderr) if log.leaked), None)
    if outcome.interrupted:
        raise StepFailed(f"{name} was interrupted.\n{logs(outcome)}", interrupted=True)
    if leak is not None:
        said = (
            f"{name} wrote the secret {leak[1]} to its output; {leak[0].path} is masked, or withheld. Change its value."
        )
    elif outcome.timed_out:
        said = f"{name} ran longer than its timeout_s of {step.timeout_s:g} s and was ended."
    elif step.network == NO_NETWORK and outcome.network_attempts:
        said = (
            f"{name} tried to reach a network, and port.yaml says network: none "
            f"({'; '.join(outcome.network_attempts)}). What it would fetch has to be a material."
        )
    elif outcome.trouble is not None:
        said = f"{name} was not run to its end. {outcome.trouble}"
    elif outcome.signal is not None:
        said = f"{name} was ended by signal {outcome.signal}."
    elif outcome.exit_code:
        said = f"{name} ended with exit code {outcome.exit_code}."
    else:
        lost = next((log for log in (outcome.stdout, outcome.stderr) if log.lost is not None), None)
        if lost is None:
            return
        said = f"The log {lost.path} of the step {step.name} could not be written: {lost.lost}."
    raise StepFailed(f"{said}\n{logs(outcome)}")


def demand_no_leak(step: Step, space: Path, products: Mapping[str, str], secrets: Mapping[str, str]) -> None:
    """Look for secrets in what a command made.

    Raises:
        StepFailed: one is in a product, or in its name.
    """
    needles = Needles(secrets)
    for path in products:
        named = needles.in_bytes(path.encode())
        for name in sorted(named | needles.in_file(space / path)):
            raise StepFailed(
                f"The step {step.name} wrote the secret {name} into {path if not named else 'the name of a product'}. "
                "Nothing was published; change its value if others could read it."
            )


def logs(outcome: Outcome) -> str:
    """Where the logs are, and the last lines of the one that says something."""
    said = f"Logs: {outcome.stdout.path}, {outcome.stderr.path}"
    last = outcome.stderr if outcome.stderr.tail.strip() else outcome.stdout
    return said + _last_lines(last)


def _last_lines(log: Log) -> str:
    lines = log.tail.rstrip().splitlines()[-10:]
    return "".join(f"\n  {line}" for line in lines)
