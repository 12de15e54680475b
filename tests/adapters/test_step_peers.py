"""Every peer knows what the oracle knows: temporal triggers after each update, and the risks of an intent."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obviate.adapters.step import peer
from obviate.adapters.step.house import LEAST, house
from obviate.adapters.step.stream import steps
from obviate.engine.backend import Query
from obviate.engine.oneshot import OneShot
from obviate.engine.standing import Instance
from obviate.kb import Action, BeliefGraph, household
from obviate.kb.errors import DataError, LifecycleError
from obviate.kb.patch import EdgePatch, Patch, StatePatch


@cache
def why_not(name: str) -> str:
    """Why a peer cannot be used on this machine, if it cannot."""
    try:
        peer.of(name, house(LEAST)).close()
    except DataError as error:
        if error.code != "peer-missing":
            raise
        return error.message
    return ""


@pytest.fixture(params=peer.PEERS, scope="module")
def follow(request: pytest.FixtureRequest) -> Callable[[BeliefGraph], peer.Peer]:
    if reason := why_not(request.param):
        pytest.skip(reason)
    return lambda graph: peer.of(request.param, graph)


def temporal(graph: BeliefGraph) -> frozenset[Instance]:
    rules = household.pack().rules
    found = OneShot(household.pack()).conclude(graph, Query()).appeared
    return frozenset(one for one in found if rules[one[0]].mode == "temporal")


def with_some_moved(graph: BeliefGraph, seed: int) -> BeliefGraph:
    """Half of the objects were moved by the agent, which some rules are about."""
    for name in Random(seed).sample(sorted(graph.nodes), len(graph) // 2):
        graph = graph.with_moved(name)
    return graph


Follow = Callable[[BeliefGraph], peer.Peer]


@given(objects=st.integers(LEAST, 130), seed=st.integers(0, 10_000))
@settings(max_examples=15)
def test_a_peer_agrees_with_the_oracle(follow: Follow, objects: int, seed: int) -> None:
    graph = with_some_moved(house(objects, seed=seed), seed)
    one = follow(graph)
    known = temporal(graph)
    assert one.triggers() == known
    for step in itertools.islice(steps(graph, seed=seed), 12):
        graph = graph.merge(step.patch)
        now = temporal(graph)
        assert one.step(step.patch) == (now - known, known - now)
        assert one.triggers() == now
        risks = one.risks(step.action)
        if risks is not None:
            answers = OneShot(household.pack()).conclude(graph, Query(intent=step.action))
            assert set(risks) == answers.risk
        known = now
    one.close()


# Sorts of objects that rules ask for together, so that they meet in every way that matters.
THEMES = (
    ("safety_chemical", "safety_food", "function_storage"),
    ("safety_fragile", "function_storage surface_high", "function_surface"),
    ("sealable", "perishable", "appliance_refrigerator", "function_container"),
    ("safety_heavy_rollable", "secure_container", "function_container"),
    ("heavy", "surface_high"),
    ("safety_fragile", "function_surface"),
    ("sealable", "appliance_refrigerator"),
    ("microwave_unsafe", "appliance_microwave", "function_container"),
    ("safety_flammable", "heat_unsafe", "function_heat_source", "function_electrical_appliance"),
    ("safety_food", "safety_flammable", "function_heat_source", "function_container", "function_surface"),
    ("heavy", "function_cleaning_tool", "safety_chemical", "surface_floor", "surface_high"),
    ("function_electrical_appliance", "function_water_source", "function_surface", "function_cleaning_tool"),
)
SKILLS = (
    "place_on_top",
    "place_inside",
    "place_inside",
    "toggle_on",
    "toggle_on",
    "wipe",
    "pour_into",
    "spread",
    "open",
)
STATES = ("open", "toggled_on", "dusty", "stained", "frozen", "muddy", "dirty")
SUPPORTS = ("inside", "ontop")
RELATIONS = (*SUPPORTS, *SUPPORTS, "nextto", "contains", "saturated")


class Wild:
    """A few objects of any sorts, anything on anything, and any action: what no house has."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.names = [f"o'{i}" for i in range(6)]
        themes = sorted(set().union(*self.random.choices(THEMES, k=self.random.choice((1, 1, 2)))))
        sorts = [self.random.sample(themes, min(len(themes), self.random.choice((1, 1, 2, 3)))) for _ in self.names]
        nodes = [{"node_id": name, "tags": " ".join(s).split()} for name, s in zip(self.names, sorts, strict=True)]
        self.graph = BeliefGraph.of(household.vocabulary(), {"nodes": nodes})
        for name in self.random.sample(self.names, 4):
            self.graph = self.graph.with_moved(name)
        for _ in range(9):
            self.graph = self.graph.merge(self.patch())

    def patch(self) -> Patch:
        """A relation that begins or ends, of the later object to the earlier one, and a state that changes."""
        dst, src = sorted(self.random.sample(self.names, 2))
        edge = EdgePatch(pred=self.random.choice(RELATIONS), src=src, dst=dst)
        there = self.graph.has_edge(edge.pred, src, dst)
        pruned = [link for link in self.graph.supports(src) if edge.pred in SUPPORTS and link[1] != dst]
        ended = [EdgePatch(pred=pred, src=src, dst=other) for pred, other in pruned]
        name, state = self.random.choice(self.names), self.random.choice(STATES)
        change = "remove" if self.graph.has_state(name, state) else self.random.choice(("add", "add", "forget"))
        return Patch(
            update_node_states=(StatePatch.model_validate({"node_id": name, change: (state,)}),),
            remove_edges=(edge,) if there else tuple(ended),
            add_edges=() if there else (edge,),
        )

    def action(self) -> Action:
        """Mostly about two objects that have to do with each other."""
        skill = self.random.choice(SKILLS)
        edge = self.random.choice(self.graph.edges() or [None])
        one, other = self.random.sample(self.names, 2)
        if edge and self.random.random() < 0.7:
            one, other = (other, edge.src) if skill == "spread" else (edge.dst, other)
            if skill in ("place_on_top", "place_inside", "pour_into"):
                one, other = self.random.choice([name for name in self.names if name != edge.dst]), edge.dst
        return Action(skill, (one, other)[: household.vocabulary().skills[skill]])


@given(seed=st.integers(0, 1_000_000))
@settings(max_examples=60)
def test_a_peer_agrees_with_the_oracle_on_what_no_house_has(follow: Follow, seed: int) -> None:
    wild = Wild(seed)
    one = follow(wild.graph)
    for _ in range(8):
        patch = wild.patch()
        wild.graph = wild.graph.merge(patch)
        one.step(patch)
        now = temporal(wild.graph)
        assert one.triggers() == now
        for action in (wild.action() for _ in range(3)):
            risks = one.risks(action)
            if risks is not None:
                found = OneShot(household.pack()).conclude(wild.graph, Query(intent=action)).appeared
                assert set(risks) == found - now
    one.close()


def test_what_no_house_has_meets_every_rule() -> None:
    """So that the test above is about all of them."""
    unmet = set(household.pack().rules)
    for seed in range(400):
        wild = Wild(seed)
        for _ in range(9):
            query = Query(intent=wild.action())
            unmet -= {rule for rule, _ in OneShot(household.pack()).conclude(wild.graph, query).appeared}
        if not unmet:
            break
    assert not unmet


def test_an_unknown_peer_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(LifecycleError) as caught:
        peer.of("matchr", house(LEAST))
    assert caught.value.code == "unknown-backend"
    assert "'matcher'" in caught.value.help
