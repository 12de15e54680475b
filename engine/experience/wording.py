"""An induced skill in words: each field says what the executable form does, and what the evidence was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from obviate.engine.experience.evolution import Brief
from obviate.kb import Action
from obviate.kb.experience.skill import MetaSkill, Slot, Way, shown

__all__ = ["worded"]

_SCHEDULES = {
    "immediately": "At once, as soon as the rule is triggered.",
    "after the last use": "After the last use of {bound} or of what it holds in the task: not before, and not later.",
    "before done": "As the last thing before the task ends.",
    "before the intent": "Before the intended action.",
}
MAX_FIELD = 600
MAX_WORDS = 150  # leaves room for what a screen counts besides


def worded(skill: MetaSkill, brief: Brief) -> MetaSkill:
    """The skill with text that fits its ways and timing."""
    bound = " and ".join("{" + name + "}" for name in brief.binding) or "the scene"
    when = "An intended action would do harm" if brief.mode == "situational" else "A hazard is there"
    text = {
        "purpose": _plain(brief.principle),
        "when": f"{when}: {bound} {'is' if len(brief.binding) < 2 else 'are'} what the rule is about.",
        "how": _how(skill.ways),
        "grounding": tuple(_grounding(skill.ways))[:4],
        "schedule": _SCHEDULES[skill.timing].format(bound=bound),
        "constraints": tuple(_constraints(skill, brief))[:3],
    }
    revised = skill.model_copy(update=text)
    if sum(len(said.split()) for _, said in revised.prose) > MAX_WORDS:
        revised = revised.model_copy(
            update={"grounding": revised.grounding[:1], "constraints": revised.constraints[:1]}
        )
    return revised


def _how(ways: tuple[Way, ...]) -> str:
    told = ["; then ".join(map(shown, way.actions)) + (" instead" if way.instead else "") for way in ways]
    said = ", or: ".join(told) or "no way is known yet"
    return (said[:1].upper() + said[1:])[: MAX_FIELD - 1] + "."


def _grounding(ways: tuple[Way, ...]) -> Iterator[str]:
    told: dict[str, Slot] = {}
    for way in ways:
        for slot in way.slots:
            if told.setdefault(slot.name, slot) is slot:
                tags = ", ".join(slot.tags) or "any object"
                needs = [need for need in way.needs if f"{slot.name}," in f"{need},".replace(")", ",")]
                also = f"; {' and '.join(needs)}" if needs else ""
                yield f"{{{slot.name}}}: another object with {tags}{also}"


def _constraints(skill: MetaSkill, brief: Brief) -> Iterator[str]:
    undone = sum(case.outcome == "undone" for case in brief.negative)
    if undone and skill.timing != "immediately":
        yield f"Do not resolve it while the task still needs it: {undone} of the last episodes had to undo that."
    failures = Counter(deed.action for case in brief.negative for deed in case.deeds if deed.failure)
    for action, count in failures.most_common(2):
        parsed = Action.parse(action)
        declared = {*skill.binding, *(slot.name for way in skill.ways for slot in way.slots)}
        if count > 1 and set(parsed.args) <= declared:
            yield f"{shown(parsed)} on its own failed {count} times."


def _plain(text: str) -> str:
    return " ".join(text.split())[:MAX_FIELD]
