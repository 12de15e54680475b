"""Rehearsal: a way is tried in the action theory, on the beliefs at a trigger, under the eyes of the engine.

What an induced or written skill promises is not believed before it has worked here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from obviate.engine.engine import Engine
from obviate.engine.record import Change
from obviate.engine.world import World
from obviate.kb import Action, BeliefGraph, Pack, Patch
from obviate.kb.errors import ObviateError
from obviate.kb.experience.case import Case
from obviate.kb.experience.skill import Way
from obviate.kb.kinds import Kinds

__all__ = ["Outcome", "Rehearser", "Setting"]

TRIES = 12  # groundings of a way that are tried on a scene
WORLDS = 64  # sets of objects whose world is kept


@dataclass(frozen=True, slots=True)
class Setting:
    """Where and why something is tried: beliefs, kinds of the objects, the rule instance, and the intent, if any."""

    graph: BeliefGraph
    objects: Mapping[str, str]
    rule: str
    binding: tuple[str, ...]
    intent: str = ""

    @classmethod
    def of(cls, case: Case, graph: BeliefGraph) -> Setting:
        """The setting of a case, whose slots are the objects; `graph` is what was believed at its trigger."""
        objects = {name: case.kinds.get(name, "") for name in sorted(case.tags)}
        return cls(graph, objects, case.rule, case.binding, case.intent)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a rehearsal: the actions that had an effect, or the `reason` why the target was not met.

    Without a grounding the way does not apply: nothing in the scene fits its slots. `failed` is the action that the
    action theory refused.
    """

    actions: tuple[Action, ...] = ()
    grounding: Mapping[str, str] | None = None
    reason: str = ""
    failed: Action | None = None


@dataclass(frozen=True)
class Rehearser:
    """Tries ways: by these rules, with what kinds of objects can do, and the household's action theory or another."""

    packs: tuple[Pack, ...]
    kinds: Kinds
    actions: str = ""
    _worlds: dict[tuple[tuple[str, str], ...], World] = field(default_factory=dict, init=False, repr=False)

    def world(self, setting: Setting) -> World:
        """The world as it is believed to be; it remembers what actions did to its objects."""
        key = tuple(setting.objects.items())
        if key not in self._worlds:
            if len(self._worlds) >= WORLDS:
                self._worlds.clear()
            self._worlds[key] = World(setting.objects, setting.graph, self.kinds, actions=self.actions)
        self._worlds[key].graph = setting.graph
        return self._worlds[key]

    def way(self, way: Way, binding: Sequence[str], case: Case) -> Outcome:
        """Try a way on the scene of a case; `binding` are the way's bound slots."""
        return self.attempt(way, binding, Setting.of(case, case.start(self.packs[0].vocabulary)))

    def attempt(self, way: Way, binding: Sequence[str], setting: Setting) -> Outcome:
        """Try a way in a setting, one grounding after the other; of the failures, the first is told."""
        if len(binding) != len(setting.binding):
            return Outcome(reason=f"it is about {len(binding)} objects, the rule about {len(setting.binding)}")
        first = Outcome(reason="nothing in the scene fits its slots")
        bound = dict(zip(binding, setting.binding, strict=True))
        for number, grounding in enumerate(islice(way.groundings(bound, setting.graph), TRIES)):
            actions = [replace(a, args=tuple(grounding[n] for n in a.args)) for a in way.actions]
            found = replace(self.trial(actions, setting, instead=way.instead), grounding=grounding)
            if not found.reason:
                return found
            first = first if number else found
        return first

    def trial(self, actions: Sequence[Action], setting: Setting, *, instead: bool = False) -> Outcome:
        """Try actions. The target must be met by the last one and no other rule be failed; with `instead`, they must
        succeed in the world, and the rule not fail.
        """
        try:
            with Engine(*self.packs, objects=setting.graph, backend="sliced") as engine:
                engine.restore(replace(engine.snapshot(), graph=setting.graph))  # with what was moved before
                return _Trial(setting, engine, self.world(setting)).run(actions, instead=instead)
        except ObviateError as error:
            return Outcome(reason=error.message)

    def essential(self, case: Case) -> tuple[int, ...]:
        """The deeds of a success without which it would have been none, by index, in order.

        Everything but what failed, if the window cannot be rehearsed: where kinds are missing.
        """
        kept = [i for i, deed in enumerate(case.deeds) if not deed.failure and deed.parsed.skill != "done"]
        instead = case.outcome == "evaded"
        setting = Setting.of(case, case.start(self.packs[0].vocabulary))

        def works(indices: Sequence[int]) -> bool:
            return not self.trial([case.deeds[i].parsed for i in indices], setting, instead=instead).reason

        if kept and works(kept[-1:]):
            return tuple(kept[-1:])
        if not works(kept):
            return tuple(kept)
        for index in kept[::-1]:  # backwards: what only served a deed that is gone can go as well
            if instead and index == kept[-1]:
                continue
            fewer = [i for i in kept if i != index]
            if fewer and works(fewer):
                kept = fewer
        return tuple(kept)

    def early(self, case: Case) -> tuple[int, ...]:
        """The deeds that met the target of a case first, by index, though it was undone; empty if none did."""
        setting = Setting.of(case, case.start(self.packs[0].vocabulary))
        for last in range(len(case.deeds)):
            deeds = case.deeds[: last + 1]
            if not self.trial([deed.parsed for deed in deeds], setting).reason:
                return self.essential(case.model_copy(update={"outcome": "passed", "deeds": deeds}))
        return ()


class _Trial:
    def __init__(self, setting: Setting, engine: Engine, world: World) -> None:
        self._setting = setting
        self._engine = engine
        self._world = world
        self._passed = False
        self._blamed: list[str] = []

    def run(self, actions: Sequence[Action], *, instead: bool) -> Outcome:
        engine = self._engine
        self._take(engine.apply(Patch()))
        if self._setting.intent:
            self._take(engine.intend(self._setting.intent))
        done: list[Action] = []
        for number, action in enumerate(actions):
            before: BeliefGraph = self._world.graph
            outcome = self._world.step(action)
            if outcome.failure:
                reason = f"{action} fails: {outcome.failure}"
                return Outcome(tuple(done), reason=reason, failed=action)
            last = number == len(actions) - 1
            if self._world.graph == before and not last:
                continue
            self._take(engine.execute(action))
            self._take(engine.apply(before.difference(self._world.graph)))
            done.append(action)
        if self._blamed:
            return Outcome(tuple(done), reason=f"it fails {self._blamed[0]} on the way")
        if not instead and not self._passed:
            return Outcome(tuple(done), reason="the target is not met")
        return Outcome(tuple(done))

    def _take(self, change: Change) -> None:
        mine = (self._setting.rule, self._setting.binding)
        self._blamed += [str(record) for record in change.failed if record.counts]
        self._passed |= any((record.rule, record.binding) == mine for record in change.passed)
