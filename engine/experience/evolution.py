"""Evolve: a rule's meta-skill is revised by what its buffers hold, and put in force only if that bears it out.

Equation 9 of the paper (Section 4.4), with the editor as a protocol: whoever proposes is not believed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from obviate.engine.description import described
from obviate.engine.experience.mining import mine
from obviate.engine.experience.rehearsal import Rehearser
from obviate.engine.experience.verification import refusal
from obviate.engine.loop import Run
from obviate.kb.errors import DataError, ObviateError
from obviate.kb.experience.case import Case
from obviate.kb.experience.screen import screen
from obviate.kb.experience.skill import MetaSkill, Timing
from obviate.kb.experience.timing import moments

if TYPE_CHECKING:  # a store needs an extra, editors do not
    from obviate.kb.experience.store import Evidence, Store

__all__ = ["Brief", "Editor", "Learner", "Update", "objection", "seed"]

_REMEMBERED = 12  # cases of the archive, as far as revisions look back


@dataclass(frozen=True, slots=True)
class Brief:
    """What an editor is given: a rule, its skill as it stands, and verified evidence for and against.

    `essential` are, for each success, the deeds that met the target. `binding` are the slots of the rule's objects.
    `undone` are the latest cases of what was done too early, those of earlier revisions too: a timing that was given up
    is not taken up again because a few successes agree with it.
    """

    rule: str
    mode: str
    principle: str
    hazard: str
    target: str
    binding: tuple[str, ...]
    skill: MetaSkill
    positive: tuple[Case, ...]
    negative: tuple[Case, ...]
    essential: tuple[tuple[int, ...], ...] = ()
    undone: tuple[Case, ...] = ()


class Editor(Protocol):
    """Revises one meta-skill at a time."""

    @property
    def name(self) -> str:
        """What stands beside the versions that it wrote, such as ``induction``."""

    def propose(self, brief: Brief, rehearser: Rehearser) -> tuple[MetaSkill, str]:
        """The skill revised, and why; the same skill if there is nothing to revise. May raise `ObviateError`."""


@dataclass(frozen=True, slots=True)
class Update:
    """What came of looking at a rule: the new `version`, or 0 and the reason why the skill stays as it is."""

    rule: str
    version: int
    reason: str


@dataclass
class Learner:
    """Test, verify, write: takes finished runs, and revises the skills whose buffers are full.

    `repeated` is how many failures alone make a skill worth revising, before a buffer is full.
    """

    store: Store
    rehearser: Rehearser
    editor: Editor
    repeated: int = 2
    _seen: dict[str, int] = field(default_factory=dict, init=False, repr=False)

    def learn(self, run: Run, *, episode: str = "") -> tuple[Update, ...]:
        """Archive the cases of a run, and revise what they give reason to. Raises `DataError` for the store."""
        cases = mine(run, *self.rehearser.packs, episode=episode)
        self.store.add(*cases)
        return tuple(update for rule in sorted({case.rule for case in cases}) if (update := self.revise(rule)))

    def revise(self, rule: str) -> Update | None:
        """Revise a rule's skill if its buffers are full, or hold repeated failures; a first one needs one success."""
        evidence = self.store.evidence(rule)
        enough = evidence.full or len(evidence.negative) >= self.repeated
        enough = enough or bool(evidence.positive and self.store.skill(rule) is None)
        if not enough or self._seen.get(rule) == evidence.mark:
            return None
        self._seen[rule] = evidence.mark
        return self.evolve(rule, evidence)

    def evolve(self, rule: str, evidence: Evidence) -> Update:
        """One revision, whatever the buffers hold. An update empties them, and so does what changes nothing."""
        positive, negative = (self._verified(cases) for cases in (evidence.positive, evidence.negative))
        if not positive and not negative:
            return Update(rule, 0, "none of the evidence holds up")
        present = self.store.skill(rule)
        before = [case for case in self.store.archive(rule, limit=_REMEMBERED, sign=-1) if case.outcome == "undone"]
        undone = self._verified([case for case in before if case not in negative])
        brief = brief_of(rule, self.rehearser, positive, negative, present.skill if present else None, undone=undone)
        try:
            proposed, why = self.editor.propose(brief, self.rehearser)
            if present is not None and proposed == present.skill:
                self.store.learned(rule, evidence.mark)
                return Update(rule, 0, "nothing to revise")
            if reason := objection(proposed, brief, self.rehearser):
                return Update(rule, 0, f"rejected: {reason}")
        except ObviateError as error:
            return Update(rule, 0, f"rejected: {error.message}")
        used = (*positive, *negative)
        number = self.store.write(proposed, origin=self.editor.name, reason=why, evidence=used, mark=evidence.mark)
        return Update(rule, number, why)

    def _verified(self, cases: Sequence[Case]) -> tuple[Case, ...]:
        return tuple(case for case in cases if not refusal(case, *self.rehearser.packs))


def brief_of(
    rule: str,
    rehearser: Rehearser,
    positive: tuple[Case, ...],
    negative: tuple[Case, ...],
    skill: MetaSkill | None,
    *,
    undone: tuple[Case, ...] = (),
) -> Brief:
    """What is known of a rule, for its editor. `undone` are cases from before the evidence."""
    told = described(rule, rehearser.packs)
    if told is None:
        raise DataError("unknown-memory", f"there is no rule {rule!r} in these packs", where=rule, help="load its pack")
    binding = next((case.binding for case in (*positive, *negative)), ())
    timing: Timing = "before the intent" if told.rule.mode == "situational" else "immediately"
    empty = MetaSkill(rule=rule, purpose=told.rule.principle, binding=binding, timing=timing)
    return Brief(
        rule=rule,
        mode=told.rule.mode,
        principle=told.rule.principle,
        hazard="; or ".join(" and ".join(clause.conditions) for clause in told.hazard),
        target="; or ".join(" and ".join(c.conditions) for c in told.target) or "the hazard no longer holds",
        binding=binding,
        skill=skill or empty,
        positive=positive,
        negative=negative,
        essential=tuple(rehearser.essential(case) for case in positive),
        undone=(*undone, *(case for case in negative if case.outcome == "undone")),
    )


def objection(skill: MetaSkill, brief: Brief, rehearser: Rehearser) -> str:
    """Why a proposed skill is not to be put in force; empty if the evidence bears it out.

    It must be about this rule, say nothing that `screen` refuses, and meet the target in the action theory, by one of
    its ways, on the scene of every buffered case to which one applies, the failures too; and on one at least.
    """
    if skill.rule != brief.rule or (skill.binding and skill.binding != brief.binding):
        return f"it is about {skill.rule}({', '.join(skill.binding)}), not {brief.rule}({', '.join(brief.binding)})"
    try:
        screen(skill, rehearser.packs[0].vocabulary)
    except DataError as error:
        return f"{error.message} [{error.code}]"
    if (skill.timing == "before the intent") != (brief.mode == "situational"):
        return f"{skill.timing!r} is no timing of a {brief.mode} rule"
    if refuted := sum(skill.timing in moments(case, rehearser.early(case)) for case in brief.undone):
        return f"what was done {skill.timing} was undone in {refuted} of the latest cases"
    return _rehearsed(skill, brief, rehearser)


def _rehearsed(skill: MetaSkill, brief: Brief, rehearser: Rehearser) -> str:
    applied = 0
    for case in (*brief.positive, *brief.negative):
        outcomes = [rehearser.way(way, skill.binding, case) for way in skill.ways]
        fitting = [outcome for outcome in outcomes if outcome.grounding is not None]
        applied += bool(fitting)
        if fitting and all(outcome.reason for outcome in fitting):
            return f"on the case of {case.episode or 'an episode'}, step {case.step}: {fitting[0].reason}"
        if not fitting and case.positive:
            return f"no way applies to the success of {case.episode or 'an episode'}, step {case.step}"
    return "" if applied else "no way applies to any of the buffered cases"


def seed(store: Store, skill: MetaSkill, *, origin: str = "seed") -> int:
    """Put a first skill in force for a rule that has none; its version, or 0 if there is one already."""
    return 0 if store.skill(skill.rule) else store.write(skill, origin=origin, reason="to begin with")
