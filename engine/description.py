"""A rule of a pack in words: what is dangerous, what makes it so, what resolves it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from obviate.engine.slice import keys_of, object_variables
from obviate.engine.wording import any_of, kind_words, literal_words, place, reads_helper
from obviate.kb import Pack
from obviate.kb.errors import PackError, nearest
from obviate.kb.pack import SafetyRule
from obviate.kb.program import Pattern, Rule

__all__ = ["Clause", "Description", "describe", "described"]


@dataclass(frozen=True, slots=True)
class Clause:
    """One way in which something can be so: all `conditions` hold. `head` is what then is, as written; `where` is
    its place as ``file:line``.
    """

    head: str
    conditions: tuple[str, ...]
    where: str


@dataclass(frozen=True, slots=True)
class Description:
    """A rule in words. Each of `hazard`, `threat` and `target` holds if one of its clauses does; no target means that
    the hazard no longer holds. `helpers` are the clauses of the predicates that these read.
    """

    rule: SafetyRule
    where: str
    variables: tuple[tuple[str, str], ...]
    hazard: tuple[Clause, ...]
    threat: tuple[Clause, ...]
    target: tuple[Clause, ...]
    helpers: tuple[Clause, ...]
    deadline: str
    severity: str

    def to_json(self) -> dict[str, Any]:
        """The description as JSON data."""

        def told(clauses: tuple[Clause, ...]) -> list[dict[str, Any]]:
            return [{"head": c.head, "conditions": list(c.conditions), "where": c.where} for c in clauses]

        return {
            "rule": self.rule.name,
            "mode": self.rule.mode,
            "principle": self.rule.principle,
            "where": self.where,
            "variables": dict(self.variables),
            "hazard": told(self.hazard),
            "threat": told(self.threat),
            "target": told(self.target),
            "helpers": told(self.helpers),
            "deadline": self.deadline,
            "severity": self.severity,
        }


def described(rule: str, packs: Iterable[Pack]) -> Description | None:
    """The rule that an engine of these packs calls `rule` in words; None if they have no such rule."""
    for pack in packs:
        name = rule.removeprefix(f"{pack.name}.")
        if name in pack.rules:
            return describe(pack, name)
    return None


def describe(pack: Pack, name: str) -> Description:
    """The rule called `name` in words. Raises `PackError` (``unknown-rule``)."""
    rule = pack.rules.get(name)
    if rule is None:
        raise PackError("unknown-rule", f"the pack {pack.name} has no rule {name!r}", help=nearest(name, pack.rules))
    members = {m: _rules(pack, m, name) for m in ("hazard", "threatens", "resolved")}
    mine = [each for rules in members.values() for each in rules]
    return Description(
        rule=rule,
        where=place(rule.span),
        variables=tuple(_variables(mine, pack)),
        hazard=_clauses(members["hazard"], pack),
        threat=_clauses(members["threatens"], pack),
        target=_clauses(members["resolved"], pack),
        helpers=_clauses(list(_helpers(mine, pack)), pack),
        deadline=_deadline(rule),
        severity="advisory: it only reports" if rule.advisory else "counts as a violation when it fails",
    )


def _rules(pack: Pack, member: str, name: str) -> list[Rule]:
    found = [rule for rule in pack.program.rules if (member, name) in keys_of(rule)]
    return list({rule.span: rule for rule in found}.values())


def _clauses(rules: list[Rule], pack: Pack) -> tuple[Clause, ...]:
    return tuple(Clause(_head(rule), tuple(_conditions(rule, pack)), place(rule.span)) for rule in rules)


def _head(rule: Rule) -> str:
    return re.split(r"\s*:-|\.$", rule.text)[0]


def _conditions(rule: Rule, pack: Pack) -> Iterator[str]:
    for literal in rule.body:
        target = rule.head is not None and rule.head.name == "resolved"
        if not (target and literal.atom is not None and literal.atom.name == "pending"):
            yield literal_words(literal, pack)
    if not rule.body:
        yield "always"


def _helpers(rules: list[Rule], pack: Pack) -> Iterator[Rule]:
    """The rules of the helper predicates that these read, as they come."""
    seen: set[tuple[str, int, bool]] = set()
    for rule in rules:
        for literal in rule.body:
            for pattern, _ in literal.inner:
                if pattern.signature not in seen and reads_helper(pattern, pack):
                    seen.add(pattern.signature)
                    yield from _concluding(pattern, pack)


def _concluding(pattern: Pattern, pack: Pack) -> Iterator[Rule]:
    rules = (rule for rule in pack.program.rules if rule.head and rule.head.signature == pattern.signature)
    yield from {rule.span: rule for rule in rules}.values()


def _variables(rules: list[Rule], pack: Pack) -> Iterator[tuple[str, str]]:
    """What each object is that the rules speak of, first those of the binding: its tags, or else simply an object."""
    bound = [name for rule in rules for name in _binding(rule)]
    for name in dict.fromkeys([*bound, *(name for rule in rules for name in object_variables(rule))]):
        speaking = [rule for rule in rules if name in _named(rule)]
        speaking = [rule for rule in speaking if rule.head and rule.head.name == "hazard"] or speaking
        kinds = [" and ".join(_kinds(rule, name, pack)) for rule in speaking]
        yield name, any_of(list(dict.fromkeys(kinds))) if kinds and all(kinds) else "an object"


def _named(rule: Rule) -> frozenset[str]:
    return (rule.head.variables if rule.head else frozenset()).union(*(literal.variables for literal in rule.body))


def _kinds(rule: Rule, name: str, pack: Pack) -> Iterator[str]:
    """What the tags say that a rule asks of a variable."""
    for literal in rule.body:
        atom = literal.atom
        if atom is not None and not literal.negations and atom.name == "tag" and atom.args[0].text == name:
            tags = [part.name for part in atom.args[1].alternatives() if part.kind == "constant"]
            if tags:
                yield any_of([kind_words(tag, pack) for tag in tags])


def _binding(rule: Rule) -> list[str]:
    assert rule.head is not None
    term = rule.head.args[1]
    parts = term.parts if term.kind == "tuple" else (term,)
    return [part.text for part in parts if part.kind == "variable"]


def _deadline(rule: SafetyRule) -> str:
    if isinstance(rule.deadline, int):
        return f"within {rule.deadline} action{'s' * (rule.deadline != 1)} after the trigger"
    return {
        "before_intent": "before the intended action is executed",
        "before_done": "before the episode ends",
    }[rule.deadline]
