"""What can go wrong, said so that it can be mended.

One base class and a handful of leaves, none meant to be subclassed further. Every error carries a stable `code`
(listed with an example in ``docs/errors.md``), the place it concerns, and where possible a `help`.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = [
    "ActionError",
    "DataError",
    "DecodeError",
    "DisagreementError",
    "Fix",
    "LifecycleError",
    "ObviateError",
    "PackError",
    "PatchError",
    "Span",
    "VocabularyError",
    "nearest",
]


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a text: file name, 1-based line and column of its first character, and where it ends.

    The end is the line and column after its last character; 0 where only the beginning is known.
    """

    file: str
    line: int
    column: int
    source: str = ""
    end_line: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def excerpt(self) -> str:
        """The source line, underlined from the column on; empty when the source is not known."""
        if not self.source:
            return ""
        shown = visible(self.source.rstrip())
        end = self.end_column if self.end_line == self.line else len(shown) + 1 if self.end_line else 0
        before, marked = shown[: self.column - 1], shown[self.column - 1 : max(end, self.column + 1) - 1]
        return f"  {shown}\n  {' ' * _cells(before)}{'^' * max(1, _cells(marked))}"


def visible(text: str) -> str:
    """`text` on one line of a terminal: tabs as spaces, other control characters as question marks."""
    return re.sub(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]", "?", text.replace("\t", " "))


def _cells(text: str) -> int:
    """How wide the text is on a terminal."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


@dataclass(frozen=True, slots=True)
class Fix:
    """An edit that mends a text: what stands at `where`, to its end, is replaced. A `safe` one means the same, or
    what the author can only have meant.
    """

    title: str
    where: Span
    replacement: str
    safe: bool = True


class ObviateError(Exception):
    """Anything that Obviate refuses. Nothing has changed when one is raised.

    `code` is stable and documented; `where` is a `Span` in a text, or a path into a value such as
    ``add_edges[2].dst``; `help` says what was expected and how to mend it, `fix` is the edit that does. `severity`
    is ``error``, or ``warning`` for what is reported and never raised.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        where: Span | str = "",
        help: str = "",
        fix: Fix | None = None,
        severity: str = "error",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.where = where
        self.help = help
        self.fix = fix
        self.severity = severity

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        text = f"{place}{self.message} [{self.code}]"
        if isinstance(self.where, Span) and self.where.source:
            text += "\n" + self.where.excerpt()
        return text + (f"\n  help: {self.help}" if self.help else "")


class VocabularyError(ObviateError):
    """A name that no vocabulary declares, or a vocabulary that contradicts itself."""


class PatchError(ObviateError):
    """An observation that the belief graph cannot take; `where` is the path into the patch."""


class ActionError(ObviateError):
    """An action or intent that cannot be understood: unknown skill, object or number of arguments."""


class PackError(ObviateError):
    """A rule pack that cannot be used: syntax, refused construct, undeclared name, unstratified negation."""


class DataError(ObviateError):
    """A file or folder from outside that is missing, malformed or inconsistent."""


class DecodeError(ObviateError):
    """A language model that cannot be asked, or whose answer is not what it was asked for."""


class LifecycleError(ObviateError):
    """An engine that cannot be made as asked, or is used after `close` or after its episode has ended."""


class DisagreementError(ObviateError):
    """Two backends concluded different things from the same beliefs: a bug in Obviate."""


def nearest(word: str, known: Iterable[str]) -> str:
    """A "did you mean" clause for `word`, or what is known when nothing is near."""
    names = sorted(set(known))
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    return f"known: {shown}" if names else ""
