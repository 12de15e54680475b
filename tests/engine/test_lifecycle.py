"""The life of an engine: opening, snapshots, history, the end of an episode, and closing."""

from __future__ import annotations

import dataclasses
import gc
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from packs_strategies import BACKENDS, edge, forgotten, gone, names, node, pack, placed, scene, seen

from obviate.engine import Change, Engine, Moment, Record
from obviate.kb import Action, BeliefGraph, Patch
from obviate.kb.errors import DataError, LifecycleError, ObviateError

RULES = """
rule(shut, temporal).
hazard(shut, X) :- state(X, open).
rule(clean, situational).
hazard(clean, (X,Y)) :- tag(X, safety_food), state(Y, dusty).
threatens(clean, (X,Y)) :- intent(place_on_top(X,Y)).
rule(quick, temporal).
deadline(quick, within(1)).
hazard(quick, X) :- state(X, hot).
rule(kept, temporal).
severity(kept, advisory).
hazard(kept, X) :- moved(X).
"""
SCENE = scene(node("peach", "safety_food"), node("plate", states=["dusty"]), "box", "rag")


@pytest.fixture(params=BACKENDS)
def start(request: pytest.FixtureRequest) -> Iterator[Callable[..., Engine]]:
    engines: list[Engine] = []

    def begin(**options: Any) -> Engine:
        engines.append(Engine(pack(RULES), objects=options.pop("objects", SCENE), backend=request.param, **options))
        return engines[-1]

    yield begin
    for engine in engines:
        engine.close()


Start = Callable[..., Engine]


def use(engine: Engine, name: str, given: dict[str, Any]) -> object:
    """Read the property, or call the method with what its parameters ask for."""
    if isinstance(inspect.getattr_static(Engine, name), property):
        return getattr(engine, name)
    method = getattr(engine, name)
    parameters = inspect.signature(method).parameters.values()
    return method(*(given.get(p.name) for p in parameters if p.default is p.empty and p.kind is not p.KEYWORD_ONLY))


PUBLIC = [name for name in dir(Engine) if not name.startswith("_") and name != "close"]
CHANGING = ("apply", "intend", "probe", "execute", "finish")


def example(engine: Engine) -> dict[str, Any]:
    """Something of the right sort for each parameter of a public verb."""
    change = engine.apply(seen("box", "open"))
    return {
        "patch": {},
        "action": "open(box)",
        "snapshot": engine.snapshot(),
        "record": change.opened[0],
        "trigger": change.appeared[0],
    }


# -- opening ---------------------------------------------------------------------------------------


def test_an_unknown_backend_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(LifecycleError) as caught:
        Engine(pack(RULES), backend="multishoot")
    assert caught.value.code == "unknown-backend"
    assert "'multishot'" in caught.value.help


def test_an_engine_needs_a_pack() -> None:
    with pytest.raises(LifecycleError) as caught:
        Engine()
    assert caught.value.code == "no-pack"


@pytest.mark.parametrize(
    "objects",
    [
        SCENE,
        {"add_nodes": SCENE["nodes"]},
        Patch.model_validate({"add_nodes": SCENE["nodes"]}),
        BeliefGraph.of(pack(RULES).vocabulary, SCENE),
    ],
)
def test_the_first_scene_in_all_its_forms(objects: Any) -> None:
    with Engine(pack(RULES), objects=objects) as engine:
        assert sorted(engine.graph.nodes) == ["box", "peach", "plate", "rag"]
        assert (engine.step, engine.ended, engine.records()) == (0, False, ())


def test_without_a_scene_nothing_is_known(start: Start) -> None:
    engine = start(objects=None)
    assert len(engine.graph) == 0
    assert names(engine.apply({"add_nodes": [node("tin", states=["open"])]}).opened) == ["shut(tin)"]


def test_a_bad_scene_is_refused() -> None:
    with pytest.raises(ObviateError):
        Engine(pack(RULES), objects=scene("box", "box"))


def test_a_part_of_another_graph_is_read_as_a_whole(start: Start) -> None:
    """It has no parent, so there is no shorter way to it."""
    near = BeliefGraph.of(pack(RULES).vocabulary, scene(node("tin", states=["open"]), "box")).neighbourhood(["tin"], 1)
    engine = start(objects=near)
    assert names(engine.triggers()) == ["shut(tin)"]
    assert names(engine.apply(gone("tin", "open")).vanished) == ["shut(tin)"]


@pytest.mark.parametrize("history", [0, -1])
def test_a_history_that_keeps_nothing_is_refused(history: int) -> None:
    """The present step is always in memory; what cannot be is refused when the engine is made."""
    with pytest.raises(ObviateError):
        Engine(pack(RULES), objects=SCENE, history=history)


# -- closing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PUBLIC)
def test_every_use_after_close_is_refused(start: Start, name: str) -> None:
    engine = start()
    given = example(engine)
    use(engine, name, given)  # it works as long as the engine is open
    engine.close()
    with pytest.raises(LifecycleError) as caught:
        use(engine, name, given)
    assert caught.value.code == "engine-closed"


def test_closing_twice_is_no_harm(start: Start) -> None:
    engine = start()
    engine.close()
    engine.close()


def test_a_context_manager_closes(start: Start) -> None:
    with start() as engine:
        engine.apply({})
    with pytest.raises(LifecycleError):
        engine.apply({})
    with pytest.raises(LifecycleError), engine:
        pass  # pragma: no cover


def test_a_context_manager_closes_after_an_error(start: Start) -> None:
    engine = start()
    with pytest.raises(ZeroDivisionError), engine:
        raise ZeroDivisionError
    with pytest.raises(LifecycleError):
        engine.triggers()


def test_what_was_read_before_closing_stays(start: Start) -> None:
    engine = start()
    change = engine.apply(seen("box", "open"))
    graph, records, history = engine.graph, engine.records(), engine.history()
    engine.close()
    assert names(change.appeared) == names(records) == ["shut(box)"]
    assert graph.has_state("box", "open")
    assert [moment.step for moment in history] == [0, 1]


# -- after the end of the episode ------------------------------------------------------------------


@pytest.mark.parametrize("ending", [("execute", "done"), ("finish", "out of time"), ("finish", "")])
@pytest.mark.parametrize("name", CHANGING)
def test_after_the_end_nothing_more_happens(start: Start, name: str, ending: tuple[str, str]) -> None:
    engine = start()
    given = example(engine)
    getattr(engine, ending[0])(ending[1])
    before = engine.snapshot()
    with pytest.raises(LifecycleError) as caught:
        use(engine, name, given)
    assert caught.value.code == "episode-over"
    assert engine.snapshot() == before


@pytest.mark.parametrize("ending", [("execute", "done"), ("finish", "out of time")])
def test_after_the_end_everything_can_be_read(start: Start, ending: tuple[str, str]) -> None:
    engine = start()
    given = example(engine)
    getattr(engine, ending[0])(ending[1])
    for name in PUBLIC:
        if name not in CHANGING:
            use(engine, name, given)


def test_the_end(start: Start) -> None:
    engine = start()
    engine.apply(seen("box", "open"))
    assert not engine.ended
    engine.execute("done")
    assert engine.ended
    assert [(str(r), r.verdict) for r in engine.records()] == [("shut(box)", "failed")]
    assert engine.obligations() == ()


# -- two engines -----------------------------------------------------------------------------------


def test_engines_are_independent(start: Start) -> None:
    one, two = start(), start()
    one.apply(seen("box", "open"))
    assert (names(one.triggers()), names(two.triggers())) == (["shut(box)"], [])
    two.apply({"remove_nodes": ["box"], "add_nodes": [node("tin", states=["open"])]})
    assert (names(one.triggers()), names(two.triggers())) == (["shut(box)"], ["shut(tin)"])
    one.intend("place_on_top(peach, plate)")
    assert names(two.apply({}).risks) == []
    one.close()
    assert names(two.execute("place_on_top(peach, plate)").failed) == ["clean(peach, plate)"]
    assert names(two.apply(gone("tin", "open")).passed) == ["shut(tin)"]


def test_engines_of_one_graph_are_independent(start: Start) -> None:
    graph = BeliefGraph.of(pack(RULES).vocabulary, SCENE)
    one, two = start(objects=graph), start(objects=graph)
    one.apply(seen("box", "open"))
    assert two.graph == graph
    assert names(two.apply(seen("box", "hot")).appeared) == ["quick(box)"]
    assert names(one.triggers()) == ["shut(box)"]


# -- snapshots -------------------------------------------------------------------------------------


def wide_open(engine: Engine) -> None:
    """Bring an engine into a state with something of everything."""
    engine.apply({"update_node_states": [{"node_id": "box", "add": ["open", "hot"]}]})
    engine.execute("place_on_top(rag, box)")
    engine.apply(placed("rag", "box"))
    engine.execute("wait(box)")  # quick(box) fails, and is spent as long as the box is hot
    engine.apply(seen("rag", "hot"))
    engine.execute("wait(box)")  # quick(rag) is one action old
    engine.intend("place_on_top(peach, plate)")
    engine.apply(forgotten("plate", "dusty"))


def go_on(engine: Engine) -> list[object]:
    """What the engine says from there on."""
    return [
        engine.probe("place_on_top(peach, plate)"),
        engine.apply({}),
        engine.execute("wait(box)"),
        engine.apply(gone("plate", "dusty")),
        engine.apply(gone("box", "hot")),
        engine.apply(seen("box", "hot")),
        engine.execute("done"),
        engine.records(),
        [(moment.step, moment.action) for moment in engine.history()],
    ]


def test_a_snapshot_is_the_whole_state(start: Start) -> None:
    engine = start()
    wide_open(engine)
    saved = engine.snapshot()
    first = go_on(engine)
    assert engine.ended
    engine.restore(saved)
    assert (engine.ended, engine.snapshot()) == (False, saved)
    assert go_on(engine) == first
    changes = [change for change in first if isinstance(change, Change)]
    told = {part: [str(i) for c in changes for i in getattr(c, part)] for part in ("opened", "passed", "failed")}
    assert told == {
        "opened": ["quick(box)"],
        "passed": ["clean(peach, plate)"],
        "failed": ["quick(rag)", "shut(box)", "kept(rag)", "quick(box)"],
    }


def test_a_snapshot_does_not_change(start: Start) -> None:
    engine = start()
    saved = engine.snapshot()
    wide_open(engine)
    assert (saved.step, saved.closed, names(engine.triggers())) != (engine.step, engine.snapshot().closed, [])
    engine.restore(saved)
    assert (engine.step, engine.records(), engine.triggers()) == (0, (), ())
    assert [moment.step for moment in engine.history()] == [0]


def test_a_snapshot_can_be_restored_more_than_once(start: Start) -> None:
    engine = start()
    saved = engine.snapshot()
    for _ in range(3):
        assert names(engine.apply(seen("box", "open")).opened) == ["shut(box)"]
        engine.restore(saved)


def test_a_snapshot_fits_an_engine_with_the_same_packs(start: Start) -> None:
    one, two = start(), start()
    wide_open(one)
    two.restore(one.snapshot())
    assert go_on(two) == go_on(one)


@pytest.mark.parametrize(
    "other",
    [
        RULES + "rule(dry, temporal). hazard(dry, X) :- state(X, wet).",
        "rule(r, temporal). hazard(r, X) :- state(X, open).",
    ],
)
def test_a_snapshot_of_other_packs_is_refused(start: Start, other: str) -> None:
    """Restore returns to a snapshot of this engine, or of one with the same packs; nothing bad changes state."""
    engine = start()
    before = engine.snapshot()
    with Engine(pack(other), objects=scene(node("tin", states=["open"]))) as stranger, pytest.raises(LifecycleError):
        engine.restore(stranger.snapshot())
    assert engine.snapshot() is before


# -- history ---------------------------------------------------------------------------------------


def test_the_history_is_the_episode(start: Start) -> None:
    engine = start()
    engine.execute("open(box)")
    engine.apply(seen("box", "open"))
    engine.execute("close(box)")
    engine.execute("wait(box)")
    engine.apply(gone("box", "open"))
    told = [(m.step, str(m.action or ""), m.graph.has_state("box", "open")) for m in engine.history()]
    assert told == [
        (0, "open(box)", False),
        (1, "close(box)", True),
        (2, "wait(box)", True),  # nothing was observed in between: the belief stands
        (3, "", False),
    ]
    assert engine.step == 3


@pytest.mark.parametrize("history", [1, 2, 5])
def test_the_last_steps_stay_in_memory(start: Start, history: int) -> None:
    engine = start(history=history)
    for i in range(20):
        assert len(engine.history()) == min(i + 1, history)
        engine.apply({})
        if i % 3 == 0:
            engine.execute("wait(box)")
    assert [moment.step for moment in engine.history()] == list(range(21 - history, 21))


def test_the_graphs_of_older_steps_are_freed(start: Start) -> None:
    def graphs() -> int:
        gc.collect()
        return sum(isinstance(one, BeliefGraph) for one in gc.get_objects())

    engine = start(history=5)
    before = graphs()
    for i in range(100):
        engine.apply((seen, gone)[i % 2]("box", "open"))
    assert graphs() - before <= 5


# -- windows ---------------------------------------------------------------------------------------


def summary(moments: tuple[Moment, ...], *states: str) -> list[tuple[int, str, bool]]:
    return [(m.step, str(m.action or ""), m.graph.has_state("box", states[0] if states else "open")) for m in moments]


def test_the_window_of_a_passed_record(start: Start) -> None:
    """{(a_t, G_t)} from t_on to t_off, and nothing before or after."""
    engine = start()
    engine.apply({})
    engine.execute("open(box)")
    engine.apply(seen("box", "open"))
    engine.execute("wait(box)")
    engine.apply({})
    engine.execute("close(box)")
    (record,) = engine.apply(gone("box", "open")).passed
    engine.execute("wait(rag)")
    engine.apply({})
    assert (record.t_on, record.t_off) == (2, 4)
    expected = [(2, "wait(box)", True), (3, "close(box)", True)]
    assert summary(engine.window(record))[:-1] == expected
    last = engine.window(record)[-1]
    assert (last.step, last.graph.has_state("box", "open")) == (4, False)
    assert engine.window(record) == engine.history()[2:5]


def test_the_window_of_a_failed_record_ends_with_the_action_that_failed_it(start: Start) -> None:
    engine = start()
    engine.intend("place_on_top(peach, plate)")
    engine.execute("wait(plate)")
    engine.apply({})
    (record,) = engine.execute("place_on_top(peach, plate)").failed
    engine.apply({})
    window = engine.window(record)
    assert [(m.step, m.action) for m in window] == [
        (0, Action("wait", ("plate",))),
        (1, Action("place_on_top", ("peach", "plate"))),
    ]


def test_the_window_of_a_risky_action_never_announced_is_one_step(start: Start) -> None:
    engine = start()
    engine.apply({})
    (record,) = engine.execute("place_on_top(peach, plate)").failed
    assert [moment.step for moment in engine.window(record)] == [1]


def test_the_window_of_an_open_record_goes_on(start: Start) -> None:
    engine = start()
    (record,) = engine.apply(seen("box", "open")).opened
    for expected in ([1], [1, 2], [1, 2, 3]):
        assert [moment.step for moment in engine.window(record)] == expected
        engine.apply({})


def test_the_window_at_the_end_of_the_episode(start: Start) -> None:
    engine = start()
    engine.apply(seen("box", "open"))
    engine.apply({})
    (record,) = engine.execute("done").failed
    assert summary(engine.window(record)) == [(1, "", True), (2, "done", True)]


def test_a_window_out_of_memory_is_refused(start: Start) -> None:
    engine = start(history=3)
    (record,) = engine.apply(seen("box", "open")).opened
    engine.apply({})
    engine.apply({})
    assert len(engine.window(record)) == 3
    engine.apply({})
    with pytest.raises(LifecycleError) as caught:
        engine.window(record)
    assert caught.value.code == "window-forgotten"


@pytest.mark.parametrize("late", [False, True])
def test_the_window_of_a_record_from_another_future_is_refused(start: Start, late: bool) -> None:
    """Whatever is wrong with a record, the error says so."""
    engine = start()
    if not late:
        engine.apply(seen("box", "open"))
    saved = engine.snapshot()
    if late:
        engine.apply(seen("box", "open"))
    engine.apply({})
    (record,) = engine.apply(gone("box", "open")).passed
    engine.restore(saved)
    with pytest.raises(LifecycleError):
        engine.window(record)


# -- plain data ------------------------------------------------------------------------------------


def test_verbs_return_plain_data(start: Start) -> None:
    """Every verb returns plain data (frozen dataclasses)."""
    engine = start(objects=scene("box", edges=[edge("nextto", "box", "rag")]) | {"nodes": SCENE["nodes"]})
    (record,) = engine.apply(seen("box", "open")).opened
    assert isinstance(record, Record)
    for item in (record, engine.triggers()[0], engine.history()[0], engine.snapshot(), engine.apply({})):
        first = dataclasses.fields(item)[0].name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(item, first, None)


def test_what_was_moved_belongs_to_its_episode(start: Start) -> None:
    """`moved(X)`: in this episode. A graph of another one starts without it."""
    text = "rule(kept, temporal). hazard(kept, X) :- moved(X)."
    graph = BeliefGraph.of(pack(text).vocabulary, scene("cup", "table")).with_moved("cup")
    with Engine(pack(text), objects=graph) as engine:
        assert engine.triggers() == ()
        assert not engine.graph.nodes["cup"].moved


def test_a_log_that_cannot_be_written_leaves_the_engine_as_it_was(tmp_path: Path) -> None:
    """Nothing has changed when an error is raised."""
    with Engine(pack(RULES), objects=SCENE, log=tmp_path / "log") as engine:
        before = engine.snapshot()
        with pytest.raises(DataError):
            engine.finish("a lone surrogate \ud800")
        assert engine.snapshot() is before
        assert not engine.ended
