"""Making parts of reports by hand."""

from collections.abc import Mapping
from types import MappingProxyType

from calaudit.model import EVERY_GATE, GateReport, Kind, Level, Port, Report, Result, Rule, Verdict

KINDS = frozenset(Kind)
DIGEST = "4f" * 32
TITLES = {
    "port": "Port",
    "G0": "Intake",
    "G1": "Reference",
    "G2": "ONNX export",
    "G3": "Op gap",
    "G4": "Quantization",
    "G5": "Compile",
}


def rule(key: str, *, level: Level = Level.ERROR, trust: bool = False, fix: str = "Run the step again.") -> Rule:
    """A rule by its key."""
    gate, _, name = key.partition(".")
    return Rule(
        id=name,
        gate=EVERY_GATE if gate == "common" else gate,
        level=level,
        title=f"Demand {name.replace('-', ' ')}",
        why="It matters for a reason that takes a sentence to tell.",
        fix=fix,
        kinds=KINDS,
        trust=trust,
    )


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        r.key: r
        for r in (
            rule("common.symlink", fix="Replace the link by the file."),
            rule("common.digest-mismatch", fix="Restore the file, or run the step again that writes the list."),
            rule("common.schema-unknown", level=Level.WARNING, fix="Add the schema member."),
            rule("common.signoff-missing", trust=True, fix="Pin a trust root and have the role sign off the gate."),
            rule("common.signoff-stale", trust=True, fix="Sign it again."),
            rule("common.signoff-chain", trust=True, fix="Have the gates above sign again."),
            rule("common.signoff-outdated", level=Level.WARNING, trust=True, fix="Look again."),
            rule("common.rebuilds-incomplete", trust=True, fix="Build the step again."),
            rule("port.attestation-stale", trust=True),
            rule("port.link-stale", trust=True),
            rule("port.attestation-replayed", trust=True, fix="Remove it."),
            rule("port.envelope-malformed", trust=True, fix="Write it with `calaudit signoff`; never edit it."),
            rule("common.artifact-missing", fix="Produce it."),
            rule("G0.license-unknown", fix="Give SPDX expressions."),
            rule("common.owner-missing", trust=True, fix="Pin a trust root whose registry names the owner."),
            rule("port.kickoff-incomplete", fix="Ask the vendor for what is missing."),
            rule("G1.reference-not-reproducible", fix="Fix the environment and run the reference twice."),
            rule("G1.prompt-hint", level=Level.NOTE, fix="Add prompts."),
            rule("G2.greedy-mismatch", fix="Compare the first differing step of one prompt by hand."),
            rule("G2.onnx-invalid", fix="Export again and run `onnx.checker`."),
            rule("G2.op-inventory-wrong", fix="List the operators again."),
        )
    }
)


def result(key: str, gate: str, kind: Kind = Kind.PASS, message: str = "", **more: object) -> Result:
    """A result of one of :data:`RULES`."""
    found = RULES[key]
    return Result(rule=found.id, gate=gate, kind=kind, level=found.level, message=message, examined=3, **more)  # type: ignore[arg-type]


def gate(name: str, *results: Result, verdict: Verdict, technical: Verdict | None = None) -> GateReport:
    """A gate with these results; without any it was not judged."""
    return GateReport(
        gate=name,
        title=TITLES[name],
        owner="model" if name in ("G0", "G1") else "compiler",
        back_to=f"what made {name}",
        verdict=verdict,
        technical=technical or verdict,
        technical_digest=DIGEST if results else "",
        planned=len({r.rule for r in results}),
        files=4 if results else 0,
        results=tuple(sorted(results, key=lambda r: (r.rule, str(r.location), r.message))),
    )


def report(verdict: Verdict, exit_code: int, *gates: GateReport, **more: object) -> Report:
    """A report of a small port."""
    fields: dict[str, object] = {
        "port": Port(id="tiny-dense", profile="dense-single-chip", stage="development", claim="G2"),
        "contract_digest": "ab" * 32,
        "contract_version": "0.1.0",
        "through": "G2",
    }
    return Report(verdict=verdict, exit_code=exit_code, gates=gates, rules=RULES, **(fields | more))  # type: ignore[arg-type]
