"""What a check sees of a port, and the only way it speaks.

A view belongs to one rule on one gate. It counts what the rule examined: a rule that examined nothing stays open.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from calaudit.contract import Value
from calaudit.evidence import Entry, Evidence
from calaudit.facts import F, Facts
from calaudit.model import Gate, Kind, Location, Port, Result, Rule, Verdict
from calaudit.trust import Signed

T = TypeVar("T")


class View:
    """One rule's sight of one gate."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a rule may see
        self,
        rule: Rule,
        gate: str,
        facts: Facts,
        port: Port,
        params: Mapping[str, Value],
        signed: Signed | None = None,
    ) -> None:
        """``gate`` is a gate id or ``port``; ``params`` are the profile's values; only a trust rule sees ``signed``."""
        self.rule = rule
        self.gate = gate
        self.facts = facts
        self.port = port
        self.params = params
        self.examined = 0
        self._signed = signed

    @property
    def signed(self) -> Signed:
        """What signatures say of the port; a technical rule asks in vain, since its verdict is what they sign."""
        if self._signed is None:
            raise TypeError(f"{self.rule.key} is a technical rule and asks for signatures")
        return self._signed

    @property
    def evidence(self) -> Evidence:
        """What was read from the port."""
        return self.facts.evidence

    @property
    def spec(self) -> Gate | None:
        """The gate's declaration; None for the port as a whole."""
        return self.facts.contract.gates.gates.get(self.gate)

    def fact(self, kind: type[F]) -> F:
        """A fact; where the evidence does not support it the rule stays open."""
        return self.facts.get(kind)

    def number(self, param: str) -> float:
        """A numeric param of the profile."""
        value = self.params[param]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(f"param {param} is {value!r}, not a number")
        return value

    def words(self, param: str) -> tuple[str, ...]:
        """A param of the profile that is a list of words."""
        value = self.params[param]
        if not isinstance(value, tuple) or not all(isinstance(word, str) for word in value):
            raise TypeError(f"param {param} is {value!r}, not a list of words")
        return tuple(map(str, value))

    def each(self, items: Iterable[T]) -> Iterator[T]:
        """Iterate, counting every item as examined."""
        for item in items:
            self.examined += 1
            yield item

    def saw(self, count: int = 1) -> None:
        """Count items that were examined otherwise than through :meth:`each`."""
        self.examined += count

    def entries(self) -> tuple[Entry, ...]:
        """The regular files that belong to this gate."""
        return self.evidence.of_gate(self.gate)

    def problems(self) -> Iterator[Result]:
        """What the evidence station met on this gate in the name of this rule."""
        for problem in self.evidence.problems_of(self.rule.id, self.gate):
            yield self._result(
                problem.kind, problem.message, problem.location, expected=problem.expected, actual=problem.actual
            )

    def fail(
        self,
        message: str,
        *,
        at: Location | str | None = None,
        expected: object = None,
        actual: object = None,
        blocks: Verdict | None = None,
    ) -> Result:
        """The port is wrong here."""
        return self._result(Kind.FAIL, message, at, expected=expected, actual=actual, blocks=blocks)

    def open(
        self,
        message: str,
        *,
        at: Location | str | None = None,
        blocks: Verdict | None = None,
        blocked_gates: tuple[str, ...] = (),
    ) -> Result:
        """It cannot be said whether the port is right here."""
        return self._result(Kind.OPEN, message, at, blocks=blocks, blocked_gates=blocked_gates)

    def not_applicable(self, message: str) -> Result:
        """The rule has no matter in this port, for the reason given."""
        return self._result(Kind.NOT_APPLICABLE, message, None)

    def _result(  # noqa: PLR0913 - every member of a result, by name
        self,
        kind: Kind,
        message: str,
        at: Location | str | None,
        *,
        expected: object = None,
        actual: object = None,
        blocks: Verdict | None = None,
        blocked_gates: tuple[str, ...] = (),
    ) -> Result:
        return Result(
            rule=self.rule.id,
            gate=self.gate,
            kind=kind,
            level=self.rule.level,
            message=message,
            location=self._located(at),
            expected=None if expected is None else str(expected),
            actual=None if actual is None else str(actual),
            blocks=blocks,
            blocked_gates=blocked_gates,
        )

    def _located(self, at: Location | str | None) -> Location | None:
        if at is None:
            return None
        location = Location(path=at) if isinstance(at, str) else at
        if location.line is None and location.pointer is not None:
            return self.evidence.locate(location.path, location.pointer)
        return location
