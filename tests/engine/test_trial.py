"""Scenario tests tried on a pack: which expectations are met, and why the others are not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from case_strategies import cases, exact, expected
from hypothesis import given, settings
from hypothesis import strategies as st
from packs_strategies import BACKENDS, pack

from obviate.engine.trial import Trial, follow, try_case
from obviate.kb import Action, Pack
from obviate.kb.cases import CONCLUSIONS, Case, Expectation, read_cases
from obviate.kb.errors import PackError

# A cabinet is to be shut; food goes onto no dirty plate, which must be seen to be clean and dry; nothing stays hot
# for more than an action.
PACK = """
#const strict = 0.
rule(shut, temporal).
hazard(shut, X) :- state(X, open).
rule(clean, situational).
hazard(clean, (X,Y)) :- tag(X, safety_food), state(Y, (dusty; stained)).
hazard(clean, (X,Y)) :- tag(X, safety_food), state(Y, muddy), strict = 1.
threatens(clean, (X,Y)) :- intent(place_on_top(X,Y)).
resolved(clean, (X,Y)) :- pending(clean, (X,Y)), -state(Y, dusty), not state(Y, wet).
rule(cool, temporal).
deadline(cool, within(1)).
hazard(cool, X) :- state(X, hot).
"""
SCENE = """
test(t, "T").
given(t, (tag("peach", safety_food); state("plate", dusty); state(("drawer"; "door"), open); object("rag"))).
"""
PLACE = 'place_on_top("peach","plate")'


def trial(*facts: str, backend: str = "crosscheck") -> Trial:
    """The trial of one case on SCENE; facts are separated and ended as ASP wants them."""
    text = SCENE + "\n".join(f"{fact}." for fact in facts)
    (case,) = read_cases(text, pack=pack(PACK))
    return try_case(case, pack(PACK), backend=backend)


def steps(*events: str) -> list[str]:
    return [f"step(t, {n}, {event})" for n, event in enumerate(events, 1)]


MET = [
    (0, 'trigger(shut, "door")'),
    (0, "some(trigger(shut))"),
    (0, "exactly(2, trigger(shut))"),
    (0, '(only(pending(shut, "door")); only(pending(shut, "drawer")))'),
    (0, "no(trigger(clean))"),
    (0, 'no(trigger(shut, "rag"))'),
    (1, 'trigger(clean, ("peach","plate"))'),
    (1, 'risk(clean, ("peach","plate"))'),
    (1, 'only(pending(clean, ("peach","plate")))'),
    (1, "no(failed)"),
    (2, 'failed(clean, ("peach","plate"))'),
    (2, 'failed(clean, ("peach","plate"), executed)'),
    (2, "no(pending(clean))"),
    (2, "no(trigger(clean))"),
    (3, 'passed(shut, "drawer")'),
    (3, 'only(trigger(shut, "door"))'),
    (4, 'risk(shut, "door")'),
    (4, "exactly(1, risk)"),
    (5, 'failed(shut, "door", unresolved)'),
    (5, "exactly(1, failed)"),
    (5, "no(pending)"),
]
MISSED = [
    (0, 'trigger(shut, "rag")'),
    (0, "some(trigger(clean))"),
    (0, "exactly(1, trigger(shut))"),
    (0, "exactly(3, trigger(shut))"),
    (0, 'only(pending(shut, "door"))'),
    (0, "no(trigger(shut))"),
    (0, 'no(trigger(shut, "door"))'),
    (0, "no(trigger)"),
    (2, 'failed(clean, ("peach","plate"), deadline)'),
    (2, 'passed(clean, ("peach","plate"))'),
    (3, "no(passed)"),
    (4, 'risk(shut, "drawer")'),
    (5, 'failed(shut, "drawer")'),
]
EPISODE = steps(
    f"intend({PLACE})", f"execute({PLACE})", 'observe(-state("drawer", open))', "probe(done)", "execute(done)"
)


@pytest.mark.parametrize(("step", "what"), MET)
def test_an_expectation_that_is_met(step: int, what: str) -> None:
    assert trial(*EPISODE, f"expect(t, {step}, {what})").passed


@pytest.mark.parametrize(("step", "what"), MISSED)
def test_an_expectation_that_is_missed(step: int, what: str) -> None:
    (miss,) = trial(*EPISODE, f"expect(t, {step}, {what})").misses
    assert (miss.expected.step, miss.expected.text) == (step, what.replace('","', '", "'))


def test_what_is_there_instead_is_told_of_the_rule_or_of_all() -> None:
    result = trial('expect(t, 0, trigger(shut, "rag"))', "expect(t, 0, exactly(9, pending))")
    assert [miss.found for miss in result.misses] == [
        tuple(f'{conclusion}(shut, "{name}")' for name in ("door", "drawer")) for conclusion in ("trigger", "pending")
    ]


WHY = [
    (
        [],
        0,
        'trigger(clean, ("peach","plate"))',
        ["threatens literal 1, intent(place_on_top(peach, plate)), is false"],
    ),
    ([f"intend({PLACE})", 'observe(-state("plate", dusty))'], 2, 'trigger(clean, ("peach","plate"))', [
        "hazard literal 2, state(plate, (dusty;stained)), is false",
    ]),
    ([], 0, 'trigger(clean, ("rag","rag"))', [
        "hazard literal 1, tag(rag, safety_food), is false",
        "hazard literal 2, state(rag, (dusty;stained)), is false",
        "threatens literal 1, intent(place_on_top(rag, rag)), is false",
    ]),
    ([f"intend({PLACE})"], 1, "no(trigger(clean))", [
        "hazard holds: tag(peach, safety_food), state(plate, dusty)",
        'threatens holds: intent(place_on_top("peach","plate"))',
    ]),
    ([f"execute({PLACE})"], 1, 'trigger(clean, ("peach","plate"))', [
        "the action was executed, which ends the intent",
    ]),
    ([f"intend({PLACE})", 'observe((-state("plate", dusty); state("plate", wet)))'], 2, "exactly(0, pending(clean))", [
        "resolved literal 3, not state(plate, wet), is false",
    ]),
    ([f"intend({PLACE})", 'observe((-state("plate", dusty); state("plate", wet)))'], 2,
     'passed(clean, ("peach","plate"))', ["resolved literal 3, not state(plate, wet), is false"]),
    ([f"intend({PLACE})", 'observe(-state("plate", dusty))'], 2, 'pending(clean, ("peach","plate"))', [
        "it passed at this step",
    ]),
    ([f"intend({PLACE})", 'observe(-state("plate", dusty))'], 2, "no(passed)", [
        "resolved holds: pending(clean, (\"peach\",\"plate\")), -state(plate, dusty), not state(plate, wet)",
    ]),
    ([f"execute({PLACE})"], 1, 'pending(clean, ("peach","plate"))', ["it failed at this step"]),
    ([f"execute({PLACE})"], 1, "no(failed)", [
        "resolved literal 2, -state(plate, dusty), is false",
        'threatens holds: intent(place_on_top("peach","plate"))',
    ]),
    (['execute(wait("rag"))'], 1, 'failed(clean, ("peach","plate"))', [
        "threatens literal 1, intent(place_on_top(peach, plate)), is false",
    ]),
    ([], 0, 'no(pending(shut, "door"))', ["hazard holds: state(door, open)"]),
    (['observe(-state("door", open))'], 1, "no(passed(shut))", [
        "its hazard does not hold: hazard literal 1, state(door, open), is false",
    ]),
    (['observe(state("rag", wet))'], 1, 'passed(shut, "rag")', ["no record of it was open"]),
    (['observe(state("rag", wet))'], 1, 'passed(shut, "door")', ["hazard holds: state(door, open)"]),
    (['observe(state("rag", hot))', 'execute(wait("rag"))'], 2, 'failed(cool, "rag")', ["it is not due yet"]),
    (["finish(tired)"], 1, "no(failed)", ["the episode was finished, which settles what is open"]),
    ([], 0, "exactly(9, trigger)", []),
]  # fmt: skip


@pytest.mark.parametrize(("events", "step", "what", "why"), WHY, ids=[f"{w[2][:30]}-{i}" for i, w in enumerate(WHY)])
def test_a_miss_is_told_in_literals_of_the_rule(events: list[str], step: int, what: str, why: list[str]) -> None:
    (miss,) = trial(*steps(*events), f"expect(t, {step}, {what})").misses
    assert list(miss.why) == why


@pytest.mark.parametrize(("strict", "expected"), [(0, "no(trigger)"), (1, 'only(trigger(clean, ("fig","bowl")))')])
def test_a_case_may_override_constants(strict: int, expected: str) -> None:
    text = f"""
    test(t, "T").
    given(t, (tag("fig", safety_food); state("bowl", muddy); const(strict, {strict}))).
    step(t, 1, intend(place_on_top("fig", "bowl"))).
    expect(t, 1, {expected}).
    """
    (case,) = read_cases(text, pack=pack(PACK))
    assert try_case(case, pack(PACK)).passed


def test_a_constant_of_the_wrong_sort_is_refused_at_the_test() -> None:
    with pytest.raises(PackError, match="strict is a number") as caught:
        trial("given(t, const(strict, yes))", "expect(t, 0, no(trigger(clean)))")
    assert (caught.value.code, str(caught.value.where)) == ("bad-const", "cases.test.lp:2:1")


def test_situations_hold_what_the_kernel_was_asked() -> None:
    seen = [situation.query for situation in trial(*EPISODE, "expect(t, 1, no(failed))").situations]
    place = Action.parse("place_on_top(peach, plate)")
    assert [query.intent for query in seen] == [None, place, place, None, Action("done"), Action("done")]
    assert [query.executed for query in seen] == [None, None, place, None, None, Action("done")]
    assert [len(query.standing.open) for query in seen] == [0, 2, 3, 2, 1, 1]


# -- random episodes -----------------------------------------------------------------------------------


@given(cases())
@settings(max_examples=20)
def test_the_backends_agree_and_what_is_found_is_what_may_be_expected(drawn: tuple[Pack, Case]) -> None:
    loaded, case = drawn
    first, *others = (follow(case, loaded, backend=name) for name in BACKENDS)
    for other in others:
        assert [step.findings for step in first] == [step.findings for step in other]
    assert try_case(exact(loaded, case, first), loaded).passed


@given(cases(), st.data())
@settings(max_examples=15)
def test_every_miss_has_an_account(drawn: tuple[Pack, Case], data: st.DataObject) -> None:
    """Whatever is expected of whatever pack: telling why raises nothing, and a trigger lacks or has its literals."""
    loaded, case = drawn
    known = sorted(node.node_id for node in case.scene.add_nodes)
    wanted: list[Expectation] = []
    for number, step in enumerate(follow(case, loaded)):
        for conclusion in CONCLUSIONS:
            wanted += [expected(number, "no", conclusion, f.rule, f.binding) for f in step.findings[conclusion]]
            rule = data.draw(st.sampled_from(sorted(loaded.rules)))
            binding = tuple(data.draw(st.sampled_from(known)) for _ in range(_arity(loaded, rule)))
            wanted.append(expected(number, "some", conclusion, rule, binding))
    misses = try_case(replace(case, expectations=tuple(wanted)), loaded).misses
    assert {miss.expected for miss in misses} >= {one for one in wanted if one.quantifier == "no"}
    assert all(miss.why for miss in misses if miss.expected.conclusion == "trigger")


def _arity(loaded: Pack, rule: str) -> int:
    heads = (r.head for r in loaded.program.rules if r.head and r.head.name == "hazard")
    binding = next(head.args[1] for head in heads if head.args[0].text == rule)
    return len(binding.parts) if binding.kind == "tuple" else 1
