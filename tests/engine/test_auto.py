"""Choosing a backend: by the pack, by what steps take, anew when the scene has grown, and never silently."""

from __future__ import annotations

import logging

import pytest
from packs_strategies import node, pack, scene

from obviate.engine import Engine

LOCAL = "rule(shut, temporal).\nhazard(shut,X) :- tag(X,function_storage), state(X,open).\n"
WHOLE = LOCAL + "rule(many, temporal).\nhazard(many,()) :- #count { X : state(X,open) } > 1.\n"
BOXES = [node(f"box {i}", "function_storage") for i in range(6)]


def toggled(engine: Engine, step: int) -> list[str]:
    """Open or close a box; the triggers then."""
    what = "remove" if step % 4 > 1 else "add"
    engine.apply({"update_node_states": [{"node_id": f"box {step % 2}", what: ["open"]}]})
    return [str(trigger) for trigger in engine.triggers()]


def test_a_pack_of_local_rules_is_sliced_from_the_first_step(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "obviate.engine")
    with Engine(pack(LOCAL), objects=scene(*BOXES)) as engine:
        for step in range(10):
            toggled(engine, step)
        assert [one.backend for one in engine.capabilities()] == ["sliced"]
    assert caplog.messages == []


def test_another_is_tried_in_all_ways_and_the_choice_is_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "obviate.engine")
    with (
        Engine(pack(WHOLE), objects=scene(*BOXES)) as engine,
        Engine(pack(WHOLE), objects=scene(*BOXES), backend="oneshot") as oracle,
    ):
        for step in range(12):
            assert toggled(engine, step) == toggled(oracle, step)
        (told,) = caplog.messages
        assert all(name in told for name in ("sliced", "multishot", "oneshot", "at 6 objects"))
        chosen = told.split()[2]
        assert {one.backend for one in engine.capabilities()} <= {chosen, "multishot"}
        engine.apply({"add_nodes": [node(f"tin {i}") for i in range(40)]})
        for step in range(12):
            toggled(engine, step)
        assert len(caplog.messages) == 2
        assert "at 46 objects" in caplog.messages[1]


@pytest.mark.parametrize(
    ("backend", "followed"),
    [
        ("sliced", {"shut": "sliced", "many": "multishot"}),
        ("multishot", {"shut": "multishot", "many": "multishot"}),
        ("oneshot", {"shut": "oneshot", "many": "oneshot"}),
        ("crosscheck", {"shut": "oneshot", "many": "oneshot"}),
    ],
)
def test_an_engine_tells_how_each_rule_is_followed(backend: str, followed: dict[str, str]) -> None:
    with Engine(pack(WHOLE), objects=scene(*BOXES), backend=backend) as engine:
        told = {one.rule: one for one in engine.capabilities()}
    assert {rule: one.backend for rule, one in told.items()} == followed
    assert all(one.how for one in told.values())
    if backend == "sliced":
        assert str(told["many"]) == "many: multishot, not local: it is about the whole scene"


def test_rules_of_several_packs_are_told_by_their_packs() -> None:
    with Engine(pack(LOCAL, "a"), pack(LOCAL, "b"), objects=scene(*BOXES)) as engine:
        assert [one.rule for one in engine.capabilities()] == ["a.shut", "b.shut"]
