"""From a source to trust: the order of the steps, and what is remembered of a fault."""

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from calaudit.contract import Contract
from calaudit.model import Kind
from calaudit.trust import Seen, Trust, TrustSource, establish
from calaudit.trust.soundness import name_key
from tests.trust import authority as kit
from tests.trust.authority import NOW, Authority
from tests.trust.forgeries.roots import FIRST, NEW, OLD, root


@pytest.fixture
def schemas(contract: Contract) -> object:
    return contract.schemas


def trusted(contract: Contract, source: TrustSource | None, now: datetime = NOW) -> Trust:
    return establish(source, now, contract.schemas)


def rule_of(trust: Trust) -> str:
    assert trust.registry is None
    assert len(trust.faults) == 1
    return trust.faults[0].rule


def test_nothing_is_pinned(contract: Contract) -> None:
    trust = trusted(contract, None)
    assert (rule_of(trust), trust.faults[0].kind) == ("trust-root-missing", Kind.OPEN)


def test_everything_holds(contract: Contract) -> None:
    authority = Authority()
    trust = trusted(contract, authority.source(seen=authority.seen()))
    assert trust.faults == ()
    assert trust.rollback_checked
    assert trust.registry is not None
    assert trust.registry.digest == hashlib.sha256(kit.to_bytes(authority.registry())).hexdigest()
    assert trust.registry.role("release") is not None
    assert trust.registry.role("release").threshold == 2  # type: ignore[union-attr]
    assert trust.registry.role("nobody") is None
    assert len(trust.registry.roles) == 14


def test_without_memory_a_rollback_is_not_noticed_and_that_is_said(contract: Contract) -> None:
    assert not trusted(contract, Authority().source()).rollback_checked


def test_a_registry_without_a_root_is_not_looked_at(contract: Contract) -> None:
    source = replace(Authority().source(), roots=())
    assert rule_of(trusted(contract, source)) == "root-invalid"


def test_a_missing_registry_is_open(contract: Contract) -> None:
    trust = trusted(contract, replace(Authority().source(), registry=None))
    assert (rule_of(trust), trust.faults[0].kind, trust.root_version) == ("registry-missing", Kind.OPEN, 1)


@pytest.mark.parametrize(
    ("before", "alive"), [(timedelta(seconds=1), True), (timedelta(0), False), (timedelta(seconds=-1), False)]
)
def test_what_expires_is_over_at_that_second(contract: Contract, before: timedelta, alive: bool) -> None:
    end = datetime(2027, 1, 1, tzinfo=UTC)
    registry = trusted(contract, Authority(expires=end).source(), end - before)
    chain = trusted(contract, Authority(root_expires=end).source(), end - before)
    assert (registry.registry is not None, chain.registry is not None) == (alive, alive)
    if not alive:
        assert (rule_of(registry), rule_of(chain)) == ("registry-expired", "root-invalid")


def test_the_steps_are_taken_in_their_order(contract: Contract) -> None:
    """Everything is wrong at once: each repair shows the next fault."""
    authority = Authority(version=1, expires=NOW, signed_by=["root-1"], root_seeds=[*OLD])
    authority.delegations["release"] = (["release", "release-2"], 1)
    seen = Seen(root_version=1, registry_version=2, registry_sha256="00" * 32)
    source = authority.source(roots=(FIRST,), registry=b"{}", seen=seen)
    faults = [rule_of(trusted(contract, source))]
    source = authority.source(roots=(FIRST,), seen=seen)
    faults.append(rule_of(trusted(contract, source)))
    authority.signed_by = ["root-1", "root-2"]
    source = authority.source(roots=(FIRST,), seen=seen)
    faults.append(rule_of(trusted(contract, source)))
    source = replace(source, seen=None)
    faults.append(rule_of(trusted(contract, source)))
    authority.expires = kit.EXPIRES
    source = authority.source(roots=(FIRST,))
    faults.append(rule_of(trusted(contract, source)))
    assert faults == [
        "registry-malformed",
        "registry-unsigned",
        "registry-rollback",
        "registry-expired",
        "registry-unsound",
    ]


def test_a_chain_of_roots_may_begin_anywhere(contract: Contract) -> None:
    """Whoever pinned the second root does not need the first one."""
    second, third = root(2, NEW, [*OLD, *NEW]), root(3, NEW, NEW)
    authority = Authority(root_seeds=list(NEW), signed_by=list(NEW[:2]))
    for roots in ((FIRST, second), (second,), (second, third), (FIRST, second, third)):
        trust = trusted(contract, authority.source(roots=roots))
        assert (trust.faults, trust.root_version) == ((), len(roots) + int(roots[0][0][0]) - 1)


def test_each_fault_of_a_registry_is_told(contract: Contract) -> None:
    authority = Authority()
    authority.delegations["release"] = (["release", "release-2"], 1)
    authority.owners[0]["keyids"] = ["ab" * 32]
    trust = trusted(contract, authority.source())
    assert trust.registry is None
    assert [fault.rule for fault in trust.faults] == ["registry-unsound"] * len(trust.faults)
    assert len(trust.faults) >= 2


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("Model team", "MODEL  TEAM", True),
        ("Model team", "Model\u00a0team", True),
        ("Stra\u00dfe", "STRASSE", True),
        ("\ufb01x", "fix", True),
        ("Jos\u00e9", "Jose\u0301", True),
        ("Model team", "Model team 2", False),
    ],
)
def test_two_spellings_of_one_name_are_one_name(one: str, other: str, equal: bool) -> None:
    assert (name_key(one) == name_key(other)) == equal


def test_metadata_that_is_too_long_is_not_parsed(contract: Contract) -> None:
    source = replace(Authority().source(), registry=b" " * (5 << 20))
    assert "at most" in trusted(contract, source).faults[0].message


def test_an_invisible_sign_in_a_name_makes_no_second_owner(contract: Contract) -> None:
    authority = Authority()
    authority.add("export", ["export", "export-2"], 2)
    authority.owners = [o for o in authority.owners if o["role"] != "export"] + [
        {**authority.owners[-2], "name": "Export team"},
        {**authority.owners[-1], "name": "Export\u200bteam"},
    ]
    trust = trusted(contract, authority.source())
    assert "more than once" in json.dumps([fault.message for fault in trust.faults])
