"""Verification of cases: a window is judged again, and its verdict must come out (paper, Appendix 0.A.3).

Nothing that a case says about itself is believed: not the one that was mined just now, nor one from a file.
"""

from __future__ import annotations

from dataclasses import replace

from obviate.engine.engine import Engine
from obviate.engine.record import Change, Record
from obviate.kb import DONE, Action, Pack, Patch
from obviate.kb.errors import DataError, ObviateError
from obviate.kb.experience.case import Case

__all__ = ["refusal", "verify"]


def verify(case: Case, *packs: Pack) -> None:
    """Judge the window of a case again. Raises `DataError` (``case-refuted``) if it does not show what it says."""
    if reason := refusal(case, *packs):
        raise DataError(
            "case-refuted",
            f"the window of a case of {case.rule} does not show that it {_SAID[case.outcome]}: {reason}",
            where=f"{case.episode or 'case'}, step {case.step}",
            help="only what the engine finds again is learned from; remove the case",
        )


def refusal(case: Case, *packs: Pack) -> str:
    """Why the window does not show what the case says; empty if it does."""
    try:
        graphs = case.graphs(packs[0].vocabulary)
    except ObviateError as error:
        return error.message
    if not any(case.rule in (name, f"{pack.name}.{name}") for pack in packs for name in pack.rules):
        return "there is no such rule"
    try:
        with Engine(*packs, objects=graphs[0], backend="sliced", history=2 * len(case.deeds) + 8) as engine:
            engine.restore(replace(engine.snapshot(), graph=graphs[0]))  # with what was moved before
            return _Judge(case, engine).reason()
    except ObviateError as error:
        return error.message


_SAID = {
    "passed": "passed",
    "evaded": "was evaded",
    "failed": "failed",
    "undone": "was undone",
    "stuck": "got stuck",
    "abandoned": "was abandoned",
    "advised": "failed",
}


class _Judge:
    """Follows a window with an engine, and looks for the record that the case is about."""

    def __init__(self, case: Case, engine: Engine) -> None:
        self._case = case
        self._engine = engine
        self._opened = sum(self._mine(record) for record in engine.records())
        self._settled: list[Record] = []

    def reason(self) -> str:
        case, engine = self._case, self._engine
        self._take(engine.apply(Patch()))
        if case.intent:
            self._take(engine.intend(case.intent))
        if not any(self._mine(record) for record in engine.records()):
            return "nothing triggers the rule"
        for number, deed in enumerate(case.deeds):
            if any(record.verdict == "passed" for record in self._settled) and case.outcome != "undone":
                return f"the rule passes before deed {number + 1}"
            if deed.failure and deed.patch != Patch():
                return f"deed {number + 1} failed, and changed something"
            self._take(engine.execute(deed.parsed))
            if not engine.ended:
                self._take(engine.apply(deed.patch))
        return self._verdict()

    def _verdict(self) -> str:
        case = self._case
        verdicts = [record.verdict for record in self._settled]
        failed = "failed" in verdicts
        if case.outcome == "passed":
            return "" if verdicts == ["passed"] else "its target is not met"
        if case.outcome == "undone":
            return "" if verdicts[:1] == ["passed"] and self._opened > 1 else "it is not met and made anew"
        if case.outcome in ("failed", "advised"):
            if not failed and not self._engine.ended and case.reason not in ("executed", "deadline"):
                self._take(self._engine.finish(case.reason))
                failed = any(record.verdict == "failed" for record in self._settled)
            return "" if failed else "nothing fails"
        if verdicts:
            return f"the rule {verdicts[0]}"
        if case.outcome == "abandoned":
            return ""
        return self._other()

    def _other(self) -> str:
        """Whether the last deed does what was intended, to something else."""
        case = self._case
        last = case.deeds[-1] if case.deeds else None
        intent = Action.parse(case.intent) if case.intent else DONE
        if last is None or last.parsed == intent or last.parsed.skill != intent.skill:
            return "the last deed is no other way to do what was intended"
        if bool(last.failure) != (case.outcome == "stuck"):
            return "the last deed failed" if last.failure else "the last deed succeeded"
        return ""

    def _take(self, change: Change) -> None:
        self._opened += sum(self._mine(record) for record in change.opened)
        self._settled += [record for record in (*change.passed, *change.failed) if self._mine(record)]

    def _mine(self, record: Record) -> bool:
        return record.rule == self._case.rule and record.binding == self._case.binding
