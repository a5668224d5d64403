"""Errors in policies say file, line and column, whatever way the YAML is written."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from calaudit.contract.yaml_place import Source


def place_of(tmp_path, text, word):
    """Where ``word`` stands in the value of ``key``, as found, and as it truly stands in the file."""
    path = tmp_path / "some.yaml"
    path.write_text(text, encoding="utf-8")
    value = yaml.safe_load(text)["list"][1]["key"]
    found = Source("some.yaml", path).place("list", 1, "key", at=value.index(word))
    for number, line in enumerate(text.split("\n"), start=1):
        if word in line:
            return found, f"some.yaml:{number}:{line.index(word) + 1}"
    raise AssertionError(word)


STYLES = {
    "plain": "list:\n- 1\n- key: alpha beta.WORD gamma\n",
    "plain over lines": "list:\n- 1\n- key: alpha\n    beta\n    gamma.WORD\n  other: 1\n",
    "single quotes": "list:\n- 1\n- key: 'it''s a ''quoted'' WORD'\n",
    "double quotes": 'list:\n- 1\n- key: "say \\"x\\" WORD"\n',
    "literal": "list:\n- 1\n- key: |\n    alpha\n      beta\n\n    gamma WORD\n",
    "folded": "list:\n- 1\n- key: >-\n    alpha\n    beta é😀 WORD\n    gamma\n",
    "folded with a comment": "list:\n- 1\n- key: >- # WARD\n    alpha\n    beta WORD\n",
    "flow": "list: [1, {key: alpha WORD, other: 1}]\n",
    "first word": "list:\n- 1\n- key: WORD beta\n",
    "first word of a block": "list:\n- 1\n- key: |\n    WORD beta\n",
}


@pytest.mark.parametrize("text", STYLES.values(), ids=STYLES)
def test_the_character_is_found(tmp_path, text):
    found, expected = place_of(tmp_path, text, "WORD")
    assert found == expected


def test_where_an_escape_hides_the_place_it_is_the_start(tmp_path):
    found, _ = place_of(tmp_path, 'list:\n- 1\n- key: "a\\u00e9 \\x41 WORD"\n', "WORD")
    assert found == "some.yaml:3:8"


def test_what_is_not_there_is_placed_at_what_holds_it(tmp_path):
    path = tmp_path / "some.yaml"
    path.write_text("a:\n  - b: 1\n", encoding="utf-8")
    source = Source("some.yaml", path)
    assert source.place("a", 0, "zzz") == "some.yaml:2:5"
    assert source.place("a", 7) == "some.yaml:2:3"
    assert source.place() == "some.yaml:1:1"


def test_it_never_raises(tmp_path):
    assert Source("x.yaml").place("a") == "x.yaml"
    assert Source("x.yaml", tmp_path / "absent").place("a") == "x.yaml"
    for number, data in enumerate((b"\xff", b"a: [", b"", b"a: &x [*x]\nb: 1")):
        path = tmp_path / f"{number}.yaml"
        path.write_bytes(data)
        assert Source("x.yaml", path).place("b", "c", 3).startswith("x.yaml")


@given(
    st.lists(st.sampled_from(["alpha", "b.c", "'", '"', "&&", "é", "x#y", "(", "0"]), min_size=1, max_size=12),
    st.data(),
)
def test_generated_folded_values(tmp_path_factory, words, data):
    lines = [" " * 8 + word for word in words]
    text = "key: >-\n" + "\n".join(lines) + "\n"
    value = yaml.safe_load(text)["key"]
    assert value == " ".join(words)
    chosen = data.draw(st.integers(0, len(words) - 1))
    path = tmp_path_factory.getbasetemp() / "folded.yaml"
    path.write_text(text, encoding="utf-8")
    at = len(" ".join(words[:chosen])) + (1 if chosen else 0)
    assert Source("f", path).place("key", at=at) == f"f:{chosen + 2}:9"
