"""How episodes end, what ignorance excuses, what the agent has moved.

Every sentence of the contract between packs and engine, on every backend: the docstring of each test is the
sentence that it checks, and its scene is as small as its pack.
"""

from __future__ import annotations

import pytest
from packs_strategies import (
    added,
    edge,
    forgotten,
    gone,
    names,
    node,
    pack,
    placed,
    seen,
    update,
)
from semantics import CLEAN, PEACH, PLATE, SHUT, SHUT_AND_DRY, Start, pending, settled
from semantics import begin as begin  # the fixture start

from obviate.engine import Record
from obviate.kb import household
from obviate.kb.errors import PatchError

# -- the end ---------------------------------------------------------------------------------------


def test_done_settles_every_record(start: Start) -> None:
    """`execute("done")` settles every record."""
    engine = start(CLEAN + SHUT, PEACH, PLATE, node("box", states=["open"]))
    engine.intend("place_on_top(peach, plate)")
    change = engine.execute("done")
    assert names(change.failed) == ["clean(peach, plate)", "shut(box)"]
    assert (engine.ended, pending(engine)) == (True, [])


def test_done_keeps_what_has_passed(start: Start) -> None:
    """A record that passed is closed."""
    engine = start(SHUT, node("box", states=["open"]))
    engine.apply(gone("box", "open"))
    assert names(engine.execute("done").failed) == []
    assert settled(engine) == [("shut(box)", "passed", "")]


def test_finish_settles_episodes_that_end_without_done(start: Start) -> None:
    """`finish(reason)` does so for episodes that end without it."""
    engine = start(CLEAN + SHUT, PEACH, PLATE, node("box", states=["open"]))
    engine.intend("place_on_top(peach, plate)")
    assert names(engine.finish("out of time").failed) == ["clean(peach, plate)", "shut(box)"]
    assert engine.ended
    assert settled(engine) == [
        ("clean(peach, plate)", "failed", "abandoned"),
        ("shut(box)", "failed", "out of time"),
    ]


def test_finish_is_no_action(start: Start) -> None:
    """`finish(reason)` is for episodes that end without `done`: it opens nothing, least of all a risk of `done`."""
    text = "rule(off, situational). hazard(off, X) :- state(X, hot). threatens(off, X) :- intent(done), object(X)."
    engine = start(text, node("stove", states=["hot"]))
    change = engine.finish("out of time")
    assert (names(change.opened), names(change.failed), engine.records()) == ([], [], ())


def test_a_record_whose_intent_was_given_up_is_abandoned(start: Start) -> None:
    """A situational record whose intent was given up is settled as failed with reason `abandoned`."""
    engine = start(CLEAN, PEACH, PLATE, "bowl")
    engine.intend("place_on_top(peach, plate)")
    engine.intend("place_on_top(peach, bowl)")
    engine.execute("place_on_top(peach, bowl)")
    engine.apply(placed("peach", "bowl"))
    assert pending(engine) == ["clean(peach, plate)"]
    engine.execute("done")
    assert settled(engine) == [("clean(peach, plate)", "failed", "abandoned")]


def test_an_abandoned_record_is_counted_apart(start: Start) -> None:
    """`abandoned` is counted apart, and feeds no experience buffer."""
    engine = start(CLEAN + SHUT, PEACH, PLATE, node("box", states=["open"]))
    engine.intend("place_on_top(peach, plate)")
    engine.execute("done")
    assert {record.rule: record.counts for record in engine.records()} == {"clean": False, "shut": True}


def test_a_reason_given_to_finish_does_not_excuse_a_temporal_rule(start: Start) -> None:
    """Only a situational record can be abandoned."""
    engine = start(SHUT, node("box", states=["open"]))
    (record,) = engine.finish("abandoned").failed
    assert record.counts


# -- ignorance -------------------------------------------------------------------------------------


def test_ignorance_never_passes(start: Start) -> None:
    """Ignorance never passes: a fact that was forgotten still counts as holding for the records opened before."""
    engine = start(SHUT, node("box", states=["open"]))
    change = engine.apply(forgotten("box", "open"))
    assert (names(change.vanished), names(change.passed)) == (["shut(box)"], [])
    assert pending(engine) == ["shut(box)"]
    assert names(engine.probe("done")) == ["shut(box)"]
    assert names(engine.execute("done").failed) == ["shut(box)"]


def test_what_is_seen_again_ends_the_ignorance(start: Start) -> None:
    """A fact that was forgotten counts as holding until it is seen to be false."""
    engine = start(SHUT, node("box", states=["open"]))
    engine.apply(forgotten("box", "open"))
    engine.apply({})
    (record,) = engine.apply(gone("box", "open")).passed
    assert (record.t_on, record.t_off) == (0, 3)


def test_ignorance_does_not_excuse_the_action(start: Start) -> None:
    """A fact that was forgotten still counts as holding: executing the action fails."""
    engine = start(CLEAN, PEACH, PLATE)
    engine.intend("place_on_top(peach, plate)")
    engine.apply(forgotten("plate", "dusty"))
    assert names(engine.probe("place_on_top(peach, plate)")) == ["clean(peach, plate)"]
    assert names(engine.execute("place_on_top(peach, plate)").failed) == ["clean(peach, plate)"]


def test_a_record_is_not_opened_by_what_is_forgotten(start: Start) -> None:
    """A fact that was forgotten counts for the records opened while it was believed, and for no other."""
    engine = start(CLEAN, PEACH, PLATE)
    engine.apply(forgotten("plate", "dusty"))
    assert names(engine.intend("place_on_top(peach, plate)").opened) == []
    assert names(engine.execute("place_on_top(peach, plate)").failed) == []


def test_forgetting_what_was_seen_to_be_false_never_passes(start: Start) -> None:
    """Ignorance never passes, for observed falsehood too."""
    engine = start("rule(r, temporal). hazard(r, X) :- -state(X, open).", node("vent", absent=["open"]))
    assert names(engine.apply(forgotten("vent", "open")).passed) == []
    assert names(engine.apply(seen("vent", "open")).passed) == ["r(vent)"]


def test_forgetting_a_quantity_never_passes(start: Start) -> None:
    """Ignorance never passes, for quantities too."""
    engine = start(pack("rule(r, temporal). hazard(r, X) :- value(X, weight, N), N > 5."), node("a", weight=9))
    assert names(engine.apply(update("a", values={"weight": None})).passed) == []
    assert names(engine.apply(update("a", values={"weight": 3})).passed) == ["r(a)"]


def test_a_target_is_not_met_by_what_is_forgotten(start: Start) -> None:
    """Ignorance never passes: a target needs facts that are believed."""
    engine = start(SHUT_AND_DRY, node("box", states=["open"], absent=["wet"]))
    engine.apply({"update_node_states": [{"node_id": "box", "remove": ["open"], "forget": ["wet"]}]})
    assert pending(engine) == ["shut(box)"]
    engine.apply(gone("box", "wet"))
    assert settled(engine) == [("shut(box)", "passed", "")]


def test_what_is_forgotten_and_seen_in_one_observation_is_refused(start: Start) -> None:
    """A state is added, removed or forgotten, one of the three."""
    engine = start(SHUT, node("box", states=["open"]))
    parts = [{"node_id": "box", "forget": ["open"]}, {"node_id": "box", "remove": ["open"]}]
    with pytest.raises(PatchError):
        engine.apply({"update_node_states": parts})


def test_what_is_forgotten_of_an_object_that_is_renewed(start: Start) -> None:
    """A fact that was forgotten counts as holding only as long as nothing else was seen."""
    engine = start(SHUT, node("box", states=["open"]))
    engine.apply(forgotten("box", "open"))
    renewed = {"remove_nodes": ["box"], "add_nodes": [node("box", absent=["open"])]}
    assert names(engine.apply(renewed).passed) == ["shut(box)"]


def test_what_is_forgotten_of_an_object_that_comes_back(start: Start) -> None:
    """A fact that was forgotten counts as holding only as long as nothing else was seen."""
    engine = start(SHUT_AND_DRY, node("box", states=["open"]))
    engine.apply(forgotten("box", "open"))
    engine.apply({"remove_nodes": ["box"]})
    engine.apply(added(node("box", absent=["open", "wet"])))
    assert settled(engine) == [("shut(box)", "passed", "")]


# -- what the agent has moved ----------------------------------------------------------------------

MOVED = "rule(kept, temporal). hazard(kept, X) :- moved(X)."
ON_TABLE = edge("ontop", "cup", "table")


def test_what_the_agent_places_and_is_seen_elsewhere_has_been_moved(start: Start) -> None:
    """`moved(X)`: the agent has moved X in this episode: it placed it, and its support was seen to change."""
    engine = start(MOVED, "cup", "table", "shelf", edges=[ON_TABLE])
    engine.execute("place_on_top(cup, shelf)")
    assert names(engine.triggers()) == []
    assert names(engine.apply(placed("cup", "shelf")).appeared) == ["kept(cup)"]
    engine.apply(placed("cup", "table"))
    assert names(engine.triggers()) == ["kept(cup)"]  # for the rest of the episode


def test_what_had_no_support_before_has_been_moved(start: Start) -> None:
    """`moved(X)`: its support was seen to change, from none to one."""
    engine = start(MOVED, "cup", "shelf")
    engine.execute("place_inside(cup, shelf)")
    assert names(engine.apply(placed("cup", "shelf", "inside")).appeared) == ["kept(cup)"]


def test_what_was_on_top_and_is_inside_has_been_moved(start: Start) -> None:
    """`moved(X)`: its support was seen to change, from on top of a box to inside it."""
    engine = start(MOVED, "cup", "box", edges=[edge("ontop", "cup", "box")])
    engine.execute("place_inside(cup, box)")
    engine.apply({"remove_edges": [edge("ontop", "cup", "box")], "add_edges": [edge("inside", "cup", "box")]})
    assert names(engine.triggers()) == ["kept(cup)"]


def test_what_is_placed_but_seen_where_it_was_has_not_been_moved(start: Start) -> None:
    """`moved(X)` only when the placing was followed by an observed change of the object's support."""
    engine = start(MOVED, "cup", "table", "shelf", edges=[ON_TABLE])
    engine.execute("place_on_top(cup, shelf)")
    assert names(engine.apply(seen("cup", "wet")).appeared) == []


def test_what_is_announced_but_not_executed_has_not_been_moved(start: Start) -> None:
    """`moved(X)` only when a placing skill was executed."""
    engine = start(MOVED, "cup", "table", "shelf", edges=[ON_TABLE])
    engine.intend("place_on_top(cup, shelf)")
    assert names(engine.apply(placed("cup", "shelf")).appeared) == []


def test_what_others_move_has_not_been_moved_by_the_agent(start: Start) -> None:
    """`moved(X)`: the agent has moved X."""
    engine = start(MOVED, "cup", "mug", "table", "shelf", edges=[ON_TABLE])
    engine.execute("place_on_top(mug, shelf)")
    assert names(engine.apply(placed("cup", "shelf")).appeared) == []
    engine.execute("wipe(cup, mug)")
    assert names(engine.apply(placed("cup", "table")).appeared) == []


def test_a_skill_that_places_nothing_moves_nothing(start: Start) -> None:
    """`moved(X)` only when a placing skill was executed."""
    engine = start(MOVED, "cup", "table", "shelf", edges=[ON_TABLE])
    engine.execute("pour_into(cup, shelf)")
    assert names(engine.apply(placed("cup", "shelf")).appeared) == []


def test_what_is_placed_before_another_action_and_one_observation_has_been_moved(start: Start) -> None:
    """`moved(X)`: an executed placing skill was followed by an observed change, two actions later."""
    engine = start(MOVED, "cup", "table", "shelf", edges=[ON_TABLE])
    engine.execute("place_on_top(cup, shelf)")
    engine.execute("wait(table)")
    assert names(engine.apply(placed("cup", "shelf")).appeared) == ["kept(cup)"]


def test_what_has_been_moved_stays_so_when_it_comes_back_into_sight(start: Start) -> None:
    """`moved(X)`: the agent has moved X in this episode."""
    engine = start(MOVED, "cup", "table", "shelf", edges=[ON_TABLE])
    engine.execute("place_on_top(cup, shelf)")
    engine.apply(placed("cup", "shelf"))
    engine.apply({"remove_nodes": ["cup"]})
    assert names(engine.apply(added("cup", edges=[edge("ontop", "cup", "shelf")])).appeared) == ["kept(cup)"]


# -- the paper's examples --------------------------------------------------------------------------


def test_the_plate_is_wiped_before_the_peach_is_placed(start: Start) -> None:
    """The paper's first rule, from the announcement to the safe end."""
    engine = start(household.pack(), PEACH, node("plate", "function_container", states=["stained"]), "rag")
    assert names(engine.intend("place_on_top(peach, plate)").opened) == ["food_on_clean(peach, plate)"]
    engine.execute("wipe(plate, rag)")
    assert names(engine.apply(gone("plate", "stained")).passed) == ["food_on_clean(peach, plate)"]
    engine.execute("place_on_top(peach, plate)")
    engine.apply(placed("peach", "plate"))
    assert names(engine.execute("done").failed) == []


def test_the_engine_answers_at_once(start: Start) -> None:
    """Every verb returns plain data about its own step."""
    engine = start(SHUT, "box")
    with pytest.raises(PatchError):
        engine.apply(seen("bx", "open"))
    (record,) = engine.apply(seen("box", "open")).opened
    assert isinstance(record, Record)
    assert record.verdict == "pending"


def test_a_temporal_rule_with_an_intent_is_unresolved_at_the_end(start: Start) -> None:
    """`execute("done")` settles every record: what was not executed did not fail by being executed."""
    text = (
        "rule(r, temporal). deadline(r, before_intent). hazard(r, X) :- state(X, hot)."
        "threatens(r, X) :- intent(open(X))."
    )
    engine = start(text, node("box", states=["hot"]))
    (record,) = engine.execute("done").failed
    assert (record.reason, record.counts) == ("unresolved", True)
