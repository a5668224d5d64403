"""Runs of the reference and of its comparison that everybody signed, and that are none, or not apart."""

import json
from collections.abc import Callable
from typing import Any

import yaml

from tests.trust.forgeries import forge
from tests.trust.forgeries.attestations import FIRST, SECOND, change_run, materials_of, run_of, sign_above
from tests.trust.signed_port import SignedPort

G1, G2 = "G1.invocation-unattested", "G2.onnx-run-unattested"
COMPARED = "02-onnx/onnx-report.json"
KEPT = "configs/shape-matrix.yaml"
"""A file of the port as a whole, which any step may read."""

MODEL = "02-onnx/model.onnx"
OUTPUTS = "01-reference/outputs.jsonl"
NO_TOOL = "runs no tool of the port"
Steps = dict[str, dict[str, Any]]


def redeclare(port: SignedPort, change: Callable[[Steps], object]) -> None:
    """Let port.yaml declare other steps, and all of them be attested so, and signed."""
    path = port.path / "port.yaml"
    document = yaml.load(path.read_text("utf-8"), yaml.CSafeLoader)
    document = json.loads(json.dumps(document))  # no list is shared
    change(document["steps"])
    path.write_text(json.dumps(document, indent=1), "utf-8")
    port.authority.attest(port.path)
    sign_above(port)


def _with(step: str, **members: Any) -> Callable[[Steps], object]:
    return lambda steps: steps[step].update(members)


def _times(port: SignedPort, product: str, started: str, finished: str, by: str) -> None:
    times = {"startedOn": started, "finishedOn": finished}
    change_run(port, product, lambda document: document["predicate"]["runDetails"]["metadata"].update(times), by)


# The reference --------------------------------------------------------------------------------------------------------


@forge(G1, "fail: reference-again may read what reference writes", kind="full")
def a_second_run_that_copies_the_first(port: SignedPort) -> None:
    def change(steps: Steps) -> None:
        again = steps["reference-again"]
        again["materials"].append(OUTPUTS)
        again["run"] = ["cp", OUTPUTS, "01-reference/run-2/"]

    redeclare(port, change)


@forge(G1, "fail: reference-again may read what reference writes", kind="full")
def a_second_run_that_copies_through_a_step_between(port: SignedPort) -> None:
    def change(steps: Steps) -> None:
        keep = {"run": ["python", "tools/generate_reference.py"], "materials": [OUTPUTS], "products": [KEPT], "env": {}}
        steps["keep"] = {**steps["reference-again"], **keep}
        steps["reference-again"]["materials"].append(KEPT)

    redeclare(port, change)


@forge(G1, "fail: The run read configs/kept.jsonl, which has the same bytes as", kind="full")
def answers_under_another_name(port: SignedPort) -> None:
    path = "configs/kept.jsonl"
    port.file(path).write_bytes((port.path / OUTPUTS).read_bytes())
    redeclare(port, lambda steps: steps["reference-again"]["materials"].append(path))


@forge(G1, "fail: reference-again has the command and the environment of reference", kind="full")
def a_second_run_by_the_command_of_the_first(port: SignedPort) -> None:
    redeclare(port, lambda steps: steps["reference-again"].update(run=steps["reference"]["run"]))


@forge(G1, "fail: The two runs are not of the same tools", kind="full")
def a_second_run_by_another_tool(port: SignedPort) -> None:
    tool = "tools/export_onnx.py"
    redeclare(port, _with("reference-again", tools=[tool], run=["python", tool]))


@forge(G1, "fail: The two runs are not of the same toolchain", kind="full")
def a_second_run_with_another_toolchain(port: SignedPort) -> None:
    redeclare(port, _with("reference-again", toolchain="another"))


@forge(G1, f"fail: reference-again {NO_TOOL}", kind="full")
def a_second_run_that_only_names_its_tool(port: SignedPort) -> None:
    redeclare(port, _with("reference-again", run=["python", "-c", "pass", "tools/generate_reference.py"]))


@forge(G1, f"fail: reference-again {NO_TOOL}", kind="full")
def a_second_run_that_does_nothing(port: SignedPort) -> None:
    redeclare(port, _with("reference-again", run=["true", "tools/generate_reference.py"]))


@forge(G1, "pass", kind="full", exit_code=0)
def tools_that_run_in_other_ways(port: SignedPort) -> None:
    def change(steps: Steps) -> None:
        steps["reference"]["run"] = ["/usr/bin/python3.11", "-B", "-X", "utf8", "./tools/generate_reference.py"]
        steps["reference-again"]["run"] = ["python", "-m", "tools.generate_reference", "--run", "2"]
        steps["export"]["run"] = ["torchrun", "--nproc-per-node", "1", "tools/export_onnx.py"]

    redeclare(port, change)


@forge(G1, "fail: Both this run and", kind="full")
def a_first_run_that_wrote_what_the_second_did(port: SignedPort) -> None:
    document = port.statement(run_of(port, SECOND))
    change_run(port, FIRST, lambda first: first["subject"].extend(document["subject"]), "model-functionary")


@forge(G1, "fail: The run read 01-reference/reference-report.json, which it was to write itself", kind="full")
def a_run_that_read_its_own_report(port: SignedPort) -> None:
    more = {"name": FIRST, "digest": {"sha256": port.digest(FIRST)}}
    change_run(port, FIRST, lambda document: materials_of(document).append(more), "model-functionary")


@forge(G1, "fail: The run read vendor/kickoff.json, which is neither a material nor a tool of reference", kind="full")
def a_run_that_read_what_was_not_declared(port: SignedPort) -> None:
    more = {"name": "vendor/kickoff.json", "digest": {"sha256": port.digest("vendor/kickoff.json")}}
    change_run(port, FIRST, lambda document: materials_of(document).append(more), "model-functionary")


@forge(G1, "fail: The run says that it ran with another environment than port.yaml has for reference", kind="full")
def a_run_with_a_clock_that_was_not_declared(port: SignedPort) -> None:
    def change(document: dict[str, Any]) -> None:
        document["predicate"]["buildDefinition"]["internalParameters"]["environment"]["SOURCE_DATE_EPOCH"] = "0"

    change_run(port, FIRST, change, "model-functionary")


@forge(G1, "fail: It says nothing of 00-source/weights/model.safetensors", kind="full")
def a_run_that_did_not_read_the_weights(port: SignedPort) -> None:
    redeclare(port, _with("reference", materials=["00-source/hf-config/**", "01-reference/*.jsonl"]))


@forge(G1, "fail: The two attested runs overlap in time", kind="full")
def two_runs_in_one_minute(port: SignedPort) -> None:
    for report in (FIRST, SECOND):
        _times(port, report, "2026-11-29T08:00:00Z", "2026-11-29T08:01:00Z", "model-functionary")


@forge(G1, "fail: The report says that its run finished when the attested run", kind="full")
def a_report_of_a_later_day_than_its_run(port: SignedPort) -> None:
    _times(port, FIRST, "2026-11-28T08:00:00Z", "2026-11-28T08:01:00Z", "model-functionary")


@forge(G1, "fail: The report says that its run started when the attested run", kind="full")
def a_report_of_another_hour_by_the_clock(port: SignedPort) -> None:
    """Without SOURCE_DATE_EPOCH, a report has no other clock than its run."""
    redeclare(port, lambda steps: steps["reference-again"]["env"].pop("SOURCE_DATE_EPOCH"))


@forge(G1, "fail: The report says that its run started when the attested run", kind="full")
def a_report_from_before_its_fixed_time(port: SignedPort) -> None:
    redeclare(port, lambda steps: steps["reference"]["env"].update(SOURCE_DATE_EPOCH="1795910500"))


@forge(G1, "pass", kind="full", exit_code=0)
def a_fixed_time_that_is_none(port: SignedPort) -> None:
    redeclare(port, lambda steps: steps["reference"]["env"].update(SOURCE_DATE_EPOCH="of old"))


# The export and the comparison ----------------------------------------------------------------------------------------


@forge(G2, f"fail: compare {NO_TOOL}", kind="full")
def a_comparison_that_does_nothing(port: SignedPort) -> None:
    redeclare(port, _with("compare", run=["true"]))


@forge(G2, "pass", kind="full", exit_code=0)
def a_comparison_by_calaudit_itself(port: SignedPort) -> None:
    redeclare(port, _with("compare", run=["calaudit", "onnx", "compare", "."], tools=[]))


@forge(G2, "pass", kind="full", exit_code=0)
def a_comparison_by_the_module_of_calaudit(port: SignedPort) -> None:
    redeclare(port, _with("compare", run=["python3", "-m", "calaudit", "onnx", "compare", "."], tools=[]))


@forge(G2, f"fail: export {NO_TOOL}", kind="full")
def an_export_that_copies(port: SignedPort) -> None:
    redeclare(port, _with("export", run=["cp", "elsewhere.onnx", "02-onnx/model.onnx"], tools=[]))


@forge(G2, "fail: The run made the model without 00-source/weights/**", kind="full")
def an_export_that_did_not_read_the_weights(port: SignedPort) -> None:
    redeclare(port, _with("export", materials=["02-onnx/export-config.yaml"]))


@forge(G2, "fail: The run made the model, and not 02-onnx/model.onnx.data", kind="full")
def a_model_whose_weights_another_step_writes(port: SignedPort) -> None:
    def change(steps: Steps) -> None:
        steps["export"].update(products=[MODEL], rebuilds=1)
        steps["weights"] = {**steps["export"], "products": [f"{MODEL}.data"]}

    redeclare(port, change)


@forge(G2, "pass", kind="full", exit_code=0)
def an_export_of_weights_that_a_step_turned(port: SignedPort) -> None:
    def change(steps: Steps) -> None:
        steps["turn"] = {**steps["export"], "products": [KEPT], "rebuilds": 1}
        steps["export"]["materials"] = ["02-onnx/export-config.yaml", KEPT]

    redeclare(port, change)


@forge(G2, "open: Too few functionaries of export, or none, attest", kind="full", exit_code=3)
def a_model_that_nobody_attests(port: SignedPort) -> None:
    for path in (port.path / "attestations").glob("export.*"):
        path.unlink()
    sign_above(port)


@forge(G2, "fail: It attests another run than the one that", kind="full")
def a_comparison_that_the_report_does_not_name(port: SignedPort) -> None:
    def change(document: dict[str, Any]) -> None:
        document["predicate"]["runDetails"]["metadata"]["invocationId"] = "another"

    change_run(port, COMPARED, change, "export-functionary")


@forge(G2, "fail: The run began before 01-reference/outputs.jsonl was made", kind="full")
def a_comparison_before_the_reference_ended(port: SignedPort) -> None:
    _times(port, FIRST, "2026-11-29T08:20:00Z", "2026-11-29T08:21:00Z", "model-functionary")


@forge(G2, "fail: The report says that its run finished when the attested run", kind="full")
def a_report_of_a_later_day_than_its_comparison(port: SignedPort) -> None:
    redeclare(port, lambda steps: steps["compare"]["env"].pop("SOURCE_DATE_EPOCH"))


# What a later gate made -----------------------------------------------------------------------------------------------


@forge("common.material-out-of-order@G1", f"fail: reference makes files of G1 and reads {MODEL}, of G2", kind="full")
def a_reference_that_is_made_from_the_model(port: SignedPort) -> None:
    redeclare(port, lambda steps: steps["reference"]["materials"].append(MODEL))


@forge("common.material-out-of-order@G1", f"reads {MODEL} and 1 more through keep, of G2", kind="full")
def a_reference_that_is_made_from_the_model_by_a_file_between(port: SignedPort) -> None:
    def change(steps: Steps) -> None:
        steps["keep"] = {**steps["inventory"], "materials": ["02-onnx/model.*"], "products": [KEPT]}
        for name in ("reference", "reference-again"):
            steps[name]["materials"].append(KEPT)

    redeclare(port, change)


@forge(
    "common.material-out-of-order@G1", "fail: forge makes files of G1 and reads 02-onnx/model.onnx, of G2", kind="full"
)
def a_step_of_a_later_gate_that_writes_the_reference(port: SignedPort) -> None:
    def change(steps: Steps) -> None:
        steps["forge"] = {**steps["inventory"], "products": ["01-reference/quality-set.jsonl"]}

    redeclare(port, change)


@forge(
    "common.material-out-of-order@G1",
    "fail: reference makes files of G1 and reads 02-onnx/model.onnx, of G2",
    kind="full",
)
def a_run_that_read_more_of_a_later_gate_than_its_step_says(port: SignedPort) -> None:
    more = {"name": MODEL, "digest": {"sha256": port.digest(MODEL)}}
    change_run(port, FIRST, lambda document: materials_of(document).append(more), "model-functionary")
