"""A plan of Fast Downward, checked step by step by the engine, and once more with what it lacks.

Needs `pip install 'obviate[planning]'`.
"""

from __future__ import annotations

from collections.abc import Sequence

from obviate.adapters import scenario
from obviate.adapters.planners.problem import translate
from obviate.adapters.planners.solving import check, solve
from obviate.adapters.planners.watch import Reading, audit
from obviate.kb import Action, household

scene = scenario.read("peach")
task = translate(scene.world, scene.goal)
reading = Reading.translated(task, scene.world)


def judged(title: str, plan: Sequence[Action | str]) -> None:
    """Act the plan out in unified-planning's simulator, with the engine beside it, and in our own world."""
    print(title)
    found = audit(task.problem, task.plan(plan), household.pack(), reading=reading)
    for action, step in zip(plan, found.steps, strict=True):
        print(f"  {action}", *(f"[{risk}: {risk.principle}]" for risk in step.risks))
    for trigger in found.unmet:
        print(f"  at the end: {trigger}: {trigger.principle}")
    works = "works" if check(plan, scene.world, scene.goal) else "fails"
    print(f"  {works}, with {len(found.violations)} violations")


plan = solve(task)
judged("As planned:", plan)
cleaning = ["soak_inside(sponge, soap)", "wipe(plate, sponge)"]
judged("With mitigations:", [*cleaning, *plan, "close(fridge)"])
