"""Meta-skills: how a triggered rule is dealt with, as text for a planner and as steps to try (paper, Section 4.4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from obviate.kb.action import Action
from obviate.kb.belief import BeliefGraph
from obviate.kb.errors import DataError
from obviate.kb.experience.case import Name
from obviate.kb.patch import path

__all__ = ["TIMINGS", "Condition", "MetaSkill", "Slot", "Timing", "Way", "read_skill", "shown"]

Timing = Literal["immediately", "after the last use", "before done", "before the intent"]
"""When a way is carried out: at the trigger; once nothing that the task still needs uses the bound objects; as the last
thing; and, of situational rules, before the intended action."""

TIMINGS: tuple[Timing, ...] = ("immediately", "after the last use", "before done")  # of temporal rules, simplest first

Words = Annotated[str, Field(max_length=600)]
_CONDITION = re.compile(r"(not )?(state|edge)\((\w+), (\w+)(?:, (\w+))?\)", re.ASCII)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Slot(_Part):
    """An object to be found in the scene: one with all these tags, other than those already named."""

    name: Name
    tags: tuple[str, ...] = ()


class Condition(NamedTuple):
    """``state(SLOT, S)`` or ``edge(P, SLOT, SLOT)`` as believed at the trigger; or, if not `positive`, not believed."""

    positive: bool
    name: str
    args: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Raises `DataError` (``skill-malformed``)."""
        found = _CONDITION.fullmatch(text)
        args = tuple(part for part in found.group(3, 4, 5) if part) if found else ()
        if found is None or len(args) != (2 if found[2] == "state" else 3):
            help = "write state(slot, name) or edge(relation, slot, slot), with `not` before it if need be"
            raise DataError("skill-malformed", f"{text!r:.80} is no condition", where="needs", help=help)
        return cls(not found[1], found[2], args)

    @property
    def slots(self) -> tuple[str, ...]:
        """The slots that it is about."""
        return self.args[:1] if self.name == "state" else self.args[1:]

    def holds(self, graph: BeliefGraph, objects: Mapping[str, str]) -> bool:
        """Whether it is so in `graph`, where slots stand for `objects`."""
        if self.name == "state":
            return graph.has_state(objects[self.args[0]], self.args[1]) == self.positive
        return graph.has_edge(self.args[0], objects[self.args[1]], objects[self.args[2]]) == self.positive

    def __str__(self) -> str:
        return f"{'' if self.positive else 'not '}{self.name}({', '.join(self.args)})"


class Way(_Part):
    """A lifted pattern of actions that meets the target: `steps` over bound and free slots, in order.

    A step that would change nothing is left out when it is carried out. `needs` are conditions at the trigger. With
    `instead`, the last step takes the place of the intended action.
    """

    steps: Annotated[tuple[str, ...], Field(min_length=1, max_length=8)]
    slots: tuple[Slot, ...] = ()
    needs: Annotated[tuple[str, ...], Field(max_length=8)] = ()
    instead: bool = False

    @property
    def actions(self) -> tuple[Action, ...]:
        """The steps, parsed."""
        return tuple(map(Action.parse, self.steps))

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The needs, parsed."""
        return tuple(map(Condition.parse, self.needs))

    def groundings(self, bound: Mapping[str, str], graph: BeliefGraph) -> Iterator[dict[str, str]]:
        """Which objects of `graph` the slots may stand for, given the bound ones; by the names of the objects."""
        conditions = self.conditions

        def fits(found: dict[str, str]) -> bool:
            return all(c.holds(graph, found) for c in conditions if set(c.slots) <= found.keys())

        def extend(found: dict[str, str], rest: tuple[Slot, ...]) -> Iterator[dict[str, str]]:
            if not rest:
                yield found
                return
            for name in sorted(graph.nodes):
                node = graph.nodes[name]
                if name not in found.values() and set(rest[0].tags) <= node.tags and "future" not in node.states:
                    more = {**found, rest[0].name: name}
                    if fits(more):
                        yield from extend(more, rest[1:])

        if all(name in graph for name in bound.values()) and fits(dict(bound)):
            yield from extend(dict(bound), self.slots)


class MetaSkill(_Part):
    """The tuple <Purpose, When, How, Grounding, Timing, Constraints> of one rule, and its executable form.

    `binding` are the slots of the rule's objects, in order. `timing` and `ways` (shortest first) are the executable
    form; `schedule` says the timing in words.
    """

    rule: Annotated[str, Field(min_length=1, max_length=200)]
    purpose: Words
    when: Words = ""
    how: Words = ""
    grounding: Annotated[tuple[Words, ...], Field(max_length=6)] = ()
    schedule: Words = ""
    constraints: Annotated[tuple[Words, ...], Field(max_length=6)] = ()
    binding: tuple[Name, ...] = ()
    timing: Timing = "immediately"
    ways: Annotated[tuple[Way, ...], Field(max_length=6)] = ()

    @property
    def prose(self) -> tuple[tuple[str, str], ...]:
        """Everything that is free text, with the name of its field."""
        single = [(name, getattr(self, name)) for name in ("purpose", "when", "how", "schedule")]
        lists = [(name, text) for name in ("grounding", "constraints") for text in getattr(self, name)]
        return tuple((name, text) for name, text in (*single, *lists) if text)

    def to_json(self) -> dict[str, Any]:
        """The skill as JSON data, without the parts that are empty."""
        return self.model_dump(mode="json", exclude_defaults=True)

    def text(self) -> str:
        """The skill as a planner reads it (paper, Appendix 0.B.2)."""
        lines = [f"Skill: {self.rule}", f"Purpose: {self.purpose}"]
        lines += [f"{name}: {said}" for name, said in (("When", self.when), ("How", self.how)) if said]
        lines += _listed("Grounding", self.grounding)
        lines.append(f"Timing: {self.schedule or self.timing}")
        lines += _listed("Constraints", self.constraints)
        for number, way in enumerate(self.ways):
            lines.append("Patch skeleton:" if not number else "Or:")
            lines += [f"{i}) {step}" for i, step in enumerate(map(shown, way.actions), 1)]
            if way.needs:
                lines.append(f"   where {'; '.join(way.needs)}")
        return "\n".join(lines)


def read_skill(data: Mapping[str, Any] | str) -> MetaSkill:
    """A skill from outside, as JSON data or text, of the right shape. Raises `DataError` (``skill-malformed``).

    Whether it may be trusted is asked of `screen`.
    """
    try:
        return MetaSkill.model_validate_json(data) if isinstance(data, str) else MetaSkill.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = path(*first["loc"])
        raise DataError("skill-malformed", str(first["msg"]).lower(), where=where, help="see docs/memory.md") from None


def _listed(name: str, items: tuple[str, ...]) -> list[str]:
    return [f"{name}:", *(f"- {item}" for item in items)] if items else []


def shown(action: Action) -> str:
    """An action over slots as text shows it: braces, which no chat template takes for its own, around each slot."""
    return f"{action.skill}({', '.join('{' + name + '}' for name in action.args)})"
