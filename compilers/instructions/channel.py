"""The noisy channel: which kind of request an instruction is, by how likely a small language model writes it there.

A model of 135M parameters cannot say what an instruction depends on, but it continues a list: P(instruction | list of
requests of a kind) tells kinds apart where P(kind | instruction) does not. Union over orders as in the MIND paper,
Section IV-A; the margin and everything else was chosen on the development templates (docs/compiling.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from types import MappingProxyType

from obviate.compilers.decoder import Scorer
from obviate.compilers.instructions.development import DEVELOPMENT, FILLS, Template
from obviate.compilers.instructions.placements import PLACEMENTS, united
from obviate.kb.instruction import Signature

__all__ = ["ALL", "KINDS", "MARGIN", "ORDERS", "Channel", "Heard", "likeliest"]

# Whether a room is named can be read off its name, so these are what a channel has to tell apart beside the cues.
KINDS = ("inventory-only", "current-region", "history-dependent", "nearest-candidate", "nearest+history")
ALL = ("named-region", *KINDS)  # the six families, for a channel by itself
ORDERS = 4  # cyclic orders of the four templates of a kind; each leaves out its first
MARGIN = 3.0  # nats
_SHOT = FILLS[2]


@dataclass(frozen=True, slots=True)
class Heard:
    """What the channel says: for each order the calibrated log-likelihood of each kind, in nats; 0 is what development
    sentences have on average.
    """

    orders: tuple[Mapping[str, float], ...]
    margin: float = MARGIN

    @property
    def scores(self) -> Mapping[str, float]:
        """By kind, the mean over the orders."""
        return {kind: fmean(order[kind] for order in self.orders) for kind in self.orders[0]}

    @property
    def kept(self) -> tuple[str, ...]:
        """The kinds within the margin of the best one in some order."""
        found = {kind for order in self.orders for kind in likeliest(order, self.margin)}
        return tuple(kind for kind in self.orders[0] if kind in found)

    @property
    def signature(self) -> Signature:
        """The union of all kinds kept."""
        return united(PLACEMENTS[name] for name in self.kept)

    def disputes(self, signature: Signature) -> bool:
        """Whether some kind is likelier by more than the margin than all that this signature contains."""
        scores = self.scores
        inside = [score for name, score in scores.items() if signature.contains(PLACEMENTS[name].signature)]
        return not inside or max(scores.values()) - max(inside) > self.margin

    def among(self, kinds: Sequence[str]) -> Heard:
        """The same with these kinds only."""
        return Heard(tuple({kind: order[kind] for kind in kinds} for order in self.orders), self.margin)


@dataclass(frozen=True)
class Channel:
    """Reads instructions by a scorer. `offsets`, by kind and order, are the mean scores of development sentences.

    `without` leaves out a template, as `Cues` does.
    """

    scorer: Scorer
    offsets: Mapping[tuple[str, int], float] = field(repr=False)
    kinds: tuple[str, ...] = KINDS
    margin: float = MARGIN
    without: Template | None = None

    @classmethod
    def calibrated(
        cls,
        scorer: Scorer,
        *,
        k: int = 1,
        kinds: tuple[str, ...] = KINDS,
        without: Template | None = None,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> Channel:
        """A channel for a model of which nothing is known: some hundreds of scores are asked of it, once."""
        offsets = {}
        total = k * len(kinds)
        for order in range(k):
            for kind in kinds:
                offsets[kind, order] = _offset(scorer, kind, order, without)
                progress(len(offsets), total)
        return cls(scorer, MappingProxyType(offsets), kinds, without=without)

    def read(self, text: str, *, k: int = 1) -> Heard:
        """The kinds that the instruction may be of, united over `k` cyclic orders of the examples."""
        if not 1 <= k <= ORDERS:
            raise ValueError(f"k is 1 to {ORDERS}, not {k}")
        return Heard(
            tuple({kind: self._score(text, kind, order) for kind in self.kinds} for order in range(k)), self.margin
        )

    def _score(self, text: str, kind: str, order: int) -> float:
        (score,) = self.scorer.logprobs(_prefix(kind, order, self.without), [f" {text.strip()}"])
        return score - self.offsets[kind, order]


def likeliest(scores: Mapping[str, float], margin: float) -> tuple[str, ...]:
    """The names whose score is within the margin of the best one."""
    best = max(scores.values())
    return tuple(name for name, score in scores.items() if score >= best - margin)


def _prefix(kind: str, order: int, *without: Template | None) -> str:
    """A list of three requests of a kind, and the beginning of a fourth.

    Of the four development templates an order leaves out one: the one that must not be seen, or else its own.
    """
    templates: Sequence[Template] = DEVELOPMENT[kind]
    shown = [template for template in templates if template not in without]
    if len(shown) == len(templates):
        del shown[order]
    return "".join(f"- {template.filled(_SHOT)}\n" for template in shown) + "-"


def _offset(scorer: Scorer, kind: str, order: int, without: Template | None) -> float:
    """The mean score of development sentences. One of the kind itself is not shown to the model where it is scored."""
    together: dict[str, list[str]] = {}
    for templates in DEVELOPMENT.values():
        for template in templates:
            if template != without:
                beginning = _prefix(kind, order, without if without in DEVELOPMENT[kind] else None, template)
                together.setdefault(beginning, []).extend(f" {template.filled(fill)}" for fill in FILLS[:2])
    scores = [score for prefix, texts in together.items() for score in scorer.logprobs(prefix, texts)]
    return sum(scores) / len(scores)
