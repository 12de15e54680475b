"""Strategies for buildings and what happens to them, which several tests share."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from hypothesis import strategies as st

from obviate.kb.errors import PatchError
from obviate.kb.event import Event
from obviate.kb.regions import Regions

NAMES = ("attic", "bath", "cellar", "Den 2", "entry|3", 'f"\\')
TYPES = ("chair", "mug", "tv_stand")
LABELS = ("bedroom", "kitchen")


def house(*doors: str, at: str = "hall", **inventories: dict[str, int]) -> Regions:
    """A building from doorways such as ``hall-kitchen``, ``hall|attic`` (shut) and ``hall=den`` (a passage)."""
    found: dict[str, list[tuple[str, str]]] = {"-": [], "|": [], "=": []}
    for door in doors:
        sign = next(sign for sign in found if sign in door)
        a, _, b = door.partition(sign)
        found[sign].append((a, b))
    names = {at, *inventories, *(name for pairs in found.values() for pair in pairs for name in pair)}
    return Regions.of(
        {
            "regions": {name: {"label": name, "inventory": inventories.get(name, {})} for name in names},
            "doors": [*found["-"], *({"between": pair, "passable": False} for pair in found["|"])],
            "passages": found["="],
            "at": at,
        }
    )


@st.composite
def buildings(draw: st.DrawFn) -> dict[str, Any]:
    """The JSON of any building over `NAMES`."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
    inventory = st.dictionaries(st.sampled_from(TYPES), st.integers(1, 3))
    region = st.fixed_dictionaries({"label": st.sampled_from(LABELS), "inventory": inventory})
    doors: list[Any] = []
    passages = []
    for pair in combinations(names, 2):
        match draw(st.sampled_from(["", "", "door", "shut", "passage"])):
            case "door":
                doors.append(draw(st.permutations(pair)))
            case "shut":
                doors.append({"between": list(pair), "passable": False})
            case "passage":
                passages.append(list(pair))
    return {
        "regions": {name: draw(region) for name in names},
        "doors": doors,
        "passages": passages,
        "at": draw(st.sampled_from(names)),
        "used": draw(st.lists(st.sampled_from(names), unique=True)),
    }


states = st.builds(Regions.of, buildings())

_region = st.sampled_from(NAMES)
_pair = st.lists(_region, min_size=2, max_size=2, unique=True)
_type, _count = st.sampled_from(TYPES), st.integers(1, 3)
events = st.one_of(
    st.builds(Event.move, _region),
    st.builds(Event.remove, _type, _region, _count),
    st.builds(Event.add, _type, _region, _count),
    st.builds(lambda type, pair, count: Event.relocate(type, pair[0], pair[1], count), _type, _pair, _count),
    st.builds(Event.use, _region),
    st.builds(lambda pair: Event.close(*pair), _pair),
    st.builds(lambda pair: Event.open(*pair), _pair),
    st.builds(Event.relabel, _region, st.sampled_from(LABELS)),
)


def steps(state: Regions, happened: list[Event]) -> list[tuple[Regions, Event, Regions]]:
    """What each event that the state can take makes of it: before, event, after."""
    found = []
    for event in happened:
        try:
            after = state.apply(event)
        except PatchError:
            continue
        found.append((state, event, after))
        state = after
    return found
