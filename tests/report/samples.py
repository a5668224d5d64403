"""Reports made by hand: every verdict, every kind, and the shapes that a real port gives."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from calaudit.model import Kind, Location, Report, Result, Suppression, TrustSummary, Verdict
from tests.report.makers import RULES, gate, report, result, rule

__all__ = ["RULES", "SAMPLES", "gate", "report", "result", "rule"]


def trust(name: str, owner: str = "model") -> tuple[Result, Result]:
    """What every gate has while nothing is signed."""
    return (
        result("common.owner-missing", name, Kind.OPEN, f"No trust root is pinned, so nobody owns the role {owner}."),
        result("common.signoff-missing", name, Kind.OPEN, f"No trust root is pinned; no signoff by {owner}."),
    )


def passed() -> Report:
    """Everything passes, with a warning."""
    hint = Location(path="01-reference/prompts.jsonl")
    return report(
        Verdict.PASSED,
        0,
        gate("port", result("common.symlink", "port"), verdict=Verdict.PASSED),
        gate("G0", result("common.symlink", "G0"), verdict=Verdict.PASSED),
        gate(
            "G1",
            result("common.symlink", "G1"),
            result("G1.prompt-hint", "G1", Kind.FAIL, "There are few prompts in Persian.", location=hint),
            result("common.schema-unknown", "G1", Kind.FAIL, "The document has no schema tag.", location=hint),
            verdict=Verdict.PASSED,
        ),
        gate("G2", result("common.symlink", "G2"), verdict=Verdict.PASSED),
        gate("G3", verdict=Verdict.NOT_STARTED),
        gate("G4", verdict=Verdict.NOT_STARTED),
    )


def unsigned() -> Report:
    """Nothing is wrong and nothing is signed: what the shipped example gives."""
    judged = [
        gate(
            name,
            result("common.symlink", name),
            result("common.digest-mismatch", name, Kind.NOT_APPLICABLE, "There is no list of digests here."),
            *trust(name, "export" if name == "G2" else "model"),
            verdict=Verdict.INCOMPLETE,
            technical=Verdict.PASSED,
        )
        for name in ("G0", "G1", "G2")
    ]
    port = gate("port", result("common.symlink", "port"), verdict=Verdict.PASSED)
    return report(Verdict.INCOMPLETE, 3, port, *judged, gate("G3", verdict=Verdict.NOT_STARTED))


def failed() -> Report:
    """A port with mistakes of every kind."""
    absent = Location(path="02-onnx/model.onnx")
    missing = "02-onnx/model.onnx is missing, so its graph cannot be read; run the export."
    manifest = "00-source/source-manifest.json"
    return report(
        Verdict.FAILED,
        1,
        gate("port", result("common.symlink", "port"), verdict=Verdict.PASSED),
        gate("G0", *trust("G0"), result("common.symlink", "G0"), verdict=Verdict.INCOMPLETE, technical=Verdict.PASSED),
        gate(
            "G1",
            *trust("G1"),
            *(
                result(
                    "common.digest-mismatch",
                    "G1",
                    Kind.FAIL,
                    f"00-source/weights/model-{n:05}.safetensors is not the file that is listed.",
                    location=Location(path=manifest, line=12 + n, pointer=f"/files/{n}/sha256"),
                    expected=f"sha256 {n:02}{'9c' * 31}",
                    actual=f"sha256 {n:02}{'1d' * 31}",
                )
                for n in range(2)
            ),
            *(
                result(
                    "common.symlink",
                    "G1",
                    Kind.FAIL,
                    "A symbolic link is not a file of the port.",
                    location=Location(path=f"01-reference/{name}"),
                    actual=f"a link to /etc/{name}",
                )
                for name in ("passwd", "shadow", "参考输出")
            ),
            result("G1.prompt-hint", "G1", Kind.FAIL, "There are few prompts in Persian."),
            verdict=Verdict.FAILED,
        ),
        gate(
            "G2",
            *trust("G2", "export"),
            result("common.symlink", "G2"),
            result(
                "G2.greedy-mismatch",
                "G2",
                Kind.FAIL,
                "Prompt code-017 gives another token at step 3, where the reference's margin is 0.41: far more than "
                "rounding can explain, so the export computes something else.",
                location=Location(path="02-onnx/onnx-outputs.jsonl", line=18, pointer="/steps/3/token"),
                expected="411",
                actual="17",
            ),
            result("G2.onnx-invalid", "G2", Kind.OPEN, missing, location=absent),
            result("G2.op-inventory-wrong", "G2", Kind.OPEN, missing, location=absent),
            verdict=Verdict.FAILED,
        ),
        gate("G3", verdict=Verdict.NOT_STARTED),
    )


def blocked_compiler() -> Report:
    """The vendor has not delivered."""
    late = ("G3", "G4", "G5")
    kickoff = result(
        "port.kickoff-incomplete",
        "port",
        Kind.OPEN,
        "The vendor has not delivered compiler-image.",
        location=Location(path="vendor/kickoff.json", pointer="/items/0/digest", line=7),
        blocks=Verdict.BLOCKED_COMPILER,
        blocked_gates=late,
    )
    return report(
        Verdict.INCOMPLETE,
        3,
        gate("port", kickoff, result("common.symlink", "port"), verdict=Verdict.PASSED),
        gate("G0", *trust("G0"), result("common.symlink", "G0"), verdict=Verdict.INCOMPLETE, technical=Verdict.PASSED),
        gate("G3", result("common.symlink", "G3"), verdict=Verdict.BLOCKED_COMPILER, technical=Verdict.PASSED),
        *(gate(name, verdict=Verdict.BLOCKED_COMPILER, technical=Verdict.NOT_STARTED) for name in late[1:]),
        through="G3",
    )


def blocked_reproducibility() -> Report:
    """Two reference runs differ."""
    found = result(
        "G1.reference-not-reproducible",
        "G1",
        Kind.FAIL,
        "The second run gives other logits.",
        blocks=Verdict.BLOCKED_REPRODUCIBILITY,
    )
    return report(
        Verdict.BLOCKED_REPRODUCIBILITY, 1, gate("G1", found, verdict=Verdict.BLOCKED_REPRODUCIBILITY), through="G1"
    )


def crashed() -> Report:
    """A rule crashed."""
    found = result("G2.onnx-invalid", "G2", Kind.OPEN, "The rule crashed (KeyError: 'x'). Please report it.")
    return report(
        Verdict.INCOMPLETE,
        4,
        gate("G2", found, verdict=Verdict.INCOMPLETE),
        notes=("Internal error: G2.onnx-invalid on G2: Traceback\n  File x, line 1\nKeyError: 'x'",),
        unsafe=("--unsafe-time",),
    )


def waived() -> Report:
    """Signed under a root that was named, with one failure that is waived, judged in the past."""
    waiver = Suppression(
        waiver="waivers/w-1.dsse.json",
        reason="The list is repaired next week.",
        ticket="PORT-17",
        until="2027-01-31T00:00:00Z",
        by=("Reference team (model)", "Release lead (release)"),
    )
    found = result(
        "common.digest-mismatch",
        "G0",
        Kind.FAIL,
        "00-source/code.py is not the file that is listed.",
        location=Location(path="00-source/code.py"),
        suppression=waiver,
    )
    signed = replace(
        gate("G0", found, result("common.signoff-missing", "G0"), verdict=Verdict.PASSED, technical=Verdict.FAILED),
        owned_by=("Reference team (model)",),
        signed_by=("Reference team (model)",),
    )
    return report(
        Verdict.PASSED,
        0,
        gate("port", result("common.symlink", "port"), verdict=Verdict.PASSED),
        signed,
        through="G0",
        trust=TrustSummary(
            origin="examples/trust",
            label="example-only",
            root_version=1,
            registry_version=2,
            registry_digest="cd" * 32,
            rollback_checked=False,
        ),
        judged_at="2026-01-01T00:00:00Z",
        unsafe=("--unsafe-time (judged at 2026-01-01T00:00:00Z, in the past)",),
    )


def changed() -> Report:
    """A signed port in which one document was changed, and wrongly so."""
    manifest = "00-source/source-manifest.json"
    said = f"{manifest} changed since the run."
    links = [Location(path=f"attestations/{step}.5ecd31f8.link") for step in ("reference", "export")]
    runs = [Location(path=f"attestations/{step}.5ecd31f8.1.dsse.json") for step in ("reference", "export")]
    stale = [result("port.attestation-stale", "port", Kind.FAIL, said, location=at, expected="a") for at in runs]
    stale += [result("port.link-stale", "port", Kind.FAIL, said, location=at, expected="a") for at in links]
    licence = result(
        "G0.license-unknown",
        "G0",
        Kind.FAIL,
        "The licence is unknown. Apache 2.0 is not on the SPDX list.",
        location=Location(path=manifest, line=6, pointer="/license"),
    )
    signed = result(
        "common.signoff-stale",
        "G0",
        Kind.FAIL,
        f"{manifest} changed; what was signed is not what is there.",
        location=Location(path="signoffs/G0.model.dsse.json"),
    )
    above = result(
        "common.signoff-chain",
        "G1",
        Kind.FAIL,
        "The signoff of G0, which it rests on, does not hold.",
        location=Location(path="signoffs/G1.model.dsse.json"),
    )
    build = result(
        "common.rebuilds-incomplete",
        "G2",
        Kind.OPEN,
        "0 runs are attested of the 2 of export that have to agree.",
        location=Location(path="port.yaml", line=45, pointer="/steps/export/rebuilds"),
    )
    old = [
        result(
            "common.signoff-outdated",
            name,
            Kind.FAIL,
            "It was signed under another contract.",
            location=Location(path=f"signoffs/{name}.model.dsse.json"),
        )
        for name in ("G1", "G2")
    ]
    return report(
        Verdict.FAILED,
        1,
        gate("port", result("common.symlink", "port"), *stale, verdict=Verdict.FAILED, technical=Verdict.PASSED),
        gate("G0", licence, signed, verdict=Verdict.FAILED),
        gate("G1", result("common.symlink", "G1"), above, old[0], verdict=Verdict.FAILED, technical=Verdict.PASSED),
        gate("G2", result("common.symlink", "G2"), build, old[1], verdict=Verdict.INCOMPLETE, technical=Verdict.PASSED),
        trust=TrustSummary(
            origin="examples/trust",
            label="My company",
            root_version=1,
            registry_version=1,
            registry_digest="cd" * 32,
            rollback_checked=False,
        ),
    )


SAMPLES: Mapping[str, Callable[[], Report]] = MappingProxyType(
    {
        f.__name__: f
        for f in (passed, unsigned, failed, blocked_compiler, blocked_reproducibility, crashed, waived, changed)
    }
)
