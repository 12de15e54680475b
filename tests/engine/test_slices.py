"""Where a slice could conclude something else than the whole, one kind of rule or change after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
from packs_strategies import BACKENDS, added, edge, forgotten, gone, node, pack, placed, scene, seen, update

from obviate.engine import Engine
from obviate.engine.locality import locality
from obviate.kb.errors import PackError

DUSTY, WET, OPEN = (node("a", states=[state]) for state in ("dusty", "wet", "open"))
TEMPORAL, SITUATIONAL = "rule(r,temporal).\n", "rule(r,situational).\n"
NOTHING: dict[str, Any] = {}


class Episode(NamedTuple):
    """A pack, a scene, and observations (as JSON) and actions: ``probe open(a)``, or an action to be announced."""

    text: str
    objects: Sequence[Any]
    steps: Sequence[Any]
    edges: Sequence[Any] = ()


def removed(*names: str) -> dict[str, Any]:
    return {"remove_nodes": [*names]}


def apart(src: str, dst: str, pred: str = "ontop") -> dict[str, Any]:
    return {"remove_edges": [edge(pred, src, dst)]}


def said(engine: Engine, step: Any) -> object:
    """What a step gives, and all that is known then."""
    try:
        if isinstance(step, str):
            verb, _, action = step.partition(" ")
            given: object = getattr(engine, verb)(action)
        else:
            given = engine.apply(step)
    except PackError as error:
        given = error.code, error.message
    return given, engine.records(), engine.triggers()


def follow(text: str, episode: Episode, backend: str) -> list[object]:
    objects = scene(*episode.objects, edges=episode.edges)
    with Engine(pack(text), objects=objects, backend=backend) as engine:
        return [(engine.records(), engine.triggers()), *(said(engine, step) for step in episode.steps)]


LOCAL = {
    "hazards that an intent asks of all, and others that the slice only seems to have": Episode(
        f"{SITUATIONAL}hazard(r,(X,Z)) :- state(X,dusty), edge(ontop,Z,Y), edge(ontop,Y,X), "
        "#count{W : edge(nextto,W,Z)} < 2.\nhazard(r,(X,Z)) :- state(X,dusty), edge(ontop,Z,X), "
        "#count{W : edge(nextto,W,Z)} < 2.\nthreatens(r,(X,Z)) :- intent(open(_)), hazard(r,(X,Z)).\n"
        "threatens(r,(X,Z)) :- intent(wipe(X,Z)).",
        [DUSTY, "b", "c", "d", "e"],
        ["probe open(a)", "probe wipe(a, b)", "intend open(b)", apart("b", "d", "nextto"), "probe wipe(a, b)"],
        [edge("ontop", "b", "a"), edge("ontop", "c", "b"), edge("nextto", "b", "d"), edge("nextto", "b", "e")],
    ),
    "a state that a constant names": Episode(
        f"#const bad = worse. #const worse = dusty.\n{TEMPORAL}hazard(r,X) :- state(X,bad).",
        ["a"],
        [seen("a", "dusty"), gone("a", "dusty")],
    ),
    "a relation that a constant names": Episode(
        f"#const rel = nextto.\n{TEMPORAL}hazard(r,X) :- edge(rel,X,Y), state(Y,wet).",
        ["a", "b"],
        [placed("b", "a", "nextto"), seen("a", "wet"), apart("a", "b", "nextto")],
    ),
    "an action that a constant names": Episode(
        f"#const act = done.\n{SITUATIONAL}hazard(r,X) :- state(X,dusty).\nthreatens(r,X) :- intent(act), hazard(r,X).",
        [DUSTY],
        ["probe open(a)", "probe done", "intend done", "execute done"],
    ),
    "an object that a constant names": Episode(
        f'#const f = "fridge".\n{TEMPORAL}hazard(r,X) :- edge(inside,X,f), state(X,wet), X < f.',
        [WET, node("z", states=["wet"]), "fridge"],
        [placed("a", "fridge", "inside"), placed("z", "fridge", "inside"), gone("a", "wet")],
    ),
    "a limit that a constant names": Episode(
        f"#const lim = 2.\n{TEMPORAL}hazard(r,X) :- value(X,weight,N), 2*N-lim > 1.",
        [node("a", weight=1)],
        [update("a", values={"weight": 2}), update("a", values={"weight": None})],
    ),
    "a target that reads its own rule's hazards": Episode(
        f"{TEMPORAL}hazard(r,X) :- tag(X,safety_food), not state(X,dusty).\n"
        "resolved(r,X) :- pending(r,X), tag(X,safety_food), edge(ontop,X,Y), hazard(r,Y).",
        [node("a", "safety_food"), node("b", "safety_food")],
        [
            {"update_node_states": [{"node_id": "a", "add": ["dusty"]}, {"node_id": "b", "add": ["dusty"]}]},
            "probe done",
        ],
        [edge("ontop", "a", "b")],
    ),
    "the object of an intent is gone, and its record is not": Episode(
        f"{SITUATIONAL}hazard(r,X) :- state(X,dusty).\nthreatens(r,X) :- intent(open(X)).\n"
        "resolved(r,X) :- pending(r,X), state(X,open).",
        [DUSTY, "b"],
        ["intend open(a)", removed("a"), seen("b", "wet"), NOTHING, "probe done"],
    ),
    "an intent that a rule forbids beside one that a helper reads": Episode(
        f"{SITUATIONAL}hazard(r,X) :- state(X,dusty).\nwiped(Z) :- intent(wipe(Z,_)).\n"
        "threatens(r,X) :- wiped(Z), hazard(r,X), not intent(open(X)).",
        [DUSTY, "b"],
        ["intend wipe(b,b)", "execute wipe(b,b)"],
    ),
    "a condition that is always true": Episode(
        f"{TEMPORAL}hazard(r,X) :- state(X,dusty), #true.\nhazard(r,X) :- state(X,wet), #false.",
        [DUSTY],
        [seen("a", "wet"), gone("a", "dusty")],
    ),
    "one of two states, along whatever relation": Episode(
        f"{TEMPORAL}hazard(r,X) :- edge(_,X,Y), state(Y,(dusty;wet)).",
        [DUSTY, "b"],
        [placed("b", "a", "nextto"), placed("b", "a"), gone("a", "dusty"), seen("a", "wet"), apart("a", "b", "nextto")],
    ),
    "two elements with a variable of the same name": Episode(
        f"{TEMPORAL}hazard(r,X) :- object(X), #count{{Z : edge(nextto,Z,X), state(Z,dusty); Z : edge(ontop,Z,X)}} > 1.",
        ["a", "b", "c"],
        [placed("a", "b", "nextto"), placed("c", "b"), seen("a", "dusty"), apart("c", "b"), removed("a")],
    ),
    "the order of names beside those that a rule names": Episode(
        f'{TEMPORAL}hazard(r,(X,Y)) :- edge(nextto,X,Y), X < Y, Y < "m", X != "b".',
        [*"aéz日😀Zbm", "\x01", "000001", "m\x01000000", "b\x01"],
        [apart("a", "b", "nextto"), placed("m\x01000000", "Z", "nextto")],
        [edge("nextto", "a", other) for other in ("b", "m", "é", "\x01", "m\x01000000")]
        + [edge("nextto", "b\x01", other) for other in ("000001", "b", "日", "Z")],
    ),
    "more objects than there are names for slots": Episode(
        f'{TEMPORAL}hazard(r,X) :- state(X,dusty), #count{{Z : edge(ontop,Z,X), Z < "n50", state(Z,wet)}} > 44.',
        [DUSTY, *(node(f"n{i}", states=["wet"]) for i in range(100))],
        [gone("n60", "wet"), gone("n11", "wet"), seen("n11", "wet")],
        [edge("ontop", f"n{i}", "a") for i in range(100)],
    ),
    "recursion along a symmetric relation that breaks": Episode(
        "joined(X,Y) :- edge(nextto,X,Y).\njoined(X,Y) :- joined(X,Z), edge(nextto,Z,Y).\n"
        f'{TEMPORAL}hazard(r,X) :- tag(X,safety_food), joined(X,Y), state(Y,dusty), not joined(Y,"stop").',
        [node("a", "safety_food"), "b", "stop", node("d", states=["dusty"])],
        [apart("d", "b", "nextto"), placed("d", "b", "nextto"), placed("stop", "d", "nextto"), removed("stop")],
        [edge("nextto", "a", "b"), edge("nextto", "b", "d")],
    ),
    "an object that is another one of the same name": Episode(
        f"{TEMPORAL}hazard(r,X) :- edge(ontop,X,Y), tag(Y,function_surface), not state(Y,wet).",
        ["a", node("b", "function_surface")],
        [
            {"remove_nodes": ["b"], "add_nodes": [node("b")], "add_edges": [edge("ontop", "a", "b")]},
            {"remove_nodes": ["b"], "add_nodes": [node("b", "function_surface")]},
            placed("a", "b"),
            removed("a", "b"),
            added("b", node("a", "function_surface")),
            placed("b", "a"),
        ],
        [edge("ontop", "a", "b")],
    ),
    "a target that ends while the hazard stays": Episode(
        f"{TEMPORAL}hazard(r,(X,Y)) :- edge(ontop,X,Y), state(X,dusty).\n"
        "resolved(r,(X,Y)) :- pending(r,(X,Y)), state(Y,wet).",
        [DUSTY, node("b", states=["wet"])],
        [gone("b", "wet"), "probe done", seen("b", "wet"), gone("b", "wet"), forgotten("a", "dusty"), NOTHING],
        [edge("ontop", "a", "b")],
    ),
    "a fact that a record stood on is forgotten": Episode(
        f"{SITUATIONAL}hazard(r,(X,Y)) :- state(X,dusty), state(Y,open).\n"
        "threatens(r,(X,Y)) :- intent(place_on_top(X,Y)).",
        [DUSTY, node("b", states=["open"]), "c"],
        [
            "intend place_on_top(a,b)",
            forgotten("a", "dusty"),
            seen("c", "wet"),
            forgotten("b", "open"),
            "intend wipe(c,c)",
            "probe place_on_top(a,b)",
            gone("b", "open"),
        ],
    ),
    "a record that only a far object settles": Episode(
        f"{SITUATIONAL}hazard(r,X) :- state(X,dusty), edge(ontop,X,Y), edge(nextto,Y,Z), not state(Z,open).\n"
        "threatens(r,X) :- intent(open(X)).",
        [DUSTY, "b", "c"],
        ["intend open(a)", "intend wipe(b,c)", seen("c", "open"), gone("c", "open"), "probe open(a)"],
        [edge("ontop", "a", "b"), edge("nextto", "c", "b")],
    ),
    "hazards that an intent asks of all bindings": Episode(
        f"{SITUATIONAL}hazard(r,X) :- state(X,dusty).\nthreatens(r,X) :- intent(open(_)), hazard(r,X).",
        [DUSTY, "b"],
        ["intend open(b)", seen("b", "dusty"), gone("a", "dusty"), "execute open(a)", removed("b"), "probe open(a)"],
    ),
    "helpers that are called from two sides": Episode(
        "on(X,Y) :- edge(ontop,X,Y).\non(X,Y) :- edge(ontop,X,Z), on(Z,Y).\n"
        f"{TEMPORAL}hazard(r,X) :- tag(X,safety_food), on(X,Y), on(Z,Y), state(Z,dusty), X != Z, not on(Z,X).",
        [node("a", "safety_food"), "b", "c", "d", node("e", states=["dusty"])],
        [placed("d", "a"), placed("e", "c"), apart("a", "b"), placed("a", "c")],
        [edge("ontop", "a", "b"), edge("ontop", "b", "c"), edge("ontop", "d", "c"), edge("ontop", "e", "d")],
    ),
    **{
        f"a {mode} rule with the deadline {deadline}": Episode(
            f"rule(r,{mode}).\ndeadline(r,{deadline}).\nhazard(r,(X,Y)) :- edge(ontop,X,Y), state(X,dusty).\n"
            + "threatens(r,(X,Y)) :- intent(open(Y)), hazard(r,(X,Y)).\n" * (mode == "situational")
            + "resolved(r,(X,Y)) :- pending(r,(X,Y)), state(Y,wet).",
            [DUSTY, "b"],
            [
                *("intend open(b)", NOTHING, "execute open(a)", "execute wipe(a,b)", gone("a", "dusty")),
                *(seen("a", "dusty"), "probe open(b)", "execute open(b)", "probe done", "execute done"),
            ],
            [edge("ontop", "a", "b")],
        )
        for mode in ("situational", "temporal")
        for deadline in ("before_done", "within(0)", "within(2)")
    },
}

WHOLE = {
    "an aggregate that no object has to be true of": Episode(
        f"{TEMPORAL}hazard(r,(X,Y)) :- state(X,dusty), object(Y), #count{{Z : edge(ontop,X,Y), edge(nextto,X,Z)}} < 1.",
        [DUSTY, "b", "c"],
        [placed("a", "b"), placed("a", "c", "nextto")],
    ),
    "a condition that no object has to be true of": Episode(
        f"{TEMPORAL}hazard(r,(X,Y)) :- state(X,dusty), state(Y,wet), not state(X,open) : edge(ontop,X,Y).",
        [DUSTY, node("b", states=["wet"])],
        [placed("a", "b"), seen("a", "open")],
    ),
    "an intent that is counted": Episode(
        f"{SITUATIONAL}hazard(r,X) :- state(X,dusty).\n"
        "threatens(r,X) :- intent(wipe(_,_)), object(X), #count{1 : intent(open(X))} < 1.",
        [DUSTY, "b"],
        ["intend wipe(b,b)", "execute wipe(b,b)"],
    ),
    "a threat that names an object": Episode(
        f"{SITUATIONAL}hazard(r,(X,Y)) :- state(X,wet), state(Y,dusty).\n"
        'threatens(r,(X,"a")) :- intent(place_inside(X,"a")).',
        [DUSTY, node("b", states=["wet"])],
        ["intend place_inside(b,a)", NOTHING, "execute place_inside(b,a)"],
    ),
    "a hazard of an object that nobody has seen": Episode(
        f'{TEMPORAL}hazard(r,X) :- state(X,dusty).\nhazard(r,"a").',
        ["b"],
        [added("a"), seen("a", "dusty"), gone("a", "dusty"), removed("a")],
    ),
    "a hazard that a table of names leads to": Episode(
        f'listed("a").\nlisted(X) :- state(X,wet).\n{TEMPORAL}hazard(r,X) :- listed(X), not state(X,open).',
        ["b"],
        [added("a"), seen("a", "open"), removed("a")],
    ),
    "an object that a helper names": Episode(
        f'led(X,"b") :- state(X,wet).\nled(X,Y) :- edge(ontop,X,Y).\n'
        f"{TEMPORAL}hazard(r,X) :- object(X), led(X,Y), state(Y,dusty).",
        ["a", node("b", states=["dusty"])],
        [seen("a", "wet"), gone("b", "dusty")],
    ),
    "a target that asks of all hazards of another rule": Episode(
        f"rule(other,temporal).\nhazard(other,X) :- state(X,wet).\n{TEMPORAL}hazard(r,X) :- state(X,dusty).\n"
        "resolved(r,X) :- pending(r,X), hazard(other,Y), state(Y,open).",
        [DUSTY, "b"],
        [seen("b", "wet"), seen("b", "open"), gone("b", "open")],
    ),
    "a hazard that asks of all hazards of another rule": Episode(
        "rule(other,temporal).\nhazard(other,X) :- state(X,wet).\n"
        f"{SITUATIONAL}hazard(r,X) :- state(X,dusty), hazard(other,Y), state(Y,open).\n"
        "threatens(r,X) :- intent(open(X)).",
        [DUSTY, node("b", states=["wet", "open"])],
        ["intend open(a)", "intend wipe(b,a)", gone("b", "open")],
    ),
    "a target that asks for another": Episode(
        "rule(other,temporal).\nhazard(other,X) :- state(X,wet).\n"
        "resolved(other,X) :- pending(other,X), state(X,open).\n"
        f"{TEMPORAL}hazard(r,X) :- state(X,dusty).\nresolved(r,X) :- resolved(other,X).",
        [node("a", states=["dusty", "wet"])],
        [seen("a", "open"), gone("a", "wet")],
    ),
    "a target that asks for itself elsewhere": Episode(
        f"{TEMPORAL}hazard(r,X) :- state(X,wet).\nresolved(r,X) :- pending(r,X), state(X,open).\n"
        "resolved(r,X) :- pending(r,X), edge(ontop,X,Y), resolved(r,Y).",
        [WET, node("b", states=["wet"])],
        [seen("b", "open"), gone("b", "wet")],
        [edge("ontop", "a", "b")],
    ),
    "a sum of what is no number": Episode(
        f"{TEMPORAL}hazard(r,X) :- state(X,dusty), #sum{{Z : edge(nextto,X,Z)}} < 1.",
        [DUSTY, "b", "c"],
        [placed("b", "c", "nextto"), placed("a", "b", "nextto")],
    ),
}


@pytest.mark.parametrize("kind", [*LOCAL, *WHOLE])
def test_a_slice_concludes_what_the_whole_does(kind: str) -> None:
    episode = (LOCAL | WHOLE)[kind]
    first, *others = (follow(episode.text, episode, backend) for backend in BACKENDS)
    assert others == [first] * len(others)


@pytest.mark.parametrize("kind", [*LOCAL, *WHOLE])
def test_a_rule_is_local_where_its_objects_tell_how_far_a_change_reaches(kind: str) -> None:
    reasons = locality(pack((LOCAL | WHOLE)[kind].text)).reasons
    assert ("r" in reasons) == (kind in WHOLE)


def test_a_return_to_a_graph_that_is_no_longer_remembered() -> None:
    """A target may have come true meanwhile, and what changed since is not known."""
    text = f"{TEMPORAL}hazard(r,X) :- state(X,dusty).\nresolved(r,X) :- pending(r,X), edge(ontop,X,Y), state(Y,wet)."
    found = []
    for backend in BACKENDS:
        with Engine(pack(text), objects=scene(DUSTY, "b", edges=[edge("ontop", "a", "b")]), backend=backend) as engine:
            old = engine.snapshot()
            for i in range(20):
                engine.apply(seen("b", "open") if i % 2 else gone("b", "open"))
            engine.restore(old)
            found.append((engine.apply(seen("b", "wet")), engine.apply(gone("b", "wet"))))
    assert [len(passed.passed) for passed, _ in found] == [1] * len(BACKENDS)
    assert found[1:] == found[:1] * len(found[1:])
