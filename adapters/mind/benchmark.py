"""The dependency benchmark as data: five-event sequences over houses, frozen by a hash (MIND paper, Section V).

In every sequence the robot moves, a door is shut, a room is emptied of a type, an object is relocated, and the
target is used, once each and in any order. The paper lists these events without their numbers; with one of each, n
rooms cost n + 3 evaluations under the inventory-only policy and 4n + 3 under the universal signature, which is what
the paper reports for its 5.1 rooms (8.1 and 23.4).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from random import Random
from typing import Any

from obviate.adapters.mind.families import ADJACENT, FAMILIES, REQUESTS, Family, Request
from obviate.adapters.procthor.house import House
from obviate.kb.errors import DataError
from obviate.kb.event import Event
from obviate.kb.regions import Regions

__all__ = ["KINDS", "Benchmark", "Sequence", "build", "manifest"]

KINDS = ("move", "close", "remove", "relocate", "use")  # one event of each
TRIES = 60  # drawn sequences of a request in a house before the house is given up for it


@dataclass(frozen=True, slots=True)
class Sequence:
    """A request in a house, and what then happens: five `events` from the `start` state.

    `targets` holds the reference decision after each event, None where it abstains, and `changed` the regions
    whose reference verdict changed at it.
    """

    family: str
    request: str
    instruction: str = field(repr=False)
    house: str
    start: Regions = field(repr=False)
    events: tuple[Event, ...]
    targets: tuple[str | None, ...]
    changed: tuple[frozenset[str], ...]

    @classmethod
    def record(cls, request: Request, house: str, start: Regions, events: Iterable[Event]) -> Sequence:
        """A sequence with what the reference says of it. Raises as `Regions.apply`."""
        happened = tuple(events)
        targets, changed = _reference(request, start, happened)
        name, text = request.family.name, request.text
        return cls(name, request.name, text, house, start, happened, targets, changed)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Sequence:
        """A sequence from its `to_json`. Raises `DataError`, or as `Regions.of` and `Event.read`."""
        try:
            return cls(
                str(data["family"]),
                str(data["request"]),
                str(data["instruction"]),
                str(data["house"]),
                Regions.of(data["start"]),
                tuple(map(Event.read, data["events"])),
                tuple(data["targets"]),
                tuple(map(frozenset, data["changed"])),
            )
        except (KeyError, TypeError) as error:
            message = f"no sequence: {type(error).__name__} {error}"
            raise DataError("regions-malformed", message, where="sequence") from None

    def states(self) -> Iterator[Regions]:
        """The start state, and the state after each event."""
        return _states(self.start, self.events)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data in a fixed order, which `of` reads."""
        return {
            "family": self.family,
            "request": self.request,
            "instruction": self.instruction,
            "house": self.house,
            "start": self.start.to_json(),
            "events": [event.to_json() for event in self.events],
            "targets": list(self.targets),
            "changed": [sorted(regions) for regions in self.changed],
        }


@dataclass(frozen=True)
class Benchmark:
    """The `sequences` of the six families, and those of `adjacent`.

    `missing` says how many sequences of a family could not be built from the houses there were.
    """

    seed: int
    sequences: tuple[Sequence, ...] = field(repr=False)
    adjacent: tuple[Sequence, ...] = field(repr=False)
    missing: Mapping[str, int]

    def __str__(self) -> str:
        parts = []
        for what, sequences in (("sequences", self.sequences), ("of Adjacent", self.adjacent)):
            houses = {sequence.house: len(sequence.start) for sequence in sequences}
            parts.append(f"{len(sequences)} {what} in {len(houses)} houses")
        parts += (f"{count} of {family} could not be built" for family, count in self.missing.items())
        return ", ".join(parts)

    def counts(self) -> Counter[str]:
        """How many sequences each family has."""
        return Counter(sequence.family for sequence in (*self.sequences, *self.adjacent))

    def mean_rooms(self) -> float:
        """The rooms of the house of a sequence of the six families, on average; 0 without any."""
        return sum(len(sequence.start) for sequence in self.sequences) / max(1, len(self.sequences))

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data in a fixed order."""
        return {
            "seed": self.seed,
            "sequences": [sequence.to_json() for sequence in self.sequences],
            "adjacent": [sequence.to_json() for sequence in self.adjacent],
            "missing": dict(self.missing),
        }

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the JSON: the same benchmark, the same hash."""
        return hashlib.sha256(json.dumps(self.to_json(), separators=(",", ":")).encode()).hexdigest()


def build(
    houses: Iterable[House],
    *,
    seed: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Benchmark:
    """Draw the benchmark over `houses`, the same for the same houses and seed.

    Sequences are spread over the houses as evenly as can be; those of Adjacent are in as many houses as there are
    of them, if there are so many. A house needs two rooms and a door that can be shut. `progress` is told
    how many sequences are done, of how many. Raises `DataError` (``duplicate-entry``) for two houses of one name.
    """
    usable = _usable(houses)
    total = sum(family.share for family in (*FAMILIES, ADJACENT))
    done, drawn, missing = 0, dict[str, list[Sequence]](), dict[str, int]()
    shared = _Drawer(usable, seed)
    for family in (*FAMILIES, ADJACENT):
        drawer = _Drawer(usable, seed) if family is ADJACENT else shared
        found = drawn[family.name] = []
        for number in range(family.share):
            if sequence := drawer.next(family, number):
                found.append(sequence)
            done += 1
            progress(done, total)
        if len(found) < family.share:
            missing[family.name] = family.share - len(found)
    adjacent = tuple(drawn.pop(ADJACENT.name))
    return Benchmark(seed, tuple(one for found in drawn.values() for one in found), adjacent, missing)


def manifest(sequence: Sequence) -> list[str]:
    """Why the benchmark refuses a sequence; nothing when it does not.

    These are the rules of Section V, each as far as the family lets it be met, and that the sequence holds what the
    reference says of it. Raises as `Regions.apply` where the events do not fit the state.
    """
    request = REQUESTS.get(sequence.request)
    if request is None or (sequence.family, sequence.instruction) != (request.family.name, request.text):
        return [f"{sequence.request!a:.40} is no request of the benchmark, of this family and with this program"]
    changed = list(zip(sequence.events, sequence.changed, strict=False))
    decisions = zip(sequence.events, pairwise((request.target(sequence.start), *sequence.targets)), strict=False)
    semantic = request.family.signature.semantic
    refusals = {
        "it has not one event of each kind": sorted(event.kind for event in sequence.events) != sorted(KINDS),
        "an event changes nothing": any(a is b for a, b in pairwise(sequence.states())),
        "its targets or changed verdicts are not those of the reference": (
            (sequence.targets, sequence.changed) != _reference(request, sequence.start, sequence.events)
        ),
        "no event changes a verdict": not any(sequence.changed),
        "it abstains throughout": not any(sequence.targets),
        "its use event does not move the target": (
            "history" in semantic
            and any(before == after for event, (before, after) in decisions if event.kind == "use")
        ),
        "a move or door event changes a verdict of a nearest request": (
            request.family.nearest and any(regions for event, regions in changed if event.kind in ("move", "close"))
        ),
        # No event changes a label, so an inventory-only rule is exposed by position, history and topology.
        "no event exposes the inventory-only rule": (
            bool(semantic - {"inventory", "label"})
            and not any(regions for event, regions in changed if event.category != "inventory")
        ),
    }
    return [reason for reason, refused in refusals.items() if refused]


# -- the reference ------------------------------------------------------------------------------------


def _states(start: Regions, events: Iterable[Event]) -> Iterator[Regions]:
    yield start
    for event in events:
        start = start.apply(event)
        yield start


def _reference(
    request: Request, start: Regions, events: Iterable[Event]
) -> tuple[tuple[str | None, ...], tuple[frozenset[str], ...]]:
    """The target after each event, and the regions whose verdict changed at it."""
    states = list(_states(start, events))
    verdicts = [request.qualifying(state) for state in states]
    changed = (before ^ after for before, after in pairwise(verdicts))
    return tuple(map(request.target, states[1:])), tuple(changed)


# -- drawing ------------------------------------------------------------------------------------------


def _usable(houses: Iterable[House]) -> list[House]:
    named: dict[str, House] = {}
    for house in houses:
        if house.name in named:
            message = f"two houses are called {house.name!r}"
            raise DataError("duplicate-entry", message, where="houses", help="sequences name their house: rename one")
        named[house.name] = house
    return [house for _, house in sorted(named.items()) if _doors(house.regions)]


class _Drawer:
    """Draws sequences over houses in turn: a house that has served goes behind the others."""

    def __init__(self, houses: Iterable[House], seed: int) -> None:
        shuffled = list(houses)
        Random(seed).shuffle(shuffled)
        self._queue = deque(shuffled)
        self._seed = seed
        self._hopeless: set[tuple[str, str]] = set()
        self._drawn: set[tuple[Any, ...]] = set()

    def next(self, family: Family, number: int) -> Sequence | None:
        """The sequence of this number in the family, its phrasings taken in turn; None if no house has one more."""
        requests = family.requests
        request = requests[number % len(requests)]
        for house in self._queue:
            if (house.name, request.name) in self._hopeless:
                continue
            # A sequence has its own random numbers, so a change to one family leaves the others as they are.
            rng = Random(f"{self._seed}/{request.name}/{number}/{house.name}")
            for _ in range(TRIES):
                sequence = _draw(request, house, rng)
                if sequence is None or self._key(sequence) in self._drawn or manifest(sequence):
                    continue
                self._drawn.add(self._key(sequence))
                self._queue.remove(house)
                self._queue.append(house)
                return sequence
            self._hopeless.add((house.name, request.name))
        return None

    @staticmethod
    def _key(sequence: Sequence) -> tuple[Any, ...]:
        return sequence.request, sequence.house, sequence.start.at, sequence.events


def _draw(request: Request, house: House, rng: Random) -> Sequence | None:
    """Five random events from a random room; None where one of them has no occasion."""
    start = state = house.regions.with_at(rng.choice(sorted(house.regions.names())))
    events = []
    for kind in rng.sample(KINDS, len(KINDS)):
        occasions = sorted(_occasions(kind, request, state), key=str)
        if not occasions:
            return None
        events.append(rng.choice(occasions))
        state = state.apply(events[-1])
    return Sequence.record(request, house.name, start, events)


def _occasions(kind: str, request: Request, state: Regions) -> Iterator[Event]:
    """Every event of a kind that could happen now and may matter to the request."""
    match kind:
        case "move":
            yield from (Event.move(region) for region in state.reachable() - {state.at})
        case "close":
            nearby = "topology" in request.family.signature.semantic  # a verdict reads the doors of the robot's room
            yield from (Event.close(a, b) for a, b in _doors(state) if not nearby or state.at in (a, b))
        case "use":
            if target := request.target(state):
                yield Event.use(target)
        case _:
            for region, inventory in state.inventories.items():
                for type in request.types:
                    if type in inventory and kind == "remove":
                        yield Event.remove(type, region, inventory[type])
                    elif type in inventory:
                        yield from (Event.relocate(type, region, other) for other in state.names() - {region})


def _doors(state: Regions) -> list[tuple[str, str]]:
    """The doors that can be shut: open ones, and not passages, which have no door."""
    return [
        (a, b)
        for a, doors in state.doors.items()
        for b, door in doors.items()
        if a < b and door.passable and not door.passage
    ]
