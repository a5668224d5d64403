"""The extractor of paths: exact on what policies may write, and everything else refused."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calaudit.contract.cel import CelError, compile_bool, compile_path
from calaudit.contract.cel_ast import decode
from calaudit.contract.cel_paths import Refused, uses

EXACT = {
    "facts.a.b == 1": ["facts.a.b"],
    "facts.a.b.c <= params.m": ["facts.a.b.c", "params.m"],
    "facts . a . b == 1": ["facts.a.b"],
    "facts\n  .a // facts.c.d\n  .b == 1": ["facts.a.b"],
    ".facts.a.b == 1": ["facts.a.b"],
    "facts.a.`b` == 1": ["facts.a.b"],
    "'facts.x.y' == string(facts.a.b)": ["facts.a.b"],
    "r'facts.x.y\\d' == facts.a.b": ["facts.a.b"],
    '"""facts.x.y "quoted" facts.z""" == facts.a.b': ["facts.a.b"],
    "b'facts.x.y' == bytes(facts.a.b)": ["facts.a.b"],
    "facts.a.b ? facts.c.d : facts.e.f": ["facts.a.b", "facts.c.d", "facts.e.f"],
    "true || facts.a.b": ["facts.a.b"],
    "facts.a.b in ['x', facts.c.d]": ["facts.a.b", "facts.c.d"],
    "{'k': facts.a.b} == {'k': 1}": ["facts.a.b"],
    "size(facts.a.b) > 1": ["facts.a.b"],
    "facts.a.b.size() > 1": ["facts.a.b"],
    "facts.a.b.startsWith(facts.c.d)": ["facts.a.b", "facts.c.d"],
    "facts.a.l.all(x, x > 1)": ["facts.a.l", "facts.a.l[*]"],
    "facts.a.l.all(x, x.y > 1)": ["facts.a.l", "facts.a.l[*].y"],
    "facts.a.l.exists(x, x.y.z == params.p)": ["facts.a.l", "facts.a.l[*].y.z", "params.p"],
    "facts.a.l.exists_one(x, x == 'v')": ["facts.a.l", "facts.a.l[*]"],
    "facts.a.l.filter(x, x.ok).size() == 1": ["facts.a.l", "facts.a.l[*].ok", "facts.a.l[*]"],
    "facts.a.l.map(x, x.y).all(z, z > 1)": ["facts.a.l", "facts.a.l[*].y"],
    "facts.a.l.map(x, x.ok, x.y).size() > 0": ["facts.a.l", "facts.a.l[*].ok", "facts.a.l[*].y"],
    "facts.a.l.all(x, x.m.exists(y, y.z == x.w))": [
        "facts.a.l", "facts.a.l[*].m", "facts.a.l[*].m[*].z", "facts.a.l[*].w",
    ],
    "facts.a.l.all(x, x.m.all(x, x > 1))": ["facts.a.l", "facts.a.l[*].m", "facts.a.l[*].m[*]"],
    "params.l.all(p, p in facts.a.l)": ["params.l", "params.l[*]", "facts.a.l"],
    "port.stage == 'release' && facts.a.b": ["port.stage", "facts.a.b"],
    "[1, 2].all(n, facts.a.b > n)": ["facts.a.b"],
    "facts.a.b == -9223372036854775808 || facts.a.b == 1.5 || facts.a.b == 2u || facts.a.b == 1e300": ["facts.a.b"],
}  # fmt: skip

REFUSED = {
    "has(facts.a.b)": "has() is refused",
    "!has(facts.a.b)": "has() is refused",
    "facts.a.l.all(x, has(x.y))": "has() is refused",
    "facts['a'].b == 1": "'[…]' is refused",
    "facts.a.l[0] == 1": "'[…]' is refused",
    "facts.a.m['k'] == 1": "'[…]' is refused",
    "facts == facts": "does not name a member",
    "facts.a == 1": "does not name a member",
    "size(facts.a) > 0": "does not name a member",
    "facts.all(x, x == 'a')": "does not name a member",
    "facts.a.all(x, x == 'a')": "does not name a member",
    "params.a.b == 1": "does not name one param",
    "port.name == 'x'": "port.name does not exist",
    "port == port": "port does not exist",
    "type(facts.a.b) == int": "type() is refused",
    "int == int": "'int' is refused",
    "dyn(facts.a.b) != 3": "dyn() is refused",
    "facts.a.l.all(params, params > 1)": "must not be called params",
    "facts.a.l.all(facts, facts.x.y > 1)": "must not be called facts",
    "facts.a.l.filter(x, true).all(y, y.z > 1)": "computed value",
    "facts.a.l.map(x, x).exists(y, y.z > 1)": "computed value",
    "{'a': 1}.a == 1": "computed value",
    "[1, 2].all(n, n.x == 1)": "cannot be the operand",
    "facts.a.l.map(x, {'y': x}).all(z, z.y == 1)": "computed value",
    "google.protobuf.Timestamp{} == timestamp(facts.a.b)": "message literal",
    "item == 1": "undeclared reference",
    "environ.PATH == 'x'": "undeclared reference",
    "facts.a.b ==": "Syntax error",
    "facts.?a.b == 1": "unsupported syntax",
    "facts.a.l[?0] == 1": "unsupported syntax",
    "facts.a.l.all(i, v, i == v)": "undeclared reference",
    "'text'": "gives a STRING",
    "1": "gives a INT",
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), EXACT.items(), ids=EXACT)
def test_paths_are_exact(source, expected):
    assert [*dict.fromkeys(str(use) for use in compile_bool(source).uses)] == expected


@pytest.mark.parametrize(("source", "message"), REFUSED.items(), ids=REFUSED)
def test_what_hides_a_path_is_refused(source, message):
    with pytest.raises(CelError, match=re.escape(message)):
        compile_bool(source)


def test_item_exists_only_with_each():
    assert [str(use) for use in compile_bool("item.a.b > 1 && item.c", item=True).uses] == ["item.a.b", "item.c"]
    assert [str(use) for use in compile_bool("item > 1", item=True).uses] == ["item"]


def test_each_is_one_path_of_a_fact():
    assert str(compile_path("facts.a.items").uses[0]) == "facts.a.items"
    for source in (
        "params.l",
        "facts.a.l.map(x, x)",
        "facts.a.l + facts.a.m",
        "facts.a",
        "[facts.a.b]",
        "dyn(facts.a.b)",
    ):
        with pytest.raises(CelError):
            compile_path(source)


def test_the_place_of_an_error_is_a_character():
    source = "facts.a.b == 'é😀' && has(facts.c.d)"
    with pytest.raises(CelError) as error:
        compile_bool(source)
    assert source[error.value.at :].startswith("(facts.c.d)") or source[error.value.at :].startswith("has")
    source = "facts.a.b == 'é😀' && missing.c.d"
    with pytest.raises(CelError) as error:
        compile_bool(source)
    assert source[error.value.at :].startswith((".c", "missing", ".d"))


def test_paths_stand_where_they_begin():
    source = "facts.a.b == 'é😀' && facts.c.d == 1"
    assert [source[use.at :][:9] for use in compile_bool(source).uses] == ["facts.a.b", "facts.c.d"]


NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,6}", fullmatch=True).filter(
    lambda name: name not in {
        "in", "as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "let", "loop",
        "package", "namespace", "null", "return", "true", "var", "void", "while",
    }
)  # fmt: skip
PATHS = st.lists(NAMES, min_size=2, max_size=5).map(lambda names: "facts." + ".".join(names))
SPACE = st.sampled_from(["", " ", "\n", " // facts.no.no\n", "\t"])
LITERALS = st.sampled_from(
    ["1", "'facts.no.no'", '"\\"facts.no.no\\""', "r'facts.no.no\\d'", "'''facts.no.no'''", "true", "2.5"]
)


@st.composite
def expressions(draw):
    """A boolean expression and the facts it reads, in order."""
    found: list[str] = []

    def atom() -> str:
        path = draw(PATHS)
        found.append(path)
        spaced = path.replace(".", f"{draw(SPACE)}.{draw(SPACE)}")
        return draw(
            st.sampled_from(["{p} == {c}", "{c} != {p}", "!({p} == {c})", "size({p}) > 1", "{p} in [{c}]"])
        ).format(p=spaced, c=draw(LITERALS))

    def tree(depth: int) -> str:
        if depth == 0 or draw(st.booleans()):
            return atom()
        shape = draw(st.sampled_from(["({a} && {b})", "({a} || {b})", "!({a})", "({a} ? {b} : {b2})"]))
        parts = {}
        for name in ("a", "b", "b2"):
            if f"{{{name}}}" in shape:
                parts[name] = tree(depth - 1)
        return shape.format(**parts)

    return tree(3), found


@given(expressions())
def test_generated_expressions_give_exactly_their_paths(generated):
    source, expected = generated
    assert [str(use) for use in compile_bool(source).uses] == list(dict.fromkeys(expected))


def refusal(source):
    try:
        compile_bool(source)
    except CelError as error:
        return error
    return None


@given(st.text(max_size=60) | st.text(alphabet="fac ts.prmo'\"()[]{}|&!=<>+-*/%?:,01xy\n\\", max_size=40))
def test_any_text_compiles_or_is_refused_at_a_place(text):
    refused = refusal(text)
    assert refused is None or (refused.message and 0 <= refused.at <= len(text) + 1)


@pytest.mark.parametrize(
    "source",
    [
        "1" + "+1" * 1990 + " > facts.a.b",
        "(" * 900 + "facts.a.b" + ")" * 900 + " == 1",
        "facts" + ".a" * 1900 + " == 1",
        "[" * 400 + "1" + "]" * 400 + " == facts.a.b",
    ],
)
def test_depth_is_refused(source):
    with pytest.raises(CelError, match="recursion"):
        compile_bool(source)


def test_a_tree_that_cannot_be_read_is_an_error_of_the_contract(monkeypatch):
    monkeypatch.setattr("calaudit.contract.cel.decode", lambda _: decode(b"\x0a\x02xy"))
    with pytest.raises(CelError, match="cannot be read"):
        compile_bool("facts.a.b")


@given(st.binary(max_size=80))
def test_bytes_that_are_no_tree_are_refused(data):
    with pytest.raises(ValueError):  # noqa: PT011 - any words will do
        decode(data)


def test_constructs_that_this_version_does_not_know_are_refused():
    """What a newer CEL could put into a tree: an unknown expression, an unknown literal, a macro with two variables."""
    for expr in (b"\x7a\x00", b"\x1a\x02\x50\x01", b"\x4a\x03\x42\x01v", b"\x3a\x02\x12\x00"):
        checked = b"\x22" + bytes([len(expr)]) + expr
        url = b"type.googleapis.com/cel.expr.CheckedExpr"
        tree = decode(b"\x0a" + bytes([len(url)]) + url + b"\x12" + bytes([len(checked)]) + checked)
        with pytest.raises(Refused, match="refused"):
            uses(tree)
