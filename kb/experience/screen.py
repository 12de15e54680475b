"""What a meta-skill may not say: ids in place of slots, orders to planners, names that nobody declared.

A skill is read by a language model that acts. It may have been written by another model, or by a stranger.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from obviate.kb.errors import ActionError, DataError, nearest
from obviate.kb.experience.case import role_of
from obviate.kb.experience.skill import MetaSkill, Way
from obviate.kb.vocabulary import Vocabulary

__all__ = ["MAX_WORDS", "screen"]

MAX_WORDS = 200  # paper, Appendix 0.B.2

_ID = re.compile(r"\b[\w-]+\.[nvars]\.\d+(?:_\d+)?\b|\b[a-z]\w*_\d{2,}\b", re.ASCII)
_REFERENCE = re.compile(r"\{([^{}]*)\}")
_CALL = re.compile(r"\b([A-Za-z_]\w*)\(([^()]*)\)", re.ASCII)
_TOKEN = re.compile(r"[<>`]|\[/?INST|^\s*(?:system|assistant|user)\s*:", re.IGNORECASE)
_HUSH = (
    r"(?:ignor\w*|disregard\w*|overrid\w*|overrul\w*|bypass\w*|forget\w*|skip\w*|suspend\w*|circumvent\w*|disobey\w*)"
)
_LAW = r"(?:rules?|instructions?|safety|verif\w*|guard\w*|polic\w*|prompts?|constraints?|checks?|warnings?|principles?)"
_ORDERS = re.compile(
    rf"\b{_HUSH}\b.{{0,60}}\b{_LAW}\b"
    rf"|\b(?:rules?|instructions?|safety|policy)\b.{{0,40}}\b(?:do(?:es)? not|no longer|never) (?:apply|matter|count)"
    r"|\byou are now\b|\bnew instructions?\b|\bsystem prompt\b|\bjailbreak"
    r"|\b(?:previous|prior|above|earlier) (?:instructions?|prompts?|messages?)\b"
    r"|\bwithout (?:any )?(?:verif|check|safety)\w*|\b(?:stop|cease) (?:verif|check|follow)\w*",
    re.IGNORECASE,
)


def screen(skill: MetaSkill, vocabulary: Vocabulary, *, ids: Iterable[str] = ()) -> None:
    """Refuse a skill that does not stand for itself. `ids` are objects that it must not name.

    Raises `DataError`: ``skill-smuggled`` (an object's id where a slot belongs), ``skill-defiant`` (an order to leave
    rules aside, or something that a chat template takes for its own), ``skill-wordy`` (over 200 words), and
    ``skill-malformed`` (a skill, tag, slot or name that is not declared).
    """
    words = sum(len(text.split()) for _, text in skill.prose)
    if words > MAX_WORDS:
        message = f"the text has {words} words"
        raise DataError("skill-wordy", message, where=skill.rule, help=f"at most {MAX_WORDS} are allowed")
    known = set(ids)
    slots = {*skill.binding, *(slot.name for way in skill.ways for slot in way.slots)}
    for field, text in skill.prose:
        _check_text(text, field, slots, known, vocabulary)
    for number, way in enumerate(skill.ways):
        _check_way(way, skill, f"ways[{number}]", known, vocabulary)


def _check_text(text: str, field: str, slots: set[str], ids: set[str], vocabulary: Vocabulary) -> None:
    if not text.isprintable() or _TOKEN.search(text):
        raise _defiant(field, "it holds what is no plain text")
    if found := _ORDERS.search(text):
        raise _defiant(field, f"{found[0]!r} is an order to whoever reads it")
    if found := _ID.search(text):
        raise _smuggled(field, found[0])
    for word in re.split(r"[\s,;:(){}\"']+", text):
        if word in ids and word not in slots and not word.isalpha():
            raise _smuggled(field, word)
    for name in _REFERENCE.findall(text):
        if name not in slots:
            raise _smuggled(field, name) if name in ids else _undeclared(field, name, slots)
    for skill, _ in _CALL.findall(text):
        if skill.lower() not in vocabulary.skills and skill.lower() not in vocabulary.states:
            raise _malformed(field, f"there is no skill {skill!r}", nearest(skill.lower(), vocabulary.skills))


def _check_way(way: Way, skill: MetaSkill, where: str, ids: set[str], vocabulary: Vocabulary) -> None:
    slots = {*skill.binding, *(slot.name for slot in way.slots)}
    if len(slots) != len(skill.binding) + len(way.slots):
        raise _malformed(f"{where}.slots", "a slot is named twice", "give every slot a name of its own")
    _check_slots(way, f"{where}.slots", ids, vocabulary)
    for number, action in enumerate(way.actions):
        place = f"{where}.steps[{number}]"
        for name in action.args:
            if name not in slots:
                raise _smuggled(place, name) if name in ids or _ID.search(name) else _undeclared(place, name, slots)
        try:
            vocabulary.check_action(action, slots)
        except ActionError as error:
            raise _malformed(place, error.message, error.help) from None
    _check_needs(way, f"{where}.needs", slots, vocabulary)


def _check_slots(way: Way, where: str, ids: set[str], vocabulary: Vocabulary) -> None:
    for slot in way.slots:
        for tag in slot.tags:
            if tag not in vocabulary.tags:
                raise _malformed(where, f"there is no tag {tag!r}", nearest(tag, vocabulary.tags))
        role = role_of(slot.tags)
        if not re.fullmatch(rf"{re.escape(role)}(?:_[2-9])?", slot.name):
            raise _smuggled(where, slot.name, f"a slot with these tags is called {role}")
        if slot.name in ids:
            raise _smuggled(where, slot.name)


def _check_needs(way: Way, where: str, slots: set[str], vocabulary: Vocabulary) -> None:
    for condition in way.conditions:
        for name in condition.slots:
            if name not in slots:
                raise _undeclared(where, name, slots)
        kind, names = ("state", vocabulary.states) if condition.name == "state" else ("relation", vocabulary.relations)
        said = condition.args[1] if kind == "state" else condition.args[0]
        if said not in names:
            raise _malformed(where, f"there is no {kind} {said!r}", nearest(said, names))


def _defiant(where: str, what: str) -> DataError:
    help = "say what to do with the slots, and nothing to the reader"
    return DataError("skill-defiant", f"the text of a skill is no place for orders: {what}", where=where, help=help)


def _smuggled(where: str, name: str, help: str = "") -> DataError:
    return DataError(
        "skill-smuggled",
        f"{name!r:.60} names an object, not a slot",
        where=where,
        help=help or "use the slots of the rule, and free slots named for what they are for",
    )


def _undeclared(where: str, name: str, slots: set[str]) -> DataError:
    return _malformed(where, f"{name!r:.60} is no slot of this skill", nearest(name, slots))


def _malformed(where: str, message: str, help: str) -> DataError:
    return DataError("skill-malformed", message, where=where, help=help or "see docs/memory.md")
