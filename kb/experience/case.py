"""Cases: what was done about one triggered rule, with slots in place of objects (paper, Sections 4.4 and 0.A.3).

A case is a minimal causal window {(a_t, G_t)}: the beliefs at the trigger, then each action with what it changed. The
objects are gone: a slot is named for its place in the rule, or for what its object is for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from obviate.kb.action import Action
from obviate.kb.belief import BeliefGraph
from obviate.kb.errors import ActionError, DataError, ObviateError
from obviate.kb.patch import Patch, path
from obviate.kb.vocabulary import Vocabulary

__all__ = ["NEGATIVE", "POSITIVE", "Case", "Deed", "Marks", "Outcome", "slot_names"]

Outcome = Literal["passed", "evaded", "failed", "undone", "stuck", "abandoned", "advised"]
"""What came of a trigger. The target was met (``passed``); the intent was given up for another that did as well
(``evaded``); the rule failed; it was met too early, and the same episode undid it (``undone``); what was tried in place
of the intent failed in the world (``stuck``); the intent was given up for nothing (``abandoned``); an advisory rule
failed (``advised``). The last two are kept and teach nothing."""

POSITIVE: tuple[Outcome, ...] = ("passed", "evaded")
NEGATIVE: tuple[Outcome, ...] = ("failed", "undone", "stuck")

MAX_DEEDS = 60
MAX_SLOTS = 60
_SLOT = r"^[a-z][a-z0-9_]{0,39}$"
_ROLES = ("function_", "appliance_", "safety_", "surface_", "material_")

Name = Annotated[str, Field(pattern=_SLOT)]
Said = Annotated[str, Field(max_length=200)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Deed(_Part):
    """One step of a window: the `action` over slots, what it changed, or why it failed in the world."""

    action: str
    failure: Said = ""
    patch: Patch = Patch()

    @property
    def parsed(self) -> Action:
        """The action over slots."""
        return Action.parse(self.action)


class Marks(_Part):
    """When the window ended, seen from the whole episode: the evidence for timing.

    `last_use` is the index of the last deed before the resolving one that used a bound object, -1 if none did;
    `used_after` whether one was used again later; `remaining` the number of actions after the window but for ``done``.
    """

    last_use: Annotated[int, Field(ge=-1)] = -1
    used_after: bool = False
    remaining: Annotated[int, Field(ge=0)] = 0


class Case(_Part):
    """A verified window of one rule, decontextualised. `scene` is what was believed at the trigger.

    `binding` are the slots of the rule's objects, in order. `kinds` says of slots what kind of thing they were, such as
    ``plate.n.04``, so that the window can be rehearsed; `moved` which of them the agent had moved. `intent` is the
    action that the rule was triggered by. `episode` and `step` say where it is from; nothing else does.
    """

    rule: Annotated[str, Field(min_length=1, max_length=200)]
    mode: Literal["situational", "temporal"]
    outcome: Outcome
    reason: Said = ""
    episode: Annotated[str, Field(max_length=200)] = ""
    step: Annotated[int, Field(ge=0)] = 0
    binding: tuple[Name, ...]
    kinds: dict[Name, Said] = Field(default_factory=dict)
    moved: tuple[Name, ...] = ()
    intent: str = ""
    scene: Patch
    deeds: Annotated[tuple[Deed, ...], Field(max_length=MAX_DEEDS)] = ()
    marks: Marks = Marks()

    @classmethod
    def read(cls, data: Mapping[str, Any] | str, vocabulary: Vocabulary) -> Case:
        """A case from outside, as JSON data or text. Raises `DataError` (``case-malformed``) that names the place.

        Every skill, state and tag is one that `vocabulary` declares, and every object of an action is a slot.
        """
        try:
            case = cls.model_validate_json(data) if isinstance(data, str) else cls.model_validate(data)
        except ValidationError as error:
            first = error.errors()[0]
            raise _malformed(str(first["msg"]).lower(), path(*first["loc"])) from None
        case.graphs(vocabulary)
        return case

    def to_json(self) -> dict[str, Any]:
        """The case as JSON data, without the parts that are empty."""
        return self.model_dump(mode="json", exclude_defaults=True)

    def text(self) -> str:
        """The case as one line of JSON."""
        return self.model_dump_json(exclude_defaults=True)

    @property
    def digest(self) -> str:
        """What identifies the case: the same window of the same episode is the same case."""
        return sha256(self.text().encode()).hexdigest()[:24]

    @property
    def tags(self) -> Mapping[str, frozenset[str]]:
        """The slots with their tags, those that came into view on the way too."""
        patches = (self.scene, *(deed.patch for deed in self.deeds))
        return {node.node_id: frozenset(node.tags) for patch in patches for node in patch.add_nodes}

    @property
    def positive(self) -> bool:
        """Whether it shows what to do."""
        return self.outcome in POSITIVE

    @property
    def negative(self) -> bool:
        """Whether it shows what not to do."""
        return self.outcome in NEGATIVE

    def start(self, vocabulary: Vocabulary) -> BeliefGraph:
        """What was believed at the trigger. Raises `ObviateError`."""
        graph = BeliefGraph.of(vocabulary, self.scene)
        for name in self.moved:
            graph = graph.with_moved(name)
        return graph

    def graphs(self, vocabulary: Vocabulary) -> tuple[BeliefGraph, ...]:
        """The beliefs before each deed, and after the last. Raises `DataError` (``case-malformed``)."""
        place = "scene"
        try:
            found = [self.start(vocabulary)]
            for number, deed in enumerate(self.deeds):
                place = f"deeds[{number}]"
                self._check(deed.action, vocabulary, found[-1])
                found.append(found[-1].merge(deed.patch))
            place = "intent"
            if self.intent:
                self._check(self.intent, vocabulary, found[0])
        except ObviateError as error:
            raise _malformed(error.message, f"{place}.{error.where}" if error.where else place) from None
        place = "binding"
        for name in (*self.binding, *self.moved):
            if name not in found[0]:
                raise _malformed(f"{name!r} is no slot of the scene", place)
        for name in self.tags:
            if not re.match(_SLOT, name):
                raise _malformed(f"{name!r} is no slot but some object", "scene")
        if len(self.tags) > MAX_SLOTS:
            raise _malformed(f"it has over {MAX_SLOTS} slots", "scene")
        return tuple(found)

    def _check(self, action: str, vocabulary: Vocabulary, graph: BeliefGraph) -> None:
        parsed = Action.parse(action)
        for name in parsed.args:
            if name not in self.tags:
                raise ActionError("unknown-object", f"{name!r} is no slot of this case")
        vocabulary.check_action(parsed, self.tags.keys() | graph.nodes.keys())


def slot_names(
    variables: Iterable[str], binding: Iterable[str], others: Iterable[tuple[str, frozenset[str]]]
) -> dict[str, str]:
    """A slot for each object: bound ones are named for the rule's variables, `others` for what their tags make of them.

    For example ``x`` for a rule's X, and ``cleaning_tool``, ``storage``, ``storage_2``, ``thing``.
    """
    taken = {obj: variable.lower() for variable, obj in zip(variables, binding, strict=True)}
    counts: dict[str, int] = {}
    for name, tags in others:
        if name in taken:
            continue
        role = role_of(tags)
        while True:
            counts[role] = counts.get(role, 0) + 1
            slot = role if counts[role] == 1 else f"{role}_{counts[role]}"
            if slot not in taken.values():
                break
        taken[name] = slot
    return taken


def role_of(tags: Iterable[str]) -> str:
    """What an object with these tags is called for: its function, else what it is; ``thing`` without any."""
    known = sorted(tags)
    for prefix in _ROLES:
        for tag in known:
            if tag.startswith(prefix):
                return tag.removeprefix(prefix)
    return known[0] if known else "thing"


def _malformed(message: str, where: str) -> DataError:
    return DataError("case-malformed", message, where=where, help="see docs/memory.md for what a case is made of")
