"""The state X_t of a building, as a standing instruction sees it (MIND paper, Section III).

A state is immutable, and a successor shares whatever it does not change, so keeping a state per event is cheap.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from rpds import HashTrieMap, HashTrieSet

from obviate.kb.errors import DataError, ObviateError, PatchError, nearest
from obviate.kb.patch import MAX_INT, path
from obviate.kb.terms import Atom, Fun, check_id
from obviate.kb.walk import Door, Walk

if TYPE_CHECKING:
    import networkx as nx

    from obviate.kb.event import Event

__all__ = ["CATEGORIES", "MAX_REGIONS", "Door", "Regions", "constant"]

CATEGORIES = ("inventory", "label", "position", "history", "topology")  # V, equation (1)
MAX_REGIONS = 10_000

_CONSTANT = re.compile(r"[a-z][a-z0-9_]*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BETWEEN_WORDS = re.compile(r"[\s-]+")
_V = TypeVar("_V", bound=Hashable)


def constant(name: str, where: str) -> str:
    """An object type or label as a constant of the logic: ``CounterTop`` and ``counter top`` are ``counter_top``.

    Raises `ObviateError` (``bad-constant``), placed at `where`, for what cannot be one.
    """
    text = _BETWEEN_WORDS.sub("_", _HUMP.sub("_", name.strip())).lower()
    if not _CONSTANT.fullmatch(text) or text == "not" or len(text) > 1_000:
        help = "use a letter and then letters, digits and underscores, such as counter_top"
        raise ObviateError("bad-constant", f"{name!a:.60} cannot name a type or label", where=where, help=help)
    return text


@dataclass(frozen=True, slots=True)
class Regions:
    """Region inventories (counts of object types), labels, doorways, the robot's region `at`, the regions `used`.

    Made by `of`, `from_graph` and from one another; every region has an entry in `inventories`, `labels` and
    `doors`, and `doors` holds each doorway from both sides.
    """

    inventories: HashTrieMap[str, HashTrieMap[str, int]] = field(repr=False)
    labels: HashTrieMap[str, str] = field(repr=False)
    doors: HashTrieMap[str, HashTrieMap[str, Door]] = field(repr=False)
    at: str
    used: HashTrieSet[str]
    _names: frozenset[str] = field(repr=False, compare=False)
    _walk: Walk = field(repr=False, compare=False)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Regions:
        """A state from plain JSON data.

        ``{"regions": {"hall": {"label": "hall", "inventory": {"mug": 2}}, ...}, "doors": [["hall", "kitchen"],
        {"between": ["hall", "attic"], "passable": false}], "passages": [["hall", "porch"]], "at": "hall",
        "used": []}``; only ``regions`` and ``at`` are needed. Raises `DataError`
        (``regions-malformed``, ``unknown-region``, ``same-region``, ``duplicate-entry``) or `ObviateError`
        (``bad-id``, ``bad-constant``) that names the path.
        """
        return _state(_read(data))

    @classmethod
    def from_graph(cls, graph: nx.Graph[str], *, at: str, used: Iterable[str] = ()) -> Regions:
        """A state from a graph whose nodes are regions, with the attributes `label` and `inventory` (may be left out).

        Edges are doors; their attribute `passable` is true unless given, and `passage` marks an open passage.
        Raises as `of`; a directed graph is ``regions-malformed``.
        """
        if graph.is_directed():
            help = "a doorway leads both ways; give an nx.Graph, such as graph.to_undirected()"
            raise DataError("regions-malformed", "the graph is directed", where="graph", help=help)
        doors, passages = [], []
        for a, b, edge in graph.edges(data=True):
            if edge.get("passage"):
                passages.append((a, b))
            else:
                doors.append({"between": (a, b), "passable": edge.get("passable", True)})
        regions = {
            name: {key: node[key] for key in ("label", "inventory") if key in node}
            for name, node in graph.nodes.items()
        }
        return cls.of({"regions": regions, "doors": doors, "passages": passages, "at": at, "used": tuple(used)})

    # -- reading --------------------------------------------------------------------------------

    def __contains__(self, region: object) -> bool:
        return region in self.labels

    def __len__(self) -> int:
        return len(self.labels)

    def names(self) -> frozenset[str]:
        """The ids of all regions."""
        return self._names

    def hops(self) -> Mapping[str, int]:
        """The fewest doorways from the robot's region to each region that it can reach."""
        return self._walk.hops

    def reachable(self) -> frozenset[str]:
        """The regions that the robot can reach, Reach(G_t, c_t); its own is among them."""
        return self._walk.reachable

    def nearest(self) -> tuple[str, ...]:
        """The regions that the robot can reach, the nearest first, ties by name."""
        return self._walk.nearest

    def facts(self) -> Iterator[Atom]:
        """The state as atoms, passable doorways in both directions, in no particular order.

        ``inventory(R,T,N)``, ``label(R,L)``, ``at(R)``, ``used(R)`` and ``door(R1,R2)``: regions are strings,
        types and labels constants.
        """
        yield Atom("at", (self.at,))
        yield from (Atom("used", (region,)) for region in self.used)
        yield from (Atom("label", (region, Fun(label))) for region, label in self.labels.items())
        for region, inventory in self.inventories.items():
            yield from (Atom("inventory", (region, Fun(type), count)) for type, count in inventory.items())
        for region, doors in self.doors.items():
            yield from (Atom("door", (region, other)) for other, door in doors.items() if door.passable)

    def derived(self) -> Iterator[Atom]:
        """``reachable(R)`` and ``hops(R,D)``, which follow from the facts."""
        for region, hops in self.hops().items():
            yield Atom("reachable", (region,))
            yield Atom("hops", (region, hops))

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data in a fixed order: ``Regions.of(state.to_json()) == state``."""
        joined = sorted((a, b, door) for a, doors in self.doors.items() for b, door in doors.items() if a < b)
        return {
            "regions": {
                name: {"label": self.labels[name], "inventory": dict(sorted(self.inventories[name].items()))}
                for name in sorted(self.labels)
            },
            "doors": [
                [a, b] if door.passable else {"between": [a, b], "passable": False}
                for a, b, door in joined
                if not door.passage
            ],
            "passages": [[a, b] for a, b, door in joined if door.passage],
            "at": self.at,
            "used": sorted(self.used),
        }

    def difference(self, other: Regions) -> dict[str, frozenset[str]]:
        """The categories in which two states differ, each with the regions whose own value does.

        A region's own value is its inventory; its label; whether the robot is in it (position: the old and the
        new region); whether it was used (history); its doorways (topology: both sides of a changed one, and not
        the regions that can merely be reached differently).
        """
        changed = {
            "inventory": _changed(self.inventories, other.inventories),
            "label": _changed(self.labels, other.labels),
            "position": frozenset() if self.at == other.at else frozenset({self.at, other.at}),
            "history": frozenset(self.used) ^ frozenset(other.used),
            "topology": _changed(self.doors, other.doors),
        }
        return {category: regions for category, regions in changed.items() if regions}

    # -- changing -------------------------------------------------------------------------------

    def apply(self, event: Event) -> Regions:
        """X_t from X_{t-1} and the event e_t; this state itself when the event says nothing new.

        Raises `PatchError` placed at the event: ``unknown-region``, ``not-there`` (less is there than is taken),
        ``no-door``, ``bad-count``.
        """
        from obviate.kb.event import apply

        return apply(self, event)

    def with_at(self, region: str) -> Regions:
        """The robot is in `region`."""
        self._check(region)
        return self if region == self.at else replace(self, at=region, _walk=Walk(self.doors, region))

    def with_used(self, region: str) -> Regions:
        """`region` has served the instruction."""
        self._check(region)
        return self if region in self.used else replace(self, used=self.used.insert(region))

    def with_label(self, region: str, label: str) -> Regions:
        """`region` is called `label`."""
        self._check(region)
        label = constant(label, "label")
        return self if label == self.labels[region] else replace(self, labels=self.labels.insert(region, label))

    def with_added(self, type: str, region: str, count: int = 1) -> Regions:
        """`count` more objects of `type` in `region`; fewer, when it is negative.

        Raises `PatchError` ``not-there`` or ``bad-count`` when the number that results is below 0 or over 2^31-1.
        """
        self._check(region)
        type, inventory = constant(type, "type"), self.inventories[region]
        had = inventory.get(type, 0)
        if had + count < 0:
            help = f"at most {had} can be taken" if had else nearest(type, inventory) or "there is nothing in it"
            raise PatchError("not-there", f"{region!r} has {had} of {type}, {-count} cannot be taken", help=help)
        if had + count > MAX_INT:
            raise PatchError("bad-count", f"{region!r} would have {had + count} of {type}", help=f"at most {MAX_INT}")
        if count == 0:
            return self
        inventory = inventory.insert(type, had + count) if had + count else inventory.remove(type)
        return replace(self, inventories=self.inventories.insert(region, inventory))

    def with_door(self, a: str, b: str, *, passable: bool) -> Regions:
        """The door between `a` and `b` can be passed, or not.

        Raises `PatchError` ``no-door`` where there is none, be it that an open passage joins the two.
        """
        self._check(a)
        self._check(b)
        door = self.doors[a].get(b)
        if door is None or door.passage:
            what = "an open passage" if door else "nothing"
            doors = ", ".join(sorted(repr(other) for other, door in self.doors[a].items() if not door.passage))
            help = f"the doors of {a!r} lead to {doors}" if doors else f"{a!r} has no door"
            raise PatchError("no-door", f"{what} joins {a!r} and {b!r}, so there is no door", help=help)
        if door.passable == passable:
            return self
        changed = Door(passable)
        both = {a: self.doors[a].insert(b, changed), b: self.doors[b].insert(a, changed)}
        doors_now = self.doors.update(both)
        return replace(self, doors=doors_now, _walk=self._walk.after(doors_now, (a, b)))

    def _check(self, region: str) -> None:
        if region not in self.labels:
            raise PatchError("unknown-region", f"there is no region {region!r}", help=nearest(region, self.labels))


def _changed(old: HashTrieMap[str, _V], new: HashTrieMap[str, _V]) -> frozenset[str]:
    """The keys with another value, or in one of the maps only."""
    if old is new:
        return frozenset()
    only_old = dict(old.items())
    changed = set()
    for key, value in new.items():
        was = only_old.pop(key, None)
        if was is not value and not was == value:  # noqa: SIM201 - in rpds, != of two maps is not the opposite of ==
            changed.add(key)
    return frozenset(changed | only_old.keys())


# -- from JSON --------------------------------------------------------------------------------------

Count = Annotated[int, Field(strict=True, ge=1, le=MAX_INT)]
Pair = tuple[str, str]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Region(_Part):
    label: str
    inventory: dict[str, Count] = Field(default_factory=dict)


class _Door(_Part):
    between: Pair
    passable: Annotated[bool, Field(strict=True)] = True


class _Building(_Part):
    regions: dict[str, _Region]
    at: str
    doors: tuple[
        Annotated[_Door, BeforeValidator(lambda v: {"between": v} if isinstance(v, list | tuple) else v)], ...
    ] = ()
    passages: tuple[Pair, ...] = ()
    used: tuple[str, ...] = ()


def _read(data: Mapping[str, Any]) -> _Building:
    try:
        return _Building.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = first["loc"]
        what = f"{first['msg'][:1].lower()}{first['msg'][1:]}"
        help = "a state has " + ", ".join(_Building.model_fields)
        if first["type"] == "extra_forbidden":
            models: dict[str, type[_Part]] = {"regions": _Region, "doors": _Door}
            model = models.get(str(place[0]), _Building) if len(place) > 1 else _Building
            what, help = f"unknown key {place[-1]!r}", nearest(str(place[-1]), model.model_fields)
        elif not place:
            what = f"expected a JSON object, found {data!r:.40}"
        raise DataError("regions-malformed", what, where=path(*place), help=help) from None


def _state(data: _Building) -> Regions:
    if len(data.regions) > MAX_REGIONS:
        message = f"{len(data.regions):,} regions, at most {MAX_REGIONS:,} are allowed"
        raise DataError("regions-malformed", message, where="regions")
    for name in data.regions:
        check_id(name, "regions")
    doors: dict[str, dict[str, Door]] = {name: {} for name in data.regions}
    for index, door in enumerate(data.doors):
        _join(doors, door.between, Door(door.passable), f"doors[{index}]")
    for index, pair in enumerate(data.passages):
        _join(doors, pair, Door(passage=True), f"passages[{index}]")
    _check(data.at, doors, "at")
    used: set[str] = set()
    for index, name in enumerate(data.used):
        _check(name, doors, f"used[{index}]")
        if name in used:
            raise DataError("duplicate-entry", f"{name!r} is listed twice", where=f"used[{index}]", help="list it once")
        used.add(name)
    shared = HashTrieMap({name: HashTrieMap(around) for name, around in doors.items()})
    regions = data.regions.items()
    return Regions(
        HashTrieMap({name: _inventory(region, path("regions", name)) for name, region in regions}),
        HashTrieMap({name: constant(region.label, path("regions", name, "label")) for name, region in regions}),
        shared,
        data.at,
        HashTrieSet(used),
        frozenset(data.regions),
        Walk(shared, data.at),
    )


def _inventory(region: _Region, where: str) -> HashTrieMap[str, int]:
    counts: dict[str, int] = {}
    for written, count in region.inventory.items():
        type = constant(written, f"{where}.inventory")
        if type in counts:
            message = f"{written!r} is {type}, which is listed already"
            raise DataError("duplicate-entry", message, where=f"{where}.inventory", help="add up the counts")
        counts[type] = count
    return HashTrieMap(counts)


def _join(doors: dict[str, dict[str, Door]], pair: Pair, door: Door, where: str) -> None:
    a, b = pair
    _check(a, doors, where)
    _check(b, doors, where)
    if a == b:
        raise DataError("same-region", f"it leads from {a!r} to itself", where=where, help="name two regions")
    if b in doors[a]:
        message = f"{a!r} and {b!r} are joined already"
        raise DataError("duplicate-entry", message, where=where, help="two regions have one doorway or passage")
    doors[a][b] = doors[b][a] = door


def _check(region: str, known: Iterable[str], where: str) -> None:
    if region not in known:
        message = f"there is no region {region!r}"
        raise DataError("unknown-region", message, where=where, help=nearest(region, known))
