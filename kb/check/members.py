"""The four predicates that make a safety rule, and what describes it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from obviate.kb.dependency import dependency_key
from obviate.kb.errors import Fix, PackError, nearest
from obviate.kb.predicates import BELIEFS, DESCRIPTIONS, EVENTS, KERNEL, MEMBERS
from obviate.kb.program import Pattern, Program, Rule, TermPattern
from obviate.kb.vocabulary import DECLARATIONS

__all__ = ["arity_error", "capitalised", "member_findings"]

_MODES = ("situational", "temporal")
_TESTS = {"test": 2, "given": 2, "step": 3, "expect": 3}
_FORMS = {
    "rule": "rule(R, situational) or rule(R, temporal)",
    "principle": 'principle(R, "What to do.")',
    "severity": "severity(R, advisory)",
    "deadline": "deadline(R, before_done)",
    "hazard": "hazard(R, X)",
    "threatens": "threatens(R, X)",
    "resolved": "resolved(R, X)",
}


def member_findings(program: Program) -> Iterator[PackError]:
    """What is wrong with heads, with what a rule must have, and with its bindings."""
    rules = _declared(program)
    for rule in program.rules:
        if rule.head is not None:
            yield from _head(rule, rule.head, rules)
    if not any(other.kind.endswith("head") for other in program.others):  # which may be what is missing
        yield from _complete(program, rules)
    yield from _bindings(program)


def arity_error(pattern: Pattern, expected: int) -> PackError:
    """A predicate with another number of arguments than it takes."""
    form = _FORMS.get(pattern.name, f"{pattern.name}({','.join('XYZ'[:expected])})")
    return PackError(
        "predicate-arity",
        f"{pattern.name} takes {expected} arguments, not {len(pattern.args)}",
        where=pattern.span,
        help=f"write {form}",
    )


def capitalised(term: TermPattern, meant: str, what: str) -> PackError:
    """A variable where a name belongs, as it begins with a capital."""
    assert term.span is not None
    return PackError(
        "capitalised-constant",
        f"{term.text} is a variable here, not {what}: names begin in lower case",
        where=term.span,
        help=f"write {meant}",
        fix=Fix(f"write {meant}", term.span, meant),
    )


def _declared(program: Program) -> dict[str, str]:
    """The modes of the rules that the pack declares."""
    modes = {}
    for rule in program.rules:
        if rule.head is not None and rule.head.name == "rule" and len(rule.head.args) == 2:
            for name in rule.head.args[0].alternatives():
                modes[name.name] = rule.head.args[1].text
    return modes


def _head(rule: Rule, head: Pattern, rules: Mapping[str, str]) -> Iterator[PackError]:
    if head.name in BELIEFS or head.name in EVENTS:
        yield PackError(
            "defines-belief",
            f"a pack may use {head.name}, never define it",
            where=head.span,
            help="the engine asserts what is believed",
        )
    elif head.name in KERNEL or head.name == "pending" or head.name.startswith("_"):
        yield PackError(
            "defines-kernel",
            f"{head.name} belongs to the kernel",
            where=head.span,
            help="choose another name",
        )
    elif DECLARATIONS.get(head.name) == len(head.args) and not rule.body:
        yield PackError(
            "declares-word",
            f"{head.name} declares a word, and a pack has rules",
            where=head.span,
            help="put it into a file of its own, and name that with --vocabulary or Vocabulary.load",
        )
    elif _TESTS.get(head.name) == len(head.args) and not rule.body and head.args[0].kind == "constant":
        yield PackError(
            "test-in-pack",
            f"{head.name} belongs to a scenario test",
            where=head.span,
            help="put it into a file NAME.test.lp beside NAME.lp, for obviate test NAME.lp",
        )
    elif head.name in MEMBERS or head.name in DESCRIPTIONS:
        if not head.positive:
            yield PackError(
                "refused-statement", f"-{head.name} means nothing", where=head.span, help="leave the rule out instead"
            )
        yield from _member(rule, head, rules)


def _member(rule: Rule, head: Pattern, rules: Mapping[str, str]) -> Iterator[PackError]:
    """A head that describes a safety rule: its name, mode and arity."""
    expected = {**MEMBERS, **DESCRIPTIONS}[head.name]
    if len(head.args) != expected:
        yield arity_error(head, expected)
        return
    names = head.args[0].alternatives()
    wrong = [part for part in names if part.kind != "constant"]
    if head.name in DESCRIPTIONS and rule.body:
        yield PackError("not-a-fact", f"{head.name} must be a fact", where=rule.span, help="remove the body")
    elif wrong:
        yield from (_rule_name(part, head) for part in wrong)
    elif head.name == "rule" and head.args[1].text not in _MODES:
        yield _mode(head.args[1], head)
    elif head.name in MEMBERS:
        yield from _binding(head)
    if head.name != "rule":
        for part in names:
            if part.kind == "constant" and part.name not in rules:
                yield PackError(
                    "unknown-rule",
                    f"no rule({part.name}, Mode) declares this rule",
                    where=part.span or head.span,
                    help=nearest(part.name, rules) or f"add rule({part.name}, situational) or temporal",
                    fix=suggestion(part, rules),
                )


def suggestion(term: TermPattern, known: object) -> Fix | None:
    """Writing the nearest known name instead, where there is one: a guess, so that it is not safe."""
    help = nearest(term.name, known)  # type: ignore[arg-type]
    match = re.fullmatch(r"did you mean '(\w+)'\?", help)
    return Fix(f"write {match[1]}", term.span, match[1], safe=False) if match and term.span else None


def _rule_name(part: TermPattern, head: Pattern) -> PackError:
    meant = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", part.text).lower()
    if part.kind == "variable" and part.span and re.fullmatch(r"[a-z]\w*", meant) and len(part.text) > 1:
        return capitalised(part, meant, "the name of a rule")
    return PackError(
        "variable-rule-name",
        f"{part.text} is not the name of a rule",
        where=part.span or head.span,
        help="name the rule with a lower-case constant",
    )


def _mode(term: TermPattern, head: Pattern) -> PackError:
    if term.text.lower() in _MODES and term.span:
        return capitalised(term, term.text.lower(), "a mode")
    return PackError(
        "unknown-mode",
        f"a rule is situational or temporal, not {term.text}",
        where=term.span or head.span,
        help=nearest(term.text, _MODES),
        fix=suggestion(term, _MODES),
    )


def _binding(head: Pattern) -> Iterator[PackError]:
    term = head.args[1]
    parts = term.parts if term.kind == "tuple" else (term,)
    if term.kind == "tuple" and len(parts) == 1:
        where = term.span or head.span
        yield PackError(
            "bad-binding",
            f"{term.text} is no binding",
            where=where,
            help=f"write {parts[0].text}",
            fix=Fix(f"write {parts[0].text}", where, parts[0].text),
        )
    elif any(part.kind not in ("variable", "string") for part in parts):
        yield PackError(
            "bad-binding",
            f"{term.text} is no binding",
            where=term.span or head.span,
            help="a binding is one object X, a tuple of objects (X,Y), or ()",
        )


def _complete(program: Program, rules: Mapping[str, str]) -> Iterator[PackError]:
    stated = {(key, name) for rule in program.rules if rule.head for key, name in dependency_key(rule.head)}
    for rule in program.rules:
        if rule.head is None or rule.head.name != "rule" or not rule.head.args:
            continue
        for part in rule.head.args[0].alternatives():
            if part.kind != "constant":
                continue
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


def _bindings(program: Program) -> Iterator[PackError]:
    """One binding for each rule, in all of its hazards, intents and targets: as many objects, in the same order."""
    first: dict[str, tuple[tuple[str, ...], Pattern]] = {}
    for rule in program.rules:
        if rule.head is None or rule.head.name not in MEMBERS or len(rule.head.args) != 2:
            continue
        term = rule.head.args[1]
        names = tuple(part.text for part in (term.parts if term.kind == "tuple" else (term,)))
        for part in rule.head.args[0].alternatives():
            known, other = first.setdefault(part.name, (names, rule.head))
            place = f"{other.name} at line {other.span.line}"
            where = term.span or rule.head.span
            if len(known) != len(names):
                yield PackError(
                    "binding-arity",
                    f"{part.name} binds {len(names)} objects here and {len(known)} in {place}",
                    where=where,
                    help="hazard, threatens and resolved of a rule bind the same objects",
                )
            elif known != names and set(known) == set(names) and len(set(names)) == len(names):
                yield PackError(
                    "binding-order",
                    f"{part.name} binds {term.text} here and {other.args[1].text} in {place}",
                    where=where,
                    help="bind the same objects in the same order, or name the variables differently",
                    fix=Fix(f"write {other.args[1].text}", where, other.args[1].text, safe=False),
                )
