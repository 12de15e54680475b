"""A kitchen for the loop: its world, and runs in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from obviate.engine import Engine
from obviate.engine.loop import Assignment, Context, Guard, Move, Planner, Run, Stop
from obviate.engine.planning.domain import Domain
from obviate.engine.planning.planner import SymbolicPlanner
from obviate.engine.runner import Bounds, run
from obviate.engine.sight import LocalSight, Stage
from obviate.engine.world import World
from obviate.kb import Action, BeliefGraph, household
from obviate.kb.kinds import Kinds

KITCHEN = {
    "floor": "floor.n.01",
    "counter": "countertop.n.01",
    "fridge": "electric_refrigerator.n.01",
    "cabinet": "cabinet.n.01",
    "stove": "stove.n.01",
    "pan": "frying_pan.n.01",
    "peach": "peach.n.03",
    "plate": "plate.n.04",
    "towel": "hand_towel.n.01",
    "stain": "stain.n.01",
}
FACTS = ("ontop pan stove", "inside peach fridge", "ontop plate counter", "ontop towel stove", "frozen peach")


@cache
def kinds() -> Kinds:
    return Kinds.load(household.vocabulary())


def world(objects: Mapping[str, str] = KITCHEN, facts: tuple[str, ...] = FACTS) -> World:
    """The kitchen, or another one: ``open cabinet``, ``ontop peach plate``."""
    states: dict[str, list[str]] = {name: [] for name in objects}
    edges = []
    for pred, src, *dst in (fact.split() for fact in facts):
        if dst:
            edges.append({"pred": pred, "src": src, "dst": dst[0]})
        else:
            states[src].append(pred)
    nodes = [
        {"node_id": name, "tags": sorted(kinds().tagging(kind).tags), "states": states[name]}
        for name, kind in objects.items()
    ]
    return World(objects, BeliefGraph.of(kinds().vocabulary, {"nodes": nodes, "edges": edges}), kinds())


def planner(goal: str, *wanted: str, rules: bool = True, **options: Any) -> SymbolicPlanner:
    return SymbolicPlanner(Domain(kinds(), household.pack() if rules else None), goal, frozenset(wanted), **options)


def follow(
    who: Planner, home: World, *, guard: Guard | None = None, partial: bool = True, bounds: Bounds | None = None
) -> Run:
    """A run in the kitchen, with its engine closed."""
    scene = home.observe(BeliefGraph(kinds().vocabulary), partial=partial)
    pack = household.pack()
    with Engine(pack, objects=scene) as engine:
        return run(
            who,
            Stage(home, partial),
            LocalSight(),
            engine,
            Assignment("Cook the peach.", home.objects),
            guard=guard,
            bounds=bounds,
        )


class Script:
    """A planner that says its lines: actions as texts, or whatever a line makes of the context."""

    def __init__(self, *lines: str | Callable[[Context], Any]) -> None:
        self.lines = list(lines)
        self.seen: list[Context] = []

    def act(self, context: Context) -> Move | Stop:
        self.seen.append(context)
        line = self.lines.pop(0) if self.lines else "done"
        if not isinstance(line, str):
            return line(context)  # type: ignore[no-any-return]
        following = self.lines[0] if self.lines and isinstance(self.lines[0], str) else None
        return Move(Action.parse(line), Action.parse(following) if following else None)
