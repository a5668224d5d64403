"""Archives: the same bytes for the same files, and one reading of what comes, which `tarfile` and GNU tar share."""

import io
import subprocess
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from calaudit.errors import Malformed
from calaudit.execute.vendor import tar
from calaudit.execute.vendor.places import Places
from calaudit.execute.vendor.tar import Limits, Member
from calaudit.execute.vendor.tar_headers import BLOCK
from calaudit.execute.vendor.tar_pack import pack

FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}


class Kept(io.BytesIO):
    """Bytes that stay when their file is closed."""

    def close(self) -> None:
        pass


def read(data: bytes, **limits: int) -> dict[str, bytes]:
    """What our reader makes of an archive."""
    found: dict[str, Kept] = {}
    places = Places()

    def take(member: Member) -> Kept:
        places.add_file(member.path)
        found[member.path] = Kept()
        return found[member.path]

    tar.unpack(io.BytesIO(data), take, Limits(**limits), places.add_folder)
    return {path: kept.getvalue() for path, kept in found.items()}


def theirs(data: bytes) -> dict[str, bytes]:
    """What `tarfile` makes of it."""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        members = [member for member in archive.getmembers() if not member.isdir()]
        assert all(member.isreg() for member in members)
        opened = {member.name: archive.extractfile(member) for member in members}
        return {name.removeprefix("./"): file.read() for name, file in opened.items() if file is not None}


def made(files: Iterable[tuple[str, bytes]], form: str = "gnu", **attributes: object) -> bytes:
    """An archive as `tarfile` writes it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=FORMATS[form]) as archive:
        for name, data in files:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            for attribute, value in attributes.items():
                setattr(member, attribute, value)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


SEGMENT = st.from_regex(r"[A-Za-z0-9_é-]{1,60}", fullmatch=True).filter(lambda s: "ª" not in s and "º" not in s)
PATH = st.lists(SEGMENT, min_size=1, max_size=6).map("/".join)
FILES = st.dictionaries(PATH, st.binary(max_size=1500), min_size=1, max_size=5)


def side_by_side(files: Mapping[str, bytes]) -> bool:
    places = Places()
    try:
        for path in files:
            places.add_file(path)
    except Malformed:
        return False
    return True


@given(files=FILES.filter(side_by_side))
def test_what_is_packed_is_read(files: dict[str, bytes]) -> None:
    data = pack(files)
    assert data == pack(dict(reversed(list(files.items()))))
    assert read(data) == files
    assert theirs(data) == files


@given(files=FILES.filter(side_by_side), form=st.sampled_from(["gnu", "pax"]))
@settings(max_examples=60)
def test_archives_of_others_are_read(files: dict[str, bytes], form: str) -> None:
    assert read(made(files.items(), form)) == files


SMALL = made([("vendor/responses/a.txt", b"a" * 700), ("attestations/" + "x" * 120, b"b")], "pax")


@given(st.lists(st.tuples(st.integers(0, len(SMALL) - 1), st.integers(0, 255)), min_size=1, max_size=4))
@example([(156, ord("2"))])
@example([(124, 0x80)])
@settings(max_examples=500)
def test_whatever_is_accepted_has_one_reading(changes: list[tuple[int, int]]) -> None:
    data = bytearray(SMALL)
    for place, value in changes:
        data[place] = value
    try:
        ours = read(bytes(data))
    except Malformed:
        return
    assert ours == theirs(bytes(data))


@given(
    block=st.sampled_from(range(0, 5 * BLOCK, BLOCK)),
    place=st.integers(0, BLOCK - 1),
    text=st.binary(min_size=1, max_size=40),
)
@settings(max_examples=500)
def test_headers_with_a_right_checksum_have_one_reading(block: int, place: int, text: bytes) -> None:
    data = bytearray(SMALL)
    data[block + place : block + min(place + len(text), BLOCK)] = text[: BLOCK - place]
    header = data[block : block + BLOCK]
    header[148:156] = b" " * 8
    data[block : block + BLOCK] = header[:148] + b"%06o\0 " % sum(header) + header[156:]
    try:
        ours = read(bytes(data))
    except Malformed:
        return
    assert ours == theirs(bytes(data))


@given(st.integers(0, len(SMALL) - 1))
def test_a_cut_archive_is_refused(length: int) -> None:
    end = len(SMALL.rstrip(b"\0"))
    whole = end + -end % BLOCK + 2 * BLOCK
    if length >= whole:
        return
    with pytest.raises(Malformed):
        read(SMALL[:length])


@given(st.binary(max_size=2000))
def test_nothing_but_malformed_comes_of_rubbish(data: bytes) -> None:
    with pytest.raises(Malformed):
        read(data)


def kinds() -> list[bytes]:
    return [bytes([n]) for n in range(256) if bytes([n]) not in b"05\0"]


@pytest.mark.parametrize("kind", kinds(), ids=repr)
def test_only_files_and_folders(kind: bytes) -> None:
    data = made([("vendor/x", b"")], type=kind, linkname="" if kind in b"xLKg" else "../../etc/passwd")
    with pytest.raises(Malformed):
        read(data)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("../x", "go straight down"),
        ("vendor/../x", "go straight down"),
        ("vendor/./x", "go straight down"),
        ("vendor//x", "go straight down"),
        ("././x", "go straight down"),
        ("..", "go straight down"),
        ("/etc/passwd", "absolute"),
        (".//etc/passwd", "absolute"),
        ("C:/x", "absolute"),
        ("vendor\\x", "another system"),
        ("vendor/x\n", "nobody sees"),
        ("vendor/\x1b[2Jx", "nobody sees"),
        ("vendor/\u202etxt", "nobody sees"),
        ("vendor/e\u0301", "NFC"),
        ("vendor/x.", "dot or a blank"),
        ("vendor /x", "dot or a blank"),
        ("vendor/" + "x" * 300, "255 bytes"),
        ("x/" * 600 + "x", "more bytes than"),
        ("vendor/x/", "name of a folder"),
    ],
)
@pytest.mark.parametrize("form", ["gnu", "pax"])
def test_names_that_lead_astray(name: str, told: str, form: str) -> None:
    if name == "vendor/x/":  # tarfile takes the / away
        data = made([("vendor/x_", b"1")], form).replace(b"vendor/x_", b"vendor/x/")
        header = bytearray(data[:BLOCK])
        header[148:156] = b" " * 8
        data = bytes(header[:148]) + b"%06o\0 " % sum(header) + data[156:]
    else:
        data = made([(name, b"1")], form)
    with pytest.raises(Malformed, match=told):
        read(data)


@pytest.mark.parametrize(
    "names",
    [
        ("vendor/x", "vendor/x"),
        ("vendor/x", "./vendor/x"),
        ("vendor/x", "vendor/X"),
        ("vendor/x", "Vendor/y"),
        ("vendor/straße", "vendor/STRASSE"),
        ("vendor/x", "vendor/x/y"),
        ("vendor/x/y", "vendor/x"),
    ],
)
def test_names_that_are_one_somewhere(names: tuple[str, str]) -> None:
    with pytest.raises(Malformed, match=r"twice|only: one name|and a folder"):
        read(made([(name, b"") for name in names]))


def test_limits() -> None:
    three = [(f"vendor/{n}", b"x" * 1000) for n in range(3)]
    assert len(read(made(three), members=3, size=10_000)) == 3
    with pytest.raises(Malformed, match="more than 2 members"):
        read(made(three), members=2)
    with pytest.raises(Malformed, match="more than 2999 bytes"):
        read(made(three), size=2999)


def test_a_bomb_is_refused_before_it_is_read() -> None:
    header = bytearray(made([("vendor/x", b"")])[:BLOCK])
    header[124:136] = b"77777777777\0"
    header[148:156] = b" " * 8
    data = bytes(header[:148]) + b"%06o\0 " % sum(header) + bytes(header[156:])
    with pytest.raises(Malformed, match="more than 1000 bytes"):
        read(data, size=1000)


def test_sparse_files_are_refused() -> None:
    for keyword in ("GNU.sparse.realsize", "GNU.sparse.major", "SCHILY.realsize", "linkpath", "hdrcharset"):
        data = made([("vendor/x", b"1")], "pax", pax_headers={keyword: "1"})
        with pytest.raises(Malformed, match="no regular file needs that"):
            read(data)


def test_two_sizes_are_refused() -> None:
    data = made([("vendor/x", b"1")], "pax", pax_headers={"size": "2"})
    with pytest.raises(Malformed, match="two sizes"):
        read(data)


@pytest.mark.parametrize("mode", ["gz", "bz2", "xz"])
def test_compressed_archives_are_named(mode: str) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=f"w:{mode}") as archive:  # type: ignore[call-overload]
        archive.addfile(tarfile.TarInfo("x"))
    with pytest.raises(Malformed, match="compressed"):
        read(out.getvalue())


def test_what_stands_behind_the_end_is_refused() -> None:
    good = made([("vendor/x", b"1")])
    with pytest.raises(Malformed, match="after the end"):
        read(good + made([("vendor/y", b"1")]))
    assert read(good + b"\0" * 4096) == {"vendor/x": b"1"}


@pytest.mark.parametrize("form", ["ustar", "gnu", "pax", "posix"])
def test_gnu_tar_writes_what_is_read(tmp_path: Path, form: str) -> None:
    long = "vendor/responses/" + "deep/" * 12 + "x" * 90 + ".txt"
    for name in ("vendor/a.txt", long, "attestations/b.link"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    done = subprocess.run(
        ["tar", f"--format={form}", "-cf", "-", "-C", str(tmp_path), "."], check=True, capture_output=True
    )
    assert set(read(done.stdout)) == {"vendor/a.txt", long, "attestations/b.link"}


def test_gnu_tar_reads_what_is_packed(tmp_path: Path) -> None:
    files = {"a/b.txt": b"1", "n" * 150: b"2", "ü.txt": b"", "z" * 99: b"x" * 512}
    (tmp_path / "x.tar").write_bytes(pack(files))
    subprocess.run(["tar", "-xf", "x.tar"], check=True, cwd=tmp_path)
    assert {p: (tmp_path / p).read_bytes() for p in files} == files
