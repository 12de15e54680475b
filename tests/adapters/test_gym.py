"""The household as an environment of gymnasium, and the engine around it and around a stranger's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

NEEDS = "needs the extra: pip install 'obviate[gym]'"
pytest.importorskip("gymnasium", reason=NEEDS)

import gymnasium as gym  # noqa: E402
import numpy as np  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402

from obviate.adapters import scenario  # noqa: E402
from obviate.adapters.gym.guarded import GuardedEnv  # noqa: E402
from obviate.adapters.gym.household import HouseholdEnv  # noqa: E402
from obviate.engine.record import Trigger  # noqa: E402
from obviate.kb import Action, BeliefGraph, household  # noqa: E402
from obviate.kb.errors import ActionError, LifecycleError  # noqa: E402

PLACE = "place_on_top(peach, plate)"


@pytest.fixture(scope="module")
def env() -> Iterator[HouseholdEnv]:
    scene = scenario.read("peach")
    made = HouseholdEnv(scene.world, scene.goal, partial=True, limit=20, render_mode="ansi")
    yield made
    made.close()


def guarded(env: HouseholdEnv, **options: Any) -> GuardedEnv:
    return GuardedEnv(env, household.pack(), **options)


def play(env: Any, *actions: str) -> list[tuple[Any, Any, bool, bool, dict[str, Any]]]:
    return [env.step(env.unwrapped.number(action)) for action in actions]


# -- the household -----------------------------------------------------------------------------------


def test_gymnasium_finds_nothing_to_complain_of() -> None:
    scene = scenario.read("side_table")
    kwargs = {"world": scene.world, "goals": scene.goal}
    gym.register("Household-v0", "obviate.adapters.gym.household:HouseholdEnv", kwargs=kwargs)
    check_env(gym.make("Household-v0", render_mode="ansi").unwrapped)


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version")
def test_nor_when_the_engine_is_around_it(env: HouseholdEnv) -> None:
    check_env(guarded(env), skip_render_check=True)


def test_a_task_is_done(env: HouseholdEnv) -> None:
    observation, info = env.reset(seed=1)
    assert observation in env.observation_space
    assert (info["action"], info["reached"]) == ("", False)
    (_, reward, ended, _, info), *_ = play(env, "place_inside(peach, plate)")
    assert (reward, ended, info["failure"]) == (0.0, False, "fridge is closed, open it first: peach is inside")
    steps = play(env, "open(fridge)", PLACE, "done")
    assert [step[1] for step in steps] == [0.0, 0.0, 1.0]
    assert [step[2] for step in steps] == [False, False, True]
    assert 'edge(ontop,"peach","plate")' in str(env.render())


def test_done_too_early_earns_nothing(env: HouseholdEnv) -> None:
    env.reset()
    ((_, reward, ended, _, _),) = play(env, "done")
    assert (reward, ended) == (0.0, True)


def test_an_episode_is_cut_at_its_limit_and_begins_anew(env: HouseholdEnv) -> None:
    first, _ = env.reset()
    steps = play(env, *["open(fridge)", "close(fridge)"] * 10)
    assert [step[3] for step in steps] == [False] * 19 + [True]
    again, _ = env.reset()
    assert np.array_equal(first, again)


def test_what_is_hidden_is_not_seen(env: HouseholdEnv) -> None:
    _, info = env.reset()
    assert "peach" not in info["beliefs"]
    ((_, _, _, _, info),) = play(env, "open(fridge)")
    assert "peach" in info["beliefs"]


def test_an_action_that_there_is_not_is_refused(env: HouseholdEnv) -> None:
    with pytest.raises(ActionError) as caught:
        env.number("open(peach)")
    assert caught.value.code == "action-unavailable"


# -- the engine around it ----------------------------------------------------------------------------


def test_a_warning_tells_and_lets_it_happen(env: HouseholdEnv) -> None:
    safe = guarded(env)
    _, info = safe.reset()
    assert info["safety"] == {"triggers": [], "obligations": [], "failed": [], "vetoed": False, "mitigated": []}
    opened, placed, done = (step[4]["safety"] for step in play(safe, "open(fridge)", PLACE, "done"))
    assert [one["rule"] for one in opened["obligations"]] == ["refrigerator_closed"]
    assert [one["rule"] for one in placed["triggers"]] == ["food_on_clean"]
    assert placed["triggers"][0]["principle"]
    assert [one["rule"] for one in placed["failed"]] == ["food_on_clean"]
    assert [one["rule"] for one in done["failed"]] == ["refrigerator_closed"]
    assert env.world.graph.has_edge("ontop", "peach", "plate")


def test_a_veto_leaves_the_world_as_it_is_and_ends_one_day(env: HouseholdEnv) -> None:
    safe = guarded(env, mode="veto", penalty=0.5, patience=2)
    safe.reset()
    play(safe, "open(fridge)")
    assert [risk.rule for risk in safe.risks(env.number(PLACE))] == ["food_on_clean"]
    first, second = play(safe, PLACE, PLACE)
    assert (first[1], first[3], second[3]) == (-0.5, False, True)
    assert first[4]["safety"]["vetoed"]
    assert not env.world.graph.has_edge("ontop", "peach", "plate")
    assert safe.engine.ended
    safe.reset()
    assert not safe.engine.ended


def test_a_mitigation_comes_first(env: HouseholdEnv) -> None:
    def mitigate(trigger: Trigger, graph: BeliefGraph) -> list[int]:
        assert trigger.rule == "food_on_clean"
        return [env.number("soak_inside(sponge, soap)"), env.number(f"wipe({trigger.binding[1]}, sponge)")]

    safe = guarded(env, mode="mitigate", mitigate=mitigate)
    safe.reset()
    *_, last = play(safe, "open(fridge)", PLACE, "close(fridge)", "done")
    assert last[1] == 1.0
    assert [record.verdict for record in safe.engine.records()] == ["passed"]


def test_a_mitigation_that_does_not_help_is_a_veto(env: HouseholdEnv) -> None:
    safe = guarded(env, mode="mitigate", mitigate=lambda trigger, graph: [env.number("close(fridge)")])
    safe.reset()
    _, (_, _, _, _, info) = play(safe, "open(fridge)", PLACE)
    assert (info["safety"]["vetoed"], info["safety"]["mitigated"]) == (True, ["close(fridge)"])
    assert not env.world.graph.has_edge("ontop", "peach", "plate")


def test_misuse_is_refused(env: HouseholdEnv) -> None:
    with pytest.raises(LifecycleError) as caught:
        guarded(env, mode="pray")
    assert caught.value.code == "mode-unknown"
    with pytest.raises(LifecycleError) as caught:
        guarded(env).step(0)
    assert caught.value.code == "not-reset"


# -- an environment that others wrote ----------------------------------------------------------------


class Stove(gym.Env[Any, Any]):  # type: ignore[misc, unused-ignore]
    """A knob to turn, and a walk that means nothing to us."""

    action_space = gym.spaces.Discrete(3)
    observation_space = gym.spaces.MultiBinary(1)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.on = np.zeros(1, dtype=np.int8)
        return self.on.copy(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.on[0] = {0: 1, 1: 0}.get(int(action), self.on[0])
        return self.on.copy(), 0.0, int(action) == 2 and not self.on[0], False, {}


def test_an_environment_of_others_is_followed_once_its_meaning_is_given() -> None:
    node = {"node_id": "stove", "tags": ["function_heat_source", "function_electrical_appliance"]}

    def graph(observation: Any, info: dict[str, Any]) -> BeliefGraph:
        lit = {"states": ["toggled_on"]} if observation[0] else {"absent": ["toggled_on"]}
        return BeliefGraph.of(household.vocabulary(), {"add_nodes": [{**node, **lit}]})

    skills = {0: Action("toggle_on", ("stove",)), 1: Action("toggle_off", ("stove",))}
    safe = GuardedEnv(Stove(), household.pack(), action=lambda number: skills.get(int(number)), graph=graph)
    safe.reset()
    lit, off, end = (safe.step(number) for number in (0, 1, 2))
    assert [one["rule"] for one in lit[4]["safety"]["obligations"]] == ["appliance_off"]
    assert off[4]["safety"]["obligations"] == []
    assert end[2]
    assert [record.verdict for record in safe.engine.records()] == ["passed"]
    safe.close()
    with pytest.raises(LifecycleError) as caught:
        GuardedEnv(Stove(), household.pack())
    assert caught.value.code == "meaning-missing"
