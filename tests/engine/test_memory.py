"""What an engine holds is bounded, whatever comes and goes: clingo never frees a name, so it is given few."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

from obviate.engine import Engine, Memory
from obviate.kb import Action, Patch, household

UPDATES = 1_000_000 if os.environ.get("OBVIATE_SOAK") else 50_000
WARM = 5_000
LIMIT = 10 * 2**20  # bytes


def fresh(number: int) -> Patch:
    """A cupboard never seen before is found open with a jar in it, and the one before last is gone."""
    cupboard, jar = f"cupboard {number}", f"jar {number}"
    gone = [f"cupboard {number - 2}", f"jar {number - 2}"] if number >= 2 else []
    return Patch.model_validate(
        {
            "remove_nodes": gone,
            "add_nodes": [
                {"node_id": cupboard, "tags": ["function_storage"], "states": ["open"]},
                {"node_id": jar, "tags": ["safety_food", "safety_fragile"]},
            ],
            "add_edges": [
                {"pred": "inside", "src": jar, "dst": cupboard},
                {"pred": "ontop", "src": cupboard, "dst": "floor"},
            ],
        }
    )


def resident() -> int:
    """The memory of this process, in bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


@pytest.mark.soak
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc, which is Linux's")
def test_names_that_come_and_go_leave_nothing_behind(capsys: pytest.CaptureFixture[str]) -> None:
    before = 0
    with Engine(household.pack(), objects={"nodes": [{"node_id": "floor", "tags": ["surface_floor"]}]}) as engine:
        for number in range(UPDATES):
            engine.apply(fresh(number))
            if number % 3 == 0:
                engine.execute(Action("place_inside", (f"jar {number}", f"cupboard {number}")))
            if number == WARM:
                before = resident()
        grown, held = resident() - before, engine.memory()
    with capsys.disabled():
        print(f"\n{UPDATES - WARM:,} updates with fresh names: {grown / 2**20:+.1f} MB, {held}")
    assert grown < LIMIT
    assert held.symbols < 100
    assert held.objects == 5


def test_steps_and_settled_records_older_than_the_history_are_let_go() -> None:
    with Engine(household.pack(), objects={"nodes": [{"node_id": "floor"}]}, history=10) as engine:
        for number in range(50):
            engine.apply(fresh(number))
        held = engine.memory()
        assert held == Memory(objects=5, open=2, settled=11, steps=10, symbols=held.symbols)
        assert {record.settled for record in engine.records()[:-2]} == set(range(40, 51))


@pytest.mark.parametrize("backend", ["sliced", "multishot", "oneshot"])
def test_names_given_to_the_solver_are_counted(backend: str) -> None:
    with Engine(household.pack(), objects={"nodes": [{"node_id": "floor"}]}, backend=backend) as engine:
        for number in range(30):
            engine.apply(fresh(number))
        symbols = engine.memory().symbols
    assert symbols <= 5 if backend == "sliced" else symbols == 61
