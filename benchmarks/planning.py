"""What a plan costs as scenes grow: IS-Bench tasks amid the things of other tasks.

python benchmarks/planning.py ISBENCH [EVERY]    every so many of the tasks, 5 by default

A line for each size: seconds of the first plan, and how many plans there are, and how many of these are proven best
among what was looked at. The same tasks are planned at each size, so the ratios hold on any machine.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from obviate.adapters.isbench.aims import aim_of
from obviate.adapters.isbench.scene import build_world
from obviate.adapters.isbench.task import Checkout
from obviate.engine.loop import Assignment, Context, Move
from obviate.engine.planning.domain import Domain
from obviate.engine.planning.planner import SymbolicPlanner
from obviate.engine.world import World
from obviate.kb import BeliefGraph, Patch, household
from obviate.kb.kinds import Kinds
from obviate.kb.patch import EdgePatch, NodePatch

SIZES = (0, 40, 70, 150)  # objects in all; 0 is the task as it is


def amid(world: World, others: Sequence[World], size: int) -> World:
    """The world with things of others, under other names, until it has `size` objects."""
    objects, nodes, edges = dict(world.objects), [], []
    for number, other in enumerate(others):
        names = dict(list(other.objects.items())[: max(0, size - len(objects))])
        objects |= {f"{name}_of_{number}": kind for name, kind in names.items()}
        for name in names:
            node = other.graph.nodes[name]
            nodes.append(NodePatch(node_id=f"{name}_of_{number}", tags=tuple(node.tags), states=tuple(node.states)))
        for edge in other.graph.edges():
            if edge.src in names and edge.dst in names:
                src, dst = f"{edge.src}_of_{number}", f"{edge.dst}_of_{number}"
                edges.append(EdgePatch(pred=edge.pred, src=src, dst=dst))
    grown = world.graph.merge(Patch(add_nodes=tuple(nodes), add_edges=tuple(edges)))
    return World(objects, grown, world.kinds)


def main(root: Path, every: int) -> None:
    checkout = Checkout(root)
    kinds = Kinds.load(household.vocabulary(), abilities=checkout.abilities_file)
    tasks = {name: checkout.load(name) for name in checkout.tasks()}
    worlds = {name: build_world(task, kinds) for name, task in tasks.items()}
    domain = Domain(kinds, household.pack())
    chosen, base = list(tasks)[::every], 0.0
    for size in SIZES:
        spent, made, proven, sizes = [], 0, 0, []
        for name in chosen:
            others = [worlds[other] for other in tasks if other != name]
            random.Random(name).shuffle(others)
            world = amid(worlds[name], others, size)
            sizes.append(len(world.objects))
            aim = aim_of(tasks[name].goal, world.objects, kinds)
            scene = BeliefGraph.of(kinds.vocabulary, world.observe(BeliefGraph(kinds.vocabulary), partial=True))
            planner = SymbolicPlanner(domain, aim.program, aim.names)
            start = time.perf_counter()
            move = planner.act(Context(Assignment(tasks[name].instruction, world.objects), scene))
            spent.append(time.perf_counter() - start)
            made += isinstance(move, Move)
            proven += planner.plan is not None and planner.plan.proven
        spent.sort()
        median, late, most = spent[len(spent) // 2], spent[int(0.95 * (len(spent) - 1))], spent[-1]
        base = base or median
        print(
            f"{sum(sizes) / len(sizes):5.0f} objects: p50 {median:.3f} s, p95 {late:.3f} s, max {most:.3f} s; "
            f"{median / base:.1f} times the median of the first; {made} of {len(chosen)} planned, {proven} proven",
            flush=True,
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else 5)
