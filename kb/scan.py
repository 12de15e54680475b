"""A first look at a program text, before clingo sees it: what would open files, call code or end the process.

clingo opens included files while it parses, stops reading at NUL, and overflows its stack on terms nested
thousands deep. Texts come from models and strangers, so none of that may get as far.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from obviate.kb.errors import Fix, PackError, Span

__all__ = ["COMMENT", "STRING", "code_of", "inspect"]

MAX_DEPTH = 50
MAX_STATEMENT = 20_000
MAX_CHAIN = 500
_MAX_INT = 2**31 - 1
# What word processors and language models write for the plain character.
_TYPOGRAPHIC = {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "\u00a0": " ", "\ufeff": ""}
_TYPOGRAPHIC |= {"≠": "!=", "≤": "<=", "≥": ">=", "¬": "not ", "∧": ",", "←": ":-", "⇐": ":-", "…": "..."}
# As clingo reads them: a string has three escapes and ends on its line; a % inside a block comment hides the rest of
# its line, a *% that closes it included.
STRING = r'"(?:[^"\\\n]|\\["\\n])*"'
COMMENT = r"%\*(?:%[^\n]*|\*(?!%)|[^*%]+)*(?:\*%|\Z)|%[^\n]*"
_HIDDEN = re.compile(f"{STRING}|{COMMENT}")
_NUMBER = re.compile(r"(?<![\w.])\d{10,}")
_CONTROL = re.compile(r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]|\r(?!\n)")
_TERM = re.compile(r"\d+|[-~&+*/\\^?|]+|\S")


def code_of(text: str) -> str:
    """`text` with strings and comments blanked out, every character else in its place."""
    return _HIDDEN.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def inspect(text: str, file: str, *, told: bool = False) -> Iterator[PackError]:
    """What must not reach the solver, most dangerous first; each at its place.

    `told` is of texts that people are shown, as principles are: then no control character hides in a string either.
    """
    lines = text.split("\n")

    def error(code: str, offset: int, message: str, help: str, fix: tuple[int, str] | None = None) -> PackError:
        line = text.count("\n", 0, offset)
        column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        source = lines[line][:500]
        where = Span(file, line + 1, column, source, line + 1, column + 1)
        edit = None
        if fix is not None:
            length, replacement = fix
            title = f"write {replacement.strip()}" if replacement.strip() else "remove it"
            edit = Fix(title, Span(file, line + 1, column, source, line + 1, column + length), replacement)
        return PackError(code, message, where=where, help=help, fix=edit)

    code = code_of(text)
    for match in re.finditer(r"#script", code):
        yield error("refused-statement", match.start(), "#script is refused in a rule pack", "a pack may not run code")
        return  # what follows is no ASP
    yield from (error("syntax", *found) for found in _controls(text, text if told else code))
    yield from (error("syntax", *found) for found in _comments(text, closed=True))
    yield from (error("unclosed-comment", *found) for found in _comments(text, closed=False))
    yield from (error("not-ascii", *found) for found in _letters(code))
    if not re.search("[“”„]", code):
        for found in _quotes(code):
            yield error("unclosed-string", *found)
            return  # what follows may be inside it
    for match in re.finditer("#include", code):
        yield error("include-refused", match.start(), "this is no file of the pack", "include files beside it, by name")
    for match in re.finditer("@", code):
        yield error("refused-function", match.start(), "a pack may not call functions (@)", "packs are pure logic")
    for match in _NUMBER.finditer(code):
        if int(match[0][:20]) > _MAX_INT:
            yield error("integer-overflow", match.start(), f"clingo's integers end at {_MAX_INT}", "use smaller units")
    yield from (error("too-deep", *found) for found in _too_deep(code))


def _controls(text: str, shown: str) -> Iterator[tuple[int, str, str, tuple[int, str] | None]]:
    """What clingo cannot take anywhere, and control characters in what is `shown`."""
    for match in (*re.finditer("[\0\ud800-\udfff]", text), *_CONTROL.finditer(shown)):
        fix = (1, " ") if match[0] in "\x0b\x0c" else None
        yield match.start(), f"the character {match[0]!a} is not allowed", "remove it", fix


def _comments(text: str, *, closed: bool) -> Iterator[tuple[int, str, str]]:
    """The block comments that another opens in, or that are never closed."""
    for match in _HIDDEN.finditer(text):
        if match[0].startswith("%*") and "%*" in match[0][2:]:
            if closed:
                yield match.start(), "block comments are not nested", "close it before the next opens"
        elif match[0].startswith("%*") and not match[0].endswith("*%") and not closed:
            yield match.start(), "this comment is never closed", "end it with *%"


def _quotes(code: str) -> Iterator[tuple[int, str, str]]:
    """The quotes that belong to no string."""
    for match in re.finditer('"', code):
        help = 'end it with "; it may hold no escapes but \\n, \\" and \\\\'
        yield match.start(), "this string does not end on its line", help


def _letters(code: str) -> Iterator[tuple[int, str, str, tuple[int, str] | None]]:
    for match in re.finditer(r"[^\x00-\x7f]", code):
        plain = _TYPOGRAPHIC.get(match[0])
        fix = (1, plain) if plain is not None else None
        yield match.start(), f"{match[0]!r} outside a string", "write names in ASCII, texts in quotes", fix


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
        run = 0
        for term in _TERM.finditer(statement[0]):
            operators = term[0][0] in "-~&+*/\\^?|"
            run = run + len(term[0]) if operators else run if term[0].isdigit() else 0
            if run > MAX_CHAIN:
                start = statement.start() + term.start()
                yield start, f"over {MAX_CHAIN} operators in a row", "use helper predicates"
                return
