"""Proofs about packs: seeded faults are refuted with counterexamples that an independent checker confirms."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import packs_strategies as ps
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obviate.adapters.cli.proving import pack_json
from obviate.engine import Engine
from obviate.engine.inquiry import QUESTIONS, Task, prove, tasks
from obviate.engine.scenery import HOUSEHOLD, Scenery, Staged
from obviate.engine.search import graph_of
from obviate.engine.slice import slice_of
from obviate.engine.verdict import NO, UNDECIDED, YES, Limits, Scene, Verdict
from obviate.engine.witness import confirm
from obviate.examples.check_pack_proof import main as checked
from obviate.kb import Action, Pack, asp, household
from obviate.kb.errors import DisagreementError
from obviate.kb.terms import Atom, Fun

FAULTY = sorted((Path(__file__).parents[1] / "packs" / "proofs").glob("*.lp"))
LIMITS = Limits(actions=2, seconds=300)  # no answer depends on how busy the machine is


def expectation(file: Path) -> tuple[str, list[str]]:
    """The question and the rules in the first line of a faulty pack."""
    question, *rules = (
        file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("% ").removesuffix(": no").split()
    )
    return question, rules


def load(file: Path) -> Pack:
    return Pack.load(file, vocabulary=household.vocabulary())


def asked(pack: Pack, question: str, *rules: str, limits: Limits = LIMITS) -> Verdict:
    """The verdict on a question about these rules."""
    found = prove(pack, Task(question, rules[0]), limits)
    return next(verdict for verdict in found if set(rules) <= set(verdict.rules))


def of(text: str) -> Pack:
    return Pack.of(text, vocabulary=household.vocabulary())


def test_each_kind_of_fault_is_seeded_three_times_and_all_are_many() -> None:
    kinds = [expectation(file)[0] for file in FAULTY]
    assert len(FAULTY) >= 25
    assert {kind: kinds.count(kind) >= 3 for kind in QUESTIONS} == dict.fromkeys(QUESTIONS, True)


@pytest.mark.parametrize("file", FAULTY, ids=lambda file: file.stem)
def test_a_seeded_fault_is_refuted_and_an_independent_checker_agrees(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pack, (question, rules) = load(file), expectation(file)
    verdict = asked(pack, question, *rules)
    assert verdict.answer == NO
    assert verdict.bounds["objects"] >= 1
    data = {**pack_json(pack), "actions": HOUSEHOLD.read_text(encoding="utf-8"), "verdicts": [verdict.to_json()]}
    assert check(data, tmp_path) == 0
    assert capsys.readouterr().out == "1 checked\n"


def check(data: dict[str, Any], folder: Path) -> int:
    (folder / "proof.json").write_text(json.dumps(data), encoding="utf-8")
    return checked(str(folder / "proof.json"))


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_checker_and_the_oracle_refuse_a_counterexample_that_shows_nothing(question: str, tmp_path: Path) -> None:
    file = next(file for file in FAULTY if expectation(file)[0] == question)
    pack, rules = load(file), expectation(file)[1]
    verdict = asked(pack, question, *rules)
    broken = verdict.to_json()
    for scene in broken["scenes"]:
        scene["facts"] = [fact for fact in scene["facts"] if fact.startswith("object(")]
    data = {**pack_json(pack), "actions": HOUSEHOLD.read_text(encoding="utf-8"), "verdicts": [broken]}
    if question != "triggers":  # where nothing is, nothing triggers
        assert check(data, tmp_path) == 1
        emptied = tuple(
            Scene(s.name, graph_of([Atom("object", (n,)) for n in s.graph.nodes], pack.vocabulary), None, s.records)
            for s in verdict.scenes
        )
        with pytest.raises(DisagreementError):
            confirm(pack, replace(verdict, scenes=emptied))


FINE = """
rule(off, situational).
hazard(off, X) :- tag(X, function_electrical_appliance), state(X, toggled_on).
threatens(off, X) :- intent(wipe(X,_)).
rule(shut, temporal).
hazard(shut, X) :- tag(X, function_storage), state(X, open).
"""


def test_a_sound_pack_is_proven_and_every_yes_says_its_bounds() -> None:
    pack = of(FINE)
    found = [verdict for task in tasks(pack) for verdict in prove(pack, task, LIMITS)]
    assert [verdict for verdict in found if verdict.answer != YES] == []
    assert {verdict.question for verdict in found} == {*QUESTIONS} - {"compatible", "unblocked"}
    assert all(verdict.bounds["objects"] >= 1 for verdict in found)


@pytest.mark.parametrize("question", QUESTIONS)
def test_without_time_nothing_is_decided_and_nothing_proven(question: str) -> None:
    pack = load(next(file for file in FAULTY if expectation(file)[0] == question))
    found = [v for rule in pack.rules for v in prove(pack, Task(question, rule), Limits(seconds=0))]
    assert {verdict.answer for verdict in found} == {UNDECIDED}


def test_what_the_household_world_does_not_know_is_not_decided() -> None:
    verdict = asked(of("rule(r, temporal). hazard(r, X) :- tag(X, safety_food), state(X, open)."), "reachable", "r")
    assert (verdict.answer, verdict.bounds["objects"]) == (UNDECIDED, 2)


def test_the_findings_on_the_household_pack_are_those_that_the_page_explains() -> None:
    pack = household.pack()
    page = (Path(__file__).parents[2] / "docs" / "proofs.md").read_text(encoding="utf-8")
    told = [(question, rule) for question in ("triggers", "independent") for rule in pack.rules]
    told += [("governable", rule) for rule in ("keep_metal_out_of_microwave", "fragile_into_high_storage", "water_off")]
    found = [verdict for task in told for verdict in prove(pack, Task(*task), LIMITS)]
    refuted = [verdict.rules[0] for verdict in found if verdict.answer == NO]
    assert refuted == ["keep_metal_out_of_microwave", "fragile_into_high_storage"]
    assert all(f"`{rule}`" in page for rule in refuted)


def test_the_programs_of_the_world_do_what_the_world_does() -> None:
    """One action from a scene, by the search program and by the world, for every action on three objects."""
    read = "state(X, (open; toggled_on; dusty)), edge((inside; ontop), X, _), moved(X)"
    pack = of(f"rule(r, temporal). hazard(r, X) :- {read}.")
    scenery = Scenery(slice_of(pack, "r"), 2)
    kinds = {"thing_1": "bowl.n.01", "thing_2": "electric_refrigerator.n.01", **scenery.kit}
    facts = [Atom("object", (name,)) for name in kinds]
    facts += [Atom("edge", (Fun("inside"), "thing_1", "thing_2")), Atom("edge", (Fun("covered"), "thing_1", "dust"))]
    facts += [Atom("state", ("thing_1", Fun("dusty"))), Atom("state", ("thing_2", Fun("open")))]
    staged = Staged(kinds, graph_of(facts, pack.vocabulary))
    outputs = [("_p_1_state", 2, True), ("_p_1_edge", 3, True)]
    for text in (
        "close(thing_2)", "place_on_top(thing_1,table)", "place_inside(thing_1,table)", "wipe(thing_1,rag)",
        "toggle_on(sink)", "cut(thing_1,rag)", "pour_into(bucket,thing_1)", "place_on_top(table,thing_1)",
        "place_on_top(thing_2,thing_1)", "spread(bucket,table)", "soak_inside(rag,bucket)", "open(thing_2)",
    ):  # fmt: skip
        action = Action.parse(text)
        program = [*scenery.staged(staged), *scenery.acted("_p_", [action])]
        found = asp.search("\n".join(program), outputs, seconds=60)
        assert found is not None
        world = staged.world()
        world.step(action)
        expected = {str(atom) for atom in world.graph.facts() if atom.name in ("edge", "state") and atom.positive}
        assert {str(atom).removeprefix("_p_1_") for atom in found.atoms} == expected, text


@settings(max_examples=8)
@given(ps.pack_texts(), st.data())
def test_random_packs_trigger_only_where_they_are_proven_to(texts: list[str], data: st.DataObject) -> None:
    pack = ps.pack(texts[0])
    never = [rule for rule in pack.rules if asked(pack, "triggers", rule).answer == NO]
    with Engine(pack, objects=data.draw(ps.scenes())) as engine:
        engine.intend(data.draw(ps.actions(engine.graph)))
        assert not {trigger.rule for trigger in engine.triggers()} & {*never}
