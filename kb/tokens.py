"""The tokens of a text, whether or not it is a program: what formatting and mending work on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from obviate.kb.scan import COMMENT, STRING

__all__ = ["Token", "significant", "tokenize"]

_TOKEN = re.compile(
    rf"(?P<comment>{COMMENT})|(?P<string>{STRING})"
    r"""
  | (?P<space>\s+)
  | (?P<number>0x[0-9a-fA-F]+|0o[0-7]+|0b[01]+|\d+)
  | (?P<keyword>not(?![\w'])|\#sum\+|\#\w+)
  | (?P<variable>[_']*[A-Z][\w']*|_+(?![\w']))
  | (?P<name>[_']*[a-z][\w']*)
  | (?P<operator>:-|:~|\.\.|[<>!]=|=/=|=<|=>|<>|\\==?|\\\+|=\\=|=:=|==|->|<-|\*\*|[-+*/\\^?&|~=<>@!])
  | (?P<punctuation>[][(){},;:.])
  | (?P<error>.)
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is comment, string, number, variable, name, keyword (``not`` and ``#...``), operator, punctuation, space
    or error (what no program has outside strings); `offset` counts characters from the beginning of the text.
    """

    kind: str
    text: str
    offset: int

    @property
    def end(self) -> int:
        return self.offset + len(self.text)


def tokenize(text: str) -> list[Token]:
    """The tokens of any text; nothing is lost, their texts make up the text.

    Operators of Prolog that clingo lacks, such as ``=<``, are one token too.
    """
    return [Token(match.lastgroup or "error", match[0], match.start()) for match in _TOKEN.finditer(text)]


def significant(tokens: Iterable[Token]) -> Iterator[Token]:
    """The tokens that mean something: neither space nor comment."""
    return (token for token in tokens if token.kind not in ("space", "comment"))
