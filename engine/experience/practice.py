"""Practice: a planner that deals with triggers by executable meta-skills, and otherwise follows another planner.

The other planner only wants the task done. What to do about a rule, and when, is what the skills say (paper, 4.4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from obviate.engine.experience.rehearsal import Rehearser, Setting
from obviate.engine.loop import Context, Move, Planner, Stop
from obviate.engine.record import Record
from obviate.kb import DONE, Action
from obviate.kb.errors import ObviateError
from obviate.kb.experience.skill import MetaSkill
from obviate.kb.experience.use import used

__all__ = ["FarSighted", "SkilledPlanner"]

Instance = tuple[str, tuple[str, ...]]


class FarSighted(Planner, Protocol):
    """A planner that can tell what it means to do after its last move."""

    def ahead(self) -> Sequence[Action]:
        """The rest of its plan, as far as it goes; ``done`` may be left out."""


@dataclass
class SkilledPlanner:
    """Carries out the task of `base`, with the meta-skills that `skill_of` knows by rule.

    `explorer` decides where a trigger has no skill that works, if there is one: by searching, by asking, by a guess.
    Without `rehearses`, skills are followed to the letter, as by a reader who does not foresee that one fails. What
    failed for a trigger once, or was undone by the task `tries` times, is given up for that trigger.
    """

    base: FarSighted
    skill_of: Callable[[str], MetaSkill | None]
    rehearser: Rehearser
    explorer: Planner | None = None
    rehearses: bool = True
    tries: int = 3
    _queue: list[Action] = field(default_factory=list, init=False, repr=False)
    _doing: Instance | None = field(default=None, init=False, repr=False)
    _failed: set[Instance] = field(default_factory=set, init=False, repr=False)
    _tried: Counter[Instance] = field(default_factory=Counter, init=False, repr=False)
    _exploring: frozenset[Instance] = field(default=frozenset(), init=False, repr=False)

    def act(self, context: Context) -> Move | Stop:
        """The next step of a skill that is being carried out or is due; otherwise what the task wants."""
        last = context.history[-1] if context.history else None
        if last is not None and last.failure and self._doing is not None:
            self._queue.clear()
            self._failed.add(self._doing)
        if self._queue:
            return self._next("going on")
        self._doing = None
        if (found := self._goes_on_exploring(context)) is not None:
            return found
        move = self.base.act(context)
        if isinstance(move, Stop):
            return move
        for rule, binding, intent in self._due(context, move):
            skill = self.skill_of(rule)
            actions = self._by(skill, context, rule, binding, intent) if skill is not None else None
            if actions:
                self._queue += actions
                self._doing = (rule, binding)
                self._tried[rule, binding] += 1
                return self._next(f"for {rule}", move.calls)
            if self.explorer is not None:
                self._exploring = frozenset({(rule, binding)})
                explored = self.explorer.act(context)
                if isinstance(explored, Move) and explored.action != move.action:
                    return explored
        return move

    def _next(self, note: str, calls: int = 0) -> Move:
        action = self._queue.pop(0)
        return Move(action, self._queue[0] if self._queue else None, calls=calls, note=note)

    def _goes_on_exploring(self, context: Context) -> Move | None:
        """The explorer's next move, while what it was asked about is open."""
        told = {(one.trigger.rule, one.trigger.binding) for one in context.guidance}
        told |= {(record.rule, record.binding) for record in context.obligations}
        if self.explorer is None or not self._exploring & told:
            self._exploring = frozenset()
            return None
        found = self.explorer.act(context)
        return found if isinstance(found, Move) else None

    # -- what is due -------------------------------------------------------------------------------

    def _due(self, context: Context, move: Move) -> Iterator[tuple[str, tuple[str, ...], str]]:
        """The rule instances to deal with before `move`, and the intent that triggers them."""
        for one in context.guidance:
            if one.action == move.action and one.trigger.mode == "situational" and not one.trigger.advisory:
                yield one.trigger.rule, one.trigger.binding, str(move.action)
        for record in context.obligations:
            if record.mode == "temporal" and not record.advisory and self._is_time(record, context, move):
                yield record.rule, record.binding, ""

    def _is_time(self, record: Record, context: Context, move: Move) -> bool:
        if move.action == DONE:
            return True
        skill = self.skill_of(record.rule)
        if skill is None or skill.timing == "before done":
            return False
        if skill.timing == "immediately":
            return True
        return not self._still_used(record, context, (move.action, *self.base.ahead()))

    def _still_used(self, record: Record, context: Context, ahead: Sequence[Action]) -> bool:
        """Whether the rest of the plan uses what the record is about, in the world as it is believed to be."""
        world = self.rehearser.world(self._setting(context, record.rule, record.binding))
        bound = set(record.binding)
        for action in ahead:
            if bound & used(action, world.graph):
                return True
            try:
                world.step(action)
            except ObviateError:  # it would make something that nobody has seen yet
                return False
        return False

    # -- what to do --------------------------------------------------------------------------------

    def _by(
        self, skill: MetaSkill, context: Context, rule: str, binding: tuple[str, ...], intent: str
    ) -> tuple[Action, ...]:
        """The actions of the first way that works here; none if no way does."""
        setting = replace(self._setting(context, rule, binding), intent=intent)
        if (rule, binding) in self._failed or self._tried[rule, binding] >= self.tries:
            return ()
        for way in skill.ways:
            if not self.rehearses:
                for found in way.groundings(dict(zip(skill.binding, binding, strict=True)), context.graph):
                    return tuple(replace(a, args=tuple(found[name] for name in a.args)) for a in way.actions)
                continue
            outcome = self.rehearser.attempt(way, skill.binding, setting)
            if outcome.grounding is not None and not outcome.reason:
                return outcome.actions
        return ()

    @staticmethod
    def _setting(context: Context, rule: str, binding: tuple[str, ...]) -> Setting:
        objects = {name: kind for name, kind in context.assignment.objects.items() if name in context.graph}
        return Setting(context.graph, objects, rule, binding)
