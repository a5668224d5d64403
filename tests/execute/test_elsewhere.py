"""A step that is built elsewhere: awaited, then taken for what it is, and built here only where that is asked for."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from calaudit.contract import Contract
from calaudit.errors import UsageError
from calaudit.execute.batch import Batch
from calaudit.execute.means import Wish
from calaudit.execute.nouns import StepAwaited
from calaudit.execute.vendor.attest import prepare_attestation
from calaudit.execute.vendor.claim import Claim
from tests.execute.small import write
from tests.execute.test_batch import House, Said

ELSEWHERE = {"kind": "elsewhere", "network": "none"}


class Farm(House):
    """A house whose first step is built elsewhere; the step that reads it is not."""

    def __init__(self, root: Path, contract: Contract) -> None:
        super().__init__(root)
        self.contract = contract
        self.declare("make", executor=ELSEWHERE)

    def declare(self, step: str, **members: object) -> None:
        path = self.port / "port.yaml"
        document = json.loads(path.read_text())
        document["steps"][step].update(members)
        path.write_text(json.dumps(document))

    def arrive(self, text: str = "input\n") -> None:
        """What was built elsewhere comes, attested."""
        write(self.port, {"out/made.txt": text})
        now = datetime.now(UTC).replace(microsecond=0)
        claim = Claim(
            step="make",
            command=("sh", "tools/make.sh"),
            invocation=None,
            started=now - timedelta(seconds=9),
            finished=now,
        )
        found = prepare_attestation(
            self.port, claim, self.contract.schemas, materials=None, products=None, now=datetime.now(UTC)
        )
        for path in found.gone():
            (self.port / path).unlink()
        for path, data in found.sign(self.keys[0]).items():
            (self.port / path).parent.mkdir(exist_ok=True)
            (self.port / path).write_bytes(data)

    def told(self, **more: object) -> tuple[list[str], str]:
        """What was told of a run, and how it failed."""
        said = Said()
        with pytest.raises(StepAwaited) as failed:
            self.batch(**more).run(self.keys, said)
        return said.lines, str(failed.value)


@pytest.fixture
def farm(tmp_path: Path, contract: Contract) -> Farm:
    return Farm(tmp_path / "farm", contract)


def test_it_is_awaited_and_so_is_what_reads_it(farm: Farm) -> None:
    assert farm.listing()["make"] == "awaited     It is built elsewhere, and nobody attests it yet."
    lines, failed = farm.told()
    assert lines == [
        "make: awaited. It is built elsewhere, and nobody attests it yet.",
        "join: waits for make",
    ]
    assert failed.startswith("make, join wait for a build elsewhere. Have make attested where it is built")
    assert not (farm.port / "attestations").exists()


def test_what_does_not_read_it_runs_all_the_same(farm: Farm) -> None:
    farm.declare("join", run=["sh", "-c", "cat more.txt > joined/both.txt"], tools=[], materials=["more.txt"])
    lines, failed = farm.told()
    assert sorted(line.split(",")[0].split(" in ")[0] for line in lines) == [
        "join: wrote 1 file",
        "make: awaited. It is built elsewhere",
    ]
    assert failed.startswith("make waits for a build elsewhere.")


def test_what_came_is_up_to_date_whatever_its_builder_was(farm: Farm) -> None:
    farm.arrive()
    assert farm.listing()["make"] == "up to date"
    assert farm.run() == ["join"]
    assert farm.run(force=True) == ["join"], "force is no means to build what is built elsewhere"
    assert farm.run(kind="local") == [], "nor is an executor for all"
    write(farm.port, {"in.txt": "changed\n"})
    assert farm.listing()["make"].startswith("stale       in.txt changed since the run.")
    lines, _ = farm.told()
    assert lines == ["make: stale. in.txt changed since the run.", "join: waits for make"]


def test_a_link_is_enough(farm: Farm) -> None:
    """As `in-toto-run` writes it, which knows of no provenance."""
    farm.arrive()
    for path in (farm.port / "attestations").glob("*.dsse.json"):
        path.unlink()
    assert farm.listing()["make"] == "up to date"
    assert farm.listing(trust=None)["make"] == "unknown     No trust root says whose key signed its link."
    write(farm.port, {"out/made.txt": "by hand\n"})
    assert "out/made.txt" in farm.listing()["make"]
    assert farm.listing()["make"].startswith("stale       attestations/make.")


def test_it_is_built_here_where_that_is_said(farm: Farm) -> None:
    with pytest.raises(StepAwaited, match="make waits for a build elsewhere"):
        farm.run(step="make")
    assert farm.run(step="make", kind="local") == ["make"]
    assert farm.listing()["make"] == "up to date"
    assert farm.run() == ["join"]


def test_a_rebuild_wants_to_know_with_what(farm: Farm) -> None:
    farm.arrive()
    with pytest.raises(UsageError, match="make is built elsewhere; --executor says what would build it here"):
        farm.batch(step="make").prepared(farm.keys, Said())
    assert len(farm.batch(step="make", kind="local").prepared(farm.keys, Said())) == 1


def test_a_step_that_is_run_here_cannot_be_attested_as_built_elsewhere(farm: Farm) -> None:
    farm.declare("make", executor={"kind": "bwrap", "network": "none"})
    with pytest.raises(UsageError, match=r"make runs with bwrap, so that a build elsewhere would be refused"):
        farm.arrive()


def test_less_than_is_declared_is_told(farm: Farm) -> None:
    farm.declare("make", executor={"kind": "bwrap", "network": "none"})
    said = Said()
    batch = Batch(Wish(port=farm.port, trust=None, step="make", kind="local"))
    batch.run([], said)
    assert said.lines[0].startswith("make: port.yaml says bwrap; local shuts it in less, so verification will refuse")
