"""ProcTHOR houses as region maps: rooms, what lies in them, and the doorways between (schemas 0.0.1 and 1.0.0).

A house comes from a stranger: whatever is used of it is checked, and what is odd about it is noted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from obviate.kb.errors import DataError, ObviateError, nearest
from obviate.kb.patch import path
from obviate.kb.regions import Regions, constant

__all__ = ["House", "read"]

_Point = tuple[float, float]
_INDEX = re.compile(r"(?:^|\|)(\d+)(?=\||$)")


@dataclass(frozen=True, slots=True)
class House:
    """A house by name. `notes` say what was odd about its file and how it was taken."""

    name: str
    regions: Regions
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data, which `of` reads."""
        return {"name": self.name, **self.regions.to_json(), **({"notes": list(self.notes)} if self.notes else {})}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> House:
        """A house from its `to_json`. Raises as `Regions.of`."""
        regions = {key: value for key, value in data.items() if key not in ("name", "notes")}
        return cls(str(data.get("name", "")), Regions.of(regions), tuple(map(str, data.get("notes", ()))))


class _Part(BaseModel):
    """The part of a record that is used; other keys are ignored."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)


class _Position(_Part):
    x: float
    z: float


class _Room(_Part):
    id: str
    roomType: str  # noqa: N815 - as ProcTHOR writes it
    floorPolygon: tuple[_Position, ...]  # noqa: N815


class _Door(_Part):
    room0: str
    room1: str
    openable: bool | None = None
    openness: Annotated[float, Field(ge=0, le=1)] | None = None


class _Wall(_Part):
    roomId: str  # noqa: N815
    empty: bool = False
    polygon: tuple[_Position, ...]


class _Object(_Part):
    id: str
    assetId: str = ""  # noqa: N815
    objectType: str = ""  # noqa: N815
    position: _Position
    children: tuple[_Object, ...] = ()


class _Agent(_Part):
    position: _Position


class _Metadata(_Part):
    agent: _Agent | None = None


class _House(_Part):
    rooms: tuple[_Room, ...]
    doors: tuple[_Door, ...]
    walls: tuple[_Wall, ...]
    objects: tuple[_Object, ...]
    metadata: _Metadata = _Metadata()


def read(data: str | Mapping[str, Any], *, name: str, types: Mapping[str, str]) -> House:
    """The region map of one ProcTHOR house, given as its JSON text or the value of it.

    `types` maps asset ids to object types; an object's own ``objectType`` goes before it. Rooms are numbered within
    their type, in the order of the file: ``kitchen_1``. An object is in the room whose floor it is over, or else in
    the one its id names. A door is passable when it is open at all; a door frame without a door, and a wall left out
    between two rooms (``empty``, which each room has one side of), are open passages; a door outside is no doorway.
    The robot is where the file puts the agent, or else in the first room. Raises `DataError` (``house-malformed``).
    """
    try:
        house = _House.model_validate_json(data) if isinstance(data, str) else _House.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = f"{name}#{path(*first['loc'])}".removesuffix("#")
        help = "a ProcTHOR house has the lists rooms, doors, walls and objects"
        raise DataError("house-malformed", first["msg"], where=where, help=help) from None
    return _Reader(house, name, types).read()


class _Reader:
    """Reads one house. `names` are the readable ids of its rooms."""

    def __init__(self, house: _House, name: str, types: Mapping[str, str]) -> None:
        self.house = house
        self.name = name
        self.types = types
        self.notes: Counter[str] = Counter()
        self.names: dict[str, str] = {}
        self.labels: dict[str, str] = {}
        self.floors = {room.id: [(corner.x, corner.z) for corner in room.floorPolygon] for room in house.rooms}
        numbers: Counter[str] = Counter()
        for index, room in enumerate(house.rooms):
            label = constant(room.roomType, f"{name}#rooms[{index}].roomType")
            if room.id in self.names:
                message = f"the room {room.id!r} is listed twice"
                raise DataError("house-malformed", message, where=f"{name}#rooms[{index}].id", help="list it once")
            numbers[label] += 1
            self.names[room.id] = f"{label}_{numbers[label]}"
            self.labels[room.id] = label

    def read(self) -> House:
        if not self.names:
            raise DataError("house-malformed", "it has no room", where=f"{self.name}#rooms", help="give it one")
        inventories = self._inventories()
        passages = self._passages()
        doors = self._doors(passages)
        data = {
            "regions": {
                self.names[room]: {"label": self.labels[room], "inventory": dict(inventories[room])}
                for room in self.names
            },
            "doors": [{"between": sorted(pair), "passable": doors[pair]} for pair in doors if pair not in passages],
            "passages": [sorted(pair) for pair in passages],
            "at": self._start(),
        }
        notes = tuple(f"{note} ({n} times)" if n > 1 else note for note, n in self.notes.items())
        return House(self.name, Regions.of(data), notes)

    def _inventories(self) -> dict[str, Counter[str]]:
        found: dict[str, Counter[str]] = {room: Counter() for room in self.names}
        for thing in _all(self.house.objects):
            room = self._room_of(thing)
            if room is None:
                self.notes[f"{thing.id!a} is in no room: not counted"] += 1
                continue
            written = thing.objectType or self.types.get(thing.assetId, "")
            if not written:
                self.notes[f"nobody knows the type of {thing.assetId!a}, in {self.names[room]}: not counted"] += 1
                continue
            try:
                found[room][constant(written, "")] += 1
            except ObviateError as error:
                self.notes[f"{error.message}, in {self.names[room]}: not counted"] += 1
        return found

    def _room_of(self, thing: _Object) -> str | None:
        over = self._room_at(thing.position)
        if over is None and (index := _INDEX.search(thing.id)):
            named = f"room|{index[1]}"
            return named if named in self.names else None
        return over

    def _room_at(self, position: _Position) -> str | None:
        point = (position.x, position.z)
        return next((room for room, floor in self.floors.items() if _within(point, floor)), None)

    def _passages(self) -> set[frozenset[str]]:
        """The pairs of rooms with a wall left out between them: its two sides have the same corners."""
        sides: dict[frozenset[_Point], set[str]] = {}
        for index, wall in enumerate(self.house.walls):
            if wall.empty:
                corners = frozenset((round(corner.x, 2), round(corner.z, 2)) for corner in wall.polygon)
                sides.setdefault(corners, set()).add(self._known(wall.roomId, f"walls[{index}].roomId"))
        found = set()
        for rooms in sides.values():
            if len(rooms) == 2:
                found.add(frozenset(rooms))
            else:
                self.notes[f"a wall left out has a side in {' and '.join(sorted(rooms))} only: no passage"] += 1
        return found

    def _doors(self, passages: set[frozenset[str]]) -> dict[frozenset[str], bool]:
        """The doors inside, passable if one of several is; frames without a door join the `passages`."""
        found: dict[frozenset[str], bool] = {}
        for index, door in enumerate(self.house.doors):
            if door.room0 == door.room1 or "exterior" in (door.room0, door.room1):
                continue
            between = frozenset(
                (self._known(door.room0, f"doors[{index}].room0"), self._known(door.room1, f"doors[{index}].room1"))
            )
            if door.openable is None and door.openness is None:
                passages.add(between)
            else:
                found[between] = found.get(between, False) or bool(door.openness)
        return found

    def _known(self, room: str, place: str) -> str:
        if room not in self.names:
            message, help = f"there is no room {room!r}", nearest(room, self.names)
            raise DataError("house-malformed", message, where=f"{self.name}#{place}", help=help)
        return self.names[room]

    def _start(self) -> str:
        first = next(iter(self.names.values()))
        agent = self.house.metadata.agent
        if agent is None:
            self.notes[f"the house has no agent: the robot is in {first}"] += 1
            return first
        room = self._room_at(agent.position)
        if room is None:
            self.notes[f"the agent is in no room: the robot is in {first}"] += 1
        return self.names[room] if room else first


def _all(objects: tuple[_Object, ...]) -> Iterator[_Object]:
    for thing in objects:
        yield thing
        yield from _all(thing.children)


def _within(point: _Point, polygon: list[_Point]) -> bool:
    """Whether a ray from the point crosses the outline an odd number of times."""
    x, z = point
    inside = False
    for (ax, az), (bx, bz) in zip(polygon, polygon[1:] + polygon[:1], strict=True):
        if (az > z) != (bz > z) and x < (bx - ax) * (z - az) / (bz - az) + ax:
            inside = not inside
    return inside
