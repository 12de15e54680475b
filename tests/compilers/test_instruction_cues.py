"""What the words of instructions say, and the programs that follow: loadable, and read as they should be."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from obviate.compilers.instructions.compiler import Compiler
from obviate.compilers.instructions.cues import CUES, Cues
from obviate.compilers.instructions.development import DEVELOPMENT, FILLS, Template, sentences
from obviate.compilers.instructions.meaning import Meaning, Want, header, name_of
from obviate.compilers.instructions.placements import PLACEMENTS
from obviate.compilers.instructions.words import LABELS, TYPES, Lexicon
from obviate.engine.evaluator import Exact
from obviate.kb.instruction import Instruction
from obviate.kb.question import Question
from obviate.kb.regions import Regions

READER = Cues()
TEMPLATES = [template for templates in DEVELOPMENT.values() for template in templates]
HOUSE = Regions.of(
    {
        "regions": {
            "a": {"label": "kitchen", "inventory": {"mug": 2, "chair": 1}},
            "b": {"label": "hall", "inventory": {"mug": 1}},
            "c": {"label": "kitchen", "inventory": {"stool": 1}},
            "d": {"label": "office"},
        },
        "doors": [["a", "b"], ["b", "c"], ["c", "d"]],
        "at": "c",
        "used": ["a"],
    }
)


def qualifying(meaning: Meaning) -> set[str]:
    """Where the program of a meaning says yes, asked of one region after another."""
    program = Instruction.of(header("i", "") + meaning.rules("i"))
    regions = sorted(HOUSE.names())
    questions = [Question.of("i", HOUSE, region, program.inferred.semantic) for region in regions]
    return {region for region, yes in zip(regions, Exact(program).judge(questions), strict=True) if yes}


@pytest.mark.parametrize("cue", CUES, ids=lambda cue: cue.phrase)
def test_every_cue_occurs_in_development(cue: object) -> None:
    assert cue in READER.cues


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.text)
@pytest.mark.parametrize("fill", FILLS[:3], ids=lambda fill: str(fill[0]))
def test_development_is_understood(template: Template, fill: tuple[str, str, str]) -> None:
    reading = READER.read(template.filled(fill))
    true = PLACEMENTS[template.placement].signature
    assert (reading.signature, reading.unknown) == (true, ())
    assert reading.meaning is not None
    program = Instruction.of(header("i", "") + reading.meaning.rules("i"))
    assert program.inferred == true


def test_a_template_left_out_is_not_known() -> None:
    template = DEVELOPMENT["history-dependent"][2]
    reading = Cues(without=template).read(template.filled(FILLS[0]))
    assert {"time", "fresh"} <= set(reading.unknown)
    assert reading.meaning is None


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("Get a mug", Meaning((Want(("mug",)),))),
        ("Get me two mugs", Meaning((Want(("mug",), 2),))),
        ("Get 3 mugs", Meaning((Want(("mug",), 3),))),
        ("Find a mug or a cup", Meaning((Want(("cup", "mug")),))),
        ("Find a mug and two plates", Meaning((Want(("mug",)), Want(("plate",), 2)))),
        ("Go to a room without a mug", Meaning((Want(("mug",), 1, True),))),
        ("Find a mug in a room without plates", Meaning((Want(("mug",)), Want(("plate",), 1, True)))),
        ("Go to the kitchen", Meaning(labels=("kitchen",))),
        ("Get a mug from the kitchen or the living room", Meaning((Want(("mug",)),), ("kitchen", "living_room"))),
        ("Get a garbage bag", Meaning((Want(("garbage_bag",)),))),
        ("Get the nearest mug from a room you haven't used", Meaning((Want(("mug",)),), used=False, nearest=True)),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)  # fmt: skip
def test_what_is_understood(text: str, meaning: Meaning) -> None:
    assert READER.read(text).meaning == meaning


@pytest.mark.parametrize(
    "text",
    [
        "Find a cosy place",
        "Take a mug to the kitchen",
        "Take a mug to a table",
        "Get two chairs or a stool",
        "Get a mug from the kitchen to the hall",
        "Get a mug that is not in the kitchen",
        "Another mug, and go back to a room that you used earlier",  # contradicts itself
        "Get it from the room",  # no thing
        "Get any mug but the one in the kitchen",
        "Get any mug but not the one in the kitchen",
    ],
)
def test_what_is_left_open(text: str) -> None:
    assert READER.read(text).meaning is None


@pytest.mark.parametrize(
    ("meaning", "where"),
    [
        (Meaning((Want(("mug",)),)), {"a", "b"}),
        (Meaning((Want(("mug",), 2),)), {"a"}),
        (Meaning((Want(("mug",), 2, True),)), {"b", "c", "d"}),
        (Meaning((Want(("chair", "stool")),)), {"a", "c"}),
        (Meaning((Want(("chair", "mug"), 3),)), {"a"}),
        (Meaning((Want(("chair", "mug"), 2, True),)), {"b", "c", "d"}),
        (Meaning((Want(("mug",)), Want(("chair",)))), {"a"}),
        (Meaning(labels=("kitchen", "office")), {"a", "c", "d"}),
        (Meaning(labels=("kitchen", "office"), unlabelled=True), {"b"}),
        (Meaning(here=True), {"c"}),
        (Meaning(here=False), {"a", "b", "d"}),
        (Meaning(used=True), {"a"}),
        (Meaning((Want(("mug",)),), used=False), {"b"}),
        (Meaning(adjacent=True), {"b", "d"}),
        (Meaning((Want(("mug",)),), adjacent=False), {"a"}),
    ],
)
def test_programs_mean_what_they_say(meaning: Meaning, where: set[str]) -> None:
    assert qualifying(meaning) == where


def test_every_combination_loads() -> None:
    three = (None, True, False)
    wants = [(), (Want(("mug",), 2),), (Want(("cup", "mug"), 2, True), Want(("chair",)))]
    labels = [((), False), (("hall",), False), (("hall", "kitchen"), True)]
    for want, (label, no), here, used, adjacent, nearest in product(wants, labels, three, three, three, (True, False)):
        meaning = Meaning(want, label, no, here, used, adjacent, nearest)
        if meaning not in (Meaning(), Meaning(nearest=True)):
            Instruction.of(header("i", "x") + meaning.rules("i"))


@given(st.text(max_size=60))
def test_any_text_is_read(text: str) -> None:
    READER.read(text)
    name = name_of(text)
    Instruction.of(header(name, text) + Meaning(here=True).rules(name))


@given(st.lists(st.sampled_from([word for _, text in sentences() for word in text.split()]), min_size=1, max_size=12))
@example(["Without", "chair"])  # nothing but a negation: the label, which every region has, is read to name the region
def test_any_words_give_a_program_or_none(words: list[str]) -> None:
    compiled = Compiler().compile(" ".join(words), name="i")
    if compiled.inferred is not None:
        assert compiled.inferred == Instruction.of(compiled.text).inferred
        assert compiled.signature.contains(compiled.inferred)


def test_a_building_has_words_of_its_own() -> None:
    lexicon = Lexicon(TYPES | {"centrifuge"}, LABELS | {"clean_room"})
    reading = Cues(lexicon).read("Bring me the nearest centrifuge from the clean room")
    assert reading.meaning == replace(Meaning((Want(("centrifuge",)),), ("clean_room",)), nearest=True)


def test_cues_are_words_not_parts_of_words() -> None:
    assert READER.read("Get a mug from the therefore").found == ()
    assert READER.read("Get a mug hereafter").found == ()
