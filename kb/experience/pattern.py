"""Anti-unification: from what was done in several cases to the pattern that they have in common.

The least general generalisation of atoms, as Plotkin has it: where two cases have different slots there stands a free
slot, the same one wherever the same pair meets, with the tags that both have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from obviate.kb.action import Action
from obviate.kb.belief import BeliefGraph
from obviate.kb.experience.case import Case, slot_names
from obviate.kb.experience.skill import Condition, Slot, Way

__all__ = ["common_facts", "generalise", "merged"]

Example = tuple[Case, tuple[int, ...]]  # a case, and which of its deeds matter


def generalise(examples: Sequence[Example]) -> Way | None:
    """The pattern of deeds with the same skills in the same order; None if they are not, or name too much.

    Bound slots are those of the first case: all cases of a rule name them alike.
    """
    sequences = [[case.deeds[i].parsed for i in indices] for case, indices in examples]
    if len({tuple(action.skill for action in actions) for actions in sequences}) != 1 or not sequences[0]:
        return None
    binding = examples[0][0].binding
    free: dict[tuple[str, ...], frozenset[str]] = {}
    steps: list[Action] = []
    for actions in zip(*sequences, strict=True):
        args: list[tuple[str, ...]] = list(zip(*(action.args for action in actions), strict=True))
        for places in args:
            if not _bound(places, examples):
                tags = [case.tags.get(name, frozenset()) for (case, _), name in zip(examples, places, strict=True)]
                free.setdefault(places, frozenset.intersection(*tags))
        steps.append(Action(actions[0].skill, tuple("\0".join(places) for places in args)))
    keys = {"\0".join(places): places for places in free}
    bound = {"\0".join(p): binding[_bound(p, examples) - 1] for p in _bound_places(sequences, examples)}
    names = slot_names(binding, binding, ((key, free[places]) for key, places in keys.items()))
    names |= bound
    instead = all(case.outcome == "evaded" for case, _ in examples)
    return Way(
        steps=tuple(str(Action(s.skill, tuple(names[key] for key in s.args))) for s in steps),
        slots=tuple(Slot(name=names[key], tags=tuple(sorted(free[places]))) for key, places in keys.items()),
        instead=instead,
    )


def _bound(places: tuple[str, ...], examples: Sequence[Example]) -> int:
    """Which bound slot, from 1, stands at a place in every case; 0 if none."""
    positions = {
        case.binding.index(name) + 1 if name in case.binding else 0
        for (case, _), name in zip(examples, places, strict=True)
    }
    return positions.pop() if len(positions) == 1 else 0


def _bound_places(sequences: Sequence[Sequence[Action]], examples: Sequence[Example]) -> Iterator[tuple[str, ...]]:
    for actions in zip(*sequences, strict=True):
        for places in zip(*(action.args for action in actions), strict=True):
            if _bound(places, examples):
                yield places


def merged(one: Way, other: Way, binding: Sequence[str]) -> Way | None:
    """The pattern of two ways with the same skeleton over the same bound slots; None if they have none."""
    if one.instead != other.instead or [a.skill for a in one.actions] != [a.skill for a in other.actions]:
        return None
    tags = [{slot.name: frozenset(slot.tags) for slot in way.slots} for way in (one, other)]
    pairs: dict[tuple[str, str], frozenset[str]] = {}
    for left, right in zip(one.actions, other.actions, strict=True):
        for pair in zip(left.args, right.args, strict=True):
            if (pair[0] in binding or pair[1] in binding) and pair[0] != pair[1]:
                return None
            if pair[0] not in binding:
                pairs.setdefault(pair, tags[0][pair[0]] & tags[1][pair[1]])
    if len({pair[0] for pair in pairs}) != len(pairs):
        return None
    names = slot_names(binding, binding, (("\0".join(pair), found) for pair, found in pairs.items()))
    new = {pair[0]: names["\0".join(pair)] for pair in pairs}
    steps = (Action(a.skill, tuple(new.get(name, name) for name in a.args)) for a in one.actions)
    needs = set(map(str, _renamed(one, new))) & set(map(str, _renamed(other, {p[1]: new[p[0]] for p in pairs})))
    return Way(
        steps=tuple(map(str, steps)),
        slots=tuple(Slot(name=new[pair[0]], tags=tuple(sorted(found))) for pair, found in pairs.items()),
        needs=tuple(sorted(needs)),
        instead=one.instead,
    )


def _renamed(way: Way, names: dict[str, str]) -> Iterator[Condition]:
    for condition in way.conditions:
        yield condition._replace(args=tuple(names.get(arg, arg) for arg in condition.args))


def common_facts(way: Way, scenes: Sequence[tuple[BeliefGraph, dict[str, str]]]) -> Iterator[Condition]:
    """What is so in each scene, and what is not, of the objects that the way's slots stand for there; shortest first.

    Only what can tell scenes apart: states and relations of those slots.
    """
    graph = scenes[0][0]
    slots = sorted(scenes[0][1])
    states = sorted(graph.vocabulary.states - {"future"})
    candidates = [Condition(sign, "state", (slot, s)) for sign in (True, False) for slot in slots for s in states]
    candidates += [
        Condition(sign, "edge", (relation, one, other))
        for sign in (True, False)
        for relation in sorted(graph.vocabulary.relations)
        for one, other in permutations(slots, 2)
    ]
    for condition in candidates:
        if all(condition.holds(scene, objects) for scene, objects in scenes):
            yield condition
