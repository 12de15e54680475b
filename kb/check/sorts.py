"""What a variable can stand for: an object, a number, or a name of the vocabulary.

The places of beliefs and actions are known; those of helpers follow from the rules that conclude them.
"""

from __future__ import annotations

from collections.abc import Iterator

from obviate.kb.check.literals import no_object
from obviate.kb.errors import PackError
from obviate.kb.predicates import BELIEFS, EVENTS, MEMBERS, NAMED
from obviate.kb.program import Literal, Pattern, Program, Rule, Signature, TermPattern
from obviate.kb.reader import operations

__all__ = ["Sorts", "sort_findings"]

OBJECT, NUMBER = "object", "number"
Place = tuple[str, int, int]  # predicate, number of arguments, position


class Sorts:
    """The sorts that the places of a program can hold, and from them those of the variables of a rule."""

    def __init__(self, program: Program) -> None:
        self._places: dict[Place, set[str]] = {}
        self._consts = program.constants
        reading: dict[Signature, list[tuple[Rule, Pattern]]] = {}
        todo = [(rule, rule.head) for rule in program.rules if rule.head is not None and rule.head.name not in MEMBERS]
        for rule, head in todo:
            for signature in {pattern.signature for literal in rule.body for pattern, _ in literal.inner}:
                reading.setdefault(signature, []).append((rule, head))
        while todo:
            rule, head = todo.pop()
            variables, changed = self.of(rule), False
            for i, arg in enumerate(head.args):
                known = self._places.setdefault((head.name, len(head.args), i), set())
                found = {sort for part in arg.alternatives() for sort in self._of_term(part, variables)}
                changed |= not found <= known
                known |= found
            if changed:
                todo += [*reading.get(head.signature, ()), *reading.get((head.name, len(head.args), False), ())]

    def at(self, pattern: Pattern, index: int) -> set[str]:
        """What the argument of an atom can be; nothing where it is not known."""
        if (pattern.name, index) in NAMED:
            return {NAMED[pattern.name, index]}
        if pattern.name in BELIEFS:
            return {NUMBER if (pattern.name, index) == ("value", 2) else OBJECT}
        return self._places.get((pattern.name, len(pattern.args), index), set())

    def of_place(self, name: str, arity: int, index: int) -> set[str]:
        """What an argument of a helper can be."""
        return self._places.get((name, arity, index), set())

    def of(self, rule: Rule) -> dict[str, set[str]]:
        """What each variable of a rule can be, for each place that it stands in."""
        found: dict[str, list[set[str]]] = {}
        for literal in rule.body:
            for pattern, _ in literal.inner:
                for name, sorts in self._of_atom(pattern):
                    found.setdefault(name, []).append(sorts)
            for name in _numbers(literal):
                found.setdefault(name, []).append({NUMBER})
        merged = {name: set.union(*each) for name, each in found.items()}
        _equate(rule, merged)
        return merged

    def bound(self, rule: Rule) -> dict[str, set[str]]:
        """What the atoms that must hold say of each variable of a rule."""
        found: dict[str, set[str]] = {}
        for literal in rule.body:
            for pattern, _ in literal.inner if not literal.negations else ():
                for name, sorts in self._of_atom(pattern):
                    found.setdefault(name, set()).update(sorts)
        _equate(rule, found)
        return found

    def _of_atom(self, pattern: Pattern) -> Iterator[tuple[str, set[str]]]:
        for i, arg in enumerate(pattern.args):
            inside = pattern.name in EVENTS or (pattern.name in {*MEMBERS, "pending"} and i == 1)
            for part in arg.alternatives():
                if part.text == "_":
                    continue
                if part.kind == "variable" and pattern.name not in EVENTS:
                    sorts = {OBJECT} if inside else self.at(pattern, i)
                    if sorts:
                        yield part.text, sorts
                elif inside:
                    yield from ((inner.text, {OBJECT}) for inner in part.parts if inner.kind == "variable")

    def _of_term(self, term: TermPattern, variables: dict[str, set[str]]) -> set[str]:
        match term.kind:
            case "variable":
                return variables.get(term.text, set())
            case "string":
                return {OBJECT}
            case "number" | "operation":
                return {NUMBER}
            case "constant":
                value = self._consts.get(term.name, "")
                return {OBJECT} if value.startswith('"') else {NUMBER if value.lstrip("-").isdigit() else "name"}
        return {"term"}


def _equate(rule: Rule, found: dict[str, set[str]]) -> None:
    """What one side of X = Y can be, the other can."""
    pairs = [
        (one.text, other.text)
        for literal in rule.body
        for one, operator, other in zip(literal.compared, literal.operators, literal.compared[1:], strict=False)
        if operator == "=" and not literal.negations and one.kind == other.kind == "variable"
    ]
    for _ in pairs:
        for one, other in pairs:
            both = found.get(one, set()) | found.get(other, set())
            if both:
                found[one], found[other] = set(both), set(both)


def _numbers(literal: Literal) -> Iterator[str]:
    """The variables that a literal calculates with, or that an aggregate gives a value."""
    for term in literal.computed:
        yield from term.variables
    aggregate = literal.atom is None and not literal.compared and "#" in literal.text
    if aggregate:
        yield from literal.variables - frozenset().union(*(pattern.variables for pattern, _ in literal.inner))
    if any(term.kind in ("number", "operation") for term in literal.compared):
        yield from (term.text for term in literal.compared if term.kind == "variable")


def sort_findings(program: Program) -> Iterator[PackError]:
    """Bindings that are no objects, constants where a helper takes objects, variables of two sorts at once."""
    sorts = Sorts(program)
    for rule in program.rules:
        variables = sorts.of(rule)
        yield from _two_sorts(rule, sorts)
        yield from _calculations(rule, sorts)
        if rule.head is not None and rule.head.name in MEMBERS and len(rule.head.args) == 2:
            yield from _binding(rule.head, variables)
        for literal in rule.body:
            for pattern, _ in literal.inner:
                for i, arg in enumerate(pattern.args):
                    if pattern.name not in BELIEFS and sorts.at(pattern, i) == {OBJECT}:
                        constants = (p for p in arg.alternatives() if p.kind == "constant")
                        yield from (no_object(p, pattern) for p in constants if p.name not in program.constants)


def _binding(head: Pattern, variables: dict[str, set[str]]) -> Iterator[PackError]:
    term = head.args[1]
    for part in term.parts if term.kind == "tuple" else (term,):
        found = variables.get(part.text, set())
        if part.kind == "variable" and found and OBJECT not in found:
            what = "a number" if found == {NUMBER} else f"a {min(found)}"
            yield PackError(
                "bad-binding",
                f"{part.text} is {what} here, and a binding is made of objects",
                where=part.span or head.span,
                help="bind the object that it belongs to",
            )


def _two_sorts(rule: Rule, sorts: Sorts) -> Iterator[PackError]:
    """A variable that is an object in one place and something else in another is never both."""
    seen: dict[str, tuple[set[str], Pattern]] = {}
    for literal in rule.body:
        for pattern, monotone in literal.inner:
            for i, arg in enumerate(pattern.args):
                found = sorts.at(pattern, i)
                if arg.kind != "variable" or arg.text == "_" or not found or not monotone or pattern.name in EVENTS:
                    continue
                known, other = seen.setdefault(arg.text, (found, pattern))
                if not known & found and (OBJECT in known) != (OBJECT in found):
                    yield PackError(
                        "two-sorts",
                        f"{arg.text} is {_a(min(found))} here and {_a(min(known))} in {other.name}: it is never both",
                        where=arg.span or pattern.span,
                        help="use another variable",
                    )


def _calculations(rule: Rule, sorts: Sorts) -> Iterator[PackError]:
    """Calculating with what is no number: clingo would drop such an instance, and the engine refuses the beliefs."""
    known = sorts.bound(rule)
    heads = operations(rule.head.args) if rule.head else ()
    literals = [(term, literal.span) for literal in rule.body for term in literal.computed]
    compared = [
        (literal.compared, literal.span)
        for literal in rule.body
        if any(term.kind in ("number", "operation") for term in literal.compared)
    ]
    used = [(part, where) for term, where in [*((t, rule.span) for t in heads), *literals] for part in term.walk()]
    used += [(term, where) for terms, where in compared for term in terms]
    told: set[str] = set()
    for part, where in used:
        wrong = sorted(known.get(part.text, {NUMBER}) - {NUMBER}) if part.kind == "variable" else []
        if wrong and part.text not in told:
            told.add(part.text)
            yield PackError(
                "two-sorts",
                f"{part.text} is {_a(wrong[0])}, and taken for a number here",
                where=part.span or where,
                help="calculate with numbers only, such as N of value(X,A,N)",
            )


def _a(sort: str) -> str:
    return f"an {sort}" if sort == OBJECT else f"a {sort}"
