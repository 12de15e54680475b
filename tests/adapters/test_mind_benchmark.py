"""The dependency benchmark: its requests agree with their reference, its sequences are what the paper asks for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from obviate.adapters.mind import (
    ADJACENT,
    FAMILIES,
    KINDS,
    REQUESTS,
    Benchmark,
    Request,
    Sequence,
    build,
    manifest,
)
from obviate.adapters.mind.families import THINGS
from obviate.adapters.procthor import House, houses, shipped
from obviate.kb import asp
from obviate.kb.errors import DataError, PatchError
from obviate.kb.event import Event
from obviate.kb.instruction import Instruction
from obviate.kb.regions import CATEGORIES, Regions

SHARES = {
    "inventory-only": 55,
    "named-region": 9,
    "current-region": 27,
    "history-dependent": 54,
    "nearest-candidate": 40,
    "nearest+history": 55,
    "adjacent": 80,
}


@pytest.fixture(scope="module")
def benchmark() -> Benchmark:
    return build(shipped(), seed=0)


# -- the requests --------------------------------------------------------------------------------------


def test_there_are_eleven_requests_in_six_families_and_six_of_adjacent() -> None:
    assert [len(family.requests) for family in FAMILIES] == [2, 1, 2, 2, 2, 2]
    assert len(ADJACENT.requests) == 6
    assert {family.name: family.share for family in (*FAMILIES, ADJACENT)} == SHARES
    assert len({request.says for request in REQUESTS.values()}) == len(REQUESTS) == 17


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
def test_a_request_is_an_instruction_with_the_true_signature(request_: Request) -> None:
    instruction = Instruction.of(request_.text)
    assert (instruction.name, instruction.says) == (request_.name, request_.says)
    assert instruction.inferred == request_.family.signature
    assert instruction.declared is None


def test_the_true_signatures_are_those_of_the_paper() -> None:
    slots = {f.name: (set(f.signature.semantic), set(f.signature.selection)) for f in (*FAMILIES, ADJACENT)}
    assert slots == {
        "inventory-only": ({"inventory"}, set()),
        "named-region": ({"inventory", "label"}, set()),
        "current-region": ({"inventory", "position"}, set()),
        "history-dependent": ({"inventory", "history"}, set()),
        "nearest-candidate": ({"inventory"}, {"position", "topology"}),
        "nearest+history": ({"inventory", "history"}, {"position", "topology"}),
        "adjacent": ({"inventory", "position", "topology"}, set()),
    }


def test_every_thing_stands_in_some_shipped_house() -> None:
    found = {type for house in shipped() for inventory in house.regions.inventories.values() for type in inventory}
    assert all(found & set(types) for types in THINGS.values())


# a - b - c in a row, and d behind a door that is shut.
SMALL = Regions.of(
    {
        "regions": {
            "a": {"label": "kitchen", "inventory": {"chair": 1, "desk": 1, "house_plant": 1}},
            "b": {"label": "bedroom"},
            "c": {"label": "bedroom", "inventory": {"sofa": 2, "arm_chair": 1, "desk": 1, "house_plant": 2}},
            "d": {"label": "kitchen", "inventory": {"stool": 1, "chair": 1, "house_plant": 1}},
        },
        "doors": [["a", "b"], ["b", "c"], {"between": ["b", "d"], "passable": False}],
        "at": "b",
    }
)


@pytest.mark.parametrize(
    ("name", "events", "qualifying", "target"),
    [
        ("sit_down", [], "acd", "a"),
        ("sit_down", [Event.close("a", "b")], "acd", "c"),
        ("sit_down", [Event.remove("chair", "d")], "acd", "a"),
        ("bedroom_table", [], "c", "c"),
        ("bedroom_table", [Event.relabel("a", "bedroom")], "ac", "a"),
        ("sit_here", [], "", None),
        ("sit_here", [Event.move("c")], "c", "c"),
        ("next_plant", [], "acd", "a"),
        ("next_plant", [Event.use("a")], "cd", "c"),
        ("nearest_seat", [], "acd", "a"),
        ("nearest_seat", [Event.move("c")], "acd", "c"),
        ("nearest_seat", [Event.move("c"), Event.close("b", "c")], "acd", "c"),
        ("nearest_seat", [Event.close("a", "b"), Event.open("b", "d")], "acd", "c"),
        ("nearest_seat", [Event.close("a", "b"), Event.close("b", "c")], "acd", None),
        ("chair_beside", [], "ac", "a"),
        ("chair_beside", [Event.close("a", "b")], "c", "c"),
        ("chair_beside", [Event.move("a")], "", None),
        ("chair_beside", [Event.open("b", "d")], "acd", "a"),
    ],
)
def test_the_reference_in_sentences(name: str, events: list[Event], qualifying: str, target: str | None) -> None:
    state = SMALL
    for event in events:
        state = state.apply(event)
    assert REQUESTS[name].qualifying(state) == set(qualifying)
    assert REQUESTS[name].target(state) == target
    assert solved(REQUESTS[name], state) == (set(qualifying), target)


def solved(request: Request, state: Regions) -> tuple[set[str], str | None]:
    """What clingo says: the regions that qualify, and the best of the reachable ones."""
    facts = [*state.facts(), *state.derived()]
    atoms = asp.evaluate([request.text], facts, [("qualifies", 2, True), ("prefer", 3, True)])
    qualifying = {str(atom.args[1]) for atom in atoms if atom.name == "qualifies"}
    preferred = {str(atom.args[1]): atom.args[2] for atom in atoms if atom.name == "prefer"}
    feasible = qualifying & {str(atom.args[0]) for atom in state.derived() if atom.name == "reachable"}
    ranked = sorted((int(str(preferred.get(region, 0))), region) for region in feasible)
    return qualifying, ranked[0][1] if ranked else None


# -- the sequences -------------------------------------------------------------------------------------


def check(benchmark: Benchmark) -> None:
    """Every sequence replays, passes the manifest, and holds what the reference says."""
    for sequence in (*benchmark.sequences, *benchmark.adjacent):
        assert manifest(sequence) == []
        request, state = REQUESTS[sequence.request], sequence.start
        assert len(sequence.targets) == len(sequence.changed) == 5
        assert sorted(event.kind for event in sequence.events) == sorted(KINDS)
        for event, target, changed in zip(sequence.events, sequence.targets, sequence.changed, strict=True):
            after = state.apply(event)
            if event.kind == "use":
                assert event.region == request.target(state)
            if event.kind == "close":
                assert not state.doors[event.region][event.other].passage
            if event.kind == "move":
                assert event.region in state.reachable()
            assert target == request.target(after)
            assert changed == request.qualifying(state) ^ request.qualifying(after)
            state = after
        exposed = any(
            changed and event.category != "inventory"
            for event, changed in zip(sequence.events, sequence.changed, strict=True)
        )
        assert exposed == bool(request.family.signature.semantic & {"position", "history", "topology"})


def agree(benchmark: Benchmark, count: int) -> None:
    """Programs and reference agree on every state of a sample."""
    for sequence in Random(1).sample([*benchmark.sequences, *benchmark.adjacent], count):
        request = REQUESTS[sequence.request]
        for state in sequence.states():
            assert solved(request, state) == (set(request.qualifying(state)), request.target(state))


def test_the_shipped_houses_have_the_whole_benchmark(benchmark: Benchmark) -> None:
    assert benchmark.counts() == SHARES
    assert benchmark.missing == {}
    assert round(benchmark.mean_rooms(), 1) == 5.1
    assert str(benchmark) == "240 sequences in 46 houses, 80 of Adjacent in 40 houses"
    check(benchmark)
    agree(benchmark, 40)
    every = [*benchmark.sequences, *benchmark.adjacent]
    assert len({json.dumps(sequence.to_json()) for sequence in every}) == 320
    assert {sequence.request for sequence in every} == set(REQUESTS)


def test_doors_matter_to_adjacent(benchmark: Benchmark) -> None:
    shut = [
        sequence
        for sequence in benchmark.adjacent
        if any(e.kind == "close" and c for e, c in zip(sequence.events, sequence.changed, strict=True))
    ]
    assert len(shut) >= 20


def test_a_seed_freezes_the_benchmark(benchmark: Benchmark) -> None:
    assert benchmark.digest == "8236d989cefb65b68bb404b313fd3ec76740b6c61190ecee116be69af5b540ef"
    assert build(reversed(shipped()), seed=0).digest == benchmark.digest
    assert build(shipped(), seed=1).digest != benchmark.digest


def test_a_sequence_is_read_back(benchmark: Benchmark) -> None:
    for sequence in benchmark.sequences[::40]:
        data = json.loads(json.dumps(sequence.to_json()))
        assert Sequence.of(data) == sequence
        del data["events"]
        with pytest.raises(DataError, match="no sequence: KeyError 'events'"):
            Sequence.of(data)


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    build(shipped()[:10], seed=0, progress=lambda done, total: told.append((done, total)))
    assert told == [(done, 320) for done in range(1, 321)]


def test_what_cannot_be_built_is_said() -> None:
    assert str(build([], seed=0)).startswith("0 sequences in 0 houses, 0 of Adjacent in 0 houses, 55 of inventory-only")
    rooms = {"a": {"label": "kitchen", "inventory": {"painting": 1}}, "b": {"label": "hall"}}
    house = House("small", Regions.of({"regions": rooms, "doors": [["a", "b"]], "at": "a"}))
    benchmark = build([house], seed=0)
    check(benchmark)
    built = benchmark.counts()
    assert 0 < built["current-region"] < 27
    assert built["inventory-only"] == built["adjacent"] == 0  # nothing to sit on, no screen
    assert {name: built[name] + benchmark.missing.get(name, 0) for name in SHARES} == SHARES
    passage = House("open", Regions.of({"regions": rooms, "passages": [["a", "b"]], "at": "a"}))
    assert build([passage], seed=0).counts() == {}
    with pytest.raises(DataError, match="two houses are called 'small'"):
        build([house, house], seed=0)


# -- the manifest --------------------------------------------------------------------------------------


def sequence(name: str, *events: Event, start: Regions = SMALL) -> Sequence:
    return Sequence.record(REQUESTS[name], "small", start, events)


USE, MOVE, CLOSE = Event.use("a"), Event.move("c"), Event.close("b", "a")
EMPTY, RELOCATE = Event.remove("house_plant", "c", 2), Event.relocate("house_plant", "d", "b")
BACK = Event.move("a")  # where nothing is left to sit on
GOOD = (USE, MOVE, EMPTY, RELOCATE, CLOSE)


def faked(base: Sequence, index: int, *regions: str) -> Sequence:
    changed = list(base.changed)
    changed[index] = frozenset(regions)
    return replace(base, changed=tuple(changed))


def test_a_good_sequence_is_not_refused() -> None:
    assert manifest(sequence("next_plant", *GOOD)) == []


@pytest.mark.parametrize(
    ("refused", "reason"),
    [
        (sequence("next_plant", *GOOD[:4]), "it has not one event of each kind"),
        (sequence("next_plant", *GOOD[:4], MOVE), "it has not one event of each kind"),
        (sequence("sit_down", Event.move("b"), *GOOD[2:], USE), "an event changes nothing"),
        (
            replace(sequence("next_plant", *GOOD), targets=("a",) * 5),
            "its targets or changed verdicts are not those of the reference",
        ),
        (
            replace(sequence("next_plant", *GOOD), targets=(), changed=()),
            "its targets or changed verdicts are not those of the reference",
        ),
        (sequence("watch_film", *GOOD), "no event changes a verdict"),
        (sequence("watch_film", *GOOD), "it abstains throughout"),
        (
            sequence("next_plant", Event.use("b"), MOVE, EMPTY, RELOCATE, CLOSE),
            "its use event does not move the target",
        ),
        (
            sequence("another_picture", Event.use("b"), MOVE, EMPTY, RELOCATE, CLOSE),
            "its use event does not move the target",
        ),
        (faked(sequence("next_plant", *GOOD), 1, "a"), "a move or door event changes a verdict of a nearest request"),
        (faked(sequence("nearest_seat", *GOOD), 4, "a"), "a move or door event changes a verdict of a nearest request"),
        (
            sequence("sit_here", USE, CLOSE, Event.relocate("chair", "a", "b"), Event.remove("chair", "b"), BACK),
            "no event exposes the inventory-only rule",
        ),
    ],
)
def test_the_manifest_refuses(refused: Sequence, reason: str) -> None:
    assert reason in manifest(refused)


def test_the_manifest_refuses_what_is_no_request_of_the_benchmark() -> None:
    good = sequence("next_plant", *GOOD)
    for other in (
        replace(good, request="other"),
        replace(good, family="adjacent"),
        replace(good, instruction=REQUESTS["sit_here"].text),
    ):
        assert [reason.split(" is ")[1] for reason in manifest(other)] == [
            "no request of the benchmark, of this family and with this program"
        ]


def test_events_that_do_not_fit_are_an_error() -> None:
    with pytest.raises(PatchError, match="so there is no door"):
        manifest(replace(sequence("next_plant", *GOOD), events=(*GOOD[:4], Event.close("a", "c"))))


# -- houses that do not ship ---------------------------------------------------------------------------


def test_four_to_ten_rooms(procthor: Path, capsys: pytest.CaptureFixture[str]) -> None:
    benchmark = build(houses(procthor / "houses_4_to_10_rooms.jsonl.gz"), seed=0)
    with capsys.disabled():
        print(f"\n{benchmark}; {benchmark.mean_rooms():.2f} rooms on average; {benchmark.digest}")
    assert benchmark.counts() == SHARES
    assert len({sequence.house for sequence in benchmark.sequences}) >= 57
    assert len({sequence.house for sequence in benchmark.adjacent}) == 80
    assert 4 <= benchmark.mean_rooms() <= 10
    check(benchmark)
    agree(benchmark, 40)
    assert {event.category for sequence in benchmark.sequences for event in sequence.events} < set(CATEGORIES)
