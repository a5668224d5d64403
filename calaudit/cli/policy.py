"""``calaudit policy``: check the rules themselves, and run the cases of the policies."""

from collections.abc import Sequence
from pathlib import Path

import click

from calaudit.cli._shared import cue_option, emit, policy_option, terminal_width, vetter_for

__all__ = ["command"]

root_option = click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder that holds schemas/ and policies/; by default the contract that calaudit ships.",
)


@click.group("policy")
def command() -> None:
    """List and test the policies."""


@command.command("list")
@root_option
@policy_option
def list_policies(root: Path | None, policies: Sequence[Path]) -> int:
    """List the rules of every policy with their cases."""
    from calaudit.cli._policy_cases import suites
    from calaudit.cli._policy_files import Folder
    from calaudit.cli._wrapping import hanging

    width = terminal_width()
    found = list(suites(Folder(root, policies)))
    for suite in found:
        emit(f"{suite.policy}\n")  # one word, whole: it can be copied
        for rule in suite.rules:
            count = sum(case.rule is rule for case in suite.cases)
            emit(f"  {rule.rule.key:<36} {rule.rule.level:<8} {count:>3} case(s)\n")
            emit("".join(f"{line}\n" for line in hanging(f"      {rule.rule.title}", width, hang=0)))
    return _told([fault for suite in found for fault in suite.faults]) if found else 0


@command.command("lint", epilog="Exit: 0 nothing to mend, 1 faults, 2 usage or contract.")
@root_option
@policy_option
def lint_command(root: Path | None, policies: Sequence[Path]) -> int:
    """Check all rules: names, prose, expressions, what no waiver may reach, and a case for each kind of result."""
    from calaudit.checks import discover
    from calaudit.cli._case_tables import kinds_shown
    from calaudit.cli._policy_cases import suites
    from calaudit.cli._policy_files import Folder
    from calaudit.cli._policy_lint import lint, whole

    folder = Folder(root, policies)
    found = list(suites(folder))
    shown = kinds_shown()
    faults = [*lint(found, folder.thresholds(), shown)]
    # A policy that cannot be used was told of with all its faults; loading it would stop at the first once more.
    code = _told(faults if any(suite.faults for suite in found) else [*faults, *whole(folder)])
    if shown is None:
        emit("This installation has no tests/cases, so whether each check has its cases was not looked at.\n")
    if code == 0:
        rules = sum(len(suite.rules) for suite in found)
        emit(f"{len(discover())} checks and {rules} rules in {len(found)} policies: nothing to mend.\n")
    return code


@command.command("test", epilog="Exit: 0 all cases as expected, 1 not so, 2 usage or contract.")
@root_option
@policy_option
@cue_option
@click.argument("rules", nargs=-1, metavar="[RULE]…")
def test_command(rules: Sequence[str], root: Path | None, policies: Sequence[Path], cue: Path | None) -> int:
    """Run the cases beside the policies; RULE (an id) limits them to some rules.

    With --policy it runs the cases of those directories only.
    """
    from calaudit.checks.cue_rule import engaged
    from calaudit.cli._policy_cases import suites
    from calaudit.cli._policy_files import Folder
    from calaudit.cli._policy_judging import judged
    from calaudit.errors import UsageError

    folder = Folder(root, policies, shipped=not policies)
    vetter = vetter_for(tuple(folder.cue.values()), cue)
    engaged(tuple(folder.cue.values()), vetter)
    found = list(suites(folder, vetter))
    known = {rule.rule.id for suite in found for rule in suite.rules}
    unknown = sorted(set(rules) - known)
    if unknown:
        raise UsageError(f"No policy has a rule {', '.join(unknown)}; rules are {', '.join(sorted(known)) or 'none'}.")
    faults = [] if rules else [fault for suite in found for fault in (*suite.faults, *suite.uncovered())]
    cases = [case for suite in found for case in suite.cases if not rules or case.rule.rule.id in rules]
    for case in cases:
        wrong = judged(case)
        if wrong is not None:
            faults.append(f"{case.place}: {case.rule.rule.id}: {case.name}: {wrong}.")
    if not cases:
        faults.append("No case was run, so nothing was tested.")
    code = _told(faults)
    if code == 0:
        emit(f"{len(cases)} cases of {len({case.rule.rule.key for case in cases})} rules: all as expected.\n")
    return code


def _told(faults: Sequence[str]) -> int:
    from calaudit.report._escape import visible

    for fault in faults:
        emit(f"{visible(fault)}\n")
    if faults:
        emit(f"{len(faults)} fault(s).\n")
    return 1 if faults else 0
