"""Every sentence of the schemas and of the grammar becomes a rule that loads and checks clean."""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random

import pytest
import tiny_model
from form_strategies import sentence
from hypothesis import given
from hypothesis import strategies as st

from obviate.compilers.rules import schema
from obviate.compilers.rules.emission import clean, emitted, pack_text, rule_name
from obviate.compilers.rules.grammar import grammar, read_sentence
from obviate.compilers.rules.settling import settle
from obviate.compilers.rules.shape import Shape, Words, read_shape
from obviate.compilers.spec import Grammar, Json, preflight, recheck
from obviate.engine.analysis import analysis
from obviate.kb import Pack, Vocabulary, household
from obviate.kb.errors import DecodeError

SOAK = os.environ.get("OBVIATE_SOAK") == "1"
HOUSEHOLD = household.vocabulary()
LAB = """
unary((sealed; running)). relation((inside; clipped)). support(inside). tag_name((vial; rack; laser)).
skill((grip; fire), 1). skill(move, 3). skill(home, 0). quantity(temperature, celsius).
"""


def lab(folder: Path) -> Vocabulary:
    file = folder / "lab.lp"
    file.write_text(LAB, encoding="utf-8")
    return Vocabulary.load(file)


def errors(shape: Shape, vocabulary: Vocabulary) -> list[str]:
    """What `obviate check` finds wrong with the rule of a form."""
    written = emitted(settle(shape, vocabulary).shape, "rule_of_form", "Do as told.", vocabulary)
    texts = {"form.lp": pack_text([written], title="form")}
    found = list(Pack.problems(texts, vocabulary=vocabulary))
    if not any(problem.severity == "error" for problem in found):
        found += analysis(Pack.of(texts, vocabulary=vocabulary), seconds=2 if SOAK else 0.3)
    return [str(problem) for problem in found if problem.severity == "error"]


def forms(vocabulary: Vocabulary, count: int, first: int = 0) -> list[Shape]:
    kinds = schema.rule(Words.of(vocabulary))
    texts = (json.dumps(sentence(kinds, Random(seed))) for seed in range(first, first + count))
    return [read_shape(recheck(Json(kinds), text), vocabulary) for text in texts]


def test_every_random_form_checks_clean(tmp_path: Path) -> None:
    for vocabulary in (HOUSEHOLD, lab(tmp_path)):
        preflight(Json(schema.rule(Words.of(vocabulary))))
        for shape in forms(vocabulary, 5):
            assert errors(shape, vocabulary) == []


@pytest.mark.soak
def test_two_thousand_random_forms_check_clean() -> None:
    for shape in forms(HOUSEHOLD, 2_000 if SOAK else 20, first=10_000):
        assert errors(shape, HOUSEHOLD) == []


@pytest.mark.soak
def test_forms_of_a_random_model_check_clean() -> None:
    kind = schema.rule(Words.of(HOUSEHOLD))
    spec, like = Json(kind), [json.dumps(sentence(kind, Random(seed))) for seed in range(200)]
    for text in tiny_model.samples(spec, 2_000 if SOAK else 100, like=like):
        assert errors(read_shape(recheck(spec, text), HOUSEHOLD), HOUSEHOLD) == []


@pytest.mark.soak
@pytest.mark.parametrize("mode", ["situational", "temporal"])
def test_stages_of_a_random_model_check_clean(mode: str) -> None:
    """Hazard and intents by one schema, the target by another, as the compiler asks for them."""
    words, count = Words.of(HOUSEHOLD), 2_000 if SOAK else 25
    written = []
    for kind in (schema.grounding(words, mode), schema.verification(words)):
        like = [json.dumps(sentence(kind, Random(seed))) for seed in range(200)]
        texts = tiny_model.samples(Json(kind), count, like=like)
        written.append([json.loads(recheck(Json(kind), text)) for text in texts])
    for ground, target in zip(*written, strict=True):
        assert errors(read_shape(json.dumps({"mode": mode, **ground, **target}), HOUSEHOLD), HOUSEHOLD) == []


@pytest.mark.soak
def test_sentences_of_a_random_model_check_clean() -> None:
    words = Words.of(HOUSEHOLD)
    spec, like = Grammar(grammar(words)), [rule.text for rule in household.pack().program.rules]
    for text in tiny_model.samples(spec, 500 if SOAK else 25, like=like):
        assert errors(read_sentence(text, words), HOUSEHOLD) == []


def test_the_stages_offer_only_the_words_that_were_found() -> None:
    words = Words(("heavy",), (), ("inside",), {"grip": 1}, ())
    for mode in ("situational", "temporal"):
        preflight(Json(schema.grounding(words, mode)))
        answer = sentence(schema.grounding(words, mode), Random(3))
        assert ("threats" in answer) == (mode == "situational")
        assert "dusty" not in json.dumps(schema.grounding(words, mode))
    for kind in (schema.concepts(words), schema.verification(words), schema.intents(words, ("X",))):
        preflight(Json(kind))


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"about": ["W"]}, "about"),
        ({"threats": [{"skills": ["fly"], "args": ["X"]}]}, "skills"),
        ({"threats": [{"skills": ["open"], "args": ["X", "Y"]}]}, "args"),
        ({"threats": []}, ""),
        ({"hazard": [[{"object": "X", "tags": [["food"]]}]]}, "tags"),
        ({"hazard": [[{"object": "X", "states": [[]]}]]}, ""),
        ({"hazard": [[{"object": "U"}]]}, "object"),
        ({"hazard": [[{"object": "X", "at": [{"relations": ["ontop"], "of": "Y) :- x"}]}]]}, "of"),
        ({"deadline": 5_000}, ""),
        ({"more": 1}, "more"),
    ],
)
def test_a_form_that_no_schema_allows_is_refused(change: dict[str, object], where: str) -> None:
    form = {
        "mode": "situational",
        "about": ["X"],
        "hazard": [[{"object": "X", "tags": [["safety_food"]]}]],
        "threats": [{"skills": ["open"], "args": ["X"]}],
    }
    read_shape(json.dumps(form), HOUSEHOLD)
    with pytest.raises(DecodeError) as caught:
        read_shape(json.dumps({**form, **change}), HOUSEHOLD)
    assert (caught.value.code, caught.value.where) == ("form-malformed", where)


def test_a_contradiction_is_dropped_and_told() -> None:
    form = {
        "mode": "temporal",
        "about": ["X"],
        "hazard": [
            [
                {
                    "object": "X",
                    "states": [["open"]],
                    "not_states": ["open"],
                    "tags": [["heavy", "sharp"]],
                    "not_tags": ["sharp"],
                }
            ]
        ],
        "target": [[{"object": "X", "states": [["open"]]}]],
    }
    settled = settle(read_shape(json.dumps(form), HOUSEHOLD), HOUSEHOLD)
    (thing,) = settled.shape.hazard[0]
    assert (thing.states, thing.not_states) == ((("open",),), ())
    assert (thing.tags, thing.not_tags) == ((("heavy",),), ("sharp",))  # which means the same
    assert settled.shape.target == ()
    assert len(settled.dropped) == 2


# -- strangers' texts ------------------------------------------------------------------------------

SHAPE = Shape.model_validate({"mode": "temporal", "about": ["X"], "hazard": [[{"object": "X", "states": [["open"]]}]]})
HOSTILE = [
    '". rule(x, temporal). %',
    "*% rule(evil, temporal).",
    "a\nrule(evil, temporal).",
    "%* open",
    "\\",
    '\\"). a.',
    "#script(lua)",
]


@given(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=80)))
def test_what_a_principle_says_never_becomes_code(principle: str) -> None:
    written = emitted(SHAPE, rule_name(principle), principle, HOUSEHOLD)
    pack = Pack.of({"p.lp": pack_text([written], title=principle)}, vocabulary=HOUSEHOLD)
    (rule,) = pack.rules.values()
    assert rule.principle == clean(principle)
    assert len(pack.program.rules) == 3
    assert pack.program.others == ()


@given(st.text(max_size=80), st.lists(st.sampled_from(["close_cabinets", "rule", "close_cabinets_2"])))
def test_names_of_rules_are_plain_and_new(principle: str, taken: list[str]) -> None:
    name = rule_name(principle, taken)
    assert name.isidentifier()
    assert name.islower()
    assert name not in taken


# -- the grammar -----------------------------------------------------------------------------------

SENTENCE = """situational(X,Y).
hazard :- tag(X, safety_food), tag(Y, (function_container; function_surface)), state(Y, dusty), lacks(X, within, sharp).
threatens :- intent(place_on_top(X,Y)), tag(Y, heavy).
resolved :- not state(Y, dusty), -state(Y, hot), edge(inside, X, U).
"""


def test_a_sentence_is_read_as_it_is_meant() -> None:
    words = Words.of(HOUSEHOLD)
    recheck(Grammar(grammar(words)), SENTENCE)
    text = emitted(settle(read_sentence(SENTENCE, words), HOUSEHOLD).shape, "r", "Say.", HOUSEHOLD).text
    assert "hazard(r, (X,Y)) :-" in text
    assert "not is_within_sharp(X)" in text
    assert "threatens(r, (X,Y)) :- intent(place_on_top(X,Y)), tag(Y, heavy)." in text
    assert "-state(Y, hot)" in text


CROWDED = """temporal(X).
hazard :- state(Z, unfolded), tag(X, heavy).
resolved :- moved(U), moved(Y), not state(V, toggled_on).
"""


def test_a_target_about_too_many_objects_keeps_three() -> None:
    settled = settle(read_sentence(CROWDED, Words.of(HOUSEHOLD)), HOUSEHOLD)
    assert [what.partition(",")[0] for what in settled.dropped] == ["target: more than 3 objects"]
    assert errors(settled.shape, HOUSEHOLD) == []


def test_what_is_no_sentence_is_refused() -> None:
    for text in ("", "situational(X).\n", SENTENCE.replace("dusty", "tired"), SENTENCE + "#script."):
        with pytest.raises(DecodeError) as caught:
            read_sentence(text, Words.of(HOUSEHOLD))
        assert caught.value.code == "form-malformed"
