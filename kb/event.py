"""Events: what happens to a building between two decisions (MIND paper, Sections III and V).

An event is an observation of something that has happened. It changes one state category.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from obviate.kb.action import Action
from obviate.kb.errors import ActionError, ObviateError, PatchError, nearest
from obviate.kb.patch import MAX_INT
from obviate.kb.regions import Regions, constant
from obviate.kb.terms import Fun, Term, check_id, quote

__all__ = ["Event", "apply"]

# The category each kind changes, and its arguments: (as they are called in JSON, the field).
_KINDS: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "move": ("position", (("region", "region"),)),
    "remove": ("inventory", (("type", "type"), ("region", "region"), ("count", "count"))),
    "add": ("inventory", (("type", "type"), ("region", "region"), ("count", "count"))),
    "relocate": ("inventory", (("type", "type"), ("source", "region"), ("target", "other"), ("count", "count"))),
    "use": ("history", (("region", "region"),)),
    "close": ("topology", (("a", "region"), ("b", "other"))),
    "open": ("topology", (("a", "region"), ("b", "other"))),
    "relabel": ("label", (("region", "region"), ("label", "label"))),
}
_NUMBER = re.compile(r"-?\d{1,10}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Event:
    """One event e_t: its `kind`, the `region` it happens in, and what the kind needs besides.

    `other` is the second region: where a relocated object goes, the far side of a door. Made by the class methods;
    raises `PatchError` (``event-malformed``, ``bad-count``, ``same-region``) or `ObviateError` (``bad-id``,
    ``bad-constant``) for what cannot be one.
    """

    kind: str
    region: str
    other: str = ""
    type: str = ""
    label: str = ""
    count: int = 0

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise _unknown_kind(self.kind)
        taken = {field for _, field in _KINDS[self.kind][1]}
        for field in ("region", "other", "type", "label"):
            value = getattr(self, field)
            if not isinstance(value, str) or (value and field not in taken):
                raise _malformed(f"{value!r:.40} cannot be the {field} of {self.kind}", self.kind)
            if field in taken:
                read = check_id if field in ("region", "other") else constant
                object.__setattr__(self, field, read(value, f"{field} of {self.kind}"))
        if type(self.count) is not int or (self.count and "count" not in taken):
            raise _malformed(f"{self.count!r:.40} cannot be the count of {self.kind}", self.kind)
        if "count" in taken and not 1 <= self.count <= MAX_INT:
            help = f"a count is from 1 to {MAX_INT}"
            raise PatchError("bad-count", f"{self.count} objects", where=f"count of {self.kind}", help=help)
        if self.region == self.other:
            message = f"{self.kind} from {self.region!r} to itself"
            raise PatchError("same-region", message, where=f"region of {self.kind}", help="name two regions")

    @classmethod
    def move(cls, region: str) -> Event:
        """The robot went to `region`."""
        return cls("move", region)

    @classmethod
    def remove(cls, type: str, region: str, count: int = 1) -> Event:
        """`count` objects of `type` vanished from `region`."""
        return cls("remove", region, type=type, count=count)

    @classmethod
    def add(cls, type: str, region: str, count: int = 1) -> Event:
        """`count` objects of `type` appeared in `region`."""
        return cls("add", region, type=type, count=count)

    @classmethod
    def relocate(cls, type: str, source: str, target: str, count: int = 1) -> Event:
        """`count` objects of `type` went from `source` to `target`."""
        return cls("relocate", source, target, type=type, count=count)

    @classmethod
    def use(cls, region: str) -> Event:
        """`region` served the instruction."""
        return cls("use", region)

    @classmethod
    def close(cls, a: str, b: str) -> Event:
        """The door between `a` and `b` was shut."""
        return cls("close", a, b)

    @classmethod
    def open(cls, a: str, b: str) -> Event:
        """The door between `a` and `b` was opened."""
        return cls("open", a, b)

    @classmethod
    def relabel(cls, region: str, label: str) -> Event:
        """`region` is called `label` now."""
        return cls("relabel", region, label=label)

    @property
    def category(self) -> str:
        """The state category that the event changes, one of `kb.regions.CATEGORIES`."""
        return _KINDS[self.kind][0]

    @property
    def regions(self) -> frozenset[str]:
        """The regions that the event names."""
        return frozenset(name for name in (self.region, self.other) if name)

    # -- as text and data -----------------------------------------------------------------------

    @classmethod
    def parse(cls, text: str) -> Event:
        """Read ``relocate(mug, "kitchen", "hall", 1)``; plain ids need no quotes, and a count left out is 1.

        Raises `PatchError` (``event-malformed``), and as an event does.
        """
        try:
            read = Action.parse(text)
        except ActionError as error:
            raise PatchError(
                "event-malformed",
                error.message.replace("the action", "the event", 1).replace("a skill name", "an event", 1),
                where=error.where,
                help='write move("hall"), relocate(mug, "kitchen", "hall", 1) or the like',
            ) from None
        if read.skill not in _KINDS:
            raise _unknown_kind(read.skill)
        names = [name for name, _ in _KINDS[read.skill][1]]
        if not len(names) - ("count" in names) <= len(read.args) <= len(names):
            raise _malformed(f"{read.skill} is given {len(read.args)} arguments", read.skill)
        values: dict[str, Any] = dict(zip(names, read.args, strict=False))
        if _NUMBER.fullmatch(values.get("count", "")):
            values["count"] = int(values["count"])
        return cls.read({"event": read.skill, **values})

    @classmethod
    def read(cls, data: Event | Mapping[str, Any]) -> Event:
        """An event from its JSON, ``{"event": "relocate", "type": "mug", "source": "kitchen", "target": "hall"}``.

        Raises `PatchError` (``event-malformed``), and as an event does.
        """
        if isinstance(data, Event):
            return data
        kind = data.get("event") if isinstance(data, Mapping) else None
        if not isinstance(kind, str):
            help = 'an event is {"event": "move", "region": "hall"} or the like'
            raise PatchError("event-malformed", f"{data!r:.40} names no event", where="event", help=help)
        if kind not in _KINDS:
            raise _unknown_kind(kind)
        fields = dict(_KINDS[kind][1])
        given = {"count": 1, **data} if "count" in fields else dict(data)
        del given["event"]
        for name in given:
            if name not in fields:
                raise _malformed(f"unknown key {name!r:.40}", kind)
        for name in fields:
            if name not in given:
                raise _malformed(f"the {name} is missing", kind)
        return cls(kind, **{field: given[name] for name, field in fields.items()})

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data, which `read` reads."""
        return {"event": self.kind, **{name: getattr(self, field) for name, field in _KINDS[self.kind][1]}}

    @property
    def term(self) -> Fun:
        """The event as a term of the logic: types and labels are constants, regions strings."""
        return Fun(self.kind, tuple(self._argument(field) for _, field in _KINDS[self.kind][1]))

    def _argument(self, field: str) -> Term:
        value: str | int = getattr(self, field)
        return Fun(str(value)) if field in ("type", "label") else value

    def __str__(self) -> str:
        parts = (quote(part) if isinstance(part, str) else str(part) for part in self.term.args)
        return f"{self.kind}({', '.join(parts)})"


def apply(state: Regions, event: Event) -> Regions:
    """See `Regions.apply`."""
    try:
        match event.kind:
            case "move":
                return state.with_at(event.region)
            case "remove":
                return state.with_added(event.type, event.region, -event.count)
            case "add":
                return state.with_added(event.type, event.region, event.count)
            case "relocate":
                taken = state.with_added(event.type, event.region, -event.count)
                return taken.with_added(event.type, event.other, event.count)
            case "use":
                return state.with_used(event.region)
            case "relabel":
                return state.with_label(event.region, event.label)
            case _:
                return state.with_door(event.region, event.other, passable=event.kind == "open")
    except ObviateError as error:
        error.where = str(event)
        raise


def _unknown_kind(kind: str) -> PatchError:
    return PatchError("event-malformed", f"{kind!r:.40} is no event", where="event", help=nearest(kind, _KINDS))


def _malformed(message: str, kind: str) -> PatchError:
    form = f"{kind}({', '.join(name for name, _ in _KINDS[kind][1])})"
    return PatchError("event-malformed", message, where=kind, help=f"its form is {form}")
