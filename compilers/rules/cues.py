"""What the words of a principle lead one to expect of its rule: a reading back that needs no model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from pydantic import BaseModel

from obviate.engine.slice import Slice

__all__ = ["cue_doubts", "injected"]

_LONGEST = 300  # characters of a principle
_END = r"(leav\w+ the (house|room|kitchen)|the task ends|you (are )?(done|finish|leave))"


class _Cues(BaseModel):
    about: str
    cues: list[tuple[list[str], list[str]]]
    injection: list[str]


class _Read(NamedTuple):
    cues: list[tuple[re.Pattern[str], frozenset[str]]]
    injection: list[re.Pattern[str]]


@cache
def _table() -> _Read:
    text = files("obviate.compilers.rules").joinpath("data/cues.json").read_text(encoding="utf-8")
    known = _Cues.model_validate(json.loads(text))
    cues = [
        (re.compile(r"\b(" + "|".join(map(re.escape, words)) + ")"), frozenset(names)) for words, names in known.cues
    ]
    return _Read(cues, [re.compile(pattern, re.IGNORECASE) for pattern in known.injection])


def injected(principle: str) -> str | None:
    """Why a principle reads like something else than one: an order to a model, or code."""
    if len(principle) > _LONGEST:
        return f"the principle has over {_LONGEST} characters"
    for pattern in _table().injection:
        if match := pattern.search(principle):
            return f"the principle reads like an order to a model or like code: {match[0]!r}"
    return None


def cue_doubts(principle: str, part: Slice) -> Iterator[str]:
    """What the principle speaks of and the rule does not read, and what the rule does and is not spoken of."""
    said = f" {re.sub(r'[^a-z]+', ' ', principle.lower())} "
    vocabulary = part.vocabulary
    read = {*part.reads("tag"), *part.reads("state"), *part.reads("state", positive=False), *part.reads("edge")}
    read |= {*part.skills, *part.reads("value")} | ({"moved"} if part.moving else set())
    read |= {pattern.name for pattern in part.patterns()}
    known = {*vocabulary.tags, *vocabulary.states, *vocabulary.relations, *vocabulary.skills, *vocabulary.quantities}
    spoken: set[str] = set()
    for pattern, names in _table().cues:
        match = pattern.search(said)
        if match and names & known:
            spoken |= names
            if not names & read:
                meant = ", ".join(sorted(names & known))
                yield f"the principle says {match[0].strip()!r}, and the rule reads none of {meant}"
    own = {name for name in known if re.search(rf"\b{re.escape(name.rpartition('_')[2])}", said)}
    if not (spoken | own) & read:
        yield "the principle speaks of nothing that the rule reads"
    strange = {tag for tag in part.reads("tag") if tag not in spoken | own}
    if strange and not {*part.reads("tag")} - strange:
        yield f"the principle speaks of none of its tags: {', '.join(sorted(strange))}"
    before = re.search(rf"\bbefore\b(?! {_END})", said)
    if before and part.rule.mode == "temporal":
        yield "the principle says 'before', and the rule is about the end of the task"
    if (
        re.search(rf"\b(after|once) use\b|\bafter\b|\bbefore {_END}", said)
        and part.rule.mode == "situational"
        and not before
    ):
        yield "the principle says what is owed afterwards, and the rule is about what comes before an action"
