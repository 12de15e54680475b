"""A file of principles to a pack, and an audit of what no gate should decide."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from obviate.compilers.rules.audit import Doubt, Entry, entry_pack, told
from obviate.compilers.rules.emission import Written, clean, pack_text, rule_name
from obviate.compilers.rules.gates import Finding, doubts, of_candidate
from obviate.compilers.rules.synthesis import Compiled, Compiler
from obviate.compilers.rules.work import Work
from obviate.kb import Pack, Vocabulary
from obviate.kb.errors import DataError, ObviateError
from obviate.kb.files import read_text
from obviate.kb.kinds import Kinds

__all__ = ["Batch", "Outcome", "Principle", "read_principles"]

_MOST = 1_000  # principles in a file
_NAMED = re.compile(r"([a-z][a-z0-9_]{0,59}):\s+(\S.*)")


@dataclass(frozen=True, slots=True)
class Principle:
    """A principle in words, and the name of its rule."""

    name: str
    text: str


def read_principles(file: Path) -> tuple[Principle, ...]:
    """The principles of a file: one a line, perhaps after ``name:``; empty lines and those with # are skipped.

    A ``.json`` file holds a list of texts. Raises `DataError` (``no-principles``, ``principle-twice``, or as
    `read_text`).
    """
    text = read_text(file)
    lines = _from_json(text, file) if file.suffix == ".json" else text.splitlines()
    found: list[Principle] = []
    for line in lines:
        said = line.strip()
        if not said or said.startswith("#"):
            continue
        match = _NAMED.fullmatch(said)
        taken = [principle.name for principle in found]
        name, said = (match[1], match[2]) if match else (rule_name(said, taken), said)
        if name in taken:
            raise DataError("principle-twice", f"two principles are called {name}", where=str(file), help="rename one")
        found.append(Principle(name, clean(said)))
    if not found:
        raise DataError("no-principles", "there is no principle in it", where=str(file), help="write one a line")
    if len(found) > _MOST:
        raise DataError("no-principles", f"over {_MOST} principles", where=str(file), help="split the file")
    return tuple(found)


def _from_json(text: str, file: Path) -> list[str]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError("file-malformed", f"not JSON: {error}", where=str(file), help="a list of texts") from None
    if not isinstance(data, list) or not all(isinstance(item, str) for item in data):
        raise DataError("file-malformed", "this is no list of texts", where=str(file), help='["Close the drawers."]')
    return [" ".join(item.split()) for item in data]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a principle: ``passed`` into the pack, ``accepted`` by a person, to ``audit``, or ``rejected``."""

    principle: Principle
    verdict: str
    written: Written | None
    entry: Entry | None


@dataclass(frozen=True)
class Batch:
    """Compiles principles one by one. `others` are packs whose rules are not to be repeated."""

    compiler: Compiler
    work: Work
    kinds: Kinds | None = None
    others: Sequence[Pack] = ()
    seconds: float = 10.0

    def run(
        self, principles: Sequence[Principle], decided: Sequence[Entry], tell: Callable[[Outcome], None]
    ) -> list[Outcome]:
        """What becomes of each principle; `tell` hears it at once. `decided` are the entries of an earlier audit.

        Raises `PackError` for a rule that was accepted and does not load.
        """
        known = {(entry.name, entry.principle): entry for entry in decided}
        outcomes: list[Outcome] = []
        before: list[Pack] = [*self.others]
        for principle in principles:
            outcome = self._one(principle, known.get((principle.name, principle.text)), before)
            outcomes.append(outcome)
            if outcome.written is not None:
                before.append(_alone(outcome.written, principle.name, self.vocabulary))
            tell(outcome)
        return outcomes

    @property
    def vocabulary(self) -> Vocabulary:
        return self.compiler.vocabulary

    def _one(self, principle: Principle, decided: Entry | None, before: Sequence[Pack]) -> Outcome:
        if decided is not None and decided.decision == "reject":
            return Outcome(principle, "rejected", None, decided)
        if decided is not None and decided.decision == "accept":
            entry_pack(decided, self.vocabulary)
            return Outcome(principle, "accepted", Written(decided.rule, decided.helpers), decided)
        compiled = self.work.compiled(self.compiler, principle.text, principle.name)
        if not compiled.candidates:
            doubt = Doubt(gate="answer", reason=compiled.failure, stopped=True)
            return Outcome(
                principle, "audit", None, Entry(name=principle.name, principle=principle.text, doubts=(doubt,))
            )
        best = compiled.candidates[0]
        written = compiled.written(best, self.vocabulary)
        findings = [*of_candidate(best), *self._doubts(written, principle, before)]
        if not findings:
            return Outcome(principle, "passed", written, None)
        return Outcome(principle, "audit", None, self._entry(compiled, written, findings))

    def _doubts(self, written: Written, principle: Principle, before: Sequence[Pack]) -> Iterator[Finding]:
        try:
            pack = _alone(written, principle.name, self.vocabulary)
        except ObviateError as error:
            yield Finding("check", f"{error.message} [{error.code}]", stopped=True)
            return
        yield from doubts(pack, principle.name, others=before, kinds=self.kinds, seconds=self.seconds)

    def _entry(self, compiled: Compiled, written: Written, findings: Sequence[Finding]) -> Entry:
        entry = Entry(
            name=compiled.name,
            principle=compiled.principle,
            doubts=tuple(Doubt(gate=f.gate, reason=f.reason, stopped=f.stopped) for f in findings),
            rule=written.text,
            original=written.text,
            helpers=written.helpers,
            alternatives=tuple(compiled.written(c, self.vocabulary).text for c in compiled.candidates[1:4]),
        )
        try:
            seen = told(_alone(written, compiled.name, self.vocabulary), compiled.name)
        except ObviateError:
            return entry
        return entry.model_copy(update={"words": seen.words, "scene": seen.scene})


def _alone(written: Written, name: str, vocabulary: Vocabulary) -> Pack:
    return Pack.of({f"{name}.lp": pack_text([written], title=name)}, vocabulary=vocabulary, name=name)
