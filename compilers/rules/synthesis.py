"""The three stages from a principle to candidates for its rule (paper, Appendix 0.A.2).

Concept alignment finds the names that the principle speaks of; action grounding states hazard and intents with those
names; verification synthesis states the target. Several samples vote; a model whose probabilities can be read also
ranks what they say by how well it explains the principle (`ranking`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise

from obviate.compilers.decoder import Decoder, Message, Scorer, content, key
from obviate.compilers.rules import asking, schema
from obviate.compilers.rules.emission import Provenance, Written, clean, emitted
from obviate.compilers.rules.proposals import proposals
from obviate.compilers.rules.ranking import Channel
from obviate.compilers.rules.settling import settle
from obviate.compilers.rules.shape import Shape, Words, read_shape
from obviate.compilers.spec import Json, Spec, read_json
from obviate.kb import Vocabulary
from obviate.kb.errors import DecodeError

__all__ = ["METHODS", "Candidate", "Compiled", "Compiler"]

METHODS = ("ask", "score")
_TOKENS = 1_500  # of an answer; a form is bounded, and a longer answer is a loop
_WARMTH = 0.7  # of every sample but the first


@dataclass(frozen=True, slots=True)
class Candidate:
    """A form that samples agreed on. `dropped` tells what contradicted itself in it; `share` is how many of the
    samples said the same, `margin` by how much it explains the principle better than the next (in nats), if a model
    could tell.
    """

    shape: Shape
    dropped: tuple[str, ...]
    share: float
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class Compiled:
    """The candidates for the rule of a principle, the best first, and why there are none; `prompt` is a hash."""

    name: str
    principle: str
    candidates: tuple[Candidate, ...]
    model: str
    prompt: str
    failure: str = ""

    def written(self, candidate: Candidate, vocabulary: Vocabulary, *, on: date | None = None) -> Written:
        """A candidate as ASP, with where it comes from."""
        origin = Provenance(self.model, self.prompt, (on or date.today()).isoformat())
        return emitted(candidate.shape, self.name, self.principle, vocabulary, origin)


@dataclass(frozen=True)
class Compiler:
    """Asks a model about principles. `samples` are drawn from it, the first as its most likely answer.

    With `method` ``score``, nothing is asked: rules are enumerated and ranked (`proposals`), which only a model whose
    probabilities can be read can do.
    """

    decoder: Decoder
    vocabulary: Vocabulary
    samples: int = 1
    method: str = "ask"

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise DecodeError("method-unknown", f"there is no method {self.method!r}", help=" or ".join(METHODS))
        if self.method == "score" and not isinstance(self.decoder, Scorer):
            message = f"{self.decoder.name} tells no probabilities"
            raise DecodeError("method-unknown", message, where="score", help="ask it, or use a local model")

    def compile(self, principle: str, name: str) -> Compiled:
        """The candidates for one principle. A model that does not answer gives none, and the reason."""
        said = clean(principle)
        if self.method == "score":
            return self._scored(said, name)
        asked = _Asked(self.decoder)
        forms: list[tuple[Shape, tuple[str, ...]]] = []
        failure = ""
        for seed in range(self.samples):
            try:
                settled = settle(self._form(said, asked, seed), self.vocabulary)
                forms.append((settled.shape, settled.dropped))
            except DecodeError as error:
                if error.code in ("not-on-tape", "spec-unsupported"):
                    raise
                failure = failure or f"{error.message} [{error.code}]"
        candidates = self._ranked(said, list(_agreed(forms)))
        return Compiled(name, said, candidates, self.decoder.name, asked.prompt[:12], "" if candidates else failure)

    def _scored(self, principle: str, name: str) -> Compiled:
        assert isinstance(self.decoder, Scorer)
        found = proposals(principle, self.decoder, self.vocabulary)
        scores = [score for _, score in found]
        margins = [one - other for one, other in pairwise(scores)]
        candidates = []
        for (shape, _), margin in zip(found, [*margins, None], strict=True):
            settled = settle(shape, self.vocabulary)
            candidates.append(Candidate(settled.shape, settled.dropped, 1.0, margin))
        prompt = key({"scored": principle, "vocabulary": self.vocabulary.digest})[:12]
        return Compiled(name, principle, tuple(candidates), self.decoder.name, prompt)

    def _form(self, principle: str, asked: _Asked, seed: int) -> Shape:
        words = Words.of(self.vocabulary)
        known = read_json(asked(asking.about_concepts(principle, words), Json(schema.concepts(words)), seed))
        mode = str(known["mode"])
        near = aligned(words, known)
        ground = asked(asking.about_grounding(principle, near, mode), Json(schema.grounding(near, mode)), seed)
        found = {"mode": mode, **read_json(ground)}
        target = asked(asking.about_verification(principle, near, found), Json(schema.verification(near)), seed)
        return read_shape(json.dumps({**found, **read_json(target)}), self.vocabulary)

    def _ranked(self, principle: str, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
        if not isinstance(self.decoder, Scorer) or not candidates:
            return tuple(candidates)
        scores = Channel(self.decoder, self.vocabulary).scores(principle, [each.shape for each in candidates])
        order = sorted(range(len(candidates)), key=lambda i: -scores[i])
        return tuple(
            replace(candidates[i], margin=scores[i] - scores[order[n + 1]] if n + 1 < len(order) else None)
            for n, i in enumerate(order)
        )


@dataclass
class _Asked:
    """Asks in turn; `prompt` is the hash of all that was asked for the first sample."""

    decoder: Decoder
    prompt: str = ""

    def __call__(self, messages: Sequence[Message], spec: Spec, seed: int) -> str:
        if not seed:
            self.prompt = key({"before": self.prompt, **content(messages, spec)})
            return self.decoder.decode(messages, spec, max_tokens=_TOKENS)
        return self.decoder.decode(messages, spec, max_tokens=_TOKENS, seed=seed, temperature=_WARMTH)


def aligned(words: Words, known: dict[str, list[str]]) -> Words:
    """The words that concepts name; all of a sort where none of it is named, since a model forgets."""

    def chosen(names: Sequence[str], said: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name in said) or tuple(names)

    return replace(
        words,
        tags=chosen(words.tags, known["tags"]),
        states=chosen(words.states, known["states"]),
        relations=chosen(words.relations, known["relations"]),
    )


def _agreed(forms: Sequence[tuple[Shape, tuple[str, ...]]]) -> Iterator[Candidate]:
    """Each form once, the most frequent first; of equals, the first."""
    for form in sorted(dict.fromkeys(forms), key=lambda form: -forms.count(form)):
        yield Candidate(*form, share=forms.count(form) / len(forms))
