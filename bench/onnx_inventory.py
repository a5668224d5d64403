"""Inventory of a model of 60 000 nodes with 3 GiB of external data, and comparison of tensors.

Peers: ``polygraphy inspect model --ignore-external-data`` (a whole process each), and the obvious numpy expressions.
The external file is sparse and never read by either. Ours also resolves every external extent against the file's size.
"""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench._timing import Row, inside, main, measure, outside, row, tool

RSS_LIMIT = 80 << 20
"""Bytes that the process of the inventory may have resident at its peak."""


def rows(scale: float, repeats: int) -> Sequence[Row]:
    """Both tables."""
    return [*_inventory(round(60_000 * scale), int(3 * scale * (1 << 30)), repeats), *_tensors(scale, repeats)]


def _inventory(nodes: int, data: int, repeats: int) -> list[Row]:
    polygraphy = tool("polygraphy")
    if polygraphy is None:
        raise SystemExit("polygraphy is not installed: python -m pip install -r requirements/bench.txt")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        write_model(path, nodes, data)
        ours = [sys.executable, "-c", INVENTORY, str(path)]
        peer = [polygraphy, "inspect", "model", str(path), "--ignore-external-data"]
        seconds = measure({"calaudit": outside(ours), "polygraphy": outside(peer)}, repeats=repeats)
        peak = peak_rss(ours)
    note = f"peak {peak / (1 << 20):.0f} MB ({'met' if peak <= RSS_LIMIT else 'MISSED'}: 80 MB)"
    work = f"ONNX inventory, {nodes} nodes"
    return [row(seconds, work=work, ours="calaudit", peer="polygraphy", limit=0.15, note=note)]


def write_model(path: Path, nodes: int, data: int) -> None:
    """A chain of operators over external weights."""
    from onnx import ModelProto, TensorProto, helper

    weights = 1000
    side = int((data / weights / 4) ** 0.5)
    model = ModelProto(ir_version=10, producer_name="bench")
    model.opset_import.append(helper.make_opsetid("", 20))
    graph = model.graph
    graph.name = "chain"
    graph.input.append(helper.make_tensor_value_info("x0", TensorProto.FLOAT, [1, side]))
    for n in range(weights):
        tensor = graph.initializer.add(name=f"model.layers.{n}.weight", data_type=1, dims=[side, side], data_location=1)
        for key, value in (
            ("location", f"{path.name}.data"),
            ("offset", n * side * side * 4),
            ("length", side * side * 4),
        ):
            tensor.external_data.add(key=key, value=str(value))
    for n in range(nodes):
        kind = ("MatMul", "Add", "Sigmoid", "Mul")[n % 4]
        other = {
            "MatMul": [f"model.layers.{n % weights}.weight"],
            "Add": [f"x{n}"],
            "Sigmoid": [],
            "Mul": [f"x{n - 1}"],
        }
        graph.node.add(
            op_type=kind, name=f"/model/layers.{n}/{kind}", input=[f"x{n}", *other[kind]], output=[f"x{n + 1}"]
        )
    graph.output.append(helper.make_tensor_value_info(f"x{nodes}", TensorProto.FLOAT, [1, side]))
    path.write_bytes(model.SerializeToString())
    with path.with_name(f"{path.name}.data").open("wb") as file:
        file.truncate(weights * side * side * 4)


INVENTORY = """
import sys
from pathlib import Path
from calaudit.facts.onnx.extents import check_external_data
from calaudit.facts.onnx.graph import take_inventory
from calaudit.facts.onnx.scan import scan_model
path = Path(sys.argv[1])
scan = scan_model(path.read_bytes())
sizes = {entry.name: entry.stat().st_size for entry in path.parent.iterdir()}
external = check_external_data(scan.external, sizes, "")
print(take_inventory(scan))
print(len(external.extents), external.offences)
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""
"""What the facts do with the bytes: operators, versions, every external extent against its file; then the peak in KiB.

``ru_maxrss`` would be the parent's: it survives exec."""


def peak_rss(command: Sequence[str]) -> int:
    """The most bytes that a process had resident, as its last line says."""
    said = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    return int(said.splitlines()[-1]) * 1024


def _tensors(scale: float, repeats: int) -> list[Row]:
    import numpy as np

    from calaudit.numerics import compare

    random = np.random.default_rng(0)
    a = random.standard_normal((max(1, round(200 * scale)), 151_936), dtype=np.float32) * 4
    b = a + random.standard_normal(a.shape, dtype=np.float32) * np.float32(1e-3)
    found = compare(a, b, atol=1e-2, rtol=1e-3)
    if found.max_abs != float(np.abs(a.astype(np.float64) - b).max()) or not np.allclose(a, b, atol=1e-2, rtol=1e-3):
        raise AssertionError("the two comparisons disagree")
    seconds = measure(
        {
            "calaudit": inside(lambda: compare(a, b, atol=1e-2, rtol=1e-3)),
            "np.abs(a - b).max()": inside(lambda: np.abs(a - b).max()),
            "np.allclose": inside(lambda: np.allclose(a, b, atol=1e-2, rtol=1e-3)),
        },
        repeats=repeats,
    )
    work = f"compare FP32, {2 * a.nbytes / 1e6:.0f} MB"
    return [
        row(seconds, work=f"{work}, max abs", ours="calaudit", peer="np.abs(a - b).max()", limit=1 / 2),
        row(seconds, work=f"{work}, allclose", ours="calaudit", peer="np.allclose", limit=1 / 4),
    ]


if __name__ == "__main__":
    main(rows, __doc__ or "")
