"""Runs that were shut in less than somebody says, or fewer than somebody says."""

import json
from typing import Any

import yaml

from tests.trust import authority as kit
from tests.trust.chained import CONFIG, STEPS, TOKENIZER, chained, declare, lay_out, run
from tests.trust.forgeries import forge
from tests.trust.signed_port import MANIFEST, SignedPort

IMAGE, OTHER = (f"registry.example/tools@sha256:{digit * 64}" for digit in "ab")
SAID = "fetch was run in less than a sandbox"
CONTRADICTED = "Provenance of fetch contradicts its builder, which shuts in more"


def step(kind: str = "bwrap", **more: Any) -> dict[str, Any]:
    """The step ``fetch``, which reads the manifest and writes the configuration, run by an executor."""
    executor = {"kind": kind, "network": "none", **({"image": IMAGE} if kind == "oci" else {})}
    return {**STEPS["fetch"], "tools": [], "executor": executor, **more}


def attest(port: SignedPort, kind: str, *, number: int = 1, seed: str = "model-functionary", **said: Any) -> None:
    """Provenance of a run of it by an executor that says so of itself."""
    document = port.run("fetch", invocation=f"run-{number}", command=list(STEPS["fetch"]["run"]))
    if kind in ("local", "bwrap", "oci"):
        kit.run_with(document, kind, **said)
    else:
        document["predicate"]["runDetails"]["builder"]["id"] = kind
    kit.write_provenance(port.path, document, seed, number)


@forge("common.isolation-too-weak@G0", "pass", exit_code=0)
def a_run_in_a_sandbox(port: SignedPort) -> None:
    declare(port, {"fetch": step()})
    attest(port, "bwrap")


@forge("common.isolation-too-weak@G0", "pass", exit_code=0)
def a_run_in_a_container_of_the_image(port: SignedPort) -> None:
    declare(port, {"fetch": step("oci")})
    attest(port, "oci", image=IMAGE)


@forge("common.isolation-too-weak@G0", "pass", exit_code=0)
def a_run_in_more_than_a_sandbox(port: SignedPort) -> None:
    declare(port, {"fetch": step()})
    attest(port, "oci", image=OTHER)


@forge("common.isolation-too-weak@G0", f"fail: {SAID}")
def a_run_that_was_not_shut_in(port: SignedPort) -> None:
    declare(port, {"fetch": step()})
    attest(port, "local")


@forge("common.isolation-too-weak@G0", "fail: fetch was run in less than a container")
def a_sandbox_for_a_container(port: SignedPort) -> None:
    declare(port, {"fetch": step("oci")})
    attest(port, "bwrap")


@forge("common.isolation-too-weak@G0", "fail: fetch was run in a container of another image")
def a_container_of_another_image(port: SignedPort) -> None:
    declare(port, {"fetch": step("oci")})
    attest(port, "oci", image=OTHER)


@forge("common.isolation-too-weak@G0", "fail: fetch was run in a container of another image")
def a_container_of_no_image(port: SignedPort) -> None:
    declare(port, {"fetch": step("oci")})
    attest(port, "oci")


@forge("common.isolation-too-weak@G0", f"fail: {CONTRADICTED}")
def a_sandbox_that_says_it_is_none(port: SignedPort) -> None:
    declare(port, {"fetch": step()})
    attest(port, "bwrap", isolation="none")


@forge("common.isolation-too-weak@G0", f"fail: {CONTRADICTED}")
def a_sandbox_with_a_network(port: SignedPort) -> None:
    declare(port, {"fetch": step()})
    attest(port, "bwrap", networkEnforced=False)


@forge("common.isolation-too-weak@G0", f"fail: {CONTRADICTED}")
def a_sandbox_with_the_whole_machine_in_it(port: SignedPort) -> None:
    declare(port, {"fetch": step()})
    attest(port, "bwrap", inputsEnforced="yes")


@forge("common.isolation-too-weak@G0", "open: fetch was built elsewhere", exit_code=3)
def a_run_elsewhere(port: SignedPort) -> None:
    declare(port, {"fetch": step()})
    attest(port, "urn:calaudit:executor:elsewhere:v1")


@forge("common.isolation-too-weak@G0", "open: fetch was built elsewhere", exit_code=3)
def a_run_by_an_executor_to_come(port: SignedPort) -> None:
    declare(port, {"fetch": step()})
    attest(port, "urn:calaudit:executor:bwrap:v2")


@forge("common.isolation-too-weak@G0", "open: Too few functionaries of model, or none", exit_code=3)
def a_step_for_a_sandbox_that_nobody_ran(port: SignedPort) -> None:
    declare(port, {"fetch": step()})


@forge("common.isolation-too-weak@G0", "open: Too few functionaries of model, or none", exit_code=3)
def a_run_by_the_functionary_of_another_role(port: SignedPort) -> None:
    declare(port, {"fetch": step()})
    attest(port, "bwrap", seed="export-functionary")


@forge("common.isolation-too-weak@G0", "open: Too few functionaries of model, or none", exit_code=3)
def a_run_that_wrote_a_part_only(port: SignedPort) -> None:
    declare(port, {"fetch": step(products=[CONFIG, TOKENIZER])})
    attest(port, "bwrap")


@forge("common.isolation-too-weak@G0", "open: Too few functionaries of model, or none", exit_code=3)
def a_run_that_read_a_part_only(port: SignedPort) -> None:
    declare(port, {"fetch": step(materials=[MANIFEST, TOKENIZER])})
    attest(port, "bwrap")


@forge("common.isolation-too-weak@G0", "open: Too few functionaries of model, or none", exit_code=3)
def a_run_of_another_command(port: SignedPort) -> None:
    declare(port, {"fetch": step(run=["python", "another"])})
    attest(port, "bwrap")


@forge("common.isolation-too-weak@G0", "fail: ")
def a_step_that_says_it_is_of_a_gate_that_is_not_judged(port: SignedPort) -> None:
    """What it writes is of G0 all the same."""
    declare(port, {"fetch": step(gate="G7")})
    document = port.run("fetch", gate="G7", command=list(STEPS["fetch"]["run"]))
    kit.run_with(document, "local")
    kit.write_provenance(port.path, document, "model-functionary")


@forge("common.isolation-too-weak@G0", "open: The steps fetch", exit_code=3)
def two_steps_that_write_one_file(port: SignedPort) -> None:
    declare(port, {"fetch": step(), "fetch-again": step()})
    attest(port, "bwrap")


@forge("common.isolation-too-weak@G0", f"fail: {SAID}")
def a_chain_of_links_without_a_sandbox(port: SignedPort) -> None:
    declare(port, {**STEPS, "fetch": step()})
    lay_out(port)
    for name in STEPS:
        run(port, name)
    attest(port, "local")


@forge("common.rebuilds-incomplete@G0", "pass", exit_code=0)
def two_runs_of_two(port: SignedPort) -> None:
    declare(port, {"fetch": step(rebuilds=2)})
    attest(port, "bwrap")
    attest(port, "bwrap", number=2)


@forge("common.rebuilds-incomplete@G0", "open: 1 run is attested of the 2 of fetch", exit_code=3)
def one_run_of_two(port: SignedPort) -> None:
    declare(port, {"fetch": step(rebuilds=2)})
    attest(port, "bwrap")


@forge("common.rebuilds-incomplete@G0", "open: 1 run is attested of the 2 of fetch")
def one_run_that_is_counted_twice(port: SignedPort) -> None:
    one_run_of_two(port)
    document = port.run("fetch", invocation="run-1", command=list(STEPS["fetch"]["run"]))
    kit.run_with(document, "bwrap")
    kit.write_provenance(port.path, document, "model-functionary", 2)


@forge("common.rebuilds-incomplete@G0", "open: 0 runs are attested of the 2 of fetch", exit_code=3)
def no_run_of_two(port: SignedPort) -> None:
    declare(port, {"fetch": step(rebuilds=2)})


# What port.yaml says is signed with the layout; without one, what is attested is held against it all the same ---------


def _edit(port: SignedPort, **members: Any) -> None:
    """Let port.yaml say something else of the step, after all was signed."""
    document = json.loads((port.path / "port.yaml").read_text())
    document["steps"]["fetch"].update(members)
    declare(port, document["steps"])


def _laid_out(port: SignedPort, **members: Any) -> None:
    declare(port, {**STEPS, "fetch": step(**members)})
    lay_out(port)
    for name in STEPS:
        run(port, name)


@forge("port.layout-differs-from-port", "fail: It has another port, or other gates, executors, environments")
def an_executor_weakened_after_the_layout(port: SignedPort) -> None:
    _laid_out(port)
    attest(port, "local")
    _edit(port, executor={"kind": "local", "network": "none"})


@forge("port.layout-differs-from-port", "fail: It has another port, or other gates, executors, environments")
def rebuilds_dropped_after_the_layout(port: SignedPort) -> None:
    _laid_out(port, rebuilds=2)
    attest(port, "bwrap")
    _edit(port, rebuilds=1)


@forge("port.layout-differs-from-port", "fail: It has another port, or other gates, executors, environments")
def an_environment_edited_after_the_layout(port: SignedPort) -> None:
    _laid_out(port)
    attest(port, "bwrap")
    _edit(port, env={"LD_PRELOAD": "/x"})


@forge("port.layout-differs-from-port", "fail: It has another port, or other gates, executors, environments")
def a_step_moved_to_a_gate_that_is_not_judged(port: SignedPort) -> None:
    chained(port)
    _edit(port, gate="G10")
    for path in (port.path / "attestations").glob("fetch.*.link"):
        path.unlink()


@forge("port.link-missing", "open: 0 of the 1 functionaries of model", exit_code=3)
def a_step_of_another_gate_that_writes_files_of_this_one(port: SignedPort) -> None:
    """The release owners signed it so, and nobody ran it."""
    declare(port, {"fetch": step("local", gate="G10")})
    lay_out(port)


@forge("port.link-missing", "open: 0 of the 1 functionaries of model", exit_code=3)
def a_step_that_writes_a_tool_of_the_port(port: SignedPort) -> None:
    """What belongs to no gate belongs to all of them."""
    declare(port, {"fetch": step("local", gate="G10", products=["tools/*.py"])})
    lay_out(port)


@forge("port.layout-missing-at-release", "open: port.yaml declares no steps")
def a_candidate_without_steps(port: SignedPort) -> None:
    path = port.path / "port.yaml"
    text = path.read_text("utf-8").replace("stage: development", "stage: candidate")
    path.write_text(text.partition("steps:")[0], "utf-8")
    port.signoff("G0.model", stage="candidate")


@forge("common.isolation-too-weak@G0", "says that it ran with another environment", exit_code=3)
def a_run_in_another_environment(port: SignedPort) -> None:
    declare(port, {"fetch": step(env={"SEED": "0"})})
    attest(port, "bwrap")


@forge("common.isolation-too-weak@G0", "says that it ran with another toolchain", exit_code=3)
def a_run_with_another_toolchain(port: SignedPort) -> None:
    declare(port, {"fetch": step(toolchain="pinned")})
    attest(port, "bwrap")


@forge("common.isolation-too-weak@G0", "says that it ran with another network", exit_code=3)
def a_run_with_an_endpoint(port: SignedPort) -> None:
    declare(port, {"fetch": step()})
    attest(port, "bwrap")
    path = f"attestations/fetch.{kit.key('model-functionary').public_key.keyid[:8]}.1.dsse.json"

    def change(document: dict[str, Any]) -> None:
        document["predicate"]["buildDefinition"]["internalParameters"]["executor"]["network"] = "licence.example"

    port.resign(path, change, "model-functionary")


@forge("common.isolation-too-weak@G0", "fail: fetch runs with bwrap and the network endpoint licence.example")
def a_sandbox_that_may_reach_an_endpoint(port: SignedPort) -> None:
    declare(port, {"fetch": step(executor={"kind": "bwrap", "network": "licence.example"})})
    attest(port, "bwrap")


@forge("common.isolation-too-weak@G0", "fail: fetch runs with oci and no image by digest")
def a_container_without_an_image(port: SignedPort) -> None:
    declare(port, {"fetch": step(executor={"kind": "oci", "network": "none"})})
    attest(port, "oci")


@forge("common.isolation-too-weak@G0", "names no file that fits 00-source/hf-config/none-*.json", exit_code=3)
def a_run_of_a_glob_that_nothing_fits(port: SignedPort) -> None:
    declare(port, {"fetch": step(products=[CONFIG, "00-source/hf-config/none-*.json"])})
    attest(port, "bwrap")


@forge("common.isolation-too-weak@G0", "was written, which is no product of the step", exit_code=3)
def a_run_that_wrote_what_is_no_product(port: SignedPort) -> None:
    declare(port, {"fetch": step(products=[TOKENIZER])})
    attest(port, "bwrap")


@forge("common.isolation-too-weak@G0", "was read, which the step does not declare", exit_code=3)
def a_run_that_read_what_is_no_material(port: SignedPort) -> None:
    declare(port, {"fetch": step(materials=[TOKENIZER])})
    attest(port, "bwrap")


@forge("common.isolation-too-weak@G0", "open: The step fetch may not write ?ignoffs/*", exit_code=3)
def a_step_that_writes_signoffs(port: SignedPort) -> None:
    declare(port, {"fetch": step(products=[CONFIG, "?ignoffs/*"])})
    attest(port, "bwrap")


@forge("common.rebuilds-incomplete@G0", "open: 1 run is attested of the 2 of fetch", exit_code=3)
def a_second_run_that_was_not_shut_in(port: SignedPort) -> None:
    one_run_of_two(port)
    attest(port, "local", number=2)


@forge("G1.invocation-unattested", "open: The step reference-again may not write ?ignoffs/*", kind="full")
def steps_that_contradict_themselves(port: SignedPort) -> None:
    document = json.loads(json.dumps(yaml.load((port.path / "port.yaml").read_text("utf-8"), yaml.CSafeLoader)))
    document["steps"]["reference-again"]["products"].append("?ignoffs/*")
    (port.path / "port.yaml").write_text(json.dumps(document), "utf-8")
