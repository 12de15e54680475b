"""Asking on demand: a situational hazard is concluded only where it is asked for, and the answer is the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from packs_strategies import (
    BACKENDS,
    edge,
    gone,
    known,
    names,
    node,
    pack,
    scene,
    seen,
    update,
)

from obviate.engine import Engine
from obviate.engine.backend import KERNEL, Query, backend
from obviate.engine.demand import split
from obviate.engine.multishot import MultiShot
from obviate.engine.standing import Ledger, Standing
from obviate.kb import Action, BeliefGraph, Pack, asp
from obviate.kb.errors import ObviateError, PackError
from obviate.kb.terms import Atom, binding_of

N = 60
FOODS = [node(f"food_{i}", "safety_food", "safety_fragile") for i in range(N)]
PLATES = [node(f"plate_{i}", "function_surface", states=["dusty"]) for i in range(N)]
RAG = node("rag")

CLEAN = """
rule(clean, situational).
hazard(clean, (X,Y)) :- tag(X, safety_food), state(Y, dusty).
"""
SAFETY = """
rule(shut, temporal).
hazard(shut, X) :- state(X, open).
"""


def hazards(pack: Pack, graph: BeliefGraph, query: Query, extra: Iterable[str] = ()) -> set[tuple[str, ...]]:
    """The bindings of the situational hazards that are ground to answer a query."""
    parts = split(pack)
    beliefs = list(graph.facts())
    resident = asp.evaluate([parts.resident.text], beliefs, parts.shared)
    concerned = {rule for rule, _ in query.standing.open} | set(extra)
    text = parts.demand(query.intent.skill if query.intent else None, concerned)
    facts = [*beliefs, *resident, *query.facts(), *pack.frame]
    found = asp.evaluate([text, KERNEL], facts, {("hazard", 2, True)})
    return {binding_of(atom.args[1]) for atom in found if pack.rules[str(atom.args[0])].mode == "situational"}


def graph(*nodes: dict[str, Any], edges: Sequence[dict[str, Any]] = ()) -> BeliefGraph:
    return BeliefGraph.of(pack(SAFETY).vocabulary, scene(*nodes, edges=edges))


CROWD = graph(*FOODS, *PLATES, RAG)
LAID = graph(*FOODS, *PLATES, RAG, edges=[edge("ontop", f"food_{i}", f"plate_{i % 3}") for i in range(N)])


def asking(text: str) -> Query:
    return Query(intent=Action.parse(text))


# -- never the product -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "threat",
    [
        "threatens(clean, (X,Y)) :- intent(place_on_top(X,Y)).",
        "threatens(clean, (X,Y)) :- intent((place_inside(X,Y); place_on_top(X,Y))).",
        "threatens(clean, (X,Y)) :- intent(place_on_top(X,Y)), hazard(clean, (X,Y)).",
        "threatens(clean, (X,Y)) :- brought(X,Y). brought(X,Y) :- intent(place_on_top(X,Y)).",
        "threatens(clean, (X,Y)) :- brought(X,Y), hazard(clean, (X,Y)), X != Y. "
        "brought(X,Y) :- intent(place_on_top(X,Y)), object(X).",
    ],
)
def test_an_intent_that_names_both_objects_grounds_one_hazard(threat: str) -> None:
    assert hazards(pack(CLEAN + threat), CROWD, asking("place_on_top(food_7, plate_9)")) == {("food_7", "plate_9")}


@pytest.mark.parametrize(
    ("threat", "intent", "place"),
    [
        ("threatens(clean, (X,Y)) :- intent(wipe(Y,_)), hazard(clean, (X,Y)).", "wipe(plate_9, rag)", (1, "plate_9")),
        ("threatens(clean, (X,Y)) :- hazard(clean, (X,Y)), intent(wipe(X,_)).", "wipe(food_7, rag)", (0, "food_7")),
        (
            "threatens(clean, (X,Y)) :- touched(Y), hazard(clean, (X,Y)). touched(Y) :- intent(wipe(Y,_)).",
            "wipe(plate_9, rag)",
            (1, "plate_9"),
        ),
        ("threatens(clean, (X,Y)) :- intent(wipe(Y,_)), tag(X, safety_food).", "wipe(plate_9, rag)", (1, "plate_9")),
    ],
)
def test_an_intent_that_names_one_object_grounds_the_hazards_of_that_object(
    threat: str, intent: str, place: tuple[int, str]
) -> None:
    found = hazards(pack(CLEAN + threat), CROWD, asking(intent))
    assert len(found) == N
    assert {binding[place[0]] for binding in found} == {place[1]}


def test_an_intent_that_names_one_object_and_looks_for_the_other() -> None:
    """What the intent pattern finds in the state narrows the question further."""
    text = CLEAN + "threatens(clean, (X,Y)) :- intent(wipe(Y,_)), edge(ontop,X,Y), hazard(clean, (X,Y))."
    found = hazards(pack(text), LAID, asking("wipe(plate_1, rag)"))
    assert found == {(f"food_{i}", "plate_1") for i in range(1, N, 3)}


def test_an_intent_that_nothing_threatens_grounds_nothing() -> None:
    text = CLEAN + "threatens(clean, (X,Y)) :- intent(place_on_top(X,Y))."
    assert hazards(pack(text), CROWD, asking("wipe(plate_9, rag)")) == set()
    assert hazards(pack(text), CROWD, Query()) == set()
    assert hazards(pack(text), CROWD, asking("place_on_top(plate_9, food_7)")) == set()


def test_two_intent_patterns_each_ask_in_their_own_way() -> None:
    text = (
        CLEAN
        + "threatens(clean, (X,Y)) :- intent(place_on_top(X,Y))."
        + "threatens(clean, (X,Y)) :- intent(wipe(Y,_)), hazard(clean, (X,Y))."
    )
    assert len(hazards(pack(text), CROWD, asking("place_on_top(food_7, plate_9)"))) == 1
    assert len(hazards(pack(text), CROWD, asking("wipe(plate_9, rag)"))) == N


def test_open_records_ground_their_own_hazards_alone() -> None:
    """A situational hazard is a conclusion where it is asked for: also the bindings of open records."""
    text = CLEAN + "threatens(clean, (X,Y)) :- intent(place_on_top(X,Y))."
    own = {(f"food_{i}", f"plate_{i}") for i in range(3)}
    open_ones = Standing(open=Ledger().opened((("clean", binding) for binding in own), born=0))
    assert hazards(pack(text), CROWD, Query(standing=open_ones)) == own
    query = Query(intent=Action.parse("place_on_top(food_7, plate_9)"), standing=open_ones)
    assert hazards(pack(text), CROWD, query) == own | {("food_7", "plate_9")}


def test_a_rule_about_the_whole_scene_is_asked_as_a_whole() -> None:
    text = """
    rule(any, situational).
    hazard(any, ()) :- state(_, dusty).
    threatens(any, ()) :- intent(wipe(_,_)).
    """
    assert hazards(pack(text), CROWD, asking("wipe(plate_9, rag)")) == {()}
    assert hazards(pack(text), CROWD, asking("open(rag)")) == set()


def test_the_resident_program_has_no_situational_hazard() -> None:
    """Temporal rules and helpers live in the resident program; situational rules are evaluated per demand."""
    text = CLEAN + SAFETY + "threatens(clean, (X,Y)) :- dirt(Y), intent(place_on_top(X,Y)). dirt(Y) :- state(Y,dusty)."
    parts = split(pack(text))
    found = asp.evaluate(
        [parts.resident.text], LAID.facts(), {("hazard", 2, True), ("threatens", 2, True), ("dirt", 1, True)}
    )
    assert {atom.name for atom in found} == {"dirt"}
    assert "hazard(shut," in parts.resident.text


# -- what is skipped -------------------------------------------------------------------------------


def test_blocks_of_other_skills_are_skipped() -> None:
    text = (
        CLEAN
        + "threatens(clean, (X,Y)) :- intent((place_on_top(X,Y); place_inside(X,Y)))."
        + "rule(off, situational). hazard(off, X) :- state(X, toggled_on). threatens(off, X) :- touched(X)."
        + "touched(X) :- intent(wipe(X,_))."
    )
    parts = split(pack(text))
    assert {name: {*(block.skills or ())} for name, block in parts.blocks.items()} == {
        "clean": {"place_on_top", "place_inside"},
        "off": {"wipe"},
    }
    for skill, open_rules, asked in [
        ("place_on_top", [], {"clean"}),
        ("place_inside", [], {"clean"}),
        ("wipe", [], {"off"}),
        ("open", [], set()),
        (None, [], set()),
        ("open", ["clean"], {"clean"}),
        ("wipe", ["clean"], {"clean", "off"}),
    ]:
        program = parts.demand(skill, open_rules)
        assert {name for name in ("clean", "off") if f"hazard({name}," in program} == asked


def test_a_pattern_that_any_intent_can_match_is_never_skipped() -> None:
    text = CLEAN + "threatens(clean, (X,Y)) :- intent(A), A = place_on_top(X,Y), object(X), object(Y)."
    parts = split(pack(text))
    assert parts.blocks["clean"].skills is None
    assert "hazard(clean," in parts.demand("open", [])


# -- what cannot be guarded ------------------------------------------------------------------------

READ_BY_A_HELPER = (
    CLEAN
    + """
threatens(clean, (X,Y)) :- intent(place_on_top(X,Y)).
spoiled(X) :- hazard(clean, (X,_)).
rule(waste, temporal).
hazard(waste, X) :- spoiled(X), state(X, hot).
"""
)
READ_BY_A_RULE = (
    CLEAN
    + """
threatens(clean, (X,Y)) :- intent(place_on_top(X,Y)).
rule(waste, temporal).
hazard(waste, X) :- tag(X, safety_food), state(X, hot), not hazard(clean, (X,X)).
"""
)
READ_BY_ANOTHER_INTENT = (
    CLEAN
    + """
threatens(clean, (X,Y)) :- intent(place_on_top(X,Y)).
rule(waste, situational).
hazard(waste, X) :- state(X, hot).
threatens(waste, X) :- intent(open(_)), hazard(clean, (X,_)).
"""
)
NEGATED = CLEAN + "threatens(clean, (X,Y)) :- intent(place_on_top(X,Y)), not hazard(clean, (Y,X))."


@pytest.mark.parametrize("text", [READ_BY_A_HELPER, READ_BY_A_RULE, READ_BY_ANOTHER_INTENT, NEGATED])
def test_a_hazard_that_something_else_reads_is_unguarded(text: str) -> None:
    parts = split(pack(text))
    assert parts.unguarded >= {"clean"}
    assert "clean" not in parts.blocks
    assert len(hazards(pack(text), CROWD, asking("open(rag)"))) >= N * N


@pytest.mark.parametrize("text", [READ_BY_A_HELPER, READ_BY_A_RULE, READ_BY_ANOTHER_INTENT, NEGATED])
def test_an_unguarded_hazard_is_still_right(text: str) -> None:
    nodes = known(node("a", "safety_food", states=["hot"]), node("b", "safety_food"), node("c", states=["dusty"]))
    assert alike(
        pack(text),
        {"nodes": nodes, "edges": []},
        ("triggers",),
        ("probe", "place_on_top(a, c)"),
        ("probe", "open(b)"),
        ("intend", "place_on_top(b, c)"),
        ("apply", gone("c", "dusty")),
        ("apply", seen("a", "dusty")),
        ("probe", "open(b)"),
        ("execute", "place_on_top(b, a)"),
        ("triggers",),
    )


def test_only_what_is_read_elsewhere_is_unguarded() -> None:
    text = (
        READ_BY_A_HELPER
        + "rule(off, situational). hazard(off, X) :- state(X,open). threatens(off,X) :- intent(wipe(X,_))."
    )
    assert split(pack(text)).unguarded == {"clean"}


# -- the split never changes an answer -------------------------------------------------------------


def alike(pack: Pack, objects: dict[str, Any], *calls: tuple[Any, ...]) -> list[object]:
    """What the calls give on every backend, which must be the same."""
    answers = []
    for name in BACKENDS:
        with Engine(pack, objects=objects, backend=name) as engine:
            answers.append([answer(engine, *call) for call in calls])
    assert answers[0] == answers[1]
    return answers[1]


def answer(engine: Engine, verb: str, *given: Any) -> object:
    try:
        return getattr(engine, verb)(*given)
    except ObviateError as error:
        return error.code


TWO = "rule(a, situational). hazard(a,X) :- state(X,dusty). rule(b, situational). hazard(b,X) :- state(X,dusty)."

UNUSUAL = {
    "a helper that reads every threat": (
        TWO + "threatens(a,X) :- intent(open(X)). risky(X) :- threatens(_,X). threatens(b,X) :- risky(X)."
    ),
    "a helper that reads every threat, and an intent": (
        TWO
        + "threatens(a,X) :- intent(open(X)). risky(X) :- threatens(_,X). threatens(b,X) :- risky(X), intent(open(_))."
    ),
    "a helper that is only false": (
        TWO + "threatens(a,X) :- intent(open(X)), -good(X). threatens(b,X) :- intent(wipe(X,_)), not -good(X)."
        "-good(X) :- state(X,wet), not state(X,hot)."
    ),
    "what is executed beside what is intended": (
        TWO + "threatens(a,X) :- intent(open(X)). threatens(a,X) :- intent(wipe(_,_)), executed(wipe(X,_))."
        "threatens(b,X) :- intent(A), executed(A), A = wipe(X,_), object(X)."
    ),
    "a helper that reads every target": (
        TWO
        + "threatens(a,X) :- intent(open(X)). resolved(a,X) :- state(X,wet)."
        + "dealt_with(X) :- resolved(_,X). threatens(b,X) :- intent(open(X)). resolved(b,X) :- dealt_with(X)."
    ),
    "a target that reads the target of another rule": (
        TWO
        + "threatens(a,X) :- intent(open(X)). resolved(a,X) :- state(X,wet)."
        + "threatens(b,X) :- intent(wipe(X,_)). resolved(b,X) :- resolved(a,X)."
    ),
    "a temporal target that reads a situational one": (
        "rule(a, situational). hazard(a,X) :- state(X,dusty). rule(b, temporal). hazard(b,X) :- state(X,dusty)."
        "threatens(a,X) :- intent(open(X)). resolved(a,X) :- state(X,wet). resolved(b,X) :- resolved(a,X)."
    ),
    "a threat that reads what is executed": (
        TWO
        + "threatens(a,X) :- intent(open(X)). threatens(a,X) :- executed(wipe(X,_))."
        + "threatens(b,X) :- executed(wipe(X,_))."
    ),
    "a threat without an intent": TWO + "threatens(a,X) :- intent(open(X)). threatens(a,X) :- state(X,hot). "
    "threatens(b,X) :- state(X,hot).",
    "a threat where an intent is missing": TWO + "threatens(a,X) :- intent(open(X)). "
    "threatens(b,X) :- object(X), not intent(open(X)).",
    "a threat that reads a helper without an intent": (
        TWO + "threatens(a,X) :- near(X). near(X) :- intent(open(X)). near(X) :- state(X,hot). "
        "threatens(b,X) :- near(X), intent(wipe(X,_))."
    ),
    "two rules with one hazard": (
        "rule((a;c), temporal). rule(b, situational). hazard((a;b),X) :- state(X,dusty)."
        "hazard(c,X) :- hazard(a,X), not state(X,wet). threatens(b,X) :- intent(wipe(X,_))."
    ),
    "two rules with one threat": TWO + "threatens((a;b),X) :- intent(wipe(X,_)).",
    "a pool of bindings": TWO + "threatens(a,(X;Y)) :- intent(wipe(X,Y)). threatens(b,X) :- intent(open(X)).",
    "any rule that is pending": (
        TWO + "threatens(a,X) :- intent(open(X)). threatens(b,X) :- intent(wipe(X,_)), pending(_,X)."
    ),
    "a helper that is true and false": (
        TWO + "threatens(a,X) :- intent(open(X)), good(X). threatens(b,X) :- intent(open(X))."
        "good(X) :- state(X,dusty). -good(X) :- state(X,wet)."
    ),
    "a helper that is false": (
        TWO + "threatens(a,X) :- intent(open(X)), -good(X). threatens(b,X) :- intent(wipe(X,_)), not -good(X)."
        "good(X) :- state(X,hot). -good(X) :- state(X,wet), not state(X,hot)."
    ),
    "a hazard of every rule": (
        TWO + "threatens(a,X) :- intent(open(X)). threatens(b,X) :- intent(open(_)), bad(X). bad(X) :- hazard(_,X)."
    ),
    "arithmetic in the intent pattern": (
        TWO + "threatens(a,X) :- N = 2, value(X,weight,M), M > N, hazard(a,X), intent(wipe(X,_))."
        "threatens(b,X) :- hazard(b,X), intent(wipe(Y,_)), value(X,weight,N), value(Y,weight,N+1)."
    ),
    "an aggregate in the intent pattern": (
        TWO + "threatens(a,X) :- N = #count{Z : state(Z,dusty)}, N > 1, hazard(a,X), intent(wipe(_,X))."
        "threatens(b,X) :- intent(wipe(X,_)), #count{Z : hazard(b,Z)} > 1."
    ),
    "an intent that is compared": (
        TWO + "threatens(a,X) :- intent(A), A = (open(X); wipe(X,_)), object(X). "
        "threatens(b,X) :- object(X), hazard(b,X), intent(A), A != open(X)."
    ),
}


@pytest.mark.parametrize("text", UNUSUAL.values(), ids=UNUSUAL)
def test_an_unusual_pack_is_refused_or_answered_alike(text: str) -> None:
    """Nothing is silently ignored: what a backend cannot follow may be refused, but not answered differently."""
    try:
        unusual = pack(text)
    except PackError:
        return
    nodes = known(node("x", states=["dusty"], weight=3), node("y", states=["dusty", "hot"], weight=2), "z")
    alike(
        unusual,
        {"nodes": nodes, "edges": []},
        ("triggers",),
        ("obligations",),
        ("probe", "open(x)"),
        ("probe", "wipe(x, y)"),
        ("probe", "wipe(y, z)"),
        ("execute", "wipe(y, z)"),
        ("intend", "wipe(x, y)"),
        ("apply", seen("x", "wet")),
        ("apply", gone("x", "dusty")),
        ("execute", "wipe(x, y)"),
        ("apply", seen("z", "dusty", "hot")),
        ("intend", "open(z)"),
        ("apply", gone("z", "hot")),
        ("apply", seen("z", "wet")),
        ("execute", "open(z)"),
        ("triggers",),
        ("execute", "done"),
        ("records",),
    )


def test_arithmetic_that_is_guarded_by_a_state_is_answered_alike() -> None:
    """What was true once and is not now has no say in whether an observation is refused."""
    text = "rule(r, temporal). hazard(r, X) :- state(X, hot), value(X, weight, N), 6/N > 1."
    alike(
        pack(text),
        scene(node("a", states=["hot"], weight=3)),
        ("apply", gone("a", "hot")),
        ("apply", update("a", values={"weight": 0})),
        ("apply", update("a", values={"weight": 2})),
        ("apply", seen("a", "hot")),
    )


def test_arithmetic_that_is_refused_is_refused_once() -> None:
    """A refused update changes nothing, not even what a backend can answer later."""
    text = "rule(r, temporal). hazard(r, X) :- value(X, weight, N), 6/N > 2."
    given = alike(
        pack(text),
        scene(node("a", weight=6)),
        ("apply", update("a", values={"weight": 0})),
        ("apply", update("a", values={"weight": 2})),
    )
    assert given[0] == "grounding-failed"
    assert given[1] != "grounding-failed"


# -- the resident program --------------------------------------------------------------------------


def test_a_known_fact_that_comes_back_causes_no_rebuild() -> None:
    """An atom never seen before causes a rebuild; any other update is an assignment."""
    shut = pack(SAFETY)
    part = backend("multishot", shut)
    assert isinstance(part, MultiShot)
    now = BeliefGraph.of(shut.vocabulary, scene("box", "tin"))
    for name in ("box", "tin"):
        now = now.merge(seen(name, "open"))
        part.conclude(now, Query())
        now = now.merge(gone(name, "open"))
        part.conclude(now, Query())
    built = part.rebuilds
    for _ in range(5):
        now = now.merge(seen("box", "open"))
        assert part.conclude(now, Query()).appeared == {("shut", ("box",))}
        now = now.merge(gone("box", "open"))
        assert part.conclude(now, Query()).appeared == frozenset()
    assert part.rebuilds == built
    part.close()


@pytest.mark.parametrize("name", BACKENDS)
def test_a_backend_keeps_nothing_between_graphs(name: str) -> None:
    """Whatever a backend keeps between calls never changes an answer."""
    shut = pack(SAFETY)
    part = backend(name, shut)
    first = BeliefGraph.of(shut.vocabulary, scene(node("box", states=["open"])))
    other = BeliefGraph.of(shut.vocabulary, scene(node("tin", states=["open"])))
    for _ in range(3):
        assert part.conclude(first, Query()).appeared == {("shut", ("box",))}
        assert part.conclude(other, Query()).appeared == {("shut", ("tin",))}
        assert part.conclude(first.merge({"remove_nodes": ["box"]}), Query()).appeared == frozenset()
    part.close()


@pytest.mark.parametrize("name", BACKENDS)
def test_objects_that_come_and_go(name: str) -> None:
    """Names that were never seen before cause rebuilds, and old ones are forgotten in time: no answer changes."""
    with Engine(pack(SAFETY + CLEAN + "threatens(clean, (X,Y)) :- intent(place_on_top(X,Y))."), backend=name) as engine:
        for i in range(150):
            new = {"add_nodes": [node(f"n{i}", "safety_food", states=["open", "dusty"])]}
            old = {"remove_nodes": [f"n{i - 1}"]} if i else {}
            change = engine.apply({**new, **old})
            assert names(change.appeared) == [f"shut(n{i})"]
            assert names(change.passed) == ([f"shut(n{i - 1})"] if i else [])
            assert names(engine.probe(f"place_on_top(n{i}, n{i})")) == [f"clean(n{i}, n{i})"]


def test_a_fact_of_the_vocabulary_is_an_atom_of_the_graph() -> None:
    """The graph that these tests ask about is what it seems: every food and every dirty plate is there."""
    foods = [atom for atom in CROWD.facts() if atom.name == "tag" and str(atom.args[1]) == "safety_food"]
    assert len(foods) == N
    assert sum(atom == Atom("state", atom.args) and str(atom.args[1]) == "dusty" for atom in CROWD.facts()) == N
