"""Footprints from scans: what is reported, how the thresholds are fixed, and what may be concluded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obviate.adapters.cli.mind import bench_mind
from obviate.adapters.mind.detection import (
    Localized,
    Noisy,
    Point,
    Removal,
    Scan,
    calibrate,
    draw,
    evaluate,
    experiment,
    lower_bound,
    operating_points,
    removal_footprint,
)
from obviate.adapters.procthor import House, shipped
from obviate.kb.errors import DataError, ObviateError
from obviate.kb.regions import Regions

PERFECT = Noisy()
RATES = st.floats(0, 1)
COUNTS = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 9))


@cache
def houses() -> tuple[House, ...]:
    return tuple(shipped())


def house(counts: Mapping[str, int], name: str = "house") -> House:
    regions = {
        region: {"label": "room", "inventory": {"chair": count} if count else {}} for region, count in counts.items()
    }
    return House(name, Regions.of({"regions": regions, "at": min(counts)}))


def scope(before: Mapping[str, int], after: Mapping[str, int], multiplicity: int) -> frozenset[str]:
    return removal_footprint(before, after, multiplicity=multiplicity).scope("inventory")


# -- footprints --------------------------------------------------------------------------------------


def test_a_room_is_reported_for_a_change_or_for_many() -> None:
    before, after = {"a": 2, "b": 6, "c": 0, "d": 5}, {"a": 1, "b": 6, "c": 1, "d": 5}
    assert scope(before, after, 6) == {"a", "b", "c"}
    assert scope(before, after, 7) == {"a", "c"}
    assert scope(before, after, 0) == {"a", "b", "c", "d"}


def test_a_report_of_nowhere_is_still_a_report() -> None:
    assert removal_footprint({"a": 1}, {"a": 1}, multiplicity=2).categories == {"inventory"}


def test_a_room_scanned_once_is_reported() -> None:
    assert scope({"a": 0, "b": 1}, {"b": 1, "c": 0}, 9) == {"a", "c"}


@given(COUNTS, COUNTS, st.integers(0, 9))
def test_a_higher_multiplicity_reports_no_more(
    before: dict[str, int], after: dict[str, int], multiplicity: int
) -> None:
    assert scope(before, after, multiplicity + 1) <= scope(before, after, multiplicity)


@given(st.dictionaries(st.sampled_from("abcd"), st.integers(0, 9), min_size=1), st.data(), st.integers(0, 11))
def test_a_perfect_detector_finds_the_room_and_else_only_rooms_of_many(
    counts: dict[str, int], data: st.DataObject, multiplicity: int
) -> None:
    counts["a"] = counts.get("a", 0) + 1
    region = data.draw(st.sampled_from([region for region, count in counts.items() if count]))
    removal = Removal.of(house(counts), "chair", region)
    before, after = PERFECT.counts(removal.before, "chair"), PERFECT.counts(removal.after, "chair")
    assert before == counts
    many = {other for other, count in counts.items() if count >= multiplicity}
    assert scope(before, after, multiplicity) == {region} | many


# -- the simulated detector ----------------------------------------------------------------------------


@given(RATES, RATES, RATES, st.integers(0, 99))
def test_noise_is_bounded_and_the_same_for_the_same_seed(
    recall: float, spurious: float, steady: float, seed: int
) -> None:
    scan = Scan("house", "before", house({"a": 4, "b": 0}).regions)
    found = Noisy(recall, spurious, steady, seed).counts(scan, "chair")
    assert found == Noisy(recall, spurious, steady, seed).counts(scan, "chair")
    assert found.keys() == {"a", "b"}
    assert 0 <= found["a"] <= 5
    assert 0 <= found["b"] <= 1


def test_rates_are_what_they_say() -> None:
    state = house({"a": 2_000, **{f"r{i}": 0 for i in range(500)}}).regions
    found = dict(Noisy(0.8, 0.3, 0.5).counts(Scan("house", "before", state), "chair"))
    assert found.pop("a") / 2_000 == pytest.approx(0.8, abs=0.04)
    assert sum(found.values()) / 500 == pytest.approx(0.3, abs=0.08)


def test_steady_scans_agree_and_others_do_not() -> None:
    state = house({f"r{i}": 1 for i in range(500)}).regions
    changes = []
    for steady in (0.0, 0.9, 1.0):
        detector = Noisy(0.5, 0.0, steady)
        before, after = (detector.counts(Scan("house", moment, state), "chair") for moment in ("before", "after"))
        changes.append(sum(before[region] != after[region] for region in before))
    assert changes[0] == pytest.approx(250, abs=50)  # two independent halves differ half of the time
    assert changes[1] == pytest.approx(500 * (1 - 0.9**2) / 2, abs=25)
    assert changes[2] == 0


@pytest.mark.parametrize("rates", [{"recall": 1.1}, {"spurious": -0.1}, {"steady": float("nan")}])
def test_a_rate_is_a_probability(rates: dict[str, float]) -> None:
    with pytest.raises(ObviateError, match="is no probability") as caught:
        Noisy(**rates)  # type: ignore[arg-type]
    assert (caught.value.code, caught.value.where) == ("bad-rate", *rates)


# -- thresholds ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Blind:
    """Sees everything, except that there is one less among `many` or more."""

    many: int

    def counts(self, scan: Scan, type: str) -> Mapping[str, int]:
        seen = {region: inventory.get(type, 0) for region, inventory in scan.state.inventories.items()}
        return {region: self.many if count == self.many - 1 else count for region, count in seen.items()}


def test_calibration_fixes_the_smallest_footprint_that_misses_nothing() -> None:
    removals = [Removal.of(house({"a": 3, "b": 4, "c": 1}), "chair", region) for region in ("b", "c")]
    assert calibrate([Blind(4)], removals) == Point(Blind(4), 2)  # as small as 3 and 4, and safer
    assert evaluate(Point(Blind(4), 4), removals) == Localized(2, 2, 2.5, 3.0)  # a looks like 4 too
    assert evaluate(Point(Blind(4), 5), removals) == Localized(2, 1, 0.5, 3.0)
    assert calibrate([Blind(4), PERFECT], removals).detector == PERFECT


def test_a_blind_detector_leaves_every_room() -> None:
    removals = [Removal.of(house({"a": 3, "b": 0}), "chair", "a")]
    nothing = Noisy(recall=0)
    assert calibrate([nothing], removals) == Point(nothing, 0)
    assert evaluate(Point(nothing, 0), removals) == Localized(1, 1, 2.0, 2.0)


@pytest.mark.parametrize("seed", range(3))
def test_calibration_always_contains(seed: int) -> None:
    removals = draw(houses(), seed=seed)
    found = evaluate(calibrate(operating_points(seed), removals), removals)
    assert found.contained == found.events == len(removals)


def test_nothing_to_calibrate_on_is_told() -> None:
    removals = [Removal.of(house({"a": 3, "b": 0}), "chair", "a")]
    for detectors, events in (([], removals), ([PERFECT], [])):
        with pytest.raises(DataError, match="nothing to calibrate on"):
            calibrate(detectors, events)
    assert evaluate(Point(PERFECT, 1), []).bound == 0


# -- the bound -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("contained", "events", "bound"),
    [(54, 54, 0.946), (1, 1, 0.05), (0, 10, 0.0), (0, 0, 0.0), (5, 10, 0.2224), (1, 10, 0.0051), (9, 10, 0.6058)],
)
def test_known_bounds(contained: int, events: int, bound: float) -> None:
    assert lower_bound(contained, events) == pytest.approx(bound, abs=5e-4)


def test_bounds_of_many_events() -> None:
    assert lower_bound(99_000, 100_000) == pytest.approx(0.98947, abs=1e-4)
    assert lower_bound(1_000, 1_000) == pytest.approx(0.05 ** (1 / 1_000))


@given(st.integers(1, 80), st.data())
def test_the_bound_is_monotone_and_below_the_rate(events: int, data: st.DataObject) -> None:
    contained = data.draw(st.integers(1, events))
    bound = lower_bound(contained, events)
    assert lower_bound(contained - 1, events) < bound < contained / events
    assert lower_bound(contained, events + 1) < bound < lower_bound(contained + 1, events + 1)
    assert lower_bound(contained, events, confidence=0.99) < bound


@pytest.mark.parametrize(("contained", "events", "confidence"), [(55, 54, 0.95), (-1, 3, 0.95), (1, 2, 1.0)])
def test_what_has_no_bound_is_refused(contained: int, events: int, confidence: float) -> None:
    with pytest.raises(ObviateError, match="has no bound"):
        lower_bound(contained, events, confidence=confidence)


# -- the experiment ------------------------------------------------------------------------------------


def test_removals_are_one_in_each_house_of_two_rooms_and_do_not_depend_on_order() -> None:
    removals = draw(houses(), seed=0)
    assert removals == draw(houses()[::-1], seed=0) != draw(houses(), seed=1)
    names = [removal.before.house for removal in removals]
    assert len(set(names)) == len(names) == 50
    assert all(len(removal.before.state) > 1 for removal in removals)
    for removal in removals:
        assert removal.before.state.difference(removal.after.state) == {"inventory": {removal.region}}
    assert draw([house({"a": 1}), house({"a": 0, "b": 0}, "empty")], seed=0) == []


def test_a_perfect_detector_needs_one_room() -> None:
    found = experiment(houses(), seed=0, detectors=[PERFECT])
    for part in (found.calibration, found.held_out):
        assert (part.contained, part.footprint_mean) == (part.events, 1.0)


def test_the_experiment_is_the_same_for_the_same_seed_and_worse_with_noise() -> None:
    found = experiment(houses(), seed=0)
    assert found == experiment(houses(), seed=0)
    assert (found.calibration.events, found.held_out.events) == (21, 29)
    assert found.calibration.contained == 21
    means = [
        experiment(houses(), seed=0, detectors=[Noisy(1.0, rate)]).held_out.footprint_mean for rate in (0.0, 0.1, 0.4)
    ]
    assert all(less < more for less, more in pairwise(means))


def test_its_json_has_a_bound_only_where_it_says_something() -> None:
    data = experiment(houses(), seed=0).to_json()
    assert data["held_out"]["lower_bound"] < data["held_out"]["contained"] / data["held_out"]["events"]
    assert "lower_bound" not in data["calibration"]


def test_too_few_houses_are_told() -> None:
    with pytest.raises(DataError, match="1 houses have two rooms") as caught:
        experiment([house({"chairs": 1, "none": 0}), house({"a": 1}, "small")], seed=0)
    assert caught.value.code == "too-few-houses"


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench_mind([], seed=0, policies=["ours"], footprints=False, detection=True, json=False)
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("held out"))
    found = experiment(houses(), seed=0).held_out
    assert row.split()[2:4] == [f"{found.contained}/{found.events}", f"{found.bound:.3f}"]
