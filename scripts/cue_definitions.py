"""Write ``policies/cue/*.cue``: the documents of a port as CUE definitions, made from ``schemas/``.

Who has only the ``cue`` command can vet a document with them (policies/cue/README.md). The JSON Schemas are the truth:
run this after each change to one.

    python scripts/cue_definitions.py

It needs the real ``cue`` (``python scripts/build_cue.py``) to lay out what it writes. A keyword that it does not know
stops it: a definition that says less than its schema would be worse than none.
"""

import json
import os
import re
import subprocess
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "policies" / "cue"

DOCUMENTS = (
    "port",
    "model-source",
    "code-audit",
    "prompt",
    "token-record",
    "output-record",
    "quality-sample",
    "quality-score",
    "reference-report",
    "tokenizer-conformance",
    "tensor-index",
    "onnx-export",
    "op-inventory",
    "onnx-report",
    "shape-matrix",
    "op-matrix",
    "kickoff",
)
"""In the order in which a port grows."""

SHARED = {
    "sha256": "SHA256",
    "digest": "Digest",
    "commit": "Commit",
    "uri": "URI",
    "path": "Path",
    "date": "Date",
    "time": "Time",
    "gate": "Gate",
    "role": "Role",
    "slug": "Slug",
    "version": "Version",
    "invocation": "Invocation",
    "sampleId": "SampleID",
    "profile": "Profile",
    "tensorName": "TensorName",
    "dtype": "DType",
    "opDomain": "OpDomain",
    "opType": "OpType",
}
"""``$defs`` that mean the same in every schema, and what they are called in common.cue."""

ANNOTATIONS = frozenset({"$schema", "$id", "$defs", "title", "description", "examples"})
FORMATS = {"date": ['time.Format("2006-01-02")'], "date-time": ["time.Time"], "uuid": []}
"""What a format adds to the pattern beside it; for a UUID that pattern says it all."""
WIDTH = 110
HEADER = "// Made from {source} by scripts/cue_definitions.py; change the schema, not this file.\n\npackage calaudit\n"
PACKAGES = ("list", "strings", "struct", "time")


class Unknown(Exception):
    """A schema says something that this script cannot put into CUE."""


def shape(node: Mapping[str, Any]) -> str:
    """What a schema demands, without its words: equal for schemas that mean the same."""
    return json.dumps(bare(node), sort_keys=True)


def bare(node: Any) -> Any:
    """A schema without titles, descriptions and examples."""
    if isinstance(node, list):
        return [bare(item) for item in node]
    if not isinstance(node, dict):
        return node
    named = {"properties", "$defs"}
    return {
        key: {name: bare(item) for name, item in value.items()} if key in named else bare(value)
        for key, value in node.items()
        if key not in ANNOTATIONS
    }


def literal(value: Any) -> str:
    """A constant as CUE writes it."""
    return json.dumps(value, ensure_ascii=False)


def pattern(text: str) -> str:
    """A constraint to a regular expression, as a raw string that one can read; RE2 writes ``x1f``, not ``u001f``."""
    shown = re.sub(r"\\u00([0-9a-f]{2})", r"\\x\1", text)
    if '"#' in shown or "\\u" in shown or not shown.isprintable():
        raise Unknown(f"The pattern {text!r} holds what ends a raw string, or a character that RE2 cannot name.")
    return f'=~#"{shown}"#'


def comment(text: str, indent: str) -> str:
    """Words of a schema as a comment."""
    room = WIDTH - 4 * len(indent)
    words = textwrap.fill(text, room, initial_indent="// ", subsequent_indent="// ", break_on_hyphens=False)
    return f"{words}\n"


class Writer:
    """Turns the nodes of one schema into CUE expressions."""

    def __init__(self, shared: Mapping[str, str]) -> None:
        """``shared`` are the names of the definitions in common.cue by their shapes."""
        self.shared = shared

    def expression(self, node: Mapping[str, Any], depth: int, *, own: str | None = None) -> str:
        """What a value must be; ``own`` is the definition that is being written, which cannot stand for itself."""
        if (name := self.shared.get(shape(node))) is not None and name != own:
            return f"#{name}"
        rest = {key: value for key, value in node.items() if key not in ANNOTATIONS}
        if (reference := rest.pop("$ref", None)) is not None:
            if rest:
                raise Unknown(f"{sorted(rest)} beside $ref")
            return f"#{SHARED[reference.removeprefix('#/$defs/')]}"
        if "const" in rest:
            return literal(rest["const"])
        if "enum" in rest:
            return " | ".join(map(literal, rest["enum"]))
        if "anyOf" in rest and "type" not in rest:
            return self.either(self.expression(choice, depth) for choice in rest["anyOf"])
        types = rest.pop("type")
        return self.either(self.typed(kind, rest, depth) for kind in ([types] if isinstance(types, str) else types))

    @staticmethod
    def either(choices: Iterable[str]) -> str:
        """One of several expressions; null comes first."""
        parts = sorted(choices, key=lambda part: part != "null")
        if len(parts) == 1:
            return parts[0]
        return " | ".join(f"({part})" if " & " in part and not part.startswith("{") else part for part in parts)

    def typed(self, kind: str, node: Mapping[str, Any], depth: int) -> str:
        """What a value of one type must be."""
        match kind:
            case "string":
                return self.string(node)
            case "array":
                return self.array(node, depth)
            case "object":
                return self.object(node, depth)
            case "integer" | "number":
                return self.number({"integer": "int"}.get(kind, kind), node)
            case _:
                return {"boolean": "bool", "null": "null"}[kind]

    def string(self, node: Mapping[str, Any]) -> str:
        """Text: a pattern, a calendar date or time, and lengths in code points."""
        parts = []
        if "pattern" in node:
            parts.append(pattern(node["pattern"]))
        if "format" in node:
            parts += FORMATS[node["format"]]
        if node.get("minLength") and ("pattern" not in node or re.search(node["pattern"], "")):
            parts.append(f"strings.MinRunes({node['minLength']})")
        if "maxLength" in node:
            parts.append(f"strings.MaxRunes({node['maxLength']})")
        return " & ".join(parts) or "string"

    def number(self, kind: str, node: Mapping[str, Any]) -> str:
        """A number and its bounds."""
        bounds = (("minimum", ">="), ("exclusiveMinimum", ">"), ("maximum", "<="))
        parts = [f"{sign}{self.plain(node[key])}" for key, sign in bounds if key in node]
        return " & ".join([kind, *parts])

    @staticmethod
    def plain(value: float) -> str:
        """A bound, without an exponent or an empty fraction as far as one can read that."""
        return str(int(value)) if value == int(value) and abs(value) < 1e18 else repr(value)

    def array(self, node: Mapping[str, Any], depth: int) -> str:
        """A list: what its items are, how many, and whether each may stand there once only."""
        least, most = node.get("minItems", 0), node.get("maxItems")
        if "prefixItems" in node:
            items = node["prefixItems"]
            if not least == most == len(items) or "items" in node:
                raise Unknown("a tuple that is open")
            return f"[{', '.join(self.expression(item, depth) for item in items)}]"
        item = self.expression(node["items"], depth)
        compound = not item.startswith("{") and (" & " in item or " | " in item)
        parts = [f"[...{f'({item})' if compound else item}]"]
        parts += [f"list.MinItems({least})"] if least else []
        parts += [f"list.MaxItems({most})"] if most is not None else []
        parts += ["list.UniqueItems"] if node.get("uniqueItems") else []
        return " & ".join(parts)

    def object(self, node: Mapping[str, Any], depth: int) -> str:
        """A struct: its members, or what the names and values of free ones are."""
        counts = [f"struct.MinFields({node['minProperties']})"] if "minProperties" in node else []
        counts += [f"struct.MaxFields({node['maxProperties']})"] if "maxProperties" in node else []
        free = node.get("additionalProperties", True)
        if isinstance(free, dict):
            if "properties" in node:
                raise Unknown("named members beside free ones")
            label = self.string(node["propertyNames"])
            words = comment(free["description"], "\t" * depth) if "description" in free else ""
            return " & ".join([f"{{\n{words}[{label}]: {self.expression(free, depth + 1)}\n}}", *counts])
        if free is not False:
            raise Unknown("an object that is open")
        inner = "".join(self.members(node, depth + 1)) + self.choice(node)
        return " & ".join([f"{{\n{inner}}}", *counts])

    def members(self, node: Mapping[str, Any], depth: int) -> Iterator[str]:
        """The named members: ``!`` marks those that must be there, ``?`` the others."""
        for name, member in node["properties"].items():
            mark = "!" if name in node.get("required", ()) else "?"
            described = member
            if "description" not in member and member.get("type") == "array":
                described = member["items"]
            words = comment(described["description"], "\t" * depth) if "description" in described else ""
            label = name if re.fullmatch(r"[a-z][a-z0-9_]*", name) else literal(name)
            yield f"{words}{label}{mark}: {self.expression(member, depth)}\n"

    @staticmethod
    def choice(node: Mapping[str, Any]) -> str:
        """How many of some members there must be."""
        said = ""
        for key, count, words in (("oneOf", "1", "exactly one"), ("anyOf", ">=1", "at least one")):
            if key in node:
                names = [name for option in node[key] for name in option["required"]]
                if any(set(option) != {"required"} or len(option["required"]) != 1 for option in node[key]):
                    raise Unknown(f"{key} of more than members that must be there")
                options = ", ".join(f"{{{name}!: _, ...}}" for name in names)
                said += f"\n// Of {' and '.join(names)} there is {words}.\nmatchN({count}, [{options}])\n"
        return said


def schema(name: str) -> dict[str, Any]:
    """A JSON Schema by its name."""
    document: dict[str, Any] = json.loads((ROOT / "schemas" / name / "v1.json").read_bytes())
    return document


def definitions() -> dict[str, Mapping[str, Any]]:
    """The shared ``$defs`` by their names in SHARED; each must mean the same wherever it stands.

    Raises:
        Unknown: two schemas differ, or a schema has a definition that SHARED does not name.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for document in DOCUMENTS:
        for name, node in schema(document).get("$defs", {}).items():
            if name not in SHARED:
                raise Unknown(f"{document}: SHARED does not name the definition {name!r}.")
            if shape(found.setdefault(name, node)) != shape(node):
                raise Unknown(f"{document}: the definition {name!r} differs from another schema's.")
    return {name: found[name] for name in SHARED if name in found}


def camel(name: str) -> str:
    """``onnx-report`` as the name of a definition."""
    acronyms = {"onnx": "ONNX"}
    return "".join(acronyms.get(word, word.capitalize()) for word in name.split("-"))


def source(text: str, origin: str) -> str:
    """A whole file: header, imports, definitions."""
    used = [package for package in PACKAGES if re.search(rf"(?<![\w.\"]){package}\.[A-Z]", text)]
    imports = "import (\n" + "".join(f'"{package}"\n' for package in used) + ")\n\n" if used else ""
    return f"{HEADER.format(source=origin)}\n{imports}{text}"


def files() -> Iterator[tuple[str, str]]:
    """Name and text, not yet laid out, of every file."""
    shared = definitions()
    simple = {shape(node): SHARED[name] for name, node in shared.items()}
    writer = Writer(simple)
    common = (
        f"{comment(node['description'], '')}#{SHARED[name]}: {writer.expression(node, 0, own=SHARED[name])}\n"
        for name, node in shared.items()
    )
    yield "common.cue", source("\n".join(common), "the definitions that schemas/*/v1.json share")
    for name in DOCUMENTS:
        node = schema(name)
        text = f"{comment(node['description'], '')}#{camel(name)}: {writer.expression(node, 0)}\n"
        yield f"{name}.cue", source(text, f"schemas/{name}/v1.json")


def program() -> str:
    """The real cue: ``CALAUDIT_CUE``, or the one that scripts/build_cue.py built."""
    return os.environ.get("CALAUDIT_CUE") or str(ROOT / ".cache" / "cue" / "cue")


def laid_out(text: str, cue: str) -> str:
    """A file as ``cue fmt`` writes it."""
    return subprocess.run([cue, "fmt", "-"], input=text, capture_output=True, text=True, check=True).stdout  # noqa: S603 - ours


def main() -> None:
    """Write every file, and remove those that are made no more."""
    made = {name: laid_out(text, program()) for name, text in files()}
    for path in TARGET.glob("*.cue"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (TARGET / name).write_text(text, encoding="utf-8")
    print(f"{TARGET} holds {len(made)} files.")


if __name__ == "__main__":
    main()
