"""The audit of an episode: everything that was intended and done, judged again from its first graph.

What a run says of itself is not believed. And where a loop only probed what was intended, the audit commits it, so that
a risk that was met in time has its record (paper, Appendix 0.A.3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from obviate.engine.engine import Engine
from obviate.engine.loop import Run, Turn
from obviate.engine.record import Moment, Record
from obviate.kb import Action, Pack, Patch
from obviate.kb.errors import ActionError

__all__ = ["Audit", "audit"]

Key = tuple[str, tuple[str, ...], int]  # what identifies a record


@dataclass(frozen=True)
class Audit:
    """What the engine concludes of a run: its records, moments, and which intent opened which situational record.

    `failures` says why the action of a step failed in the world.
    """

    records: tuple[Record, ...]
    moments: tuple[Moment, ...]
    intents: Mapping[Key, Action] = field(default_factory=dict)
    failures: Mapping[int, str] = field(default_factory=dict)

    def intent(self, record: Record) -> Action | None:
        """The intent that opened the record."""
        return self.intents.get((record.rule, record.binding, record.t_on))


def audit(run: Run, *packs: Pack) -> Audit:
    """Replay a run. Raises `ObviateError` where it cannot have happened, such as a patch that does not fit."""
    if not run.moments:
        return Audit((), ())
    steps = sum(turn.executed is not None for turn in run.turns)
    with Engine(*packs, objects=run.moments[0].graph, history=2 * steps + 8) as engine:
        intents: dict[Key, Action] = {}
        failures: dict[int, str] = {}
        for turn in run.turns:
            _turn(engine, turn, intents, failures)
        if not engine.ended:
            engine.finish(run.verdict)
        return Audit(engine.records(), engine.history(), intents, failures)


def _turn(engine: Engine, turn: Turn, intents: dict[Key, Action], failures: dict[int, str]) -> None:
    _intend(engine, turn.move.action, intents)
    if turn.executed is None:
        return
    judged = engine.execute(turn.executed)
    if turn.failure:
        failures[judged.step] = turn.failure
    if engine.ended:
        return
    engine.apply(turn.patch or Patch())
    if turn.move.intent is not None:
        _intend(engine, turn.move.intent, intents)


def _intend(engine: Engine, action: Action, intents: dict[Key, Action]) -> None:
    """Commit an intent, if its objects are known."""
    try:
        change = engine.intend(action)
    except ActionError:
        return
    for record in change.opened:
        if record.mode == "situational":
            intents[record.rule, record.binding, record.t_on] = action
