"""Gather the evidence of a port: walk it, read and hash every file once, parse what the contract knows."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from calaudit.errors import UsageError
from calaudit.evidence.digest import digest_all
from calaudit.evidence.documents import NO_VALUE, PARSED, Parsed, conclude, examine, manner, schema_of, too_large
from calaudit.evidence.found import Found
from calaudit.evidence.litter import is_litter, is_never_evidence
from calaudit.evidence.nouns import DOCUMENT_LIMIT, Entry, SchemaBook, Specs
from calaudit.evidence.places import lines_of, nearest
from calaudit.evidence.pool import WorkerLostError
from calaudit.evidence.reader import ChangedError, Opener, Reading, read_scanned, read_whole, unread
from calaudit.evidence.reread import ROOT_FLAGS
from calaudit.evidence.shelf import Content
from calaudit.evidence.store import Evidence
from calaudit.evidence.text import TextScan
from calaudit.evidence.walk import walk
from calaudit.evidence.windows import SPLIT, read_records
from calaudit.model import PORT, ArtifactSpec, Format, Location, Problem

BYTE_BUDGET = 96 << 20
"""Bytes of files that stay in memory, each at most :data:`DOCUMENT_LIMIT`."""

VALUE_BUDGET = 16 << 20
"""Bytes of documents whose parsed value stays in memory; the others are parsed again when they are asked for."""

_TENSORS = frozenset({Format.ONNX, Format.NPY, Format.SAFETENSORS})

_Outcome = tuple[Reading, Parsed]


def gather(root: Path, *, specs: Specs, schemas: SchemaBook, jobs: int | None = None) -> Evidence:
    """Everything there is to know of the files below ``root``.

    Args:
        root: the port directory.
        specs: which file is which artifact.
        schemas: what documents must follow.
        jobs: threads that hash and processes that parse; as many as there are cores if None.

    Raises:
        UsageError: ``root`` is not a directory that can be opened.
    """
    try:
        folder = os.open(root, ROOT_FLAGS)
    except OSError as error:
        raise UsageError(f"{root} is not a directory that can be opened ({error.strerror}).") from error
    try:
        return _Gathering(root.absolute(), folder, specs, schemas, jobs or len(os.sched_getaffinity(0))).run()
    finally:
        os.close(folder)


@dataclass
class _Gathering:
    root: Path
    folder: int
    specs: Specs
    schemas: SchemaBook
    jobs: int
    entries: dict[str, Entry] = field(default_factory=dict)
    contents: dict[str, Content] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    examined: dict[tuple[str, tuple[object, ...]], Parsed] = field(default_factory=dict)
    byte_budget: int = field(default_factory=lambda: BYTE_BUDGET)
    value_budget: int = field(default_factory=lambda: VALUE_BUDGET)

    def run(self) -> Evidence:
        seen = walk(self.folder)
        self.problems += seen.problems
        bulk: list[tuple[Found, ArtifactSpec | None]] = []
        opener = Opener(self.folder)
        try:
            # Documents first and in this thread: a pool of workers forks, which threads must not be there to see.
            for found in sorted(seen.files):
                spec = None if is_never_evidence(found.path) else self.specs.match(found.path)
                if spec is None or spec.format not in PARSED or too_large(spec, found.size):
                    bulk.append((found, spec))
                else:
                    self._document(opener, found, spec)
        finally:
            opener.close()
        self._bulk(bulk)
        return Evidence(
            root=self.root,
            entries={path: self.entries[path] for path in sorted(self.entries)},
            problems=sorted(self.problems, key=_order),
            contents=self.contents,
            specs=self.specs,
            folders=frozenset(seen.folders),
        )

    def _document(self, opener: Opener, found: Found, spec: ArtifactSpec) -> None:
        try:
            reading, parsed = self._reader(found, spec)(opener, found, spec)
        except (OSError, ChangedError, WorkerLostError) as error:
            self.problems.append(unread(found, error))
            return
        self._add(reading, spec, parsed)

    def _reader(self, found: Found, spec: ArtifactSpec) -> Callable[[Opener, Found, ArtifactSpec], _Outcome]:
        if spec.format is Format.JSONL and found.size >= SPLIT:
            return self._read_windows
        if spec.format is Format.TEXT and found.size > DOCUMENT_LIMIT:
            return _read_long_text
        return self._read_whole

    def _read_whole(self, opener: Opener, found: Found, spec: ArtifactSpec) -> _Outcome:
        reading = read_whole(opener, found)
        if reading.data is None:  # nothing was read whole: what is said of its bytes is said of nothing
            return reading, examine(b"", spec, self.schemas, self.specs.placeholders)
        key = reading.sha256, manner(spec)
        if key not in self.examined:  # a second run gives the very outputs of the first: they are parsed once
            self.examined[key] = examine(reading.data, spec, self.schemas, self.specs.placeholders)
        return reading, replace(self.examined[key])

    def _read_windows(self, opener: Opener, found: Found, spec: ArtifactSpec) -> _Outcome:
        reading, checked = read_records(opener, found, schema_of(spec, self.schemas), self.jobs)
        return reading, conclude(checked.faults, count=checked.count, more=checked.more)

    def _bulk(self, files: Sequence[tuple[Found, ArtifactSpec | None]]) -> None:
        keep: set[str] = set()
        heads: set[str] = set()
        for found, spec in files:
            if spec is not None and spec.format in _TENSORS:
                size = found.size
                fits = size <= min(DOCUMENT_LIMIT, self.byte_budget)
                self.byte_budget -= size if fits else 0
                (keep if fits else heads).add(found.path)
        results = digest_all(self.folder, [found for found, _ in files], threads=self.jobs, keep=keep, heads=heads)
        for found, spec in files:
            result = results[found.path]
            if isinstance(result, Problem):
                self.problems.append(result)
            else:
                self._add(result, spec, too_large(spec, found.size) if spec else None)

    def _add(self, reading: Reading, spec: ArtifactSpec | None, parsed: Parsed | None) -> None:
        path, size = reading.found.path, reading.found.size
        gate = spec.gate if spec is not None else PORT if is_litter(path) else self.specs.gate_of(path)
        self.entries[path] = Entry(
            path=path, size=size, sha256=reading.sha256, spec=spec, gate=gate, textual=reading.textual
        )
        if parsed is not None and spec is not None:
            self.problems += _problems(reading, spec, parsed)
            reading = self._within_budgets(reading, parsed)
        self.contents[path] = Content(reading, parsed)

    def _within_budgets(self, reading: Reading, parsed: Parsed) -> Reading:
        size = reading.found.size
        if parsed.value is not NO_VALUE:
            if size <= self.value_budget:
                self.value_budget -= size
            else:
                parsed.value = NO_VALUE
        if reading.data is None or size <= self.byte_budget:
            self.byte_budget -= len(reading.data or b"")
            return reading
        return replace(reading, data=None)


def _read_long_text(opener: Opener, found: Found, _: ArtifactSpec) -> _Outcome:
    scan = TextScan()
    reading = read_scanned(opener, found, scan.feed)
    return reading, conclude(scan.finish())


def _problems(reading: Reading, spec: ArtifactSpec, parsed: Parsed) -> Iterator[Problem]:
    lines: dict[str, int] | None = None
    for fault in parsed.faults:
        line = fault.line
        if line is None and fault.pointer is not None and spec.format in (Format.JSON, Format.YAML):
            if lines is None:
                lines = lines_of(reading.data or b"", spec.format)
            line = nearest(lines, fault.pointer)
        yield Problem(
            rule=fault.rule,
            message=fault.message,
            location=Location(path=reading.found.path, pointer=fault.pointer, line=line),
            expected=fault.expected,
            actual=fault.actual,
        )


def _order(problem: Problem) -> tuple[str, int, str, str, str]:
    place = problem.location
    return (place.path, place.line or 0, place.pointer or "", problem.rule, problem.message)
