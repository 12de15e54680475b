"""What can go wrong, said so that it can be mended.

One base class and a handful of leaves, none meant to be subclassed further. Every error carries a stable `code`
(listed with an example in ``docs/errors.md``), the place it concerns, and where possible a `help`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = [
    "ActionError",
    "DataError",
    "DisagreementError",
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
    """A place in a text: file name, then 1-based line and column of its first character."""

    file: str
    line: int
    column: int
    source: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def excerpt(self) -> str:
        """The source line with a caret under the column; empty when the source is not known."""
        if not self.source:
            return ""
        shown = self.source.expandtabs(1).rstrip()
        return f"  {shown}\n  {' ' * (self.column - 1)}^"


class ObviateError(Exception):
    """Anything that Obviate refuses. Nothing has changed when one is raised.

    `code` is stable and documented; `where` is a `Span` in a text, or a path into a value such as
    ``add_edges[2].dst``; `help` says how to mend it.
    """

    def __init__(self, code: str, message: str, *, where: Span | str = "", help: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.where = where
        self.help = help

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
