import dataclasses
import errno
import hashlib
import json
import os
import threading
from pathlib import Path

import pytest

from calaudit.errors import MissingFact, UsageError
from calaudit.evidence import digest, gathering, long_file, pool, reader, windows
from calaudit.evidence.reader import Opener
from calaudit.model import Kind, Location
from tests.evidence.make import SmallSchemas, SmallSpecs, brief, collect, write

ZEROS_3_GIB = "305b66a59d15b252092fbda9d09711230c429f351897cbd430e7b55a35fd3b97"
GOOD = {"schema": "calaudit-doc/v1", "id": "x"}


def open_files() -> set[str]:
    return {path.name for path in Path("/proc/self/fd").iterdir()}


def document(**members) -> str:
    return json.dumps(GOOD | members)


def test_every_file_is_hashed_and_belongs_to_a_gate(tmp_path):
    files = {"a.doc.json": document(), "b/c.bin": b"\0" * 3_000_000, "x.npy": b"n", "stray": b"s", "e.txt": b""}
    evidence = collect(tmp_path, files)
    assert list(evidence.entries) == sorted(files)
    for path, data in files.items():
        raw = data.encode() if isinstance(data, str) else data
        entry = evidence.entry(path)
        assert (entry.size, entry.sha256) == (len(raw), hashlib.sha256(raw).hexdigest())
        assert evidence.read(path) == raw
        assert evidence.head(path, 5) == raw[:5]
        assert b"".join(bytes(c) for c in evidence.chunks(path)) == raw
    assert [e.path for e in evidence.of_gate("G1")] == ["a.doc.json"]
    assert [e.path for e in evidence.of_gate("port")] == ["stray"]
    assert evidence.entry("stray").spec is None
    assert (evidence.has_gate("G3"), evidence.has_gate("G9")) == (True, False)
    assert [e.path for e in evidence.matching("**/*.bin")] == ["b/c.bin"]
    assert not evidence.problems


def test_a_root_that_is_no_directory_is_the_callers_mistake(tmp_path):
    for path in (tmp_path / "none", write(tmp_path, {"f": b""}) / "f"):
        with pytest.raises(UsageError, match="not a directory"):
            collect_at(path)


def collect_at(path: Path):
    return gathering.gather(path, specs=SmallSpecs(), schemas=SmallSchemas())


def test_absent_files_are_missing_facts(tmp_path):
    evidence = collect(tmp_path, {"a.txt": b"\xc3", "x.bin": b"\0"})
    for ask in (
        evidence.entry,
        evidence.document,
        evidence.records,
        evidence.rows,
        evidence.checksums,
        evidence.text,
        evidence.read,
        evidence.chunks,
        evidence.head,
    ):
        with pytest.raises(MissingFact):
            ask("absent")
    for ask in (evidence.document, evidence.records, evidence.rows, evidence.checksums):
        with pytest.raises(MissingFact, match="by the contract"):
            ask("x.bin")
    with pytest.raises(MissingFact, match="UTF-8"):
        evidence.text("a.txt")
    assert list(evidence.parsed("x.bin")) == []


@pytest.mark.parametrize("name", ["a.doc.json", "a.doc.yaml"])
class TestDocuments:
    def test_good(self, tmp_path, name):
        evidence = collect(tmp_path, {name: document(n=3)})
        assert evidence.document(name) == GOOD | {"n": 3}
        assert list(evidence.parsed(name)) == [(1, GOOD | {"n": 3})]
        assert not evidence.problems

    @pytest.mark.parametrize("tag", [None, "calaudit-other/v1", "calaudit-doc/v2", 1])
    def test_another_tag(self, tmp_path, name, tag):
        value = {"id": "x"} if tag is None else {"schema": tag, "id": "x"}
        evidence = collect(tmp_path, {name: json.dumps(value)})
        assert brief(evidence.problems) == [("schema-unknown", name)]
        assert evidence.problems[0].expected == "calaudit-doc/v1"
        with pytest.raises(MissingFact, match="schema-unknown"):
            evidence.document(name)
        assert list(evidence.parsed(name)) == [(1, value)]

    @pytest.mark.parametrize("value", [[], "x", None, {"schema": None}, {"schema": ["calaudit-doc/v1"]}])
    def test_another_shape(self, tmp_path, name, value):
        evidence = collect(tmp_path, {name: json.dumps(value)})
        assert brief(evidence.problems) == [("schema-unknown", name)]

    def test_malformed(self, tmp_path, name):
        evidence = collect(tmp_path, {name: '{"schema": "calaudit-doc/v1",\n "id": "x", "id": "y"}'})
        problem = evidence.problems[0]
        assert (problem.rule, problem.location.line, problem.kind) == ("document-malformed", 2, Kind.FAIL)
        with pytest.raises(MissingFact, match="document-malformed"):
            evidence.document(name)
        assert list(evidence.parsed(name)) == []

    def test_off_its_schema(self, tmp_path, name):
        text = '{"schema": "calaudit-doc/v1",\n "id": "X",\n "list": [1,\n  "two"], "more": 1}'
        evidence = collect(tmp_path, {name: text})
        places = {(p.rule, p.location.pointer, p.location.line) for p in evidence.problems}
        assert places == {("schema-invalid", *place) for place in (("/id", 2), ("/list/1", 4), ("/more", 4))}
        with pytest.raises(MissingFact, match="schema-invalid"):
            evidence.document(name)

    @pytest.mark.parametrize("member", ["id", "n"])
    def test_a_placeholder_is_left_to_its_own_rule(self, tmp_path, name, member):
        evidence = collect(tmp_path, {name: document(**{member: "TBD"})})
        assert evidence.problems == ()
        with pytest.raises(MissingFact, match="placeholder"):
            evidence.document(name)

    def test_a_placeholder_hides_no_other_fault(self, tmp_path, name):
        evidence = collect(tmp_path, {name: document(id="TBD", n="x")})
        assert [p.location.pointer for p in evidence.problems] == ["/n"]

    def test_locate(self, tmp_path, name):
        evidence = collect(tmp_path, {name: '{"schema": "calaudit-doc/v1",\n "id": "x",\n "list": [1,\n  2]}'})
        assert evidence.locate(name, "/list/1") == Location(path=name, pointer="/list/1", line=4)
        assert evidence.locate(name, "/list/7/x").line == 3
        assert evidence.locate(name, "").line == 1
        assert evidence.locate("absent", "/x") == Location(path="absent", pointer="/x")


def test_a_placeholder_in_free_text_is_only_the_schemas_matter(tmp_path):
    evidence = collect(tmp_path, {"a.doc.json": document(free="TBD")})
    assert [(p.rule, p.location.pointer) for p in evidence.problems] == [("schema-invalid", "/free")]


def test_a_loose_document_may_lack_its_tag_and_not_carry_another(tmp_path):
    evidence = collect(tmp_path, {"a.loose.json": '{"id": "x"}', "b.loose.json": '{"id": "x", "schema": "y"}'})
    assert evidence.document("a.loose.json") == {"id": "x"}
    assert brief(evidence.problems) == [("schema-unknown", "b.loose.json")]


def test_faults_of_one_file_are_counted_when_they_are_many(tmp_path):
    evidence = collect(tmp_path, {"a.jsonl": '{"id": 1}\n' * 5000, "a.doc.json": document(list=["x"] * 500)})
    for path in ("a.jsonl", "a.doc.json"):
        listed = [p for p in evidence.problems if p.location.path == path]
        assert len(listed) == 101
        assert any("more" in p.message for p in listed)


def test_records(tmp_path):
    evidence = collect(tmp_path, {"a.jsonl": b'{"id": "a", "n": 1}\r\n {"id": "b"}', "none.jsonl": b""})
    assert [(r.line, r.value) for r in evidence.records("a.jsonl")] == [(1, {"id": "a", "n": 1}), (2, {"id": "b"})]
    assert len(evidence.records("none.jsonl")) == 0
    assert not evidence.problems


BAD_LINES = {
    "blank": b"",
    "spaces": b"  ",
    "malformed": b"{",
    "array": b"[]",
    "scalar": b"1",
    "twice": b'{"id": "a", "id": "b"}',
    "NaN": b'{"id": "a", "n": NaN}',
    "invalid": b'{"id": 1}',
    "BOM": b'\xef\xbb\xbf{"id": "a"}',
    "deep": b"[" * 100_000,
    "big integer": b'{"id": "a", "n": 18446744073709551616}',
    "two": b'{"id": "a"}{"id": "b"}',
    "NUL": b'{"id": "\0"}',
}


@pytest.mark.parametrize("line", BAD_LINES.values(), ids=BAD_LINES)
def test_one_faulty_line_makes_the_records_unusable(tmp_path, line):
    evidence = collect(tmp_path, {"a.jsonl": b'{"id": "a"}\n' + line + b'\n{"id": "c"}\n'})
    assert {p.location.line for p in evidence.problems} == {2}
    with pytest.raises(MissingFact):
        evidence.records("a.jsonl")
    assert [n for n, _ in evidence.parsed("a.jsonl") if n != 2] == [1, 3]


def test_rows_checksums_and_text(tmp_path):
    sha = "a" * 64
    evidence = collect(
        tmp_path, {"a.csv": "x,y\n1,2\n", "a.sha256": f"{sha}  p/q\n", "a.txt": "é\n", "b.rows.csv": "n\n1\nx\n"}
    )
    assert [r.value for r in evidence.rows("a.csv")] == [{"x": "1", "y": "2"}]
    assert list(evidence.parsed("a.csv")) == [(2, {"x": "1", "y": "2"})]
    assert [(c.sha256, c.path) for c in evidence.checksums("a.sha256")] == [(sha, "p/q")]
    assert evidence.text("a.txt") == "é\n"
    assert [(p.rule, p.location.line, p.location.pointer) for p in evidence.problems] == [("schema-invalid", 3, "/n")]
    with pytest.raises(MissingFact):
        evidence.rows("b.rows.csv")


def test_a_text_that_steers_is_a_problem_and_is_read(tmp_path):
    evidence = collect(tmp_path, {"a.txt": "a\n\x1b[0m\n", "a.yaml": "a: 1 # \u202e\n"})
    assert [(p.rule, p.location.path, p.location.line) for p in evidence.problems] == [
        ("control-character", "a.txt", 2),
        ("control-character", "a.yaml", 1),
    ]
    assert evidence.text("a.txt") == "a\n\x1b[0m\n"
    assert evidence.document("a.yaml") == {"a": 1}


def test_text_files_are_those_without_nul(tmp_path):
    evidence = collect(tmp_path, {"stray": b"key", "image": b"a\0", "late": b"x" * 9000 + b"\0", "empty": b""})
    assert [e.path for e in evidence.of_gate("port") if e.textual] == ["empty", "late", "stray"]
    blocks = list(evidence.blocks("stray"))
    assert [(b.line, b.data) for b in blocks] == [(1, b"key")]


@pytest.mark.parametrize("budget", [gathering.BYTE_BUDGET, 0])
def test_what_is_not_kept_is_read_again(tmp_path, monkeypatch, budget):
    monkeypatch.setattr(gathering, "BYTE_BUDGET", budget)
    monkeypatch.setattr(gathering, "VALUE_BUDGET", budget)
    monkeypatch.setattr(reader, "HEAD", 4)
    sums = f"{'a' * 64}  x\n"
    files = {
        "a.doc.json": document(),
        "a.jsonl": '{"id": "a"}\n',
        "a.csv": "x\n1\n",
        "a.sha256": sums,
        "a.npy": b"NUMPY",
    }
    evidence = collect(tmp_path, files)
    assert evidence.document("a.doc.json") == GOOD
    assert [r.value for r in evidence.records("a.jsonl")] == [{"id": "a"}]
    assert evidence.rows("a.csv")[0].value == {"x": "1"}
    assert evidence.checksums("a.sha256")[0].path == "x"
    assert evidence.head("a.npy") == b"NUMPY"
    for path in files:
        (tmp_path / path).write_bytes(b"#" * evidence.entry(path).size)
    if budget:
        assert evidence.read("a.npy") == b"NUMPY"
        return
    for path, ask in [
        ("a.doc.json", evidence.document),
        ("a.csv", evidence.rows),
        ("a.sha256", evidence.checksums),
        ("a.npy", evidence.read),
        ("a.npy", evidence.text),
    ]:
        with pytest.raises(MissingFact, match="changed"):
            ask(path)
    with pytest.raises(MissingFact, match="changed"):
        list(evidence.chunks("a.npy"))
    (tmp_path / "a.npy").unlink()
    with pytest.raises(MissingFact, match="changed"):
        evidence.read("a.npy")


@pytest.mark.parametrize("text", ['{"schema": "calaudit-doc/v1", "id": 7}', document(n="x"), document(), "{"])
def test_equal_bytes_are_parsed_once_and_reported_twice(tmp_path, monkeypatch, text):
    times = []
    plain = gathering.examine
    monkeypatch.setattr(gathering, "examine", lambda *given: times.append(given) or plain(*given))
    evidence = collect(tmp_path, {"a.doc.json": text, "b.doc.json": text})
    assert len(times) == 1
    found = {path: [p for p in evidence.problems if p.location.path == path] for path in ("a.doc.json", "b.doc.json")}
    assert [dataclasses.replace(p, location=None) for p in found["a.doc.json"]] == [
        dataclasses.replace(p, location=None) for p in found["b.doc.json"]
    ]
    assert (found["a.doc.json"] == []) == (text == document())


def test_equal_bytes_are_parsed_again_where_they_are_something_else(tmp_path):
    text = '{"id": 7}'
    evidence = collect(tmp_path, dict.fromkeys(("a.doc.json", "a.loose.json", "a.json", "a.doc.yaml", "a.jsonl"), text))
    assert {(p.rule, p.location.path) for p in evidence.problems} == {
        ("schema-unknown", "a.doc.json"),
        ("schema-unknown", "a.doc.yaml"),
        ("schema-invalid", "a.loose.json"),
        ("schema-invalid", "a.jsonl"),
    }
    assert evidence.document("a.json") == {"id": 7}


def test_read_has_a_limit(tmp_path):
    evidence = collect(tmp_path, {"a.bin": b"12345"})
    with pytest.raises(MissingFact, match="5 bytes, more than"):
        evidence.read("a.bin", limit=4)


CHANGES = {
    "grows": lambda p: p.write_bytes(p.read_bytes() + b" "),
    "shrinks": lambda p: os.truncate(p, 1),
    "same size": lambda p: p.write_bytes(b"#" * p.stat().st_size),
    "replaced": lambda p: (p.with_suffix(".new").write_bytes(p.read_bytes()), p.with_suffix(".new").rename(p)),
    "touched": lambda p: os.utime(p, ns=(1, 1)),
    "a pipe": lambda p: (p.unlink(), os.mkfifo(p)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.txt", "a.npy", "a.bin", "stray"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_file_that_changes_while_it_is_read(tmp_path, monkeypatch, change, name, when):
    plain = Opener.open

    def open_and_change(self, raw):
        if raw != name:
            return plain(self, raw)
        if when == "before":
            change(tmp_path / raw)
            return plain(self, raw)
        fd = plain(self, raw)
        change(tmp_path / raw)
        return fd

    monkeypatch.setattr(Opener, "open", open_and_change)
    evidence = collect(tmp_path, {name: b'{"id": "a"}', "other.bin": b"x"})
    found = [(p.rule, p.location.path) for p in evidence.problems]
    assert found == [("changed-while-read", name)]
    assert list(evidence.entries) == ["other.bin"]


@pytest.mark.parametrize("swap", [lambda p: p.symlink_to("other.bin"), lambda p: p.mkdir(), lambda _: None])
def test_a_file_that_is_swapped_before_it_is_opened(tmp_path, monkeypatch, swap):
    plain = Opener.open

    def swapped(self, raw):
        if raw == "d/a.bin":
            (tmp_path / raw).unlink()
            swap(tmp_path / raw)
        return plain(self, raw)

    monkeypatch.setattr(Opener, "open", swapped)
    evidence = collect(tmp_path, {"d/a.bin": b"x", "other.bin": b"x"})
    assert len(evidence.problems) == 1
    assert list(evidence.entries) == ["other.bin"]


def test_a_folder_that_becomes_a_link_is_not_followed(tmp_path, monkeypatch):
    write(tmp_path, {"d/a.bin": b"x", "elsewhere/a.bin": b"x"})
    plain = gathering.walk

    def walk_then_swap(fd):
        seen = plain(fd)
        (tmp_path / "d").rename(tmp_path / "moved")
        (tmp_path / "d").symlink_to("elsewhere")
        return seen

    monkeypatch.setattr(gathering, "walk", walk_then_swap)
    evidence = collect(tmp_path)
    assert [(p.rule, p.location.path) for p in evidence.problems] == [("file-unreadable", "d/a.bin")]
    assert list(evidence.entries) == ["elsewhere/a.bin"]


def test_a_document_may_be_too_large(tmp_path):
    for name in ("a.json", "a.yaml", "a.csv", "a.sha256"):
        with (tmp_path / name).open("wb") as file:
            file.truncate((64 << 20) + 1)
    evidence = collect(tmp_path)
    assert brief(evidence.problems) == [("document-malformed", n) for n in ("a.csv", "a.json", "a.sha256", "a.yaml")]
    assert "MiB" in evidence.problems[0].message
    assert len(evidence.entries) == 4


def test_sparse_files_of_gigabytes_take_no_memory(tmp_path):
    for name, size in (("a.bin", 3 << 30), ("b.npy", 100 << 20)):
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)
    evidence = collect(tmp_path)
    assert evidence.entry("a.bin").sha256 == ZEROS_3_GIB
    assert evidence.head("b.npy", 10) == bytes(10)
    with pytest.raises(MissingFact, match="more than"):
        evidence.read("a.bin")


@pytest.fixture
def small_windows(monkeypatch):
    monkeypatch.setattr(windows, "WINDOW", 1 << 16)
    monkeypatch.setattr(gathering, "SPLIT", 1 << 16)


@pytest.mark.usefixtures("small_windows")
@pytest.mark.parametrize("jobs", [1, 2, 3])
class TestLongRecords:
    def lines(self, count=5000):
        return [json.dumps({"id": f"é{n}", "n": n, "text": "x" * (n % 97)}, ensure_ascii=False) for n in range(count)]

    @pytest.mark.parametrize("end", ["", "\n"])
    def test_good(self, tmp_path, jobs, end):
        lines = self.lines()
        data = ("\n".join(lines) + end).encode()
        evidence = collect(tmp_path, {"a.jsonl": data}, jobs=jobs)
        assert evidence.problems == ()
        assert evidence.entry("a.jsonl").sha256 == hashlib.sha256(data).hexdigest()
        records = evidence.records("a.jsonl")
        assert [r.value for r in records] == [json.loads(line) for line in lines]
        assert [r.line for r in records] == list(range(1, 5001))
        assert (len(records), records[-1].line, records[17].line) == (5000, 5000, 18)
        assert [r.line for r in records[10:4:-2]] == [11, 9, 7]
        with pytest.raises(IndexError):
            records[5000]

    def test_faults_have_their_lines(self, tmp_path, jobs):
        lines = self.lines()
        for n, line in ((0, "{"), (1234, '{"id": 1}'), (4321, '{"id": "a", "id": "a"}'), (4999, "")):
            lines[n] = line
        evidence = collect(tmp_path, {"a.jsonl": "\n".join(lines) + "\n"}, jobs=jobs)
        found = [(p.rule, p.location.line, p.location.pointer) for p in evidence.problems]
        assert found == [
            ("document-malformed", 1, None),
            ("schema-invalid", 1235, "/id"),
            ("document-malformed", 4322, "/id"),
            ("document-malformed", 5000, None),
        ]
        with pytest.raises(MissingFact):
            evidence.records("a.jsonl")
        assert len(list(evidence.parsed("a.jsonl"))) == 4997

    def test_all_lines_faulty(self, tmp_path, jobs):
        evidence = collect(tmp_path, {"a.jsonl": "{}\n" * 50_000}, jobs=jobs)
        assert len(evidence.problems) == 101
        assert any("49900 more" in p.message for p in evidence.problems)

    def test_a_line_longer_than_a_window(self, tmp_path, jobs):
        data = '{"id": "a"}\n' * 3 + json.dumps({"id": "x" * (1 << 17)}) + "\n" + '{"id": "a"}\n'
        evidence = collect(tmp_path, {"a.jsonl": data}, jobs=jobs)
        assert [(p.rule, p.location.line) for p in evidence.problems] == [("document-malformed", 4)]
        assert evidence.entry("a.jsonl").sha256 == hashlib.sha256(data.encode()).hexdigest()

    def test_what_changed_is_seen_before_it_is_handed_out(self, tmp_path, jobs):
        lines = self.lines()
        evidence = collect(tmp_path, {"a.jsonl": "\n".join(lines)}, jobs=jobs)
        records = evidence.records("a.jsonl")
        lines[4000] = lines[4000].replace("x", "y")
        write(tmp_path, {"a.jsonl": "\n".join(lines)})
        seen = []
        with pytest.raises(MissingFact, match="changed"):
            seen.extend(records)
        assert all("y" not in str(r.value) for r in seen)

    def test_a_file_that_changes(self, tmp_path, jobs, monkeypatch):
        plain = Opener.open

        def open_and_change(self, raw):
            fd = plain(self, raw)
            os.truncate(tmp_path / raw, 70_000)
            return fd

        monkeypatch.setattr(Opener, "open", open_and_change)
        evidence = collect(tmp_path, {"a.jsonl": "\n".join(self.lines())}, jobs=jobs)
        assert brief(evidence.problems) == [("changed-while-read", "a.jsonl")]


@pytest.mark.usefixtures("small_windows")
def test_a_worker_that_dies_leaves_the_file_open(tmp_path, monkeypatch):
    def die(*_):
        os._exit(9)

    # Workers are forked only where no thread runs, and those of other tests' servers may.
    monkeypatch.setattr(pool.threading, "active_count", lambda: 1)
    parent = os.getpid()
    plain = windows.check_lines
    monkeypatch.setattr(windows, "check_lines", lambda *a: plain(*a) if os.getpid() == parent else die())
    evidence = collect(tmp_path, {"a.jsonl": "{}\n" * 50_000}, jobs=2)
    assert [(p.rule, p.kind) for p in evidence.problems] == [("file-unreadable", Kind.OPEN)]
    assert not evidence.entries


def test_a_long_text_is_read_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(gathering, "DOCUMENT_LIMIT", 10)
    data = ("é" * 700_000 + "\n") * 3 + "\x1b\n"
    evidence = collect(tmp_path, {"a.txt": data})
    assert [(p.rule, p.location.line) for p in evidence.problems] == [("control-character", 4)]
    assert evidence.entry("a.txt").sha256 == hashlib.sha256(data.encode()).hexdigest()
    assert b"".join(b.data for b in evidence.blocks("a.txt")) == data.encode()


class TestLongFiles:
    """Files that threads hash block by block, in turns."""

    @pytest.fixture(autouse=True)
    def short_blocks(self, monkeypatch):
        monkeypatch.setattr(digest, "LONG", 200_000)
        for module in (digest, long_file):
            monkeypatch.setattr(module, "BLOCK", 100_000)
        monkeypatch.setattr(long_file, "PIECE", 30_000)

    @pytest.mark.parametrize("jobs", [1, 2, 5])
    @pytest.mark.parametrize("count", [1, 3, 40])
    def test_digests(self, tmp_path, jobs, count):
        files = {f"{n}.bin": os.urandom(200_000 + 77_777 * (n % 7)) for n in range(count)}
        files |= {f"small/{n}.bin": os.urandom(n * 1000) for n in range(count)}
        evidence = collect(tmp_path, files, jobs=jobs)
        assert evidence.problems == ()
        assert {path: entry.sha256 for path, entry in evidence.entries.items()} == {
            path: hashlib.sha256(data).hexdigest() for path, data in files.items()
        }

    def test_a_thread_without_a_file_helps_with_the_last_one(self, tmp_path, monkeypatch):
        plain_hash, plain_read = long_file.LongFile._hash, long_file.LongFile._read
        joined, hashed = threading.Event(), set()

        def wait_and_hash(self, block, start):
            if start == 0:
                assert joined.wait(60)
            hashed.add(threading.get_ident())
            plain_hash(self, block, start)

        def read(self, block, start):
            if start >= 100_000:  # by another thread: the first one waits
                joined.set()
            return plain_read(self, block, start)

        monkeypatch.setattr(long_file.LongFile, "_hash", wait_and_hash)
        monkeypatch.setattr(long_file.LongFile, "_read", read)
        data = os.urandom(3_000_000)
        evidence = collect(tmp_path, {"a.bin": data}, jobs=2)
        assert evidence.entry("a.bin").sha256 == hashlib.sha256(data).hexdigest()
        assert len(hashed) == 2

    @pytest.mark.parametrize("jobs", [1, 2])
    @pytest.mark.parametrize("size", [0, 250_000, 1_000_000, 2_999_999, 3_000_001])
    def test_one_that_changes(self, tmp_path, monkeypatch, jobs, size):
        plain = Opener.open

        def open_and_change(self, raw):
            fd = plain(self, raw)
            os.truncate(tmp_path / raw, size)
            return fd

        monkeypatch.setattr(Opener, "open", open_and_change)
        evidence = collect(tmp_path, {"a.bin": bytes(3_000_000)}, jobs=jobs)
        assert brief(evidence.problems) == [("changed-while-read", "a.bin")]
        assert not evidence.entries

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_one_that_cannot_be_read(self, tmp_path, monkeypatch, jobs):
        plain = long_file.LongFile._read

        def fail(self, block, start):
            if start > 1_000_000 and self.found.path == "a.bin":
                raise OSError(errno.EIO, "Input/output error")
            return plain(self, block, start)

        monkeypatch.setattr(long_file.LongFile, "_read", fail)
        evidence = collect(tmp_path, {"a.bin": bytes(3_000_000), "b.bin": bytes(3_000_000)}, jobs=jobs)
        assert brief(evidence.problems) == [("file-unreadable", "a.bin")]
        assert list(evidence.entries) == ["b.bin"]

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_an_error_of_ours_ends_it(self, tmp_path, monkeypatch, jobs):
        def crash(self, block, start):
            raise RuntimeError("no")

        monkeypatch.setattr(long_file.LongFile, "_hash", crash)
        before, threads = open_files(), threading.active_count()
        with pytest.raises(RuntimeError, match="no"):
            collect(tmp_path, {f"{n}.bin": bytes(3_000_000) for n in range(20)}, jobs=jobs)
        assert threading.active_count() <= threads
        assert open_files() - before == set()


def test_it_reads_without_executing(tmp_path, inert):
    evidence = collect(tmp_path, {"a.doc.json": document(), "b.bin": b"x"})
    assert len(evidence.entries) == 2
