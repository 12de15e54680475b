"""Which regions can be reached from one of them, and how far they are, kept up to date as doors open and close."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from types import MappingProxyType
from typing import TypeAlias

from rpds import HashTrieMap

__all__ = ["Door", "Walk"]


@dataclass(frozen=True, slots=True)
class Door:
    """What joins two regions: a door that is `passable` or not, or an open `passage`, which nothing can close."""

    passable: bool = True
    passage: bool = False


Doors: TypeAlias = "HashTrieMap[str, HashTrieMap[str, Door]]"  # from both sides


class Walk:
    """The hops from `start` through passable doorways, found when first asked for.

    `known` are the hops as they were before the doorway between the two regions of `changed` opened or closed; then
    only the regions whose hops this changes are visited.
    """

    def __init__(
        self, doors: Doors, start: str, *, known: Mapping[str, int] | None = None, changed: tuple[str, str] = ("", "")
    ) -> None:
        self._doors = doors
        self._start = start
        self._known = known
        self._changed = changed

    def after(self, doors: Doors, changed: tuple[str, str]) -> Walk:
        """The walk when the doorway between two regions has opened or closed, and these are the doors now."""
        return Walk(doors, self._start, known=self.__dict__.get("hops"), changed=changed)

    @cached_property
    def hops(self) -> Mapping[str, int]:
        """The fewest doorways to each region that can be reached."""
        if self._known is None:
            return MappingProxyType(self._search())
        a, b = self._changed
        known, self._known = self._known, None  # so that states do not hold all that came before them
        near, far = (a, b) if known.get(a, len(self._doors)) <= known.get(b, len(self._doors)) else (b, a)
        if self._doors[a][b].passable:
            better = near in known and known[near] + 1 < known.get(far, len(self._doors))
            return MappingProxyType(self._nearer(known, near, far)) if better else known
        lost = self._cut_off(known, far) if known.get(near, -1) + 1 == known.get(far) else []
        return MappingProxyType(self._farther(known, lost)) if lost else known

    @cached_property
    def reachable(self) -> frozenset[str]:
        """The regions that can be reached."""
        return frozenset(self.hops)

    @cached_property
    def nearest(self) -> tuple[str, ...]:
        """The regions that can be reached, the nearest first, ties by name."""
        return tuple(sorted(self.hops, key=lambda region: (self.hops[region], region)))

    def _around(self, region: str) -> list[str]:
        return [other for other, door in self._doors[region].items() if door.passable]

    def _search(self) -> dict[str, int]:
        hops = {self._start: 0}
        self._spread(hops, deque(hops))
        return hops

    def _spread(self, hops: dict[str, int], queue: deque[str]) -> None:
        """Breadth first from regions whose hops are right, to those for which this is a shorter way."""
        while queue:
            region = queue.popleft()
            for other in self._around(region):
                if hops[region] + 1 < hops.get(other, len(self._doors)):
                    hops[other] = hops[region] + 1
                    queue.append(other)

    def _nearer(self, known: Mapping[str, int], near: str, far: str) -> dict[str, int]:
        hops = {**known, far: known[near] + 1}
        self._spread(hops, deque([far]))
        return hops

    def _cut_off(self, known: Mapping[str, int], far: str) -> list[str]:
        """The regions that no doorway leads to any more from a region one hop nearer."""
        lost, queue = {far: None}, deque([far])  # in the order of their hops, so those nearer are decided before
        kept: set[str] = set()
        while queue:
            region = queue.popleft()
            around = self._around(region)
            if any(known.get(other) == known[region] - 1 and other not in lost for other in around):
                del lost[region]
                kept.add(region)
                continue
            for other in around:
                if known.get(other) == known[region] + 1 and other not in lost and other not in kept:
                    lost[other] = None
                    queue.append(other)
        return list(lost)

    def _farther(self, known: Mapping[str, int], lost: list[str]) -> dict[str, int]:
        """The hops where regions were cut off: from those around that were not, the nearest first."""
        hops = {**known}
        for region in lost:
            del hops[region]
        heap: list[tuple[int, str]] = []
        for region in lost:
            for other in self._around(region):
                if other in hops:
                    heappush(heap, (hops[other] + 1, region))
        while heap:
            distance, region = heappop(heap)
            if region not in hops:
                hops[region] = distance
                for other in self._around(region):
                    if other not in hops:
                        heappush(heap, (distance + 1, other))
        return hops
