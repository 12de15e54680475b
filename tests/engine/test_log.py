"""The decision log: the same calls give the same bytes, and what it says can be read and replayed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packs_strategies import BACKENDS, edge, forgotten, gone, known, names, node, pack, placed, scene, seen, update

from obviate.engine import Engine
from obviate.engine.log import replay
from obviate.kb import Action, Pack, household
from obviate.kb.errors import DataError, ObviateError

RULES = """
rule(shut, temporal).
hazard(shut, X) :- state(X, open).
rule(clean, situational).
hazard(clean, (X,Y)) :- tag(X, safety_food), state(Y, dusty).
threatens(clean, (X,Y)) :- intent(place_on_top(X,Y)).
rule(light, temporal).
hazard(light, X) :- value(X, weight, N), N > 5.
"""
SCENE = scene(
    node("peach", "safety_food", "safety_fragile", weight=1),
    node("plate", states=["wet", "dusty", "stained"], absent=["open", "hot"]),
    "box",
    "rag",
    edges=[edge("nextto", "rag", "plate"), edge("ontop", "plate", "box")],
)

CALLS: list[tuple[str, Any]] = [
    ("apply", seen("box", "open", "wet")),
    ("probe", "PLACE_ON_TOP( peach,plate )"),
    ("intend", "place_on_top(peach, plate)"),
    ("execute", "wipe(plate, rag)"),
    ("apply", {**gone("plate", "stained", "dusty"), **placed("rag", "box")}),
    ("apply", update("peach", values={"weight": 6})),
    ("apply", forgotten("box", "open")),
    ("probe", "done"),
    ("execute", "place_on_top(peach, plate)"),
    ("apply", {"remove_nodes": ["rag"], "add_nodes": [node("tin", "function_storage", states=["open"])]}),
    ("finish", "out of time"),
]


def write(
    log: Path, calls: list[tuple[str, Any]], *packs: Pack, backend: str = "multishot", objects: Any = SCENE
) -> Path:
    """Make the calls with a log."""
    with Engine(*(packs or (pack(RULES),)), objects=objects, backend=backend, log=log) as engine:
        for verb, *given in calls:
            getattr(engine, verb)(*given)
    return log


def lines(log: Path) -> list[dict[str, Any]]:
    text = log.read_bytes().decode()
    assert text.endswith("\n")
    return [json.loads(line) for line in text[:-1].split("\n")]


# -- the same bytes --------------------------------------------------------------------------------


def test_every_backend_logs_the_same_bytes(tmp_path: Path) -> None:
    logs = [write(tmp_path / name, CALLS, backend=name).read_bytes() for name in BACKENDS]
    assert logs[0] == logs[1]
    assert logs[0].count(b"\n") == len(CALLS) + 2


def test_two_runs_log_the_same_bytes(tmp_path: Path) -> None:
    assert write(tmp_path / "one", CALLS).read_bytes() == write(tmp_path / "two", CALLS).read_bytes()


def test_an_old_log_is_written_over(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("something else\n" * 1000, encoding="utf-8")
    assert write(log, CALLS).read_bytes() == write(tmp_path / "two", CALLS).read_bytes()


def test_two_processes_log_the_same_bytes(tmp_path: Path) -> None:
    """No order of a set or dictionary is in the log: it does not depend on the seed of Python's hashes."""
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    for seed in ("1", "2", "3"):
        program = "import sys, pathlib, test_log as t; t.write(pathlib.Path(sys.argv[1]), t.CALLS)"
        subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / seed)],
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
        )
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes() == (tmp_path / "3").read_bytes()


def test_other_calls_log_other_bytes(tmp_path: Path) -> None:
    assert write(tmp_path / "one", CALLS).read_bytes() != write(tmp_path / "two", CALLS[:-1]).read_bytes()


# -- what is in it ---------------------------------------------------------------------------------


def test_the_first_line_names_packs_and_vocabulary_by_their_hashes(tmp_path: Path) -> None:
    one, two = pack(RULES, "kitchen"), pack("rule(r, temporal). hazard(r, X) :- state(X, hot).", "bath")
    first = lines(write(tmp_path / "log", [], one, two))[0]
    assert first["packs"] == {"kitchen": one.digest, "bath": two.digest}
    assert first["vocabulary"] == one.vocabulary.digest
    assert one.digest != two.digest


def test_the_hash_of_a_pack_tells_its_text_and_constants() -> None:
    text = "#const n = 1. rule(r, temporal). hazard(r, X) :- state(X, hot), n > 0."
    made = [
        Pack.of(text, vocabulary=household.vocabulary()),
        Pack.of(text + "\n", vocabulary=household.vocabulary()),
        Pack.of(text, vocabulary=household.vocabulary(), consts={"n": 2}),
    ]
    assert len({one.digest for one in made}) == 3
    assert made[0].digest == Pack.of(text, vocabulary=household.vocabulary()).digest


def test_the_first_line_holds_the_scene(tmp_path: Path) -> None:
    first = lines(write(tmp_path / "log", []))[0]
    with Engine(pack(RULES), objects=SCENE) as one, Engine(pack(RULES), objects=first["scene"]) as two:
        assert one.graph == two.graph


def test_every_verb_has_a_line(tmp_path: Path) -> None:
    verbs = [next(iter(line)) for line in lines(write(tmp_path / "log", CALLS))[1:]]
    assert verbs == ["begin", *(verb for verb, _ in CALLS)]


def test_a_line_says_what_was_given_and_what_it_changed(tmp_path: Path) -> None:
    found = lines(write(tmp_path / "log", CALLS))
    assert found[2] == {
        "apply": {"update_node_states": [{"node_id": "box", "add": ["open", "wet"]}]},
        "gives": {
            "step": 1,
            "appeared": [{"rule": "shut", "binding": ["box"]}],
            "opened": [{"rule": "shut", "binding": ["box"], "t_on": 1, "verdict": "pending"}],
        },
    }
    assert found[3] == {
        "probe": "place_on_top(peach, plate)",
        "gives": [{"rule": "clean", "binding": ["peach", "plate"]}],
    }
    assert found[-1]["finish"] == "out of time"
    assert [(r["rule"], r["verdict"]) for r in found[-1]["gives"]["failed"]] == [
        ("shut", "failed"),
        ("light", "failed"),
        ("shut", "failed"),
    ]


def test_a_line_is_there_when_the_verb_returns(tmp_path: Path) -> None:
    """A robot that stops in the middle has its log."""
    with Engine(pack(RULES), objects=SCENE, log=tmp_path / "log") as engine:
        assert len(lines(tmp_path / "log")) == 2
        engine.apply({})
        assert len(lines(tmp_path / "log")) == 3


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_refused_call_logs_nothing(tmp_path: Path, backend: str) -> None:
    log = tmp_path / "log"
    with Engine(pack(RULES), objects=SCENE, backend=backend, log=log) as engine:
        engine.apply(seen("box", "open"))
        before = log.read_bytes()
        for verb, given in [
            ("apply", seen("bx", "open")),
            ("apply", seen("box", "opne")),
            ("apply", {"surprise": 1}),
            ("intend", "place_on_top(peach, plte)"),
            ("probe", "fly(peach)"),
            ("execute", "open("),
        ]:
            with pytest.raises(ObviateError):
                getattr(engine, verb)(given)
        assert log.read_bytes() == before
        engine.execute("done")
        before = log.read_bytes()
        for verb, given in CALLS:
            with pytest.raises(ObviateError):
                getattr(engine, verb)(given)
        assert log.read_bytes() == before
    with pytest.raises(ObviateError):
        engine.apply({})
    assert log.read_bytes() == before


def test_reading_logs_nothing(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with Engine(pack(RULES), objects=SCENE, log=log) as engine:
        before = log.read_bytes()
        assert [*engine.triggers(), *engine.records(), *engine.obligations()] == []
        assert engine.history()
        assert engine.snapshot()
        assert log.read_bytes() == before


def test_a_log_that_cannot_be_written_is_refused_in_words(tmp_path: Path) -> None:
    """One base class for what is refused."""
    with pytest.raises(ObviateError) as caught:
        Engine(pack(RULES), log=tmp_path / "nowhere" / "log")
    assert "nowhere" in str(caught.value)


def test_an_engine_that_is_refused_leaves_an_old_log_alone(tmp_path: Path) -> None:
    log = write(tmp_path / "log", CALLS)
    before = log.read_bytes()
    with pytest.raises(ObviateError):
        Engine(pack(RULES), objects=scene("a", "a"), log=log)
    with pytest.raises(ObviateError):
        Engine(pack(RULES), backend="none", log=log)
    assert log.read_bytes() == before


# -- names are data --------------------------------------------------------------------------------

ODD = [
    'a "quoted" one',
    "two\nlines",
    "back\\slash\\n",
    "pfirsich, réglé (日本) 🍑",
    "tab\tand\rreturn",
    "line\u2028separator\u0085",
    '"). state("box",open). %',
    "}{,:",
    " ",
    "X",
    "_",
    "not",
    "#end",
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ODD)
def test_an_odd_name_is_data(tmp_path: Path, backend: str, name: str) -> None:
    log = tmp_path / "log"
    action = Action("place_on_top", (name, "plate"))
    with Engine(pack(RULES), objects=SCENE, backend=backend, log=log) as engine:
        change = engine.apply({"add_nodes": [node(name, "safety_food", states=["open"])]})
        assert [trigger.binding for trigger in change.appeared] == [(name,)]
        assert [risk.binding for risk in engine.probe(str(action))] == [(name, "plate")]
        assert names(engine.intend(action).opened) == [f"clean({name}, plate)"]
        engine.apply(gone(name, "open"))
    found = lines(log)
    assert found[2]["apply"]["add_nodes"][0]["node_id"] == name
    assert found[2]["gives"]["appeared"] == [{"rule": "shut", "binding": [name]}]
    assert found[3]["gives"] == [{"rule": "clean", "binding": [name, "plate"]}]
    assert Action.parse(found[4]["intend"]) == action
    assert found[5]["gives"]["passed"][0]["binding"] == [name]
    assert replay(log, pack(RULES), backend=backend).difference == ""


@given(name=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8))
def test_any_name_round_trips(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    log = tmp_path_factory.mktemp("log") / "log"
    with Engine(pack(RULES), objects=scene(node(name, states=["open"])), log=log) as engine:
        assert [trigger.binding for trigger in engine.triggers()] == [(name,)]
        engine.probe(Action("open", (name,)))
    first, begun, probed = lines(log)
    assert first["scene"]["add_nodes"] == [{"node_id": name, "states": ["open"]}]
    assert begun["gives"]["appeared"] == [{"rule": "shut", "binding": [name]}]
    assert Action.parse(probed["probe"]) == Action("open", (name,))
    assert replay(log, pack(RULES)).difference == ""


# -- replay ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", BACKENDS)
@pytest.mark.parametrize("second", BACKENDS)
def test_a_log_replays_to_the_same_bytes(tmp_path: Path, first: str, second: str) -> None:
    replayed = replay(write(tmp_path / "log", CALLS, backend=first), pack(RULES), backend=second)
    assert (replayed.lines, replayed.difference) == (len(CALLS) + 2, "")


def test_a_log_with_several_packs_replays(tmp_path: Path) -> None:
    packs = pack(RULES, "kitchen"), pack(RULES, "bath")
    assert replay(write(tmp_path / "log", CALLS, *packs), *packs).difference == ""


def test_a_log_with_a_restored_snapshot_replays(tmp_path: Path) -> None:
    """Two snapshots of one step differ: the log has to tell them apart."""
    log = tmp_path / "log"
    with Engine(pack(RULES), objects=SCENE, log=log) as engine:
        plain = engine.snapshot()
        engine.intend("place_on_top(peach, plate)")
        intended = engine.snapshot()
        engine.restore(plain)
        assert engine.apply({}).risks == ()
        engine.restore(intended)
        assert names(engine.apply({}).risks) == ["clean(peach, plate)"]
    assert replay(log, pack(RULES)).difference == ""


def test_a_replay_with_another_pack_shows_the_difference(tmp_path: Path) -> None:
    other = pack(RULES + "severity(shut, advisory).")
    assert replay(write(tmp_path / "log", CALLS), other).difference.startswith("line 1: ")


def test_a_replay_of_a_log_that_was_changed_shows_the_line(tmp_path: Path) -> None:
    log = write(tmp_path / "log", CALLS)
    text = log.read_text(encoding="utf-8")
    assert '"opened"' in text
    log.write_text(text.replace('"opened"', '"oqened"', 1), encoding="utf-8")
    assert replay(log, pack(RULES)).difference.startswith("line 3: ")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}\n",
        "nonsense\n",
        "[]\n",
        '{"obviate": 2}\n',
        '{"obviate": 1, "packs": {}, "vocabulary": "", "scene": {}}\n{"begin": {}, "gives": {}}\n{"fly": 1}\n',
        '{"obviate": 1, "packs": {}, "vocabulary": "", "scene": {}}\n{"begin": {}, "gives": {}}\n{"apply": {}, "gi',
        '{"obviate": 1, "packs": {}, "vocabulary": "", "scene": {}}\n{"begin": {}, "gives": {}}\n{"close": null}\n',
        '{"obviate": 1, "packs": {}, "vocabulary": "", "scene": {}}\n{"begin": {}, "gives": {}}\n{"intend": 7}\n',
    ],
)
def test_what_is_no_decision_log_is_refused(tmp_path: Path, text: str) -> None:
    log = tmp_path / "log"
    log.write_text(text, encoding="utf-8")
    with pytest.raises(DataError):
        replay(log, pack(RULES))


def test_the_scene_of_a_log_may_be_any_scene(tmp_path: Path) -> None:
    everything = {
        "add_nodes": known("a", node("b", absent=["open"], weight=-3)),
        "add_edges": [edge("inside", "a", "b")],
    }
    log = write(tmp_path / "log", [("apply", seen("a", "open"))], objects=everything)
    assert replay(log, pack(RULES)).difference == ""
