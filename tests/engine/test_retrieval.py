"""What a trigger brings back into a prompt, and how much of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from experience_traces import PACK, run

from obviate.engine import Engine, Trigger
from obviate.engine.experience.mining import mine
from obviate.engine.experience.retrieval import Retrieval
from obviate.engine.loop import Assignment, Context, Guidance
from obviate.kb import Action, BeliefGraph
from obviate.kb.experience.seeds import early_skills
from obviate.kb.experience.store import Store

PEACH = ["open(fridge)", "intend place_on_top(peach, plate)", "soak_inside(sponge, soap)", "wipe(plate, sponge)"]
PEACH += ["place_on_top(peach, plate)", "close(fridge)", "done"]


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with Store(tmp_path / "memory.db") as store:
        store.add(*mine(run("peach", PEACH), PACK))
        for skill in early_skills():
            store.write(skill, origin="seed", mark=store.evidence(skill.rule).mark)
        yield store


def triggered(rule: str) -> Guidance:
    return Guidance(Trigger(rule, ("peach", "plate"), "situational", "", False, ""), Action("done"), "")


def test_a_trigger_brings_back_the_skill_and_one_case_even_after_the_buffers_were_emptied(store: Store) -> None:
    assert store.evidence("food_on_clean").positive == ()
    skill, case = Retrieval(store)(triggered("food_on_clean"))
    assert skill.startswith("Skill: food_on_clean")
    assert case.count("Verified success") == 1
    assert "Done: soak_inside({cleaning_tool}, {container}); wipe({y}, {cleaning_tool})" in case
    assert "peach" not in case


def test_without_a_trigger_nothing_is_told(store: Store) -> None:
    assert Retrieval(store).remind(Context(Assignment("task"), BeliefGraph(PACK.vocabulary))) == ()
    assert Retrieval(store)(triggered("fragile_low")) == ()


def test_obligations_are_told_with_what_is_triggered_each_rule_once(store: Store) -> None:
    scene = {"nodes": [{"node_id": n, "tags": ["function_storage"], "states": ["open"]} for n in ("a", "b")]}
    with Engine(PACK, objects=scene) as engine:
        graph, owed = engine.graph, engine.obligations()
    context = Context(Assignment("task"), graph, guidance=(triggered("food_on_clean"),), obligations=owed)
    assert [one.rule for one in Retrieval(store).remind(context)] == ["food_on_clean", "storage_closed"]


def test_the_ablations(store: Store) -> None:
    (case,) = Retrieval(store, form="only episodic")(triggered("food_on_clean"))
    assert case.startswith("Verified")
    assert Retrieval(store, form="only factual")(triggered("food_on_clean")) == ()


@pytest.mark.parametrize("budget", [0, 20, 60, 90, 120, 200, 400])
def test_a_budget_is_kept_and_half_a_text_is_never_told(store: Store, budget: int) -> None:
    retrieval = Retrieval(store, budget=budget)
    texts = retrieval(triggered("food_on_clean"))
    assert sum(map(retrieval.count, texts)) <= budget
    for text in texts:
        assert text.startswith(("Skill: ", "Verified success:"))
        assert text.splitlines()[-1].startswith(("1) ", "Done: "))
