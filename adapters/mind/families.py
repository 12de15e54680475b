"""The request families of the dependency benchmark, and the unseen placement Adjacent (MIND paper, Section V).

Each request is an instruction program, and beside it stands a reference in Python: which regions qualify, and which
of them is chosen. The reference shares nothing with the program but the types of objects that a word means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from obviate.kb.instruction import Signature
from obviate.kb.regions import Regions

__all__ = ["ADJACENT", "FAMILIES", "REQUESTS", "THINGS", "Family", "Request"]

# What the words of the requests mean: types that occur in ProcTHOR houses, those that ship with Obviate too.
THINGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "seat": ("arm_chair", "chair", "sofa", "stool"),
        "chair": ("arm_chair", "chair"),
        "screen": ("laptop", "television"),
        "table": ("coffee_table", "desk", "dining_table", "side_table"),
        "picture": ("painting",),
        "plant": ("house_plant",),
        "rubbish": ("garbage_bag", "garbage_can"),
    }
)


@dataclass(frozen=True, slots=True)
class Family:
    """Requests with the same dependencies.

    `signature` is the true one, (D_sem*, D_sel*); `share` is how many sequences of the benchmark it has. `holds`
    says whether a region with a wanted object in it qualifies, `nearest` how the choice is made; `rules` says both
    in ASP, for a request {name} of {thing}s.
    """

    name: str
    share: int
    signature: Signature
    rules: str = field(repr=False)
    holds: Callable[[Regions, str], bool] = field(repr=False)
    nearest: bool = False

    @property
    def requests(self) -> tuple[Request, ...]:
        """The family's phrasings."""
        return tuple(request for request in REQUESTS.values() if request.family is self)


@dataclass(frozen=True, slots=True)
class Request:
    """One phrasing of a family: what it `says` about the `thing` that is wanted, a key of `THINGS`."""

    family: Family
    name: str
    thing: str
    says: str

    @property
    def types(self) -> tuple[str, ...]:
        """The types of objects that serve the request."""
        return THINGS[self.thing]

    @property
    def text(self) -> str:
        """The request as an instruction program, for `Instruction.of`.

        A helper predicate means the same in every request that has it, so programs may be put together.
        """
        rules = self.family.rules.format(name=self.name, thing=self.thing)
        says = f'says({self.name}, "{self.says}").'
        return f"instruction({self.name}).\n{says}\n{self.thing}({'; '.join(self.types)}).\n{rules}"

    def qualifying(self, state: Regions) -> frozenset[str]:
        """The regions that qualify: the reference predicate s_q, equation (2)."""
        return frozenset(
            region
            for region, inventory in state.inventories.items()
            if any(type in inventory for type in self.types) and self.family.holds(state, region)
        )

    def choose(self, state: Regions, feasible: Iterable[str]) -> str | None:
        """The reference selector: the fewest hops for a nearest request, ties and all others by name."""
        hops = state.hops() if self.family.nearest else {}
        return min(feasible, key=lambda region: (hops.get(region, 0), region), default=None)

    def target(self, state: Regions) -> str | None:
        """The decision of full recomputation, equations (3) and (4); None where it abstains."""
        return self.choose(state, self.qualifying(state) & state.reachable())


def _next_to(state: Regions, region: str) -> bool:
    """Whether one passable doorway leads from the robot's region to this one."""
    door = state.doors[state.at].get(region)
    return door is not None and door.passable


def _signature(semantic: str, selection: str = "") -> Signature:
    return Signature(frozenset(semantic.split()), frozenset(selection.split()))


_NEAREST = "prefer({name}, R, D) :- hops(R, D).\n"

INVENTORY = Family(
    "inventory-only",
    55,
    _signature("inventory"),
    "qualifies({name}, R) :- inventory(R, T, _), {thing}(T).\n",
    lambda state, region: True,
)
NAMED = Family(
    "named-region",
    9,
    _signature("inventory label"),
    "qualifies({name}, R) :- inventory(R, T, _), {thing}(T), label(R, bedroom).\n",
    lambda state, region: state.labels[region] == "bedroom",
)
CURRENT = Family(
    "current-region",
    27,
    _signature("inventory position"),
    "qualifies({name}, R) :- inventory(R, T, _), {thing}(T), at(R).\n",
    lambda state, region: state.at == region,
)
HISTORY = Family(
    "history-dependent",
    54,
    _signature("inventory history"),
    "qualifies({name}, R) :- inventory(R, T, _), {thing}(T), not used(R).\n",
    lambda state, region: region not in state.used,
)
NEAREST = Family(
    "nearest-candidate",
    40,
    _signature("inventory", "position topology"),
    INVENTORY.rules + _NEAREST,
    INVENTORY.holds,
    nearest=True,
)
NEAREST_HISTORY = Family(
    "nearest+history",
    55,
    _signature("inventory history", "position topology"),
    HISTORY.rules + _NEAREST,
    HISTORY.holds,
    nearest=True,
)
ADJACENT = Family(
    "adjacent",
    80,
    _signature("inventory position topology"),
    "qualifies({name}, R) :- inventory(R, T, _), {thing}(T), at(C), door(C, R).\n",
    _next_to,
)
FAMILIES = (INVENTORY, NAMED, CURRENT, HISTORY, NEAREST, NEAREST_HISTORY)

_REQUESTS = (
    Request(INVENTORY, "sit_down", "seat", "Find me a room where I can sit down"),
    Request(INVENTORY, "watch_film", "screen", "Take me to a room with something to watch a film on"),
    Request(NAMED, "bedroom_table", "table", "Put the parcel on a table in a bedroom"),
    Request(CURRENT, "sit_here", "seat", "Show me something to sit on in the room that you are in"),
    Request(CURRENT, "picture_here", "picture", "Straighten a picture in your current room"),
    Request(HISTORY, "another_picture", "picture", "Photograph another picture, in a room you have not photographed"),
    Request(HISTORY, "more_rubbish", "rubbish", "Collect more rubbish, from a room that you have not been sent to yet"),
    Request(NEAREST, "nearest_seat", "seat", "Guide me to the nearest seat"),
    Request(NEAREST, "nearest_table", "table", "Put this down on the closest table"),
    Request(NEAREST_HISTORY, "next_plant", "plant", "Water the nearest plant in a room where you have watered none"),
    Request(NEAREST_HISTORY, "next_screen", "screen", "Clean the closest screen in a room that is not done yet"),
    # Half of the phrasings of Adjacent name a door or a connection.
    Request(ADJACENT, "chair_next_to", "chair", "Bring me a chair from a room next to the one I am in"),
    Request(ADJACENT, "chair_beside", "chair", "Get a chair out of a room beside this one"),
    Request(ADJACENT, "chair_neighbour", "chair", "Find a chair in one of the neighbouring rooms"),
    Request(ADJACENT, "chair_one_door", "chair", "Fetch a chair from a room one open door away"),
    Request(ADJACENT, "chair_connected", "chair", "Bring a chair from a room directly connected to this room"),
    Request(ADJACENT, "chair_through", "chair", "Find a chair just through a doorway of the room I am in"),
)
REQUESTS: Mapping[str, Request] = MappingProxyType({request.name: request for request in _REQUESTS})
