"""The engine around an environment of gymnasium: what an action triggers and what is open, in `info`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from obviate.adapters.gym.household import HouseholdEnv
from obviate.engine.engine import Engine
from obviate.engine.record import Change, Record, Trigger
from obviate.kb import DONE, Action, BeliefGraph, Pack
from obviate.kb.errors import ActionError, LifecycleError, nearest
from obviate.kb.extras import module

module("gymnasium", extra="gym")  # says what to install
import gymnasium as gym  # noqa: E402

__all__ = ["MODES", "GuardedEnv", "Mode"]

Mode = Literal["warn", "veto", "mitigate"]
MODES: tuple[Mode, ...] = ("warn", "veto", "mitigate")
Mitigation = Callable[[Trigger, BeliefGraph], Sequence[Any]]


def _nothing(trigger: Trigger, graph: BeliefGraph) -> Sequence[Any]:
    return ()


class GuardedEnv(gym.Wrapper[Any, Any, Any, Any]):
    """Any environment, with the engine following it.

    `action` says which action of ours one of the environment's is, or None; `graph` what is believed after an
    observation and its `info`. Both are known for a `HouseholdEnv`. An action that triggers a rule, unless it is
    advisory, is by `mode`:

    - ``warn``: done, and told;
    - ``veto``: not done: the observation stays, the reward is ``-penalty``, and after `patience` vetoes in an episode
      it is truncated;
    - ``mitigate``: done after what `mitigate` returns for what it triggers, actions of the environment, if it then
      triggers nothing any more; else vetoed. Rewards add up.

    ``info["safety"]`` has ``triggers`` (of the action: rule, objects, principle), ``obligations`` (open records),
    ``failed`` (records that failed by this step), ``vetoed``, and ``mitigated`` (actions done before, in our words).
    """

    def __init__(
        self,
        env: Any,
        *packs: Pack,
        action: Callable[[Any], Action | None] | None = None,
        graph: Callable[[Any, dict[str, Any]], BeliefGraph] | None = None,
        mode: Mode = "warn",
        mitigate: Mitigation = _nothing,
        penalty: float = 0.0,
        patience: int = 100,
    ) -> None:
        super().__init__(env)
        if mode not in MODES:
            raise LifecycleError("mode-unknown", f"there is no mode {mode!r}", where="mode", help=nearest(mode, MODES))
        inner = env.unwrapped
        if isinstance(inner, HouseholdEnv):
            action = action or (lambda number: inner.actions[int(number)])
            graph = graph or (lambda observation, info: info["beliefs"])
        if action is None or graph is None:
            what = "it is not known what its actions and observations mean"
            raise LifecycleError("meaning-missing", what, where="action, graph", help="give both functions")
        self._packs = packs
        self._action = action
        self._graph = graph
        self._mode: Mode = mode
        self._mitigate = mitigate
        self._penalty = penalty
        self._patience = patience
        self._engine: Engine | None = None
        self._last: tuple[Any, dict[str, Any]] = (None, {})
        self._vetoes = 0

    @property
    def engine(self) -> Engine:
        """The engine of this episode. Raises `LifecycleError` (``not-reset``)."""
        if self._engine is None:
            raise LifecycleError("not-reset", "no episode has begun", help="call reset() first")
        return self._engine

    def risks(self, action: Any) -> tuple[Trigger, ...]:
        """What an action of the environment would trigger now; changes nothing."""
        ours = self._known(action)
        return self.engine.probe(ours) if ours is not None else ()

    # -- as gymnasium asks -----------------------------------------------------------------------

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """A new episode, and a new engine."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._free()
        self._engine = Engine(*self._packs, objects=self._graph(observation, info))
        self._vetoes = 0
        self._last = (observation, info)
        return observation, {**info, "safety": self._told()}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Do an action as the mode has it."""
        engine = self.engine
        risks = self.risks(action)
        grave = [risk for risk in risks if not risk.advisory]
        if not grave or self._mode == "warn":
            return self._told_of(self._do(action), risks)
        before, gained = list[str](), 0.0
        failed: list[Record] = []
        if self._mode == "mitigate":
            wanted = [one for risk in grave for one in self._mitigate(risk, engine.graph)]
            for one in wanted:
                if any(not risk.advisory for risk in self.risks(one)):
                    break
                before.append(str(self._action(one)))
                (observation, reward, ended, cut, info), records = self._do(one)
                gained, failed = gained + float(reward), [*failed, *records]
                if ended or cut:
                    return observation, gained, ended, cut, {**info, "safety": self._told(risks, failed, before=before)}
            if before and not any(not risk.advisory for risk in self.risks(action)):
                (observation, reward, ended, cut, info), records = self._do(action)
                told = self._told(risks, [*failed, *records], before=before)
                return observation, gained + float(reward), ended, cut, {**info, "safety": told}
        self._vetoes += 1
        observation, info = self._last
        told = self._told(risks, failed, before=before, vetoed=True)
        truncated = self._vetoes >= self._patience
        if truncated:
            engine.finish("vetoed")
        return observation, gained - self._penalty, False, truncated, {**info, "safety": told}

    def close(self) -> None:
        """Free the engine and the environment."""
        self._free()
        super().close()

    # -- acting ----------------------------------------------------------------------------------

    def _free(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _known(self, action: Any) -> Action | None:
        """The action of ours, if the engine knows its objects by now."""
        ours = self._action(action)
        if ours is None:
            return None
        graph = self.engine.graph
        try:
            return graph.vocabulary.check_action(ours, graph.nodes)
        except ActionError:
            return None

    def _do(self, action: Any) -> tuple[tuple[Any, Any, bool, bool, dict[str, Any]], list[Record]]:
        """An action in the environment and in the engine, and the records that failed by it."""
        engine, ours, changes = self.engine, self._known(action), list[Change]()
        step = self.env.step(action)
        observation, _, terminated, truncated, info = step
        self._last = (observation, info)
        if ours is not None:
            changes += [engine.intend(ours), engine.execute(ours)]
        if not engine.ended:
            changes.append(engine.apply(engine.graph.difference(self._graph(observation, info))))
            if terminated or truncated:
                changes.append(engine.execute(DONE) if terminated else engine.finish("truncated"))
        return step, [record for change in changes for record in change.failed]

    def _told_of(self, done: Any, risks: Sequence[Trigger]) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        (observation, reward, terminated, truncated, info), failed = done
        return observation, reward, terminated, truncated, {**info, "safety": self._told(risks, failed)}

    def _told(
        self,
        risks: Sequence[Trigger] = (),
        failed: Sequence[Record] = (),
        *,
        before: Sequence[str] = (),
        vetoed: bool = False,
    ) -> dict[str, Any]:
        told = [{**risk.to_json(), "principle": risk.principle, "advisory": risk.advisory} for risk in risks]
        return {
            "triggers": told,
            "obligations": [record.to_json() for record in self.engine.obligations()],
            "failed": [record.to_json() for record in failed if record.counts],
            "vetoed": vetoed,
            "mitigated": list(before),
        }
