"""Why a hazard holds, and what keeps one from holding."""

from __future__ import annotations

import pytest

from obviate.engine import Engine
from obviate.engine.support import obstacles
from obviate.kb import BeliefGraph, Pack, household

VOCABULARY = household.vocabulary()
SCENE = {
    "nodes": [
        {"node_id": "plate", "tags": ["function_container"], "states": ["stained", "wet"]},
        {"node_id": "shelf", "tags": ["function_surface"]},
    ],
    "edges": [{"pred": "ontop", "src": "plate", "dst": "shelf"}],
}


def pack(body: str) -> Pack:
    return Pack.of(f"rule(r, temporal). hazard(r, X) :- {body}.", vocabulary=VOCABULARY)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "tag(X, (function_storage; function_container)), state(X, wet)",
            ["tag(plate, function_container)", "state(plate, wet)"],
        ),
        ("object(X), edge(ontop, X, _)", ["object(plate)", "edge(ontop, plate, shelf)"]),
        ("state(X, wet), not edge(inside, X, _)", ["state(plate, wet)", "not edge(inside, plate, any)"]),
        ("state(X, wet), not -state(X, stained)", ["state(plate, wet)", "not -state(plate, stained)"]),
        ("state(X, wet), #count{ Y : edge(_, X, Y) } > 0", ["state(plate, wet)"]),
    ],
)
def test_support_tells_the_body_as_it_holds(body: str, said: list[str]) -> None:
    with Engine(pack(body), objects=SCENE) as engine:
        (trigger,) = engine.triggers()
        assert list(engine.support(trigger)) == said


def test_support_of_what_does_not_hold_is_empty() -> None:
    with Engine(pack("state(X, wet)"), objects=SCENE) as engine:
        (trigger,) = engine.triggers()
        engine.apply({"update_node_states": [{"node_id": "plate", "remove": ["wet"]}]})
        assert engine.support(trigger) == ()


@pytest.mark.parametrize(
    ("body", "lacking"),
    [
        ("tag(X, function_container), state(X, hot)", ("state(plate,hot)",)),
        ("state(X, wet), not state(X, stained)", ("not state(plate,stained)",)),
        ("state(X, hot), state(X, open), tag(X, function_container)", ("state(plate,hot)", "state(plate,open)")),
        ("state(X, hot), state(X, open), state(X, frozen)", ()),
        ("state(X, wet)", ()),
    ],
)
def test_obstacles_are_the_fewest_literals_that_are_lacking(body: str, lacking: tuple[str, ...]) -> None:
    """At most two are told; none where the hazard holds."""
    graph = BeliefGraph.of(VOCABULARY, SCENE)
    assert obstacles(pack(body), graph, "r", ["plate"]) == lacking
