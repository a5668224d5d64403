"""Attestations of runs that nobody saw, or of others."""

import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from tests.trust import authority as kit
from tests.trust.forgeries import forge
from tests.trust.forgeries.registries import add_key, ours, rewrite, role_of
from tests.trust.forgeries.signatures import revoke
from tests.trust.forgeries.slots import unreadable
from tests.trust.signed_port import MANIFEST, SignedPort

FIRST = "01-reference/reference-report.json"
SECOND = "01-reference/run-2/reference-report.json"


@forge("port.attestation-stale", "pass", exit_code=0)
def a_run_that_was_attested(port: SignedPort) -> None:
    port.attest()


@forge("port.attestation-wrong-role", "fail: Model team signed for model; here only")
def a_run_signed_by_an_owner(port: SignedPort) -> None:
    port.attest("model")


@forge("port.attestation-wrong-role", "is nobody's in the registry")
def a_run_signed_by_a_stranger(port: SignedPort) -> None:
    port.attest("stranger")


@forge("port.attestation-wrong-role", "fail: Provenance has one signer, and its name begins that key's id")
def a_run_signed_by_two(port: SignedPort) -> None:
    port.attest("model-functionary", "export-functionary")


@forge("port.attestation-wrong-role", "fail: Provenance has one signer, and its name begins that key's id")
def a_run_under_the_name_of_another_key(port: SignedPort) -> None:
    port.attest(name="fetch.01234567.1.dsse.json")


@forge("port.attestation-revoked", "is revoked: The laptop was stolen.")
def a_run_signed_by_a_revoked_key(port: SignedPort) -> None:
    port.attest()
    revoke(port, "model-functionary")


@forge("port.attestation-signature-invalid", "does not fit these bytes")
def a_run_changed_after_signing(port: SignedPort) -> None:
    path = port.attest()
    signatures = port.envelope(path)["signatures"]
    port.attest(invocation="run-2")
    port.write(path, {**port.envelope(path), "signatures": signatures})


@forge("port.attestation-replayed", "fail: It is of the port another-port")
def a_run_for_another_port(port: SignedPort) -> None:
    port.attest(port="another-port")


@forge("port.attestation-replayed", "fail: It is of the step train")
def a_run_of_another_step(port: SignedPort) -> None:
    name = f"fetch.{kit.key('model-functionary').public_key.keyid[:8]}.1.dsse.json"
    port.attest(step="train", name=name)


@forge("port.attestation-replayed", "fail: It attests the invocation run-1, as")
def one_run_twice(port: SignedPort) -> None:
    port.attest()
    port.attest(number=2)


@forge(
    "port.attestation-replayed",
    "open: It is of the port tiny-dense, and the id of the port at hand cannot be read",
    exit_code=1,
)
def a_run_of_a_port_whose_id_nobody_can_read(port: SignedPort) -> None:
    port.attest()
    unreadable(port)


@forge("port.attestation-stale", "fail: 00-source/source-manifest.json changed since the run")
def a_stale_run_of_a_port_whose_id_nobody_can_read(port: SignedPort) -> None:
    port.attest()
    (port.path / MANIFEST).write_bytes((port.path / MANIFEST).read_bytes() + b"\n")
    unreadable(port)


@forge("port.attestation-replayed", "fail: It ends after the moment at which the port is judged")
def a_run_that_is_judged_before_it_ran(port: SignedPort) -> None:
    port.attest()
    port.at = datetime(2026, 1, 1, tzinfo=UTC)


@forge("port.attestation-replayed", "fail: It ends after the moment at which the port is judged")
def a_run_that_ends_in_the_future(port: SignedPort) -> None:
    path = port.attest()
    _times(port, path, finishedOn="2026-11-30T12:00:01Z")


@forge("port.attestation-replayed", "fail: It began after it ended")
def a_run_that_ended_before_it_began(port: SignedPort) -> None:
    path = port.attest()
    _times(port, path, finishedOn="2026-11-29T07:59:59Z")


def _times(port: SignedPort, path: str, **times: str) -> None:
    port.resign(path, lambda doc: doc["predicate"]["runDetails"]["metadata"].update(times), "model-functionary")


@forge("port.attestation-stale", "fail: 00-source/hf-config/config.json changed since the run")
def what_a_run_wrote_changed(port: SignedPort) -> None:
    path = port.attest()
    port.resign(path, lambda doc: doc["subject"][0]["digest"].update(sha256="00" * 32), "model-functionary")


@forge("port.attestation-stale", f"fail: {MANIFEST} changed since the run")
def what_a_run_read_changed(port: SignedPort) -> None:
    path = port.attest()
    port.resign(path, lambda doc: materials_of(doc)[0]["digest"].update(sha256="00" * 32), "model-functionary")


@forge("port.attestation-stale", "fail: 00-source/gone.json is gone since the run")
def what_a_run_wrote_is_gone(port: SignedPort) -> None:
    path = port.attest()
    port.resign(path, lambda doc: doc["subject"][0].update(name="00-source/gone.json"), "model-functionary")


@forge("port.envelope-malformed", "stands there twice")
def one_product_twice(port: SignedPort) -> None:
    path = port.attest()
    port.resign(path, lambda doc: doc["subject"].append(doc["subject"][0]), "model-functionary")


@forge("port.envelope-malformed", "fail: The signed statement")
def a_run_that_read_nothing(port: SignedPort) -> None:
    path = port.attest()
    port.resign(path, lambda doc: materials_of(doc).clear(), "model-functionary")


@forge("port.envelope-malformed", "fail: Provenance is called")
def a_run_under_a_name_that_is_none(port: SignedPort) -> None:
    port.attest(name="fetch.dsse.json")


@forge("port.attestation-unexpected", "open: It is no link", exit_code=3)
def a_note_beside_the_run(port: SignedPort) -> None:
    shutil.copyfile(port.path / port.attest(), port.path / "attestations/fetch.01234567.note")


def materials_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = document["predicate"]["buildDefinition"]["resolvedDependencies"]
    return found


# The runs of the good port -------------------------------------------------------------------------------------------


def run_of(port: SignedPort, product: str) -> str:
    """The attestation of the run that wrote a file."""
    for path in sorted((port.path / "attestations").iterdir()):
        name = f"attestations/{path.name}"
        if any(item["name"] == product for item in port.statement(name)["subject"]):
            return name
    raise AssertionError(product)


def change_run(port: SignedPort, product: str, change: Callable[[dict[str, Any]], object], by: str) -> None:
    path = run_of(port, product)
    port.resign(path, change, by)
    sign_above(port)


def sign_above(port: SignedPort) -> None:
    """Sign the gates again that rely on the attestations."""
    port.signoff("G1.model")
    port.signoff("G2.export")


@forge("G1.invocation-unattested", "open: Too few functionaries of model, or none, attest", kind="full", exit_code=3)
def a_second_run_that_nobody_attests(port: SignedPort) -> None:
    (port.path / run_of(port, SECOND)).unlink()
    sign_above(port)


@forge("G1.invocation-unattested", "open: Too few functionaries of model, or none, attest", kind="full", exit_code=3)
def a_run_attested_by_the_functionary_of_another_role(port: SignedPort) -> None:
    path = run_of(port, SECOND)
    document = port.statement(path)
    (port.path / path).unlink()
    kit.write_provenance(port.path, document, "export-functionary")
    sign_above(port)


@forge("G1.invocation-unattested", "fail: It attests another run than the one that", kind="full")
def a_run_with_another_id(port: SignedPort) -> None:
    def change(document: dict[str, Any]) -> None:
        document["predicate"]["runDetails"]["metadata"]["invocationId"] = "another"

    change_run(port, SECOND, change, "model-functionary")


@forge("G1.invocation-unattested", "fail: It says nothing of 01-reference/prompts.jsonl", kind="full")
def a_run_that_did_not_read_the_prompts(port: SignedPort) -> None:
    def change(document: dict[str, Any]) -> None:
        materials = materials_of(document)
        materials[:] = [item for item in materials if not item["name"].endswith("prompts.jsonl")]

    change_run(port, FIRST, change, "model-functionary")


@forge("G1.invocation-unattested", "fail: It attests another run than the one that", kind="full")
def one_run_for_both_reports(port: SignedPort) -> None:
    """The first run says that it wrote the second report, too."""
    document = port.statement(run_of(port, SECOND))
    (port.path / run_of(port, SECOND)).unlink()
    change_run(port, FIRST, lambda first: first["subject"].extend(document["subject"]), "model-functionary")


@forge("G1.invocation-unattested", "open: Too few functionaries of model, or none, attest", kind="full", exit_code=3)
def a_run_by_one_functionary_of_two(port: SignedPort) -> None:
    def change(signed: dict[str, Any]) -> None:
        add_key(signed, "model-functionary", *ours("model-functionary-2"))
        role_of(signed, "model-functionary").update(threshold=2)

    rewrite(port, change)


@forge("G2.onnx-run-unattested", "open: Too few functionaries of export, or none, attest", kind="full", exit_code=3)
def a_comparison_that_nobody_attests(port: SignedPort) -> None:
    (port.path / run_of(port, "02-onnx/onnx-report.json")).unlink()
    sign_above(port)


@forge("G2.onnx-run-unattested", "did not read 02-onnx/model.onnx", kind="full")
def a_comparison_that_did_not_read_the_model(port: SignedPort) -> None:
    def change(document: dict[str, Any]) -> None:
        materials = materials_of(document)
        materials[:] = [item for item in materials if item["name"] != "02-onnx/model.onnx"]

    change_run(port, "02-onnx/onnx-report.json", change, "export-functionary")


@forge("G2.onnx-run-unattested", "did not read configs/shape-matrix.yaml", kind="full")
def other_cases_than_were_compared(port: SignedPort) -> None:
    def change(document: dict[str, Any]) -> None:
        materials = materials_of(document)
        materials[:] = [item for item in materials if not item["name"].startswith("configs/")]

    for path in (FIRST, SECOND, "02-onnx/onnx-report.json"):
        role = "export" if path.startswith("02") else "model"
        port.resign(run_of(port, path), change, f"{role}-functionary")
    with (port.path / "configs/shape-matrix.yaml").open("a") as file:
        file.write("# and so on\n")
    sign_above(port)


@forge("G2.opset-not-vendor-confirmed", "open: The compiler role has not signed it", kind="full", exit_code=3)
def a_matrix_that_the_vendor_did_not_sign(port: SignedPort) -> None:
    (port.path / "signoffs/port.compiler.dsse.json").unlink()


@forge("common.signoff-duty-missing@G1", "open: model has not signed it", kind="full", exit_code=3)
def reference_outputs_that_the_model_role_did_not_sign(port: SignedPort) -> None:
    (port.path / "signoffs/G1.model.dsse.json").unlink()
    (port.path / "signoffs/G2.export.dsse.json").unlink()


@forge(
    "common.signoff-duty-missing@G1",
    "open: The signoff of model (signoffs/G1.model.dsse.json) is there",
    kind="full",
)
def reference_outputs_that_the_model_role_signed_before_they_changed(port: SignedPort) -> None:
    port.resign(
        "signoffs/G1.model.dsse.json", lambda doc: doc["subject"][0]["digest"].update(sha256="00" * 32), "model"
    )
