"""The household world as an environment of gymnasium, without a simulator."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

from obviate.adapters.planners.operators import ground
from obviate.adapters.scenario import Goal
from obviate.engine.world import World
from obviate.kb import DONE, Action, BeliefGraph
from obviate.kb.errors import ActionError, nearest
from obviate.kb.extras import module

module("gymnasium", extra="gym")  # says what to install
import gymnasium as gym  # noqa: E402
import numpy as np  # noqa: E402

__all__ = ["HouseholdEnv"]


class HouseholdEnv(gym.Env[Any, Any]):
    """A task in a world: actions by number, what is believed as a vector of zeros and ones.

    `actions` are the actions, the last of them ``done``; without them, those that can be of use from the start on
    (`operators.ground`). An observation has a bit for each belief in `facts`; with `partial`, what closed containers
    hide is not seen, and what was seen stays believed. The reward is 1 for ``done`` with all `goals` met, else 0; after
    `limit` actions the episode is truncated. An action that fails changes nothing.

    `info` has ``action`` (ours, in words), ``failure`` (why it failed, or empty), ``reached`` (whether the goals are
    met) and ``beliefs``, the `BeliefGraph`.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 - gymnasium's own way

    def __init__(
        self,
        world: World,
        goals: Sequence[Goal],
        *,
        actions: Sequence[Action] | None = None,
        partial: bool = False,
        limit: int = 50,
        render_mode: str | None = None,
    ) -> None:
        scene = ground(world)
        useful = [one.action for one in scene.operators] if actions is None else list(actions)
        self.actions = (*dict.fromkeys(one for one in useful if one != DONE), DONE)
        self.facts = tuple(sorted(scene.open | scene.fixed, key=str))
        self.goals = tuple(goals)
        self.render_mode = render_mode
        self.action_space = gym.spaces.Discrete(len(self.actions))
        self.observation_space = gym.spaces.MultiBinary(len(self.facts))
        self._start = world
        self._partial = partial
        self._limit = limit
        self._numbers = {action: number for number, action in enumerate(self.actions)}
        self._begin()

    def _begin(self) -> None:
        self.world = copy(self._start)
        self._steps = 0
        self._belief = BeliefGraph(self._start.graph.vocabulary)
        self._look()

    def _look(self) -> None:
        self._belief = self._belief.merge(self.world.observe(self._belief, partial=self._partial))

    def number(self, action: Action | str) -> int:
        """The number of an action. Raises `ActionError` (``action-unavailable``)."""
        action = Action.parse(action) if isinstance(action, str) else action
        if action not in self._numbers:
            help = nearest(str(action), map(str, self.actions))
            raise ActionError("action-unavailable", f"{action} is no action of this environment", help=help)
        return self._numbers[action]

    # -- as gymnasium asks -----------------------------------------------------------------------

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Back to the start; nothing here is drawn by chance."""
        super().reset(seed=seed)
        self._begin()
        return self._seen(), self._told()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Do the action of that number."""
        ours = self.actions[int(action)]
        self._steps += 1
        done = ours == DONE
        failure = "" if done else self.world.step(ours).failure
        self._look()
        reached = self._reached()
        truncated = not done and self._steps >= self._limit
        return self._seen(), float(done and reached), done, truncated, self._told(ours, failure)

    def render(self) -> str | None:
        """What is believed, a fact on each line."""
        if self.render_mode != "ansi":
            return None
        return "\n".join(f"{fact}" for fact, bit in zip(self.facts, self._seen(), strict=True) if bit)

    def _seen(self) -> Any:
        return np.array([self._belief.holds(fact) for fact in self.facts], dtype=np.int8)

    def _reached(self) -> bool:
        return all(goal.holds(self.world.graph) for goal in self.goals)

    def _told(self, action: Action | None = None, failure: str = "") -> dict[str, Any]:
        name = str(action) if action is not None else ""
        return {"action": name, "failure": failure, "reached": self._reached(), "beliefs": self._belief}
