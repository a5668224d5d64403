"""No value of a secret leaves a run: not in a message, a log, or a product."""

import textwrap

import pytest

from calaudit.errors import UsageError
from calaudit.execute.nouns import StepFailed
from calaudit.execute.running import run_step
from tests.execute.small import Bench, step

VALUE = "s3cr3t-v4lue-" + "hidden" * 12


def refused(bench: Bench, script: str, value: str = VALUE, **more: object) -> str:
    bench.script(script)
    with pytest.raises((StepFailed, UsageError)) as failed:
        run_step(step(secrets=("TOKEN",), **more), bench.setting(environment={"TOKEN": value}))
    assert not (bench.port / "out").exists()
    return str(failed.value)


@pytest.mark.parametrize(
    "script",
    [
        'echo x > "out/$TOKEN"',
        'ln -s /x "out/$TOKEN"',
        'mkfifo "out/$TOKEN"',
        'mkdir "$TOKEN"; echo x > "$TOKEN/x"',
        'ls "$TOKEN" 2>/dev/null; echo x > "out/$(printf %s "$TOKEN" | base64 -w0 | tr / _)"',
    ],
)
def test_no_message_tells_it(script: str, bench: Bench) -> None:
    said = refused(bench, f"cp in.txt out/made.txt; {script}\n")
    assert "[secret]" in said
    assert VALUE not in said
    assert "czNjcjN0" not in said


def test_a_product_named_after_it(bench: Bench) -> None:
    said = refused(bench, 'echo x > "out/$TOKEN"\n', products=("out/*",))
    assert "wrote the secret TOKEN into the name of a product" in said


def test_base64_in_lines(bench: Bench) -> None:
    assert "the secret TOKEN into out/made.txt" in refused(bench, 'printf %s "$TOKEN" | base64 > out/made.txt\n')


def test_a_log_in_which_it_is_scattered_is_withheld(bench: Bench) -> None:
    value = "-----BEGIN KEY-----\nMC4CAQAwBQYDK2VwBCIEIabcdefghijk\n-----END KEY-----"
    said = refused(bench, 'cp in.txt out/made.txt; echo "$TOKEN" | sed "s/^/  /"\n', value)
    assert "wrote the secret TOKEN to its output" in said
    assert "MC4C" not in said
    assert bench.log() == "[secret]"
    assert textwrap.indent(value, "  ") not in said


def test_one_that_is_no_text(bench: Bench) -> None:
    assert "TOKEN is not UTF-8" in refused(bench, "cp in.txt out/made.txt\n", "abcdefgh\udcff")
