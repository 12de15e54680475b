"""Random packs of local rules: slices conclude what the whole does, whatever happened before."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from local_strategies import WIDE, local_pack_texts
from packs_strategies import VOCABULARY, pack, pack_texts, patches, scenes
from test_differential import Lockstep, run

from obviate.engine.answers import Answers
from obviate.engine.hazards import Hazards, Seen
from obviate.engine.locality import locality
from obviate.kb import BeliefGraph, Pack
from obviate.kb.errors import ObviateError

SOAK = bool(os.environ.get("OBVIATE_SOAK"))
SHARDS = 4
SCENES = scenes(WIDE, links=8)


@pytest.fixture(autouse=True)
def _without_a_crowd(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a pack costs in a crowd of objects is tried elsewhere, and takes longer than an episode."""
    monkeypatch.setattr("obviate.kb.pack.refuse_costly", lambda *_, **__: None)


class Local(Lockstep):
    """Local rules, in scenes in which walks lead somewhere."""

    packs = local_pack_texts()
    first_scenes = SCENES


class Choosing(Lockstep):
    """A backend that tries others meanwhile."""

    backends = ("auto", "oneshot")
    packs = st.one_of(local_pack_texts(), pack_texts())


@pytest.mark.soak
@pytest.mark.parametrize("shard", range(SHARDS))
def test_local_rules_are_followed_alike(shard: int) -> None:
    run(Local, (10_000 if SOAK else 500) // SHARDS)


@pytest.mark.soak
def test_a_backend_that_chooses_concludes_the_same() -> None:
    run(Choosing, 2_000 if SOAK else 30)


@pytest.mark.soak
@given(local_pack_texts(), SCENES, st.data())
@settings(max_examples=2_000 if SOAK else 50, suppress_health_check=list(HealthCheck))
def test_hazards_that_are_kept_are_those_from_scratch(
    texts: list[str], scene: dict[str, Any], data: st.DataObject
) -> None:
    loaded = pack("\n" + texts[0], "p0")
    graph = first = BeliefGraph.of(VOCABULARY, scene)
    kept = _hazards(loaded)
    before = kept.on(graph)
    for _ in range(5):
        try:
            graph = graph.merge(data.draw(patches(graph)))
        except ObviateError:
            continue
        seen = kept.on(graph)
        assert _said(seen) == _said(_hazards(loaded).on(graph))
        since = kept.since(first.version, seen)
        assert since is not None
        assert since.appeared == set(seen.temporal) - set(before.temporal)
        assert since.vanished == set(before.temporal) - set(seen.temporal)
        assert since.delta.added >= set(graph.facts()) - set(first.facts())
        assert since.delta.removed >= set(first.facts()) - set(graph.facts())


def _hazards(loaded: Pack) -> Hazards:
    plan = locality(loaded)
    return Hazards(plan, Answers(loaded.consts, plan.constants))


def _said(seen: Seen) -> tuple[object, ...]:
    return dict(seen.by_anchor), set(seen.temporal), {place: set(found) for place, found in seen.kept.items()}


def test_most_rules_of_such_packs_are_local() -> None:
    told: Counter[bool] = Counter()

    @given(local_pack_texts())
    @settings(max_examples=60, derandomize=True, database=None)
    def tell(texts: list[str]) -> None:
        loaded = pack("\n" + texts[0], "p0")
        told.update(name not in locality(loaded).reasons for name in loaded.rules)

    tell()
    assert told[True] > 3 * told[False]
