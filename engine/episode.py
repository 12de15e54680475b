"""Following an episode: a plan acted out in a world, with an engine beside it (paper, Section 4.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from obviate.engine.engine import Engine
from obviate.engine.record import Change
from obviate.engine.world import Outcome, World
from obviate.kb import DONE, Action, Patch
from obviate.kb.errors import ActionError

__all__ = ["Step", "follow"]

_INTEND = "intend "


@dataclass(frozen=True, slots=True)
class Step:
    """One action of an episode, or with `only_intended` a change of mind: an intent that is not executed.

    `announced` is what the intent changed, `judged` what executing it did, `observed` what the new observation
    `patch` did; None where the engine was not asked because `refused` tells that it does not know the action's
    objects. `outcome` is what happened in the world, None for ``done``.
    """

    number: int
    action: Action
    announced: Change | None
    judged: Change | None
    outcome: Outcome | None
    patch: Patch | None
    observed: Change | None
    refused: str = ""
    only_intended: bool = False

    @property
    def changes(self) -> tuple[Change, ...]:
        """What the engine reported, in order."""
        return tuple(c for c in (self.announced, self.judged, self.observed) if c is not None)


def follow(
    world: World, engine: Engine, plan: Iterable[Action | str], *, partial: bool = False, start: int = 1
) -> Iterator[Step]:
    """Act a plan out step by step: intend, execute, observe. Ends after ``done``.

    An item ``intend ACTION`` announces the action and does not execute it.

    `engine` believes what it was told of `world`; with `partial` it sees no contents of closed containers. An
    action that fails in the world is executed all the same, and changes nothing.
    """
    for number, item in enumerate(plan, start):
        only_intended = isinstance(item, str) and item.startswith(_INTEND)
        action = Action.parse(item.removeprefix(_INTEND)) if isinstance(item, str) else item
        announced = judged = None
        refused = ""
        try:
            announced = engine.intend(action)
            judged = None if only_intended else engine.execute(action)
        except ActionError as error:
            refused = error.message
        if only_intended:
            yield Step(number, action, announced, None, None, None, None, refused, only_intended)
            continue
        if action == DONE:
            yield Step(number, action, announced, judged, None, None, None, refused)
            return
        outcome = world.step(action)
        patch = world.observe(engine.graph, partial=partial)
        yield Step(number, action, announced, judged, outcome, patch, engine.apply(patch), refused)
