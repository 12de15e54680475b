"""What a pack concludes depends on what it says, not on how: variables, the order of literals and rules, layout."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st
from packs_strategies import BACKENDS, VOCABULARY, actions, pack_texts, scenes

from obviate.engine.backend import Query, backend
from obviate.kb import Action, BeliefGraph, Pack, asp
from obviate.kb.format import formatted
from obviate.kb.tokens import tokenize


def renamed(text: str) -> str:
    """The text with other variables."""
    tokens = tokenize(text)
    return "".join(
        f"{token.text}_of_old" if token.kind == "variable" and token.text.strip("_") else token.text for token in tokens
    )


def reordered(text: str, seed: int) -> str:
    """The text with the literals of each body, and the rules themselves, in another order."""
    chance = random.Random(seed)
    program = asp.parse(text, "pack.lp")
    lines = dict.fromkeys(other.text for other in program.others)
    for rule in program.rules:
        body = [literal.text for literal in rule.body]
        chance.shuffle(body)
        head = rule.text.partition(":-")[0].rstrip(" .") if body else rule.text.rstrip(".")
        lines[f"{head}{' :- ' if body else ''}{'; '.join(body)}."] = None
    shuffled = list(lines)
    chance.shuffle(shuffled)
    return "\n".join(shuffled)


@settings(max_examples=25)
@given(texts=pack_texts(), data=st.data())
def test_conclusions_depend_on_neither_names_nor_order(texts: list[str], data: st.DataObject) -> None:
    text = texts[0]
    others = [renamed(text), reordered(text, data.draw(st.integers(0, 1_000))), formatted(text)]
    packs = [Pack.of(each, vocabulary=VOCABULARY) for each in (text, *others)]
    graph = BeliefGraph.of(VOCABULARY, data.draw(scenes()))
    action = Action.parse(data.draw(actions(graph)))
    for query in (Query(), Query(intent=action), Query(intent=action, executed=action)):
        for name in BACKENDS:
            found = [backend(name, pack).conclude(graph, query) for pack in packs]
            assert found == [found[0]] * len(found)


@settings(max_examples=25)
@given(texts=pack_texts(), data=st.data())
def test_a_pack_without_errors_loads_and_grounds_on_any_scene(texts: list[str], data: st.DataObject) -> None:
    errors = [p for p in Pack.problems({"p.lp": texts[0]}, vocabulary=VOCABULARY) if p.severity == "error"]
    assert errors == []
    pack = Pack.of({"p.lp": texts[0]}, vocabulary=VOCABULARY)
    graph = BeliefGraph.of(VOCABULARY, data.draw(scenes()))
    for name in BACKENDS:
        backend(name, pack).conclude(graph, Query(intent=Action.parse(data.draw(actions(graph)))))
