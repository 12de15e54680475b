"""Mutation of a rule pack: small changes that its tests should notice.

A mutant drops a body literal, negates it, or swaps a constant (tag, state, relation, quantity, skill, deadline) for
another declared one of the same sort.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

from obviate.engine.coverage import clause_label
from obviate.engine.remainder import is_idle, needs, shared, unbound
from obviate.kb import Pack, asp
from obviate.kb.errors import Span
from obviate.kb.program import Literal, Pattern, Rule, TermPattern
from obviate.kb.vocabulary import Vocabulary

__all__ = ["Mutant", "mutants"]

_SORTS = {("tag", 1): "tag", ("state", 1): "state", ("edge", 0): "relation", ("value", 1): "quantity"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A pack with the statement at `statement`, of the rule or helper `rule`, replaced by `text`; `change` tells how,
    `span` where.
    """

    rule: str
    statement: Span
    text: str
    change: str
    span: Span = field(compare=False)


def mutants(pack: Pack) -> Iterator[Mutant]:
    """Every mutant, in the order of the pack. Some may not load."""
    for rule in _statements(pack):
        local = asp.parse(rule.text, rule.span.file).rules[0]  # as clingo writes it, so that columns are offsets
        seen = {rule.text}
        for text, change, span in _deadlines(rule, local) if not rule.body else _bodies(rule, local, pack.vocabulary):
            if text not in seen:
                seen.add(text)
                yield Mutant(clause_label(rule), rule.span, text, change, span)


# -- changing a statement ------------------------------------------------------------------------

_Edit = tuple[str, str, Span]  # the new text of the statement, the change in words, and where it is
_LiteralEdit = tuple[list[str], str, Span]  # the same with the literals that stand for one


def _statements(pack: Pack) -> list[Rule]:
    """The clauses with a body, and the deadlines: one rule for each text, however many heads its pools stand for."""
    rules = {rule.span: rule for rule in pack.program.rules if rule.head}
    return [rule for rule in rules.values() if rule.body or (rule.head and rule.head.name == "deadline")]


def _bodies(rule: Rule, local: Rule, vocabulary: Vocabulary) -> Iterator[_Edit]:
    texts = [literal.text for literal in rule.body]
    head = rule.text.removesuffix(f" :- {'; '.join(texts)}.")
    for i, (literal, here) in enumerate(zip(rule.body, local.body, strict=True)):
        edits = [*_negated(rule, i), *_swapped(literal, here, vocabulary)]
        for new, change, span in edits:
            body = "; ".join([*texts[:i], *new, *texts[i + 1 :]])
            yield f"{head}{' :- ' if body else ''}{body}.", change, span


def _negated(rule: Rule, i: int) -> Iterator[_LiteralEdit]:
    """The literal dropped and negated; what it alone gave a value is any object then."""
    assert rule.head is not None
    literal = rule.body[i]
    if not is_idle(rule, literal):  # without it, the rule means the same
        objects = [f"object({name})" for name in sorted(unbound(rule, {i}, rule.head.variables))]
        yield objects, f"without {literal.text}", literal.span
    if literal.negations:
        text = literal.text.removeprefix("not ")
        yield [text], f"{text} for {literal.text}", literal.span
    else:
        wanted = rule.head.variables | needs(literal, shared(rule))
        objects = [f"object({name})" for name in sorted(unbound(rule, {i}, wanted))]
        yield [*objects, *_neither(literal)], f"not {literal.text}", literal.span


def _neither(literal: Literal) -> list[str]:
    """The negation of a literal: of a pool, that of each alternative."""
    atom = literal.atom
    if atom is None:
        return [f"not {literal.text}"]
    name = atom.name if atom.positive else f"-{atom.name}"
    choices = product(*(arg.alternatives() for arg in atom.args))
    return [f"not {name}({','.join(part.text for part in choice)})" if choice else f"not {name}" for choice in choices]


def _swapped(literal: Literal, local: Literal, vocabulary: Vocabulary) -> Iterator[_LiteralEdit]:
    """The literal with one of its names swapped; `local` tells where they are in its text."""
    start = local.span.column
    for (pattern, _), (place, _) in zip(local.inner, literal.inner, strict=True):
        for sort, parts, places in _names(pattern, place):
            taken = {part.name for part in parts}
            for part, original in zip(parts, places, strict=True):
                other = _other(sort, part, taken, vocabulary)
                if other and part.span and original.span:
                    begin = part.span.column - start
                    text = literal.text[:begin] + other + literal.text[begin + len(part.name) :]
                    yield [text], f"{other} for {part.name} in {literal.text}", original.span


_Names = tuple[str, tuple[TermPattern, ...], tuple[TermPattern, ...]]  # a sort, names of it, and the same as written


def _names(pattern: Pattern, place: Pattern) -> Iterator[_Names]:
    for (name, i), sort in _SORTS.items():
        if pattern.name == name and i < len(pattern.args):
            parts, places = pattern.args[i].alternatives(), place.args[i].alternatives()
            if all(part.kind == "constant" for part in parts):
                yield sort, parts, places
    if pattern.name in ("intent", "executed"):
        yield "skill", pattern.args[0].alternatives(), place.args[0].alternatives()


def _other(sort: str, part: TermPattern, taken: set[str], vocabulary: Vocabulary) -> str:
    """The next declared name of the sort that stands for something else here; of skills, with as many arguments."""
    if part.kind not in ("constant", "function"):
        return ""
    names = sorted(vocabulary.names(sort))
    later = names.index(part.name) if part.name in names else 0
    for name in names[later + 1 :] + names[:later]:
        if name not in taken and (sort != "skill" or vocabulary.skills[name] == len(part.parts)):
            return name
    return ""


def _deadlines(rule: Rule, local: Rule) -> Iterator[_Edit]:
    """One action more, or the other moment."""
    assert rule.head is not None
    old = rule.head.args[1].text
    number = rule.head.args[1].parts[0].text if rule.head.args[1].parts else ""
    other = {"before_intent": "before_done", "before_done": "before_intent"}.get(old, f"within({number}+1)")
    yield rule.text.replace(old, other), f"{other} for {old}", rule.head.args[1].span or rule.span
