"""A first look at a program text, before clingo sees it: what would open files, call code or end the process.

clingo opens included files while it parses, stops reading at NUL, and overflows its stack on terms nested
thousands deep. Texts come from models and strangers, so none of that may get as far.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from obviate.kb.errors import Fix, PackError, Span

__all__ = ["COMMENT", "code_of", "inspect"]

MAX_DEPTH = 50
MAX_STATEMENT = 20_000
MAX_CHAIN = 500
MAX_RANGE = 10_000
_CONST = re.compile(r"#const\s+(\w+)\s*=\s*(-?\d{1,20})")
_RANGE = re.compile(
    r"(?P<before>[*+/\\^?&]\s*|\w\s*-\s*)?(?P<low>-?\w{1,20})\s*\.\.\s*(?P<high>-?\w{1,20})\s*(?P<after>[-*+/\\^?&(])?"
)
_MAX_INT = 2**31 - 1
# What word processors and language models write for the plain character.
_TYPOGRAPHIC = {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "−": "-", "\u00a0": " "}
_TYPOGRAPHIC |= {"≠": "!=", "≤": "<=", "≥": ">=", "¬": "not ", "∧": ",", "←": ":-", "⇐": ":-", "…": "..."}
# A % inside a block comment hides the rest of its line, a *% that closes it included.
COMMENT = r"%\*(?:%[^\n]*|\*(?!%)|[^*%]+)*(?:\*%|\Z)|%[^\n]*"
_HIDDEN = re.compile(rf'"(?:[^"\\\n]|\\.)*"|{COMMENT}|#script\b.*?(?:#end|\Z)', re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.])\d{10,}")
_OPERATORS = re.compile(rf"(?:[-~&+*/\\^?|]\s*|\b\d+\s*[-+*/\\^&?]+\s*){{{MAX_CHAIN},}}")


def code_of(text: str) -> str:
    """`text` with strings, comments and scripts blanked out, every character else in its place."""
    return _HIDDEN.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def inspect(text: str, file: str) -> Iterator[PackError]:
    """What must not reach the solver, most dangerous first; each at its place."""
    lines = text.split("\n")

    def error(code: str, offset: int, message: str, help: str, replacement: str | None = None) -> PackError:
        line = text.count("\n", 0, offset)
        column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        where = Span(file, line + 1, column, lines[line].replace("\0", "?")[:500], line + 1, column + 1)
        fix = Fix(f"write {replacement}", where, replacement) if replacement is not None else None
        return PackError(code, message, where=where, help=help, fix=fix)

    for match in re.finditer("[\0\ud800-\udfff]", text):
        yield error("syntax", match.start(), f"the character {match[0]!a} is not allowed", "remove it")
    yield from (error("syntax", *found) for found in _comments(text, closed=True))
    yield from (error("unclosed-comment", *found) for found in _comments(text, closed=False))
    code = code_of(text)
    for match in re.finditer(r"[^\x00-\x7f]", code):
        help = "write names in ASCII, texts in quotes"
        plain = _TYPOGRAPHIC.get(match[0])
        yield error("not-ascii", match.start(), f"{match[0]!r} outside a string", help, plain)
    for match in re.finditer("#include", code):
        yield error("include-refused", match.start(), "this is no file of the pack", "include files beside it, by name")
    for match in re.finditer("@", code):
        yield error("refused-function", match.start(), "a pack may not call functions (@)", "packs are pure logic")
    for match in _NUMBER.finditer(code):
        if int(match[0][:20]) > _MAX_INT:
            yield error("integer-overflow", match.start(), f"clingo's integers end at {_MAX_INT}", "use smaller units")
    yield from (error("too-wide", *found) for found in _too_wide(code))
    yield from (error("too-deep", *found) for found in _too_deep(code))


def _comments(text: str, *, closed: bool) -> Iterator[tuple[int, str, str]]:
    """The block comments that another opens in, or that are never closed."""
    for match in _HIDDEN.finditer(text):
        if match[0].startswith("%*") and "%*" in match[0][2:]:
            if closed:
                yield match.start(), "block comments are not nested", "close it before the next opens"
        elif match[0].startswith("%*") and not match[0].endswith("*%") and not closed:
            yield match.start(), "this comment is never closed", "end it with *%"


def _too_wide(code: str) -> Iterator[tuple[int, str, str]]:
    values = dict(_CONST.findall(code))
    for match in _RANGE.finditer(code):
        bounds = [str(values.get(bound, bound)) for bound in match.group("low", "high")]
        if match["before"] or match["after"]:
            yield match.start(), f"the range {match[0].strip()} is computed", "write its bounds as plain numbers"
        elif all(bound.lstrip("-").isdigit() for bound in bounds) and int(bounds[1]) - int(bounds[0]) > MAX_RANGE:
            yield match.start(), f"the range {match[0].strip()} has over {MAX_RANGE:,} numbers", "compare instead"


def _too_deep(code: str) -> Iterator[tuple[int, str, str]]:
    depth = 0
    for match in re.finditer(r"[(){}\[\]]|\.(?=\s|\Z)", code):
        if match[0] in "([{":
            depth += 1
        elif match[0] in ")]}":
            depth -= 1
        else:
            depth = 0
        if depth > MAX_DEPTH:
            yield match.start(), f"brackets are nested over {MAX_DEPTH} deep", "use helper predicates"
            return
    for statement in re.finditer(r"(?:[^.]|\.(?!\s|\Z))+", code):
        if len(statement[0]) > MAX_STATEMENT:
            start = statement.end() - len(statement[0].lstrip())
            yield start, f"a statement has over {MAX_STATEMENT:,} characters", "split it"
            return
        chain = _OPERATORS.search(statement[0])
        if chain is not None:
            start = statement.start() + chain.start()
            yield start, f"over {MAX_CHAIN} operators in a row", "use helper predicates"
            return
