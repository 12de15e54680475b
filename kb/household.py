"""The household knowledge that ships with Obviate: vocabulary, rule pack, and what objects are."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from obviate.kb.pack import Pack
from obviate.kb.vocabulary import Vocabulary

__all__ = ["folder", "pack", "vocabulary", "words"]

folder = Path(__file__).parent
_WORDS = folder / "vocabularies" / "household.lp"


@cache
def vocabulary() -> Vocabulary:
    """The household vocabulary (paper, Appendix 0.A.1, and what real tasks need besides)."""
    return Vocabulary.load(_WORDS)


def pack(*, consts: Mapping[str, str | int] | None = None, vocabulary: Vocabulary | None = None) -> Pack:
    """The household rule pack. `consts` overrides its switches, for instance ``{"moved_only": 0}``.

    `vocabulary` is the household's and words of your own, to use the pack beside others over the same.
    """
    options = tuple(sorted((consts or {}).items()))
    return _load(options, vocabulary) if vocabulary is not None else _pack(options)


@cache
def _pack(consts: tuple[tuple[str, str | int], ...]) -> Pack:
    return _load(consts, vocabulary())


def _load(consts: tuple[tuple[str, str | int], ...], words: Vocabulary) -> Pack:
    return Pack.load(folder / "packs" / "household.lp", vocabulary=words, consts=dict(consts))


def words(*files: Path | str) -> Vocabulary:
    """The household vocabulary and the words of further files."""
    return Vocabulary.load(_WORDS, *files) if files else vocabulary()
