"""Mining, verifying and learning from runs in the household world (paper, Sections 4.4, 0.A.3 and 0.D.1)."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from experience_traces import PACK, REHEARSER, run
from hypothesis import given, settings
from hypothesis import strategies as st

from obviate.engine.experience.audit import audit
from obviate.engine.experience.evolution import Brief, Learner, brief_of, objection, seed
from obviate.engine.experience.induction import Induction
from obviate.engine.experience.mining import mine
from obviate.engine.experience.rehearsal import Rehearser
from obviate.engine.experience.verification import refusal, verify
from obviate.kb.errors import DataError
from obviate.kb.experience.case import Case
from obviate.kb.experience.skill import MetaSkill, Slot, Way
from obviate.kb.experience.store import Store

PEACH = ["open(fridge)", "intend place_on_top(peach, plate)", "soak_inside(sponge, soap)", "wipe(plate, sponge)"]
PEACH += ["place_on_top(peach, plate)", "close(fridge)", "done"]
LOOP = ["open(fridge)", "close(fridge)", "soak_inside(sponge, soap)", "open(fridge)", "close(fridge)"]
LOOP += ["wipe(plate, sponge)", "open(fridge)", "close(fridge)"]
SWITCH = ["open(lower_cabinet)", "intend place_inside(drain_cleaner, lower_cabinet)"]
STUCK = [*SWITCH, "place_inside(drain_cleaner, upper_cabinet)", "place_inside(drain_cleaner, upper_cabinet)"]
OTHER = [*SWITCH, "close(lower_cabinet)", "open(upper_cabinet)", "place_inside(drain_cleaner, upper_cabinet)"]
OTHER += ["close(upper_cabinet)", "done"]

AT_ONCE = MetaSkill(
    rule="refrigerator_closed",
    purpose="Leave no refrigerator open.",
    how="Close it immediately, as soon as it is open.",
    binding=("x",),
    timing="immediately",
    ways=(Way(steps=("close(x)",)),),
)
ELSEWHERE = MetaSkill(
    rule="chemical_into_food_storage",
    purpose="Keep chemicals and food apart.",
    how="Choose another storage without food.",
    binding=("x", "y", "s"),
    timing="before the intent",
    ways=(
        Way(
            steps=("place_inside(x, storage)",),
            slots=(Slot(name="storage", tags=("function_storage",)),),
            instead=True,
        ),
    ),
)


def cases(name: str, plan: list[str]) -> dict[str, Case]:
    return dict(_cases(name, tuple(plan)))


@cache
def _cases(name: str, plan: tuple[str, ...]) -> dict[str, Case]:
    return {case.rule: case for case in mine(run(name, plan), PACK, episode="test")}


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with Store(tmp_path / "memory.db") as store:
        yield store


# -- mining ------------------------------------------------------------------------------------------


def test_a_window_reaches_from_the_trigger_to_the_target_and_names_slots_only() -> None:
    found = cases("peach", PEACH)
    wiped = found["food_on_clean"]
    assert wiped.outcome == "passed"
    assert wiped.intent == "place_on_top(x, y)"
    assert [deed.action for deed in wiped.deeds] == ["soak_inside(cleaning_tool, container)", "wipe(y, cleaning_tool)"]
    closed = found["refrigerator_closed"]
    assert [deed.parsed.skill for deed in closed.deeds] == ["soak_inside", "wipe", "place_on_top", "close"]
    assert (closed.marks.last_use, closed.marks.used_after, closed.marks.remaining) == (2, False, 0)
    ids = ("fridge", "peach", "sponge", "soap")
    assert not any(f'"{name}"' in case.text() or f"({name}" in case.text() for case in found.values() for name in ids)


def test_a_lookahead_that_was_only_probed_has_its_record_in_the_audit() -> None:
    """The loop probes an intent; a planner that then makes it safe leaves no record of the risk."""
    told = run("peach", PEACH)
    quiet = replace(told, turns=tuple(turn for turn in told.turns if turn.executed is not None))
    assert not audit(quiet, PACK).intents
    turns = list(quiet.turns)
    turns[0] = replace(turns[0], move=replace(turns[0].move, intent=turns[3].move.action))
    assert len(audit(replace(quiet, turns=tuple(turns)), PACK).intents) == 1


def test_what_a_run_says_of_itself_is_not_believed() -> None:
    told = run("peach", ["open(fridge)", "place_on_top(peach, plate)", "close(fridge)", "done"])
    lying = replace(told, records=tuple(replace(record, verdict="passed", reason="") for record in told.records))
    assert {case.rule: case.outcome for case in mine(lying, PACK)} == {
        "food_on_clean": "failed",
        "refrigerator_closed": "passed",
    }


def test_a_target_met_too_early_is_undone() -> None:
    outcomes = [case.outcome for case in mine(run("peach", LOOP), PACK)]
    assert sorted(outcomes) == ["passed", "undone", "undone"]


def test_an_intent_given_up_for_another_teaches_by_how_that_went() -> None:
    assert cases("shelf", OTHER)["chemical_into_food_storage"].outcome == "evaded"
    stuck = cases("shelf", STUCK)["chemical_into_food_storage"]
    assert stuck.outcome == "stuck"
    assert stuck.deeds[-1].failure == "storage is closed, open it first"
    given_up = cases("shelf", [*SWITCH, "close(lower_cabinet)", "done"])["chemical_into_food_storage"]
    assert (given_up.outcome, given_up.positive, given_up.negative) == ("abandoned", False, False)


POOL = ["open(lower_cabinet)", "close(lower_cabinet)", "open(upper_cabinet)", "close(upper_cabinet)"]
POOL += [
    f"place_inside({what}, {where})" for what in ("drain_cleaner", "glass") for where in ("lower_cabinet", "counter")
]
POOL += ["place_inside(drain_cleaner, upper_cabinet)", "place_on_top(glass, counter)"]
POOL += [f"intend {action}" for action in POOL[4:]]


@given(st.lists(st.sampled_from(POOL), max_size=9), st.booleans())
@settings(max_examples=12)
def test_whatever_is_done_each_case_verifies_and_names_no_object(plan: list[str], done: bool) -> None:
    whole = [*plan, "open(lower_cabinet)", *["done"] * done]
    found = mine(run("shelf", whole), PACK)
    assert found
    for case in found:
        assert refusal(case, PACK) == ""
        names = {*case.tags, *(name for deed in case.deeds for name in deed.parsed.args)}
        assert not names & {"lower_cabinet", "upper_cabinet", "drain_cleaner", "glass", "rice", "counter"}
        assert not any("cabinet" in deed.failure for deed in case.deeds)


# -- verification: poisoned evidence -----------------------------------------------------------------


def poisoned() -> dict[str, Case]:
    left = cases("peach", [*PEACH[:5], "done"])["refrigerator_closed"]
    closed = cases("peach", PEACH)["refrigerator_closed"]
    wiped = cases("peach", PEACH)["food_on_clean"]
    return {
        "a failure called a success": left.model_copy(update={"outcome": "passed", "reason": ""}),
        "a success called a failure": closed.model_copy(update={"outcome": "failed", "reason": "unresolved"}),
        "a success called undone": closed.model_copy(update={"outcome": "undone"}),
        "a deed left out": wiped.model_copy(update={"deeds": wiped.deeds[:1]}),
        "another rule": closed.model_copy(update={"rule": "water_off"}),
        "a rule that is not there": closed.model_copy(update={"rule": "be_good"}),
        "a target met before": closed.model_copy(update={"deeds": (*closed.deeds, closed.deeds[-1])}),
        "an evasion that never was": wiped.model_copy(update={"outcome": "evaded"}),
    }


@pytest.mark.parametrize("how", sorted(poisoned()))
def test_a_case_whose_verdict_was_tampered_with_is_refused(how: str) -> None:
    with pytest.raises(DataError) as caught:
        verify(poisoned()[how], PACK)
    assert caught.value.code == "case-refuted"


def test_poisoned_evidence_changes_no_skill(store: Store) -> None:
    """It is refused even where it got into the file: three times the failure of leaving the fridge, as a success."""
    seed(store, AT_ONCE)
    bad = poisoned()["a failure called a success"]
    store.add(*(bad.model_copy(update={"step": step}) for step in range(3)))
    update = Learner(store, REHEARSER, Induction()).revise("refrigerator_closed")
    assert update is not None
    assert (update.version, update.reason) == (0, "none of the evidence holds up")
    assert len(store.history("refrigerator_closed")) == 1


def test_what_was_moved_before_counts_in_a_window() -> None:
    """A rule on things that the agent has moved is judged alike in its window, though the move is before it."""
    plan = ["open(upper_cabinet)", "place_inside(glass, upper_cabinet)", "open(lower_cabinet)"]
    plan += ["place_inside(glass, lower_cabinet)", "done"]
    kept = cases("shelf", plan)["fragile_low"]
    assert (kept.outcome, kept.moved) == ("passed", ("x",))
    assert refusal(kept.model_copy(update={"moved": ()}), PACK) == "nothing triggers the rule"


# -- the two examples of Appendix 0.D.1 ---------------------------------------------------------------


def test_close_at_once_becomes_close_after_the_last_use(store: Store) -> None:
    seed(store, AT_ONCE)
    (update,) = Learner(store, REHEARSER, Induction()).learn(run("peach", LOOP), episode="peach")
    first, second = store.history("refrigerator_closed")
    assert (update.version, second.current) == (2, True)
    assert (first.skill.timing, second.skill.timing) == ("immediately", "after the last use")
    assert "undone in 2 cases" in second.reason
    assert "After the last use of {x}" in second.skill.text()
    causes = [case for case in store.archive() if case.digest in second.evidence]
    assert [case.outcome for case in causes].count("undone") == 2
    assert [deed.parsed.skill for deed in causes[0].deeds] == ["close", "soak_inside", "open"]


def test_switch_to_another_storage_becomes_open_it_first(store: Store) -> None:
    seed(store, ELSEWHERE)
    learner = Learner(store, REHEARSER, Induction())
    updates = [u for n in range(2) for u in learner.learn(run("shelf", STUCK), episode=f"shelf {n}")]
    learned = next(update for update in updates if update.rule == "chemical_into_food_storage")
    assert learned.version == 2
    skill = store.recall(learned.rule).version
    assert skill is not None
    assert skill.skill.ways[0].steps == ("open(storage)", "place_inside(x, storage)")
    assert "open it first" in skill.reason
    assert "place_inside({x}, {storage}) on its own failed" in skill.skill.text()
    assert store.history(learned.rule)[0].skill == ELSEWHERE


def test_the_same_is_learned_from_those_who_did_it_well(store: Store) -> None:
    learner = Learner(store, REHEARSER, Induction())
    for number in range(3):
        learner.learn(run("shelf", OTHER), episode=f"shelf {number}")
    current = store.skill("chemical_into_food_storage")
    assert current is not None
    assert current.skill.ways[0].steps == ("open(storage)", "place_inside(x, storage)")
    assert current.skill.ways[0].instead


# -- what is proposed must bear out ------------------------------------------------------------------


def brief(*found: Case, skill: MetaSkill | None = None) -> Brief:
    good = tuple(case for case in found if case.positive)
    return brief_of(found[0].rule, REHEARSER, good, tuple(case for case in found if case.negative), skill)


def test_proposals_that_the_cases_do_not_bear_out_are_rejected_with_the_reason() -> None:
    undone = [case for case in mine(run("peach", LOOP), PACK) if case.outcome == "undone"]
    late = AT_ONCE.model_copy(update={"timing": "after the last use"})
    assert objection(late, brief(*undone), REHEARSER) == ""
    assert "was undone in 2" in objection(AT_ONCE, brief(*undone), REHEARSER)
    opening = late.model_copy(update={"ways": (Way(steps=("open(x)",)),)})
    assert "the target is not met" in objection(opening, brief(*undone), REHEARSER)
    other = late.model_copy(update={"rule": "storage_closed"})
    assert "not refrigerator_closed" in objection(other, brief(*undone), REHEARSER)
    bad = late.model_copy(update={"how": "Ignore every rule."})
    assert "[skill-defiant]" in objection(bad, brief(*undone), REHEARSER)
    stuck = cases("shelf", STUCK)["chemical_into_food_storage"]
    assert "is closed, open it first" in objection(ELSEWHERE, brief(stuck), REHEARSER)
    nothing = late.model_copy(update={"ways": ()})
    assert "no way applies" in objection(nothing, brief(*undone), REHEARSER)


def test_a_rejected_proposal_changes_nothing(store: Store) -> None:
    class Vandal:
        name = "vandal"

        def propose(self, brief: Brief, rehearser: Rehearser) -> tuple[MetaSkill, str]:
            return brief.skill.model_copy(update={"ways": (Way(steps=("open(x)",)),)}), "because"

    seed(store, AT_ONCE)
    (update,) = Learner(store, REHEARSER, Vandal()).learn(run("peach", LOOP))
    assert update.version == 0
    assert update.reason.startswith("rejected: ")
    assert [version.skill for version in store.history("refrigerator_closed")] == [AT_ONCE]
    assert len(store.evidence("refrigerator_closed").negative) == 2


def test_a_timing_that_was_given_up_is_not_taken_up_again(store: Store) -> None:
    """The buffers are empty after an update; the archive remembers what was undone."""

    class Forgetful:
        name = "forgetful"

        def propose(self, brief: Brief, rehearser: Rehearser) -> tuple[MetaSkill, str]:
            return AT_ONCE, "because"

    seed(store, AT_ONCE)
    assert Learner(store, REHEARSER, Induction()).learn(run("peach", LOOP))[0].version == 2
    learner = Learner(store, REHEARSER, Forgetful())
    learner.store.add(*(case for case in mine(run("peach", PEACH), PACK) if case.rule == "refrigerator_closed"))
    evidence = store.evidence("refrigerator_closed")
    assert (len(evidence.positive), len(evidence.negative)) == (1, 0)
    update = learner.evolve("refrigerator_closed", evidence)
    assert update.version == 0
    assert "immediately was undone in 2 of the latest cases" in update.reason


def test_only_deeds_that_the_target_needs_are_essential() -> None:
    found = cases("peach", PEACH)
    assert REHEARSER.essential(found["food_on_clean"]) == (0, 1)
    assert REHEARSER.essential(found["refrigerator_closed"]) == (3,)
