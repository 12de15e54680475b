"""One backend or peer on one house, measured in a process of its own: ``python -m obviate.adapters.step.pair``.

It reads a `Task` as JSON from its first argument, and writes a `Measured` as JSON to its standard output.
"""

from __future__ import annotations

import itertools
import json
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any, TypeVar

from obviate.adapters.step import peer as peers
from obviate.adapters.step.house import house
from obviate.adapters.step.stream import steps
from obviate.engine import Engine, Trigger
from obviate.engine.standing import Instance
from obviate.kb import BeliefGraph, asp, household
from obviate.kb.errors import DataError, ObviateError
from obviate.kb.terms import Atom, Fun

__all__ = ["UNIT_OBJECTS", "Measured", "Task", "measure", "units"]

Given = TypeVar("Given")
Found = TypeVar("Found")
UNIT_OBJECTS = 7
UNITS = 15  # fresh Controls before the steps, and as many after them, of which the first ones only warm up
LEAST = 3  # steps, however long they take
WARM = 5  # steps that are taken and checked, and not counted


@dataclass(frozen=True, slots=True)
class Task:
    """What to measure: a backend or peer, the house, at most so many steps after the warm-up, and the time for them,
    in seconds. The steps end early when the time is over, but for the first three.
    """

    backend: str
    objects: int
    steps: int
    seed: int
    budget: float


@dataclass(frozen=True, slots=True)
class Measured:
    """Milliseconds: of a fresh small Control (`unit`, the median of some), of making the engine (`start`), and of each
    step and probe.

    `digests` tells the temporal triggers after each step and the risks that its probe named, warm-up included, so that
    two runs can be compared; `triggers` counts the former. Memory is the peak of the process, in MB: before the
    engine was made, when there was the house alone, and at the end. `why` says what went wrong, if anything did.
    """

    unit: float = 0.0
    start: float = 0.0
    steps: tuple[float, ...] = ()
    probes: tuple[float, ...] = ()
    digests: tuple[str, ...] = ()
    probe_digests: tuple[str, ...] = ()
    triggers: tuple[int, ...] = ()
    house_mb: float = 0.0
    peak_mb: float = 0.0
    why: str = ""

    @classmethod
    def read(cls, text: str) -> Measured:
        """From JSON."""
        data: dict[str, Any] = json.loads(text)
        read: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}
        return cls(**read)


def units() -> list[float]:
    """Milliseconds for twenty plain rules on seven objects, in a fresh Control; some of them."""
    rules = "\n".join(
        f"hazard(r{i},X) :- tag(X,t{i % 7}), state(X,open), edge(ontop,X,Y), not state(Y,dusty)." for i in range(20)
    )
    facts = []
    for i in range(UNIT_OBJECTS):
        name = f"o{i}"
        facts += [Atom("object", (name,)), Atom("tag", (name, Fun(f"t{i}"))), Atom("state", (name, Fun("open")))]
        facts += [Atom("edge", (Fun("ontop"), name, "o0"))] if i else []
    hazards = [("hazard", 2, True)]
    times = [_timed(lambda given: asp.evaluate([rules], given, hazards), facts)[0] for _ in range(UNITS)]
    return times[UNITS // 5 :]


def measure(task: Task) -> Measured:
    """Follow the steps of a house and take the times. Raises `DataError` for a peer that is not installed."""
    graph = house(task.objects, seed=task.seed)
    stream = steps(graph, seed=task.seed)
    base = units()
    alone = _peak()
    start, follower = _timed(lambda given: _follower(task.backend, given), graph)
    times: list[float] = []
    probed: list[float] = []
    told: list[str] = []
    told_probes: list[str] = []
    counts: list[int] = []
    began = time.perf_counter()
    for i, step in enumerate(itertools.islice(stream, WARM + task.steps)):
        if i >= LEAST and time.perf_counter() - began > task.budget:
            break
        taken, _ = _timed(follower.step, step.patch)
        asked, risks = _timed(follower.risks, step.action)
        now = follower.triggers()
        counts.append(len(now))
        told.append(_digest(now))
        times.append(taken)
        if risks is not None:
            probed.append(asked)
            told_probes.append(_digest(risks))
    peak = _peak()
    follower.close()
    base += units()  # before and after, since other work on the machine comes and goes
    warm = WARM if len(times) > 2 * WARM else 1
    return Measured(
        unit=statistics.median(base),
        start=start,
        steps=tuple(times[warm:]),
        probes=tuple(probed[warm:]),
        digests=tuple(told),
        probe_digests=tuple(told_probes),
        triggers=tuple(counts),
        house_mb=alone,
        peak_mb=peak,
    )


def _follower(name: str, graph: BeliefGraph) -> peers.Peer | _Engine:
    return peers.of(name, graph) if name in peers.PEERS else _Engine(name, graph)


class _Engine:
    """The engine, with the verbs of a peer."""

    def __init__(self, backend: str, graph: BeliefGraph) -> None:
        self._engine = Engine(household.pack(), objects=graph, backend=backend)
        self.step = self._engine.apply  # what is timed is the verb itself
        self.risks = self._engine.probe
        self.close = self._engine.close

    def triggers(self) -> frozenset[Instance]:
        return frozenset(_instance(t) for t in self._engine.triggers() if t.mode == "temporal")


def _timed(work: Callable[[Given], Found], given: Given) -> tuple[float, Found]:
    """Milliseconds of the work, and what it returns."""
    began = time.perf_counter()
    found = work(given)
    return (time.perf_counter() - began) * 1000, found


def _instance(found: Trigger | Instance) -> Instance:
    return (found.rule, found.binding) if isinstance(found, Trigger) else found


def _digest(found: Iterable[Trigger | Instance]) -> str:
    return sha256(repr(sorted(map(_instance, found))).encode()).hexdigest()[:12]


def _peak() -> float:
    """The most memory that this process has had, in MB."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1024 * 1024 if sys.platform == "darwin" else 1024)


def main() -> None:
    """Measure the task of the first argument."""
    try:
        found = measure(Task(**json.loads(sys.argv[1])))
    except DataError as error:
        found = Measured(why=error.message)
    except (ObviateError, MemoryError) as error:
        found = Measured(why=f"{type(error).__name__}: {error}")
    print(json.dumps(asdict(found)))


if __name__ == "__main__":
    main()
