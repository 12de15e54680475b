"""Choosing a backend, by the pack and by what a step takes."""

from __future__ import annotations

import logging
import statistics
from collections.abc import Callable, Mapping
from time import perf_counter

from obviate.engine.backend import Backend, Capability, Conclusions, Query
from obviate.engine.locality import locality
from obviate.engine.multishot import MultiShot
from obviate.engine.oneshot import OneShot
from obviate.engine.sliced import Sliced
from obviate.kb import BeliefGraph, Pack

__all__ = ["Auto"]

_TRIALS = 3  # conclusions that every candidate draws, after a first one in which it is built
_GROWTH = 4  # a graph that grew or shrank so much is another case
_log = logging.getLogger("obviate.engine")

_CANDIDATES: Mapping[str, Callable[[Pack], Backend]] = {"sliced": Sliced, "multishot": MultiShot, "oneshot": OneShot}


class Auto:
    """Slices where every rule is local. Otherwise it tries all ways on the same steps and goes on with the fastest, and
    tries again when the graph has grown or shrunk by a factor of four. What it chose is logged, and in `capabilities`.
    """

    name = "auto"

    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        self._current: Backend = Sliced(pack)
        self._others: list[Backend] = []
        self._times: dict[str, list[float]] = {}
        self._size = 0  # the objects of the graph on which it chose
        self._settled = not locality(pack).reasons
        self._symbols = 0  # of backends that are closed

    def conclude(self, graph: BeliefGraph, query: Query) -> Conclusions:
        size = len(graph) + 1
        if not self._settled and not self._size // _GROWTH < size < self._size * _GROWTH:
            self._begin(size)
        answers = self._timed(self._current, graph, query)
        for other in self._others:
            self._timed(other, graph, query)
        if self._others and len(self._times[self._current.name]) > _TRIALS:
            self._choose()
        return answers

    def capabilities(self) -> tuple[Capability, ...]:
        return self._current.capabilities()

    @property
    def symbols(self) -> int:
        return self._symbols + sum(one.symbols for one in (self._current, *self._others))

    def close(self) -> None:
        for one in (self._current, *self._others):
            one.close()

    def _begin(self, size: int) -> None:
        self._size = size
        if not self._others:
            self._others = [make(self._pack) for name, make in _CANDIDATES.items() if name != self._current.name]
        self._times = {}

    def _timed(self, one: Backend, graph: BeliefGraph, query: Query) -> Conclusions:
        began = perf_counter()
        answers = one.conclude(graph, query)
        if self._others:
            self._times.setdefault(one.name, []).append(perf_counter() - began)
        return answers

    def _choose(self) -> None:
        medians = {name: statistics.median(times[1:]) for name, times in self._times.items()}
        best = min(medians, key=lambda name: medians[name])
        told = ", ".join(f"{name} {median * 1_000:.2f} ms" for name, median in medians.items())
        _log.info("backend auto: %s from now on, at %d objects (%s)", best, self._size - 1, told)
        every = [self._current, *self._others]
        self._current = next(one for one in every if one.name == best)
        for one in every:
            if one is not self._current:
                self._symbols += one.symbols
                one.close()
        self._others = []
