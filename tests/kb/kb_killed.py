"""Run by itself: writers of a store are killed at random points, and what they had committed is looked for.

    python kb_killed.py ROUNDS SEED FILE

Prints what was found, as JSON. A child process is forked for each round, so that a round takes milliseconds.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time

from kb_experience import closer, closing

from obviate.kb.experience.store import Store


def write(path: str, first: int, pipe: int, seed: int) -> None:
    """Write for ever, and report each change after it is committed."""
    draw = random.Random(seed)
    with Store(path) as store:
        number = first
        while True:
            cases = [closing(number + i) for i in range(draw.choice([1, 1, 1, 7]))]
            store.add(*cases)
            os.write(pipe, f"case {number} {len(cases)}\n".encode())
            number += len(cases)
            if draw.random() < 0.3:
                mark = store.evidence("storage_closed").mark
                version = store.write(closer(), origin="test", evidence=cases, mark=mark)
                os.write(pipe, f"version {version} {mark}\n".encode())


def read(pipe: int) -> list[list[str]]:
    with os.fdopen(pipe) as stream:
        return [line.split() for line in stream.read().splitlines(keepends=True) if line.endswith("\n")]


def main(rounds: int, seed: int, path: str) -> None:
    draw = random.Random(seed)
    committed: set[str] = set()
    versions, mark, lost, torn, number = 0, 0, 0, 0, 0
    for turn in range(rounds):
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(out)
            write(path, number, into, draw.randrange(1 << 30))
        os.close(into)
        time.sleep(draw.random() * 0.06)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        for what, one, two in read(out):
            if what == "case":
                committed |= {closing(number + i).digest for number in [int(one)] for i in range(int(two))}
            else:
                versions, mark = int(one), int(two)
        with Store(path) as store:  # raises if it is not readable
            found = {case.digest: case.step for case in store.archive()}
            history = store.history("storage_closed")
            lost += len(committed - found.keys()) + (len(history) < versions)
            lost += store.evidence("storage_closed").mark < mark
            torn += [version.number for version in history] != list(range(1, len(history) + 1))
            number = max(found.values(), default=-1) + 1
        if turn % 50 == 49:  # start anew, so that files are made while writers die, too
            os.unlink(path)
            committed, versions, mark, number = set(), 0, 0, 0
    print(json.dumps({"rounds": rounds, "lost": lost, "torn": torn}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
