"""What an action uses: the objects that it names, and all that holds these."""

from __future__ import annotations

from obviate.kb.action import Action
from obviate.kb.belief import BeliefGraph

__all__ = ["used"]


def used(action: Action, graph: BeliefGraph) -> frozenset[str]:
    """The arguments of `action`, and what they are on or in: taking a peach out of a refrigerator uses the latter, and
    boiling water the microwave that its cup stands in.
    """
    found: set[str] = set()
    front = [name for name in action.args if name in graph]
    while front:
        name = front.pop()
        if name not in found:
            found.add(name)
            front += graph.supporters(name)
            front += sorted(holder for relation, holder in graph.into.get(name, ()) if relation == "contains")
    return frozenset(found)
