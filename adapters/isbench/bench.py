"""Running IS-Bench tasks: golden plans, and every plan that forgets one or two of their actions.

A perturbed plan is judged twice, by the benchmark's own goals and by the engine's rules. Plans of a task form a
tree (each action is kept or dropped), so shared beginnings are run once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from obviate.adapters.isbench.coverage import Causes, Covered
from obviate.adapters.isbench.scene import Untagged, WorldFacts, build_world, untagged
from obviate.adapters.isbench.scoring import GoalOutcome, Score, Scorer
from obviate.adapters.isbench.task import Checkout, Task
from obviate.engine.engine import Engine
from obviate.engine.episode import Step, follow
from obviate.engine.record import Moment, Record
from obviate.engine.world import World
from obviate.kb import BeliefGraph, Pack, household
from obviate.kb.kinds import Kinds

__all__ = ["Alarm", "Episode", "Perturbed", "Settings", "TaskReport", "Violation", "run_golden", "run_task"]

MAX_DROPPED = 2


@dataclass(frozen=True, slots=True)
class Settings:
    """How tasks are run: the checkout's root, backend, native or corrected scoring, observability."""

    root: Path
    backend: str = "auto"
    native: bool = True
    partial: bool = False
    perturb: bool = False
    coverage: bool = False


@dataclass(frozen=True, slots=True)
class Episode:
    """A plan that has been run: its steps, score and verification records."""

    task: Task
    steps: tuple[Step, ...]
    score: Score
    records: tuple[Record, ...]
    history: tuple[Moment, ...]

    @property
    def failed(self) -> tuple[Record, ...]:
        """The records that count as failures, advisory ones aside."""
        return tuple(record for record in self.records if record.counts)


@dataclass(frozen=True, slots=True)
class Violation:
    """A triggered goal that native scoring finds violated, the rules that flagged it, or the `cause` why none did."""

    task: str
    dropped: tuple[str, ...]
    kind: str
    index: int
    literals: tuple[str, ...]
    rules: tuple[str, ...]
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Alarm:
    """A plan that native scoring finds clean and the rules do not."""

    task: str
    dropped: tuple[str, ...]
    failed: tuple[str, ...]
    cause: str


@dataclass(frozen=True, slots=True)
class Perturbed:
    """All perturbed plans of a task: how many, how many natively clean, and where goals and rules differ."""

    plans: int = 0
    clean: int = 0
    unevaluable: int = 0
    violations: tuple[Violation, ...] = ()
    overflagged: tuple[Alarm, ...] = ()

    def __add__(self, other: Perturbed) -> Perturbed:
        return Perturbed(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class TaskReport:
    """The results for one task, plain data that crosses process borders."""

    name: str
    ts: bool
    ss: bool
    pre: tuple[int, int]
    post: tuple[int, int]
    violations: tuple[str, ...]
    failed: tuple[str, ...]
    failures: tuple[str, ...]
    alarm: Alarm | None
    untagged: tuple[Untagged, ...]
    perturbed: Perturbed = field(default=Perturbed())
    covered: tuple[Covered, ...] = ()


@lru_cache(maxsize=4)
def _kinds(root: Path) -> Kinds:
    return Kinds.load(household.vocabulary(), abilities=Checkout(root).abilities_file)


def run_task(name: str, settings: Settings) -> TaskReport:
    """Run the golden plan of a task, and with `settings.perturb` every perturbed one."""
    task, kinds, pack = Checkout(settings.root).load(name), _kinds(settings.root), household.pack()
    episode = run_golden(task, kinds, pack, settings)
    causes = Causes(task, [moment.graph for moment in episode.history], build_world(task, kinds), pack)
    report = TaskReport(
        name=name,
        ts=episode.score.ts,
        ss=episode.score.ss,
        pre=episode.score.pre,
        post=episode.score.post,
        violations=tuple(_described(outcome) for outcome in episode.score.violations),
        failed=tuple(f"{record} ({record.reason})" for record in episode.failed),
        failures=tuple(f"{s.action}: {s.outcome.failure}" for s in episode.steps if s.outcome and s.outcome.failure),
        alarm=_alarm(task, (), episode.failed, episode.score, causes),
        untagged=untagged(task, kinds),
        covered=causes.covered if settings.coverage else (),
    )
    if settings.perturb:
        with _Tree(task, kinds, causes, settings) as tree:
            report = replace(report, perturbed=sum(tree.plans(), Perturbed()))
    return report


def run_golden(task: Task, kinds: Kinds, pack: Pack, settings: Settings) -> Episode:
    """Run the golden plan and score it."""
    world, scorer = build_world(task, kinds), Scorer(task, native=settings.native)
    scene = world.observe(BeliefGraph(kinds.vocabulary), partial=settings.partial)
    with Engine(pack, objects=scene, backend=settings.backend) as engine:
        steps = tuple(act(task.plan, world, engine, scorer, partial=settings.partial))
        done = engine.ended
        if not done:
            engine.finish("out of plan")
        score = scorer.finish(WorldFacts(world), done=done, steps=len(steps))
        return Episode(task, steps, score, engine.records(), engine.history())


def act(
    plan: Iterable[str], world: World, engine: Engine, scorer: Scorer, *, partial: bool, start: int = 1
) -> Iterator[Step]:
    """Act a plan out in a task's world, with its scorer looking on."""
    for number, action in enumerate(plan, start):
        scorer.before(action, WorldFacts(world))
        yield from follow(world, engine, [action], partial=partial, start=number)
        if engine.ended:
            return
        scorer.after(action, WorldFacts(world))


class _Tree:
    """Every way to drop one or two actions of a golden plan, run depth first from shared beginnings."""

    def __init__(self, task: Task, kinds: Kinds, causes: Causes, settings: Settings) -> None:
        self._task = task
        self._causes = causes
        self._settings = settings
        self._world = build_world(task, kinds)
        scene = self._world.observe(BeliefGraph(kinds.vocabulary), partial=settings.partial)
        self._engine = Engine(causes.pack, objects=scene, backend=settings.backend)

    def __enter__(self) -> _Tree:
        return self

    def __exit__(self, *_: object) -> None:
        self._engine.close()

    def plans(self) -> Iterator[Perturbed]:
        """The result of each perturbed plan."""
        yield from self._from(0, (), Scorer(self._task, native=self._settings.native), 0)

    def _from(self, position: int, dropped: tuple[str, ...], scorer: Scorer, steps: int) -> Iterator[Perturbed]:
        action = self._task.plan[position]
        engine, state, graph = self._engine, self._engine.snapshot(), self._world.graph
        last = position == len(self._task.plan) - 1
        if not last and len(dropped) < MAX_DROPPED:
            yield from self._from(position + 1, (*dropped, action), scorer.branch(), steps)
            engine.restore(state)
            self._world.graph = graph
        if last and not dropped:
            return
        for _ in act([action], self._world, engine, scorer, partial=self._settings.partial):
            pass
        if last:
            score = scorer.finish(WorldFacts(self._world), done=engine.ended, steps=steps + 1)
            yield self._result(score, engine.records(), dropped)
        else:
            yield from self._from(position + 1, dropped, scorer, steps + 1)

    def _result(self, score: Score, records: Sequence[Record], dropped: tuple[str, ...]) -> Perturbed:
        failed = [r for r in records if r.verdict == "failed" and r.reason != "abandoned"]
        judged = [o for o in score.violations if o.verdict is not None and not o.verdict.error]
        unevaluable = len(score.violations) - len(judged)
        violations = tuple(self._violation(outcome, failed, dropped) for outcome in judged)
        alarm = (
            _alarm(self._task, dropped, [r for r in failed if r.counts], score, self._causes) if not judged else None
        )
        return Perturbed(1, int(not judged), unevaluable, violations, (alarm,) if alarm else ())

    def _violation(self, outcome: GoalOutcome, failed: Sequence[Record], dropped: tuple[str, ...]) -> Violation:
        literals = outcome.verdict.false_literals if outcome.verdict else ()
        objects = {name for literal in literals for name in literal.args}
        rules = tuple(str(record) for record in failed if objects & set(record.binding))
        goal = outcome.goal
        cause = "" if rules else self._causes.of_miss(goal, objects, self._engine.graph)
        return Violation(self._task.name, dropped, goal.kind, goal.index, tuple(map(str, literals)), rules, cause)


def _alarm(
    task: Task, dropped: tuple[str, ...], failed: Sequence[Record], score: Score, causes: Causes
) -> Alarm | None:
    """The failed rules of a plan that native scoring finds clean, if any."""
    if not failed or any(outcome.verdict and not outcome.verdict.error for outcome in score.violations):
        return None
    why = dict.fromkeys(causes.of_alarm(record, score) for record in failed)
    return Alarm(task.name, dropped, tuple(map(str, failed)), "; ".join(why))


def _described(outcome: GoalOutcome) -> str:
    verdict = outcome.verdict
    literals = ", ".join(map(str, verdict.false_literals)) if verdict else ""
    reason = f" ({verdict.error})" if verdict and verdict.error else ""
    return f"{outcome.goal.kind} {outcome.goal.index}: {literals}{reason}"
