"""Made-up houses and their updates: of the size asked for, the same by the same seed, and like a house."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obviate.adapters.step.house import LEAST, house, hubs
from obviate.adapters.step.stream import FACTS, facts, steps
from obviate.engine.backend import Query
from obviate.engine.oneshot import OneShot
from obviate.kb import BeliefGraph, household
from obviate.kb.errors import DataError

SIZES = st.integers(LEAST, 400)
SEEDS = st.integers(0, 1_000)


@given(SIZES, SEEDS)
def test_a_house_is_a_graph_that_a_patch_could_have_made(objects: int, seed: int) -> None:
    graph = house(objects, seed=seed)
    assert len(graph) == objects
    empty = BeliefGraph(household.vocabulary())
    merged = empty.merge(empty.difference(graph))  # which refuses undeclared names, cycles and second supporters
    assert merged == graph
    assert merged.into == graph.into
    assert all(not node.states & node.absent and not node.moved for node in graph.nodes.values())


@given(SIZES, SEEDS)
def test_the_same_seed_draws_the_same(objects: int, seed: int) -> None:
    one, two = house(objects, seed=seed), house(objects, seed=seed)
    assert one == two
    assert list(itertools.islice(steps(one, seed=seed), 20)) == list(itertools.islice(steps(two, seed=seed), 20))


def test_another_seed_draws_another() -> None:
    assert house(100, seed=1) != house(100, seed=2)
    graph = house(100)
    assert [s.patch for s in itertools.islice(steps(graph, seed=1), 9)] != [
        s.patch for s in itertools.islice(steps(graph, seed=2), 9)
    ]


@given(st.integers(100, 2_000), SEEDS)
@settings(max_examples=20)
def test_degrees_are_those_of_a_house(objects: int, seed: int) -> None:
    graph = house(objects, seed=seed)
    held = Counter(dst for name in graph.nodes for _, dst in graph.supports(name))
    assert sum(bool(graph.supports(name)) for name in graph.nodes) > 0.8 * objects
    crowded = sorted(held.values())[-2:]
    assert crowded == [objects // 20] * 2 or objects < 500  # a shelf and a floor hold a twentieth each
    storage = [name for name in graph.nodes if "function_storage" in graph.nodes[name].tags]
    mean = sum(held[name] for name in storage) / len(storage)
    assert 2 < mean < 15
    assert max(held[name] for name in storage) < 60


def test_few_states_hold_and_few_hazards_are_open() -> None:
    """About as many for each hundred objects, in a house of any size."""
    for objects in (1_000, 3_000):
        graph = house(objects)
        states = sum(len(node.states) for node in graph.nodes.values())
        assert 0.01 < states / objects < 0.06
        triggers = OneShot(household.pack()).conclude(graph, Query()).appeared
        assert 0.002 < len(triggers) / objects < 0.02


def test_hubs() -> None:
    assert hubs(house(50)) == ()
    assert hubs(house(1_000)) == ("floor.n.01_1", "shelf.n.01_1")


@pytest.mark.parametrize("objects", [LEAST - 1, 0, -1])
def test_no_house_is_smaller(objects: int) -> None:
    with pytest.raises(DataError) as caught:
        house(objects)
    assert caught.value.code == "too-few-objects"


@given(SIZES, SEEDS)
@settings(max_examples=50)
def test_each_update_changes_three_facts_and_can_be_asked_about(objects: int, seed: int) -> None:
    graph = house(objects, seed=seed)
    for step in itertools.islice(steps(graph, seed=seed), 40):
        after = graph.merge(step.patch)
        assert len(facts(graph, after)) == FACTS
        entries = [step.patch.update_node_states, step.patch.add_edges, step.patch.remove_edges]
        assert sum(map(len, entries)) == FACTS  # every relation that ends is named
        assert household.vocabulary().check_action(step.action, after.nodes) == step.action
        graph = after


def test_hazards_come_and_go_and_do_not_pile_up() -> None:
    graph = house(200)
    oracle = OneShot(household.pack())
    rules: Counter[str] = Counter()
    known = oracle.conclude(graph, Query()).appeared
    appeared = vanished = most = 0
    for step in itertools.islice(steps(graph), 300):
        graph = graph.merge(step.patch)
        now = oracle.conclude(graph, Query()).appeared
        appeared, vanished = appeared + len(now - known), vanished + len(known - now)
        rules.update(rule for rule, _ in now)
        known, most = now, max(most, len(now))
    assert min(appeared, vanished) > 30
    assert most < 30
    assert len(rules) >= 6


def test_hubs_are_touched_now_and_then() -> None:
    graph = house(1_000)
    touched = 0
    for step in itertools.islice(steps(graph), 500):
        ends = {edge.dst for edge in (*step.patch.add_edges, *step.patch.remove_edges)}
        touched += bool(ends & {*hubs(graph)})
    assert 50 < touched < 200


def test_a_graph_in_which_nothing_can_change_is_refused() -> None:
    graph = BeliefGraph.of(household.vocabulary(), {"nodes": [{"node_id": "rock"}]})
    with pytest.raises(DataError) as caught:
        next(steps(graph))
    assert caught.value.code == "nothing-to-change"
