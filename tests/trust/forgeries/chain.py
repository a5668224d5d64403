"""Layouts and links that in-toto would take, or nearly, and that say less than they seem to.

What `in-toto-verify` 3.1 itself makes of each is shown in tests/interop/test_in_toto.py.
"""

import copy
import json
from collections.abc import Callable
from typing import Any

import yaml

from calaudit.trust.steps import LAYOUT
from tests.trust import authority as kit
from tests.trust.chained import (
    CONFIG,
    RELEASE,
    STEPS,
    TOKENIZER,
    chained,
    declare,
    lay_out,
    layout,
    link_path,
    run,
)
from tests.trust.forgeries import forge
from tests.trust.forgeries.signatures import revoke
from tests.trust.signed_port import MANIFEST, SignedPort

Document = dict[str, Any]
FETCH = link_path("fetch", "model-functionary")


@forge("port.link-missing", "pass", exit_code=0)
def a_chain_as_it_should_be(port: SignedPort) -> None:
    chained(port)


@forge("port.link-statement-disagree", "pass", exit_code=0)
def a_chain_with_provenance_that_agrees(port: SignedPort) -> None:
    chained(port)
    _attest(port, _as_it_is)


def _as_it_is(document: Document) -> None:
    """No change."""


# The layout ---------------------------------------------------------------------------------------------------------


def _relayout(port: SignedPort, change: Callable[[Document], object], *seeds: str) -> None:
    chained(port)
    document = layout(port)
    change(document)
    port.sign(LAYOUT, document, *(seeds or RELEASE))


@forge("port.layout-malformed", "fail: The signed statement")
def a_layout_with_a_member_that_nobody_knows(port: SignedPort) -> None:
    _relayout(port, lambda document: document.update(sublayouts=[]))


@forge("port.layout-malformed", "fail: in-toto does not take it for a layout")
def a_layout_with_a_rule_that_is_none(port: SignedPort) -> None:
    _relayout(port, lambda document: document["steps"][0]["expected_products"].insert(0, ["PERMIT", "*"]))


@forge("port.layout-malformed", "fail: in-toto does not take it for a layout")
def a_layout_with_one_step_twice(port: SignedPort) -> None:
    _relayout(port, lambda document: document["steps"].append(document["steps"][0]))


@forge("port.envelope-malformed", "fail: ")
def a_layout_that_is_no_json(port: SignedPort) -> None:
    chained(port)
    port.write(LAYOUT, "{")


@forge("port.layout-wrong-role", "fail: Model team signed for model; here only release signs")
def a_layout_signed_by_an_owner_of_another_role(port: SignedPort) -> None:
    _relayout(port, _as_it_is, "release", "model")


@forge("port.layout-revoked", "is revoked: The laptop was stolen.")
def a_layout_signed_by_a_revoked_key(port: SignedPort) -> None:
    chained(port)
    revoke(port, "release")


@forge("port.layout-signature-invalid", "does not fit these bytes")
def a_layout_changed_after_signing(port: SignedPort) -> None:
    chained(port)
    signatures = port.envelope(LAYOUT)["signatures"]
    lay_out(port, expires="2089-01-01T00:00:00Z")
    port.write(LAYOUT, {**port.envelope(LAYOUT), "signatures": signatures})


@forge("port.layout-threshold", "fail: 1 of the 2 owners of release that are needed signed")
def a_layout_signed_by_one_release_owner(port: SignedPort) -> None:
    _relayout(port, _as_it_is, "release")


@forge("port.layout-expired", "fail: It ran out on 2026-11-01")
def a_layout_that_ran_out(port: SignedPort) -> None:
    _relayout(port, lambda document: document.update(expires="2026-11-01T12:00:00Z"))


@forge("port.layout-has-inspection", "fail: It wants the verifier to run commands (unpack)")
def a_layout_with_an_inspection(port: SignedPort) -> None:
    inspection = {
        "_type": "inspection",
        "name": "unpack",
        "run": ["touch", "attacked"],
        "expected_materials": [],
        "expected_products": [],
    }
    _relayout(port, lambda document: document.update(inspect=[inspection]))


@forge("port.layout-empty", "fail: It has no steps")
def a_layout_without_steps(port: SignedPort) -> None:
    _relayout(port, lambda document: document.update(steps=[]))


@forge("port.layout-key-unsound", "are one key, so it would count twice")
def a_layout_with_one_key_under_two_ids(port: SignedPort) -> None:
    def change(document: Document) -> None:
        keyid = document["steps"][0]["pubkeys"][0]
        document["keys"]["ff" * 32] = {**document["keys"][keyid], "keyid": "ff" * 32}
        document["steps"][0].update(pubkeys=[keyid, "ff" * 32], threshold=2)

    _relayout(port, change)
    envelope = port.envelope(FETCH)
    envelope["signatures"][0]["keyid"] = "ff" * 32
    port.write("attestations/fetch.ffffffff.link", envelope)


@forge("port.layout-key-unsound", "is not the digest of its key")
def a_layout_with_a_key_id_that_somebody_chose(port: SignedPort) -> None:
    def change(document: Document) -> None:
        keyid, key = next(iter(document["keys"].items()))
        document["keys"] = {"ff" * 32: {**key, "keyid": keyid}}

    _relayout(port, change)


@forge("port.layout-unknown-step", "it has no step fetched, so that nothing matches")
def a_layout_that_matches_a_step_it_does_not_have(port: SignedPort) -> None:
    def change(document: Document) -> None:
        rules = document["steps"][1]["expected_materials"]
        kept = [rule for rule in rules if rule != ["DISALLOW", CONFIG]]
        rules[:] = [[*rule[:-1], "fetched"] if rule[0] == "MATCH" else rule for rule in kept]

    _relayout(port, change)


@forge("port.layout-differs-from-port", "fail: It has another expected_products of the step fetch than")
def a_layout_that_demands_less(port: SignedPort) -> None:
    _relayout(port, lambda document: document["steps"][0].update(expected_products=[["ALLOW", "*"]]))


@forge("port.layout-differs-from-port", "fail: It has no step tokenize, and so other steps than")
def a_layout_that_leaves_a_step_out(port: SignedPort) -> None:
    _relayout(port, lambda document: document["steps"].pop())


@forge("port.layout-differs-from-port", "fail: It has another port, or")
def a_layout_of_another_port(port: SignedPort) -> None:
    _relayout(port, lambda document: document.update(readme=document["readme"].replace("tiny-dense", "large-dense")))


@forge("port.layout-differs-from-port", "fail: It has other functionaries' keys than")
def a_layout_with_a_stranger_among_the_functionaries(port: SignedPort) -> None:
    def change(document: Document) -> None:
        key = kit.key("stranger").public_key
        document["keys"][key.keyid] = {**key.to_dict(), "keyid": key.keyid}
        document["steps"][0]["pubkeys"].append(key.keyid)

    _relayout(port, change)


@forge("port.layout-differs-from-port", "fail: port.yaml cannot be laid out. The steps go round in a circle")
def a_layout_of_steps_in_a_circle(port: SignedPort) -> None:
    chained(port)
    steps = copy.deepcopy(STEPS)
    steps["fetch"]["materials"] = [TOKENIZER]
    declare(port, steps)


@forge("port.layout-differs-from-port", "cannot be laid out. The steps fetch")
def a_layout_of_steps_that_write_one_file(port: SignedPort) -> None:
    chained(port)
    steps = copy.deepcopy(STEPS)
    steps["tokenize"].update(materials=[MANIFEST], products=["00-source/hf-config/*.json"])
    declare(port, steps)


def _claim(port: SignedPort, gate: str) -> None:
    path = port.path / "port.yaml"
    path.write_text(path.read_text("utf-8").replace('"claim": "G0"', f'"claim": "{gate}"'), "utf-8")


@forge(
    "port.layout-differs-from-port",
    "open: Whether the layout and the links are of the port's steps is open",
    exit_code=1,
)
def a_chain_of_a_port_that_cannot_be_used(port: SignedPort) -> None:
    chained(port)
    _claim(port, "G12")


@forge("port.layout-expired", "fail: It ran out on 2026-11-01")
def a_layout_that_ran_out_of_a_port_that_cannot_be_used(port: SignedPort) -> None:
    """What is wrong with a layout whatever the steps are stays wrong."""
    a_layout_that_ran_out(port)
    _claim(port, "G12")


@forge("port.link-name-mismatch", "open: Whether the links are of the port's steps is open")
def links_without_a_layout_of_a_port_that_cannot_be_used(port: SignedPort) -> None:
    chained(port)
    (port.path / LAYOUT).unlink()
    _claim(port, "G12")


@forge("port.link-name-mismatch", "fail: It is a link of the step tokenize, under another name")
def a_link_of_another_step_of_a_port_that_cannot_be_used(port: SignedPort) -> None:
    a_link_of_another_step(port)
    _claim(port, "G12")


@forge("port.link-name-mismatch", "fail: port.yaml cannot be laid out, so that no link is of its steps")
def links_without_a_layout_of_steps_in_a_circle(port: SignedPort) -> None:
    a_layout_of_steps_in_a_circle(port)
    (port.path / LAYOUT).unlink()


@forge("port.layout-differs-from-port", "run by functionaries of quant, and the registry has no keys")
def a_layout_of_a_step_that_nobody_may_run(port: SignedPort) -> None:
    chained(port)
    del port.authority.delegations["quant-functionary"]
    port.authority.owners[:] = [o for o in port.authority.owners if o["role"] != "quant-functionary"]
    port.registry()
    steps = copy.deepcopy(STEPS)
    steps["fetch"]["role"] = "quant"
    declare(port, steps)


@forge("port.layout-missing", "fail: No layout", exit_code=0)
def steps_without_a_layout(port: SignedPort) -> None:
    declare(port)


@forge("port.layout-missing", "notApplicable: port.yaml declares no steps", exit_code=0)
def a_port_without_steps(port: SignedPort) -> None:
    path = port.path / "port.yaml"
    document = yaml.load(path.read_text("utf-8"), yaml.CSafeLoader)
    del document["steps"]
    path.write_text(json.dumps(document), "utf-8")


@forge("port.layout-missing-at-release", "open: No layout", exit_code=1)
def a_candidate_without_a_layout(port: SignedPort) -> None:
    declare(port)
    path = port.path / "port.yaml"
    path.write_text(path.read_text("utf-8").replace('"development"', '"candidate"'), "utf-8")


@forge("port.layout-missing-at-release", "pass", exit_code=1)
def a_candidate_with_a_layout(port: SignedPort) -> None:
    chained(port)
    path = port.path / "port.yaml"
    path.write_text(path.read_text("utf-8").replace('"development"', '"candidate"'), "utf-8")


# Links --------------------------------------------------------------------------------------------------------------


@forge("port.link-missing", "open: 0 of the 1 functionaries of model that are needed ran fetch", exit_code=3)
def a_step_that_nobody_ran(port: SignedPort) -> None:
    chained(port)
    (port.path / FETCH).unlink()


@forge("port.layout-has-sublayout", "fail: It is a layout in the place of a link")
def a_functionary_who_lets_others_run_the_step(port: SignedPort) -> None:
    chained(port)
    port.sign(FETCH, layout(port), "model-functionary")


@forge("port.link-malformed", "fail: The signed statement")
def provenance_under_the_name_of_a_link(port: SignedPort) -> None:
    chained(port)
    port.sign(FETCH, port.run("fetch"), "model-functionary")


@forge("port.link-malformed", "fail: ")
def a_link_that_is_no_json_inside(port: SignedPort) -> None:
    chained(port)
    port.sign_bytes(b"{", "model-functionary", path=FETCH)


@forge("port.link-malformed", "fail: ")
def a_link_with_a_member_twice(port: SignedPort) -> None:
    chained(port)
    payload = json.dumps(port.statement(FETCH)).replace('"name"', '"name": "tokenize", "name"', 1)
    port.sign_bytes(payload.encode(), "model-functionary", path=FETCH)


@forge("port.envelope-malformed", "fail: ")
def a_link_that_is_no_json(port: SignedPort) -> None:
    chained(port)
    port.write(FETCH, "[")


@forge("port.envelope-malformed", "fail: An envelope has exactly the members")
def a_link_in_the_manner_of_long_ago(port: SignedPort) -> None:
    """A Metablock, as in-toto wrote before DSSE."""
    chained(port)
    port.write(FETCH, {"signed": port.statement(FETCH), "signatures": port.envelope(FETCH)["signatures"]})


@forge("port.link-name-mismatch", "fail: It is a link of the step tokenize, under another name")
def a_link_of_another_step(port: SignedPort) -> None:
    chained(port)
    run(port, "fetch", name="tokenize")


@forge("port.link-name-mismatch", "fail: port.yaml declares no step train")
def a_link_of_a_step_that_nobody_declared(port: SignedPort) -> None:
    chained(port)
    run(port, "fetch", path=link_path("train", "model-functionary"), name="train")


@forge("port.link-name-mismatch", "fail: A link is called")
def a_link_under_a_name_that_is_none(port: SignedPort) -> None:
    chained(port)
    run(port, "fetch", path="attestations/fetch.link")


@forge("port.link-wrong-functionary", "fail: Model team signed for model; here only model-functionary signs")
def a_link_signed_by_an_owner(port: SignedPort) -> None:
    chained(port)
    run(port, "fetch", "model")


@forge("port.link-wrong-functionary", "signed for export-functionary; here only model-functionary signs")
def a_link_signed_by_the_functionary_of_another_role(port: SignedPort) -> None:
    chained(port)
    run(port, "fetch", "export-functionary")


@forge("port.link-wrong-functionary", "fail: A link has one signer, and its name begins that key's id")
def a_link_under_the_name_of_another_key(port: SignedPort) -> None:
    chained(port)
    run(port, "fetch", path="attestations/fetch.01234567.link")


@forge("port.link-revoked", "is revoked: The laptop was stolen.")
def a_link_signed_by_a_revoked_key(port: SignedPort) -> None:
    chained(port)
    revoke(port, "model-functionary")


@forge("port.link-signature-invalid", "does not fit these bytes")
def a_link_changed_after_signing(port: SignedPort) -> None:
    chained(port)
    signatures = port.envelope(FETCH)["signatures"]
    run(port, "fetch", environment={"workdir": "/elsewhere"})
    port.write(FETCH, {**port.envelope(FETCH), "signatures": signatures})


@forge("port.link-return-value", "fail: The command ended with 1")
def a_command_that_failed(port: SignedPort) -> None:
    chained(port)
    run(port, "fetch", byproducts={"return-value": 1})


@forge("port.link-return-value", "fail: It does not say how the command ended")
def a_command_of_which_nobody_says_how_it_ended(port: SignedPort) -> None:
    chained(port)
    run(port, "fetch", byproducts={})


@forge("port.link-command-mismatch", "fail: Another command ran than port.yaml declares for fetch")
def another_command(port: SignedPort) -> None:
    chained(port)
    run(port, "fetch", command=["cp", "elsewhere/config.json", CONFIG])


@forge(
    "port.link-hidden-input", "fail: It read 00-source/hf-config/tokenizer.json, which is neither a tool nor a material"
)
def an_input_that_nobody_declared(port: SignedPort) -> None:
    chained(port)
    _resign(port, lambda document: document["materials"].update({TOKENIZER: {"sha256": port.digest(TOKENIZER)}}))


@forge("port.link-incomplete", f"fail: It does not say that fetch read {MANIFEST}")
def an_input_that_is_left_out(port: SignedPort) -> None:
    chained(port)
    _resign(port, lambda document: document["materials"].pop(MANIFEST))


@forge("port.link-incomplete", "fail: It does not say that fetch read")
def a_link_that_names_nothing(port: SignedPort) -> None:
    chained(port)
    run(port, "fetch", materials={}, products={})


@forge("port.link-incomplete", "fail: It names no file for 00-source/hf-config/tokenizer.json")
def a_product_that_was_not_made(port: SignedPort) -> None:
    chained(port)
    (port.path / TOKENIZER).unlink()
    run(port, "tokenize", products={})


@forge("port.link-stale", f"fail: {CONFIG} changed since the run")
def a_product_that_changed(port: SignedPort) -> None:
    chained(port)
    _resign(port, lambda document: document["products"].update({CONFIG: {"sha256": "00" * 32}}))


@forge("port.link-stale", f"fail: {TOKENIZER} changed since the run")
def a_last_product_that_changed(port: SignedPort) -> None:
    chained(port)
    path = port.path / TOKENIZER
    before = path.read_bytes()
    path.write_bytes(before + b"\n")
    run(port, "tokenize")
    path.write_bytes(before)


@forge("port.link-stale", f"fail: {MANIFEST} changed since the run")
def an_input_that_changed(port: SignedPort) -> None:
    chained(port)
    _resign(port, lambda document: document["materials"].update({MANIFEST: {"sha256": "00" * 32}}))


@forge("port.link-stale", "fail: 00-source/hf-config/more.json is gone since the run")
def a_product_that_is_gone(port: SignedPort) -> None:
    chained(port)
    _resign(port, lambda d: d["products"].update({"00-source/hf-config/more.json": {"sha256": "00" * 32}}))


@forge("port.link-rule-violated", "fail: fetch wrote 00-source/hf-config/tokenizer.json, which is no product of it")
def a_product_that_nobody_declared(port: SignedPort) -> None:
    chained(port)
    _resign(port, lambda document: document["products"].update({TOKENIZER: {"sha256": port.digest(TOKENIZER)}}))


@forge("port.link-statement-disagree", "fail: It has another command than attestations/fetch.")
def provenance_of_another_command(port: SignedPort) -> None:
    chained(port)
    _attest(port, lambda d: d["predicate"]["buildDefinition"]["externalParameters"].update(command=["true"]))


@forge("port.link-statement-disagree", "fail: It has other materials than attestations/fetch.")
def provenance_that_read_less(port: SignedPort) -> None:
    chained(port)
    _attest(port, lambda d: d["predicate"]["buildDefinition"]["resolvedDependencies"].pop())


@forge("port.link-statement-disagree", "fail: It has other products than attestations/fetch.")
def provenance_that_wrote_more(port: SignedPort) -> None:
    chained(port)
    more = kit.named({TOKENIZER: port.digest(TOKENIZER)})
    _attest(port, lambda document: document["subject"].extend(more))


def _resign(port: SignedPort, change: Callable[[Document], object]) -> None:
    port.resign(FETCH, change, "model-functionary")


def _attest(port: SignedPort, change: Callable[[Document], object]) -> None:
    """Provenance of ``fetch`` that says what its link says, but for a change."""
    link = port.statement(FETCH)
    digests = [{p: h["sha256"] for p, h in link[side].items()} for side in ("products", "materials")]
    document = port.authority.provenance("fetch", "G0", "run-1", *digests, command=link["command"])
    change(document)
    kit.write_provenance(port.path, document, "model-functionary")
