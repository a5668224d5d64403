"""Both runs of the reference are attested invocations.

Why: Two reports with different ids are two files that somebody wrote. Only whoever ran a step can attest that it ran,
and a third party that it ran twice.
Fix: Run both steps with a functionary's key of the model role (`calaudit run`), so that provenance of each lands in
attestations/. For a run elsewhere, attest it by the id that its report names (`calaudit attest --invocation`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._runs import declared_runs
from calaudit.facts.reference.prompts import PROMPTS
from calaudit.facts.reference.runs import REPORT, SECOND_REPORT, ReportFact, SecondReportFact
from calaudit.model import Result

ROLE = "model"
MODEL = ("00-source/hf-config/*", "00-source/weights/**")
"""What a run of the reference cannot do without, besides the prompts."""


@check("invocation-unattested", gate="G1", trust=True, unwaivable=True)
def invocation_unattested(view: View) -> Iterator[Result]:
    """Open for a run without provenance; fail where it is of another invocation or left out what the run read."""
    runs = ((REPORT, view.fact(ReportFact).invocation), (SECOND_REPORT, view.fact(SecondReportFact).invocation))
    for report, invocation in view.each(runs):
        found = declared_runs(view, ROLE, report)
        if not found:
            yield view.open(f"Too few functionaries of {ROLE}, or none, attest the run that wrote it.", at=report)
            continue
        run = next((p for p in found if p.invocation == invocation), None)
        if run is None:
            yield view.fail(
                f"It attests another run than the one that {report} names (/invocation/id).",
                at=found[0].path,
                expected=invocation,
                actual=found[0].invocation,
            )
            continue
        folder = report.rpartition("/")[0]
        products = [f"{folder}/{name}" for name in ("outputs.jsonl", "tokens.jsonl")]
        left_out = [path for path in products if path not in run.products]
        model = [entry.path for pattern in MODEL for entry in view.evidence.matching(pattern)]
        left_out += [path for path in (PROMPTS, *model) if path not in run.materials]
        if left_out:
            yield view.fail(f"It says nothing of {', '.join(left_out)}, which the run wrote or read.", at=run.path)
