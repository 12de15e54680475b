"""Footprints: two detectors that agree, and perturbations that do what they say."""

from __future__ import annotations

import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kb_regions import NAMES, events, house, states, steps

from obviate.kb.errors import ObviateError, PatchError
from obviate.kb.event import Event
from obviate.kb.footprint import Footprint, exact, mislabelled, observed, over, reported, under, whole
from obviate.kb.regions import CATEGORIES, Regions

HOUSE = house("hall-kitchen", "hall|attic", "hall=den", kitchen={"mug": 2})
ALL = HOUSE.names()
scopes = st.dictionaries(st.sampled_from(CATEGORIES), st.frozensets(st.sampled_from(NAMES)))
footprints = st.builds(Footprint.of, scopes)
rates, seeds = st.floats(0, 1), st.integers(0, 2**32)


# -- detectors -------------------------------------------------------------------------------------


@settings(max_examples=300)
@given(states, st.lists(events, max_size=8))
def test_what_is_reported_is_what_is_observed(state: Regions, happened: list[Event]) -> None:
    for before, event, after in steps(state, happened):
        found = reported(event, before)
        assert found == observed(before, after)
        assert found.contains(exact(before, after))
        assert found.categories == exact(before, after).categories
        assert dict(exact(before, after).pairs) == before.difference(after)
        assert found.scope("inventory") == exact(before, after).scope("inventory")
        assert all(found.scope(category) == before.names() for category in found.categories - {"inventory"})


@pytest.mark.parametrize(
    ("event", "category", "convention", "own"),
    [
        (Event.remove("mug", "kitchen"), "inventory", {"kitchen"}, {"kitchen"}),
        (Event.relocate("mug", "kitchen", "den"), "inventory", {"kitchen", "den"}, {"kitchen", "den"}),
        (Event.move("den"), "position", ALL, {"hall", "den"}),
        (Event.use("attic"), "history", ALL, {"attic"}),
        (Event.close("kitchen", "hall"), "topology", ALL, {"kitchen", "hall"}),
        (Event.relabel("den", "study"), "label", ALL, {"den"}),
    ],
)
def test_the_convention_and_the_exact_footprint(
    event: Event, category: str, convention: set[str], own: set[str]
) -> None:
    assert reported(event, HOUSE) == Footprint.of({category: convention})
    assert exact(HOUSE, HOUSE.apply(event)) == Footprint.of({category: own})


def test_nothing_changed_is_nothing_reported() -> None:
    assert not reported(Event.move("hall"), HOUSE)
    assert not observed(HOUSE, HOUSE)


def test_an_impossible_event_is_not_reported() -> None:
    with pytest.raises(PatchError, match="unknown-region"):
        reported(Event.move("hal"), HOUSE)


# -- footprints ------------------------------------------------------------------------------------


def test_an_unknown_category_is_refused() -> None:
    with pytest.raises(ObviateError, match="did you mean 'history'"):
        Footprint.of({"histori": ["hall"]})


@given(footprints)
def test_json_round_trip(footprint: Footprint) -> None:
    assert Footprint.of(json.loads(json.dumps(footprint.to_json()))) == footprint
    assert {v: frozenset(regions) for v, regions in footprint.to_json().items()} == dict(footprint.pairs)


@given(footprints, footprints)
def test_containment(one: Footprint, two: Footprint) -> None:
    facts = set(one.facts()), set(two.facts())
    assert one.contains(two) == (facts[0] >= facts[1])
    assert one.contains(Footprint())


def test_the_facts_name_what_changed_and_where() -> None:
    footprint = Footprint.of({"inventory": ["hall"], "label": []})
    assert sorted(map(str, footprint.facts())) == ["changed(inventory)", 'changed(inventory,"hall")', "changed(label)"]


# -- perturbations ---------------------------------------------------------------------------------


@given(footprints, rates, seeds)
def test_perturbations_err_on_their_side_and_by_their_seed(footprint: Footprint, rate: float, seed: int) -> None:
    more, less, wrong = (
        [perturb(footprint, regions, rate, Random(seed)) for regions in (NAMES, reversed(NAMES))]
        for perturb in (over, under, mislabelled)
    )
    assert (more[0], less[0], wrong[0]) == (more[1], less[1], wrong[1])
    assert more[0].contains(footprint)
    assert footprint.contains(less[0])
    assert more[0].categories == less[0].categories == footprint.categories
    assert bool(wrong[0]) == bool(footprint)
    assert whole(NAMES).contains(more[0])


@given(footprints, seeds)
def test_perturbations_at_their_ends(footprint: Footprint, seed: int) -> None:
    for perturb in (over, under, mislabelled):
        assert perturb(footprint, NAMES, 0, Random(seed)) == footprint
    assert over(footprint, NAMES, 1, Random(seed)) == Footprint.of(dict.fromkeys(footprint.categories, NAMES))
    assert under(footprint, NAMES, 1, Random(seed)) == Footprint.of(dict.fromkeys(footprint.categories, ()))


@given(st.sampled_from(CATEGORIES), seeds)
def test_a_wrong_category_has_its_usual_scope(category: str, seed: int) -> None:
    ((wrong, scope),) = mislabelled(Footprint.of({category: ["attic"]}), NAMES, 1, Random(seed)).pairs
    assert wrong != category
    assert len(scope) == (1 if wrong == "inventory" else len(NAMES))


def test_a_rate_says_how_often() -> None:
    regions = [str(n) for n in range(10_000)]
    footprint = Footprint.of({"inventory": regions[:5_000]})
    assert abs(len(over(footprint, regions, 0.3, Random(1)).scope("inventory")) - 6_500) < 200
    assert abs(len(under(footprint, regions, 0.3, Random(1)).scope("inventory")) - 3_500) < 200


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_a_rate_is_a_probability(rate: float) -> None:
    for perturb in (over, under, mislabelled):
        with pytest.raises(ObviateError, match="bad-rate"):
            perturb(Footprint(), NAMES, rate, Random(1))
