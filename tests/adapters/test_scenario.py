"""Scenario files: what they hold, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from obviate.adapters import scenario
from obviate.kb import ObviateError

GOOD = """
title = "A vase in the way"
instruction = "Wipe the table."
plan = ["intend wipe(table, rag)", "wipe(table, rag)", "done"]
goal = ["not covered(table, dust)", "ontop(vase, table)"]

[objects]
table = { kind = "coffee_table", covered = ["dust"] }
vase = { kind = "vase", on = "table", next_to = ["rag"] }
rag = { kind = "rag", on = "table" }
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "own.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_objects_get_places_states_and_tags(tmp_path: Path) -> None:
    task = scenario.read(write(tmp_path, GOOD))
    graph = task.world.graph

    assert graph.has_state("table", "dusty")
    assert graph.has_edge("covered", "table", "dust")
    assert graph.has_edge("ontop", "vase", "table")
    assert graph.has_edge("nextto", "rag", "vase")
    assert "safety_fragile" in graph.nodes["vase"].tags
    assert not task.reached()


def test_a_kind_of_its_own_brings_tags_and_abilities(tmp_path: Path) -> None:
    own = 'urn = { kind = "urn", tags = ["safety_fragile"], abilities = ["openable"] }\n'
    task = scenario.read(write(tmp_path, GOOD + own))

    assert task.world.graph.nodes["urn"].tags == {"safety_fragile"}
    assert task.world.kinds.can("urn", "openable")


BROKEN = {
    "not TOML": ('title = "x', "scenario-malformed", ""),
    "a missing key": (GOOD.replace("instruction", "instructions"), "scenario-malformed", "instruction"),
    "a key of an object misspelt": (
        GOOD.replace("covered =", "coverd ="),
        "scenario-malformed",
        "objects.table.coverd",
    ),
    "an unknown kind": (GOOD.replace('"vase"', '"vaze"'), "unknown-kind", "objects.vase.kind"),
    "an unknown synset": (GOOD.replace('"vase"', '"vsae.n.01"'), "unknown-kind", "objects.vase.kind"),
    "two places": (
        GOOD.replace('on = "table", next', 'on = "table", in = "rag", next'),
        "two-supports",
        "objects.vase.in",
    ),
    "an unknown skill": (GOOD.replace('"wipe(', '"whipe('), "unknown-skill", "plan[1]"),
    "an unknown object in the plan": (
        GOOD.replace('"intend wipe(table, rag)', '"intend wipe(table, rug)'),
        "unknown-object",
        "plan[0]",
    ),
    "a step after the end": (GOOD.replace('"done"]', '"done", "wait(rag)"]'), "scenario-malformed", "plan[3]"),
    "an unknown ability": (
        GOOD + 'u = { kind = "u", abilities = ["openabel"] }',
        "scenario-malformed",
        "objects.u.abilities",
    ),
    "a word for a list": (
        GOOD.replace('covered = ["dust"]', 'covered = "dust"'),
        "scenario-malformed",
        "objects.table.covered",
    ),
    "an unknown tag": (GOOD + 'u = { kind = "u", tags = ["fragil"] }', "undeclared-name", "objects.u.tags"),
    "an undeclared state": (GOOD.replace('covered = ["dust"]', 'states = ["dustyy"]'), "undeclared-name", "states"),
    "an unknown place": (GOOD.replace('on = "table", next', 'on = "tabel", next'), "unknown-object", "objects.vase.on"),
    "an action that cannot be read": (
        GOOD.replace("intend wipe(table, rag)", "wipe(table"),
        "action-syntax",
        "plan[0]",
    ),
    "a goal that cannot be read": (
        GOOD.replace("ontop(vase, table)", "vase on table"),
        "scenario-malformed",
        "goal[1]",
    ),
    "a goal of no relation": (GOOD.replace("ontop(vase", "atop(vase"), "undeclared-name", "goal[1]"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_scenario_names_its_place(what: str, tmp_path: Path) -> None:
    text, code, place = BROKEN[what]
    with pytest.raises(ObviateError) as caught:
        scenario.read(write(tmp_path, text))

    assert caught.value.code == code
    assert place in str(caught.value.where)
