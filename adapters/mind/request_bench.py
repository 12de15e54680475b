"""Scoring compilers of instructions on the request benchmark (MIND paper, Section VI-B and its second Table I)."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from obviate.adapters.mind.requests import Pair, Phrase
from obviate.compilers.decoder import Scorer
from obviate.compilers.instructions.channel import ALL, KINDS, Channel, Heard
from obviate.compilers.instructions.compiler import Opinion, Voter, decide, doubts
from obviate.compilers.instructions.cues import Cues
from obviate.compilers.instructions.development import DEVELOPMENT, Template
from obviate.compilers.instructions.placements import INVENTORY, UNIVERSAL
from obviate.kb.instruction import Signature

__all__ = ["Answer", "Memo", "Paired", "Row", "answers", "channel", "cross_validated", "paired", "rows", "rows_of"]

# The rows of the report. Those that are the same for all requests show what a compiler has to beat.
ROWS = ("inventory only", "universal", "cues alone", "model alone", "model alone, widened", "both", "safe")
PAIRED = ("cues alone", "model alone", "both", "safe")


@dataclass(frozen=True, slots=True)
class Answer:
    """What was made of a phrase: a signature by row, whether the safe mode abstained, and the seconds it took: by the
    clock, and of processor time, which other processes on the machine do not lengthen.
    """

    phrase: Phrase
    signatures: Mapping[str, Signature]
    abstained: bool
    seconds: float
    processor: float = 0.0


@dataclass(frozen=True, slots=True)
class Row:
    """How a compiler did: proportions of phrases, and the mean inflation of the semantic slot (Section V, Metrics)."""

    name: str
    phrases: int
    exact: int
    contained: int
    inflation: float
    abstained: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        total = max(1, self.phrases)
        return {
            "phrases": self.phrases,
            "exact": self.exact / total,
            "containment": self.contained / total,
            "inflation": self.inflation,
            "non_containing": self.phrases - self.contained,
            "abstained": self.abstained / total,
        }


@dataclass(frozen=True, slots=True)
class Paired:
    """Minimal pairs of an edge: how often the variant gains exactly the modifier's categories in the right slot
    (`correct`), and also nothing in the other one (`clean`).
    """

    edge: str
    pairs: int
    correct: int
    clean: int

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        total = max(1, self.pairs)
        return {"pairs": self.pairs, "edge_correct": self.correct / total, "clean": self.clean / total}


@dataclass(frozen=True)
class Memo:
    """A `Scorer` that asks another one, and no question twice."""

    scorer: Scorer
    _known: dict[tuple[str, str], float] = field(default_factory=dict, repr=False, compare=False)

    def logprobs(self, prefix: str, continuations: Sequence[str]) -> list[float]:
        """As the other one's."""
        fresh = [text for text in dict.fromkeys(continuations) if (prefix, text) not in self._known]
        if fresh:
            for text, score in zip(fresh, self.scorer.logprobs(prefix, fresh), strict=True):
                self._known[prefix, text] = score
        return [self._known[prefix, text] for text in continuations]


def answers(
    phrases: Iterable[Phrase], voter: Voter | None, *, k: int = 1, cues: Cues | None = None
) -> Iterator[Answer]:
    """What the compiler makes of each phrase, one at a time. Raises `DecodeError` of the model."""
    reader = cues or Cues()
    for phrase in phrases:
        began, used = time.perf_counter(), time.process_time()
        reading = reader.read(phrase.text)
        whole = voter.read(phrase.text, k=k) if voter else None
        # A channel by itself has to tell rooms by name, too; beside the cues it need not.
        opinion: Opinion | None = whole.among(KINDS) if isinstance(whole, Heard) else whole
        sure = not doubts(reading, opinion)
        found = {
            "inventory only": INVENTORY,
            "universal": UNIVERSAL,
            "cues alone": reading.cautious,
            "both": decide(reading, opinion, sure=sure, mode="default"),
            "safe": decide(reading, opinion, sure=sure, mode="safe"),
        }
        if whole is not None:
            found["model alone"] = whole.signature
            found["model alone, widened"] = whole.signature.widened()
        yield Answer(phrase, found, not sure, time.perf_counter() - began, time.process_time() - used)


def rows(found: Sequence[Answer]) -> dict[str, Row]:
    """The table for some answers."""
    return {name: rows_of(name, found) for name in ROWS if found and name in found[0].signatures}


def rows_of(name: str, found: Sequence[Answer]) -> Row:
    """One row of it."""
    pairs = [(one.signatures[name], one.phrase.signature) for one in found]
    return Row(
        name,
        len(pairs),
        sum(said == true for said, true in pairs),
        sum(said.contains(true) for said, true in pairs),
        statistics.fmean(said.inflation(true) for said, true in pairs) if pairs else 0.0,
        sum(one.abstained for one in found) if name == "safe" else 0,
    )


def paired(pairs: Sequence[Pair], found: Mapping[str, Answer]) -> dict[str, dict[str, Paired]]:
    """By row and edge, how the edges of minimal pairs are told. `found` has the answers by text."""
    return {
        name: {
            edge: _edge(edge, [pair for pair in pairs if pair.edge == edge], found, name)
            for edge in dict.fromkeys(pair.edge for pair in pairs)
        }
        for name in PAIRED
        if all(name in answer.signatures for answer in found.values())
    }


def _edge(edge: str, pairs: Sequence[Pair], found: Mapping[str, Answer], name: str) -> Paired:
    gains = [
        (pair.adds, _gain(found[pair.base].signatures[name], found[pair.variant].signatures[name])) for pair in pairs
    ]
    correct = sum(_correct(adds, gain) for adds, gain in gains)
    return Paired(edge, len(pairs), correct, sum(adds == gain for adds, gain in gains))


def cross_validated(
    phrases: Sequence[Phrase],
    scorer: Scorer | None,
    *,
    k: int = 1,
    progress: Callable[[], None] = lambda: None,
) -> Iterator[Answer]:
    """What the compiler makes of development phrases when each template is unknown to it: its phrase cues, its words,
    its place in the lists of the channel. So the margin was chosen.
    """
    memo = Memo(scorer) if scorer is not None else None
    for template in (template for templates in DEVELOPMENT.values() for template in templates):
        own = [phrase for phrase in phrases if phrase.template == template.text]
        if own:
            voter = channel(memo, k=k, without=template) if memo is not None else None
            for answer in answers(own, voter, k=k, cues=Cues(without=template)):
                yield answer
                progress()


def channel(
    scorer: Scorer,
    *,
    k: int = 1,
    without: Template | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Channel:
    """A channel over all six families."""
    return Channel.calibrated(scorer, k=k, kinds=ALL, without=without, progress=progress)


def _gain(base: Signature, variant: Signature) -> Signature:
    return Signature(variant.semantic - base.semantic, variant.selection - base.selection)


def _correct(adds: Signature, gain: Signature) -> bool:
    return all(
        gained == added for added, gained in ((adds.semantic, gain.semantic), (adds.selection, gain.selection)) if added
    )
