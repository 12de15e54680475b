"""Literals and beliefs in plain words: the three ways in which a state can be, or not be, believed are told apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from obviate.kb import Pack, asp
from obviate.kb.errors import ObviateError, Span
from obviate.kb.predicates import BELIEFS
from obviate.kb.program import Literal, Pattern, TermPattern
from obviate.kb.terms import Atom

__all__ = ["CLASSES", "any_of", "belief_words", "kind_words", "literal_words", "place", "place_of", "reads_helper"]

CLASSES = ("material", "function", "safety", "appliance")  # of tags; the paper's, and one of the household's
_THINGS = ("function", "appliance")  # classes of tags that are nouns
_MEMBERS = {"hazard": "hazard", "threatens": "threat", "resolved": "target"}
_RELATIONS = {
    "ontop": "on top of",
    "nextto": "next to",
    "covered": "covered with",
    "saturated": "saturated with",
}
_COMPARED = {
    ">": "is greater than",
    "<": "is less than",
    ">=": "is at least",
    "<=": "is at most",
    "!=": "is not",
    "=": "is",
}
_MIRRORED = {">": "<", "<": ">", ">=": "<=", "<=": ">=", "!=": "!=", "=": "="}
_AGGREGATES = {
    "count": "the number of",
    "sum": "the sum of",
    "sum+": "the sum of",
    "min": "the least",
    "max": "the most",
}
_AGGREGATE = re.compile(
    r"(?:(?P<low>[^{]*?)\s*(?P<first>[<>!]?=|[<>])\s*)?#(?P<kind>count|sum\+?|min|max)\s*\{(?P<elements>.*)\}"
    r"(?:\s*(?P<second>[<>!]?=|[<>])\s*(?P<high>.*))?",
    re.DOTALL,
)


def literal_words(literal: Literal, pack: Pack) -> str:
    """A literal of a rule in words; as it is written where there are none."""
    if literal.atom is not None and literal.negations < 2:
        return _atom_words(literal.atom, literal.negations == 1, pack)
    if literal.operators:
        return _comparison(literal)
    if "{" in literal.text:
        return _aggregate(literal, pack)
    head, colon, condition = _split(literal.text, ":")
    if colon:
        return f"{_body_words(head, pack)} whenever {_body_words(condition, pack)}"
    return {"#true": "always", "#false": "never"}.get(literal.text, literal.text)


def belief_words(atom: Atom, pack: Pack) -> str:
    """A ground belief in words."""
    return _atom_words(_pattern(atom), False, pack)


def kind_words(tag: str, pack: Pack) -> str:
    """What an object with the tag is: ``food``, ``a container``, ``a high surface``."""
    head, _, rest = tag.partition("_")
    words = (rest if rest and head in CLASSES else tag).replace("_", " ")
    nouns = {t.partition("_")[2].replace("_", " ") for t in pack.vocabulary.tags if t.startswith("function_")}
    first, _, others = words.partition(" ")
    if others and first in nouns:  # surface_high
        words = f"{others} {first}"
    last = words.rpartition(" ")[2]
    return _with_article(words) if head in _THINGS or last in nouns else words


def reads_helper(pattern: Pattern, pack: Pack) -> bool:
    """Whether the atom is of a helper predicate of the pack."""
    known = {*BELIEFS, *_MEMBERS, "intent", "executed", "pending", "rule"}
    return pattern.name not in known and any(
        rule.head is not None and rule.head.signature == pattern.signature for rule in pack.program.rules
    )


def place_of(pattern: Pattern, pack: Pack) -> str:
    """Where a helper predicate is first concluded, as ``file:line``."""
    heads = (rule.head for rule in pack.program.rules if rule.head is not None)
    span = next(head.span for head in heads if head.signature == pattern.signature)
    return place(span)


def place(span: Span) -> str:
    """Where something is written, as ``file:line``."""
    return f"{PurePath(span.file).name}:{span.line}"


# -- atoms ---------------------------------------------------------------------------------------


def _atom_words(atom: Pattern, negated: bool, pack: Pack) -> str:
    told = ["anything" if negated and arg.text == "_" else _term(arg) for arg in atom.args]
    no = "not " * negated
    match atom.name:
        case "object":
            return f"{told[0]} is {no}known"
        case "tag":
            return _tag(told[0], atom.args[1], negated, pack)
        case "state":
            return _state(told[0], atom.args[1], atom.positive, negated)
        case "edge":
            return f"{told[1]} {_relation(atom.args[0], negated)} {told[2]}"
        case "value":
            return _value(told, atom.args[1], negated, pack)
        case "moved":
            return f"the agent has {no}moved {told[0]}"
    return _concluded(atom, told, no, pack)


def _concluded(atom: Pattern, told: list[str], no: str, pack: Pack) -> str:
    """What is no belief: an intent, or a conclusion of the pack."""
    if atom.name == "intent":
        return f"the robot is {no}about to {any_of([_action(part) for part in atom.args[0].alternatives()])}"
    if atom.name == "pending":
        return f"its record is {no}open"
    if atom.name in _MEMBERS:
        return f"the {_MEMBERS[atom.name]} of {told[0]} {'does not hold' if no else 'holds'} for {told[1]}"
    written = f"{'' if atom.positive else '-'}{atom.name}" + (f"({', '.join(told)})" if told else "")
    return f"{no}{written}" + (f" ({place_of(atom, pack)})" if reads_helper(atom, pack) else "")


def _tag(name: str, tag: TermPattern, negated: bool, pack: Pack) -> str:
    parts = [part for part in tag.alternatives() if part.kind == "constant"]
    if not parts:
        return f"{name} has {'no' if negated else 'a'} tag{'' if tag.text == '_' else f' {tag.text}'}"
    kinds = any_of([kind_words(part.name, pack) for part in parts])
    names = any_of([part.name for part in parts])
    return f"{name} is {'not ' * negated}{kinds}{f' ({names})' * (names != kinds)}"


def _state(name: str, state: TermPattern, positive: bool, negated: bool) -> str:
    parts = [part.text.replace("_", " ") for part in state.alternatives() if part.kind == "constant"]
    words = any_of(parts) or ("in some state" if state.text == "_" else f"in a state {state.text}")
    if positive:
        return f"{name} is not believed to be {words}" if negated else f"{name} is {words}"
    return f"{name} was {'not ' * negated}seen not to be {words}"


def _relation(relation: TermPattern, negated: bool) -> str:
    parts = [part.name for part in relation.alternatives() if part.kind == "constant"]
    if parts == ["contains"]:
        return "does not contain" if negated else "contains"
    words = [_RELATIONS.get(part, part.replace("_", " ")) for part in parts]
    return f"is {'not ' * negated}{any_of(words) or 'in some relation to'}"


def _value(told: list[str], quantity: TermPattern, negated: bool, pack: Pack) -> str:
    unit = pack.vocabulary.quantities.get(quantity.name, "")
    name = quantity.name.replace("_", " ") if quantity.kind == "constant" else "some quantity"
    if negated:
        return f"the {name} of {told[0]} is not known to be {told[2]}{f' {unit}' * bool(unit)}"
    return f"{told[2]} is the {name} of {told[0]}{f' in {unit}' * bool(unit)}"


def _action(term: TermPattern) -> str:
    if term.kind == "variable":
        return "do something" if term.text == "_" else f"do {term.text}"
    return term.name + (f"({', '.join(map(_term, term.parts))})" if term.parts else "")


def _term(term: TermPattern) -> str:
    if term.kind == "tuple":
        return f"({', '.join(map(_term, term.parts))})"
    if term.kind == "pool":
        return any_of(list(map(_term, term.alternatives())))
    return "something" if term.text == "_" else term.name if term.kind == "string" else term.text


def any_of(words: Sequence[str]) -> str:
    """Words in a row, the last joined by *or*."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}" if words else ""


def _with_article(words: str) -> str:
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def _pattern(atom: Atom) -> Pattern:
    """A ground atom as if it had been written."""
    (rule,) = asp.parse(f"{atom}.", "belief").rules
    assert rule.head is not None
    return rule.head


# -- what is not an atom -------------------------------------------------------------------------


def _comparison(literal: Literal) -> str:
    terms = [_term(term) for term in literal.compared]
    told = [
        f"{left} {_COMPARED[op]} {right}" for left, op, right in zip(terms, literal.operators, terms[1:], strict=False)
    ]
    return ("it is not so that " if literal.negations % 2 else "") + " and ".join(told)


def _aggregate(literal: Literal, pack: Pack) -> str:
    match = _AGGREGATE.fullmatch(literal.text.removeprefix("not ").strip())
    if match is None:
        return literal.text
    elements = []
    for element in match["elements"].split(";"):
        of, _, condition = _split(element, ":")
        elements.append(f"{of} such that {_body_words(condition, pack)}" if condition else of)
    guards = [f"{_COMPARED[_MIRRORED[match['first']]]} {match['low']}"] if match["first"] else []
    guards += [f"{_COMPARED[match['second']]} {match['high']}"] if match["second"] else []
    what = f"{_AGGREGATES[match['kind']]} {' and of '.join(elements)}"
    return ("it is not so that " if literal.negations % 2 else "") + f"{what} {' and '.join(guards)}"


def _split(text: str, mark: str) -> tuple[str, str, str]:
    before, found, after = text.partition(mark)
    return before.strip(), found, after.strip()


def _body_words(text: str, pack: Pack) -> str:
    """The words of some literals, as written."""
    try:
        (rule,) = asp.parse(f"_words :- {text}.", "body").rules
    except ObviateError:
        return text
    return " and ".join(literal_words(literal, pack) for literal in rule.body)
