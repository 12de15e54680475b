"""What a verb costs in CPU time, as ratios within one run: each backend, at several sizes of the scene.

    python benchmarks/verbs.py [--json]

The unit is one fresh clingo Control over the household pack and seven objects, measured in the same run. A step is
apply (three changed facts), intend and execute.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from obviate.engine import Engine
from obviate.engine.backend import KERNEL, OUTPUTS
from obviate.kb import BeliefGraph, asp, household

SIZES = (7, 30, 100, 300)
STEPS = 30


def scene(size: int) -> dict[str, Any]:
    """A household of `size` objects: a counter and a cabinet for every eight, with food, plates and rags on them."""
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, str]] = []
    tags = (["safety_food"], ["function_container", "safety_fragile"], ["function_cleaning_tool", "safety_flammable"])
    for i in range(size):
        place = i - i % 8
        if i % 8 == 0:
            nodes.append({"node_id": f"o{i}", "tags": ["function_surface"]})
        elif i % 8 == 1:
            nodes.append({"node_id": f"o{i}", "tags": ["function_storage"]})
        else:
            nodes.append({"node_id": f"o{i}", "tags": tags[i % 3]})
            edges.append({"pred": "ontop", "src": f"o{i}", "dst": f"o{place}"})
    return {"nodes": nodes, "edges": edges}


def timed(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1000


def unit() -> float:
    """Milliseconds for one fresh Control: the household pack and kernel on seven objects."""
    pack = household.pack()
    facts = [*BeliefGraph.of(pack.vocabulary, scene(7)).facts(), *pack.frame]
    times = [timed(lambda: asp.evaluate([pack.program.text, KERNEL], facts, OUTPUTS)) for _ in range(STEPS)]
    return statistics.median(times)


def steps(backend: str, size: int) -> Iterator[float]:
    """Milliseconds for each of `STEPS` steps."""
    with Engine(household.pack(), objects=scene(size), backend=backend) as engine:
        for i in range(STEPS):
            plate, shut = f"o{3 + 8 * (i % (size // 8 + 1)) % size}", i % 2
            states = [{"node_id": "o1", ("remove" if shut else "add"): ["open"]}]
            states += [
                {"node_id": name, ("remove" if shut else "add"): ["dusty"]}
                for name in ("o3", plate)
                if name in engine.graph
            ]
            patch = {"update_node_states": states[: 2 if plate == "o3" else 3]}

            def step(patch: dict[str, Any] = patch) -> None:
                engine.apply(patch)
                engine.intend("place_on_top(o2, o4)")
                engine.execute("wipe(o4, o5)")

            yield timed(step)


def main() -> None:
    base = unit()
    rows = [{"backend": "unit", "objects": 7, "p50_ms": round(base, 3), "p95_ms": None, "p50_units": 1.0}]
    for size in SIZES:
        for backend in ("multishot", "oneshot"):
            times = sorted(steps(backend, size))
            p50, p95 = statistics.median(times), times[int(0.95 * len(times))]
            rows.append(
                {
                    "backend": backend,
                    "objects": size,
                    "p50_ms": round(p50, 3),
                    "p95_ms": round(p95, 3),
                    "p50_units": round(p50 / base, 2),
                }
            )
    if "--json" in sys.argv:
        print(json.dumps(rows, indent=2))
        return
    print(f"{'backend':10} {'objects':>8} {'p50 ms':>9} {'p95 ms':>9} {'p50 units':>10}")
    for row in rows:
        shown = "" if row["p95_ms"] is None else f"{row['p95_ms']:.2f}"
        print(f"{row['backend']:10} {row['objects']:8} {row['p50_ms']:9.2f} {shown:>9} {row['p50_units']:10.2f}")


if __name__ == "__main__":
    main()
