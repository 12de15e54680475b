"""The tokens of a text, whether or not it is a program: what formatting and mending work on.

The lexer is pygments-clingo's; nothing is lost, the texts of the tokens make up the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
    from pygments_clingo.clingo import ClingoLexer

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
    for offset, type_, value in ClingoLexer().get_tokens_unprocessed(text):
        kind = next((kind for parent, kind in kinds if type_ in parent), "space" if value.isspace() else "name")
        last = found[-1] if found else None
        together = last is not None and last.kind == kind and kind in ("space", "comment")
        if last is not None and together and (kind == "space" or not last.text.endswith("*%")):
            found[-1] = Token(kind, last.text + value, last.offset)
        else:
            found.append(Token(kind, value, offset))
    return found


def significant(tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens that mean something: neither space nor comment."""
    return (token for token in tokens if token.kind not in ("space", "comment"))
