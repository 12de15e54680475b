"""What the bookkeeping of one event costs in wall time, the evaluator excluded.

    python benchmarks/maintenance.py [--json]

Buildings of 10 regions with one instruction, and of 1,000 with 100: the requests of the MIND benchmark in turn, under
the policy `ours`, with an evaluator that answers at once. The unit is one event on 10 regions.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence

from obviate.adapters.mind import REQUESTS
from obviate.engine.maintainer import Maintainer, Maintainers
from obviate.kb.errors import PatchError
from obviate.kb.event import Event
from obviate.kb.instruction import Instruction
from obviate.kb.question import Question
from obviate.kb.regions import Regions

TYPES = ("chair", "sofa", "painting", "house_plant", "desk", "television", "garbage_can")
SIZES = ((10, 1, 300), (1_000, 100, 60))  # regions, instructions, events


class Instant:
    """Says yes to every third question."""

    def judge(self, questions: Sequence[Question]) -> Sequence[bool]:
        return [hash(question) % 3 == 0 for question in questions]


def building(size: int) -> Regions:
    chance = random.Random(0)
    names = [f"room {i:04}" for i in range(size)]
    regions = {
        name: {
            "label": chance.choice(["bedroom", "kitchen"]),
            "inventory": {type: chance.randint(1, 3) for type in chance.sample(TYPES, 2)},
        }
        for name in names
    }
    doors = [[names[i], names[chance.randrange(max(0, i - 5), i)]] for i in range(1, size)]
    return Regions.of({"regions": regions, "doors": doors, "at": names[0]})


def events(state: Regions, count: int) -> Iterator[Event]:
    """Events that change something, of every kind."""
    chance = random.Random(1)
    names = sorted(state.names())
    while count:
        region, other = chance.sample(names, 2)
        kind = chance.choice([*state.inventories[region], "chair"])
        near = min(state.doors[region])
        made = (
            Event.move(chance.choice(sorted(state.reachable()))),
            Event.remove(kind, region, 1),
            Event.relocate(kind, region, other, 1),
            Event.use(region),
            Event.close(region, near),
            Event.open(region, near),
        )
        event = chance.choice(made)
        try:
            after = state.apply(event)
        except PatchError:
            continue
        if after is not state:
            yield event
            state, count = after, count - 1


def milliseconds(size: int, instructions: int, count: int) -> list[float]:
    start = building(size)
    texts = [request.text for request in REQUESTS.values()]
    names = [request.name for request in REQUESTS.values()]
    each = [
        Instruction.of(texts[i % len(texts)].replace(names[i % len(names)], f"{names[i % len(names)]}_{i}"))
        for i in range(instructions)
    ]
    together = Maintainers(*(Maintainer(one, evaluator=Instant()) for one in each))
    together.initialize(start)
    times = []
    for event in events(start, count):
        began = time.perf_counter()
        together.update(event)
        times.append((time.perf_counter() - began) * 1_000)
    return times


def main() -> None:
    found = {
        f"{size} regions, {instructions} instructions": milliseconds(size, instructions, count)
        for size, instructions, count in SIZES
    }
    unit = statistics.median(next(iter(found.values())))
    told = {
        name: {"p50_ms": statistics.median(times), "p95_ms": sorted(times)[int(len(times) * 0.95)]}
        for name, times in found.items()
    }
    if "--json" in sys.argv:
        print(json.dumps(told, indent=2))
        return
    for name, one in told.items():
        print(
            f"{name:32} p50 {one['p50_ms']:8.3f} ms   p95 {one['p95_ms']:8.3f} ms   {one['p50_ms'] / unit:7.1f} units"
        )


if __name__ == "__main__":
    main()
