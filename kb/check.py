"""What a rule pack may not say, found on its syntax before it is loaded (DESIGN: rule packs).

`findings` yields every problem as a `PackError`, most basic first.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from obviate.kb.dependency import EVENTS, MEMBERS, dependency_findings, dependency_key
from obviate.kb.errors import ObviateError, PackError, nearest
from obviate.kb.program import Literal, Pattern, Program, Rule, TermPattern
from obviate.kb.vocabulary import Vocabulary

__all__ = ["BELIEFS", "findings"]

BELIEFS = {"object": 1, "tag": 2, "state": 2, "edge": 3, "value": 3, "moved": 1}
_KERNEL = {
    "trigger": 2,
    "target": 2,
    "opens": 2,
    "passed": 2,
    "risk": 2,
    "due": 2,
    "failed": 2,
    "given_up": 2,
    "abandoned": 2,
}
_KERNEL |= {"was_pending": 2, "spent": 2, "age": 3, "targeted": 1}
_DESCRIPTIONS = {"rule": 2, "principle": 2, "severity": 2, "deadline": 2}
_READABLE = {**BELIEFS, **EVENTS, **MEMBERS, "rule": 2, "pending": 2}
_SORTS = {("tag", 1): "tag", ("state", 1): "state", ("edge", 0): "relation", ("value", 1): "quantity"}
_REFUSED = {
    "script": "a pack may not run code",
    "external": "the engine decides which atoms are inputs",
    "aggregate": "a choice has no single answer; say what follows instead",
    "disjunction": "a disjunction has no single answer; say what follows instead",
    "theoryatom": "theories are not part of rule packs",
    "minimize": "a pack has one answer, there is nothing to minimise",
    "program": "a pack is one part; remove #program",
}
_WORDS = {
    "aggregate": "a choice",
    "disjunction": "a disjunction",
    "theoryatom": "a theory atom",
    "literal": "this head",
}

_PLAIN = re.compile(r'#const \w+ = (?:-?\d+|\w+|"(?:[^"\\]|\\.)*")\.')
Helpers = Mapping[tuple[str, bool], set[int]]  # numbers of arguments of each predicate and sign that is concluded


def findings(program: Program, vocabulary: Vocabulary) -> Iterator[PackError]:
    """Everything wrong with the program of a pack."""
    yield from _refused(program)
    rules = _declared_rules(program)
    yield from _consts(program, rules, vocabulary)
    helpers: dict[tuple[str, bool], set[int]] = {}
    for rule in program.rules:
        if rule.head is not None:
            helpers.setdefault((rule.head.name, rule.head.positive), set()).add(len(rule.head.args))
    for rule in program.rules:
        yield from _head(rule, rules)
        for literal in rule.body:
            yield from _literal(literal, helpers, vocabulary)
            yield from _pending(literal, rule)
    yield from _complete(program, rules)
    yield from _arities(program)
    yield from dependency_findings(program)


def _refused(program: Program) -> Iterator[PackError]:
    for other in program.others:
        if other.kind in ("definition", "defined", "showsignature", "showterm"):
            continue
        what = other.kind.removesuffix(" head")
        yield PackError(
            "refused-statement",
            f"{_WORDS.get(what, '#' + what)} is refused in a rule pack",
            where=other.span,
            help=_REFUSED.get(what, "a pack has rules, facts and #const only"),
        )
    for rule in program.rules:
        if rule.head is None:
            yield PackError(
                "refused-statement",
                "an integrity constraint is refused in a rule pack",
                where=rule.span,
                help="it would leave the engine without an answer; conclude a hazard instead",
            )
        for literal in rule.body:
            if any(pattern.pooled for pattern in literal.negated):
                yield PackError(
                    "negated-pool",
                    f"{literal.text} has a pool under negation, which does not mean 'neither'",
                    where=literal.span,
                    help="write one negated literal for each alternative",
                )


def _declared_rules(program: Program) -> dict[str, str]:
    """The modes of the rules that the pack declares."""
    modes = {}
    for rule in program.rules:
        if rule.head is not None and rule.head.name == "rule" and len(rule.head.args) == 2:
            for name in rule.head.args[0].alternatives():
                modes[name.name] = rule.head.args[1].text
    return modes


def _consts(program: Program, rules: Collection[str], vocabulary: Vocabulary) -> Iterator[PackError]:
    """A constant is a plain value, and replaces its name everywhere: it may not mean something already."""
    sorts = ("state", "relation", "tag", "quantity", "skill")
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


def _head(rule: Rule, rules: dict[str, str]) -> Iterator[PackError]:
    head = rule.head
    if head is None:
        return
    if head.name in BELIEFS or head.name in EVENTS:
        yield PackError(
            "defines-belief",
            f"a pack may use {head.name}, never define it",
            where=head.span,
            help="the engine asserts what is believed",
        )
    elif head.name in _KERNEL or head.name == "pending" or head.name.startswith("_"):
        yield PackError(
            "defines-kernel",
            f"{head.name} belongs to the kernel",
            where=head.span,
            help="choose another name",
        )
    elif head.name in MEMBERS or head.name in _DESCRIPTIONS:
        if not head.positive:
            yield PackError(
                "refused-statement", f"-{head.name} means nothing", where=head.span, help="leave the rule out instead"
            )
        yield from _member(rule, head, rules)


def _member(rule: Rule, head: Pattern, rules: dict[str, str]) -> Iterator[PackError]:
    """A head that describes a safety rule: its name, mode and arity."""
    expected = {**MEMBERS, **_DESCRIPTIONS}[head.name]
    if len(head.args) != expected:
        yield _arity(head, expected)
    elif head.name in _DESCRIPTIONS and rule.body:
        yield PackError("not-a-fact", f"{head.name} must be a fact", where=rule.span, help="remove the body")
    elif any(part.kind != "constant" for part in head.args[0].alternatives()):
        yield PackError(
            "variable-rule-name",
            f"{head.args[0].text} is not the name of a rule",
            where=head.args[0].span or head.span,
            help="name the rule with a lower-case constant",
        )
    elif head.name == "rule" and head.args[1].text not in ("situational", "temporal"):
        yield PackError(
            "unknown-mode",
            f"a rule is situational or temporal, not {head.args[1].text}",
            where=head.args[1].span or head.span,
            help=nearest(head.args[1].text, ["situational", "temporal"]),
        )
    elif head.name in MEMBERS:
        yield from _binding(head)
    if head.name != "rule" and len(head.args) == expected:
        for part in head.args[0].alternatives():
            if part.kind == "constant" and part.name not in rules:
                yield PackError(
                    "unknown-rule",
                    f"no rule({part.name}, Mode) declares this rule",
                    where=part.span or head.span,
                    help=nearest(part.name, rules) or f"add rule({part.name}, situational) or temporal",
                )


def _binding(head: Pattern) -> Iterator[PackError]:
    term = head.args[1]
    parts = term.parts if term.kind == "tuple" else (term,)
    if term.kind == "tuple" and len(parts) == 1:
        yield PackError(
            "bad-binding", f"{term.text} is no binding", where=term.span or head.span, help=f"write {parts[0].text}"
        )
    elif any(part.kind not in ("variable", "string") for part in parts):
        yield PackError(
            "bad-binding",
            f"{term.text} is no binding",
            where=term.span or head.span,
            help="a binding is one object X, a tuple of objects (X,Y), or ()",
        )


def _literal(literal: Literal, helpers: Helpers, vocabulary: Vocabulary) -> Iterator[PackError]:
    for pattern, _ in literal.inner:
        arities = helpers.get((pattern.name, pattern.positive), set())
        if pattern.name in _READABLE and (pattern.positive or pattern.name == "state"):
            arities = arities | {_READABLE[pattern.name]}
        if pattern.name in _KERNEL:
            yield PackError(
                "reads-kernel",
                f"{pattern.name} belongs to the kernel",
                where=pattern.span,
                help="of the kernel's conclusions a pack may read pending(R,B) only",
            )
        elif not arities:
            yield PackError(
                "undeclared-predicate",
                f"nothing defines {'' if pattern.positive else '-'}{pattern.name}/{len(pattern.args)}",
                where=pattern.span,
                help=nearest(pattern.name, {*_READABLE, *(name for name, _ in helpers)}),
            )
        elif len(pattern.args) not in arities:
            yield _arity(pattern, min(arities))
        else:
            yield from _names(pattern, vocabulary)


def _pending(literal: Literal, rule: Rule) -> Iterator[PackError]:
    """A target may ask about the records of its own rule, and nothing else about records at all."""
    for pattern, _ in literal.inner:
        if pattern.name != "pending" or len(pattern.args) != 2:
            continue
        own = rule.head is not None and rule.head.name == "resolved" and rule.head.args[0].text == pattern.args[0].text
        if not own:
            yield PackError(
                "reads-kernel",
                "only the target of a rule may read pending, and of that rule",
                where=pattern.span,
                help="write resolved(R,B) :- pending(R,B), ...",
            )


def _arity(pattern: Pattern, expected: int) -> PackError:
    return PackError(
        "predicate-arity",
        f"{pattern.name} takes {expected} arguments, not {len(pattern.args)}",
        where=pattern.span,
        help=f"write {pattern.name}({','.join('XYZ'[:expected])})",
    )


def _names(pattern: Pattern, vocabulary: Vocabulary) -> Iterator[PackError]:
    """The constants of a belief or event: declared names where names belong, and never where objects do."""
    for i, arg in enumerate(pattern.args):
        sort = _SORTS.get((pattern.name, i))
        for part in arg.alternatives():
            if sort is not None:
                yield from _name(part, sort, pattern, vocabulary)
            elif pattern.name in EVENTS:
                yield from _skill(part, vocabulary)
                yield from (_no_object(inner, pattern) for inner in part.parts if inner.kind in ("constant", "number"))
            elif pattern.name in BELIEFS and (pattern.name, i) != ("value", 2) and part.kind in ("constant", "number"):
                yield _no_object(part, pattern)


def _name(part: TermPattern, sort: str, pattern: Pattern, vocabulary: Vocabulary) -> Iterator[PackError]:
    where = part.span or pattern.span
    if part.kind == "constant":
        yield from _declared(vocabulary, sort, part)
    elif part.kind != "variable":
        help = f"write it without quotes: {part.name}" if part.kind == "string" else f"name a {sort}"
        yield PackError("undeclared-name", f"{part.text} is not the name of a {sort}", where=where, help=help)
    elif part.text.lower() in vocabulary.names(sort):
        help = f"write {part.text.lower()}"
        yield PackError("undeclared-name", f"{part.text} is a variable here, not a {sort}", where=where, help=help)


def _no_object(part: TermPattern, pattern: Pattern) -> PackError:
    return PackError(
        "constant-object",
        f"{part.text} is never an object: ids are strings",
        where=part.span or pattern.span,
        help=f'write "{part.text}", or a variable',
    )


def _declared(vocabulary: Vocabulary, sort: str, part: TermPattern) -> Iterator[PackError]:
    try:
        vocabulary.require(sort, part.name, "")
    except ObviateError as error:
        yield PackError(error.code, error.message, where=part.span or "", help=error.help)


def _skill(part: TermPattern, vocabulary: Vocabulary) -> Iterator[PackError]:
    if part.kind not in ("constant", "function"):
        return
    arity = vocabulary.skills.get(part.name)
    if arity is None:
        yield from _declared(vocabulary, "skill", part)
    elif arity != len(part.parts):
        yield PackError(
            "wrong-arity",
            f"{part.name} takes {arity} arguments, not {len(part.parts)}",
            where=part.span or "",
            help="use _ for an argument that does not matter",
        )


def _complete(program: Program, rules: dict[str, str]) -> Iterator[PackError]:
    stated = {(key, name) for rule in program.rules if rule.head for key, name in dependency_key(rule.head)}
    for rule in program.rules:
        if rule.head is None or rule.head.name != "rule":
            continue
        for part in rule.head.args[0].alternatives():
            if ("hazard", part.name) not in stated:
                yield PackError(
                    "no-hazard",
                    f"the rule {part.name} has no hazard",
                    where=rule.span,
                    help=f"add hazard({part.name}, X) :- ...",
                )
            if rules.get(part.name) == "situational" and ("threatens", part.name) not in stated:
                yield PackError(
                    "no-intent",
                    f"the situational rule {part.name} has no intent pattern",
                    where=rule.span,
                    help=f"add threatens({part.name}, X) :- intent(...)",
                )


def _arities(program: Program) -> Iterator[PackError]:
    """One arity for each rule, in all of its hazards, intents and targets."""
    first: dict[str, tuple[int, Pattern]] = {}
    for rule in program.rules:
        if rule.head is None or rule.head.name not in MEMBERS or len(rule.head.args) != 2:
            continue
        term = rule.head.args[1]
        size = len(term.parts) if term.kind == "tuple" else 1
        for part in rule.head.args[0].alternatives():
            known, other = first.setdefault(part.name, (size, rule.head))
            if known != size:
                yield PackError(
                    "binding-arity",
                    f"{part.name} binds {size} objects here and {known} in {other.name} at line {other.span.line}",
                    where=term.span or rule.head.span,
                    help="hazard, threatens and resolved of a rule bind the same objects",
                )
