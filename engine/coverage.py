"""Coverage of a rule pack by what its tests went through: which rules concluded, and which literals made a difference.

Not by line: for each body literal it asks whether in some situation all others held and this one was false.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from obviate.engine.account import Situation
from obviate.engine.backend import KERNEL
from obviate.engine.remainder import is_idle, needs, remainder, shared
from obviate.kb import Pack, asp
from obviate.kb.errors import Span
from obviate.kb.pack import rule_names
from obviate.kb.program import Rule
from obviate.kb.terms import Atom

__all__ = ["ClauseCoverage", "Coverage", "LiteralCoverage", "clause_label", "measure"]

_OUTPUTS = (("_fired", 1, True), ("_rest", 3, True), ("_held", 3, True))
_Point = tuple[int, int]  # a clause, and one of its literals by position; 0 for the body as a whole


@dataclass(frozen=True, slots=True)
class LiteralCoverage:
    """A body literal, and whether it was false while all others held; None where it cannot be."""

    position: int
    text: str
    false: bool | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class ClauseCoverage:
    """A clause with a body: the rule or helper that it belongs to, and whether its whole body held once."""

    rule: str
    text: str
    fired: bool
    literals: tuple[LiteralCoverage, ...]
    span: Span = field(compare=False)

    @property
    def points(self) -> int:
        """What there is to cover: the body, and each literal that can be false."""
        return 1 + sum(literal.false is not None for literal in self.literals)

    @property
    def covered(self) -> int:
        """How much of it was."""
        return self.fired + sum(literal.false is True for literal in self.literals)


@dataclass(frozen=True, slots=True)
class Coverage:
    """The coverage of each clause, in the order of the pack."""

    clauses: tuple[ClauseCoverage, ...]

    @property
    def points(self) -> int:
        return sum(clause.points for clause in self.clauses)

    @property
    def covered(self) -> int:
        return sum(clause.covered for clause in self.clauses)

    @property
    def percent(self) -> float:
        """The covered share of the points; 100 if there are none."""
        return 100 * self.covered / self.points if self.points else 100.0

    def gaps(self) -> Iterator[tuple[Span, str]]:
        """What was not covered, in words, each with its place."""
        for clause in self.clauses:
            if not clause.fired:
                yield clause.span, f"{clause.rule}: the body of this clause never held"
            for literal in clause.literals:
                if literal.false is False:
                    told = f"literal {literal.position}, {literal.text}, was never false while the others held"
                    yield literal.span, f"{clause.rule}: {told}"


def measure(pack: Pack, situations: Iterable[Situation]) -> Coverage:
    """The coverage of a pack by situations of its tests (in variants of the pack, where these override constants)."""
    clauses = list({rule.span: rule for rule in pack.program.rules if rule.body and rule.head}.values())
    questions = {point: query for i, rule in enumerate(clauses) for point, query in _questions(i, rule)}
    never = {(i, k) for i, rule in enumerate(clauses) for k in range(1, len(rule.body) + 1)} - questions.keys()
    left = dict(questions)
    for situation in situations:
        if not left:
            break
        for point in _covered(situation, left.values()):
            left.pop(point, None)
    return Coverage(
        tuple(
            ClauseCoverage(
                rule=clause_label(rule),
                text=rule.text,
                fired=(i, 0) not in left,
                literals=tuple(
                    LiteralCoverage(k, lit.text, None if (i, k) in never else (i, k) not in left, lit.span)
                    for k, lit in enumerate(rule.body, 1)
                ),
                span=rule.span,
            )
            for i, rule in enumerate(clauses)
        )
    )


def clause_label(rule: Rule) -> str:
    """The safety rules that a clause belongs to, or the helper that it defines."""
    assert rule.head is not None
    sign = "" if rule.head.positive else "-"
    is_member = rule.head.name in ("hazard", "threatens", "resolved", "deadline")
    return ", ".join(rule_names(rule)) if is_member else f"{sign}{rule.head.name}/{len(rule.head.args)}"


def _questions(index: int, rule: Rule) -> Iterator[tuple[_Point, str]]:
    """What to ask of each situation: the body, and the body without each of its literals."""
    assert rule.head is not None
    yield (index, 0), f"_fired({index}) :- {'; '.join(literal.text for literal in rule.body)}."
    common = shared(rule)
    for k, literal in enumerate(rule.body, 1):
        body, bound = remainder(rule, {k - 1}, needs(literal, common) & rule.head.variables)
        own = needs(literal, common)
        computes = literal.atom is None and not own <= bound  # it gives a variable its value, which is no condition
        if computes or is_idle(rule, literal):
            continue
        where = f"{index},{k},({''.join(f'{name},' for name in sorted(own & bound))})"
        rest = f"_rest({where}){' :- ' if body else ''}{'; '.join(body)}."
        yield (index, k), f"{rest}\n_held({where}) :- _rest({where}); {literal.text}."


def _covered(situation: Situation, queries: Iterable[str]) -> set[_Point]:
    """The points that a situation covers."""
    program = [situation.pack.program.text, KERNEL, *queries]
    found = asp.evaluate(program, situation.facts(), _OUTPUTS, situation.pack.consts)
    held = {Atom("_rest", atom.args) for atom in found if atom.name == "_held"}
    false = {atom.args[:2] for atom in found if atom.name == "_rest" and atom not in held}
    fired = {(*atom.args, 0) for atom in found if atom.name == "_fired"}
    return {(int(str(i)), int(str(k))) for i, k in false | fired}
