"""Applying fixes to texts: what `obviate check --fix` does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from obviate.kb.errors import Fix, ObviateError, Span

__all__ = ["applied", "mended"]

_ROUNDS = 100


def applied(text: str, fixes: Iterable[Fix]) -> str:
    """The text with the edits made; of two that overlap, the first in the text."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)

    def offset(line: int, column: int) -> int:
        return min(starts[min(line, len(lines)) - 1] + column - 1, len(text))

    edits = sorted(
        (offset(f.where.line, f.where.column), offset(f.where.end_line, f.where.end_column), f.replacement)
        for f in fixes
    )
    parts, at = [], 0
    for begin, end, replacement in edits:
        if begin >= at:
            parts += [text[at:begin], replacement]
            at = end
    return "".join([*parts, text[at:]])


def mended(
    texts: Mapping[str, str],
    problems: Callable[[Mapping[str, str]], Iterable[ObviateError]],
    *,
    unsafe: bool = False,
) -> tuple[dict[str, str], list[ObviateError]]:
    """The texts with every fix made that `problems` offers, until it offers none, and the problems fixed.

    `unsafe` also makes those that guess. Fixes are made in rounds, as one may bring another to light.
    """
    current, done = dict(texts), []
    for _ in range(_ROUNDS):
        found = [p for p in problems(current) if p.fix is not None and (p.fix.safe or unsafe)]
        before = dict(current)
        for file in current:
            fixes = [p.fix for p in found if p.fix is not None and p.fix.where.file == file]
            current[file] = applied(current[file], dict.fromkeys(fixes))
        if current == before:
            break
        done += [p for p in found if isinstance(p.where, Span)]
    return current, done
