"""Evidence: every file of a port, unjudged, as far as it could be read; and the only way to its contents.

What is asked of a file that is absent, unreadable, malformed or off its schema raises MissingFact, so the rule that
asked stays open. Bytes that are not in memory are read again, and handed out only if they are still those that were
hashed.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from calaudit.errors import MissingFact
from calaudit.evidence.documents import NO_VALUE, RECORDS_KEPT, Parsed, parse_again
from calaudit.evidence.jsonl import read_good_lines, read_lines
from calaudit.evidence.nouns import DOCUMENT_LIMIT, Checksum, Entry, Record, Specs
from calaudit.evidence.places import lines_of, nearest
from calaudit.evidence.records import Records
from calaudit.evidence.shelf import Content, Shelf
from calaudit.model import Format, Json, Location, Problem


class Evidence(Shelf):
    """The files of one port. Values it hands out are shared: do not change them."""

    def __init__(  # noqa: PLR0913 - all that is known of a port, by name
        self,
        *,
        root: Path,
        entries: Mapping[str, Entry],
        problems: Sequence[Problem],
        contents: Mapping[str, Content],
        specs: Specs,
        folders: frozenset[str] = frozenset(),
    ) -> None:
        """Made by :func:`calaudit.evidence.gather`; ``folders`` are all folders, those too that have no file."""
        super().__init__(root, entries, contents)
        self.problems = tuple(problems)
        self.folders = folders
        self._specs = specs
        self._gates: dict[str, list[Entry]] = {}
        for entry in entries.values():
            self._gates.setdefault(entry.gate, []).append(entry)
        self._problems: dict[tuple[str, str], list[Problem]] = {}
        for problem in problems:
            self._problems.setdefault((problem.rule, specs.gate_of(problem.location.path)), []).append(problem)
        self._touched = {*self._gates, *(gate for _, gate in self._problems)}
        self._lines: tuple[str, dict[str, int]] = ("", {})

    def of_gate(self, gate: str) -> tuple[Entry, ...]:
        """The entries of a gate (or of ``port``), sorted by path."""
        return tuple(self._gates.get(gate, ()))

    def has_gate(self, gate: str) -> bool:
        """Whether anything of a gate is there, even a faulty file."""
        return gate in self._touched

    def problems_of(self, rule: str, gate: str) -> Iterator[Problem]:
        """What was met in the name of a rule on a gate."""
        return iter(self._problems.get((rule, gate), ()))

    def matching(self, pattern: str) -> tuple[Entry, ...]:
        """The entries whose path fits a glob, sorted by path."""
        if not any(wild in pattern for wild in "*?"):
            return (self.entries[pattern],) if pattern in self.entries else ()
        glob = self._specs.glob(pattern)
        return tuple(entry for path, entry in self.entries.items() if glob.matches(path))

    def document(self, path: str) -> Json:
        """The value of a JSON or YAML document that is well formed, carries its tag and follows its schema.

        Raises:
            MissingFact: it is absent, unusable, or not a document by the contract.
        """
        return cast("Json", self._value(path, Format.JSON, Format.YAML))

    def records(self, path: str) -> Sequence[Record]:
        """The records of a JSONL file, each following the schema. A long file is parsed as it is iterated.

        Raises:
            MissingFact: it is absent, any line is faulty, or it is not JSONL by the contract; while iterating, when a
            file that is read again has changed.
        """
        parsed = self._usable(path, Format.JSONL)
        reading = self._contents[path].reading
        if reading.marks:
            return Records(parsed.count, lambda: self._streamed_records(path))
        if parsed.value is NO_VALUE and reading.found.size <= RECORDS_KEPT:
            parsed.value = tuple(read_lines(self.read(path)))
        if parsed.value is not NO_VALUE:
            return cast("tuple[Record, ...]", parsed.value)
        return Records(parsed.count, lambda: read_lines(self.read(path)))

    def parsed(self, path: str) -> Iterator[tuple[int, Json]]:
        """What is well formed in a file, with its line, whether or not it follows its schema; nothing where nothing is.

        A JSON or YAML document is one value on line 1, a record or row one value each.

        Raises:
            MissingFact: there is no such file.
        """
        entry = self.entry(path)
        parsed = self._contents[path].parsed
        if entry.spec is None or parsed is None:
            return
        if entry.spec.format is Format.JSONL and parsed.value is not NO_VALUE:
            yield from ((record.line, record.value) for record in cast("tuple[Record, ...]", parsed.value))
        elif entry.spec.format is Format.JSONL:
            read = read_lines if parsed.reason is None else read_good_lines
            for block in self.blocks(path):
                yield from ((record.line, record.value) for record in read(block.data, block.line))
        elif entry.spec.format is Format.CSV and parsed.well_formed:
            yield from ((row.line, row.value) for row in cast("tuple[Record, ...]", self._parsed_value(path, parsed)))
        elif entry.spec.format in (Format.JSON, Format.YAML) and parsed.well_formed:
            yield 1, self._parsed_value(path, parsed)

    def rows(self, path: str) -> Sequence[Record]:
        """The rows of a CSV file, values as strings.

        Raises:
            MissingFact: it is absent, any row is faulty, or it is not CSV by the contract.
        """
        return cast("tuple[Record, ...]", self._value(path, Format.CSV))

    def checksums(self, path: str) -> Sequence[Checksum]:
        """The lines of a checksum list.

        Raises:
            MissingFact: it is absent, any line is faulty, or it is not a checksum list by the contract.
        """
        return cast("tuple[Checksum, ...]", self._value(path, Format.CHECKSUMS))

    def locate(self, path: str, pointer: str) -> Location:
        """A place with the line of a JSON pointer, or of what is around it; without a line where that is not known."""
        return Location(path=path, pointer=pointer, line=self._line(path, pointer))

    def _line(self, path: str, pointer: str) -> int | None:
        entry = self.entries.get(path)
        if entry is None or entry.spec is None or entry.spec.format not in (Format.JSON, Format.YAML):
            return None
        if self._lines[0] != path:
            try:
                data = self.read(path, limit=DOCUMENT_LIMIT)
            except MissingFact:
                return None
            self._lines = (path, lines_of(data, entry.spec.format))
        return nearest(self._lines[1], pointer)

    def _usable(self, path: str, *formats: Format) -> Parsed:
        entry = self.entry(path)
        parsed = self._contents[path].parsed
        if parsed is None or entry.spec is None or entry.spec.format not in formats:
            raise MissingFact(f"{path} is not {' or '.join(formats)} by the contract.", at=Location(path=path))
        if parsed.reason is not None:
            raise MissingFact(f"{path} cannot be used ({parsed.reason.removesuffix('.')}).", at=Location(path=path))
        return parsed

    def _value(self, path: str, *formats: Format) -> Any:
        return self._parsed_value(path, self._usable(path, *formats))

    def _parsed_value(self, path: str, parsed: Parsed) -> Any:
        if parsed.value is not NO_VALUE:
            return parsed.value
        spec = self.entries[path].spec
        assert spec is not None  # noqa: S101 - it was parsed, so it is known
        return parse_again(self.read(path), spec)

    def _streamed_records(self, path: str) -> Iterator[Record]:
        for block in self.blocks(path):
            yield from read_lines(block.data, block.line)
