"""The state of a building: what it refuses, what it shares, and that it reaches what can be reached."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kb_regions import buildings, events, house, states, steps
from kb_strategies import json_values

from obviate.kb import asp
from obviate.kb.errors import ObviateError
from obviate.kb.event import Event
from obviate.kb.regions import Regions, constant
from obviate.kb.terms import Atom, Fun

TWO = {"regions": {"hall": {"label": "hall"}, "kitchen": {"label": "kitchen"}}, "at": "hall"}


def graph_of(state: Regions) -> nx.Graph[str]:
    graph: nx.Graph[str] = nx.Graph()
    for name in state.names():
        graph.add_node(name, label=state.labels[name], inventory=dict(state.inventories[name].items()))
    for a, doors in state.doors.items():
        for b, door in doors.items():
            graph.add_edge(a, b, passable=door.passable, passage=door.passage)
    return graph


# -- reading ---------------------------------------------------------------------------------------


@given(buildings())
def test_json_round_trip(data: dict[str, Any]) -> None:
    state = Regions.of(data)
    again = Regions.of(json.loads(json.dumps(state.to_json())))
    assert (again == state, hash(again) == hash(state)) == (True, True)
    assert again.to_json() == state.to_json()
    assert not state.difference(again)
    assert state.to_json()["regions"] == data["regions"]
    assert len(state) == len(data["regions"])


@given(states)
def test_a_graph_says_the_same(state: Regions) -> None:
    assert Regions.from_graph(graph_of(state), at=state.at, used=state.used) == state


@given(states)
def test_the_facts_say_all_but_what_is_shut(state: Regions) -> None:
    facts = list(state.facts())
    assert len(set(facts)) == len(facts)
    regions: dict[str, Any] = {}
    data: dict[str, Any] = {"regions": regions, "doors": set(), "used": []}
    for atom in facts:
        if atom.name == "label":
            regions[str(atom.args[0])] = {"label": str(atom.args[1]), "inventory": {}}
    for name, args, positive in facts:
        assert positive
        match name, args:
            case "inventory", (str(region), type, count):
                regions[region]["inventory"][str(type)] = count
            case "at", (region,):
                data["at"] = region
            case "used", (region,):
                data["used"].append(region)
            case "door", (a, b):
                assert Atom("door", (b, a)) in facts
                data["doors"].add(tuple(sorted((str(a), str(b)))))
    again = Regions.of({**data, "doors": list(data["doors"])})
    assert set(again.facts()) == set(facts)
    assert set(state.difference(again)) <= {"topology"}


REACHING = """
reachable(R) :- at(R).
reachable(R) :- reachable(S), door(S,R).
within(R,0) :- at(R).
within(R,D+1) :- within(S,D), door(S,R), D < 9.
hops(R,D) :- within(R,D), not within(R,E) : E = 0..D-1.
"""
SIGNATURES = [("inventory", 3), ("label", 2), ("at", 1), ("used", 1), ("door", 2), ("reachable", 1), ("hops", 2)]


@settings(max_examples=50)
@given(states)
def test_clingo_reads_the_facts_and_derives_the_same_from_them(state: Regions) -> None:
    facts = set(state.facts())
    found = asp.evaluate([REACHING], facts, [(name, arity, True) for name, arity in SIGNATURES])
    assert found == facts | set(state.derived())


def test_the_atoms_are_those_of_the_contract() -> None:
    state = house("hall-kitchen", "hall|attic", kitchen={"CoffeeMachine": 2}).apply(Event.use("attic"))
    assert sorted(map(str, state.facts())) == [
        'at("hall")',
        'door("hall","kitchen")',
        'door("kitchen","hall")',
        'inventory("kitchen",coffee_machine,2)',
        'label("attic",attic)',
        'label("hall",hall)',
        'label("kitchen",kitchen)',
        'used("attic")',
    ]
    assert set(state.derived()) == {
        Atom("reachable", ("hall",)),
        Atom("reachable", ("kitchen",)),
        Atom("hops", ("hall", 0)),
        Atom("hops", ("kitchen", 1)),
    }
    assert ("kitchen" in state, "cellar" in state) == (True, False)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("CounterTop", "counter_top"),
        ("TVStand", "tv_stand"),
        ("CD", "cd"),
        ("mug", "mug"),
        (" Dining-Table ", "dining_table"),
    ],
)
def test_names_become_constants(written: str, meant: str) -> None:
    assert constant(written, "") == meant
    assert constant(meant, "") == meant
    assert str(Fun(meant)) == meant


@pytest.mark.parametrize("name", ["", "not", "Not", "3d printer", "_x", "café", "a.b", "a\n)", "x" * 1_001])
def test_what_cannot_be_a_constant_is_refused(name: str) -> None:
    with pytest.raises(ObviateError, match="bad-constant"):
        constant(name, "here")


@pytest.mark.parametrize(
    ("change", "code", "where"),
    [
        ({"at": "hal"}, "unknown-region", "at"),
        ({"used": ["hall", "hall"]}, "duplicate-entry", "used[1]"),
        ({"used": ["attic"]}, "unknown-region", "used[0]"),
        ({"doors": [["hall", "kitchn"]]}, "unknown-region", "doors[0]"),
        ({"doors": [["hall", "hall"]]}, "same-region", "doors[0]"),
        ({"passages": [["hall", "hall"]]}, "same-region", "passages[0]"),
        ({"doors": [["hall", "kitchen"], ["kitchen", "hall"]]}, "duplicate-entry", "doors[1]"),
        ({"doors": [["hall", "kitchen"]], "passages": [["hall", "kitchen"]]}, "duplicate-entry", "passages[0]"),
        ({"doors": [["hall"]]}, "regions-malformed", "doors[0].between[1]"),
        ({"doors": ["hall"]}, "regions-malformed", "doors[0]"),
        ({"doors": [{"between": ["hall", "kitchen"], "passible": True}]}, "regions-malformed", "doors[0].passible"),
        ({"doors": [{"between": ["hall", "kitchen"], "passable": 1}]}, "regions-malformed", "doors[0].passable"),
        ({"dors": []}, "regions-malformed", "dors"),
        ({"regions": {}}, "unknown-region", "at"),
        ({"regions": {"hall": {}}}, "regions-malformed", "regions.hall.label"),
        ({"regions": {"hall": {"label": "7"}}}, "bad-constant", "regions.hall.label"),
        ({"regions": {"": {"label": "hall"}}}, "bad-id", "regions"),
        ({"regions": {str(n): {"label": "room"} for n in range(10_001)}}, "regions-malformed", "regions"),
    ],
)
def test_a_bad_building_is_refused_with_the_place(change: dict[str, Any], code: str, where: str) -> None:
    with pytest.raises(ObviateError) as caught:
        Regions.of({**TWO, **change})
    assert (caught.value.code, caught.value.where) == (code, where)


@pytest.mark.parametrize("count", [0, -1, True, 1.0, "1", 2**31, None])
def test_a_count_is_a_positive_number(count: object) -> None:
    with pytest.raises(ObviateError) as caught:
        Regions.of({"regions": {"hall": {"label": "hall", "inventory": {"mug": count}}}, "at": "hall"})
    assert (caught.value.code, caught.value.where) == ("regions-malformed", "regions.hall.inventory.mug")


def test_a_type_written_twice_is_refused() -> None:
    with pytest.raises(ObviateError, match="add up the counts"):
        house(hall={"CounterTop": 1, "counter_top": 1})


def test_misspelt_names_are_mended() -> None:
    with pytest.raises(ObviateError, match="did you mean 'kitchen'"):
        Regions.of({**TWO, "at": "kitchn"})
    with pytest.raises(ObviateError, match="did you mean 'doors'"):
        Regions.of({**TWO, "dors": []})


@pytest.mark.parametrize(
    "graph", [nx.DiGraph([("a", "b")]), nx.Graph([("a", "b")]), nx.Graph([(1, 2)])], ids=["directed", "bare", "numbers"]
)
def test_a_graph_without_what_a_building_needs_is_refused(graph: nx.Graph[Any]) -> None:
    with pytest.raises(ObviateError, match="regions-malformed"):
        Regions.from_graph(graph, at="a")


@settings(max_examples=200)
@given(json_values | st.dictionaries(st.sampled_from(["regions", "doors", "passages", "at", "used"]), json_values))
def test_any_json_is_a_building_or_refused(data: Any) -> None:
    with suppress(ObviateError):
        assert isinstance(Regions.of(data), Regions)


# -- reaching --------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(states, st.lists(events, max_size=6))
def test_hops_are_shortest_paths_through_passable_doorways(state: Regions, happened: list[Event]) -> None:
    for now in [state, *(after for _, _, after in steps(state, happened))]:
        passable = graph_of(now)
        passable.remove_edges_from([(a, b) for a, b, edge in passable.edges(data=True) if not edge["passable"]])
        assert dict(now.hops()) == nx.single_source_shortest_path_length(passable, now.at)
        assert now.reachable() == nx.node_connected_component(passable, now.at)


@settings(max_examples=300)
@given(
    st.integers(2, 14).flatmap(
        lambda n: st.tuples(st.integers(0, n * (n - 1) // 2), st.integers(0, 10**6), st.just(n))
    ),
    st.data(),
)
def test_hops_are_kept_up_to_date_as_doors_open_and_close(drawn: tuple[int, int, int], data: st.DataObject) -> None:
    edges, seed, size = drawn
    graph = nx.relabel_nodes(nx.gnm_random_graph(size, edges, seed=seed), str)
    joined = sorted(graph.edges)
    state = Regions.of(
        {"regions": {n: {"label": "room"} for n in graph}, "doors": [list(e) for e in joined], "at": "0"}
    )
    for _ in range(12 if joined else 0):
        a, b = data.draw(st.sampled_from(joined))
        state = state.with_door(a, b, passable=not state.doors[a][b].passable)
        graph.remove_edge(a, b) if graph.has_edge(a, b) else graph.add_edge(a, b)
        assert dict(state.hops()) == nx.single_source_shortest_path_length(graph, "0")


def test_hops_are_shared_until_the_robot_or_a_door_moves() -> None:
    state = house("hall-kitchen", "hall-attic", kitchen={"mug": 1})
    hops = state.hops()
    for event in (Event.remove("mug", "kitchen"), Event.use("hall"), Event.relabel("attic", "den"), Event.move("hall")):
        state = state.apply(event)
        assert state.hops() is hops
    assert state.apply(Event.move("attic")).hops() is not hops
    assert dict(state.apply(Event.close("hall", "kitchen")).hops()) == {"hall": 0, "attic": 1}
    assert dict(state.hops()) == {"hall": 0, "kitchen": 1, "attic": 1}


# -- changing --------------------------------------------------------------------------------------


def test_a_successor_shares_what_did_not_change() -> None:
    old = house("hall-kitchen", kitchen={"mug": 1})
    new = old.with_added("mug", "hall")
    assert new.labels is old.labels
    assert new.doors is old.doors
    assert new.inventories["kitchen"] is old.inventories["kitchen"]
    assert (dict(old.inventories["hall"].items()), dict(new.inventories["hall"].items())) == ({}, {"mug": 1})


def test_the_last_of_a_type_leaves_nothing_behind() -> None:
    assert house(hall={"mug": 1}).with_added("mug", "hall", -1) == house()
    assert house().with_added("mug", "hall", 0) == house()


def test_there_can_be_as_many_as_clingo_can_count() -> None:
    assert house(hall={"mug": 2}).with_added("mug", "hall", 2**31 - 3).inventories["hall"]["mug"] == 2**31 - 1


@pytest.mark.parametrize("size", [1_000])
def test_a_step_does_not_copy_the_building(size: int) -> None:
    state = house(*(f"r{n}-r{n + 1}" for n in range(size)), at="r0")
    state.hops()
    begun = time.perf_counter()
    now = state
    for n in range(500):
        now = now.with_added("mug", f"r{n}").with_used(f"r{n}").with_at(f"r{n}").with_label(f"r{n}", "den")
        now = now.with_door(f"r{n}", f"r{n + 1}", passable=False)
    assert (time.perf_counter() - begun) / 2_500 < 0.001
    assert len(now.used) == 500
    assert not state.used


@given(states, states)
def test_a_difference_is_symmetric_and_empty_only_for_equals(one: Regions, two: Regions) -> None:
    assert one.difference(two) == two.difference(one)
    assert (one == two) == (not one.difference(two))
    assert (one != two) == bool(one.difference(two))


def test_a_difference_names_the_regions_whose_own_value_changed() -> None:
    before = house("hall-kitchen", "kitchen-attic", "attic-den", kitchen={"mug": 2})
    after = before.with_added("mug", "kitchen", -1).with_at("attic").with_used("den").with_label("hall", "foyer")
    after = after.with_door("hall", "kitchen", passable=False)
    assert before.difference(after) == {
        "inventory": {"kitchen"},
        "label": {"hall"},
        "position": {"hall", "attic"},
        "history": {"den"},
        "topology": {"hall", "kitchen"},
    }


def test_one_count_among_others_is_a_difference() -> None:
    before = house(hall={"mug": 2, "chair": 1})
    assert before.difference(before.with_added("mug", "hall")) == {"inventory": {"hall"}}
    assert house(hall={"mug": 2}).difference(house(hall={"mug": 1})) == {"inventory": {"hall"}}
