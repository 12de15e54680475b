"""Runs in the household world, acted out by a script, for the tests of learning from experience."""

from __future__ import annotations

from collections.abc import Sequence

from obviate.adapters import scenario
from obviate.engine import Engine
from obviate.engine.experience.rehearsal import Rehearser
from obviate.engine.loop import Assignment, Move, Run, Turn, Verdict
from obviate.kb import DONE, Action, BeliefGraph, household
from obviate.kb.kinds import Kinds

PACK = household.pack()
REHEARSER = Rehearser((PACK,), Kinds.load(PACK.vocabulary))


def run(name: str, plan: Sequence[str]) -> Run:
    """The run of a plan in a shipped scenario; ``intend ACTION`` is thought over and not done."""
    task = scenario.read(name)
    turns: list[Turn] = []
    with Engine(PACK, objects=task.world.observe(BeliefGraph(PACK.vocabulary), partial=True)) as engine:
        for item in plan:
            action = Action.parse(item.removeprefix("intend "))
            if item.startswith("intend "):
                turns.append(Turn(len(turns), Move(action)))
                continue
            engine.intend(action)
            engine.execute(action)
            if action == DONE:
                turns.append(Turn(len(turns), Move(action), executed=action))
                break
            failure = task.world.step(action).failure
            patch = task.world.observe(engine.graph, partial=True)
            engine.apply(patch)
            turns.append(Turn(len(turns), Move(action), executed=action, failure=failure, patch=patch))
        if not engine.ended:
            engine.finish("out of steps")
        verdict: Verdict = "done" if turns[-1].executed == DONE else "out of steps"
        objects = task.world.objects
        return Run(Assignment(task.instruction, objects), verdict, tuple(turns), engine.records(), engine.history())
