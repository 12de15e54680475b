"""The tokens of a text, whether or not it is a program: what formatting and mending work on.

The lexer is pygments-clingo's; nothing is lost, the texts of the tokens make up the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

__all__ = ["Token", "significant", "tokenize"]


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is comment, string, number, variable, name, keyword (``not`` and ``#...``), operator, punctuation, space
    or error; `offset` counts characters from the beginning of the text.
    """

    kind: str
    text: str
    offset: int

    @property
    def end(self) -> int:
        return self.offset + len(self.text)


def tokenize(text: str) -> list[Token]:
    """The tokens of any text."""
    from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String

    kinds = (
        (Comment, "comment"),
        (String, "string"),
        (Number, "number"),
        (Name, "variable"),
        (Keyword, "keyword"),
        (Operator, "operator"),
        (Punctuation, "punctuation"),
        (Error, "error"),
    )
    found: list[Token] = []
    closed = True  # whether the last comment is complete
    for offset, type_, value in _lexer().get_tokens_unprocessed(text):
        kind = next((kind for parent, kind in kinds if type_ in parent), "space" if value.isspace() else "name")
        last = found[-1] if found else None
        together = last is not None and last.kind == kind and kind in ("space", "comment")
        if last is not None and together and (kind == "space" or not closed):
            found[-1] = Token(kind, last.text + value, last.offset)
        else:
            found.append(Token(kind, value, offset))
        closed = value == "*%"
    return found


@cache
def _lexer() -> Any:
    """The lexer, where clingo reads otherwise: its own takes ``=-``, and the k of ``kind``, for operators."""
    from pygments.token import Comment, Keyword, Number, Operator, Punctuation, Text
    from pygments_clingo.clingo import ClingoLexer

    first = [
        (r"0(?:x[0-9a-fA-F]+|o[0-7]+|b[01]+)", Number),
        (r"#(?!script|include)\w+\+?|not\b(?!')", Keyword),
        (r"[_']*[a-z][0-9a-zA-Z'_]*", Text),
        (r"\.\.|\*\*|[!<>=]=|<>|[-+*/\\?&@|~!<>=^]", Operator),
        (r";", Punctuation),
    ]
    own = ClingoLexer.tokens
    block = own["nested-comment"]
    block = [*block[:2], (r"%.*", Comment.Multiline), *block[2:]]  # after a %, nothing on that line closes a block
    tokens = {**own, "root": [*first, *own["root"]], "nested-comment": block}
    return type("Lexer", (ClingoLexer,), {"tokens": tokens})()


def significant(tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens that mean something: neither space nor comment."""
    return (token for token in tokens if token.kind not in ("space", "comment"))
