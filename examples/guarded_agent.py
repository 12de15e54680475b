"""A language model as an agent, with the engine's guidance: it is told of a rule when its intent would break it.

`python guarded_agent.py MODEL` asks a model by `open_decoder`, such as http://localhost:8000/v1#qwen3-8b. Without one,
a stand-in answers, which heeds what it is told and nothing else.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from obviate.adapters import scenario
from obviate.compilers.backends import open_decoder
from obviate.compilers.decoder import Decoder, Message
from obviate.compilers.planning.planner import LanguagePlanner
from obviate.engine import Engine
from obviate.engine.loop import Assignment
from obviate.engine.runner import Bounds, run
from obviate.engine.sight import LocalSight, Stage
from obviate.kb import Action, BeliefGraph, household


class StandIn:
    """Serves the peach by the shortest way, unless the prompt says that a rule is triggered or still to be met."""

    name = "stand-in"
    task = ("open(fridge)", "place_on_top(peach, plate)", "done")
    cleaning, ending = ("soak_inside(sponge, soap)", "wipe(plate, sponge)"), ("close(fridge)",)

    def decode(self, messages: Sequence[Message], spec: Any, **options: Any) -> str:
        told = {line.split(":")[0]: json.loads(line.split(":", 1)[1]) for line in messages[-1].text.split("\n")}
        done = [turn["action"] for turn in told["history"] if turn["outcome"] == "done"]
        left = [one for one in self.task if one not in done]
        cares, what = (self.ending, "obligations") if left == ["done"] else (self.cleaning, "triggered")
        begun = told.get(what) or set(done) & set(cares)
        left = [one for one in cares if begun and one not in done] + left
        action, intent = (_said(one) for one in (left * 2)[:2])
        return json.dumps({"caution": "", "action": action, "intent": intent})


def _said(text: str) -> dict[str, str]:
    action = Action.parse(text)
    return {"skill": action.skill, **{f"object_{i}": name for i, name in enumerate(action.args, 1)}}


scene, pack = scenario.read("peach"), household.pack()
decoder: Decoder = open_decoder(sys.argv[1]) if sys.argv[1:] else StandIn()
with Engine(pack, objects=scene.world.observe(BeliefGraph(pack.vocabulary), partial=True)) as engine:
    task = Assignment(scene.instruction, scene.world.objects)
    stage = Stage(scene.world, partial=True)
    result = run(LanguagePlanner(decoder), stage, LocalSight(), engine, task, bounds=Bounds(20))
for turn in result.turns:
    print(turn.executed or f"({turn.move.action} thought over)", *(f"[told of {one.trigger}]" for one in turn.guidance))
print(f"{result.verdict}; task reached: {scene.reached()}; failed: {sum(one.counts for one in result.records)}")
