"""What a pack may say and its author hardly means: warnings, which never keep a pack from loading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from obviate.kb.errors import Fix, PackError, Span
from obviate.kb.predicates import DESCRIPTIONS, MEMBERS
from obviate.kb.program import Program, Rule, TermPattern
from obviate.kb.reader import operations
from obviate.kb.syntax import span_of
from obviate.kb.tokens import Token, significant, tokenize

__all__ = ["warnings"]


def warnings(program: Program, texts: Mapping[str, str]) -> Iterator[PackError]:
    """Rules without a principle, helpers that nothing reads, variables used once, commas mixed with semicolons,
    divisions that may have no value.
    """
    if not any(rule.head is not None and rule.head.name == "rule" for rule in program.rules):
        where = span_of("", 0, 0, next(iter(texts), ""))
        yield _warning("no-rules", "this pack has no rule", where, "begin with rule(name, temporal).")
    yield from _without_principle(program)
    yield from _unread(program)
    seen: set[Span] = set()
    for rule in program.rules:
        if rule.span not in seen:  # a pool in a head makes several rules of one
            seen.add(rule.span)
            yield from _used_once(rule)
            yield from _divisions(rule, program.constants)
    for file, text in texts.items():
        yield from _mixed(text, file)


def _warning(code: str, message: str, where: Span, help: str, fix: Fix | None = None) -> PackError:
    return PackError(code, message, where=where, help=help, fix=fix, severity="warning")


def _without_principle(program: Program) -> Iterator[PackError]:
    facts = [rule for rule in program.rules if rule.head is not None and rule.head.name in DESCRIPTIONS]
    told = {
        part.name
        for rule in facts
        if rule.head is not None and rule.head.name == "principle"
        for part in rule.head.args[0].alternatives()
    }
    for rule in facts:
        for part in rule.head.args[0].alternatives() if rule.head is not None and rule.head.name == "rule" else ():
            if part.name not in told:
                yield _warning(
                    "no-principle",
                    f"the rule {part.name} says nothing to people",
                    part.span or rule.span,
                    f'add principle({part.name}, "What to do, in a sentence.").',
                )


def _unread(program: Program) -> Iterator[PackError]:
    read = {pattern.signature for rule in program.rules for literal in rule.body for pattern, _ in literal.inner}
    told: set[tuple[str, int, bool]] = set()
    for rule in program.rules:
        head = rule.head
        if head is None or head.name in MEMBERS or head.name in DESCRIPTIONS or head.signature in read | told:
            continue
        told.add(head.signature)
        yield _warning(
            "unused-helper", f"nothing reads {head.name}/{len(head.args)}", head.span, "remove it, or use it in a rule"
        )


def _used_once(rule: Rule) -> Iterator[PackError]:
    counts = Counter(token.text for token in tokenize(rule.text) if token.kind == "variable")
    patterns = [pattern for literal in rule.body for pattern, _ in literal.inner]
    terms = [term for pattern in patterns for arg in pattern.args for term in arg.walk()]
    for name in sorted(name for name, count in counts.items() if count == 1 and not name.startswith("_")):
        place = next((term.span for term in terms if term.kind == "variable" and term.text == name and term.span), None)
        if place is not None:
            help = "a misspelt variable? write _ where it does not matter"
            yield _warning("used-once", f"{name} is used once", place, help, Fix("write _", place, "_"))


def _is_number(term: TermPattern, consts: Mapping[str, str]) -> bool:
    return term.kind == "number" or (term.kind == "constant" and consts.get(term.name, "0").strip("-0").isdigit())


def _divisions(rule: Rule, consts: Mapping[str, str]) -> Iterator[PackError]:
    heads = operations(rule.head.args) if rule.head is not None else ()
    for term in (*heads, *(term for literal in rule.body for term in literal.computed)):
        for part in term.walk():
            if part.kind == "operation" and part.name in ("/", "\\", "**") and not _is_number(part.parts[-1], consts):
                yield _warning(
                    "undefined-arithmetic",
                    f"{part.text} has no value where {part.parts[-1].text} is 0 or less: such beliefs are refused",
                    part.span or rule.span,
                    "multiply the other side, or divide by a plain number",
                )


def _mixed(text: str, file: str) -> Iterator[PackError]:
    """A body with commas and semicolons: in ASP both mean "and", in Prolog the semicolon means "or"."""
    statement: list[Token] = []
    for token in significant(tokenize(text)):
        statement.append(token)
        if token.text == ".":
            found = _semicolon_among_commas(statement)
            if found is not None:
                yield _warning(
                    "mixed-separators",
                    "';' means 'and' here, as ',' does",
                    span_of(text, found.offset, found.end, file),
                    "for 'or' write one rule for each alternative; for 'and' write ','",
                )
            statement = []


def _semicolon_among_commas(statement: Sequence[Token]) -> Token | None:
    depth, body = 0, False
    marks: list[Token] = []
    for token in statement:
        depth += (token.text in ("(", "{", "[")) - (token.text in (")", "}", "]"))
        body |= token.text == ":-"
        if body and depth == 0 and token.text in (",", ";", ":"):
            marks.append(token)
    kinds = {token.text for token in marks}
    return next(token for token in marks if token.text == ";") if kinds == {",", ";"} else None
