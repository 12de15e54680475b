"""Decisions whose judgments are awaited are those that block, whatever is cancelled or fails on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kb_regions import events, house, states, steps

from obviate.engine.evaluator import AsyncJudge, Counted, Exact, Limited
from obviate.engine.maintainer import Maintainer, Maintainers
from obviate.engine.policy import POLICIES
from obviate.kb.errors import LifecycleError
from obviate.kb.event import Event
from obviate.kb.instruction import Instruction
from obviate.kb.regions import Regions

MUG = Instruction.of("instruction(mug). qualifies(mug, R) :- inventory(R, mug, _). prefer(mug, R, D) :- hops(R, D).")
COSY = Instruction.of(
    "instruction(cosy). judged(cosy). depends(cosy, semantic, (inventory; position)). prefer(cosy, R, D) :- hops(R, D)."
)
START = house("hall-kitchen", "hall-attic", kitchen={"mug": 1}, attic={"mug": 1})


def verdict(prompt: str) -> bool:
    return sha256(prompt.encode()).digest()[0] < 128


async def ask(prompt: str) -> bool:
    await asyncio.sleep(0)
    return verdict(prompt)


@settings(max_examples=60)
@given(states, st.lists(events, max_size=8), st.sampled_from(sorted(POLICIES.keys() - {"eventwise"})))
def test_awaited_decisions_are_those_that_block(start: Regions, happened: list[Event], policy: str) -> None:
    blocking = Maintainer(COSY, evaluator=AsyncJudge(ask), policy=policy)
    waiting = Maintainer(COSY, evaluator=AsyncJudge(ask), policy=policy)
    taken = [event for _, event, _ in steps(start, happened)]

    async def follow() -> list[object]:
        return [await waiting.ainitialize(start), *[await waiting.aupdate(event) for event in taken]]

    assert [blocking.initialize(start), *map(blocking.update, taken)] == asyncio.run(follow())


@settings(max_examples=60)
@given(states, st.lists(events, min_size=1, max_size=8), st.integers(0, 7), st.sampled_from(["reference", "ours"]))
def test_what_was_cancelled_is_judged_later(start: Regions, happened: list[Event], when: int, policy: str) -> None:
    taken = [event for _, event, _ in steps(start, happened)]
    full = Maintainer(COSY, evaluator=AsyncJudge(ask), policy="full")
    wanted = [full.initialize(start).target, *[full.update(event).target for event in taken]]

    async def follow() -> None:
        ours = Maintainer(COSY, evaluator=AsyncJudge(ask), policy=policy)
        await ours.ainitialize(start)
        for step, event in enumerate(taken, start=1):
            deciding = asyncio.ensure_future(ours.aupdate(event))
            await asyncio.sleep(0)
            if step > when:
                deciding.cancel()
            found = (await asyncio.gather(deciding, return_exceptions=True))[0]
            if not isinstance(found, BaseException):
                assert found.target == wanted[step]
        assert (await ours.aobserve(ours.state)).target == wanted[-1]

    asyncio.run(follow())


def test_one_decision_at_a_time() -> None:
    async def follow() -> None:
        one = Maintainer(COSY, evaluator=AsyncJudge(ask), policy="full")
        many = Maintainers(Maintainer(MUG), one)
        await many.ainitialize(START)
        deciding = asyncio.ensure_future(one.aupdate(Event.move("attic")))
        await asyncio.sleep(0)
        with pytest.raises(LifecycleError, match="await its last update"):
            one.update(Event.move("hall"))
        with pytest.raises(LifecycleError, match="await its last update"):
            await many.aupdate(Event.move("hall"))
        assert (await deciding).step == 1
        assert (await one.aupdate(Event.move("hall"))).step == 2

    asyncio.run(follow())


def test_questions_and_instructions_are_asked_together() -> None:
    pending, most = 0, 0

    async def slow(prompt: str) -> bool:
        nonlocal pending, most
        pending += 1
        most = max(most, pending)
        await asyncio.sleep(0.01)
        pending -= 1
        return verdict(prompt)

    async def follow(at_once: int) -> int:
        nonlocal most
        most = 0
        other = Instruction.of("instruction(o). judged(o). depends(o, semantic, inventory).")
        judges = [AsyncJudge(slow, at_once=at_once), AsyncJudge(slow, at_once=at_once)]
        counted = Counted(judges[0])
        many = Maintainers(
            Maintainer(COSY, evaluator=counted, policy="full"), Maintainer(other, evaluator=judges[1], policy="full")
        )
        await many.ainitialize(START)
        await many.aupdate(Event.move("attic"))
        assert (counted.asked, counted.batches) == (6, 2)
        return most

    assert asyncio.run(follow(8)) == 6
    assert asyncio.run(follow(1)) == 2


def test_failures_are_told_as_those_that_block() -> None:
    async def busy(prompt: str) -> bool:
        raise ConnectionError("the model is busy")

    async def never(prompt: str) -> bool:
        await asyncio.sleep(30)
        return True

    async def nonsense(prompt: str) -> str:
        return "perhaps"

    async def failure(judge: AsyncJudge | Limited) -> str:
        decision = await Maintainer(COSY, evaluator=judge, policy="full").ainitialize(START)
        assert (decision.certain, decision.target) == (False, None)
        return decision.failure

    assert asyncio.run(failure(AsyncJudge(busy))) == "ConnectionError: the model is busy"
    assert "took over 0.05 s" in asyncio.run(failure(Limited(AsyncJudge(never), 0.05)))
    assert "'perhaps' is no answer" in asyncio.run(failure(AsyncJudge(nonsense)))


def test_an_evaluator_that_only_blocks_can_be_awaited() -> None:
    counted = Counted(Exact(MUG))

    async def follow() -> Sequence[str | None]:
        one = Maintainer(MUG, evaluator=Limited(counted, 10))
        decisions = [await one.ainitialize(START), await one.aupdate(Event.remove("mug", "attic", 1))]
        return [decision.target for decision in decisions]

    assert asyncio.run(follow()) == ["attic", "kitchen"]
    assert counted.batches > 0
