"""Candidates for a model that is too small to be asked: enumerated, and ranked by the noisy channel.

The model never writes. It tells how likely the principle is after each name, which gives a few names of each sort; all
plain rules over these are put in words, and the ones after which the principle is likeliest are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from obviate.compilers.decoder import Scorer
from obviate.compilers.rules.ranking import Channel
from obviate.compilers.rules.shape import Clause, Place, Shape, Thing, Threat, Words
from obviate.kb import Vocabulary

__all__ = ["proposals"]

_TAGS, _STATES, _RELATIONS, _SKILLS = 3, 2, 2, 2  # kept of each sort
_KEPT = 4  # candidates
_PREFIX = "Topic: {}\nIn short:"
_NEUTRAL = " The robot works in the house."


def proposals(principle: str, scorer: Scorer, vocabulary: Vocabulary) -> list[tuple[Shape, float]]:
    """The likeliest plain rules for a principle, with their scores in nats, the best first."""
    words = Words.of(vocabulary)
    near = _Near(
        tags=_likeliest(principle, words.tags, scorer, _TAGS),
        states=_likeliest(principle, words.states, scorer, _STATES),
        relations=_likeliest(principle, sorted(vocabulary.relations), scorer, _RELATIONS),
        skills=_likeliest(principle, [s for s, n in words.skills.items() if n in (1, 2)], scorer, _SKILLS),
    )
    shapes = [*dict.fromkeys(near.rules(words))]
    scores = Channel(scorer, vocabulary).scores(principle, shapes)
    ranked = sorted(zip(shapes, scores, strict=True), key=lambda pair: -pair[1])
    return ranked[:_KEPT]


def _likeliest(principle: str, names: Sequence[str], scorer: Scorer, count: int) -> tuple[str, ...]:
    scores = {}
    for name in names:
        own, neutral = scorer.logprobs(_PREFIX.format(name.replace("_", " ")), [f" {principle}", _NEUTRAL])
        scores[name] = own - neutral
    return tuple(sorted(names, key=lambda name: -scores[name])[:count])


@dataclass(frozen=True, slots=True)
class _Near:
    """The names that are near a principle, and the plain rules over them."""

    tags: tuple[str, ...]
    states: tuple[str, ...]
    relations: tuple[str, ...]
    skills: tuple[str, ...]

    def rules(self, words: Words) -> Iterator[Shape]:
        """One object in a state, one that is related to another, and two that an action brings together."""
        for tag, state in product(self.tags, self.states):
            hazard: Clause = (Thing(object="X", tags=((tag,),), states=((state,),)),)
            yield Shape(mode="temporal", about=("X",), hazard=(hazard,))
            yield from (_situational(hazard, skill, words, "X") for skill in self.skills)
        for tag, other in product(self.tags, self.tags):
            if tag == other:
                continue
            for relation in self.relations:
                at = (Place(relations=(relation,), of="Y"),)
                hazard = (Thing(object="X", tags=((tag,),), at=at), Thing(object="Y", tags=((other,),)))
                yield Shape(mode="temporal", about=("X", "Y"), hazard=(hazard,))
                yield from (_situational(hazard, skill, words, "Y") for skill in self.skills)
            for states in ((), *(((state,),) for state in self.states)):
                hazard = (Thing(object="X", tags=((tag,),)), Thing(object="Y", tags=((other,),), states=states))
                for skill in self.skills:
                    if words.skills[skill] == 2:
                        threat = Threat(skills=(skill,), args=("X", "Y"))
                        yield Shape(mode="situational", about=("X", "Y"), hazard=(hazard,), threats=(threat,))


def _situational(hazard: Clause, skill: str, words: Words, on: str) -> Shape:
    args = (on, *(["_"] * (words.skills[skill] - 1)))
    about = tuple(thing.object for thing in hazard)
    return Shape(mode="situational", about=about, hazard=(hazard,), threats=(Threat(skills=(skill,), args=args),))
