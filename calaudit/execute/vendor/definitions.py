"""What of the contract a vendor kit holds: the schemas of what comes back, and their definitions in CUE."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from calaudit.contract import Contract
from calaudit.contract.globs import Glob
from calaudit.contract.resources import data_root
from calaudit.execute.vendor.unpacked import KIT_SCHEMA
from calaudit.model import PORT
from calaudit.trust.steps import ChainStep

__all__ = ["definitions", "schemas_for", "vettable"]

_ALWAYS = ("in-toto-link/v1", "kickoff/v1", "op-matrix/v1", "port/v1", "provenance/v1", KIT_SCHEMA)
_CUE_NAME = re.compile(r"^#(\w+): ", re.MULTILINE)


def schemas_for(steps: Iterable[ChainStep], contract: Contract, *, layout: bool) -> list[str]:
    """The schemas of what a vendor returns: documents about it, and those among the products."""
    products = [Glob(pattern) for step in steps for pattern in step.products]
    made = {
        spec.schema
        for spec in contract.gates.artifacts()
        if spec.schema is not None and any(glob.overlaps(Glob(spec.pattern)) for glob in products)
    }
    return sorted({*_ALWAYS, *made, *(["in-toto-layout/v1"] if layout else [])})


def definitions(schemas: Sequence[str]) -> dict[str, bytes]:
    """The schemas as files, and as CUE where there are definitions."""
    root = data_root()
    files = {f"schemas/{name}.json": (root / "schemas" / f"{name}.json").read_bytes() for name in schemas}
    for name in ("common", *(name.partition("/")[0] for name in schemas)):
        source = root / "policies" / "cue" / f"{name}.cue"
        if source.is_file():
            files[f"cue/{name}.cue"] = source.read_bytes()
    return files


def vettable(
    schemas: Sequence[str], files: Mapping[str, bytes], contract: Contract
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Each document that CUE can vet: its path, and its format and definition."""
    for spec in contract.gates.artifacts():
        if spec.schema is None or spec.schema not in schemas:
            continue
        cue = files.get(f"cue/{spec.schema.partition('/')[0]}.cue")
        name = None if cue is None else _CUE_NAME.search(cue.decode())
        if name is not None and not spec.is_glob and (spec.gate != PORT or spec.pattern.startswith("vendor/")):
            yield spec.pattern, (str(spec.format), name[1])
