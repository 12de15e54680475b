"""Scenario tests read from ASP facts: what they say, and what is refused at its place."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from kb_strategies import Json, ids, scenes, toy

from obviate.kb import Action, BeliefGraph, Pack, Patch, household
from obviate.kb.cases import Case, load_cases, read_cases
from obviate.kb.errors import DataError, ObviateError, Span
from obviate.kb.terms import Atom

PACK = Pack.of(
    """
    #const strict = 0.
    rule(clean, situational).
    hazard(clean, (X,Y)) :- tag(X, safety_food), state(Y, dusty).
    threatens(clean, (X,Y)) :- intent(place_on_top(X,Y)).
    rule(shut, temporal).
    hazard(shut, X) :- state(X, open).
    """,
    vocabulary=household.vocabulary(),
)
TOY_PACK = Pack.of("rule(r, temporal). hazard(r, X) :- state(X, wet).", vocabulary=toy())
TEXT = """
test(wipe, "A plate is wiped").
given(wipe, (tag("peach", safety_food); state("plate", dusty); -state("plate", wet); object("rag"))).
given(wipe, edge(ontop, "plate", "table")).
step(wipe, 1, intend(place_on_top("peach", "plate"))).
expect(wipe, 1, trigger(clean, ("peach", "plate"))).
step(wipe, 2, observe(-state("plate", dusty))).
step(wipe, 2, observe(-edge(ontop, "plate", "table"))).
expect(wipe, 2, passed(clean, ("peach", "plate"))).
step(wipe, 3, finish(out_of_plan)).
expect(wipe, 3, no(failed)).
"""


def one(text: str) -> Case:
    (case,) = read_cases(text, pack=PACK)
    return case


def case_of(*facts: str) -> Case:
    return one("\n".join(['test(t, "T").', *(fact + "." for fact in facts)]))


# -- what a test says --------------------------------------------------------------------------------


def test_a_case_has_its_scene_its_events_and_its_expectations() -> None:
    case = one(TEXT)
    scene = BeliefGraph.of(household.vocabulary(), case.scene)
    assert (case.name, case.title, case.span.line) == ("wipe", "A plate is wiped", 2)
    assert set(map(str, scene.facts())) == {
        *(f'object("{name}")' for name in ("peach", "plate", "rag", "table")),
        'tag("peach",safety_food)',
        'state("plate",dusty)',
        '-state("plate",wet)',
        'edge(ontop,"plate","table")',
    }
    assert [(event.verb, event.given) for event in case.events] == [
        ("intend", Action("place_on_top", ("peach", "plate"))),
        (
            "apply",
            Patch.read(
                {
                    "update_node_states": [{"node_id": "plate", "remove": ["dusty"]}],
                    "remove_edges": [{"pred": "ontop", "src": "plate", "dst": "table"}],
                }
            ),
        ),
        ("finish", "out_of_plan"),
    ]
    assert [(e.step, e.quantifier, e.conclusion, e.rule, e.binding) for e in case.expectations] == [
        (1, "some", "trigger", "clean", ("peach", "plate")),
        (2, "some", "passed", "clean", ("peach", "plate")),
        (3, "no", "failed", "", None),
    ]


@pytest.mark.parametrize(
    ("seen", "patch"),
    [
        ("state(X, open)", {"update_node_states": [{"node_id": "x", "add": ["open"]}]}),
        ("-state(X, open)", {"update_node_states": [{"node_id": "x", "remove": ["open"]}]}),
        ("unknown(state(X, open))", {"update_node_states": [{"node_id": "x", "forget": ["open"]}]}),
        ("edge(inside, X, Y)", {"add_edges": [{"pred": "inside", "src": "x", "dst": "y"}]}),
        ("-edge(ontop, X, Y)", {"remove_edges": [{"pred": "ontop", "src": "x", "dst": "y"}]}),
        ("-object(X)", {"remove_nodes": ["x"]}),
        ("(object(Z); tag(Z, heavy))", {"add_nodes": [{"node_id": "z", "tags": ["heavy"]}]}),
        ("(object(Z); -state(Z, wet))", {"add_nodes": [{"node_id": "z", "absent": ["wet"]}]}),
        ("(object(X); -object(X))", {"remove_nodes": ["x"], "add_nodes": [{"node_id": "x"}]}),
    ],
)
def test_an_observation_is_a_patch(seen: str, patch: Json) -> None:
    for name in "XYZ":
        seen = seen.replace(f"{name},", f'"{name.lower()}",').replace(f"{name})", f'"{name.lower()}")')
    case = case_of('given(t, edge(ontop, "x", "y"))', f"step(t, 1, observe({seen}))", "expect(t, 1, no(trigger))")
    assert case.events[0].given == Patch.read(patch)


def test_quantities_are_observed_and_forgotten() -> None:
    pack = Pack.of("rule(r, temporal). hazard(r, X) :- value(X, mass, N), N > 2.", vocabulary=toy())
    (case,) = read_cases(
        """
        test(t, "T").
        given(t, value("cup", mass, 3)).
        step(t, 1, observe(value("cup", mass, -4))).
        step(t, 2, observe(unknown(value("cup", mass)))).
        expect(t, 0, trigger(r, "cup")).
        """,
        pack=pack,
    )
    assert case.scene.add_nodes[0].values == {"mass": 3}
    changes = [event.given.update_node_states[0].values for event in case.events if isinstance(event.given, Patch)]
    assert changes == [{"mass": -4}, {"mass": None}]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('trigger(shut, "a")', ("some", "trigger", "shut", ("a",), "", 0)),
        ("some(trigger(shut))", ("some", "trigger", "shut", None, "", 0)),
        ("no(risk)", ("no", "risk", "", None, "", 0)),
        ("exactly(2, pending(shut))", ("exactly", "pending", "shut", None, "", 2)),
        ('only(passed(shut, "b"))', ("only", "passed", "shut", ("b",), "", 0)),
        ('failed(shut, "a", unresolved)', ("some", "failed", "shut", ("a",), "unresolved", 0)),
        ('no(failed(clean, ("a", "b")))', ("no", "failed", "clean", ("a", "b"), "", 0)),
    ],
)
def test_what_may_be_expected(written: str, meant: tuple[object, ...]) -> None:
    facts = ('given(t, object(("a"; "b")))', "step(t, 1, execute(done))", f"expect(t, 1, {written})")
    (expected,) = case_of(*facts).expectations
    assert meant == (
        expected.quantifier,
        expected.conclusion,
        expected.rule,
        expected.binding,
        expected.reason,
        expected.count,
    )
    assert expected.text == written


def test_a_rule_expects_something_of_many() -> None:
    case = case_of(
        'given(t, (tag(("fig"; "pear"), safety_food); object("rag")))',
        'step(t, 1..2, execute(wait(X))) :- given(t, tag(X, safety_food)), X != "fig"',
        "expect(t, N, no(pending(shut, X))) :- step(t, N, _), given(t, tag(X, safety_food))",
    )
    assert len(case.events) == 2
    assert {(e.step, e.binding) for e in case.expectations} == {(n, (x,)) for n in (1, 2) for x in ("fig", "pear")}


def test_constants_of_the_pack_are_given_like_beliefs() -> None:
    case = case_of("given(t, const(strict, 1))", "expect(t, 0, no(trigger))")
    assert (case.consts, case.scene) == ((("strict", "1"),), Patch())


def test_a_case_concerns_the_rules_that_it_expects_something_of() -> None:
    assert case_of('given(t, object("a"))', 'expect(t, 0, no(trigger(shut, "a")))').concerns({"shut"})
    assert not case_of('given(t, object("a"))', 'expect(t, 0, no(trigger(shut, "a")))').concerns({"clean"})
    assert case_of("expect(t, 0, no(trigger))").concerns({"clean"})


def test_files_are_read_apart_and_their_tests_kept_in_order() -> None:
    texts = {f"{name}.test.lp": f'test({name}, "T").\nexpect({name}, 0, no(trigger)).' for name in ("b", "a")}
    assert [case.span.file for case in read_cases(texts, pack=PACK)] == ["b.test.lp", "a.test.lp"]
    with pytest.raises(DataError, match=r"already a test at b\.test\.lp:1:1") as caught:
        read_cases({**texts, "c.test.lp": texts["b.test.lp"]}, pack=PACK)
    assert caught.value.code == "said-twice"
    with pytest.raises(DataError) as missing:
        load_cases("nowhere.test.lp", pack=PACK)
    assert missing.value.code == "file-missing"


@given(scenes(), st.dictionaries(st.sampled_from("abcde"), ids, max_size=5))
def test_the_facts_of_any_graph_are_read_as_that_graph(scene: Json, names: dict[str, str]) -> None:
    """Also with names that look like a program."""
    renamed = {name: names.get(name, name) for name in "abcde"}
    assume(len(set(renamed.values())) == len(renamed))
    facts = [
        Atom(a.name, tuple(renamed.get(t, t) if isinstance(t, str) else t for t in a.args), a.positive)
        for a in BeliefGraph.of(toy(), scene).facts()
    ]
    text = "\n".join(['test(t, "T").', *(f"given(t, {fact})." for fact in facts), "expect(t, 0, no(trigger))."])
    (case,) = read_cases(text, pack=TOY_PACK)
    assert set(BeliefGraph.of(toy(), case.scene).facts()) == set(facts)


# -- what is refused ---------------------------------------------------------------------------------
# A change of TEXT with ^ before the place that the error tells, the code, and part of the help.

END = "expect(wipe, 3, no(failed))."
INTEND = 'place_on_top("peach", "plate"))'
TRIGGER = 'trigger(clean, ("peach", "plate"))'
OBSERVED = '-state("plate", dusty)'
REFUSED = [
    ('; state("plate", dusty)', '; state("plate", ^dusti)', "undeclared-name", "did you mean 'dusty'?"),
    ("safety_food", "^safety_fod", "undeclared-name", "did you mean 'safety_food'?"),
    ("given(wipe, edge(ontop", "given(wipe, edge(^onto", "undeclared-name", "'ontop'"),
    ('object("rag")', "object(^rag)", "constant-object", 'write "rag"'),
    ('object("rag")', '^moved("rag")', "test-form", "known:"),
    ('-state("plate", wet)', '^-edge(ontop, "plate", "rag")', "test-form", "did you mean 'edge'?"),
    ('object("rag")', '^object("rag", 2)', "predicate-arity", "write object(object)"),
    ("given(wipe, (tag", '^given(wipe, state("plate", wet)).\ngiven(wipe, (tag', "contradictory-patch", ""),
    ("given(wipe, e", "^gven(wipe, e", "undeclared-predicate", "did you mean 'given'?"),
    ("given(wipe, e", "given(^wope, e", "unknown-test", "did you mean 'wipe'?"),
    ("given(wipe, e", "^given(wipe, 1, e", "predicate-arity", "write given(Test, ...)"),
    ("intend(", "^intent(", "test-form", "did you mean 'intend'?"),
    (INTEND, '^place_on_topp("peach", "plate"))', "unknown-skill", "'place_on_top'"),
    (INTEND, '^place_on_top("peach"))', "wrong-arity", "write place_on_top(X, Y)"),
    (INTEND, '^place_on_top("peach", plate))', "test-form", "ids are strings"),
    (INTEND, '^place_on_top("peach", "plat"))', "unknown-object", "'plate'"),
    (TRIGGER, 'trigger(^clen, ("peach", "plate"))', "unknown-rule", "did you mean 'clean'?"),
    (TRIGGER, '^triger(clean, ("peach", "plate"))', "test-form", "did you mean 'trigger'?"),
    (TRIGGER, 'trigger(clean, ^"peach")', "binding-arity", "write (X,Y)"),
    (TRIGGER, 'trigger(clean, (^"pea", "plate"))', "unknown-object", "'peach'"),
    (TRIGGER, "trigger(clean, ^peach)", "bad-binding", ""),
    (TRIGGER, "^trigger(clean)", "test-form", "write trigger(Rule, Objects)"),
    ("expect(wipe, 1", "expect(wipe, ^4", "test-steps", "0 (what is given) to 3"),
    ("expect(wipe, 1", "expect(wipe, ^one", "test-steps", ""),
    ("expect(wipe, 1, trigger", "expect(wipe, ^0, risk", "test-steps", "from 1"),
    ("step(wipe, 2, observe(-s", "step(wipe, 1, ^observe(-s", "test-steps", "a step of its own"),
    ("step(wipe, 3, f", "step(wipe, ^5, f", "test-steps", "number the steps"),
    ("step(wipe, 1", "step(wipe, ^0", "test-steps", "0 is what is given"),
    ("step(wipe, 2, observe(-edge", "step(wipe, 2, ^execute(-edge", "test-steps", "a step of its own"),
    (OBSERVED, '-state(^"plat", dusty)', "unknown-object", "did you mean 'plate'?"),
    (OBSERVED, '^tag("plate", heavy)', "test-form", "from the start"),
    (f"observe({OBSERVED}", '^observe(edge(ontop, "table", "table")', "self-edge", ""),
    (END, "expect(wipe, 3, no(^faild)).", "test-form", "did you mean 'failed'?"),
    (END, "expect(wipe, 3, ^exactly(failed)).", "test-form", "write exactly(K, W)"),
    (END, "expect(wipe, 3, only(^failed(shut))).", "test-form", "write failed(Rule, Objects)"),
    (END, 'expect(wipe, 3, failed(shut, "rag", ^excuted)).', "test-form", "did you mean 'executed'?"),
    (END, "expect(wipe, 3, no(failed)) :- given(wipe, X), ^tag(X, heavy).", "undeclared-predicate", ""),
    (END, "expect(wipe, 3, no(^X)).", "unsafe-variable", "say what X is"),
    (END, "^:- given(wipe, object(_)).", "refused-statement", "expect"),
    (END, "^{ expect(wipe, 3, no(failed)) }.", "refused-statement", "facts and rules"),
    (END, "given(wipe, const(^strickt, 1)).", "unknown-const", "'strict'"),
    (END, "given(wipe, const(strict, 1)).\ngiven(wipe, const(strict, ^2)).", "said-twice", "keep one"),
    (END, '^test(other, "Nothing is expected here").', "no-expectations", "expect(other"),
    (END, '^test(wipe, "Said again").', "said-twice", "another name"),
    (END, '^test("wipe", "No name").', "test-form", "test(name,"),
    (END, "expect(wipe, 3 ^no(failed)).", "syntax", ""),
    (END, "^step(wipe, N+1, E) :- step(wipe, N, E).", "endless-recursion", ""),
    (END, "expect(wipe, 3, no(risk)) :- ^not expect(wipe, 3, no(risk)).", "not-stratified", ""),
    (END, 'given(wipe, state(^"", wet)).', "bad-id", ""),
    (END, 'given(wipe, value("rag", ^weight, 2)).', "undeclared-name", ""),
]


@pytest.mark.parametrize(("old", "new", "code", "help"), REFUSED, ids=[f"{r[2]}-{r[1][:20]}" for r in REFUSED])
def test_what_is_wrong_is_refused_at_its_place(old: str, new: str, code: str, help: str) -> None:
    assert TEXT.count(old) == 1
    marked = TEXT.replace(old, new)
    before = marked[: marked.index("^")]
    with pytest.raises(ObviateError) as caught:
        read_cases(marked.replace("^", ""), pack=PACK)
    error = caught.value
    assert isinstance(error.where, Span)
    place = (before.count("\n") + 1, len(before) - before.rfind("\n"))
    assert (error.code, error.where.line, error.where.column) == (code, *place)
    assert help in error.help


@pytest.mark.parametrize("last", ["execute(done)", "finish(tired)"])
def test_nothing_happens_after_the_end(last: str) -> None:
    with pytest.raises(DataError, match="ended at step 1"):
        case_of(f"step(t, 1, {last})", "step(t, 2, probe(done))", "expect(t, 1, no(failed))")


def test_an_object_is_known_from_when_it_is_seen_until_it_is_gone() -> None:
    facts = ['step(t, 1, probe(wait("a")))', 'step(t, 2, observe(object("a")))', 'step(t, 3, observe(-object("a")))']
    with pytest.raises(DataError, match="there is no object 'a'"):
        case_of(*facts, "expect(t, 1, no(risk))")
    facts[0] = "step(t, 1, probe(done))"
    case = case_of(*facts, 'expect(t, 3, no(trigger(shut, "a")))')
    with pytest.raises(DataError, match="there is no object 'a'"):
        case_of(*facts, 'step(t, 4, intend(wait("a")))', "expect(t, 1, no(risk))")
    assert len(case.events) == 3
