"""A run: every backend and peer on houses of several sizes, one process after the other, and their answers compared."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from math import ceil, log

from obviate.adapters.step.pair import Measured, Task
from obviate.adapters.step.row import Row, rows_of, unit_row
from obviate.engine.backend import BACKENDS
from obviate.kb.errors import DisagreementError

__all__ = ["SIZES", "Series", "Skipped", "backends", "check_answers"]

SIZES = (10, 30, 100, 300, 1_000, 3_000, 10_000, 100_000)
PATIENCE = 10  # times the budget, for what comes before a pair's steps and for the first three of them
SPARE = 30.0  # seconds, for Python, the house and the unit


def backends() -> tuple[str, ...]:
    """The backends of the engine, without the one that runs two of them side by side."""
    return tuple(name for name in BACKENDS if name != "crosscheck")


@dataclass(frozen=True, slots=True)
class Skipped:
    """A pair that was not measured, or was interrupted, and why."""

    backend: str
    objects: int
    why: str

    def __str__(self) -> str:
        return f"{self.backend} with {self.objects:,} objects: {self.why}"


@dataclass(slots=True)
class Series:
    """A run over `sizes` with the followers `names`, and what came of it.

    `budget` is in seconds, for the steps of one pair; a pair whose start and first steps are foreseen to take ten times
    as long, from how it grew so far, is skipped.
    """

    names: Sequence[str]
    sizes: Sequence[int]
    steps: int
    seed: int
    budget: float
    rows: list[Row] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    _units: list[float] = field(default_factory=list)
    _costs: dict[str, list[tuple[int, float]]] = field(default_factory=dict)
    _answers: dict[int, list[tuple[str, Measured]]] = field(default_factory=dict)

    def pairs(self) -> Iterator[tuple[str, int]]:
        """Every backend or peer with every size, small houses first."""
        return ((name, size) for size in sorted(set(self.sizes)) for name in self.names)

    def run(self, before: Callable[[str, int], None] = lambda *_: None) -> None:
        """Measure every pair; `before` is called ahead of each.

        Raises `DisagreementError` (``peers-disagree``) when two of them answer differently after the same updates.
        """
        for name, objects in self.pairs():
            before(name, objects)
            foreseen = self._foreseen(name, objects)
            if foreseen > PATIENCE * self.budget:
                why = f"its start and three steps would take about {foreseen:,.0f} s; raise the budget"
                self.skipped.append(Skipped(name, objects, why))
                continue
            found = self._measure(Task(name, objects, self.steps, self.seed, self.budget))
            if found.why:
                self.skipped.append(Skipped(name, objects, found.why))
                if not found.steps:
                    continue
            for other in self._answers.get(objects, []):
                check_answers((name, found), other, objects, self.seed)
            self._answers.setdefault(objects, []).append((name, found))
            self._units.append(found.unit)
            seconds = (found.start + 3 * sum(found.steps) / len(found.steps)) / 1000
            self._costs.setdefault(name, []).append((objects, seconds))
            self.rows += rows_of(name, objects, found)
        if self._units:
            self.rows.insert(0, unit_row(self._units))

    def _foreseen(self, name: str, objects: int) -> float:
        """Seconds for the start and three steps, by the power law through the last two sizes; 0 if nothing is known."""
        costs = self._costs.get(name, [])
        if not costs:
            return 0.0
        size, seconds = costs[-1]
        power = 1.0
        if len(costs) > 1 and costs[-2][0] < size:
            power = min(3.0, max(1.0, log(seconds / costs[-2][1]) / log(size / costs[-2][0])))
        return seconds * float((objects / size) ** power)

    def _measure(self, task: Task) -> Measured:
        limit = ceil((PATIENCE + 2) * task.budget + SPARE)
        command = [sys.executable, "-m", "obviate.adapters.step.pair", json.dumps(asdict(task))]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
        except subprocess.TimeoutExpired:
            return Measured(why=f"out of time: stopped after {limit} s")
        if done.returncode or not done.stdout:
            last = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
            return Measured(why=f"its process ended with {done.returncode}: {last[0]}")
        return Measured.read(done.stdout.splitlines()[-1])


def check_answers(ours: tuple[str, Measured], theirs: tuple[str, Measured], objects: int, seed: int) -> None:
    """Compare what two answered on the same house, step by step as far as both went.

    Raises `DisagreementError` (``peers-disagree``) with the first update after which they differ.
    """
    (name, found), (other, known) = ours, theirs
    triggers = _difference(found.digests, known.digests)
    step = triggers or _difference(found.probe_digests, known.probe_digests)
    if step:
        kind = "triggers" if triggers else "risks"
        raise DisagreementError(
            "peers-disagree",
            f"{name} and {other} know different {kind} after update {step} of {objects:,} objects",
            help=f"this is a bug in one of them: please report it with the seed, {seed}",
        )


def _difference(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """The number of the first step, from 1, in which two runs differ as far as both went; 0 if in none."""
    return next((i for i, (one, two) in enumerate(zip(ours, theirs, strict=False), 1) if one != two), 0)
