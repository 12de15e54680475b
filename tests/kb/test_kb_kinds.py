"""Kinds of objects: names, tags and where the tags come from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from obviate.kb import household
from obviate.kb.errors import DataError, ObviateError, VocabularyError
from obviate.kb.kinds import Kinds

TAGS = """
kind_tag("plate.n.04", (function_container; material_ceramic)).
kind_tag("bleach.n.01", (substance; safety_chemical)).
kind_tag("lamp.n.02", safety_fragile).
kind("box.n.01").  kind("box.n.05").
word_tag("vase", safety_fragile).
"""
ABILITIES = {
    "lamp.n.02": {"toggleable": {}},
    "radio.n.01": {"toggleable": {}},
    "sink.n.01": {"toggleable": {}, "particleSource": {"conditions": {"water.n.06": []}}},
    "locker.n.01": {"openable": {}, "sceneObject": {}},
    "syrup.n.01": {"liquid": {}, "cookable": {}},
    "peach.n.03": {"cookable": {}},
}


@pytest.fixture
def kinds(tmp_path: Path) -> Kinds:
    (tmp_path / "tags.lp").write_text(TAGS)
    (tmp_path / "abilities.json").write_text(json.dumps(ABILITIES))
    return Kinds.load(household.vocabulary(), tags=tmp_path / "tags.lp", abilities=tmp_path / "abilities.json")


@pytest.mark.parametrize("name", ["plate.n.04", "plate", "radio.n.01", "radio"])
def test_a_kind_goes_by_its_synset_or_its_word(kinds: Kinds, name: str) -> None:
    assert kinds.resolve(name).split(".")[0] == name.split(".")[0]
    assert ".n." in kinds.resolve(name)


def test_a_synset_that_nobody_described_is_refused(kinds: Kinds) -> None:
    with pytest.raises(DataError) as refused:
        kinds.resolve("gizmo.n.01", "here")
    assert (refused.value.code, refused.value.where) == ("unknown-kind", "here")


@pytest.mark.parametrize(
    ("name", "help"),
    [("plat", "did you mean 'plate'?"), ("box", "it could be box.n.01 or box.n.05")],
)
def test_an_unclear_kind_is_refused_with_what_is_near(kinds: Kinds, name: str, help: str) -> None:
    with pytest.raises(DataError, match=f"'{name}'") as refused:
        kinds.resolve(name, "objects[2]")
    assert (refused.value.code, refused.value.where, refused.value.help) == ("unknown-kind", "objects[2]", help)


@pytest.mark.parametrize(
    ("kind", "tags", "source"),
    [
        ("plate.n.04", {"function_container", "material_ceramic"}, "table"),
        ("box.n.01", set(), "table"),
        ("lamp.n.02", {"safety_fragile"}, "table"),  # the table wins over abilities
        ("vase.n.07", {"safety_fragile"}, "table"),
        ("peach.n.03", {"safety_food"}, "inferred"),
        ("radio.n.01", {"function_electrical_appliance"}, "inferred"),
        ("sink.n.01", {"function_water_source"}, "inferred"),
        ("locker.n.01", {"function_storage"}, "inferred"),
        ("syrup.n.01", {"substance"}, "inferred"),
        ("bottle__of__bleach.n.01", {"safety_chemical"}, "inferred"),
        ("bleach__vial.n.01", {"safety_chemical", "safety_flammable", "function_container"}, "inferred"),
        ("gizmo.n.01", set(), "unknown"),
    ],
)
def test_tags_say_where_they_come_from(kinds: Kinds, kind: str, tags: set[str], source: str) -> None:
    tagging = kinds.tagging(kind)
    assert (set(tagging.tags), tagging.source) == (tags, source)


def test_a_kind_missing_from_the_given_abilities_keeps_the_shipped_entry(kinds: Kinds) -> None:
    assert kinds.can("apple.n.01", "sliceable")
    assert Kinds.load(household.vocabulary()).can("apple.n.01", "sliceable")


@pytest.mark.parametrize("text", ["{", "[]", "3", '{"plate.n.04": 3}', '{"plate.n.04": ["openable"]}', "[" * 100_000])
def test_a_malformed_ability_file_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "abilities.json"
    file.write_text(text)
    with pytest.raises(DataError) as refused:
        Kinds.load(household.vocabulary(), abilities=file)
    assert (refused.value.code, refused.value.where) == ("file-malformed", str(file))


@pytest.mark.parametrize(
    "abilities",
    [{"heatSource": 3}, {"particleSource": {"conditions": 3}}, {"particleRemover": []}],
)
def test_abilities_with_malformed_parameters_are_refused(tmp_path: Path, abilities: object) -> None:
    file = tmp_path / "abilities.json"
    file.write_text(json.dumps({"gadget.n.01": abilities}))
    with pytest.raises(DataError, match="gadget"):
        Kinds.load(household.vocabulary(), abilities=file)


def test_an_undeclared_tag_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "tags.lp"
    file.write_text('kind_tag("plate.n.04", safety_fod).')
    with pytest.raises(VocabularyError) as refused:
        Kinds.load(household.vocabulary(), tags=file)
    assert (refused.value.where, refused.value.help) == (str(file), "did you mean 'safety_food'?")


@pytest.mark.parametrize("text", ['kind_tga("plate.n.04", safety_food).', 'kind_tag("plate.n.04").', "kind("])
def test_a_statement_that_a_tag_table_cannot_use_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "tags.lp"
    file.write_text(text)
    with pytest.raises(ObviateError):
        Kinds.load(household.vocabulary(), tags=file)


def test_the_action_theory_learns_the_declared_order_and_abilities(kinds: Kinds) -> None:
    found = set(map(str, kinds.facts({"s_1": "sink.n.01", "w_1": "water.n.06"})))
    assert {
        'order("s_1",0)',
        'order("w_1",1)',
        'of_kind("s_1","sink.n.01")',
        'ability("s_1",toggleable)',
        'substance("w_1")',
        'shows_as("w_1",wet)',
        'source("s_1","w_1")',
    } <= found
    assert 'substance("s_1")' not in found


@pytest.mark.parametrize(
    ("name", "kind"),
    [("vinegar", "vinegar.n.01"), ("tofu", "tofu.n.02"), ("vase", "vase"), ("plate.n.04", "plate.n.04")],
)
def test_a_word_means_its_synset_before_the_word_itself(name: str, kind: str) -> None:
    """A synset has abilities; a word of the tag table has tags alone."""
    assert Kinds.load(household.vocabulary()).resolve(name) == kind
