"""Event footprints: which state categories an event changed, and for which regions (MIND paper, Section IV-B).

`reported` and `observed` follow the paper's convention, `exact` is narrower; the perturbations are those of
Section VI-C.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from obviate.kb.errors import ObviateError, VocabularyError, nearest
from obviate.kb.event import Event
from obviate.kb.regions import CATEGORIES, Regions
from obviate.kb.terms import Atom, Fun

__all__ = ["Footprint", "exact", "mislabelled", "observed", "over", "reported", "under", "whole"]


@dataclass(frozen=True, slots=True)
class Footprint:
    """The pairs (v, A_v) of equation (10): a category reported changed, and its invalidation scope.

    At most one pair for each category; made by `of`. A category can be reported with no region, which still asks
    for a new selection.
    """

    pairs: frozenset[tuple[str, frozenset[str]]] = frozenset()

    @classmethod
    def of(cls, scopes: Mapping[str, Iterable[str]]) -> Footprint:
        """A footprint from the regions of each category. Raises `VocabularyError` (``unknown-category``)."""
        for category in scopes:
            if category not in CATEGORIES:
                help = nearest(category, CATEGORIES)
                raise VocabularyError("unknown-category", f"{category!r} is no state category", help=help)
        return cls(frozenset((category, frozenset(regions)) for category, regions in scopes.items()))

    def __bool__(self) -> bool:
        return bool(self.pairs)

    @property
    def categories(self) -> frozenset[str]:
        """The categories reported changed."""
        return frozenset(category for category, _ in self.pairs)

    def scope(self, category: str) -> frozenset[str]:
        """The regions reported for `category`; none when it is not reported."""
        return dict(self.pairs).get(category, frozenset())

    def contains(self, other: Footprint) -> bool:
        """Whether this footprint covers `other`: each of its pairs has one here with no fewer regions."""
        mine = dict(self.pairs)
        return all(category in mine and regions <= mine[category] for category, regions in other.pairs)

    def facts(self) -> Iterator[Atom]:
        """``changed(V)`` for each category, and ``changed(V,R)`` for each region of its scope."""
        for category, regions in self.pairs:
            yield Atom("changed", (Fun(category),))
            yield from (Atom("changed", (Fun(category), region)) for region in regions)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data in a fixed order, which `of` reads."""
        return {category: sorted(self.scope(category)) for category in CATEGORIES if category in self.categories}


# -- detectors ---------------------------------------------------------------------------------------


def reported(event: Event, state: Regions) -> Footprint:
    """The reference footprint of an event about to change `state`: its rooms for inventory, else all regions.

    Empty when the event changes nothing. Raises as `Regions.apply`.
    """
    if state.apply(event) is state:
        return Footprint()
    return _conventional({event.category: event.regions}, state)


def observed(before: Regions, after: Regions) -> Footprint:
    """The reference footprint found by differencing two states: changed rooms for inventory, else all regions."""
    return _conventional(before.difference(after), after)


def exact(before: Regions, after: Regions) -> Footprint:
    """Only the regions whose own value changed, as `Regions.difference` defines it.

    Enough for a qualification that reads nothing but the candidate's own values: its inventory and label, whether
    the robot is in it, whether it was used, its own doorways. It is not for one that reads the hops or
    reachability of the candidate, or where else the robot is: a door far away changes those.
    """
    return Footprint.of(before.difference(after))


def _conventional(scopes: Mapping[str, frozenset[str]], state: Regions) -> Footprint:
    return Footprint.of({v: regions if v == "inventory" else state.names() for v, regions in scopes.items()})


# -- perturbations -----------------------------------------------------------------------------------


def over(footprint: Footprint, regions: Iterable[str], rate: float, rng: Random) -> Footprint:
    """Each region outside the scope of a reported category is added to it with probability `rate`.

    Like all perturbations, the same for the same state of `rng`. Raises `ObviateError` (``bad-rate``).
    """
    _check(rate)
    known = sorted(set(regions))
    return Footprint.of(
        {
            category: footprint.scope(category).union(
                region for region in known if region not in footprint.scope(category) and rng.random() < rate
            )
            for category in _ordered(footprint)
        }
    )


def under(footprint: Footprint, regions: Iterable[str], rate: float, rng: Random) -> Footprint:
    """Each of the `regions` in the scope of a category is lost with probability `rate`.

    The category stays reported, even with no region left. Raises `ObviateError` (``bad-rate``).
    """
    _check(rate)
    known = sorted(set(regions))
    return Footprint.of(
        {
            category: footprint.scope(category).difference(
                region for region in known if region in footprint.scope(category) and rng.random() < rate
            )
            for category in _ordered(footprint)
        }
    )


def mislabelled(footprint: Footprint, regions: Iterable[str], rate: float, rng: Random) -> Footprint:
    """Each category is taken for one of the other four with probability `rate`, as a detector's best guess.

    The wrong category has the scope that is usual for it: all regions, and for inventory one region at random.
    Raises `ObviateError` (``bad-rate``).
    """
    _check(rate)
    known = sorted(set(regions))
    scopes: dict[str, frozenset[str]] = {}
    for category in _ordered(footprint):
        scope = footprint.scope(category)
        if rng.random() < rate:
            category = rng.choice([other for other in CATEGORIES if other != category])
            scope = frozenset([rng.choice(known)] if category == "inventory" and known else known)
        scopes[category] = scopes.get(category, frozenset()) | scope
    return Footprint.of(scopes)


def whole(regions: Iterable[str]) -> Footprint:
    """Every category for every region: the answer of a detector that knows only that something changed."""
    return Footprint.of(dict.fromkeys(CATEGORIES, frozenset(regions)))


def _ordered(footprint: Footprint) -> list[str]:
    return [category for category in CATEGORIES if category in footprint.categories]


def _check(rate: float) -> None:
    if not 0 <= rate <= 1:
        raise ObviateError("bad-rate", f"{rate} is no probability", where="rate", help="use a number from 0 to 1")
