"""Statements and literals that no rule pack may have, whatever they speak of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import combinations, product
from math import prod

from obviate.kb.errors import Fix, PackError, Span
from obviate.kb.program import Literal, Pattern, Program, Statement, TermPattern
from obviate.kb.reader import operations
from obviate.kb.vocabulary import Vocabulary

__all__ = ["statement_findings"]

_REFUSED = {
    "script": "a pack may not run code",
    "external": "the engine decides which atoms are inputs",
    "aggregate": "a choice has no single answer; say what follows instead",
    "disjunction": "a disjunction has no single answer; say what follows instead",
    "theoryatom": "theories are not part of rule packs",
    "showterm": "what it shows is ground with the rest; show predicates, as #show p/1.",
    "minimize": "a pack has one answer, there is nothing to minimise",
}
_WORDS = {
    "aggregate": "a choice",
    "disjunction": "a disjunction",
    "theoryatom": "a theory atom",
    "literal": "this head",
}
_PLAIN = re.compile(r'#const \w+ = (?:-?\d+|\w+|"(?:[^"\\]|\\.)*")\.')
_ARROW = re.compile(r"<-|:\s+-|<=\s*=?")
_FAR = 100_000  # a number times a larger one than this may leave clingo's 32 bits
_LIMIT = 2**31
_HEAVY = 1_000_000  # a sum of a few thousand such weights leaves 32 bits
_MAX_RANGE = 10_000
_MOST = 50  # alternatives that a fix writes out


def statement_findings(program: Program, vocabulary: Vocabulary) -> Iterator[PackError]:
    """What is refused by its form: statements, constraints, pools under negation, chains, overflows."""
    for other in program.others:
        if other.kind not in ("definition", "defined", "showsignature"):
            yield _refused(other, program)
    for rule in program.rules:
        if rule.head is None:
            yield PackError(
                "refused-statement",
                "an integrity constraint is refused in a rule pack",
                where=rule.span,
                help="it would leave the engine without an answer; conclude a hazard instead",
            )
        for literal in rule.body:
            yield from _literal(literal)
        computed = operations(rule.head.args) if rule.head else ()
        for term in (*computed, *(term for literal in rule.body for term in literal.computed)):
            yield from _overflow(term, rule.span, program.constants)
            yield from _ranges(term, rule.span, program.constants)
        for term in (term for literal in rule.body for term in literal.weights):
            yield from _heavy(term, rule.span, program.constants)
    yield from _consts(program, vocabulary)


def _refused(other: Statement, program: Program) -> PackError:
    what = other.kind.removesuffix(" head")
    arrow = _ARROW.search(other.span.source, other.span.column - 1)
    if what in ("disjunction", "literal") and arrow is not None and ":-" not in other.span.source:
        line, column = other.span.line, arrow.start() + 1
        where = Span(other.span.file, line, column, other.span.source, line, arrow.end() + 1)
        help = "a rule is head :- body"
        return PackError(
            "foreign-operator",
            f"{arrow[0]} is no arrow of ASP",
            where=where,
            help=help,
            fix=Fix("write :-", where, ":-"),
        )
    if what == "program":
        return _part(other, program)
    return PackError(
        "refused-statement",
        f"{_WORDS.get(what, '#' + what)} is refused in a rule pack",
        where=other.span,
        help=_REFUSED.get(what, "a pack has rules, facts and #const only"),
    )


def _part(other: Statement, program: Program) -> PackError:
    """The module condition: what a later part concludes again of an earlier one, clingo answers wrongly."""
    line = other.span.line
    before, after = (
        {rule.head.signature for rule in program.rules if rule.head and (rule.span.line < line) == early}
        for early in (True, False)
    )
    shared = sorted(before & after)
    what = (
        f"{shared[0][0]}/{shared[0][1]} is concluded before this part and in it: clingo would answer wrongly"
        if shared
        else "a pack is one part"
    )
    fix = Fix("remove it", other.span, "", safe=False)
    return PackError("program-part", what, where=other.span, help="remove #program", fix=fix)


def _literal(literal: Literal) -> Iterator[PackError]:
    different = "=" if literal.negations == 1 else "!="
    if any(pattern.pooled for pattern in literal.negated):
        yield PackError(
            "negated-pool",
            f"{_short(literal.text)} has a pool under negation, which does not mean 'neither'",
            where=literal.span,
            help="write one negated literal for each alternative",
            fix=_neither(literal),
        )
    if different in literal.operators and any(term.kind == "pool" for term in literal.compared):
        yield PackError(
            "negated-pool",
            f"{_short(literal.text)} holds of everything: it asks to differ from one of them",
            where=literal.span,
            help="write one comparison for each alternative",
            fix=_differs_from_all(literal.compared, literal.span),
        )
    elif len(literal.operators) > 1 and "!=" in literal.operators:
        alone = set(literal.operators) == {"!="} and len(literal.compared) ** 2 <= 2 * _MOST
        pairs = ", ".join(f"{a.text} != {b.text}" for a, b in combinations(literal.compared, 2)) if alone else ""
        yield PackError(
            "comparison-chain",
            f"{_short(literal.text)} compares neighbours only: the first and the last may be the same",
            where=literal.span,
            help="compare each two",
            fix=Fix(f"write {pairs}", literal.span, pairs) if alone else None,
        )


def _short(text: str) -> str:
    return text if len(text) <= 200 else text[:200] + " ..."


def _neither(literal: Literal) -> Fix | None:
    if literal.negations != 1 or literal.compound:
        return None
    texts = [f"not {text}" for pattern in literal.negated for text in _instances(pattern)]
    return Fix("write them apart", literal.span, ", ".join(texts)) if texts else None


def _instances(pattern: Pattern) -> Iterator[str]:
    """The atoms without pools that an atom stands for; none if they are many, or a pool is deep inside a term."""
    parts = [arg.alternatives() for arg in pattern.args]
    deep = any(inner.kind == "pool" for part in parts for term in part for inner in term.walk())
    if not deep and prod(map(len, parts)) <= _MOST:
        for args in product(*parts):
            yield f"{'' if pattern.positive else '-'}{pattern.name}({','.join(arg.text for arg in args)})"


def _differs_from_all(compared: tuple[TermPattern, ...], where: Span) -> Fix | None:
    sides = [term.alternatives() for term in compared]
    if len(compared) != 2 or prod(map(len, sides)) > _MOST:
        return None
    pairs = [f"{a.text} != {b.text}" for a, b in product(*sides)]
    return Fix("compare with each", where, ", ".join(pairs))


def _overflow(term: TermPattern, rule: Span, consts: Mapping[str, str]) -> Iterator[PackError]:
    for part in term.walk():
        if part.kind != "operation":
            continue
        value = _value(part, consts)
        if value is not None and not -_LIMIT <= value < _LIMIT:
            yield PackError(
                "integer-overflow",
                f"{part.text} is {value}: clingo's integers end at {_LIMIT - 1} and wrap silently",
                where=part.span or rule,
                help="use smaller units",
            )
            return
        factor = abs(prod(number for number in (_value(f, consts) for f in _factors(part)) if number is not None))
        if part.name == "*" and part.variables and factor > _FAR:
            yield PackError(
                "integer-overflow",
                f"{part.text} wraps silently beyond {_LIMIT // factor}",
                where=part.span or rule,
                help="use smaller units, or divide the other side",
            )
            return


def _factors(term: TermPattern) -> Iterator[TermPattern]:
    for part in term.parts if term.name == "*" else ():
        yield from _factors(part) if part.kind == "operation" and part.name == "*" else (part,)


def _heavy(term: TermPattern, rule: Span, consts: Mapping[str, str]) -> Iterator[PackError]:
    value = _value(term, consts)
    if value is not None and abs(value) > _HEAVY:
        yield PackError(
            "integer-overflow",
            f"a sum of weights of {value} leaves clingo's integers after {_LIMIT // abs(value)} of them",
            where=term.span or rule,
            help="use smaller units",
        )


def _ranges(term: TermPattern, rule: Span, consts: Mapping[str, str]) -> Iterator[PackError]:
    for part in term.walk():
        if part.kind != "operation" or part.name != "..":
            continue
        low, high = (_value(bound, consts) if _is_plain(bound) else None for bound in part.parts)
        if low is None or high is None:
            named = all(bound.kind in ("constant", "number") for bound in part.parts)
            message, help = f"the range {part.text} is computed", "write its bounds as plain numbers"
            if not named:
                yield PackError("too-wide", message, where=part.span or rule, help=help)
        elif high - low > _MAX_RANGE:
            message = f"the range {part.text} has over {_MAX_RANGE:,} numbers"
            yield PackError("too-wide", message, where=part.span or rule, help="compare instead")


def _is_plain(bound: TermPattern) -> bool:
    """Whether a bound of a range is a number or a constant, with a sign or without."""
    signed = bound.kind == "operation" and bound.name == "-" and len(bound.parts) == 1
    return (bound.parts[0] if signed else bound).kind in ("number", "constant")


def _value(term: TermPattern, consts: Mapping[str, str]) -> int | None:
    """The value of a term without variables; None where it has none."""
    text = consts.get(term.name, "") if term.kind == "constant" else term.text
    if term.kind in ("number", "constant"):
        return int(text) if text.lstrip("-").isdigit() else None
    values = [_value(part, consts) for part in term.parts]
    if term.kind != "operation" or None in values:
        return None
    match term.name, values:
        case "-", [int(a)]:
            return -a
        case "+", [int(a), int(b)]:
            return a + b
        case "-", [int(a), int(b)]:
            return a - b
        case "*", [int(a), int(b)]:
            return a * b
        case "**", [int(a), int(b)] if 0 <= b < 100:
            return int(a**b)
    return None


def _consts(program: Program, vocabulary: Vocabulary) -> Iterator[PackError]:
    """A constant has one plain value, and no name that means something else: clingo replaces it everywhere."""
    sorts = ("state", "relation", "tag", "quantity", "skill")
    rules = {
        part.name
        for rule in program.rules
        if rule.head is not None and rule.head.name == "rule" and rule.head.args
        for part in rule.head.args[0].alternatives()
    }
    taken = {*rules, "situational", "temporal", "advisory", "before_intent", "before_done"}
    taken = taken.union(*(vocabulary.names(sort) for sort in sorts))
    for other in program.others:
        if other.kind != "definition":
            continue
        name = other.text.split()[1]
        if not _PLAIN.fullmatch(other.text):
            yield PackError(
                "bad-const", f"{name} is no plain value", where=other.span, help="a number, a name, or a string"
            )
        if name in taken:
            yield PackError(
                "bad-const", f"{name} means something already", where=other.span, help="rename the constant"
            )
