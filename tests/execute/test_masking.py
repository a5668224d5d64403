"""Secrets are found and masked, however they are wrapped and wherever a stream is cut."""

import base64
import json
import textwrap
from itertools import pairwise
from pathlib import Path
from urllib import parse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calaudit.errors import UsageError
from calaudit.execute.masking import MASK, Masker, Needles, Scattered, masked_text, read_secrets

VALUE = 's3cr"t value/with+signs&ü'
NEEDLES = Needles({"TOKEN": VALUE})

WRAPPED = {
    "plain": VALUE,
    "base64": base64.b64encode(VALUE.encode()).decode(),
    "base64 after one byte": base64.b64encode(b"x" + VALUE.encode() + b"tail").decode(),
    "base64 after two bytes": base64.b64encode(b"xy" + VALUE.encode() + b"tail").decode(),
    "url-safe base64": base64.urlsafe_b64encode(b"user:" + VALUE.encode()).decode(),
    "hex": VALUE.encode().hex(),
    "HEX": VALUE.encode().hex().upper(),
    "url": parse.quote(VALUE, safe=""),
    "url path": parse.quote(VALUE),
    "form": parse.urlencode({"q": VALUE}),
    "json": json.dumps({"q": VALUE}),
    "base32": base64.b32encode(VALUE.encode()).decode(),
    "base32 after three bytes": base64.b32encode(b"xyz" + VALUE.encode() + b"tail").decode().lower(),
    "python": ascii([VALUE]),
}

LONG = "-----BEGIN KEY-----\n" + "MC4CAQAwBQYDK2VwBCIEIabcdefghijk\n" * 3 + "-----END KEY-----"

SCATTERED = {
    "base64 in lines": base64.encodebytes(LONG.encode()).decode(),
    "base64 in short lines": "\r\n".join(textwrap.wrap(base64.b64encode(b"x" + LONG.encode()).decode(), 20)),
    "indented": textwrap.indent(LONG, "  "),
    "od": LONG.encode().hex(" "),
    "od in lines": "\n".join(" " + LONG.encode()[n : n + 16].hex(" ") for n in range(0, len(LONG), 16)),
    "joined": "".join(LONG.split()),
}


def masked(chunks: list[bytes], needles: Needles = NEEDLES) -> tuple[bytes, set[str]]:
    masker = Masker(needles)
    out = b"".join(map(masker.feed, chunks)) + masker.finish()
    return out, masker.found


@pytest.mark.parametrize("text", WRAPPED.values(), ids=WRAPPED)
def test_each_way_of_wrapping_is_found(text: str, tmp_path: Path) -> None:
    data = f"before {text} after".encode()
    out, found = masked([data])
    assert found == {"TOKEN"}
    assert MASK in out
    assert out.startswith(b"before ")
    assert out.endswith(b" after")
    assert VALUE.encode() not in out
    (tmp_path / "product").write_bytes(b"\0" * ((1 << 20) - 10) + data)  # over the border of two reads
    assert NEEDLES.in_file(tmp_path / "product") == {"TOKEN"}


@pytest.mark.parametrize("text", SCATTERED.values(), ids=SCATTERED)
def test_what_is_scattered_over_lines_is_found(text: str, tmp_path: Path) -> None:
    needles = Needles({"KEY": LONG})
    data = f"before {text} after".encode()
    (tmp_path / "product").write_bytes(b"\0" * ((1 << 20) - 30) + data)
    assert needles.in_file(tmp_path / "product") == {"KEY"}
    scattered = Scattered(needles)
    for byte in data:
        scattered.feed(bytes([byte]))
    assert scattered.found == {"KEY"}
    assert needles.in_bytes(data[: len(data) // 2]) == set()
    assert "MC4C" not in masked_text(f"The file {text} is there.", needles)


def test_utf_16_is_found() -> None:
    assert masked([f"x{VALUE}".encode("utf-16")])[1] == {"TOKEN"}


def test_a_message_is_masked() -> None:
    assert masked_text(f"wrote out/{VALUE}.txt.", NEEDLES) == "wrote out/[secret].txt."
    assert masked_text("wrote out/\udcff.txt.", NEEDLES) == "wrote out/\udcff.txt."


@given(st.sampled_from(sorted(WRAPPED.values())), st.lists(st.integers(0, 200), max_size=8))
def test_cuts_do_not_matter(text: str, cuts: list[int]) -> None:
    data = f"{text} x {VALUE}{VALUE} y {text[:-1]}".encode()
    places = sorted({0, *(cut % (len(data) + 1) for cut in cuts), len(data)})
    chunks = [data[a:b] for a, b in pairwise(places)]
    assert masked(chunks) == masked([data])


@given(st.lists(st.binary(max_size=40), max_size=10))
def test_what_holds_no_secret_passes_unchanged(chunks: list[bytes]) -> None:
    assert masked(chunks) == (b"".join(chunks), set())
    assert masked(chunks, Needles({})) == (b"".join(chunks), set())


def test_secrets_that_overlap_are_masked_whole() -> None:
    needles = Needles({"A": "abcdefgh1234", "B": "1234ijklmnop"})
    out, found = masked([b"<abcdefgh1234ijklmnop>"], needles)
    assert found == {"A", "B"}
    assert out == b"<" + MASK + b">"


def test_a_secret_that_begins_with_another() -> None:
    needles = Needles({"SHORT": "abcdefgh", "LONG": "abcdefghijkl"})
    out, found = masked([b"<abcdefgh", b"ijkl>"], needles)
    assert out == b"<" + MASK + b">"
    assert "LONG" in found


def test_secrets_come_from_the_environment() -> None:
    assert read_secrets(["A"], {"A": "long enough", "B": "x"}) == {"A": "long enough"}
    with pytest.raises(UsageError, match="A is not set"):
        read_secrets(["A"], {})
    with pytest.raises(UsageError, match="A is not set"):
        read_secrets(["A"], {"A": ""})
    with pytest.raises(UsageError, match="fewer than 8"):
        read_secrets(["A"], {"A": "short"})
    with pytest.raises(UsageError, match="fewer than 8"):
        read_secrets(["A"], {"A": " short  \n "})
    with pytest.raises(UsageError, match="A is not UTF-8"):
        read_secrets(["A"], {"A": "long enough\udcff"})
