"""The noisy channel: how well a rule explains a principle, told by the probability of the principle after the rule.

Asking a small model for the rule fails, and so does asking it whether a rule is right; the probability that it gives to
the principle after the rule in words is what carries information.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from obviate.compilers.decoder import Scorer
from obviate.compilers.rules.shape import Clause, Shape, Thing
from obviate.kb import Vocabulary

__all__ = ["Channel", "in_words"]

_SHOTS = (
    ("situational. X is storage, and X is open. Before: cleaning X.", "Shut a cupboard before you clean it."),
    ("temporal. X is sharp, X is on top of Y, and Y is a floor.", "Pick up knives that fell on the floor."),
)
_NEUTRAL = "The robot works in the house."  # what every rule explains equally


@dataclass(frozen=True)
class Channel:
    """Scores rules by log P(principle | rule in words), less what the model gives a neutral sentence after it."""

    scorer: Scorer
    vocabulary: Vocabulary

    def scores(self, principle: str, shapes: Sequence[Shape]) -> list[float]:
        """The score of each rule, in nats."""
        shots = "".join(f"Rule: {rule}\nIn short: {said}\n\n" for rule, said in _SHOTS)
        found = []
        for shape in shapes:
            prefix = f"{shots}Rule: {in_words(shape)}\nIn short:"
            own, neutral = self.scorer.logprobs(prefix, [f" {principle}", f" {_NEUTRAL}"])
            found.append(own - neutral)
        return found


def in_words(shape: Shape) -> str:
    """A form in a line of words."""
    hazard = " Or ".join(
        ", and ".join(w for thing in clause for w in _words(thing)) or "anything" for clause in shape.hazard
    )
    acts = "; ".join(
        f"{' or '.join(skill.replace('_', ' ') for skill in threat.skills)} {' '.join(threat.args)}"
        for threat in shape.threats
    )
    target = " or ".join(map(_clause, shape.target))
    return f"{shape.mode}. {hazard}.{f' Before: {acts}.' * bool(acts)}{f' Until: {target}.' * bool(target)}"


def _clause(clause: Clause) -> str:
    return ", and ".join(words for thing in clause for words in _words(thing))


def _words(thing: Thing) -> Iterator[str]:
    name = thing.object
    for group in thing.tags:
        yield f"{name} is {' or '.join(_plain(word) for word in group)}"
    for group in thing.states:
        yield f"{name} is {' or '.join(_plain(word) for word in group)}"
    for word in (*thing.not_tags, *thing.not_states, *thing.seen_not):
        yield f"{name} is not {_plain(word)}"
    if thing.moved:
        yield f"the robot has moved {name}"
    for place in thing.at:
        yield f"{name} is {' or '.join(_plain(word) for word in place.relations)} {place.of}"
    for lack in thing.lacks:
        yield f"{name} is {_plain(lack.relation)} no {' or '.join(map(_plain, lack.tags)) or 'thing'}"
    for measure in thing.measures:
        yield f"the {measure.quantity} of {name} is {measure.side} {measure.number}"


def _plain(name: str) -> str:
    head, _, rest = name.partition("_")
    return (rest if rest and head in ("safety", "function", "material", "appliance") else name).replace("_", " ")
