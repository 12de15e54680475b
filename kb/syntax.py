"""Syntax errors, statement by statement, each with what was probably meant.

clingo stops at the first error of a text. Here every statement that cannot be read is looked at by itself, and the
usual mistakes (`mistakes`) are told from its tokens.
"""

from __future__ import annotations

from collections.abc import Iterator

from obviate.kb import asp
from obviate.kb.errors import Fix, PackError, Span
from obviate.kb.mistakes import RECOGNISERS, Broken, Mistake, wrappings
from obviate.kb.tokens import significant, tokenize

__all__ = ["syntax_errors"]

_SYNTAX = "syntax"


def syntax_errors(text: str, file: str) -> list[PackError]:
    """What keeps a text from being read: at most one error for each statement, in their order."""
    found = [_placed(mistake, text, file) for mistake in wrappings(text)]
    if not found:
        for start, end in _statements(text):
            found += _errors_of(text, start, end, file)
    return found


def _statements(text: str) -> Iterator[tuple[int, int]]:
    """The offsets of statements: they end at a period that is followed by space, a comment or the end."""
    tokens = tokenize(text)
    start = 0
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        if token.text == "." and (after is None or after.kind in ("space", "comment")):
            yield start, token.end
            start = token.end
    if any(True for _ in significant(tokenize(text[start:]))):
        yield start, len(text)


def _errors_of(text: str, start: int, end: int, file: str) -> Iterator[PackError]:
    part = text[start:end]
    error = _first_error(part)
    if error is None:
        return
    if error.code != _SYNTAX or not isinstance(error.where, Span):
        yield _moved(error, text, start, file)
        return
    stopped = _offset(part, error.where)
    tokens = list(significant(tokenize(part)))
    broken = Broken(part, tokens, stopped)
    for recognise in RECOGNISERS:
        mistake = recognise(broken)
        if mistake is not None and _helps(mistake, part, stopped):
            yield _placed(mistake, text, file, start)
            return
    yield _moved(error, text, start, file)


def _first_error(part: str) -> PackError | None:
    try:
        asp.parse(part, "")
    except PackError as error:
        return error
    return None


def _helps(mistake: Mistake, part: str, stopped: int) -> bool:
    """Whether the statement can be read further once the mistake is mended."""
    if mistake.replacement is None:
        return True
    begin, end = mistake.edit or (mistake.start, mistake.end)
    mended = part[:begin] + mistake.replacement + part[end:]
    error = _first_error(mended)
    if error is None or not isinstance(error.where, Span):
        return error is None
    whole = mistake.code == "unbalanced"  # further on does not tell that the guess is right
    return not whole and _offset(mended, error.where) - len(mistake.replacement) + (end - begin) > stopped


def _offset(text: str, where: Span) -> int:
    lines = text.split("\n")
    return sum(len(line) + 1 for line in lines[: where.line - 1]) + where.column - 1


def _placed(mistake: Mistake, text: str, file: str, start: int = 0) -> PackError:
    fix = None
    where = span_of(text, start + mistake.start, start + mistake.end, file)
    if mistake.replacement is not None:
        begin, end = mistake.edit or (mistake.start, mistake.end)
        title = f"write {mistake.replacement.strip()}" if mistake.replacement.strip() else "remove it"
        fix = Fix(title, span_of(text, start + begin, start + end, file), mistake.replacement, mistake.safe)
    return PackError(mistake.code, mistake.message, where=where, help=mistake.help, fix=fix)


def _moved(error: PackError, text: str, start: int, file: str) -> PackError:
    """An error of a statement, at its place in the whole text."""
    assert isinstance(error.where, Span)
    offset = min(start + _offset(text[start:], error.where), len(text))
    end = offset + max(1, error.where.end_column - error.where.column)
    return PackError(error.code, error.message, where=span_of(text, offset, end, file), help=error.help, fix=error.fix)


def span_of(text: str, start: int, end: int, file: str) -> Span:
    """The place between two offsets of a text."""
    line, end_line = text.count("\n", 0, start), text.count("\n", 0, end)
    column, end_column = start - text.rfind("\n", 0, start), end - text.rfind("\n", 0, end)
    source = text.split("\n")[line] if line < 100_000 else ""
    return Span(file, line + 1, column, source[:500], end_line + 1, end_column)
