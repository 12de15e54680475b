"""What the tools for rule packs cost in wall time, as ratios within one run.

    python benchmarks/packs.py [--json]

The unit is importing Obviate in a new interpreter. `check` is the whole of `obviate check household` after that, its
search included; `load` is loading the household pack; `rules` checks a file of so many rules, without the search.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from obviate.adapters.cli.findings import Options, check_pack
from obviate.kb import Pack, household

RUNS = 7
RULES = 3_000


def seconds(work: Callable[[], object], runs: int = RUNS) -> float:
    """The median of some runs."""
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def imported() -> None:
    subprocess.run([sys.executable, "-c", "import obviate.adapters.cli.findings"], check=True)


def load() -> Pack:
    return Pack.load(*(household.folder / "packs").glob("household.lp"), vocabulary=household.vocabulary())


def many() -> None:
    text = "\n".join(
        f'rule(r{i}, temporal). principle(r{i}, "Shut it."). hazard(r{i}, X) :- state(X, open), tag(X, soil).'
        for i in range(RULES // 3)
    )
    assert Pack.problems({"many.lp": text}, vocabulary=household.vocabulary()) == ()


def main() -> None:
    unit = seconds(imported)
    found = {
        "import": unit,
        "load": seconds(load),
        "check": seconds(lambda: check_pack("household", Options())),
        f"{RULES} rules": seconds(many, 1),
    }
    if "--json" in sys.argv:
        print(json.dumps({name: {"seconds": s, "ratio": s / unit} for name, s in found.items()}, indent=2))
        return
    for name, s in found.items():
        print(f"{name:12} {s:7.3f} s   {s / unit:6.2f} of an import")


if __name__ == "__main__":
    main()
