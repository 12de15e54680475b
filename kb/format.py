"""The one layout of rule packs. Only whitespace changes: tokens, comments and their order are the author's.

Where a line may break, and what is spaced, follow from the tokens alone. The author's own lines count in one case: in
a statement with comments inside, what a comment stands beside stays on its line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from obviate.kb.asp import parse
from obviate.kb.errors import PackError
from obviate.kb.tokens import Token, significant, tokenize

__all__ = ["WIDTH", "formatted"]

WIDTH = 100
_INDENT = 4
_SEPARATORS = frozenset(",;")
_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")
_HUGGING = frozenset(",;.)]")
_TIGHT = frozenset({"+", "-", "*", "**", "/", "\\", "..", "~", "@"})
_TERMS = frozenset({"name", "variable", "number", "string"})
_CONSTANTS = frozenset({"#true", "#false", "#inf", "#infimum", "#sup", "#supremum"})


def formatted(text: str, *, file: str = "<text>") -> str:
    """`text` in the canonical layout; formatting that again changes nothing.

    Raises `PackError` for a text that clingo cannot read, or that holds a script; `file` is what it says of the place.
    """
    for statement in parse(text, file).others:
        if statement.kind == "script":
            raise PackError("refused-statement", "a pack may not run code", where=statement.span, help="write rules")
    lines: list[str] = []
    for blank, words in _parts(text):
        if blank and lines:
            lines.append("")
        for line in _lines(words):
            code = _code(line)
            if code:
                lines.append(code)
            for note in line[-1].notes:
                _place(note, lines, indent=0 if line[-1].last else _INDENT)
    return "".join(f"{line}\n" for line in lines)


# -- the parts of a text ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Note:
    """A comment: the column where it stood, and whether it began its line."""

    text: str
    column: int
    own: bool


@dataclass(slots=True)
class _Word:
    """A token in its statement: the space before it, how many brackets and whether the ``:-`` are around it; whether
    the author ended the line after it, and the comments that stand there.
    """

    text: str
    end: int = 0
    space: str = ""
    depth: int = 0
    in_body: bool = False
    first: bool = False
    last: bool = False
    ends_line: bool = False
    notes: list[_Note] = field(default_factory=list)

    @property
    def indent(self) -> int:
        """Of a line that begins with it."""
        return 0 if self.first else _INDENT * (1 + (self.in_body and self.depth > 0))


def _parts(text: str) -> list[tuple[bool, list[_Word]]]:
    """The statements, and the comments between them, each at a word without text; whether a blank line goes before."""
    tokens = tokenize(text)
    statements = (_words(statement, text) for statement in _statements(tokens))
    rest = ((word, statement) for statement in statements for word in statement)
    parts: list[tuple[bool, list[_Word]]] = []
    word = _Word("", last=True)
    newlines = 1
    for token in tokens:
        if token.offset < word.end:  # inside a statement that stays as it is
            continue
        if token.kind == "space":
            newlines += token.text.count("\n")
            word.ends_line |= newlines > 0
            continue
        if token.kind != "comment":
            word, statement = next(rest)
            if word.first:
                parts.append((newlines > 1, statement))
        else:
            column = token.offset - text.rfind("\n", 0, token.offset) - 1
            if newlines and word.last:
                word = _Word("", first=True, last=True)
                parts.append((newlines > 1, [word]))
            word.notes.append(_Note(token.text.rstrip(), column, own=newlines > 0))
        newlines = 0
    return parts


def _statements(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """The tokens of each statement; a weight or a value in square brackets belongs to the one before it."""
    statement: list[Token] = []
    depth = 0
    for token in significant(tokens):
        if statement and depth == 0 and statement[-1].text in (".", "]") and token.text != "[":
            yield statement
            statement = []
        statement.append(token)
        depth += (token.text in _OPENING) - (token.text in _CLOSING)
    if statement:
        yield statement


def _words(statement: Sequence[Token], text: str) -> list[_Word]:
    """The words of a statement; a single one where clingo leaves the operators to a theory, whose spaces may matter."""
    if any(token.text[0] == "&" or token.text == "#theory" for token in statement):
        end = statement[-1].end
        return [_Word(text[statement[0].offset : end], end, first=True, last=True)]
    spacing = _Spacing()
    words = [spacing.word(token) for token in statement]
    words[0].first = words[-1].last = True
    return words


class _Spacing:
    """Makes words of the tokens of one statement, from left to right."""

    def __init__(self) -> None:
        self._open: list[str] = []
        self._left: Token | None = None
        self._term = False  # whether a term ends on the left, so that an operator is binary
        self._hugs = True  # whether what is on the left takes no space after it
        self._in_condition = False  # within braces, after the colon
        self._in_body = False

    def word(self, token: Token) -> _Word:
        text = token.text
        closes = text in _CLOSING or (text == "|" and self._term and self._open[-1:] == ["|"])
        opens = text in _OPENING or (text == "|" and not self._term)
        if closes:
            self._open.pop()
        space = "" if self._hugs or self._hugs_left(text, closes) else " "
        word = _Word(text, token.end, space, len(self._open), self._in_body)
        if opens:
            self._open.append(text)
        if self._open[-1:] == ["{"] and text in ("{", ";", ":"):
            self._in_condition = text == ":"
        self._hugs = (opens and text != "{") or text in _TIGHT or (text == "," and self._in_tuple())
        self._term = token.kind in _TERMS or text == ")" or text in _CONSTANTS or (text == "|" and closes)
        self._in_body |= text == ":-"
        self._left = token
        return word

    def _hugs_left(self, text: str, closes: bool) -> bool:
        left = self._left
        if left is None or text in _HUGGING:
            return True
        if closes:
            return text == "|" or left.text == "{"
        if text in _OPENING:
            return (text == "(" and left.kind == "name") or (text == "{" and left.text.startswith("#"))
        return text in _TIGHT and self._term

    def _in_tuple(self) -> bool:
        """Whether a comma here joins what reads as one: brackets in brackets, or the tuple of an aggregate."""
        brackets = "".join(self._open).rpartition("{")
        if brackets[1] and not brackets[2]:
            return not self._in_condition
        return len(brackets[2]) > 1


# -- lines -----------------------------------------------------------------------------------------


def _lines(words: Sequence[_Word]) -> Iterator[Sequence[_Word]]:
    """The words of a statement, line by line."""
    commented = any(word.notes for word in words[:-1])
    if not commented and _fits(words):
        yield words
        return
    start = 0
    for stop, word in enumerate(words, 1):
        kept = commented and word.ends_line and word.text in _SEPARATORS
        if word.notes or word.last or kept or (word.text == ":-" and not word.first):
            yield from _filled(words[start:stop])
            start = stop


def _filled(words: Sequence[_Word]) -> Iterator[Sequence[_Word]]:
    line: list[_Word] = []
    for piece in _pieces(words, 0):
        if line and not _fits([*line, *piece]):
            yield line
            line = []
        line.extend(piece)
    yield line


def _pieces(words: Sequence[_Word], depth: int) -> Iterator[Sequence[_Word]]:
    """What stays on one line: the words up to a separator in `depth` brackets, or in more where that is too long."""
    if _fits(words) or depth > max(word.depth for word in words):
        yield words
        return
    start = 0
    for stop, word in enumerate(words, 1):
        if stop == len(words) or (word.depth == depth and word.text in _SEPARATORS):
            yield from _pieces(words[start:stop], depth + 1)
            start = stop


def _fits(words: Sequence[_Word]) -> bool:
    return len(_code(words)) <= WIDTH


def _code(line: Sequence[_Word]) -> str:
    rest = "".join(word.space + word.text for word in line[1:])
    return " " * line[0].indent + line[0].text + rest


def _place(note: _Note, lines: list[str], *, indent: int) -> None:
    """Write a comment where it stood, or as near as the code before it allows."""
    if note.own:
        lines.append(" " * indent + note.text)
        return
    used = len(lines[-1].rpartition("\n")[2])
    lines[-1] += " " * (note.column - used if used < note.column < WIDTH else 2) + note.text
