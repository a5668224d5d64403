"""Waivers that reach further than they may, for longer, or by fewer people."""

import json
import shutil

from tests.trust import authority as kit
from tests.trust.forgeries import forge
from tests.trust.forgeries.signatures import revoke
from tests.trust.forgeries.slots import unreadable
from tests.trust.signed_port import MANIFEST, WAIVED, WAIVER, WAIVER_SIGNERS, SignedPort

FAILS = f"G0.{WAIVED}"


@forge("port.waiver-unused", "pass", kind="waived", exit_code=0)
def as_it_should_be(port: SignedPort) -> None:
    assert port.audit().gates[1].suppressed


@forge(FAILS, "fail: The model id ends in", kind="waived")
def no_waiver(port: SignedPort) -> None:
    (port.path / WAIVER).unlink()


def _again(port: SignedPort, *seeds: str, of: str = "tiny-dense", **changes: str) -> None:
    """Replace the waiver by one of this or another port, and have the owner sign the gate with it."""
    (port.path / WAIVER).unlink()
    port.waive(*seeds, of=of, **changes)
    path = next((port.path / "waivers").iterdir())
    digest = {f"waivers/{path.name}": kit.payload_digest(path)}
    port.signoff("G0.model", waivers=kit.named(digest))


@forge("port.waiver-replayed", "fail: It is for the port another-port", kind="waived")
def a_waiver_of_another_port(port: SignedPort) -> None:
    _again(port, of="another-port")


@forge("port.waiver-replayed", "fail: It is the waiver w-1, under another name", kind="waived")
def a_waiver_under_another_name(port: SignedPort) -> None:
    (port.path / WAIVER).rename(port.path / "waivers/w-2.dsse.json")


@forge(
    "port.waiver-replayed",
    "open: It is of the port tiny-dense, and the id of the port at hand cannot be read",
    kind="waived",
)
def a_waiver_of_a_port_whose_id_nobody_can_read(port: SignedPort) -> None:
    unreadable(port)


@forge("port.waiver-unused", "fail: There is no rule model-id-mismatch on G1 to waive", kind="waived")
def a_waiver_of_another_gate(port: SignedPort) -> None:
    _again(port, gate="G1")


@forge("port.waiver-wrong-role", "fail: Model team signed for model; here only export or release signs", kind="waived")
def a_waiver_of_a_gate_of_others(port: SignedPort) -> None:
    _again(port, gate="G2")


@forge("port.waiver-unused", "fail: context-exceeds-model does not fail on 00-source/source", kind="waived")
def a_waiver_of_another_rule(port: SignedPort) -> None:
    _again(port, rule="context-exceeds-model")


@forge("port.waiver-unused", "fail: There is no rule be-lenient on G0 to waive", kind="waived")
def a_waiver_of_a_rule_that_there_is_not(port: SignedPort) -> None:
    _again(port, rule="be-lenient")


@forge("port.waiver-unused", "fail: model-id-mismatch does not fail on port.yaml", kind="waived")
def a_waiver_of_another_artifact(port: SignedPort) -> None:
    _again(port, path="port.yaml")


@forge("port.waiver-stale", "fail: 00-source/source-manifest.json changed since it was waived", kind="waived")
def an_artifact_changed_after_its_waiver(port: SignedPort) -> None:
    with (port.path / MANIFEST).open("ab") as file:
        file.write(b"\n")


@forge("port.waiver-stale", "fail: 00-source/gone.json is gone since it was waived", kind="waived")
def a_waiver_of_an_artifact_that_is_gone(port: SignedPort) -> None:
    _again(port, path="00-source/gone.json")


@forge(FAILS, "fail: The model id ends in", kind="waived")
def an_expired_waiver(port: SignedPort) -> None:
    _again(port, until="2026-11-30T11:59:59Z")


@forge("port.waiver-expired", "fail: It ran out on 2026-11-30", kind="waived")
def a_waiver_at_its_very_end(port: SignedPort) -> None:
    _again(port, until="2026-11-30T12:00:00Z")


@forge("port.envelope-malformed", "fail: The signed statement", kind="waived")
def a_waiver_until_a_day_that_there_is_not(port: SignedPort) -> None:
    _again(port, until="9999-99-99")


@forge("port.envelope-malformed", "fail: ", kind="waived")
def a_waiver_until_the_thirtieth_of_february(port: SignedPort) -> None:
    _again(port, until="2027-02-30T00:00:00Z")


@forge("port.envelope-malformed", "fail: The signed statement", kind="waived")
def a_waiver_until_a_day_without_a_time(port: SignedPort) -> None:
    _again(port, until="2027-01-31")


@forge("port.envelope-malformed", "fail: The signed statement", kind="waived")
def a_waiver_until_a_time_elsewhere(port: SignedPort) -> None:
    _again(port, until="2027-01-31T00:00:00-12:00")


@forge("port.envelope-malformed", "fail: The signed statement", kind="waived")
def a_waiver_until_further_notice(port: SignedPort) -> None:
    port.resign(WAIVER, lambda document: document["predicate"].pop("until"), *WAIVER_SIGNERS)


@forge("port.envelope-malformed", "fail: The signed statement", kind="waived")
def a_waiver_without_a_ticket(port: SignedPort) -> None:
    port.resign(WAIVER, lambda document: document["predicate"].pop("ticket"), *WAIVER_SIGNERS)


@forge("port.envelope-malformed", "fail: The signed statement", kind="waived")
def a_waiver_of_two_artifacts(port: SignedPort) -> None:
    item = {"name": "port.yaml", "digest": {"sha256": port.digest("port.yaml")}}
    port.resign(WAIVER, lambda document: document["subject"].append(item), *WAIVER_SIGNERS)


@forge("port.envelope-malformed", "fail: The signed statement", kind="waived")
def a_waiver_of_every_rule(port: SignedPort) -> None:
    _again(port, rule="*")


@forge("port.waiver-threshold", "fail: 0 of the 2 owners of release that are needed signed", kind="waived")
def waived_by_the_gate_s_role_alone(port: SignedPort) -> None:
    _again(port, "model")


@forge("port.waiver-threshold", "fail: 0 of the 1 owners of model that are needed signed", kind="waived")
def waived_by_the_release_alone(port: SignedPort) -> None:
    _again(port, "release", "release-2")


@forge("port.waiver-threshold", "fail: 1 of the 2 owners of release that are needed signed", kind="waived")
def waived_by_one_owner_of_the_release(port: SignedPort) -> None:
    _again(port, "model", "release")


@forge("port.waiver-wrong-role", "is nobody's in the registry", kind="waived")
def waived_by_all_and_a_stranger(port: SignedPort) -> None:
    _again(port, *WAIVER_SIGNERS, "stranger")


@forge("port.waiver-wrong-role", "fail: Release-functionary team signed for release-functionary", kind="waived")
def waived_by_a_functionary(port: SignedPort) -> None:
    _again(port, "model", "release", "release-functionary")


@forge("port.waiver-signature-invalid", "does not fit these bytes", kind="waived")
def a_waiver_prolonged_after_signing(port: SignedPort) -> None:
    document = port.envelope(WAIVER)
    port.waive(until="2036-01-31T00:00:00Z")
    port.write(WAIVER, {**port.envelope(WAIVER), "signatures": document["signatures"]})


@forge("port.waiver-revoked", "is revoked: The laptop was stolen.", kind="waived")
def waived_by_a_revoked_key(port: SignedPort) -> None:
    revoke(port, "release")


@forge("port.waiver-threshold", "fail: Nobody owns the role release, whose signature it needs", kind="waived")
def waived_where_nobody_releases(port: SignedPort) -> None:
    registry = port.registry()
    del registry.delegations["release"]
    registry.owners = [owner for owner in registry.owners if owner["role"] != "release"]
    _again(port, "model")


def _forbidden(port: SignedPort, rule: str, path: str = MANIFEST, gate: str = "G0") -> None:
    signers = ("release", "release-2") if gate == "port" else WAIVER_SIGNERS
    port.waive(*signers, rule=rule, path=path, gate=gate, id="w-2")


@forge("port.waiver-forbidden", "fail: G0.digest-mismatch cannot be waived, by anybody", kind="waived")
def a_waiver_of_a_digest(port: SignedPort) -> None:
    _forbidden(port, "digest-mismatch")


@forge("port.waiver-forbidden", "fail: G0.license-forbids-use cannot be waived", kind="waived")
def a_waiver_of_a_licence(port: SignedPort) -> None:
    _forbidden(port, "license-forbids-use")


@forge("port.waiver-forbidden", "fail: G0.sla-missing cannot be waived", kind="waived")
def a_waiver_of_a_hard_threshold(port: SignedPort) -> None:
    _forbidden(port, "sla-missing")


@forge("port.waiver-forbidden", "fail: G0.signoff-missing cannot be waived", kind="waived")
def a_waiver_of_a_signoff(port: SignedPort) -> None:
    _forbidden(port, "signoff-missing")


@forge("port.waiver-forbidden", "fail: port.waiver-forbidden cannot be waived", kind="waived")
def a_waiver_of_the_rule_on_waivers(port: SignedPort) -> None:
    _forbidden(port, "waiver-forbidden", gate="port", path="port.yaml")


@forge("port.waiver-forbidden", "fail: port.kickoff-incomplete cannot be waived", kind="waived")
def a_waiver_of_a_block(port: SignedPort) -> None:
    _forbidden(port, "kickoff-incomplete", gate="port", path="vendor/kickoff.json")


@forge("port.waiver-unused", "fail: model-id-mismatch does not fail on", exit_code=0)
def a_waiver_of_what_does_not_fail(port: SignedPort) -> None:
    port.waive()


@forge("G0.model-id-mismatch", "open: ")
def a_waiver_of_what_is_open(port: SignedPort) -> None:
    """The manifest has no revision, so that nothing can be compared; everybody agrees that it does not matter."""
    document = json.loads((port.path / MANIFEST).read_text())
    del document["revision"]
    (port.path / MANIFEST).write_text(json.dumps(document))
    port.waive()
    port.waive(id="w-2", rule="schema-invalid")


@forge("port.waiver-replayed", "fail: It is the waiver w-1, under another name", kind="waived")
def one_waiver_twice(port: SignedPort) -> None:
    shutil.copyfile(port.path / WAIVER, port.path / "waivers/w-2.dsse.json")
