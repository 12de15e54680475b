"""Made-up houses of any size: rooms, furniture, appliances and the things kept in them, drawn by a seed.

What matters for the cost of a step is like in a real house: most objects stand in or on one other, a cabinet holds
about ten, few states are true, and about one temporal hazard is open for every hundred objects. From a hundred objects
up there is a warehouse too: one shelf and one floor that hold a twentieth of all objects each.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from random import Random

from rpds import HashTrieMap, HashTrieSet

from obviate.adapters.step.rooms import CRATES, ROOMS, Room
from obviate.kb import BeliefGraph, household
from obviate.kb.belief import Edge, Node
from obviate.kb.errors import DataError
from obviate.kb.kinds import Kinds

__all__ = ["LEAST", "house", "hubs"]

LEAST = 10  # objects of the smallest house
ROOM = 40  # objects of a room
WAREHOUSE = 100  # objects of the smallest house that has one
SHARE = 20  # a hub holds one of so many objects

Link = tuple[str, str]


def house(objects: int, *, seed: int = 0) -> BeliefGraph:
    """A house of exactly so many `objects`. Raises `DataError` (``too-few-objects``) below `LEAST`."""
    if objects < LEAST:
        message = f"a house of {objects} objects has no room for a floor, furniture and things"
        raise DataError("too-few-objects", message, help=f"ask for {LEAST} or more")
    built = _Builder(Random(f"house {seed} {objects}"))
    stored = objects // SHARE if objects >= WAREHOUSE else 0
    rest = objects - 2 * stored
    if stored:
        rest -= 2
        built.warehouse(stored)
    rooms = max(1, round(rest / ROOM))
    for i in range(rooms):
        built.room(ROOMS[i % len(ROOMS)], rest * (i + 1) // rooms - rest * i // rooms)
    return built.graph()


def hubs(graph: BeliefGraph) -> tuple[str, ...]:
    """The objects that hold or touch very many others, by name: at least 16, and one in fifty of the graph."""
    least = max(16, len(graph) // 50)
    return tuple(sorted(name for name, links in graph.into.items() if len(links) >= least))


@cache
def _kinds() -> Kinds:
    return Kinds.load(household.vocabulary())


@cache
def _tags(kind: str) -> frozenset[str]:
    return _kinds().tagging(kind).tags


class _Builder:
    """The house under construction. It writes the maps of the graph itself: a merge of 100,000 additions is slow."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.nodes: dict[str, Node] = {}
        self.out: dict[str, list[Link]] = {}
        self.into: dict[str, list[Link]] = {}
        self.count: Counter[str] = Counter()

    def graph(self) -> BeliefGraph:
        empty = BeliefGraph(household.vocabulary())  # no backend has seen it, so that all of the house is new to them
        return empty.succeed(
            nodes=HashTrieMap(self.nodes),
            out=HashTrieMap({name: HashTrieSet(links) for name, links in self.out.items()}),
            into=HashTrieMap({name: HashTrieSet(links) for name, links in self.into.items()}),
        )

    def room(self, room: Room, objects: int) -> None:
        """A room with its floor and everything in it: so many objects."""
        floor = self.add("floor.n.01")
        standing = max(3, round(objects * 0.16))
        placed = max(1, round(objects * 0.08))
        holders: list[str] = []
        cold: list[str] = []
        before = ""
        for i in range(standing):
            name = self.furnish(room.standing[i % len(room.standing)], floor)
            tags = self.nodes[name].tags
            if "appliance_refrigerator" in tags:
                cold.append(name)
            elif tags & {"function_storage", "function_surface"} and "function_water_source" not in tags:
                holders.append(name)
            if before and self.chance(0.3):
                self.link("nextto", before, name)
            before = name
        for i in range(placed):
            kind = room.placed[i % len(room.placed)]
            surfaces = [name for name in holders if "function_surface" in self.nodes[name].tags]
            name = self.add(kind, toggled_on=0.04)
            self.link("ontop", name, self.random.choice(surfaces) if surfaces else floor)
            if self.chance(0.2):
                self.link("nextto", name, before)
        self.things(room, floor, holders, cold, objects - 1 - standing - placed)

    def furnish(self, kind: str, floor: str) -> str:
        tags = _tags(kind)
        power = tags & {"function_heat_source", "function_electrical_appliance", "function_water_source"}
        storage = "function_storage" in tags
        name = self.add(
            kind,
            open=0.03 if storage else 0,
            toggled_on=0.04 if power else 0,
            dusty=0 if storage or power else 0.04,
        )
        if "surface_high" not in tags:  # what is high hangs on the wall
            self.link("ontop", name, floor)
        return name

    def things(self, room: Room, floor: str, holders: list[str], cold: list[str], objects: int) -> None:
        """What is kept in a room; `holders` are where, `cold` is the refrigerator if there is one."""
        vessels: list[str] = []
        jars: list[str] = []  # in the refrigerator
        before = ""
        for _ in range(objects):
            chilled = bool(cold) and self.chance(0.25)
            kind = self.random.choice(room.cold if chilled else room.shelved)
            tags = _tags(kind)
            vessel = bool(tags & {"function_container"} and not tags & {"safety_chemical"})
            name = self.add(
                kind,
                frozen=0.03 if chilled else 0,
                stained=0.03 if vessel else 0,
                dusty=0.03 if vessel else 0,
                open=0.05 if "sealable" in tags else 0,
                toggled_on=0.04 if "function_heat_source" in tags else 0,
            )
            if chilled and jars and "perishable" in tags and self.chance(0.3):
                self.link("inside", name, self.random.choice(jars))
            elif chilled or (cold and "sealable" in tags and self.chance(0.5)):
                self.link("inside", name, cold[0])
                jars += [name] if "sealable" in tags else []
            elif vessels and not vessel and "perishable" not in tags and self.chance(0.15):
                self.link("inside", name, self.random.choice(vessels))
            elif self.chance(0.03) and not tags & {"function_cleaning_tool", "safety_chemical", "heavy"}:
                self.link("ontop", name, floor)
            else:
                holder = self.random.choice(holders)
                self.link("inside" if "function_storage" in self.nodes[holder].tags else "ontop", name, holder)
            if before and self.chance(0.04):
                self.link("nextto", before, name)
            before = name
            if vessel:
                vessels.append(name)

    def warehouse(self, objects: int) -> None:
        """A shelf and a floor, with so many objects on each."""
        shelf, floor = self.add("shelf.n.01", dusty=0.04), self.add("floor.n.01")
        goods = [kind for room in ROOMS for kind in room.shelved]
        for hub, kinds in ((shelf, goods), (floor, CRATES)):
            for _ in range(objects):
                self.link("ontop", self.add(self.random.choice(kinds), dusty=0.02), hub)

    def add(self, kind: str, **states: float) -> str:
        """A new object of a kind; each state holds with its probability, and is else seen to be false now and then."""
        number = self.count[kind] = self.count[kind] + 1
        name = f"{kind}_{number}"
        drawn = {state for state, chance in states.items() if self.chance(chance)}
        absent = {state for state, chance in states.items() if chance and state not in drawn and self.chance(0.1)}
        self.nodes[name] = Node(_tags(kind), frozenset(drawn), frozenset(absent))
        return name

    def link(self, pred: str, src: str, dst: str) -> None:
        edge = Edge(pred, src, dst)
        if pred == "nextto" and dst < src:  # as the graph stores it: see `BeliefGraph.canonical`
            edge = Edge(pred, dst, src)
        self.out.setdefault(edge.src, []).append((pred, edge.dst))
        self.into.setdefault(edge.dst, []).append((pred, edge.src))

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability
