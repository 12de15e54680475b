"""Export and import of a memory as JSON lines. What comes in is judged as everything else is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from obviate.engine.experience.evolution import brief_of, objection
from obviate.engine.experience.rehearsal import Rehearser
from obviate.engine.experience.verification import verify
from obviate.kb.errors import DataError, ObviateError
from obviate.kb.experience.case import Case
from obviate.kb.experience.screen import screen
from obviate.kb.experience.skill import MetaSkill, read_skill

if TYPE_CHECKING:
    from obviate.kb.experience.store import Store

__all__ = ["Imported", "Refusal", "bring_in", "take_out"]

FORMAT = 1
BATCH = 200  # cases that are written at once
EVIDENCE = 3  # archived cases of either sign by which a skill is judged


@dataclass(frozen=True, slots=True)
class Refusal:
    """A line that was not taken in, and why."""

    line: int
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import brought: new cases and versions of skills, what there was already, and what was refused."""

    cases: int
    skills: int
    known: int
    refused: tuple[Refusal, ...]


def take_out(store: Store) -> Iterator[str]:
    """The whole memory, one JSON object a line: a header, every case, every version of every skill."""
    yield json.dumps({"obviate_memory": FORMAT})
    for case in store.archive():
        yield json.dumps({"case": case.to_json()}, ensure_ascii=False)
    for entry in store.entries():
        for one in store.history(entry.rule):
            data = {"skill": one.skill.to_json(), "origin": one.origin, "reason": one.reason, "current": one.current}
            yield json.dumps({**data, "evidence": list(one.evidence)}, ensure_ascii=False)


def bring_in(store: Store, lines: Iterable[str], rehearser: Rehearser) -> Imported:
    """Take in what `take_out` gave, here or elsewhere. The same again changes nothing.

    A case is judged again by the engine; a skill is screened, and rehearsed on the archived cases of its rule. Raises
    `DataError` (``memory-foreign``) if it does not begin as a memory does.
    """
    return _Import(store, rehearser).whole(lines)


class _Import:
    def __init__(self, store: Store, rehearser: Rehearser) -> None:
        self._store = store
        self._rehearser = rehearser
        self._waiting: list[Case] = []
        self._read = self._cases = self._skills = self._known = 0
        self._refused: list[Refusal] = []

    def whole(self, lines: Iterable[str]) -> Imported:
        numbered = enumerate(lines, 1)
        _, first = next(numbered, (1, ""))
        if _json(first).get("obviate_memory") != FORMAT:
            message = f"this is no memory of format {FORMAT}"
            raise DataError("memory-foreign", message, where="line 1", help="see obviate memory export")
        for number, line in numbered:
            if line.strip():
                try:
                    self._line(_json(line))
                except ObviateError as error:
                    self._refused.append(Refusal(number, error.code, error.message))
        self._flush()
        known = self._known + self._read - self._cases
        return Imported(self._cases, self._skills, known, tuple(self._refused))

    def _line(self, data: dict[str, Any]) -> None:
        vocabulary = self._rehearser.packs[0].vocabulary
        if "case" in data:
            case = Case.read(data["case"], vocabulary)
            verify(case, *self._rehearser.packs)
            self._read += 1
            self._waiting.append(case)
            if len(self._waiting) >= BATCH:
                self._flush()
        elif "skill" in data:
            self._flush()
            self._skill(read_skill(data["skill"]), data)
        else:
            raise DataError("memory-foreign", "the line holds neither case nor skill", help="see obviate memory export")

    def _flush(self) -> None:
        self._cases += self._store.add(*self._waiting)
        self._waiting.clear()

    def _skill(self, skill: MetaSkill, data: dict[str, Any]) -> None:
        screen(skill, self._rehearser.packs[0].vocabulary)
        history = self._store.history(skill.rule)
        same = next((one for one in history if one.skill == skill), None)
        if same is not None:
            self._known += 1
            return
        good = tuple(self._store.archive(skill.rule, limit=EVIDENCE, sign=1))
        bad = tuple(self._store.archive(skill.rule, limit=EVIDENCE, sign=-1))
        brief = brief_of(skill.rule, self._rehearser, good, bad, None)
        if data.get("current") and (good or bad) and (reason := objection(skill, brief, self._rehearser)):
            raise DataError("case-refuted", f"the cases of {skill.rule} speak against its skill: {reason}")
        said = (str(data.get(key, "")) for key in ("origin", "reason"))
        origin, reason = (text[:200] for text in said)
        self._store.write(skill, origin=f"import: {origin}", reason=reason)
        self._skills += 1
        present = next((one for one in history if one.current), None)
        if present is not None and not data.get("current"):
            self._store.rollback(skill.rule, present.number)


def _json(line: str) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise DataError("memory-foreign", "expected a JSON object", help="see obviate memory export")
    return data
