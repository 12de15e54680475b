"""Retrieval: what a trigger brings back, and nothing without one (paper, Sections 4.4 and 0.B.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from obviate.engine.loop import Context, Guidance
from obviate.kb.experience.rendering import case_text, tokens
from obviate.kb.experience.skill import MetaSkill

if TYPE_CHECKING:  # a store needs an extra
    from obviate.kb.experience.store import Store

__all__ = ["Reminder", "Retrieval"]

Format = Literal["whole", "only episodic", "only factual"]


@dataclass(frozen=True, slots=True)
class Reminder:
    """What is remembered of a rule: its meta-skill in words, and one verified success; either may be empty."""

    rule: str
    skill: str = ""
    case: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that there are."""
        return tuple(text for text in (self.skill, self.case) if text)


@dataclass(frozen=True)
class Retrieval:
    """Reads a memory for prompts. Called with a `Guidance` it gives the texts that belong to it.

    `budget` bounds the tokens of one decision, as `count` counts them: what does not fit is shortened, the case first,
    and left out if nothing helps; half a sentence is never told. `form` is ``whole`` (the meta-skill and the most
    recent success), or one of the paper's ablations: ``only episodic`` (the case alone), ``only factual`` (neither: the
    rule's principle is all that a prompt has then).
    """

    store: Store
    budget: int = 600
    form: Format = "whole"
    count: Callable[[str], int] = tokens

    def __call__(self, guidance: Guidance) -> tuple[str, ...]:
        """The texts for one triggered rule."""
        return self._about(guidance.trigger.rule, self.budget).texts

    def remind(self, context: Context) -> tuple[Reminder, ...]:
        """What belongs to all that is triggered or owed in a context, each rule once, triggered ones first."""
        rules = [one.trigger.rule for one in context.guidance] + [one.rule for one in context.obligations]
        left, found = self.budget, []
        for rule in dict.fromkeys(rules):
            reminder = self._about(rule, left)
            left -= sum(map(self.count, reminder.texts))
            if reminder.texts:
                found.append(reminder)
        return tuple(found)

    def _about(self, rule: str, budget: int) -> Reminder:
        if self.form == "only factual":
            return Reminder(rule)
        known = self.store.recall(rule)
        skill = ""
        if self.form == "whole" and known.version is not None:
            forms = (known.version.skill.text(), _short(known.version.skill).text())
            skill = next((text for text in forms if self.count(text) <= budget), "")
        left, case = budget - self.count(skill) if skill else budget, ""
        if known.case is not None:
            forms = (case_text(known.case), case_text(known.case, brief=True))
            case = next((text for text in forms if self.count(text) <= left), "")
        return Reminder(rule, skill, case)


def _short(skill: MetaSkill) -> MetaSkill:
    """A skill without what its steps and timing say already."""
    return skill.model_copy(update={"when": "", "grounding": (), "constraints": (), "ways": skill.ways[:1]})
