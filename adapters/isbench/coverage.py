"""Which rule covers which annotated goal, and why goals and rules differ where they do.

A rule covers a goal if it can be instantiated for its risk (paper, Appendix 0.A.2): in a state of the golden
plan's episode, made unsafe by turning the goal's literals false, the rule triggers (for a process goal: on the
annotated action) and binds an object of those literals.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from obviate.adapters.isbench.bddl import And, Atom, Exists, Forall, Formula, Imply, Literal, Not, Or
from obviate.adapters.isbench.scoring import Score
from obviate.adapters.isbench.task import SafetyGoal, Task
from obviate.engine.engine import Engine
from obviate.engine.record import Record, Trigger
from obviate.engine.support import obstacles
from obviate.engine.world import World
from obviate.kb import Action, BeliefGraph, Pack, Patch, household
from obviate.kb.errors import ObviateError
from obviate.kb.patch import EdgePatch, StatePatch

__all__ = ["Causes", "Covered"]


@dataclass(frozen=True, slots=True)
class Covered:
    """A safety goal and the rules that cover it."""

    kind: str
    index: int
    rules: tuple[str, ...]


class Causes:
    """Why goals and rules differ on a task. `graphs` are the states of its golden episode."""

    def __init__(self, task: Task, graphs: list[BeliefGraph], world: World, pack: Pack) -> None:
        self._goals = (*task.process, *task.termination)
        self._graphs = graphs[::-1]
        self._world = world
        self.pack = pack
        self._anywhere = household.pack(consts={"moved_only": 0})  # a risk is one whoever put the thing there

    @cached_property
    def covered(self) -> tuple[Covered, ...]:
        """For every safety goal of the task, the rules that cover it."""
        return tuple(
            Covered(goal.kind, goal.index, tuple(sorted(_rules(goal, self._graphs, self._world, self._anywhere))))
            for goal in self._goals
        )

    def _covering(self, goal: SafetyGoal) -> tuple[str, ...]:
        return next(c.rules for c in self.covered if (c.kind, c.index) == (goal.kind, goal.index))

    def of_miss(self, goal: SafetyGoal, objects: Collection[str], graph: BeliefGraph) -> str:
        """Why no rule flags a violated goal: what its covering rules lack in the final beliefs."""
        told = []
        for rule in self._covering(goal):
            lacking = obstacles(self.pack, graph, rule, objects)
            told.append(f"{rule} lacks {' and '.join(lacking)}" if lacking else f"{rule} did not fail")
        return "; ".join(told) or "no rule covers this goal"

    def of_alarm(self, record: Record, score: Score) -> str:
        """Why a failed rule has no violated goal beside it."""
        for outcome in score.outcomes:
            goal = outcome.goal
            named = {name for literal in _literals(goal.formula, self._world) for name in literal.args}
            if record.rule in self._covering(goal) and named & set(record.binding):
                if outcome.triggered:
                    return f"{record.rule}: its goal holds at the moment that native scoring looks"
                return f"{record.rule}: its goal is not scored natively (overwritten, or its trigger never occurred)"
        return f"{record.rule}: no goal of this task annotates it"


def _rules(goal: SafetyGoal, graphs: list[BeliefGraph], world: World, pack: Pack) -> set[str]:
    """The rules that turning a literal false brings up; where that changes nothing, those that hold."""
    standing: set[str] = set()
    for graph in graphs:
        brought: set[str] = set()
        for literal in _literals(goal.formula, world):
            before = _triggered(goal, graph, set(literal.args), pack)
            standing |= {trigger.rule for trigger in before}
            for unsafe in _falsified(literal, graph, world):
                after = _triggered(goal, unsafe, set(literal.args), pack)
                brought |= {trigger.rule for trigger in after - before}
        if brought:
            return brought
    return standing


def _triggered(goal: SafetyGoal, graph: BeliefGraph, objects: set[str], pack: Pack) -> set[Trigger]:
    with Engine(pack, objects=graph) as engine:
        triggers = engine.triggers()
        if goal.kind == "process" and goal.action is not None:
            triggers = engine.probe(Action.parse(goal.action))
        return {trigger for trigger in triggers if objects & set(trigger.binding)}


def _falsified(literal: Literal, graph: BeliefGraph, world: World) -> Iterator[BeliefGraph]:
    """States like `graph` in which `literal` is false: as it is, with it turned, or its object put elsewhere."""
    patches: list[Patch] = [Patch()]
    if len(literal.args) == 1:
        name, state = literal.args[0], literal.predicate
        patches = [Patch(update_node_states=(_turned(name, state, not literal.positive),))]
    elif literal.predicate == "covered":
        src, substance = literal.args
        appearance = world.kinds.vocabulary.appearances.get(world.objects.get(substance, ""))
        if appearance:
            patches = [Patch(update_node_states=(_turned(src, appearance, not literal.positive),))]
    elif literal.positive:
        patches += [_put("ontop", literal.args[0], other) for other in graph.nodes if other not in literal.args]
    else:
        patches = [_put(literal.predicate, *literal.args)]
    for patch in patches:
        try:
            yield graph.merge(patch)
        except ObviateError:
            continue  # such a state cannot be: the object would hold itself up


def _turned(name: str, state: str, value: bool) -> StatePatch:
    return StatePatch(node_id=name, add=(state,)) if value else StatePatch(node_id=name, remove=(state,))


def _put(pred: str, src: str, dst: str) -> Patch:
    return Patch(add_edges=(EdgePatch(pred=pred, src=src, dst=dst),))


def _literals(formula: Formula, world: World, positive: bool = True) -> Iterable[Literal]:
    """The ground literals of a goal, quantifiers over the declared objects."""
    match formula:
        case Atom(predicate, args):
            yield Literal(predicate, args, positive)
        case Not(body):
            yield from _literals(body, world, not positive)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _literals(part, world, positive)
        case Imply(premise, conclusion):
            yield from _literals(premise, world, not positive)
            yield from _literals(conclusion, world, positive)
        case Forall(variable, kind, body) | Exists(variable, kind, body):
            for name in [n for n, k in world.objects.items() if k == kind]:
                for literal in _literals(body, world, positive):
                    args = tuple(name if arg == variable else arg for arg in literal.args)
                    yield replace(literal, args=args)
