"""The household knowledge that ships with Obviate: vocabulary, rule pack, and what objects are."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from obviate.kb.pack import Pack
from obviate.kb.vocabulary import Vocabulary

__all__ = ["folder", "pack", "vocabulary"]

folder = Path(__file__).parent


@cache
def vocabulary() -> Vocabulary:
    """The household vocabulary (paper, Appendix 0.A.1, and what real tasks need besides)."""
    return Vocabulary.load(folder / "vocabularies" / "household.lp")


def pack(*, consts: Mapping[str, str | int] | None = None) -> Pack:
    """The household rule pack. `consts` overrides its switches, for instance ``{"moved_only": 0}``."""
    return _pack(tuple(sorted((consts or {}).items())))


@cache
def _pack(consts: tuple[tuple[str, str | int], ...]) -> Pack:
    return Pack.load(folder / "packs" / "household.lp", vocabulary=vocabulary(), consts=dict(consts))
