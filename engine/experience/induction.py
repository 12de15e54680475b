"""Induction without a language model: the shortest lifted pattern that the evidence bears out (paper, Section 4.4).

How comes from the deeds that met the target, anti-unified; grounding from the tags that the successes have in common,
and from what the failures lack; timing by contrast.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from obviate.engine.experience.evolution import Brief
from obviate.engine.experience.rehearsal import Outcome, Rehearser
from obviate.engine.experience.wording import worded
from obviate.kb import Action
from obviate.kb.experience.case import Case
from obviate.kb.experience.pattern import common_facts, generalise, merged
from obviate.kb.experience.skill import MetaSkill, Timing, Way
from obviate.kb.experience.timing import moments, timing_of

__all__ = ["Induction"]

MAX_WAYS = 4
MAX_NEEDS = 2


@dataclass(frozen=True, slots=True)
class Induction:
    """An editor that proposes what follows from the cases."""

    name: str = "induction"

    def propose(self, brief: Brief, rehearser: Rehearser) -> tuple[MetaSkill, str]:
        """The skill with the ways and the timing that the evidence speaks for."""
        inducer = _Inducer(brief, rehearser)
        ways = inducer.ways()
        timing, why = inducer.timing()
        told = [*([why] if why else []), *inducer.reasons]
        skill = brief.skill.model_copy(update={"ways": ways, "timing": timing, "binding": brief.binding})
        if ways == brief.skill.ways and timing == brief.skill.timing and brief.skill.how:
            return brief.skill, ""
        return worded(skill, brief), "; ".join(told) or "a pattern common to the successes"


class _Inducer:
    def __init__(self, brief: Brief, rehearser: Rehearser) -> None:
        self._brief = brief
        self._rehearser = rehearser
        self.reasons: list[str] = []

    # -- how ---------------------------------------------------------------------------------------

    def ways(self) -> tuple[Way, ...]:
        """The patterns of the successes, and what of the present ones still works, mended; shortest first."""
        found = list(self._of_successes())
        found += [mended for way in self._brief.skill.ways if (mended := self._mended(way)) is not None]
        ways = [self._told_apart(way) for way in self._united(found)]
        return tuple(self._needed(sorted(ways, key=lambda w: (len(w.steps), len(w.slots), w.steps))))[:MAX_WAYS]

    def _needed(self, ways: Sequence[Way]) -> Iterator[Way]:
        """The ways without those that only meet targets that shorter ones meet as well."""
        cases = (*self._brief.positive, *self._brief.negative)
        met: set[int] = set()
        for way in ways:
            outcomes = [self._try(way, case) for case in cases]
            works = {i for i, one in enumerate(outcomes) if one.grounding is not None and not one.reason}
            elsewhere = all(one.grounding is None for one in outcomes)
            if works - met or elsewhere:
                met |= works
                yield way

    def _of_successes(self) -> Iterator[Way]:
        groups: dict[tuple[str, ...], list[tuple[Case, tuple[int, ...]]]] = {}
        for case, indices in zip(self._brief.positive, self._brief.essential, strict=True):
            key = (*(case.deeds[i].parsed.skill for i in indices), case.outcome)
            groups.setdefault(key, []).append((case, indices))
        for key, group in groups.items():
            way = generalise(group) if len(group[0][1]) <= 8 else None
            if way is None:
                continue
            if all(self._rehearser.way(way, self._brief.binding, case).reason for case, _ in group):
                way = generalise(group[-1:])  # too general: the most recent one alone
            if way is not None and any(not self._try(way, case).reason for case, _ in group):
                yield way
                self.reasons.append(f"{len(group)} success{'es' * (len(group) > 1)} by {', then '.join(key[:-1])}")

    def _united(self, ways: Sequence[Way]) -> list[Way]:
        """Ways of one skeleton made into one, where that still works."""
        kept: list[Way] = []
        for way in ways:
            for number, other in enumerate(kept):
                both = merged(other, way, self._brief.binding)
                if both is not None and (both in (other, way) or self._works(both)):
                    kept[number] = both
                    break
            else:
                kept.append(way)
        return kept

    def _works(self, way: Way) -> bool:
        outcomes = [self._try(way, case) for case in self._brief.positive]
        return all(not outcome.reason or outcome.grounding is None for outcome in outcomes)

    def _try(self, way: Way, case: Case) -> Outcome:
        return self._rehearser.way(way, self._brief.skill.binding or self._brief.binding, case)

    # -- what failed -------------------------------------------------------------------------------

    def _mended(self, way: Way) -> Way | None:
        """A present way, with a step before the one that failed where that helps; None if it is of no use any more."""
        outcomes = [self._try(way, case) for case in (*self._brief.negative, *self._brief.positive)]
        failing = [one for one in outcomes if one.grounding is not None and one.reason]
        useful = any(one.grounding is not None and not one.reason for one in outcomes)
        if not failing:
            return way
        if failing[0].failed is not None:
            for better in self._with_a_step(way, failing[0]):
                if self._helps(better):
                    self.reasons.append(f"{failing[0].reason}; {better.steps[0]} comes first")
                    return better
        return way if useful else None

    def _helps(self, way: Way) -> bool:
        """Whether a way works on every case to which it applies."""
        outcomes = [self._try(way, case) for case in (*self._brief.negative, *self._brief.positive)]
        return not any(one.grounding is not None and one.reason for one in outcomes)

    def _with_a_step(self, way: Way, outcome: Outcome) -> Iterator[Way]:
        """The way with one more action, on the objects of the step that failed, before it."""
        assert outcome.failed is not None
        assert outcome.grounding is not None
        slots = {name: slot for slot, name in outcome.grounding.items()}
        failed = replace(outcome.failed, args=tuple(slots[name] for name in outcome.failed.args))
        place = next(i for i, action in enumerate(way.actions) if action == failed)
        skills = self._rehearser.packs[0].vocabulary.skills
        for skill, arity in sorted(skills.items(), key=lambda item: (item[1], item[0])):
            for args in permutations(failed.args[::-1], arity) if arity else ():
                step = str(Action(skill, args))
                if step not in way.steps:
                    steps = (*way.steps[:place], step, *way.steps[place:])
                    yield way.model_copy(update={"steps": steps})

    def _told_apart(self, way: Way) -> Way:
        """The way with the needs that keep it from scenes where it fails, if the successes have them in common."""
        scenes = []
        for case in self._brief.positive:
            outcome = self._try(way, case)
            if outcome.grounding is not None and not outcome.reason:
                scenes.append((case.start(self._rehearser.packs[0].vocabulary), dict(outcome.grounding)))
        for case in self._brief.negative:
            outcome = self._try(way, case)
            if outcome.grounding is None or not outcome.reason or len(way.needs) >= MAX_NEEDS or not scenes:
                continue
            graph, objects = case.start(self._rehearser.packs[0].vocabulary), dict(outcome.grounding)
            for need in common_facts(way, scenes):
                if not need.holds(graph, objects):
                    way = way.model_copy(update={"needs": (*way.needs, str(need))})
                    self.reasons.append(f"{outcome.reason}; it needs {need}")
                    break
        return way

    # -- when --------------------------------------------------------------------------------------

    def timing(self) -> tuple[Timing, str]:
        """The timing, and why it changes."""
        brief = self._brief
        if brief.mode == "situational":
            return "before the intent", ""
        good = [moments(case, indices) for case, indices in zip(brief.positive, brief.essential, strict=True)]
        bad = [moments(case, self._rehearser.early(case)) for case in brief.undone]
        return timing_of(good, bad, brief.skill.timing)
