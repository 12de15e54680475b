"""What a large memory costs: 100,000 cases over 20 rules; retrieval, size, and opening.

python benchmarks/memory.py [CASES]
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from obviate.kb.experience.case import Case
from obviate.kb.experience.seeds import early_skills
from obviate.kb.experience.store import Store

RULES, BATCH, ASKED = 20, 1_000, 4_000


def case(number: int) -> Case:
    """A window of four deeds among eight things, about as large as those of IS-Bench tasks."""
    tools = ["cleaning_tool", "container", "container_2", "surface", "soil", "chemical"]
    nodes = [{"node_id": "x", "tags": ["appliance_refrigerator", "function_storage"], "states": ["open"]}]
    nodes += [{"node_id": name, "tags": ["function_surface", "safety_flammable"]} for name in tools]
    edges = [{"pred": "ontop", "src": name, "dst": "surface"} for name in tools if name != "surface"]
    pour = {"action": "soak_inside(cleaning_tool, container)", "patch": {"add_edges": [edges[0]]}}
    close = {"action": "close(x)", "patch": {"update_node_states": [{"node_id": "x", "remove": ["open"]}]}}
    data = {
        "rule": f"rule_{number % RULES}",
        "mode": "temporal",
        "outcome": "passed" if number % 3 else "failed",
        "episode": f"episode {number // 7}",
        "step": number,
        "binding": ["x"],
        "kinds": {name: f"{name}.n.01" for name in ["x", *tools]},
        "scene": {"add_nodes": nodes, "add_edges": edges},
        "deeds": [pour, {**pour, "action": "wipe(container_2, cleaning_tool)"}, pour, close],
    }
    return Case.model_validate(data)


def spent(work: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds of the wall and of the processor."""
    wall, own = time.perf_counter(), time.process_time()
    work()
    return 1e3 * (time.perf_counter() - wall), 1e3 * (time.process_time() - own)


def quantile(values: list[float], part: float) -> float:
    return round(sorted(values)[int(part * (len(values) - 1))], 3)


def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "memory.db"
        with Store(file) as store:
            start = time.perf_counter()
            for first in range(0, count, BATCH):
                store.add(*map(case, range(first, min(first + BATCH, count))))
            added = time.perf_counter() - start
            for number in range(RULES):
                store.write(early_skills()[0].model_copy(update={"rule": f"rule_{number}"}), origin="bench")
            asked = [spent(lambda n=n: store.recall(f"rule_{n % RULES}")) for n in range(ASKED)]  # type: ignore[misc]
            single = [spent(lambda n=n: store.add(case(count + n))) for n in range(100)]  # type: ignore[misc]
        opened, _ = spent(lambda: Store(file).close())
        megabytes = file.stat().st_size / 1e6
    report = {
        "cases": count,
        "bytes of a case": len(case(0).text()),
        "cases added per second": round(count / added),
        "recall p50 ms": quantile([wall for wall, _ in asked], 0.5),
        "recall p95 ms": quantile([wall for wall, _ in asked], 0.95),
        "recall p95 ms of the processor": quantile([own for _, own in asked], 0.95),
        "one case added, p50 ms": quantile([wall for wall, _ in single], 0.5),
        "opened in ms": round(opened),
        "megabytes": round(megabytes, 1),
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
