"""Signoffs that belong elsewhere: another gate, role, port, registry, contract or moment."""

import shutil

from tests.trust.forgeries import forge
from tests.trust.signed_port import G0, MANIFEST, PORT_SIGNOFF, SignedPort


@forge("common.signoff-replayed@G1", "fail: It was signed for the gate G0", kind="full")
def copied_to_another_gate(port: SignedPort) -> None:
    shutil.copyfile(port.path / G0, port.path / "signoffs/G1.model.dsse.json")


@forge("common.signoff-wrong-role@G2", "fail: Model team signed for model; here only export signs", kind="full")
def copied_to_another_role(port: SignedPort) -> None:
    shutil.copyfile(port.path / "signoffs/G1.model.dsse.json", port.path / "signoffs/G2.export.dsse.json")


@forge("port.signoff-unexpected", "fail: release does not sign G0")
def copied_to_a_role_that_does_not_sign(port: SignedPort) -> None:
    shutil.copyfile(port.path / G0, port.path / "signoffs/G0.release.dsse.json")


@forge("common.signoff-replayed@G0", "fail: It was signed for the port another-port")
def of_another_port(port: SignedPort) -> None:
    port.signoff("G0.model", port="another-port")


@forge("common.signoff-replayed@G0", "fail: It was signed for the gate G1")
def of_another_gate(port: SignedPort) -> None:
    port.signoff("G0.model", gate="G1")


@forge("common.signoff-replayed@G0", "fail: It was signed for the role release")
def of_another_role(port: SignedPort) -> None:
    port.signoff("G0.model", role="release")


@forge("common.signoff-replayed@G0", "fail: It was signed for the port tiny-dense, and lies where one for copy-cat")
def a_port_under_another_name(port: SignedPort) -> None:
    text = (port.path / "port.yaml").read_text()
    (port.path / "port.yaml").write_text(text.replace("id: tiny-dense", "id: copy-cat"))
    port.registry(ports=["tiny-dense", "copy-cat"])


def unreadable(port: SignedPort) -> None:
    """Let nothing be read from port.yaml."""
    (port.path / "port.yaml").write_text("schema: [")


@forge(
    "common.signoff-replayed@G0", "open: It is of the port tiny-dense, and the id of the port at hand cannot be read"
)
def a_port_whose_id_nobody_can_read(port: SignedPort) -> None:
    unreadable(port)


@forge("common.signoff-stale@G0", "fail: 00-source/source-manifest.json changed")
def a_stale_signoff_of_a_port_whose_id_nobody_can_read(port: SignedPort) -> None:
    """What fails whatever the port is called fails."""
    (port.path / MANIFEST).write_bytes((port.path / MANIFEST).read_bytes() + b"\n")
    unreadable(port)


@forge("common.signoff-replayed@G0", "fail: It was signed for the gate G1")
def of_another_gate_of_a_port_whose_id_nobody_can_read(port: SignedPort) -> None:
    port.signoff("G0.model", gate="G1")
    unreadable(port)


@forge(
    "common.signoff-verdict-mismatch@G0", "open: It was signed for the profile example, and the port's cannot be read"
)
def a_port_whose_profile_nobody_can_read(port: SignedPort) -> None:
    text = (port.path / "port.yaml").read_text()
    (port.path / "port.yaml").write_text(text.replace("profile: example", "profile: [example]"))


@forge("port.port-unregistered", "fail: The registry tests speaks for other ports")
def a_port_that_is_not_registered(port: SignedPort) -> None:
    port.registry(ports=["another-port"])


@forge("common.signoff-missing@G0", "open: model has not signed G0", exit_code=3)
def nobody_signed(port: SignedPort) -> None:
    (port.path / G0).unlink()


@forge("port.signoff-unexpected", "fail: A signoff is called")
def under_a_name_that_is_no_slot(port: SignedPort) -> None:
    (port.path / G0).rename(port.path / "signoffs/G0.model.json")


@forge("port.signoff-unexpected", "fail: A signoff is called")
def under_another_spelling_of_the_gate(port: SignedPort) -> None:
    (port.path / G0).rename(port.path / "signoffs/g0.model.dsse.json")


@forge("port.signoff-unexpected", "fail: A signoff is called")
def below_another_folder(port: SignedPort) -> None:
    (port.path / "signoffs/old").mkdir()
    (port.path / G0).rename(port.path / "signoffs/old/G0.model.dsse.json")


@forge("port.signoff-unexpected", "fail: G5 has no files and was not judged")
def for_a_gate_that_nobody_judges(port: SignedPort) -> None:
    shutil.copyfile(port.path / G0, port.path / "signoffs/G5.compiler.dsse.json")


@forge("common.symlink@port", "fail: A symbolic link")
def a_folder_of_signoffs_elsewhere(port: SignedPort) -> None:
    elsewhere = port.path.parent / "elsewhere"
    (port.path / "signoffs").rename(elsewhere)
    (port.path / "signoffs").symlink_to(elsewhere)


@forge("common.symlink@port", "fail: A symbolic link")
def a_signoff_elsewhere(port: SignedPort) -> None:
    elsewhere = port.path.parent / "elsewhere"
    (port.path / G0).rename(elsewhere)
    (port.path / G0).symlink_to(elsewhere)


@forge("common.signoff-stale@G0", "fail: 00-source/source-manifest.json changed")
def an_artifact_changed(port: SignedPort) -> None:
    with (port.path / MANIFEST).open("ab") as file:
        file.write(b"\n")


@forge("common.signoff-incomplete@G0", "fail: It does not name 00-source/hf-config/more.txt")
def an_artifact_added(port: SignedPort) -> None:
    (port.path / "00-source/hf-config/more.txt").write_text("more\n")


@forge("common.signoff-stale@G0", "fail: 00-source/hf-config/generation_config.json is not there")
def an_artifact_removed(port: SignedPort) -> None:
    (port.path / "00-source/hf-config/generation_config.json").unlink()


@forge("common.signoff-incomplete@G0", "fail: It does not name 00-source/weights/model.safetensors")
def an_artifact_left_out(port: SignedPort) -> None:
    port.resign(
        G0,
        lambda document: document["subject"].remove(
            next(s for s in document["subject"] if s["name"].startswith("00-source/weights/"))
        ),
        "model",
    )


@forge("common.signoff-stale@G0", "fail: port.yaml is no artifact of this slot")
def an_artifact_too_many(port: SignedPort) -> None:
    item = {"name": "port.yaml", "digest": {"sha256": port.digest("port.yaml")}}
    port.resign(G0, lambda document: document["subject"].append(item), "model")


@forge("common.signoff-stale@port", "fail: vendor/op-matrix.yaml changed")
def the_matrix_of_the_vendor_changed(port: SignedPort) -> None:
    with (port.path / "vendor/op-matrix.yaml").open("a") as file:
        file.write("# and so on\n")


@forge("common.signoff-incomplete@port", "fail: It does not name vendor/responses/mail.txt")
def a_word_of_the_vendor_added(port: SignedPort) -> None:
    port.file("vendor/responses/mail.txt").write_text("We support everything.\n")


@forge("common.signoff-chain@G1", "fail: The signoff of G0 by model, which it rests on, was signed anew", kind="full")
def the_gate_below_signed_anew(port: SignedPort) -> None:
    port.signoff("G0.model", signed_on="2026-11-30T13:00:00Z")


@forge("common.signoff-chain@G2", "fail: The signoff of G1 by model, which it rests on, does not hold", kind="full")
def two_gates_below_signed_anew(port: SignedPort) -> None:
    """What does not hold in the middle carries nothing above it."""
    port.signoff("G0.model", signed_on="2026-11-30T13:00:00Z")


@forge("common.signoff-chain@G1", "fail: The signoff of G0 by model, which it rests on, is gone", kind="full")
def the_gate_below_unsigned(port: SignedPort) -> None:
    (port.path / G0).unlink()


@forge("common.signoff-chain@G1", "fail: It rests on other signoffs than it has to: G0 by model", kind="full")
def resting_on_nothing(port: SignedPort) -> None:
    port.signoff("G1.model", depends=[])


@forge("common.signoff-chain@G0", "fail: It rests on other signoffs than it has to: none")
def resting_on_what_is_not_below(port: SignedPort) -> None:
    port.signoff("G0.model", depends=[{"gate": "G9", "role": "serving", "digest": "00" * 32}])


@forge("common.signoff-chain@G1", "fail: It rests on other signoffs than it has to", kind="full")
def resting_on_one_twice(port: SignedPort) -> None:
    below = port.statement("signoffs/G1.model.dsse.json")["predicate"]["depends"]
    port.signoff("G1.model", depends=[*below, *below])


@forge("common.signoff-rejected@G0", "fail: model rejected the gate: The weights are not ours.")
def rejected(port: SignedPort) -> None:
    port.signoff("G0.model", decision="reject", reason="The weights are not ours.")


@forge("common.signoff-rejected@G0", "fail: model rejected the gate")
def rejected_without_a_reason(port: SignedPort) -> None:
    port.signoff("G0.model", decision="reject")


@forge("common.signoff-verdict-mismatch@G0", "fail: It was signed for the profile example; the port's is dense")
def another_profile(port: SignedPort) -> None:
    text = (port.path / "port.yaml").read_text()
    (port.path / "port.yaml").write_text(text.replace("profile: example", "profile: dense-single-chip"))


@forge("common.signoff-verdict-mismatch@G0", "fail: It was signed for the stage development; the port's is candidate")
def another_stage(port: SignedPort) -> None:
    text = (port.path / "port.yaml").read_text()
    (port.path / "port.yaml").write_text(text.replace("stage: development", "stage: candidate"))


@forge("common.signoff-verdict-mismatch@G0", "fail: It was signed for the technical verdict FAILED")
def another_verdict(port: SignedPort) -> None:
    digest = port.gate("G0").technical_digest
    port.signoff("G0.model", technical={"verdict": "FAILED", "digest": digest})


@forge("common.signoff-verdict-mismatch@G0", "fail: It was signed for the technical verdict PASSED")
def other_results(port: SignedPort) -> None:
    port.signoff("G0.model", technical={"verdict": "PASSED", "digest": "00" * 32})


@forge("port.envelope-malformed", "fail: A signoff of a gate, and only that, binds its technical verdict")
def no_verdict(port: SignedPort) -> None:
    port.resign(G0, lambda document: document["predicate"].pop("technical"), "model")


@forge("port.envelope-malformed", "fail: A signoff of a gate, and only that, binds its technical verdict")
def a_verdict_of_the_port(port: SignedPort) -> None:
    technical = {"verdict": "PASSED", "digest": "00" * 32}
    port.resign(PORT_SIGNOFF, lambda document: document["predicate"].update(technical=technical), "compiler")


@forge("common.signoff-outdated@G0", "fail: It was signed under another contract (version 0.0.1)", exit_code=0)
def another_contract(port: SignedPort) -> None:
    port.signoff("G0.model", contract={"version": "0.0.1", "digest": "00" * 32})


@forge("common.signoff-outdated-at-release@G0", "fail: It was signed under another contract")
def another_contract_at_release(port: SignedPort) -> None:
    text = (port.path / "port.yaml").read_text()
    (port.path / "port.yaml").write_text(text.replace("stage: development", "stage: release"))
    port.signoff("G0.model", stage="release", contract={"version": "0.0.1", "digest": "00" * 32})


@forge("common.signoff-verdict-mismatch@G0", "fail: It was signed for the profile dense-single-chip")
def another_profile_under_another_contract(port: SignedPort) -> None:
    """No results can be compared across contracts, so that a profile that is easier would go unseen."""
    port.signoff("G0.model", profile="dense-single-chip", contract={"version": "0.0.1", "digest": "00" * 32})


@forge("common.signoff-stale@G0", "fail: attestations/gone.dsse.json, which it relied on, changed or is gone")
def evidence_that_is_gone(port: SignedPort) -> None:
    port.signoff("G0.model", evidence=[{"name": "attestations/gone.dsse.json", "digest": {"sha256": "00" * 32}}])


@forge("common.signoff-stale@G0", "fail: attestations/fetch", exit_code=1)
def evidence_that_changed(port: SignedPort) -> None:
    path = port.attest()
    port.signoff("G0.model")
    port.attest(invocation="run-2")
    assert port.statement()["predicate"]["evidence"][0]["name"] == path


@forge("common.signoff-stale@G0", "fail: waivers/w-1.dsse.json, which it relied on, changed or is gone", kind="waived")
def a_waiver_withdrawn_after_the_signoff(port: SignedPort) -> None:
    (port.path / "waivers/w-1.dsse.json").unlink()


@forge("port.registry-rollback", "fail: It was signed under registry version 9; the registry at hand is 1")
def under_a_newer_registry(port: SignedPort) -> None:
    port.signoff("G0.model", registry={"version": 9, "digest": "00" * 32})


@forge("port.registry-rollback", "fail: It was signed under another registry of version 1: two histories")
def under_another_registry(port: SignedPort) -> None:
    port.signoff("G0.model", registry={"version": 1, "digest": "00" * 32})
