"""Params: declared once, moved only the stricter way."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calaudit.contract import Contract
from calaudit.contract.params import Param, Stricter, Value, is_as_strict, parse_params, parse_profile
from calaudit.errors import ContractError

NUMBERS = st.one_of(st.integers(-(10**6), 10**6), st.floats(allow_nan=False, allow_infinity=False))
LISTS = st.lists(st.integers(0, 5), unique=True).map(tuple)


def param(stricter: str, value: Value = 1) -> Param:
    return Param(name="p", title="A param", value=value, stricter=Stricter(stricter))


def declared(**params: Any) -> dict[str, Any]:
    return {"params": {name: {"title": "A param", **raw} for name, raw in params.items()}}


@given(NUMBERS, NUMBERS)
def test_numbers(old: float, new: float) -> None:
    assert is_as_strict(param("lower"), old, new) == (new <= old)
    assert is_as_strict(param("higher"), old, new) == (new >= old)


@given(LISTS, LISTS)
def test_lists(old: tuple[int, ...], new: tuple[int, ...]) -> None:
    assert is_as_strict(param("subset", ()), old, new) == (set(new) <= set(old))
    assert is_as_strict(param("superset", ()), old, new) == (set(new) >= set(old))


@pytest.mark.parametrize(
    ("stricter", "old", "new", "expected"),
    [
        ("true", False, True, True),
        ("true", True, False, False),
        ("true", True, True, True),
        ("true", False, False, True),
        ("false", True, False, True),
        ("false", False, True, False),
        ("false", False, False, True),
        ("false", True, True, True),
    ],
)
def test_switches(stricter: str, old: object, new: object, *, expected: bool) -> None:
    assert is_as_strict(param(stricter, value=True), old, new) is expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("stricter", "old", "new"),
    [
        ("lower", 3, math.nan),
        ("higher", 3, math.nan),
        ("lower", 3, -math.inf),
        ("lower", 3, True),
        ("higher", 0, True),
        ("lower", 3, "2"),
        ("lower", 3, None),
        ("subset", (1, 2), 1),
        ("superset", (1,), [1, 2]),
        ("true", True, 1),
        ("false", False, 0),
    ],
)
def test_what_does_not_fit_is_never_as_strict(stricter: str, old: object, new: object) -> None:
    assert is_as_strict(param(stricter), old, new) is False  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "raw",
    [
        {"value": True, "stricter": "lower"},
        {"value": [1], "stricter": "higher"},
        {"value": 1, "stricter": "subset"},
        {"value": 1, "stricter": "true"},
        {"value": math.inf, "stricter": "lower"},
        {"value": math.nan, "stricter": "lower"},
        {"value": [1.0, math.nan], "stricter": "subset"},
        {"value": [True], "stricter": "subset"},
    ],
)
def test_a_default_fits_its_direction(raw: dict[str, object]) -> None:
    with pytest.raises(ContractError, match=r"^policies/params.yaml: p is .* needs a"):
        parse_params(declared(p=raw))


def test_values_are_frozen() -> None:
    params = parse_params(declared(p={"value": [1, 2], "stricter": "subset"}))
    assert params["p"].value == (1, 2)
    with pytest.raises(TypeError):
        params["q"] = params["p"]  # type: ignore[index]


PARAMS = parse_params(
    declared(p={"value": 3, "stricter": "lower", "unit": "tokens"}, q={"value": True, "stricter": "true"})
)


def profile(name: str = "here", **params: object) -> dict[str, Any]:
    return {"id": name, "title": "A profile", "releasable": True, "params": params}


def test_a_profile_has_a_value_for_every_param() -> None:
    parsed = parse_profile(profile(p=5), PARAMS, "policies/profiles/here.yaml")
    assert dict(parsed.params) == {"p": 5, "q": True}


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (profile(r=1), "policies/profiles/here.yaml: there is no param r; policies/params.yaml declares them."),
        (profile(pp=1), "Did you mean p?"),
        (profile(p="many"), "policies/profiles/here.yaml: p is 'many', but"),
        (profile(q=1), "q is 1, but"),
        (profile(name="there"), "policies/profiles/here.yaml: its id is there; the file is called <id>.yaml."),
    ],
)
def test_a_faulty_profile(broken: dict[str, Any], message: str) -> None:
    with pytest.raises(ContractError) as caught:
        parse_profile(broken, PARAMS, "policies/profiles/here.yaml")
    assert message in str(caught.value)


def test_the_shipped_profiles(contract: Contract) -> None:
    assert {name: p.releasable for name, p in contract.profiles.items()} == {
        "dense-single-chip": True,
        "example": False,
        "moe-dual-chip": True,
    }
    for found in contract.profiles.values():
        assert set(found.params) == set(contract.params)
    relaxed = contract.profiles["example"].params
    assert {n for n, p in contract.params.items() if not is_as_strict(p, p.value, relaxed[n])} <= {
        "parameters_min",
        "container_required",
    }, "the example profile relaxes size, container and soak hours only"
