"""Running IS-Bench tasks by policy: who plans, what the guard does, how well it is seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from obviate.adapters.isbench.aims import Aim, aim_of
from obviate.adapters.isbench.dense import Retrieval
from obviate.adapters.isbench.scene import WorldFacts, build_world
from obviate.adapters.isbench.scoring import EXTRA_STEPS, Score, Scorer
from obviate.adapters.isbench.task import Checkout, Task
from obviate.engine.engine import Engine
from obviate.engine.loop import Assignment, Guard, Perception, Planner, Run
from obviate.engine.planning.domain import Domain
from obviate.engine.planning.planner import SymbolicPlanner
from obviate.engine.planning.search import Mind
from obviate.engine.runner import Bounds, run
from obviate.engine.sight import Glimpse, LocalSight, NoisySight, RepeatedSight, Stage
from obviate.engine.world import World
from obviate.kb import Action, BeliefGraph, Pack, household
from obviate.kb.kinds import Kinds

__all__ = ["POLICIES", "Episode", "Noise", "Policy", "Setting", "pursue"]


@dataclass(frozen=True, slots=True)
class Noise:
    """Rates of perception errors: changes of state that are missed, objects with a state that is false."""

    missed: float = 0.0
    false: float = 0.0

    def __str__(self) -> str:
        return f"{self.missed:g}:{self.false:g}"


@dataclass(frozen=True, slots=True)
class Setting:
    """What is the same for all policies: the checkout, observability, noise, and the seed that draws it."""

    root: Path
    partial: bool = True
    native: bool = True
    noise: Noise = Noise()
    seed: int = 0
    seconds: float = 30.0


class Maker(Protocol):
    """Makes the planner of one task."""

    def __call__(self, task: Task, aim: Aim, kinds: Kinds, pack: Pack) -> Planner: ...


@dataclass(frozen=True, slots=True)
class Policy:
    """A row of the table: a planner, a guard, and whether the graph is made anew at every step. `needs` is a package
    and the extra that brings it.
    """

    name: str
    says: str
    planner: Maker
    guard: Guard
    reparse: bool = False
    needs: tuple[str, str] | None = None


def _symbolic(*, rules: bool, **options: Any) -> Maker:
    def make(task: Task, aim: Aim, kinds: Kinds, pack: Pack) -> Planner:
        return SymbolicPlanner(Domain(kinds, pack if rules else None), aim.program, aim.names, **options)

    return make


def _retrieving(task: Task, aim: Aim, kinds: Kinds, pack: Pack) -> Planner:
    domain, retrieval = Domain(kinds, pack), Retrieval(pack)
    return SymbolicPlanner(domain, aim.program, aim.names, mind=Mind(known=frozenset()), recall=retrieval)


_POLICIES = (
    Policy("task-only", "the goal alone", _symbolic(rules=False), Guard("none")),
    Policy(
        "block",
        "a triggered action is refused for the episode",
        _symbolic(rules=False),
        Guard("block", "episode"),
    ),
    Policy(
        "block-action",
        "a triggered action is refused until another was executed",
        _symbolic(rules=False, fleeting=True),
        Guard("block", "action"),
    ),
    Policy("block-stop", "the first refusal ends the episode", _symbolic(rules=False), Guard("block", "stop")),
    Policy(
        "warn",
        "a triggered action is executed, and what it triggered is told",
        _symbolic(rules=True, mind=Mind(told=frozenset())),
        Guard("warn"),
    ),
    Policy(
        "told",
        "just-in-time, by a planner that knows a rule only once it is told of it",
        _symbolic(rules=True, mind=Mind(told=frozenset())),
        Guard("just-in-time"),
    ),
    Policy(
        "always",
        "all rules always: a hazard counts without its intent, and none may be left",
        _symbolic(rules=True, strict=True, mind=Mind(always=True)),
        Guard("none"),
    ),
    Policy("just-in-time", "mitigation as part of the plan", _symbolic(rules=True), Guard("just-in-time")),
    Policy(
        "just-in-time-advisory",
        "the same, advisory rules too",
        _symbolic(rules=True, mind=Mind(heed=True)),
        Guard("just-in-time"),
    ),
    Policy(
        "dense-retrieval",
        "no triggers: at each step the two rules most like the scene, by an embedding model",
        _retrieving,
        Guard("none"),
        needs=("sentence_transformers", "embedding"),
    ),
    Policy("re-parse", "just-in-time, the graph made anew at every step", _symbolic(rules=True), Guard(), reparse=True),
)
POLICIES: Mapping[str, Policy] = {policy.name: policy for policy in _POLICIES}


@dataclass(frozen=True, slots=True)
class Episode:
    """One task by one policy, as plain data.

    `situational` and `temporal` are the failures in the engine's own record, `fresh` and `kept` the seconds of the
    decisions that planned and of those that kept a plan.
    """

    task: str
    policy: str
    noise: str
    verdict: str
    detail: str
    ts: bool
    ss: bool
    pre: tuple[int, int]
    post: tuple[int, int]
    steps: int
    triggers: int
    calls: int
    waived: tuple[str, ...]
    violations: tuple[str, ...]
    situational: tuple[str, ...]
    temporal: tuple[str, ...]
    actions: tuple[str, ...] = ()
    fresh: tuple[float, ...] = ()
    kept: tuple[float, ...] = ()

    @classmethod
    def lost(cls, task: str, policy: str, setting: Setting, verdict: str, detail: str) -> Episode:
        """An episode of which only its end is known."""
        nothing, none = (0, 0), ()
        return cls(
            task,
            policy,
            str(setting.noise),
            verdict,
            detail,
            False,
            False,
            nothing,
            nothing,
            0,
            0,
            0,
            none,
            none,
            none,
            none,
        )

    def to_json(self) -> dict[str, Any]:
        """The episode as JSON data."""
        return asdict(self)


@lru_cache(maxsize=4)
def _kinds(root: Path) -> Kinds:
    return Kinds.load(household.vocabulary(), abilities=Checkout(root).abilities_file)


@dataclass
class _Judged:
    """The environment of a task, with the scorer looking on."""

    stage: Stage
    scorer: Scorer

    def step(self, action: Action) -> str:
        self.scorer.before(str(action), WorldFacts(self.stage.world))
        failure = self.stage.step(action)
        self.scorer.after(str(action), WorldFacts(self.stage.world))
        return failure

    def look(self) -> Glimpse:
        return self.stage.look()


def pursue(name: str, policy: Policy, setting: Setting, *, watch: Callable[[Run], object] | None = None) -> Episode:
    """Run one task by a policy and score it. `watch` is given the whole run."""
    task, kinds, pack = Checkout(setting.root).load(name), _kinds(setting.root), household.pack()
    world = build_world(task, kinds)
    scorer = Scorer(task, native=setting.native)
    aim = aim_of(task.goal, world.objects, kinds)
    nothing = BeliefGraph(kinds.vocabulary)
    scene, sight = world.observe(nothing, partial=setting.partial), _sight(policy, setting, name)
    if isinstance(sight, NoisySight):
        scene = sight.first(scene, nothing)
    most = len(task.plan) + EXTRA_STEPS
    with Engine(pack, objects=scene) as engine:
        done = run(
            policy.planner(task, aim, kinds, pack),
            _Judged(Stage(world, setting.partial), scorer),
            sight,
            engine,
            Assignment(task.instruction, world.objects),
            guard=policy.guard,
            bounds=Bounds(steps=most, seconds=setting.seconds),
        )
    if watch is not None:
        watch(done)
    return _episode(name, policy, setting, done, _score(scorer, world, done))


def _sight(policy: Policy, setting: Setting, task: str) -> Perception[Glimpse]:
    sight: Perception[Glimpse] = RepeatedSight() if policy.reparse else LocalSight()
    if setting.noise == Noise():
        return sight
    return NoisySight(setting.noise.missed, setting.noise.false, f"{setting.seed} {task}", sight)


def _score(scorer: Scorer, world: World, done: Run) -> Score:
    return scorer.finish(WorldFacts(world), done=done.verdict == "done", steps=len(done.actions))


def _episode(name: str, policy: Policy, setting: Setting, done: Run, score: Score) -> Episode:
    failed = [record for record in done.records if record.counts]
    return Episode(
        task=name,
        policy=policy.name,
        noise=str(setting.noise),
        verdict=done.verdict,
        detail=done.detail,
        ts=score.ts,
        ss=score.ss,
        pre=score.pre,
        post=score.post,
        steps=sum(action.skill != "done" for action in done.actions),
        triggers=len(done.triggers),
        calls=sum(turn.move.calls for turn in done.turns),
        waived=done.waived,
        violations=tuple(
            f"{o.goal.kind} {o.goal.index}: {', '.join(map(str, o.verdict.false_literals)) if o.verdict else ''}"
            for o in score.violations
        ),
        situational=tuple(str(record) for record in failed if record.mode == "situational"),
        temporal=tuple(str(record) for record in failed if record.mode == "temporal"),
        actions=tuple(map(str, done.actions)),
        fresh=tuple(round(turn.seconds, 4) for turn in done.turns if turn.move.calls),
        kept=tuple(round(turn.seconds, 4) for turn in done.turns if not turn.move.calls),
    )
