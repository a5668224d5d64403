"""How lines of environment.lock are pinned."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calaudit.facts.reference.environment import Pin, read_lock

DIGEST = "0123456789abcdef" * 4
COMMIT = "0123456789" * 4


@pytest.mark.parametrize(
    ("line", "package", "version", "pin"),
    [
        ("numpy==2.4.6", "numpy", "2.4.6", Pin.VERSION),
        ("Ml_Dtypes == 0.6.0", "ml-dtypes", "0.6.0", Pin.VERSION),
        ("x===1.0-weird", "x", "1.0-weird", Pin.VERSION),
        ("torch==2.4.0+cu121 ; python_version >= '3.11'", "torch", "2.4.0+cu121", Pin.VERSION),
        ("numpy==2.4.*", "numpy", None, Pin.NONE),
        ("numpy>=2", "numpy", None, Pin.NONE),
        ("numpy==2.4.6,!=2.4.5", "numpy", None, Pin.NONE),
        ("numpy", "numpy", None, Pin.NONE),
        ("numpy @ https://x.invalid/numpy-2.4.6-py3-none-any.whl", "numpy", "2.4.6", Pin.NONE),
        (f"numpy @ https://x.invalid/numpy-2.4.6-py3-none-any.whl#sha256={DIGEST}", "numpy", "2.4.6", Pin.DIGEST),
        (f"numpy @ https://x.invalid/numpy-2.4.6.tar.gz#sha256={DIGEST}", "numpy", "2.4.6", Pin.DIGEST),
        (f"numpy @ https://x.invalid/numpy#sha256={DIGEST[:-1]}", "numpy", None, Pin.NONE),
        (f"numpy @ https://x.invalid/numpy#md5={DIGEST[:32]}", "numpy", None, Pin.NONE),
        (f"numpy @ file:///srv/numpy.whl#sha256={DIGEST}", "numpy", None, Pin.NONE),
        (f"x @ git+https://x.invalid/x@{COMMIT}", "x", None, Pin.DIGEST),
        ("x @ git+https://x.invalid/x@v1.0", "x", None, Pin.NONE),
        (f"x @ git+https://x.invalid/x@{COMMIT[:12]}", "x", None, Pin.NONE),
        (f"-e git+https://x.invalid/x@{COMMIT}#egg=x", None, None, Pin.DIGEST),
        ("-e .", None, None, Pin.NONE),
        ("-r other.txt", None, None, Pin.NONE),
        ("--index-url https://x.invalid", None, None, Pin.NONE),
        ("not a requirement", None, None, Pin.NONE),
        ("./numpy.whl", None, None, Pin.NONE),
        (f"x @ https://[::1/x#sha256={DIGEST}", "x", None, Pin.NONE),
    ],
)
def test_line(line: str, package: str | None, version: str | None, pin: Pin) -> None:
    (found,) = read_lock(line + "\n")
    assert (found.package, found.version, found.pin) == (package, version, pin)
    assert (found.reason == "") == (pin is not Pin.NONE)


def test_hashes_on_continued_lines() -> None:
    hashes = f"    --hash=sha256:{DIGEST} \\\n    --hash=sha512:{DIGEST}{DIGEST}"
    text = f"# pip-compile\nnumpy==2.4.6 \\\n{hashes}\n\nx==1 # why\n"
    first, second = read_lock(text)
    assert (first.at.line, first.version, first.pin) == (2, "2.4.6", Pin.VERSION)
    assert (second.at.line, second.text) == (6, "x==1")


def test_a_hash_that_is_none_pins_nothing() -> None:
    (found,) = read_lock("numpy==2.4.6 --hash=sha256:abc\n")
    assert found.pin is Pin.NONE


def test_a_fragment_is_no_comment() -> None:
    (found,) = read_lock(f"x @ https://x.invalid/x-1-py3-none-any.whl#sha256={DIGEST}")
    assert found.pin is Pin.DIGEST


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    for line in read_lock(text):
        assert line.text.strip()
        assert (line.reason == "") == (line.pin is not Pin.NONE)
