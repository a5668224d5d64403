"""A rebuild from its session to its report: in the port where the gate has a place for it, beside it otherwise."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import orjson

from calaudit.contract import Gates, Schemas
from calaudit.contract.documents import follow
from calaudit.errors import UsageError
from calaudit.execute import journal
from calaudit.execute.attested import number_for, outdated
from calaudit.execute.nouns import Step
from calaudit.execute.rebuild.longform import long_forms
from calaudit.execute.rebuild.nouns import Part, Rebuild
from calaudit.execute.rebuild.report import to_json
from calaudit.execute.rebuild.session import Session
from calaudit.execute.running import Setting
from calaudit.files import write_output

__all__ = ["Done", "report_place", "run_rebuild"]

ARTIFACT = "rebuild-report"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A rebuild, where its report is, and what else was written; ``unsigned`` says why nothing was signed."""

    rebuild: Rebuild
    report: Path
    attestations: tuple[str, ...]
    long_forms: tuple[Path, ...]
    unsigned: str | None


def report_place(step: Step, gates: Gates) -> str | None:
    """Where the port has the report of a step; None where its gate has no place for one."""
    return next((spec.pattern for spec in gates.gates[step.gate].artifacts if spec.name == ARTIFACT), None)


def run_rebuild(  # noqa: PLR0913 - what is built, how often, and where the report goes
    step: Step,
    setting: Setting,
    *,
    builds: int,
    place: str | None,
    aside: Path,
    schemas: Schemas,
    told: Callable[[str], None],
) -> Done:
    """Build a step several times and write the report; the caller holds the port's lock.

    ``place`` is the report's path in the port; without one it is the file ``aside``. Nothing else of the port changes,
    save that attestations of the builds are added when all are equal and are what the port holds.

    Raises:
        UsageError: something that the step needs is missing.
        StepFailed: a build failed; nothing is written.
    """
    with Session(step, setting, builds=builds, told=told) as session:
        rebuild = session.run()
        document = follow(to_json(rebuild), "the rebuild report", schemas, "rebuild-report/v1")
        data = orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        signed, removes, unsigned = _attest(rebuild, step, setting)
        writes: dict[str, Path | bytes] = dict(signed)
        if place is not None:
            writes[place] = data
        else:
            try:
                aside.parent.mkdir(parents=True, exist_ok=True)
                write_output(aside, data)
            except OSError as error:
                raise UsageError(f"The report {aside} cannot be written: {error.strerror}.") from error
        if writes:
            journal.publish(setting.port, writes, set(removes) - set(writes), reached=setting.reached)
        folder = aside.parent / f"{aside.name.removesuffix('.json')}.long"
        return Done(
            rebuild=rebuild,
            report=aside if place is None else setting.port / place,
            attestations=tuple(sorted(signed)),
            long_forms=tuple(long_forms(rebuild, folder)),
            unsigned=unsigned,
        )


def _attest(rebuild: Rebuild, step: Step, setting: Setting) -> tuple[dict[str, bytes], list[str], str | None]:
    """The signed files about the baseline and the varied builds, what they replace, or why there are none."""
    if setting.attest is None:
        return {}, [], "no key was given"
    if not rebuild.reproducible:
        return {}, [], "the builds differ"
    if rebuild.builds[0].part is not Part.PUBLISHED:
        return {}, [], f"the port holds no products of {step.name}; run it first"
    records = [b.record for b in rebuild.builds if b.record is not None and b.part in (Part.BASELINE, Part.VARIED)]
    gone = outdated(setting.port, step, materials=records[0].materials, products=records[0].products)
    first = number_for(setting.port, step, setting.keyid, without=gone)
    signed: dict[str, bytes] = {}
    for number, record in enumerate(records, first):
        signed |= setting.attest(record, number)
    return signed, gone, None
