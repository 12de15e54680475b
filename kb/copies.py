"""Copies of a program for several moments or worlds in one search: every atom gets one more argument, or a prefix."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from obviate.kb import asp
from obviate.kb.program import Pattern, Program, Rule

__all__ = ["Copied", "Stepped", "lasting_predicates", "prefixed", "stepped", "timed"]


def timed(
    program: Program, *, lasting: Collection[str] = (), variable: str = "T", bound: str = "time(T)", prefix: str = ""
) -> str:
    """The rules at every ``time(T)``: T is the first argument of each atom but those of `lasting` predicates.

    `variable` and `bound`, the literal that gives it values, may be others; the program must not use the variable, nor
    pools of whole argument lists. Predicates that are not lasting get the `prefix`.
    """
    edit = _indexed(variable, frozenset(lasting), lasting, prefix)
    return "\n".join(_bounded(_edited(rule, edit), bound) for rule in _rules(program))


def prefixed(program: Program, prefix: str) -> str:
    """The rules with a prefix before the name of every predicate."""
    return "\n".join(_edited(rule, lambda one: (prefix + one.name, len(one.name))) for rule in _rules(program))


@dataclass(frozen=True, slots=True)
class Copied:
    """A rule, and what it `needs`: of an argument of an input, by place, one of these constants or functions."""

    text: str
    needs: tuple[tuple[str, int, frozenset[str]], ...] = ()


@dataclass(frozen=True, slots=True)
class Stepped:
    """A program for one step at a time: `fixed` is what is so at every step, `step` the rules at the step ``t``."""

    fixed: tuple[Copied, ...] = ()
    step: tuple[Copied, ...] = ()

    def texts(self, given: Mapping[tuple[str, int], Collection[str]]) -> tuple[str, str]:
        """Both as texts, without the rules that can never fire. `given` are the constants and functions that occur in
        the inputs, by predicate and place.
        """

        def fires(rule: Copied) -> bool:
            return all(
                (name, at) not in given or not names.isdisjoint(given[name, at]) for name, at, names in rule.needs
            )

        def kept(rules: tuple[Copied, ...]) -> str:
            return "\n".join(rule.text for rule in rules if fires(rule))

        return kept(self.fixed), kept(self.step)


def stepped(
    program: Program,
    *,
    lasting: Collection[str],
    shared: Collection[str] = (),
    changing: Collection[str] = (),
    prefix: str = "",
) -> Stepped:
    """The rules with the constant ``t``, a parameter of their part, as the first argument of what may change.

    `lasting` are the predicates of the input that never change; those that depend on nothing else last as well, and
    their rules are fixed, unless they are said to be `changing`. All names get the `prefix` but those that are lasting
    input or `shared`. The program must not use the constant t.
    """
    still = lasting_predicates(program, lasting, changing)
    edit = _indexed("t", still, {*lasting, *shared}, prefix)
    parts: tuple[list[Copied], list[Copied]] = ([], [])
    for rule in _rules(program):
        parts[rule.head is None or rule.head.name not in still].append(
            Copied(_edited(rule, edit), tuple(_needs(rule, {*lasting, *shared})))
        )
    return Stepped(tuple(parts[0]), tuple(parts[1]))


def _needs(rule: Rule, inputs: Collection[str]) -> Iterator[tuple[str, int, frozenset[str]]]:
    for literal in rule.body:
        if literal.atom is not None and not literal.negations and literal.atom.name in inputs:
            for place, arg in enumerate(literal.atom.args):
                parts = arg.alternatives()
                if all(part.kind in ("constant", "function") for part in parts):
                    yield literal.atom.name, place, frozenset(part.name for part in parts)


def lasting_predicates(program: Program, lasting: Collection[str], changing: Collection[str] = ()) -> frozenset[str]:
    """`lasting` and the predicates that depend on nothing else, but those said to be `changing`."""
    concluded = {rule.head.name for rule in program.rules if rule.head is not None}
    moving = set(changing)
    while True:
        still = {*lasting, *(concluded - moving)}
        found = {
            rule.head.name
            for rule in program.rules
            if rule.head is not None and not {p.name for one in rule.body for p, _ in one.inner} <= still
        }
        if found <= moving:
            return frozenset(still)
        moving |= found


def _indexed(
    index: str, still: Collection[str], kept: Collection[str], prefix: str
) -> Callable[[Pattern], tuple[str, int]]:
    """Names but those `kept` get the prefix, atoms but those that stand `still` the index."""

    def edit(pattern: Pattern) -> tuple[str, int]:
        name, length = pattern.name, len(pattern.name)
        new = name if name in kept else prefix + name
        if name in still:
            return new, length
        return (f"{new}({index},", length + 1) if pattern.args else (f"{new}({index})", length)

    return edit


def _rules(program: Program) -> Iterator[Rule]:
    """Each rule once, however many heads its pools stand for; its places are those in its own text."""
    for text in dict.fromkeys(rule.text for rule in program.rules):
        yield asp.parse(text, "rule").rules[0]


def _edited(rule: Rule, edit: Callable[[Pattern], tuple[str, int]]) -> str:
    patterns = [pattern for literal in rule.body for pattern, _ in literal.inner]
    if rule.head is not None:
        patterns.append(rule.head)
    text = rule.text
    # An atom that is negated classically begins at its sign.
    edits = {text.index(one.name, one.span.column - 1): edit(one) for one in patterns}
    for start, (new, length) in sorted(edits.items(), reverse=True):
        text = text[:start] + new + text[start + length :]
    return text


def _bounded(rule: str, bound: str) -> str:
    return rule.rstrip().removesuffix(".") + (f"; {bound}." if ":-" in rule else f" :- {bound}.")
