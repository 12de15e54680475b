"""A first look at a program text, before clingo sees it: what would open files, call code or end the process.

clingo opens included files while it parses, stops reading at NUL, and overflows its stack on terms nested
thousands deep. Texts come from models and strangers, so none of that may get as far.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from obviate.kb.errors import PackError, Span

__all__ = ["code_of", "inspect"]

MAX_DEPTH = 50
MAX_STATEMENT = 20_000
MAX_CHAIN = 500
MAX_RANGE = 10_000
_CONST = re.compile(r"#const\s+(\w+)\s*=\s*(-?\d{1,20})")
_RANGE = re.compile(
    r"(?P<before>[*+/\\^?&]\s*|\w\s*-\s*)?(?P<low>-?\w{1,20})\s*\.\.\s*(?P<high>-?\w{1,20})\s*(?P<after>[-*+/\\^?&(])?"
)
_MAX_INT = 2**31 - 1
_HIDDEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|%\*.*?(?:\*%|\Z)|%[^\n]*|#script\b.*?(?:#end|\Z)', re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.])\d{10,}")
_OPERATORS = re.compile(rf"(?:[-~&+*/\\^?|]\s*|\b\d+\s*[-+*/\\^&?]+\s*){{{MAX_CHAIN},}}")


def code_of(text: str) -> str:
    """`text` with strings, comments and scripts blanked out, every character else in its place."""
    return _HIDDEN.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def inspect(text: str, file: str) -> Iterator[PackError]:
    """What must not reach the solver, most dangerous first; each at its place."""
    lines = text.split("\n")

    def error(code: str, offset: int, message: str, help: str) -> PackError:
        line = text.count("\n", 0, offset)
        column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        source = lines[line].replace("\0", "?")
        return PackError(code, message, where=Span(file, line + 1, column, source[:500]), help=help)

    for match in re.finditer("[\0\ud800-\udfff]", text):
        yield error("syntax", match.start(), f"the character {match[0]!a} is not allowed", "remove it")
    for match in _HIDDEN.finditer(text):
        if match[0].startswith("%*") and "%*" in match[0][2:]:
            yield error("syntax", match.start(), "block comments are not nested", "close it before the next opens")
    code = code_of(text)
    for match in re.finditer(r"[^\x00-\x7f]", code):
        yield error("syntax", match.start(), f"{match[0]!r} outside a string", "write names in ASCII, texts in quotes")
    for match in re.finditer("#include", code):
        yield error("include-refused", match.start(), "#include is refused", "list the files of the pack instead")
    for match in re.finditer("@", code):
        yield error("refused-function", match.start(), "a pack may not call functions (@)", "packs are pure logic")
    for match in _NUMBER.finditer(code):
        if int(match[0][:20]) > _MAX_INT:
            yield error("integer-overflow", match.start(), f"clingo's integers end at {_MAX_INT}", "use smaller units")
    yield from (error("too-wide", *found) for found in _too_wide(code))
    yield from (error("too-deep", *found) for found in _too_deep(code))


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
            yield statement.start(), f"a statement has over {MAX_STATEMENT:,} characters", "split it"
            return
        chain = _OPERATORS.search(statement[0])
        if chain is not None:
            start = statement.start() + chain.start()
            yield start, f"over {MAX_CHAIN} operators in a row", "use helper predicates"
            return
