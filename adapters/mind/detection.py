"""Footprints from what a robot sees: rooms where fewer or more of a type are detected (MIND paper, Section VI-D).

An object was removed and its type is known; where it was is found from scans of all rooms before and after. As in
the paper, this measures where the event was, not whether there was one.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from collections.abc import Sequence as Many
from dataclasses import dataclass, field
from math import comb, exp, lgamma, log
from random import Random
from typing import Any, Protocol

from obviate.adapters.mind.families import THINGS
from obviate.adapters.procthor.house import House
from obviate.kb.errors import DataError, ObviateError
from obviate.kb.event import Event
from obviate.kb.footprint import Footprint
from obviate.kb.regions import Regions

__all__ = [
    "Detector",
    "Experiment",
    "Localized",
    "Noisy",
    "Point",
    "Removal",
    "Scan",
    "calibrate",
    "draw",
    "evaluate",
    "experiment",
    "lower_bound",
    "operating_points",
    "removal_footprint",
]

CALIBRATION = 41 / 95  # the share of the houses that fixes the thresholds, as in the paper
WANTED = frozenset(type for types in THINGS.values() for type in types)


@dataclass(frozen=True, slots=True)
class Scan:
    """One look into every room of a house, at a `moment` such as before or after an event.

    House and moment tell a detector which images to read; a simulated one reads the true `state`.
    """

    house: str
    moment: str
    state: Regions = field(repr=False)


class Detector(Protocol):
    """Finds objects in scans. Its detection threshold is its own affair."""

    def counts(self, scan: Scan, type: str) -> Mapping[str, int]:
        """How many objects of `type` it detects in each region of the scan, 0 where it detects none."""
        ...


@dataclass(frozen=True, slots=True)
class Noisy:
    """A simulated detector, the same for the same `seed`.

    It detects an object with probability `recall`, and in a room one that is not there with probability `spurious`.
    Matched scans err alike: with probability `steady`, a scan takes an object as the house's other scans do, and
    else by a draw of its own, so 0 makes scans independent and 1 makes them agree. Raises `ObviateError`
    (``bad-rate``).
    """

    recall: float = 1.0
    spurious: float = 0.0
    steady: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("recall", "spurious", "steady"):
            rate = getattr(self, name)
            if not 0 <= rate <= 1:
                raise ObviateError("bad-rate", f"{rate} is no probability", where=name, help="use a number from 0 to 1")

    def __str__(self) -> str:
        rates = f"recall {self.recall:.1%}, false finds in {self.spurious:.1%} of rooms, {self.steady:.0%} steady"
        return f"simulated, {rates}"

    def counts(self, scan: Scan, type: str) -> Mapping[str, int]:
        found = {}
        for region, inventory in scan.state.inventories.items():
            place = f"{self.seed}/{scan.house}/{type}/{region}"
            # Objects of a type are numbered, and the last one is taken first: those that stay keep their draws.
            seen = sum(self._draw(f"{place}/{i}", scan) < self.recall for i in range(inventory.get(type, 0)))
            found[region] = seen + (self._draw(f"{place}/spurious", scan) < self.spurious)
        return found

    def _draw(self, thing: str, scan: Scan) -> float:
        own = Random(f"{thing}/{scan.moment}")
        return Random(thing).random() if own.random() < self.steady else own.random()


def operating_points(seed: int) -> tuple[Noisy, ...]:
    """A simulated detector at three detection thresholds, from low to high: fewer false finds, more misses.

    The numbers are made up, and not those of any real detector.
    """
    return tuple(Noisy(recall, spurious, 0.95, seed) for recall, spurious in ((0.998, 0.4), (0.98, 0.1), (0.9, 0.02)))


def removal_footprint(before: Mapping[str, int], after: Mapping[str, int], *, multiplicity: int) -> Footprint:
    """Where an object may have vanished: the regions whose count changed, or whose count before reaches `multiplicity`.

    Among many objects a detector may miss that there is one less. At 0 every region is reported. A region that
    was scanned only once is reported too, for nothing is known of its change.
    """
    regions = before.keys() | after.keys()
    return Footprint.of(
        {"inventory": (r for r in regions if before.get(r) != after.get(r) or before.get(r, 0) >= multiplicity)}
    )


# -- events --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Removal:
    """One object of `type` was taken from `region` between two scans."""

    type: str
    region: str
    before: Scan
    after: Scan

    @classmethod
    def of(cls, house: House, type: str, region: str) -> Removal:
        """The removal in the house as it is. Raises as `Regions.apply`."""
        after = house.regions.apply(Event.remove(type, region))
        return cls(type, region, Scan(house.name, "before", house.regions), Scan(house.name, "after", after))


def draw(houses: Iterable[House], *, seed: int) -> list[Removal]:
    """One removal in each house, of an object that the benchmark's requests want, in a random order.

    Each such object is as likely as another. Houses with a single room or without a wanted object are left out, since
    there is nothing to find in them. The same for the same houses, in any order, and seed.
    """
    rng = Random(f"{seed} removals")
    removals = []
    for house in sorted(houses, key=lambda house: house.name):
        objects = sorted(
            (type, region)
            for region, inventory in house.regions.inventories.items()
            for type, count in inventory.items()
            if type in WANTED
            for _ in range(count)
        )
        if len(house.regions) > 1 and objects:
            removals.append(Removal.of(house, *rng.choice(objects)))
    rng.shuffle(removals)
    return removals


# -- measuring -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Localized:
    """Of so many `events`, those whose footprint `contained` the affected room, and the rooms of footprints and houses,
    on average.
    """

    events: int
    contained: int
    footprint_mean: float
    rooms_mean: float

    @property
    def bound(self) -> float:
        """The one-sided 95 % lower bound of the rate at which footprints contain the affected room."""
        return lower_bound(self.contained, self.events)

    def to_json(self) -> dict[str, Any]:
        """The result as JSON data, without the bound."""
        return {
            "events": self.events,
            "contained": self.contained,
            "footprint_mean": self.footprint_mean,
            "rooms_mean": self.rooms_mean,
        }


@dataclass(frozen=True, slots=True)
class Point:
    """An operating point: a detector at its threshold, and the multiplicity threshold."""

    detector: Detector
    multiplicity: int


def evaluate(point: Point, removals: Iterable[Removal]) -> Localized:
    """How the footprints at `point` do on `removals`."""
    return _localized([(removal, *_scanned(point.detector, removal)) for removal in removals], point.multiplicity)


def calibrate(detectors: Iterable[Detector], removals: Many[Removal]) -> Point:
    """The operating point with the smallest mean footprint of those that contain the affected room in all `removals`.

    The first detector and the lowest multiplicity of several such. Multiplicity 0 reports every room, so there is
    always one. Raises `DataError` (``too-few-houses``) without a detector or a removal, which would decide nothing.
    """
    best: tuple[float, Point] | None = None
    for detector in detectors if removals else ():
        scanned = [(removal, *_scanned(detector, removal)) for removal in removals]
        most = max((count for _, before, _ in scanned for count in before.values()), default=0)
        for multiplicity in range(most + 2):  # beyond the highest count, only changes are reported
            found = _localized(scanned, multiplicity)
            if found.contained == found.events and (best is None or found.footprint_mean < best[0]):
                best = found.footprint_mean, Point(detector, multiplicity)
    if best is None:
        raise DataError("too-few-houses", "nothing to calibrate on", help="give at least one detector and one removal")
    return best[1]


Scanned = tuple[Removal, Mapping[str, int], Mapping[str, int]]  # with the counts before and after


def _scanned(detector: Detector, removal: Removal) -> tuple[Mapping[str, int], Mapping[str, int]]:
    return detector.counts(removal.before, removal.type), detector.counts(removal.after, removal.type)


def _localized(scanned: Many[Scanned], multiplicity: int) -> Localized:
    scopes = [
        removal_footprint(before, after, multiplicity=multiplicity).scope("inventory") for _, before, after in scanned
    ]
    return Localized(
        events=len(scanned),
        contained=sum(removal.region in scope for (removal, _, _), scope in zip(scanned, scopes, strict=True)),
        footprint_mean=statistics.fmean(map(len, scopes)) if scopes else 0.0,
        rooms_mean=statistics.fmean(len(removal.before.state) for removal, _, _ in scanned) if scanned else 0.0,
    )


def lower_bound(contained: int, events: int, *, confidence: float = 0.95) -> float:
    """The one-sided Clopper-Pearson lower bound of a rate, of which `contained` of `events` were seen.

    The rate at which so many or more come about with probability 1 - `confidence`; 0 when none did. For 54 of 54 it
    is 0.946. Raises `ObviateError` (``bad-rate``) for what is no proportion. Source: C. J. Clopper and E. S.
    Pearson, Biometrika 26 (1934), 404-413.
    """
    if not 0 <= contained <= events or not 0 < confidence < 1:
        message = f"{contained} of {events} at confidence {confidence} has no bound"
        raise ObviateError("bad-rate", message, help="count 0 to all of the events; confidence is between 0 and 1")
    if contained == 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(50):  # halves the interval to 1e-15, which a float can still tell from 1
        middle = (low + high) / 2
        if _tail(contained, events, middle) < 1 - confidence:
            low = middle
        else:
            high = middle
    return low


def _tail(least: int, trials: int, rate: float) -> float:
    """The probability of `least` successes or more; in logarithms, so that many trials do not underflow."""
    return sum(
        exp(_log_choose(trials, k) + k * log(rate) + ((trials - k) * log(1 - rate) if k < trials else 0.0))
        for k in range(least, trials + 1)
    )


def _log_choose(n: int, k: int) -> float:
    return log(comb(n, k)) if n < 1_000 else lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


# -- the experiment ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Experiment:
    """The operating point that was fixed, and how it did on the houses that fixed it and on those held out."""

    point: Point
    calibration: Localized
    held_out: Localized

    def to_json(self) -> dict[str, Any]:
        """The result as JSON data; a bound only for the houses held out, as the others chose the point."""
        return {
            "detector": str(self.point.detector),
            "multiplicity": self.point.multiplicity,
            "calibration": self.calibration.to_json(),
            "held_out": {**self.held_out.to_json(), "lower_bound": self.held_out.bound},
        }


def experiment(houses: Iterable[House], *, seed: int, detectors: Iterable[Detector] | None = None) -> Experiment:
    """Fix the thresholds on 41 of every 95 houses, and measure on the others; one removal in each house.

    Without `detectors`, over `operating_points`. The same for the same houses and seed. Raises `DataError`
    (``too-few-houses``) for fewer than two houses with a second room and a wanted object.
    """
    removals = draw(houses, seed=seed)
    if len(removals) < 2:
        message = f"{len(removals)} houses have two rooms and an object to remove, 2 are needed"
        raise DataError("too-few-houses", message, help="some houses fix the thresholds, others test them: give more")
    split = max(1, int(len(removals) * CALIBRATION))
    calibration, held_out = removals[:split], removals[split:]
    point = calibrate(operating_points(seed) if detectors is None else detectors, calibration)
    return Experiment(point, evaluate(point, calibration), evaluate(point, held_out))
