"""A counterexample as a story: a house, an instruction, what happened, what was reported, and what is decided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from obviate.kb.event import Event
from obviate.kb.footprint import Footprint
from obviate.kb.regions import CATEGORIES, Regions
from obviate.kb.terms import Atom, Fun

__all__ = ["OUTPUTS", "Story"]

OUTPUTS = [
    *((name, 2, True) for name in ("decides", "full", "reads", "changed", "holds", "reaches")),
    *((name, 3, True) for name in ("is", "happens", "depends", "changed", "stale", "cost")),
    ("prefers", 1, True),
    ("again", 1, True),
]
_ROOMS = ("attic", "bath", "cellar", "den", "entry", "garage", "hall", "kitchen", "lounge", "nursery", "porch", "shed")
_THING, _LABEL, _OTHER = "cup", "study", "bedroom"
_QUALIFIES = {
    "inventory": f"inventory(R, {_THING}, _)",
    "label": f"label(R, {_LABEL})",
    "history": "not used(R)",
    "position": "at(R)",
    "topology": "door(R, _)",
}
_PREFERS = {"used": "1) :- used(R)", "label": f"1) :- label(R, {_LABEL})", "near": "D) :- hops(R, D)"}
_SAYS = {
    "inventory": "with a cup",
    "label": "that is a study",
    "history": "that was not used",
    "position": "where you are",
    "topology": "with an open door",
}
_SAYS_WHICH = {"used": "preferably one used before", "label": "preferably a study", "near": "the nearest one"}


@dataclass(frozen=True, slots=True)
class Story:
    """What happens and what is predicted of it, without the hypothesis `dropped` (none: "").

    `reads` is what evaluator and selector truly read by stage, `depends` the signature that the controller is given.
    At the times 0 to the last, `full` and `maintained` are the targets by full recomputation and by the controller,
    `holds` the regions that qualify; after each event, `stale` are the regions that are judged again, and `again`
    says whether there is a new choice. `order` are the regions that can be reached, the preferred first.
    """

    dropped: str
    states: tuple[Regions, ...] = field(repr=False)
    events: tuple[Event, ...]
    reports: tuple[Footprint, ...] = field(repr=False)
    reads: Mapping[str, tuple[str, ...]]
    depends: Mapping[str, tuple[str, ...]]
    prefers: str
    holds: tuple[frozenset[str], ...] = field(repr=False)
    stale: tuple[frozenset[str], ...]
    again: tuple[bool, ...]
    order: tuple[tuple[str, ...], ...] = field(repr=False)
    full: tuple[str | None, ...]
    maintained: tuple[str | None, ...]

    @classmethod
    def of(cls, atoms: Iterable[Atom], dropped: str, regions: int, events: int) -> Story:
        """The story that a model of ``story.lp`` tells."""
        found = _Found(frozenset(atoms))
        rooms = _ROOMS[:regions] if regions <= len(_ROOMS) else [f"room_{i:05}" for i in range(1, regions + 1)]
        names = dict(enumerate(rooms, start=1))
        states = [_house(found, names)]
        happened = tuple(_event(found, time, names) for time in range(1, events + 1))
        for event in happened:
            states.append(states[-1].apply(event))
        times = range(events + 1)

        def only(name: str) -> tuple[str | None, ...]:
            return tuple(next((names[room] for room in found.of(name, time)), None) for time in times)

        return cls(
            dropped,
            tuple(states),
            happened,
            tuple(_report(found, time, names) for time in times[1:]),
            {stage: _ordered(found.of("reads", Fun(stage))) for stage in ("semantic", "selection")},
            {stage: _ordered(found.of("depends", Fun("i"), Fun(stage))) for stage in ("semantic", "selection")},
            found.prefers,
            tuple(frozenset(names[room] for room in found.of("holds", time)) for time in times),
            tuple(frozenset(names[room] for room in found.of("stale", time, Fun("i"))) for time in times[1:]),
            tuple(Atom("again", (time,)) in found.atoms for time in times[1:]),
            tuple(_order(found, time, names) for time in times),
            only("full"),
            only("decides"),
        )

    @property
    def text(self) -> str:
        """The instruction as a program, with the signature that the controller is given."""
        qualifies = ", ".join(_QUALIFIES[category] for category in self.reads["semantic"])
        lines = [f'instruction(story). says(story, "{self.says}").', f"qualifies(story, R) :- {qualifies}."]
        if self.prefers in _PREFERS:
            lines.append(f"prefer(story, R, {_PREFERS[self.prefers]}.")
        lines += [f"depends(story, {stage}, ({'; '.join(read)}))." for stage, read in self.depends.items() if read]
        return "\n".join(lines)

    @property
    def says(self) -> str:
        """The instruction in words."""
        which = [_SAYS_WHICH[self.prefers]] if self.prefers in _SAYS_WHICH else []
        conditions = " and ".join(_SAYS[category] for category in self.reads["semantic"])
        return ", ".join([f"Go to a room {conditions}", *which])

    def words(self) -> Iterator[str]:
        """The story in plain words."""
        yield f'"{self.says}." Judging a room reads {_list(self.reads["semantic"])}; {_choosing(self.reads)}.'
        yield f"The controller is told: {_told(self.depends)}."
        yield f"In the beginning {_where(self.holds[0], 'qualifies', 'qualify')}, and the target is {self.full[0]}."
        for index, event in enumerate(self.events, start=1):
            report = self.reports[index - 1].to_json()
            told = "; ".join(f"{v} of {_list(rooms) if rooms else 'no room'}" for v, rooms in report.items())
            yield f"{event} happens. Reported as changed: {told or 'nothing'}."
            asked = (
                f"{_list(sorted(self.stale[index - 1]))} judged again"
                if self.stale[index - 1]
                else "nothing judged again"
            )
            yield f"So there is {asked}, and {'a new choice' if self.again[index - 1] else 'no new choice'}."
            here, right = self.maintained[index], self.full[index]
            yield f"The controller's target: {here or 'none'}. By full recomputation: {right or 'none'}."

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data, enough to verify the story by itself."""
        return {
            "kind": "equivalence",
            "dropped": self.dropped,
            "instruction": self.text,
            "reads": {stage: list(read) for stage, read in self.reads.items()},
            "depends": {stage: list(read) for stage, read in self.depends.items()},
            "prefers": self.prefers,
            "states": [state.to_json() for state in self.states],
            "events": [event.to_json() for event in self.events],
            "reports": [report.to_json() for report in self.reports],
            "holds": [sorted(rooms) for rooms in self.holds],
            "stale": [sorted(rooms) for rooms in self.stale],
            "again": list(self.again),
            "full": list(self.full),
            "maintained": list(self.maintained),
            "story": list(self.words()),
        }


class _Found:
    """The atoms of a model by predicate and first arguments."""

    def __init__(self, atoms: frozenset[Atom]) -> None:
        self.atoms = atoms
        self.prefers = next(str(atom.args[0]) for atom in atoms if atom.name == "prefers")

    def of(self, name: str, *first: Any) -> list[Any]:
        """The last arguments of the atoms that begin so, in order."""
        size = len(first) + 1
        found = [a.args[-1] for a in self.atoms if a.name == name and len(a.args) == size and a.args[:-1] == first]
        return sorted(found, key=lambda term: (str(type(term)), term))


def _house(found: _Found, names: Mapping[int, str]) -> Regions:
    def rooms(fluent: str) -> set[int]:
        return set(found.of("is", 0, Fun(fluent)))

    cups, studies, shut = rooms("cup"), rooms("label"), rooms("shut")
    return Regions.of(
        {
            "regions": {
                name: {
                    "label": _LABEL if room in studies else _OTHER,
                    "inventory": {_THING: 1} if room in cups else {},
                }
                for room, name in names.items()
            },
            "doors": [
                {"between": [name, names[room + 1]], "passable": room not in shut}
                for room, name in names.items()
                if room + 1 in names
            ],
            "at": names[min(rooms("at"))],
            "used": sorted(names[room] for room in rooms("used")),
        }
    )


def _event(found: _Found, time: int, names: Mapping[int, str]) -> Event:
    kind, room = next(
        (str(a.args[1]), int(str(a.args[2]))) for a in found.atoms if a.name == "happens" and a.args[0] == time
    )
    name = names[room]
    match kind:
        case "add" | "remove":
            return Event(kind, name, type=_THING, count=1)
        case "study" | "plain":
            return Event.relabel(name, _LABEL if kind == "study" else _OTHER)
        case "open" | "close":
            return Event(kind, name, names[room + 1])
    return Event(kind, name)


def _report(found: _Found, time: int, names: Mapping[int, str]) -> Footprint:
    categories = found.of("changed", time)
    return Footprint.of({str(v): [names[room] for room in found.of("changed", time, v)] for v in categories})


def _order(found: _Found, time: int, names: Mapping[int, str]) -> tuple[str, ...]:
    costs = [atom.args[1:] for atom in found.atoms if atom.name == "cost" and atom.args[0] == time]
    reached = found.of("reaches", time)
    return tuple(names[int(str(room))] for room, _ in sorted(costs, key=lambda c: (c[1], c[0])) if room in reached)


def _ordered(categories: Iterable[Any]) -> tuple[str, ...]:
    known = {str(category) for category in categories}
    return tuple(category for category in CATEGORIES if category in known)


def _list(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _choosing(reads: Mapping[str, tuple[str, ...]]) -> str:
    read = reads["selection"]
    return f"choosing among rooms reads {_list(read)}" if read else "choosing among rooms reads nothing"


def _told(depends: Mapping[str, tuple[str, ...]]) -> str:
    return "; ".join(f"{stage}: {_list(read) if read else 'nothing'}" for stage, read in depends.items())


def _where(rooms: Iterable[str], one: str, many: str) -> str:
    known = sorted(rooms)
    if not known:
        return f"no room {many[:-1]}ies" if many.endswith("y") else f"no room {one}"
    return f"{_list(known)} {one if len(known) == 1 else many}"
