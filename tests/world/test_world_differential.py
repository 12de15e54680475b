"""The action theory against the reference simulator, step by step along random plans."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest
from households import SCALE, kinds, random_action, random_world, telling
from reference import Reference, facts_of

from obviate.adapters.isbench.scene import build_world
from obviate.adapters.isbench.task import Checkout
from obviate.engine.world import World
from obviate.kb import Action
from obviate.kb.kinds import Kinds

# What a message says, in the words of the reference.
FAILURES = {
    r".* does not exist": "does not exist",
    r".* is closed, open it first: .* is inside": "closed in",
    r".* is closed, open it first": "open first",
    r".* is open, close it first": "close first",
    r".* is on, switch it off first": "switch off first",
    r".* is off, switch it on first": "switch on first",
    r".* not openable": "not openable",
    r".* not toggleable": "not toggleable",
    r".* is a substance": "is a substance",
    r".* cannot be put on .*, which it holds up": "holds it up",
    r".* not a cleaning tool": "not a remover",
    r".* cannot be covered": "cannot be covered",
    r"nothing covers .*": "nothing covers",
    r".* cannot remove what covers .*": "cannot remove",
    r".* is not wet or soaped as needed to clean .*": "tool not ready",
    r".* cannot slice": "cannot slice",
    r".* not sliceable": "not sliceable",
    r".* cannot soak": "cannot soak",
    r".* not a source": "not a source",
    r".* not a vessel": "not a vessel",
    r".* empty": "empty",
    r".* saturated already": "saturated already",
    r".* nowhere": "not at heat",
    r".* is not at a heat source": "not at heat",
    r"the heat source of .* is off": "heat is off",
    r".* cannot cook": "cannot cook",
    r".* not a washer": "not a washer",
    r".* not a refrigerator": "not a fridge",
    r".* not freezable": "not freezable",
    r".* is not inside .*": "put inside first",
}


def kind_of(message: str) -> str:
    """The kind of failure that a message tells of; nothing for none."""
    found = (kind for pattern, kind in FAILURES.items() if re.fullmatch(pattern, message, re.DOTALL))
    return next(found, message)


def step(world: World, reference: Reference, action: Action) -> None:
    """Do an action in both, which must end in the same state and fail in the same way or not at all."""
    expected = reference.step(action)
    failure = world.step(action).failure
    assert (action, kind_of(failure)) == (action, expected)
    assert facts_of(world.graph) == reference.facts


CHUNKS = 8


def check(world: World, steps: Iterable[Action | None], random: Random) -> int:
    """Do actions in both, random ones for None; how many were done."""
    reference = Reference.of(world)
    done: list[Action] = []
    with telling(world, done):
        for action in steps:
            done.append(action or random_action(reference, random))
            step(world, reference, done[-1])
    return len(done)


@pytest.mark.soak
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_generated_worlds(chunk: int) -> None:
    random = Random(f"generated {chunk}")
    for _ in range(10 * SCALE):
        assert check(random_world(random), [None] * 10, random) == 10


@pytest.mark.soak
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_worlds_of_tasks(isbench: Path, chunk: int) -> None:
    """Random actions, half of the time after a part of the example plan."""
    checkout = Checkout(isbench)
    tables = Kinds.load(kinds().vocabulary, abilities=checkout.abilities_file)
    names = checkout.tasks()[chunk::CHUNKS]
    random = Random(f"tasks {chunk}")
    done = 0
    while done < 600 * SCALE // CHUNKS:
        task = checkout.load(random.choice(names))
        world = build_world(task, tables)
        plan = [Action.parse(text) for text in task.plan]
        known = [action for action in plan if set(action.args) <= set(world.objects)]
        start = random.choice([0, random.randint(1, len(known))])
        done += check(world, [*known[:start], *([None] * 15)], random)
