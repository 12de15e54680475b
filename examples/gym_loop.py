"""An agent that knows nothing, in a guarded environment of gymnasium: the engine mitigates or vetoes what it tries.

Needs `pip install 'obviate[gym]'`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from obviate.adapters import scenario
from obviate.adapters.gym.guarded import GuardedEnv
from obviate.adapters.gym.household import HouseholdEnv
from obviate.engine import Trigger
from obviate.kb import BeliefGraph, household

scene = scenario.read("peach")
home = HouseholdEnv(scene.world, scene.goal, limit=40)


def clean_first(trigger: Trigger, graph: BeliefGraph) -> Sequence[int]:
    """What to do before an action that triggers a rule: here only what a dirty plate calls for."""
    if trigger.rule != "food_on_clean":
        return []
    surface = trigger.binding[1]
    wanted = ["soak_inside(sponge, soap)", f"wipe({surface}, sponge)"]
    known = {str(action) for action in home.actions}
    return [home.number(one) for one in wanted if one in known]


env = GuardedEnv(home, household.pack(), mode="mitigate", mitigate=clean_first, penalty=0.1)
env.action_space.seed(8)
counts: Counter[str] = Counter()
for _ in range(3):
    env.reset()
    ended = cut = False
    while not (ended or cut):
        _, reward, ended, cut, info = env.step(env.action_space.sample())
        safety = info["safety"]
        counts["steps"] += 1
        counts["vetoed"] += safety["vetoed"]
        counts["mitigated"] += bool(safety["mitigated"])
        counts["violated on the way"] += sum(one["reason"] == "executed" for one in safety["failed"])
        counts["left undone"] += sum(one["reason"] != "executed" for one in safety["failed"])
env.close()
for what in ("steps", "vetoed", "mitigated", "violated on the way", "left undone"):
    print(f"{what}: {counts[what]}")
