"""Events: their forms, what they do to a state, and what they refuse."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kb_regions import NAMES, events, house, states
from kb_strategies import json_values

from obviate.kb.errors import ObviateError, PatchError
from obviate.kb.event import Event
from obviate.kb.regions import Regions

HOUSE = house("hall-kitchen", "hall|attic", "hall=den", kitchen={"mug": 2})


@given(events)
def test_text_and_json_round_trip(event: Event) -> None:
    assert Event.parse(str(event)) == event
    assert Event.parse(str(event.term)) == event
    assert Event.read(json.loads(json.dumps(event.to_json()))) == event
    assert Event.read(event) is event


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ('relocate(mug, "kitchen", "hall", 1)', Event.relocate("mug", "kitchen", "hall")),
        ("relocate(Mug,kitchen,hall)", Event.relocate("mug", "kitchen", "hall")),
        ('remove(mug, "kitchen", 2)', Event.remove("mug", "kitchen", 2)),
        ('add(coffee_machine, "kitchen", 1)', Event.add("CoffeeMachine", "kitchen")),
        ('move("7")', Event.move("7")),
        ('use("hall")', Event.use("hall")),
        ('close("hall", "kitchen")', Event.close("hall", "kitchen")),
        ('open("hall", "kitchen")', Event.open("hall", "kitchen")),
        ('relabel("hall", living_room)', Event.relabel("hall", "LivingRoom")),
    ],
)
def test_texts(text: str, event: Event) -> None:
    assert Event.parse(text) == event
    assert Event.parse(str(event)) == event


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("moov(hall)", "event-malformed"),
        ("move(hall", "event-malformed"),
        ("", "event-malformed"),
        ("move()", "event-malformed"),
        ("move(hall, kitchen)", "event-malformed"),
        ("remove(mug)", "event-malformed"),
        ("remove(mug, hall, two)", "event-malformed"),
        ("remove(mug, hall, 99999999999999)", "event-malformed"),
        ("remove(mug, hall, 0)", "bad-count"),
        ("add(mug, hall, -1)", "bad-count"),
        ("add(mug, hall, 2147483648)", "bad-count"),
        ("add(7, hall)", "bad-constant"),
        ('move("")', "bad-id"),
        ("close(hall, hall)", "same-region"),
        ("relocate(mug, hall, hall)", "same-region"),
    ],
)
def test_a_bad_text_is_refused(text: str, code: str) -> None:
    with pytest.raises(ObviateError) as caught:
        Event.parse(text)
    assert caught.value.code == code
    assert str(caught.value.where)
    assert caught.value.help


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"event": "moov", "region": "hall"},
        {"event": "move"},
        {"event": "move", "region": 7},
        {"event": "move", "room": "hall"},
        {"event": "add", "type": "mug", "region": "hall", "count": True},
        {"event": "add", "type": "mug", "region": "hall", "count": 1.0},
        {"event": ["move"], "region": "hall"},
        [],
    ],
)
def test_bad_json_is_refused(data: Any) -> None:
    with pytest.raises(PatchError, match="event-malformed"):
        Event.read(data)


@settings(max_examples=200)
@given(json_values | st.dictionaries(st.sampled_from(["event", "region", "type", "count"]), json_values), st.text())
def test_anything_is_an_event_or_refused(data: Any, text: str) -> None:
    with suppress(ObviateError):
        assert isinstance(Event.read(data), Event)
    with suppress(ObviateError):
        assert isinstance(Event.parse(text), Event)


def test_a_field_that_the_kind_lacks_is_refused() -> None:
    for field in ({"other": "den"}, {"type": "mug"}, {"label": "den"}, {"count": 1}):
        with pytest.raises(PatchError, match="event-malformed"):
            Event("move", "hall", **field)


# -- what they do ----------------------------------------------------------------------------------


@settings(max_examples=300)
@given(states, events)
def test_an_event_changes_its_category_alone_and_never_the_state_before(state: Regions, event: Event) -> None:
    said = state.to_json()
    try:
        after = state.apply(event)
    except PatchError as error:
        after, placed = state, error.where
    else:
        placed = str(event)
    assert (state.to_json(), placed) == (said, str(event))
    assert set(state.difference(after)) <= {event.category}
    assert (after is state) == (after == state)
    assert event.regions <= set(NAMES)


@settings(max_examples=200)
@given(states, events)
def test_the_json_of_a_successor_is_what_the_event_says(state: Regions, event: Event) -> None:
    """The same in plain Python."""
    data = state.to_json()
    try:
        after = state.apply(event)
    except PatchError:
        return

    def put(region: str, change: int) -> None:
        inventory = data["regions"][region]["inventory"]
        inventory[event.type] = inventory.get(event.type, 0) + change
        data["regions"][region]["inventory"] = {type: n for type, n in inventory.items() if n}

    match event.kind:
        case "move":
            data["at"] = event.region
        case "use":
            data["used"] = sorted({*data["used"], event.region})
        case "relabel":
            data["regions"][event.region]["label"] = event.label
        case "add":
            put(event.region, event.count)
        case "remove":
            put(event.region, -event.count)
        case "relocate":
            put(event.region, -event.count)
            put(event.other, event.count)
        case kind:
            between = sorted((event.region, event.other))
            (index,) = [
                n
                for n, door in enumerate(data["doors"])
                if between == (door["between"] if isinstance(door, dict) else door)
            ]
            data["doors"][index] = between if kind == "open" else {"between": between, "passable": False}
    assert after.to_json() == Regions.of(data).to_json()


@pytest.mark.parametrize(
    ("event", "code", "help"),
    [
        (Event.move("kitchn"), "unknown-region", "did you mean 'kitchen'"),
        (Event.use("garage"), "unknown-region", "known: attic, den, hall, kitchen"),
        (Event.relabel("hal", "den"), "unknown-region", "did you mean 'hall'"),
        (Event.relocate("mug", "kitchen", "hal"), "unknown-region", "did you mean 'hall'"),
        (Event.remove("mug", "kitchen", 3), "not-there", "has 2 of mug"),
        (Event.remove("mugs", "kitchen"), "not-there", "did you mean 'mug'"),
        (Event.relocate("mug", "hall", "kitchen"), "not-there", "has 0 of mug"),
        (Event.add("mug", "kitchen", 2**31 - 2), "bad-count", "at most"),
        (Event.close("kitchen", "attic"), "no-door", "lead to 'hall'"),
        (Event.open("den", "kitchen"), "no-door", "'den' has no door"),
        (Event.close("hall", "den"), "no-door", "an open passage joins"),
        (Event.close("hall", "dn"), "unknown-region", "did you mean 'den'"),
    ],
)
def test_an_event_that_cannot_have_happened_is_refused(event: Event, code: str, help: str) -> None:
    with pytest.raises(PatchError) as caught:
        HOUSE.apply(event)
    assert (caught.value.code, caught.value.where) == (code, str(event))
    assert help in str(caught.value)


@pytest.mark.parametrize(
    "event",
    [Event.move("hall"), Event.close("hall", "attic"), Event.open("kitchen", "hall"), Event.relabel("hall", "Hall")],
    ids=str,
)
def test_an_event_that_says_nothing_new_leaves_the_state(event: Event) -> None:
    assert HOUSE.apply(event) is HOUSE
