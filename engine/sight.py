"""Seeing a symbolic world: perfectly but locally, with errors of stated rates, or from scratch at every step."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from obviate.engine.loop import Focus, Perception
from obviate.engine.world import Outcome, World
from obviate.kb import BeliefGraph, Patch
from obviate.kb.action import DONE, Action
from obviate.kb.patch import EdgePatch, StatePatch

__all__ = ["Glimpse", "LocalSight", "NoisySight", "RepeatedSight", "Stage"]


@dataclass(frozen=True, slots=True)
class Glimpse:
    """What can be seen of a world at one moment: everything, or with `partial` nothing that a closed container hides.

    `effects` are those of the last action.
    """

    world: World
    partial: bool
    effects: Patch = field(default_factory=Patch)

    def patch(self, belief: BeliefGraph) -> Patch:
        """What brings `belief` up to date with what is in sight."""
        return self.world.observe(belief, partial=self.partial)

    def aware(self, belief: BeliefGraph) -> Patch:
        """The same, and what the last action did to things out of sight that are known: who waits for the food in a
        closed oven to be cooked knows that it is.
        """
        done = belief.merge(_known(self.effects, belief))
        return belief.difference(done.merge(self.patch(done)))


@dataclass
class Stage:
    """A symbolic world as the environment of a loop."""

    world: World
    partial: bool = False
    _effects: Patch = field(default_factory=Patch, init=False, repr=False)

    def step(self, action: Action) -> str:
        """Do the action; ``done`` changes nothing."""
        outcome = Outcome(action, Patch()) if action == DONE else self.world.step(action)
        self._effects = outcome.patch
        return outcome.failure

    def look(self) -> Glimpse:
        return Glimpse(self.world, self.partial, self._effects)


@dataclass(frozen=True, slots=True)
class LocalSight:
    """Perfect perception of what is near the focus, and of things that come into view."""

    def patch(self, observation: Glimpse, focus: Focus) -> Patch:
        return _near(observation.aware(focus.graph), focus)


@dataclass
class NoisySight:
    """Perception with errors: of what another `sight` reports, a change of a state is missed at the rate `missed`, and
    an object near the focus seems to have some state that it has not at the rate `false`. Drawn by `seed`.
    """

    missed: float = 0.0
    false: float = 0.0
    seed: int | str = 0
    sight: Perception[Glimpse] = field(default_factory=LocalSight)
    _random: random.Random = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def first(self, scene: Patch, belief: BeliefGraph) -> Patch:
        """The first look around, with errors."""
        nodes = []
        for node in scene.add_nodes:
            states = [state for state in node.states if self._random.random() >= self.missed]
            states += self._imagined(node.node_id, set(node.states), belief)
            nodes.append(node.model_copy(update={"states": tuple(states)}))
        return scene.model_copy(update={"add_nodes": tuple(nodes)})

    def patch(self, observation: Glimpse, focus: Focus) -> Patch:
        exact = self.sight.patch(observation, focus)
        updates: dict[str, tuple[list[str], list[str]]] = {}
        for one in exact.update_node_states:
            kept = [[s for s in states if self._random.random() >= self.missed] for states in (one.add, one.remove)]
            updates[one.node_id] = (kept[0], kept[1])
        for name in sorted(focus.local.nodes):
            if name in exact.remove_nodes:
                continue
            added, removed = updates.setdefault(name, ([], []))
            seeming = self._imagined(name, set(focus.graph.nodes[name].states) | set(added), focus.graph)
            added += [state for state in seeming if state not in removed]
        forgotten = {one.node_id: one.forget for one in exact.update_node_states}
        states = (
            StatePatch(node_id=name, add=tuple(added), remove=tuple(removed), forget=forgotten.get(name, ()))
            for name, (added, removed) in updates.items()
            if added or removed or forgotten.get(name)
        )
        nodes = self.first(exact, focus.graph).add_nodes
        return exact.model_copy(update={"update_node_states": tuple(states), "add_nodes": nodes})

    def _imagined(self, name: str, true: set[str], belief: BeliefGraph) -> list[str]:
        if self._random.random() >= self.false:
            return []
        others = sorted(belief.vocabulary.states - true - {"future"})
        return [self._random.choice(others)]


@dataclass(frozen=True, slots=True)
class RepeatedSight:
    """The ablation of the paper's Section 5.3: the graph is made anew from the present view at every step.

    In view is what lies within `hops` relations of the last action and the intent. Things elsewhere are known to be
    there, as the map has them, and their states are lost; what is hidden is lost altogether.
    """

    hops: int = 1

    def patch(self, observation: Glimpse, focus: Focus) -> Patch:
        view = Focus(focus.graph, focus.action, focus.intent, self.hops)
        seen = observation.patch(BeliefGraph(focus.graph.vocabulary))
        known = {node.node_id for node in seen.add_nodes}
        exact = observation.patch(focus.graph)
        near = _near(exact, view)
        updated = {one.node_id for one in near.update_node_states}
        lost = [
            StatePatch(node_id=name, forget=tuple(sorted(node.states)))
            for name, node in sorted(focus.graph.nodes.items())
            if name in known and name not in view.local and name not in updated and node.states
        ]
        gone = sorted(set(focus.graph.nodes) - known)
        return Patch(
            remove_nodes=tuple(dict.fromkeys([*near.remove_nodes, *gone])),
            add_nodes=near.add_nodes,
            update_node_states=(*near.update_node_states, *lost),
            add_edges=tuple(e for e in near.add_edges if not {e.src, e.dst} & set(gone)),
            remove_edges=tuple(e for e in near.remove_edges if not {e.src, e.dst} & set(gone)),
        )


def _known(effects: Patch, belief: BeliefGraph) -> Patch:
    """The part of the effects that concerns known things."""
    return Patch(
        update_node_states=tuple(one for one in effects.update_node_states if one.node_id in belief),
        add_edges=tuple(edge for edge in effects.add_edges if edge.src in belief and edge.dst in belief),
        remove_edges=tuple(edge for edge in effects.remove_edges if edge.src in belief and edge.dst in belief),
    )


def _near(patch: Patch, focus: Focus) -> Patch:
    """The part of a patch that concerns the focus, or things that are new."""
    near = set(focus.local.nodes) | {node.node_id for node in patch.add_nodes}

    def local(edge: EdgePatch) -> bool:
        return edge.src in near or edge.dst in near

    return patch.model_copy(
        update={
            "update_node_states": tuple(one for one in patch.update_node_states if one.node_id in near),
            "add_edges": tuple(filter(local, patch.add_edges)),
            "remove_edges": tuple(filter(local, patch.remove_edges)),
            "remove_nodes": tuple(name for name in patch.remove_nodes if name in near),
        }
    )
