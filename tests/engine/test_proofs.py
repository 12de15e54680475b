"""What is proven, what is refuted and replayed without a hypothesis, and what instructions truly read."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner

from obviate.adapters.cli import app
from obviate.adapters.mind.families import REQUESTS, Request
from obviate.engine.maintainer import Maintainer
from obviate.engine.policy import Policy
from obviate.engine.proofs import (
    CONDITIONS,
    CUTOFF,
    HYPOTHESES,
    Bounds,
    Story,
    choose,
    confirm,
    counterexample,
    induct,
    ours,
    prove,
    readings,
    tales,
    true_signature,
)
from obviate.kb.errors import DisagreementError, PackError, VocabularyError
from obviate.kb.event import Event
from obviate.kb.footprint import whole
from obviate.kb.instruction import Instruction
from obviate.kb.question import Question
from obviate.kb.regions import Regions

CHECKER = Path(__file__).parents[2] / "examples" / "check_proof.py"
SIZES = [(1, 1), (2, 1), (3, 2), (6, 4), (10, 5)]
AROUND = range(1, CUTOFF + 3)


@pytest.fixture(scope="module")
def checker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_proof", CHECKER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# -- equivalence -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("regions", "events"), SIZES)
def test_no_decision_differs_within_bounds(regions: int, events: int) -> None:
    assert prove(Bounds(regions, events), seconds=120).verdict == "proven"


@pytest.mark.parametrize("regions", AROUND)
def test_one_step_keeps_what_is_right_around_the_cutoff(regions: int) -> None:
    for found in (induct(regions), choose(regions), ours(regions)):
        assert found.verdict == "proven"


@pytest.mark.parametrize("name", HYPOTHESES)
def test_a_dropped_hypothesis_is_refuted_at_the_same_size_and_every_larger_one(name: str) -> None:
    story = counterexample(name)
    assert story is not None
    assert len(story.events) == 1
    assert len(story.states[0]) <= 2
    for regions in range(1, 5):
        for events in (1, 2):
            found = prove(Bounds(regions, events), dropped=[name]).verdict
            assert found == "refuted"
    confirm(story)
    assert story.full[-1] != story.maintained[-1]


def test_dropping_every_subset_is_refuted_and_only_the_empty_one_proven() -> None:
    assert prove(Bounds(2, 1), dropped=list(HYPOTHESES)).verdict == "refuted"
    assert prove(Bounds(2, 1), dropped=[]).verdict == "proven"


def test_the_worlds_of_the_proof_are_not_empty() -> None:
    """What is proven is proven of something: among the tales, targets change, judgments go stale, all events happen."""
    found = list(tales())
    assert {event.kind for tale in found for event in tale.events} == {
        *("move", "remove", "add", "use", "close", "open", "relabel")
    }
    assert all(len(set(tale.full)) > 1 for tale in found)
    for tale in found:
        confirm(tale)


def test_what_is_too_large_or_too_slow_is_not_decided() -> None:
    assert prove(Bounds(900, 4)).verdict == "undecided"
    assert prove(Bounds(2, 2), seconds=0).verdict == "undecided"
    slow = prove(Bounds(40, 20), seconds=0.01)
    assert (slow.verdict, slow.why) == ("undecided", "not within 0.01 s")
    with pytest.raises(PackError, match="search"):
        counterexample("semantic", seconds=0)
    with pytest.raises(VocabularyError, match="nothing called"):
        prove(Bounds(1, 1), dropped=["luck"])


def test_a_story_that_goes_otherwise_is_not_told() -> None:
    story = counterexample("footprint")
    assert story is not None
    with pytest.raises(DisagreementError, match="goes otherwise"):
        confirm(replace(story, maintained=story.full))


def test_a_kernel_that_is_broken_is_refuted() -> None:
    kernel = "stale(I,R) :- changed(V,R), depends(I,selection,V). feasible(I,R) :- verdict(I,R), reachable(R)."
    assert prove(Bounds(2, 1), kernel=kernel).verdict == "refuted"
    assert induct(2, kernel=kernel).verdict == "refuted"


# -- our policies ------------------------------------------------------------------------------------

ROOM = Regions.of({"regions": {"hall": {"label": "hall", "inventory": {"cup": 1}}}, "at": "hall"})
CUP = Instruction.of("instruction(cup). qualifies(cup, R) :- inventory(R, cup, N), N > 0.")


class Fickle:
    """Answers yes, and after `change` no, to the same question."""

    def __init__(self) -> None:
        self.answer = True

    def judge(self, questions: Sequence[Question]) -> list[bool]:
        return [self.answer for _ in questions]


class Crowded:
    """Says of itself that it answers as the program does, but does not like two cups."""

    exact = True

    def judge(self, questions: Sequence[Question]) -> list[bool]:
        return [sum(n for _, n in dict(q.fields)["inventory"]) == 1 for q in questions]  # type: ignore[union-attr,misc,str-unpack]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_policy_needs_its_condition(condition: str) -> None:
    assert [ours(size, dropped=[condition]).verdict for size in AROUND[1:]] == ["refuted"] * 4
    with pytest.raises(VocabularyError):
        ours(dropped=["luck"])


@pytest.mark.parametrize("policy", [Policy("exact", exact=True), Policy("addressed", addressed=True)])
def test_the_maintainer_needs_a_steady_evaluator_that_answers_the_question_alone(policy: Policy) -> None:
    fickle = Fickle()
    one, full = (Maintainer(CUP, evaluator=fickle, policy=each) for each in (policy, "full"))
    assert [one.initialize(ROOM).target, full.initialize(ROOM).target] == ["hall", "hall"]
    fickle.answer = False
    both = [each.observe(ROOM, footprint=whole(ROOM.names())).target for each in (one, full)]
    assert both == ["hall", None]


def test_the_maintainer_needs_a_monotone_evaluator_for_polarity() -> None:
    polar, full = (Maintainer(CUP, evaluator=Crowded(), policy=each) for each in ("polar", "full"))
    assert [polar.initialize(ROOM).target, full.initialize(ROOM).target] == ["hall", "hall"]
    assert [each.update(Event.add("cup", "hall")).target for each in (polar, full)] == ["hall", None]


# -- signatures --------------------------------------------------------------------------------------


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
def test_the_true_signature_is_that_of_the_family(request_: Request) -> None:
    found = readings(Instruction.of(request_.text))
    assert true_signature(found) == request_.family.signature
    assert all(one.verdict in ("read", "unread") for one in found)
    assert all(one.witness is not None for one in found if one.verdict == "read")


FAULTY = [
    (name, stage, category)
    for name in ("bedroom_table", "sit_here", "another_picture", "nearest_seat", "next_plant", "chair_beside")
    for stage in ("semantic", "selection")
    for category in sorted(getattr(REQUESTS[name].family.signature, stage))
]


def faulty(name: str, stage: str, category: str) -> str:
    """A request with a signature that leaves out a category; of what is read by the choice, in both stages."""
    slots = {s: set(getattr(REQUESTS[name].family.signature, s)) - {category} for s in ("semantic", "selection")}
    slots["semantic"] = slots["semantic"] or {"history" if stage == "semantic" else "inventory"}
    said = [f"depends({name}, {slot}, {category})." for slot, read in slots.items() for category in sorted(read)]
    return REQUESTS[name].text + "\n" + "\n".join(said)


@pytest.mark.parametrize(("name", "stage", "category"), FAULTY)
def test_a_faulty_signature_is_refuted_with_a_valid_counterexample(
    name: str, stage: str, category: str, tmp_path: Path, checker: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(FAULTY) >= 10
    file = tmp_path / "faulty.lp"
    file.write_text(faulty(name, stage, category), encoding="utf-8")
    ended = CliRunner().invoke(app, ["prove", "signature", str(file), "--json"])
    assert ended.exit_code == 1
    assert [stage, category] in json.loads(ended.stdout)["missing"]
    (tmp_path / "found.json").write_text(ended.stdout, encoding="utf-8")
    assert checker.main(str(tmp_path / "found.json")) == 0
    told = CliRunner().invoke(app, ["prove", "signature", str(file)])
    assert f"missing: {category} ({stage})" in told.stdout


@pytest.mark.parametrize(
    "condition", ["N > 0", "N >= 4", "N = 3", "not inventory(R, plate, N)", "label(R, cup)", "N < 3, not used(R)"]
)
def test_counts_and_names_that_matter_are_tried(condition: str) -> None:
    instruction = Instruction.of(f"instruction(cup). qualifies(cup, R) :- inventory(R, cup, N), {condition}.")
    assert true_signature(readings(instruction)) == instruction.inferred


def test_a_region_that_the_program_names_is_tried() -> None:
    text = 'instruction(i). qualifies(i, R) :- inventory(R, cup, _). prefer(i, "zoo", 1) :- used("zoo").'
    assert true_signature(readings(Instruction.of(text))) == Instruction.of(text).inferred


def test_a_category_that_only_seems_to_be_read_is_unseen(tmp_path: Path) -> None:
    text = "instruction(i). qualifies(i, R) :- inventory(R, cup, _), at(R). qualifies(i, R) :- inventory(R, cup, _)."
    found = {one.category: one for one in readings(Instruction.of(text)) if one.stage == "semantic"}
    assert found["inventory"].verdict == "read"
    assert found["position"].verdict == "unseen"
    (tmp_path / "i.lp").write_text(text)
    ended = CliRunner().invoke(app, ["prove", "signature", str(tmp_path / "i.lp")])
    assert "more than is read: semantic position" in ended.stdout
    assert ended.exit_code == 0


def test_what_the_evaluator_does_not_see_is_neither_read_nor_more_than_is_read(tmp_path: Path) -> None:
    """An evaluator that is told position and topology hears whether the robot is next door, and no more of doors."""
    (tmp_path / "i.lp").write_text("instruction(i). qualifies(i, R) :- inventory(R, cup, _), at(R), door(R, _).")
    ended = CliRunner().invoke(app, ["prove", "signature", str(tmp_path / "i.lp")])
    assert "semantic: truly reads nothing; not decided: inventory, position, topology" in ended.stdout
    assert "more than is read" not in ended.stdout


@pytest.mark.parametrize("seconds", ["0", "20"])
def test_what_an_evaluator_reads_is_not_decided(seconds: str, tmp_path: Path) -> None:
    judged = "judged(i)." if seconds != "0" else "qualifies(i, R) :- inventory(R, cup, _), not used(R)."
    (tmp_path / "i.lp").write_text(f"instruction(i). {judged} depends(i, semantic, label).")
    ended = CliRunner().invoke(app, ["prove", "signature", str(tmp_path / "i.lp"), "--seconds", seconds])
    assert "not decided" in ended.stdout
    assert ended.exit_code == 3


# -- the command, and the checker --------------------------------------------------------------------


def test_the_command_says_what_is_proven(tmp_path: Path) -> None:
    small = ["prove", "equivalence", "--regions", "2", "--events", "2"]
    ended = CliRunner().invoke(app, small)
    assert (ended.exit_code, ended.stdout.count("proven:")) == (0, 4)
    data = json.loads(CliRunner().invoke(app, [*small, "--json"]).stdout)
    assert data["verdict"] == "proven"
    late = CliRunner().invoke(app, ["prove", "equivalence", "--seconds", "0"])
    assert (late.exit_code, late.stdout.count("not decided:")) == (3, 4)
    assert CliRunner().invoke(app, ["prove", "equivalence", "--drop", "semantic", "--seconds", "0"]).exit_code == 3


def told(*names: str) -> list[dict[str, Any]]:
    drops = [option for name in names for option in ("--drop", name)]
    ended = CliRunner().invoke(app, ["prove", "equivalence", *drops, "--json"])
    assert ended.exit_code == 1
    found: list[dict[str, Any]] = json.loads(ended.stdout)
    return found


def test_the_checker_verifies_stories_and_refuses_altered_ones(checker: ModuleType, tmp_path: Path) -> None:
    def check(data: object) -> int:
        (tmp_path / "told.json").write_text(json.dumps(data))
        code: int = checker.main(str(tmp_path / "told.json"))
        return code

    stories = told(*HYPOTHESES)
    assert [story["dropped"] for story in stories] == list(HYPOTHESES)
    assert check(stories) == 0
    for story in stories:
        assert check({**story, "maintained": story["full"]}) == 1
        assert check({**story, "full": story["maintained"]}) == 1
        assert check({**story, "dropped": "luck"}) == 1
        if story["dropped"] != "footprint":  # whose story these would leave as good as it was
            assert check({**story, "depends": {"semantic": ["inventory", "history"], "selection": []}}) == 1
            assert check({**story, "reports": [{}]}) == 1
        assert check({**story, "stale": [["attic"]]}) == 1
        assert check({**story, "holds": [[], []]}) == 1


def test_the_checker_is_independent_and_short() -> None:
    text = CHECKER.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    assert "import obviate" not in text
    assert "from obviate" not in text


def test_a_story_is_told_in_words() -> None:
    story = counterexample("semantic")
    assert isinstance(story, Story)
    words = "\n".join(story.words())
    assert "not used" in words
    assert "By full recomputation: none." in words
