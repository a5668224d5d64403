"""Policies: rules as data (``policies/g<NN>-<topic>.yaml``, overlays), their CEL compiled when the contract loads.

What can be known without facts is judged here: syntax, types, names, params. Whether ``facts.…`` paths exist is judged
by :mod:`calaudit.checks.catalogue`, which knows the facts.
"""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from calaudit.contract.cel import CelError, Expression, compile_bool, compile_path, compile_text
from calaudit.contract.cel_paths import Use
from calaudit.contract.params import Param
from calaudit.contract.yaml_place import Source
from calaudit.errors import ContractError
from calaudit.model import Kind, Level, Location, Rule

EXPRESSIONS = ("each", "when", "require", "message")
"""The members of a rule that hold CEL, in the order in which they are judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRule:
    """One compiled rule of a policy.

    It passes where ``require`` is true, does not apply where ``when`` is false, and is judged for every item of the
    list ``each`` where that is given. ``at`` is the place its findings point to. Before ``effective_on`` its findings
    are warnings. ``shipped`` says that it came with calaudit and not from an overlay.
    """

    rule: Rule
    require: Expression
    message: Expression
    when: Expression | None = None
    each: Expression | None = None
    at: Location | None = None
    effective_on: date | None = None
    shipped: bool = True
    source: Source = field(default_factory=lambda: Source("policy"))
    index: int = 0

    def expressions(self) -> Mapping[str, Expression]:
        """The rule's expressions by the member that holds them."""
        found = {name: getattr(self, name) for name in EXPRESSIONS}
        return {name: expression for name, expression in found.items() if expression is not None}

    def place(self, member: str = "id", at: int = 0) -> str:
        """``policies/<file>:line:column`` of a character of one of the rule's members."""
        return self.source.place("rules", self.index, member, at=at)

    def resolved(self, use: Use) -> Use:
        """A use with ``item`` replaced by what it stands for: an item of the list ``each`` names."""
        if use.path[0] != "item" or self.each is None:
            return use
        return Use((*self.each.uses[0].path, "*", *use.path[1:]), use.at, use.ranged)

    @property
    def params(self) -> tuple[str, ...]:
        """The params the rule judges by, sorted."""
        uses = (use for expression in self.expressions().values() for use in expression.uses)
        return tuple(sorted({use.path[1] for use in uses if use.path[0] == "params"}))


def parse_policy(
    document: Mapping[str, Any], *, where: str, params: Mapping[str, Param], path: Path | None = None
) -> tuple[PolicyRule, ...]:
    """Turn a schema-valid policy document into compiled rules.

    ``where`` names the file in messages; ``path`` is the file itself, read again for the place of an error.

    Raises:
        ContractError: an expression does not compile or is refused, a param is not declared, a rule is there twice.
    """
    source = Source(where, path)
    rules: dict[str, PolicyRule] = {}
    for index, raw in enumerate(document["rules"]):
        parsed = parse_rule(document["gate"], raw, source, index, params)
        if raw["id"] in rules:
            raise ContractError(f"{parsed.place()}: the rule {raw['id']} stands here a second time; rename one.")
        rules[raw["id"]] = parsed
    return tuple(rules.values())


def parse_rule(
    gate: str, raw: Mapping[str, Any], source: Source, index: int, params: Mapping[str, Param]
) -> PolicyRule:
    """Compile one rule, the ``index``-th of its policy.

    Raises:
        ContractError: as :func:`parse_policy`.
    """
    item = "each" in raw

    def compiled(member: str, compiler: Callable[..., Expression], **options: bool) -> Expression | None:
        if member not in raw:
            return None
        try:
            return compiler(raw[member], **options)
        except CelError as error:
            place = source.place("rules", index, member, at=error.at)
            raise ContractError(f"{place}: {raw['id']}: {member}: {error.message}.") from error

    each = compiled("each", compile_path)
    when = compiled("when", compile_bool)
    require = compiled("require", compile_bool, item=item)
    message = compiled("message", compile_text, item=item)
    assert require is not None  # noqa: S101 - the schema demands it
    assert message is not None  # noqa: S101 - the schema demands it
    roots = {use.path[0] for use in require.uses}
    if not roots & ({"item"} if item else {"facts"}):
        raise ContractError(
            f"{source.place('rules', index, 'require')}: {raw['id']}: require reads no "
            f"{'item' if item else 'fact'}, so it would say the same of every port."
        )
    rule = PolicyRule(
        rule=_metadata(gate, raw, source, index),
        require=require,
        message=message,
        when=when,
        each=each,
        at=_location(raw.get("at")),
        effective_on=date.fromisoformat(raw["effective_on"]) if "effective_on" in raw else None,
        source=source,
        index=index,
    )
    _check_params(rule, params)
    return rule


def _metadata(gate: str, raw: Mapping[str, Any], source: Source, index: int) -> Rule:
    kinds = {Kind.PASS, Kind.FAIL, Kind.OPEN} | ({Kind.NOT_APPLICABLE} if "when" in raw else set())
    if "kinds" in raw and {Kind(kind) for kind in raw["kinds"]} != kinds:
        raise ContractError(
            f"{source.place('rules', index, 'kinds')}: {raw['id']}: the kinds are {', '.join(sorted(kinds))} "
            f"({'with' if 'when' in raw else 'without'} when); leave kinds out."
        )
    return Rule(
        id=raw["id"],
        gate=gate,
        level=Level(raw["level"]),
        title=_line(raw["title"]).removesuffix("."),
        why=_line(raw["why"]),
        fix=_line(raw["fix"]),
        kinds=frozenset(kinds),
        tier="policy",
        since=raw.get("since", "0.1"),
        trust=raw.get("trust", False),
        unwaivable=raw.get("unwaivable", False),
        back_to=raw.get("back_to"),
    )


def _check_params(rule: PolicyRule, params: Mapping[str, Param]) -> None:
    for member, expression in rule.expressions().items():
        for use in expression.uses:
            if use.path[0] == "params" and use.path[1] not in params:
                near = difflib.get_close_matches(use.path[1], params, n=1)
                raise ContractError(
                    f"{rule.place(member, use.at)}: {rule.rule.id}: policies/params.yaml declares no param "
                    f"{use.path[1]}{f'; {near[0]} is near' if near else ''}."
                )


def _location(text: str | None) -> Location | None:
    if text is None:
        return None
    path, _, pointer = text.partition("#")
    return Location(path=path, pointer=pointer or None)


def _line(text: str) -> str:
    return " ".join(text.split())
