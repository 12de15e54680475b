"""The updates of a house: each step an observation that changes exactly three facts, and an intent to ask about.

Doors open and close, appliances go on and off, things get dirty, are cleaned, taken from one place and put at another.
As many hazards vanish as appear: what is open is closed, and what was misplaced goes home. Where the house has hubs,
one step in ten is drawn to touch one, and about as many again do by chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from obviate.adapters.step.house import hubs
from obviate.kb import Action, BeliefGraph, Patch
from obviate.kb.belief import Edge
from obviate.kb.errors import DataError
from obviate.kb.patch import EdgePatch, StatePatch

__all__ = ["FACTS", "Step", "facts", "steps"]

FACTS = 3  # changed in one step
HUB = 0.1  # the share of steps that are drawn to touch a hub
_DEVICES = frozenset({"function_heat_source", "function_electrical_appliance", "function_water_source"})
_FIXED = frozenset({"function_storage", "surface_floor", "function_surface", "function_water_source"})
_SPOTS = frozenset({"function_storage", "function_surface", "function_heat_source", "surface_floor"})

_HOLLOW = frozenset({"function_storage", "sealable"})

Fact = tuple[str, str]  # an object and a state of it


@dataclass(frozen=True, slots=True)
class Step:
    """What is observed, and what is asked about afterwards."""

    patch: Patch
    action: Action


def steps(graph: BeliefGraph, *, seed: int = 0) -> Iterator[Step]:
    """Steps without end, the first one of `graph`, each of the graph after the one before.

    They are the same for everybody who asks with the same graph and seed. Raises `DataError` (``nothing-to-change``)
    for a graph in which less than three facts can.
    """
    drawn = _Stream(graph, Random(f"steps {seed} {len(graph)}"))
    while True:
        yield drawn.step()


def facts(before: BeliefGraph, after: BeliefGraph) -> set[tuple[str, ...]]:
    """What `after`, a successor of `before`, changed: states as (object, state), relations as (relation, src, dst)."""
    changed: set[tuple[str, ...]] = set()
    for atom in after.delta.added | after.delta.removed:
        if atom.name == "edge":
            edge = before.canonical(Edge(*map(str, atom.args)))
            changed.add((edge.pred, edge.src, edge.dst))
        else:  # a state that was true and is seen to be false now is one fact
            changed.add(tuple(map(str, atom.args)))
    return changed


class _Stream:
    """Draws steps. It follows states and places itself, so that a step costs the same in a house of any size."""

    def __init__(self, graph: BeliefGraph, random: Random) -> None:
        self.random = random
        names = sorted(graph.nodes)
        self.tags = {name: graph.nodes[name].tags for name in names}
        storage = [n for n in names if "function_storage" in self.tags[n]]
        devices = [n for n in names if self.tags[n] & _DEVICES]
        vessels = [n for n in names if self.tags[n] & {"function_container", "function_surface"}]
        food = [n for n in names if "safety_food" in self.tags[n]]
        jars = [n for n in names if "sealable" in self.tags[n]]
        doors = storage + jars
        kinds = [("open", doors), ("toggled_on", devices), ("dusty", vessels), ("stained", vessels)]
        kinds += [("frozen", food), ("cooked", food)]
        # Doors and switches change more often than food: what can be is listed, with how often it is picked.
        self.kinds = [
            (state, of) for (state, of), n in zip(kinds, (6, 6, 2, 2, 1, 1), strict=True) if of for _ in range(n)
        ]
        self.true = {state: [n for n in of if state in graph.nodes[n].states] for state, of in kinds}
        self.limit = {state: 1 + len(now) for state, now in self.true.items()}
        self.place: dict[str, tuple[str, str]] = {}
        for name in names:
            held = min(graph.supports(name), default=None)
            if held:
                self.place[name] = held
        self.home = dict(self.place)
        self.movable = [name for name in self.place if not self.tags[name] & _FIXED]
        self.away: list[str] = []
        self.hubs = [name for name in hubs(graph) if self.tags[name] & _SPOTS]
        hub, movable = set(self.hubs), set(self.movable)
        self.stored = [name for name in self.movable if self.place[name][1] in hub]
        self.spots = [n for n in names if self.tags[n] & _SPOTS and n not in movable]
        self.heat = [n for n in devices if "function_heat_source" in self.tags[n]]
        self.surfaces = [n for n in names if "function_surface" in self.tags[n]]
        self.jars = jars
        self.cold = [n for n in storage if "appliance_refrigerator" in self.tags[n]]
        self.water = [n for n in devices if "function_water_source" in self.tags[n]]
        self.tools = [n for n in names if "function_cleaning_tool" in self.tags[n]]
        if sum(len(of) for _, of in kinds) < FACTS:
            help = "make one with at least three objects of the household vocabulary"
            raise DataError("nothing-to-change", "this graph has too little that could change", help=help)

    def step(self) -> Step:
        hub = bool(self.hubs) and self.random.random() < HUB
        moves = self.movable and (hub or self.random.random() < 0.5)
        removed, added = self.move(hub) if moves else ((), ())
        changed: dict[Fact, bool] = {}
        while len(changed) < FACTS - len(removed) - len(added):
            fact, on = self.switch(set(changed))
            changed[fact] = on
        updates = tuple(
            StatePatch(node_id=name, add=(state,)) if on else StatePatch(node_id=name, remove=(state,))
            for (name, state), on in changed.items()
        )
        return Step(Patch(update_node_states=updates, remove_edges=removed, add_edges=added), self.intent(hub))

    def switch(self, taken: set[Fact]) -> tuple[Fact, bool]:
        """A state that turns true or false, other than those that this step has `taken` already."""
        while True:
            state, objects = self.random.choice(self.kinds)
            now = self.true[state]
            off = bool(now) and self.random.random() < len(now) / (2 * self.limit[state])
            place = self.random.randrange(len(now) if off else len(objects))
            name = (now if off else objects)[place]
            if (name, state) in taken or (not off and name in now):
                continue
            if off:
                now[place] = now[-1]
                now.pop()
            else:
                now.append(name)
            return (name, state), not off

    def move(self, hub: bool) -> tuple[tuple[EdgePatch, ...], tuple[EdgePatch, ...]]:
        """Something goes elsewhere: the relation that ends, and the one that begins."""
        limit = 3 + len(self.movable) // 200  # so many are away from home in the long run
        if not hub and self.random.random() < len(self.away) / (2 * limit):
            name = self.away.pop(self.random.randrange(len(self.away)))
            target = self.home[name]
        else:
            name, target = self.misplaced(hub)
        old = self.place[name]
        self.place[name] = target
        if target != self.home[name] and name not in self.away:
            self.away.append(name)
        elif target == self.home[name] and name in self.away:
            self.away.remove(name)
        return (EdgePatch(pred=old[0], src=name, dst=old[1]),), (EdgePatch(pred=target[0], src=name, dst=target[1]),)

    def misplaced(self, hub: bool) -> tuple[str, tuple[str, str]]:
        """Something, and a new place for it."""
        while True:
            name = self.random.choice(
                self.stored if hub and self.stored and self.random.random() < 0.5 else self.movable
            )
            draw = self.random.random()
            spots = self.heat if draw < 0.15 else self.cold if draw < 0.3 else self.spots
            if draw > 0.8 and "perishable" in self.tags[name]:
                spots = self.jars
            at_hub = self.place[name][1] in self.hubs
            spot = self.random.choice(self.hubs if hub and not at_hub else spots or self.spots)
            target = ("inside" if self.tags[spot] & _HOLLOW else "ontop", spot)
            if target[1] != self.place[name][1] and not self.holds(name, spot):
                return name, target

    def holds(self, name: str, spot: str) -> bool:
        """Whether `spot` is `name` or stands on it."""
        while spot != name and spot in self.place:
            spot = self.place[spot][1]
        return spot == name

    def intent(self, hub: bool) -> Action:
        """What somebody may be about to do."""
        pick = self.random.choice
        draw = self.random.random()
        if draw < 0.15 and self.heat:
            return Action("toggle_on", (pick(self.heat),))
        if draw < 0.25 and self.water:
            return Action("toggle_on", (pick(self.water),))
        if draw < 0.45 and self.tools and self.surfaces:
            return Action("wipe", (pick(self.surfaces), pick(self.tools)))
        name = pick(self.movable or self.spots)
        spot = pick(self.hubs if hub else self.true["dusty"] if draw < 0.7 and self.true["dusty"] else self.spots)
        skill = "place_inside" if "function_storage" in self.tags[spot] else "place_on_top"
        return Action(skill, (name, spot))
