"""The two examples of Appendix 0.D.1, acted out: a planner that only wants its task done, and skills that evolve."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from experience_traces import PACK, REHEARSER

from obviate.adapters import scenario
from obviate.engine import Engine
from obviate.engine.experience.evolution import Learner, seed
from obviate.engine.experience.induction import Induction
from obviate.engine.experience.practice import SkilledPlanner
from obviate.engine.loop import Assignment, Run
from obviate.engine.planning.domain import Domain
from obviate.engine.planning.planner import SymbolicPlanner
from obviate.engine.runner import Bounds
from obviate.engine.runner import run as turn
from obviate.engine.sight import LocalSight, Stage
from obviate.kb import BeliefGraph
from obviate.kb.experience.seeds import early_skills
from obviate.kb.experience.store import Store

PEACH = """
title = "A peach and a plate"
instruction = "Put the peach on the plate."
plan = ["done"]
[objects]
counter = { kind = "countertop" }
fridge = { kind = "electric_refrigerator" }
peach = { kind = "peach", in = "fridge" }
plate = { kind = "plate", on = "counter", covered = ["stain"] }
sponge = { kind = "sponge", on = "counter" }
soap = { kind = "liquid_soap__bottle", on = "counter", contains = ["liquid_soap"] }
"""
SHELF = """
title = "Detergent"
instruction = "Store the detergent in a cabinet."
plan = ["done"]
[objects]
counter = { kind = "countertop" }
top = { kind = "top_cabinet", states = ["open"] }
bottom = { kind = "bottom_cabinet" }
jam = { kind = "jar__of__jam", in = "top" }
detergent = { kind = "bottle__of__detergent", on = "counter" }
"""
ON_PLATE = 'goal :- edge(ontop,"peach","plate").'
STORED = 'goal :- edge(inside,"detergent",C), tag(C,function_storage).'


EARLY = {skill.rule: skill for skill in early_skills()}


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with Store(tmp_path / "memory.db") as store:
        yield store


Act = Callable[[Store], Run]


def actor(folder: Path, text: str, goal: str, *wanted: str, tries: int = 3) -> Act:
    """Acts a task out by the skills that a memory has now."""
    file = folder / "task.toml"
    file.write_text(text, encoding="utf-8")

    def act(store: Store) -> Run:
        task = scenario.read(file)
        base = SymbolicPlanner(Domain(task.world.kinds), goal, frozenset(wanted))
        planner = SkilledPlanner(
            base,
            lambda rule: version.skill if (version := store.skill(rule)) else None,
            REHEARSER,
            rehearses=False,
            tries=tries,
        )
        scene = task.world.observe(BeliefGraph(PACK.vocabulary), partial=True)
        with Engine(PACK, objects=scene) as engine:
            return turn(
                planner,
                Stage(task.world, partial=True),
                LocalSight(),
                engine,
                Assignment(task.instruction, task.world.objects),
                bounds=Bounds(steps=14),
            )

    return act


def names(run: Run) -> list[str]:
    return [str(action) for action in run.actions]


def test_the_refrigerator_is_closed_after_its_last_use(store: Store, tmp_path: Path) -> None:
    seed(store, EARLY["refrigerator_closed"])
    act = actor(tmp_path, PEACH, ON_PLATE, "peach", "plate")
    early = act(store)
    assert names(early)[:6] == ["open(fridge)", "close(fridge)"] * 3
    assert any(record.rule == "refrigerator_closed" and record.counts for record in early.records)
    updates = Learner(store, REHEARSER, Induction()).learn(early, episode="peach")
    assert [update.version for update in updates if update.rule == "refrigerator_closed"] == [2]
    late = act(store)
    assert late.verdict == "done"
    assert names(late).count("open(fridge)") == 1
    assert names(late)[-3:] == ["place_on_top(peach, plate)", "close(fridge)", "done"]
    assert not any(record.rule == "refrigerator_closed" and record.counts for record in late.records)


@pytest.mark.parametrize("tries", [1, 2, 4])
def test_what_the_task_undoes_again_and_again_is_given_up(store: Store, tmp_path: Path, tries: int) -> None:
    """So no skill keeps the task from its end."""
    seed(store, EARLY["refrigerator_closed"])
    run = actor(tmp_path, PEACH, ON_PLATE, "peach", "plate", tries=tries)(store)

    assert names(run) == [
        *["open(fridge)", "close(fridge)"] * tries,
        "open(fridge)",
        "place_on_top(peach, plate)",
        "done",
    ]


def test_another_storage_is_opened_before_it_is_used(store: Store, tmp_path: Path) -> None:
    seed(store, EARLY["chemical_into_food_storage"])
    act = actor(tmp_path, SHELF, STORED, "detergent")
    learner = Learner(store, REHEARSER, Induction())
    early = act(store)
    failed = [str(turn.executed) for turn in early.turns if turn.failure]
    assert failed == ["place_inside(detergent, bottom)"]
    assert any(record.rule == "chemical_into_food_storage" and record.counts for record in early.records)
    updates = [update for number in range(2) for update in learner.learn(act(store), episode=f"shelf {number}")]
    assert ("chemical_into_food_storage", 2) in [(update.rule, update.version) for update in updates]
    late = act(store)
    assert names(late)[:2] == ["open(bottom)", "place_inside(detergent, bottom)"]
    assert not any(record.rule == "chemical_into_food_storage" and record.counts for record in late.records)
