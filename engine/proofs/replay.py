"""Replaying a story on the real `Maintainer`: what a proof says of the kernel is held against what is carried out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from obviate.engine.decision import Decision
from obviate.engine.maintainer import Maintainer
from obviate.engine.policy import Policy, policy
from obviate.engine.proofs.story import Story
from obviate.kb.errors import DisagreementError
from obviate.kb.event import Event
from obviate.kb.instruction import Instruction
from obviate.kb.question import Question
from obviate.kb.regions import Regions

__all__ = ["Making", "Replayed", "confirm", "replay"]

Making = Callable[..., Maintainer]

_DECLARED = Policy("declared", "declared")
_UNMOVED = Policy("without reselection", "declared", eventwise=True)  # a decider stands for the step that is left out


_OURS = ("exact", "addressed", "lazy", "polar", "ours")


@dataclass(frozen=True, slots=True)
class Replayed:
    """The decisions of the real `Maintainer` on a story: as the controller of the story, by full recomputation, and,
    where all hypotheses hold, by our policies.
    """

    maintained: tuple[Decision, ...]
    full: tuple[Decision, ...]
    ours: Mapping[str, tuple[Decision, ...]]


def replay(story: Story, *, making: Making = Maintainer) -> Replayed:
    """Follow a story with the signature and the reports that it tells of. `making` makes what follows it."""
    instruction = _instruction(story.text)
    chosen_again = iter(story.again)

    def relevance(_: Instruction, event: Event) -> str:
        return "semantic" if next(chosen_again) else "none"

    def follow(one: Maintainer) -> tuple[Decision, ...]:
        one.initialize(story.states[-1])  # which is forgotten when it begins anew
        decisions = [one.initialize(story.states[0])]
        for event, report in zip(story.events, story.reports, strict=True):
            decisions.append(one.update(event, footprint=report))
        return tuple(decisions)

    unmoved = story.dropped == "reselection"
    controller = making(
        instruction, policy=_UNMOVED if unmoved else _DECLARED, relevance=relevance if unmoved else None
    )
    policies = [policy(name) for name in _OURS] if not story.dropped else []
    ours = {one.name: follow(making(instruction, policy=replace(one, signature="declared"))) for one in policies}
    return Replayed(follow(controller), follow(making(instruction, policy="full")), ours)


@lru_cache(maxsize=256)
def _instruction(text: str) -> Instruction:
    return Instruction.of(text, file="story.lp")


def confirm(story: Story, *, making: Making = Maintainer) -> Replayed:
    """`replay`, which must go exactly as predicted; raises `DisagreementError` (``not-confirmed``) if it does not."""
    found = replay(story, making=making)
    for problem in _problems(story, found):
        help = "a proof or the Maintainer is wrong: please report it with the story"
        raise DisagreementError("not-confirmed", f"the replay goes otherwise: {problem}", where="story", help=help)
    return found


def _problems(story: Story, found: Replayed) -> Iterator[str]:
    followed = {"the controller": found.maintained, "full recomputation": found.full, **found.ours}
    predicted = {"the controller": story.maintained}
    for who, decisions in followed.items():
        for time, (target, decision) in enumerate(zip(predicted.get(who, story.full), decisions, strict=True)):
            if decision.target != target or not decision.certain or decision.step != time:
                yield f"{who} decides {decision.target} at {time}, not {target}"
    expected = {
        "the controller": [frozenset(story.states[0].names()), *story.stale],
        "full recomputation": [state.names() for state in story.states],
        **{name: expected_of(story) for name, expected_of in _ASKED.items() if name in found.ours},
    }
    for who, judged in expected.items():
        for time, (regions, decision) in enumerate(zip(judged, followed[who], strict=True)):
            if frozenset(decision.refreshed) != regions or decision.evaluations != len(regions):
                yield f"{who} judges {sorted(decision.refreshed)} at {time}, not {sorted(regions)}"
        if followed[who][-1].total != sum(map(len, judged)):
            yield f"{who} counts {followed[who][-1].total} judgments, not {sum(map(len, judged))}"


# -- what our policies ask -----------------------------------------------------------------------


def _shown(story: Story, time: int, region: str) -> Question:
    return Question.of("story", story.states[time], region, {*story.reads["semantic"], *story.depends["semantic"]})


def _exactly(story: Story) -> list[frozenset[str]]:
    """What was reported stale and shows something else than when it was last judged."""
    judged = {region: _shown(story, 0, region) for region in story.states[0].names()}
    found = [frozenset(judged)]
    for time, stale in enumerate(story.stale, start=1):
        found.append(frozenset(region for region in stale if _shown(story, time, region) != judged[region]))
        judged |= {region: _shown(story, time, region) for region in found[-1]}
    return found


def _addressed(story: Story) -> list[frozenset[str]]:
    """The first region, by name, that is stale and shows what was never asked about."""
    known: set[Question] = set()
    found = []
    for time, stale in enumerate([story.states[0].names(), *story.stale]):
        asked = set()
        for region in sorted(stale):
            question = _shown(story, time, region)
            if question not in known:
                known.add(question)
                asked.add(region)
        found.append(frozenset(asked))
    return found


def _lazily(story: Story) -> list[frozenset[str]]:
    """In the order of preference, those that are not fresh, until one qualifies."""
    fresh: set[str] = set()
    found = []
    for time, stale in enumerate([frozenset[str](), *story.stale]):
        fresh -= stale
        asked = set()
        for region in story.order[time] if time == 0 or story.again[time - 1] else ():
            if region not in fresh:
                asked.add(region)
                fresh.add(region)
            if region in story.holds[time]:
                break
        found.append(frozenset(asked))
    return found


def _polarly(story: Story) -> list[frozenset[str]]:
    """What is stale, but not by contents that only grew where the answer is yes, or shrank where it is no."""
    found = [story.states[0].names()]
    for time, stale in enumerate(story.stale, start=1):
        report, before = story.reports[time - 1], story.states[time - 1]
        others = [report.scope(v) for v in story.depends["semantic"] if v != "inventory"]
        spared = {
            region
            for region in stale.difference(*others)
            if _sheds(before, story.states[time], region) != (region in story.holds[time - 1])
            or before.inventories[region] == story.states[time].inventories[region]
        }
        found.append(stale - spared)
    return found


def _sheds(before: Regions, after: Regions, region: str) -> bool:
    """Whether a region has less in it than before."""
    return sum(after.inventories[region].values()) < sum(before.inventories[region].values())


_ASKED: Mapping[str, Callable[[Story], list[frozenset[str]]]] = {
    "exact": _exactly,
    "addressed": _addressed,
    "lazy": _lazily,
    "polar": _polarly,
}
