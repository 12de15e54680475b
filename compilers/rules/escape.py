"""Whether a target can be false while the hazard holds: otherwise its rule would never open a record.

For each clause of the target, one condition is looked for that nothing makes true by itself; together they must be
able to fail.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING

from obviate.compilers.rules.shape import EXTRA, Clause, Thing

if TYPE_CHECKING:
    from obviate.compilers.rules.settling import About, Facts

__all__ = ["escapes"]

Failure = tuple[str, str, frozenset[str]]  # ``has``, ``has not`` or ``unseen``; an object, or every one; names


def escapes(target: Sequence[Clause], before: Sequence[Facts]) -> bool:
    """Whether every clause of the target can fail at once, whatever the hazard and its threats ask for."""
    choices = [list(_failures(clause, before)) for clause in target]
    return any(_agree(chosen) for chosen in product(*choices))


def _agree(chosen: Sequence[Failure]) -> bool:
    gained = [(name, words) for how, name, words in chosen if how == "has"]
    lost = [(name, words) for how, name, words in chosen if how == "has not"]
    return not any(words & others and other in (name, "") for name, words in gained for other, others in lost)


def _failures(clause: Clause, before: Sequence[Facts]) -> Iterator[Failure]:
    for thing in clause:
        yield from _failures_of(thing, before)


def _failures_of(thing: Thing, before: Sequence[Facts]) -> Iterator[Failure]:
    """The ways in which a condition on an object can fail."""
    name = thing.object
    extra = name in EXTRA
    every = [about for facts in before for about in facts.about.values()]
    known = every if extra else [facts.about[name] for facts in before if name in facts.about]
    tags = {word for about in known for group in about.tags for word in group}
    states = {word for about in known for group in about.states for word in group}
    for groups, asked in ((thing.tags, tags), (thing.states, states)):
        for group in groups:
            if not asked & set(group):
                yield "has not", "" if extra else name, frozenset(group)
    if not extra:
        yield from _denials(thing, known, every)
        yield from _relations(thing, known, every)


def _denials(thing: Thing, known: Sequence[About], every: Sequence[About]) -> Iterator[Failure]:
    denied = {word for about in known for word in (*about.not_tags, *about.not_states, *about.seen_not)}
    denied |= {word for about in every for lack in about.lacks for word in lack.tags}
    for word in (*thing.not_tags, *thing.not_states):
        if word not in denied:
            yield "has", thing.object, frozenset({word})
    for word in thing.seen_not:
        if not any(word in about.seen_not for about in known):
            yield "unseen", thing.object, frozenset({word})


def _relations(thing: Thing, known: Sequence[About], every: Sequence[About]) -> Iterator[Failure]:
    name = thing.object
    linked = any(about.at for about in known) or any(place.of == name for about in every for place in about.at)
    if thing.moved and not any(about.moved for about in known):
        yield "has not", name, frozenset({"moved"})
    if thing.measures and not any(about.measures for about in known):
        yield "unseen", name, frozenset()
    if thing.at and not linked:
        yield "has not", name, frozenset({"edge"})
    if thing.lacks and not linked and not any(about.lacks for about in every):
        yield "has", name, frozenset({"edge"})
