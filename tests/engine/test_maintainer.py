"""Every policy that claims to preserve the decisions of full recomputation does, on any building and any events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from time import monotonic, sleep

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kb_regions import events, house, states, steps

from obviate.engine.evaluator import Counted, Judge, Limited, Tape
from obviate.engine.kernel import Kernel
from obviate.engine.maintainer import Decision, Maintainer, Maintainers
from obviate.engine.policy import POLICIES
from obviate.engine.selector import grows, preference
from obviate.kb.errors import LifecycleError, ObviateError, PatchError
from obviate.kb.event import Event
from obviate.kb.footprint import Footprint, observed, whole
from obviate.kb.instruction import Instruction
from obviate.kb.question import Question
from obviate.kb.regions import CATEGORIES, Regions

PRESERVING = sorted(POLICIES.keys() - {"full", "static", "eventwise"})
MUG = "instruction(mug). qualifies(mug, R) :- inventory(R, mug, N), N > 0."
PROGRAMS = {
    "inventory": MUG,
    "nearest": MUG + " prefer(mug, R, D) :- hops(R, D).",
    "label": "instruction(mug). qualifies(mug, R) :- inventory(R, mug, N), N >= 2, label(R, kitchen).",
    "here": "instruction(mug). qualifies(mug, R) :- inventory(R, mug, _), at(R).",
    "another": "instruction(mug). qualifies(mug, R) :- inventory(R, mug, _), not used(R)."
    " prefer(mug, R, D) :- hops(R, D).",
    "adjacent": "instruction(mug). qualifies(mug, R) :- inventory(R, mug, _), at(C), door(C, R).",
    "few": "instruction(mug). qualifies(mug, R) :- label(R, _), not inventory(R, mug, _). prefer(mug, R, 1) :- used(R)."
    " prefer(mug, R, 2) :- label(R, bedroom).",
    "one": "instruction(mug). qualifies(mug, R) :- inventory(R, mug, 1).",
    "pool": "instruction(mug). qualifies(mug, R) :- inventory(R, mug, 1; R, chair, 1).",
    "even": "instruction(mug). qualifies(mug, R) :- inventory(R, mug, N), inventory(R, chair, N).",
    "listed": "instruction(mug). qualifies(mug, R) :- inventory(R, mug, N), fine(N). fine(1). fine(3).",
}


@dataclass(frozen=True)
class Arbitrary:
    """Some function of the question, and nothing else."""

    seed: int

    def judge(self, questions: Sequence[Question]) -> Sequence[bool]:
        return [sha256(f"{self.seed} {question}".encode()).digest()[0] < 128 for question in questions]


def judged(categories: Sequence[str], choice: str) -> Instruction:
    """An instruction that a judge is asked about, which reads these categories."""
    return Instruction.of(f"instruction(j). judged(j). depends(j, semantic, ({'; '.join(categories)})). {choice}")


CHOICES = ("", "prefer(j, R, D) :- hops(R, D).", "prefer(j, R, 1) :- used(R). prefer(j, R, 2) :- label(R, _).")


def follow(one: Maintainer, start: Regions, happened: Sequence[Event]) -> list[Decision]:
    decisions = [one.initialize(start)]
    for _, event, _ in steps(start, list(happened)):
        decisions.append(one.update(event))
    return decisions


def targets(decisions: Sequence[Decision]) -> list[str | None]:
    return [decision.target for decision in decisions]


@settings(max_examples=60)
@given(states, st.lists(events, max_size=8), st.sampled_from(sorted(PROGRAMS)), st.sampled_from(PRESERVING))
def test_a_program_is_followed_as_by_full_recomputation(
    start: Regions, happened: list[Event], program: str, policy: str
) -> None:
    instruction = Instruction.of(PROGRAMS[program])
    full = follow(Maintainer(instruction, policy="full"), start, happened)
    ours = follow(Maintainer(instruction, policy=policy), start, happened)
    assert targets(ours) == targets(full)
    assert ours[-1].total <= full[-1].total


@settings(max_examples=150)
@given(
    states,
    st.lists(events, max_size=8),
    st.lists(st.sampled_from(CATEGORIES), min_size=1, unique=True),
    st.sampled_from(CHOICES),
    st.integers(0, 1_000),
    st.sampled_from(PRESERVING),
)
def test_any_evaluator_of_its_declared_inputs_is_followed_as_by_full_recomputation(
    start: Regions, happened: list[Event], categories: list[str], choice: str, seed: int, policy: str
) -> None:
    instruction = judged(categories, choice)
    full = follow(Maintainer(instruction, evaluator=Arbitrary(seed), policy="full"), start, happened)
    ours = follow(Maintainer(instruction, evaluator=Arbitrary(seed), policy=policy), start, happened)
    assert targets(ours) == targets(full)
    assert all(decision.certain for decision in ours)


@settings(max_examples=60)
@given(
    states, st.lists(events, max_size=5), st.sampled_from(sorted(PROGRAMS)), st.sampled_from(["reference", "merged"])
)
def test_the_kernel_says_what_the_maintainer_does(
    start: Regions, happened: list[Event], program: str, policy: str
) -> None:
    instruction = Instruction.of(PROGRAMS[program])
    signature = POLICIES[policy].signature_of(instruction)
    one = Maintainer(instruction, policy=policy)
    one.initialize(start)
    full = Maintainer(instruction, policy="full")
    with Kernel("mug", signature) as kernel:
        for before, event, after in steps(start, happened):
            decision = one.update(event)
            full.initialize(after)
            found = kernel.conclude(
                observed(before, after),
                verdicts=[region for region, known in full._verdicts.items() if known.holds],
                reachable=after.reachable(),
                ranks=preference(instruction, after),
            )
            assert found.stale == decision.stale.keys() == set(decision.refreshed)
            assert found.target == decision.target
            assert found.reselect or not decision.refreshed
            assert (found.target is None) == (not found.feasible)


# -- what it costs -----------------------------------------------------------------------------------

START = house("hall-kitchen", "hall-office", "office-attic", at="office", kitchen={"mug": 2}, office={"mug": 1})
EVENTS = [
    Event.move("hall"),
    Event.remove("mug", "office"),
    Event.close("hall", "kitchen"),
    Event.relocate("mug", "kitchen", "attic"),
    Event.open("hall", "kitchen"),
]


def cost(policy: str) -> tuple[list[str | None], int]:
    decisions = follow(Maintainer(Instruction.of(PROGRAMS["nearest"]), policy=policy), START, EVENTS)
    return targets(decisions), decisions[-1].total


def test_policies_cost_what_they_say() -> None:
    assert cost("full") == (["office", "kitchen", "kitchen", None, "attic", "kitchen"], 24)
    assert {name: cost(name)[1] for name in ("universal", "merged", "reference", "static", "exact", "ours")} == {
        "universal": 4 + 4 + 1 + 4 + 2 + 4,
        "merged": 4 + 4 + 1 + 4 + 2 + 4,
        "reference": 4 + 0 + 1 + 0 + 2 + 0,
        "static": 7,
        "exact": 7,
        "ours": 3,
    }
    assert all(cost(name)[0] == cost("full")[0] for name in PRESERVING)


def test_only_the_inventory_is_not_enough_where_more_is_read() -> None:
    instruction = Instruction.of(PROGRAMS["another"])
    happened = [Event.use("office")]
    full = follow(Maintainer(instruction, policy="full"), START, happened)
    static = follow(Maintainer(instruction, policy="static"), START, happened)
    assert targets(full) == ["office", "kitchen"]
    assert targets(static) == ["office", "office"]  # stale


def test_a_declaration_that_leaves_a_dependency_out_is_told_and_changes_decisions() -> None:
    text = PROGRAMS["another"] + " depends(mug, semantic, inventory). depends(mug, selection, (position; topology))."
    instruction = Instruction.of(text)
    assert instruction.undeclared.semantic == {"history"}
    assert not instruction.signature.contains(instruction.inferred)
    happened = [Event.use("office")]
    assert targets(follow(Maintainer(instruction, policy="ours-declared"), START, happened)) == ["office", "office"]
    assert Maintainer(instruction, policy="ours-declared").doubts == (
        "qualification reads history, which the signature misses",
    )
    assert Maintainer(instruction, policy="ours").doubts == ()
    assert Maintainer(instruction, policy="full").doubts == ()
    assert targets(follow(Maintainer(instruction, policy="ours"), START, happened)) == ["office", "kitchen"]


def test_a_footprint_that_leaves_a_room_out_leaves_a_judgment_stale() -> None:
    one = Maintainer(Instruction.of(PROGRAMS["nearest"]), policy="reference")
    one.initialize(START)
    missed = one.update(Event.remove("mug", "office"), footprint=Footprint.of({"inventory": []}))
    assert missed.target == "office"
    assert one.update(Event.move("hall"), footprint=whole(START.names())).target == "kitchen"


def right(instruction: Instruction, event: Event) -> str:
    """What a decider that knows the instruction would say of an event."""
    if event.category in instruction.inferred.semantic:
        return "semantic"
    moves = event.category in {"position", "topology"}  # also where the robot can go
    return "selection" if moves or event.category in instruction.inferred.selection else "none"


@settings(max_examples=60)
@given(states, st.lists(events, max_size=8), st.sampled_from(sorted(PROGRAMS)))
def test_deciding_event_by_event_is_as_good_as_the_decider(start: Regions, happened: list[Event], program: str) -> None:
    instruction = Instruction.of(PROGRAMS[program])
    full = follow(Maintainer(instruction, policy="full"), start, happened)
    asked = follow(Maintainer(instruction, policy="eventwise", relevance=right), start, happened)
    assert targets(asked) == targets(full)


def test_a_decider_that_is_wrong_once_leaves_a_stale_target() -> None:
    instruction = Instruction.of(PROGRAMS["another"])
    deaf = Maintainer(instruction, policy="eventwise", relevance=lambda *_: "none")
    assert targets(follow(deaf, START, [Event.use("office")])) == ["office", "office"]
    with pytest.raises(LifecycleError, match="which events matter"):
        Maintainer(instruction, policy="eventwise")


# -- evaluators that fail ----------------------------------------------------------------------------


class Flaky:
    """Fails while it is told to."""

    def __init__(self) -> None:
        self.down = False

    def judge(self, questions: Sequence[Question]) -> Sequence[bool]:
        if self.down:
            raise TimeoutError("the model is busy")
        return [dict(question.fields)["inventory"] != () for question in questions]


@pytest.mark.parametrize("policy", ["reference", "ours"])
def test_an_old_verdict_is_never_passed_off_as_fresh(policy: str) -> None:
    flaky = Flaky()
    one = Maintainer(judged(["inventory"], CHOICES[1]), evaluator=flaky, policy=policy)
    assert one.initialize(START).certain
    flaky.down = True
    decision = one.update(Event.relocate("mug", "office", "attic", 1))
    assert not decision.certain
    assert decision.failure == "TimeoutError: the model is busy"
    assert decision.target != "office"
    flaky.down = False
    again = one.update(Event.move("attic"))
    assert (again.target, again.certain, again.failure) == ("attic", True, "")


@pytest.mark.parametrize("answer", ["perhaps", "", None, 3, [True]])
def test_nonsense_is_no_answer(answer: object) -> None:
    one = Maintainer(judged(["inventory"], ""), evaluator=Judge(lambda _: answer), policy="reference")  # type: ignore[arg-type, return-value]
    decision = one.initialize(START)
    assert (decision.target, decision.certain, decision.total) == (None, False, 0)


def test_an_evaluator_that_changes_its_mind_is_doubted() -> None:
    answers = iter([True, False] * 20)
    one = Maintainer(judged(["inventory"], ""), evaluator=Judge(lambda _: next(answers)), policy="full")
    one.initialize(START)
    assert "in two ways" in one.doubts[0]  # hall and office look alike but for the mug, hall and attic in everything
    steady = Maintainer(judged(["inventory"], ""), evaluator=Arbitrary(1), policy="full")
    follow(steady, START, EVENTS)
    assert steady.doubts == ()


def test_too_few_answers_are_none() -> None:
    class Short:
        def judge(self, questions: Sequence[Question]) -> Sequence[bool]:
            return [True]

    decision = Maintainer(judged(["inventory"], ""), evaluator=Short(), policy="full").initialize(START)
    assert (decision.certain, decision.failure) == (False, "4 questions were answered with [True]")


def test_a_judge_reads_one_line_for_each_category() -> None:
    prompts: list[str] = []

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        return "Yes." if "2 mug" in prompt else "no"

    one = Maintainer(judged(["inventory", "position", "history"], ""), evaluator=Judge(ask), policy="full")
    assert one.initialize(START).target == "kitchen"
    assert prompts[-1] == ("Does a region like this satisfy: j?\ninventory: 1 mug\nposition: yes\nhistory: no")


def test_a_tape_replays_what_was_counted() -> None:
    instruction = Instruction.of(PROGRAMS["label"])
    counted = Counted(Arbitrary(1))
    first = follow(Maintainer(instruction, evaluator=counted, policy="full"), START, EVENTS)
    tape = Tape({question.prompt(): answer for question, answer in counted.answers.items()})
    again = follow(Maintainer(instruction, evaluator=tape, policy="ours"), START, EVENTS)
    assert targets(again) == targets(first)
    assert (counted.asked, counted.batches) == (24, 6)
    assert not Maintainer(instruction, evaluator=Tape({}), policy="full").initialize(START).certain


def test_an_evaluator_that_takes_too_long_has_not_answered() -> None:
    class Slow:
        def judge(self, questions: Sequence[Question]) -> Sequence[bool]:
            sleep(30)
            return []

    began = monotonic()
    one = Maintainer(judged(["inventory"], ""), evaluator=Limited(Slow(), 0.05), policy="full")
    assert not one.initialize(START).certain
    assert monotonic() - began < 10
    assert Maintainer(judged(["inventory"], ""), evaluator=Limited(Arbitrary(1), 10)).initialize(START).certain
    flaky = Flaky()
    flaky.down = True
    with pytest.raises(TimeoutError):
        Limited(flaky, 10).judge([])


@settings(max_examples=60)
@given(states, st.lists(events, max_size=8), st.sampled_from(sorted(PROGRAMS)), st.integers(0, 1_000))
def test_another_judge_than_the_program_is_never_spared_by_polarity(
    start: Regions, happened: list[Event], program: str, seed: int
) -> None:
    instruction = Instruction.of(PROGRAMS[program])
    full = follow(Maintainer(instruction, evaluator=Arbitrary(seed), policy="full"), start, happened)
    ours = follow(Maintainer(instruction, evaluator=Arbitrary(seed), policy="ours"), start, happened)
    assert targets(ours) == targets(full)


# -- several at once ---------------------------------------------------------------------------------


def test_many_instructions_are_followed_as_each_alone() -> None:
    instructions = []
    for name, text in PROGRAMS.items():
        own = text.replace("instruction(mug)", f"instruction({name})").replace("(mug, R", f"({name}, R")
        instructions.append(Instruction.of(own))
    together = Maintainers(*map(Maintainer, instructions))
    alone = {one.name: Maintainer(one) for one in instructions}
    assert together.initialize(START) == {name: one.initialize(START) for name, one in alone.items()}
    for event in EVENTS:
        assert together.update(event) == {name: one.update(event) for name, one in alone.items()}
    with pytest.raises(LifecycleError, match="two instructions"):
        Maintainers(Maintainer(instructions[0]), Maintainer(instructions[0]))
    assert Maintainers().update(EVENTS[0]) == {}


# -- wrong use ---------------------------------------------------------------------------------------


def test_wrong_use_is_told() -> None:
    instruction = Instruction.of(MUG)
    with pytest.raises(LifecycleError, match="no policy 'our'"):
        Maintainer(instruction, policy="our")
    with pytest.raises(LifecycleError, match="nobody judges"):
        Maintainer(judged(["inventory"], ""))
    one = Maintainer(instruction)
    one.initialize(START)
    with pytest.raises(LifecycleError, match="other regions"):
        one.observe(house("hall-attic"))
    with pytest.raises(LifecycleError, match="no building"):
        Maintainer(instruction).update(Event.move("hall"))


@pytest.mark.parametrize("event", [Event.move("cellar"), Event.close("hall", "attic"), Event.remove("mug", "hall")])
def test_an_event_that_cannot_be_changes_nothing(event: Event) -> None:
    one = Maintainer(Instruction.of(MUG))
    one.initialize(START)
    with pytest.raises(PatchError):
        one.update(event)
    assert one.state is START
    assert one.update(Event.move("hall")).step == 1


# -- what is told from a program ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "semantic", "selection", "more_helps"),
    [
        ("inventory", {"inventory"}, set(), True),
        ("nearest", {"inventory"}, {"position", "topology"}, True),
        ("label", {"inventory", "label"}, set(), True),
        ("here", {"inventory", "position"}, set(), True),
        ("another", {"inventory", "history"}, {"position", "topology"}, True),
        ("adjacent", {"inventory", "position", "topology"}, set(), True),
        ("few", {"inventory", "label"}, {"history", "label"}, False),
        ("one", {"inventory"}, set(), False),
        ("pool", {"inventory"}, set(), False),
        ("even", {"inventory"}, set(), False),
        ("listed", {"inventory"}, set(), False),
    ],
)
def test_dependencies_are_told_from_the_data_flow(
    program: str, semantic: set[str], selection: set[str], more_helps: bool
) -> None:
    instruction = Instruction.of(PROGRAMS[program])
    assert (set(instruction.inferred.semantic), set(instruction.inferred.selection)) == (semantic, selection)
    assert grows(instruction) == more_helps


FAULTS = [
    ("qualifies(i, R) :- inventory(R, mug, _).", "instruction-form"),
    ("instruction(i). instruction(j). qualifies(i, R) :- at(R).", "instruction-form"),
    ("instruction(i).", "no-qualifies"),
    ("instruction(i). judged(i).", "no-qualifies"),
    ("instruction(i). qualifies(j, R) :- at(R).", "unknown-rule"),
    ("instruction(i). qualifies(i) :- at(_).", "predicate-arity"),
    ("instruction(i). qualifies(i, R) :- inventory(R, mug).", "predicate-arity"),
    ("instruction(i). qualifies(i, R) :- inventry(R, mug, _).", "undeclared-predicate"),
    ("instruction(i). qualifies(i, R) :- at(R). depends(i, semantics, position).", "unknown-category"),
    ("instruction(i). qualifies(i, R) :- at(R). depends(i, semantic, place).", "unknown-category"),
    ("instruction(i). qualifies(i, R) :- at(R), inventory(S, mug, _).", "not-local"),
    ("instruction(i). qualifies(i, R) :- at(R), label(S, kitchen).", "not-local"),
    ("instruction(i). qualifies(i, R) :- at(C), door(C, D), door(D, E), label(R, _).", "not-local"),
    ("instruction(i). qualifies(i, R) :- hops(R, D), D < 3.", "not-local"),
    ("instruction(i). qualifies(i, R) :- at(R). prefer(i, R, N) :- inventory(R, mug, N).", "not-local"),
    ("instruction(i). qualifies(i, R) :- not at(R).", "unsafe-variable"),
    ("instruction(i). qualifies(i, R) :- at(R). at(R) :- used(R).", "instruction-form"),
    ("instruction(i). qualifies(i, R) :- at(R). stale(i, R) :- used(R).", "instruction-form"),
    ("instruction(i). { qualifies(i, R) } :- at(R).", "refused-statement"),
    ("instruction(i). qualifies(i, R) :- at(R). :- used(_).", "refused-statement"),
    ("instruction(i). says(i, X) :- at(X). qualifies(i, R) :- at(R).", "not-a-fact"),
    (
        "instruction(i). qualifies(i, R) :- at(R), not p(R). p(R) :- at(R), not q(R). q(R) :- at(R), not p(R).",
        "not-stratified",
    ),
    ("instruction(i). qualifies(i, R) :- at(R)", "syntax"),
]


@pytest.mark.parametrize(("text", "code"), FAULTS)
def test_an_instruction_that_cannot_be_maintained_is_refused(text: str, code: str) -> None:
    with pytest.raises(ObviateError) as refused:
        Instruction.of(text)
    assert refused.value.code == code
