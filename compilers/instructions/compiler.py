"""From an instruction in words to an instruction file: its program, its dependencies, and how sure that is.

Two voters: the cues in its words, and a language model, which scores it (`Channel`) or is asked (`Samples`). Where
they agree and every word was understood, the program is computed; what is uncertain is left to a semantic evaluator
(``judged``), with a signature that is wide in the default mode and universal in the safe one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from obviate.compilers.instructions.channel import KINDS, Channel
from obviate.compilers.instructions.cues import Cues, Reading
from obviate.compilers.instructions.meaning import Meaning, depends, header, name_of
from obviate.compilers.instructions.placements import UNIVERSAL
from obviate.compilers.instructions.synthesis import Synthesis
from obviate.compilers.instructions.words import SEVERAL
from obviate.kb.errors import DecodeError
from obviate.kb.instruction import Instruction, Signature
from obviate.kb.regions import CATEGORIES, constant

__all__ = ["MODES", "Compiled", "Compiler", "Opinion", "Voter", "decide", "doubts"]

MODES = ("default", "safe")


class Opinion(Protocol):
    """What a language model says of an instruction's dependencies."""

    @property
    def signature(self) -> Signature:
        """What it may depend on."""

    def disputes(self, signature: Signature) -> bool:
        """Whether this speaks against a signature that others have found."""


class Voter(Protocol):
    """A language model that can be asked: `Channel` or `Samples`."""

    def read(self, text: str, *, k: int) -> Opinion:
        """Its opinion, united over `k` orders of the examples."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """An instruction file (`text`), and how it came about.

    `signature` is what the file declares, `inferred` what its program reads, None where it is `judged`. `sure` means
    that all was understood and nobody disagrees; `reasons` say why not. `abstained` means that the signature is
    universal since the compiler was not sure. `votes` are the signatures of the voters.
    """

    name: str
    text: str
    signature: Signature
    inferred: Signature | None
    sure: bool
    abstained: bool
    reasons: tuple[str, ...]
    votes: Mapping[str, Signature] = field(repr=False)

    @property
    def judged(self) -> bool:
        """Whether qualification is asked of a semantic evaluator."""
        return self.inferred is None

    @property
    def likely(self) -> Signature:
        """The narrowest that anyone found: what the program reads, or else what the words say."""
        return self.inferred if self.inferred is not None else self.votes["cues"]

    @property
    def inflation(self) -> float:
        """How many times as many semantic categories as likely are needed, at least 1: the cost of caution.

        Each category more makes every event of its kind refresh all regions.
        """
        return self.signature.inflation(self.likely)

    @property
    def extra(self) -> tuple[str, ...]:
        """The categories whose events refresh judgments, although likely they need not."""
        more = self.signature.semantic - self.likely.semantic
        return tuple(category for category in CATEGORIES if category in more)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {
            "name": self.name,
            "text": self.text,
            "sure": self.sure,
            "abstained": self.abstained,
            "judged": self.judged,
            "reasons": list(self.reasons),
            "signature": _told(self.signature),
            "inferred": None if self.inferred is None else _told(self.inferred),
            "votes": {name: _told(vote) for name, vote in self.votes.items()},
            "inflation": self.inflation,
            "extra": list(self.extra),
        }


@dataclass(frozen=True, slots=True)
class Compiler:
    """Compiles instructions. `voter` is the language model, `synthesis` one that is able to tell meanings; with
    neither the cues decide by themselves, and a safe compiler abstains all the more.
    """

    voter: Voter | None = None
    synthesis: Synthesis | None = None
    cues: Cues = field(default_factory=Cues)
    mode: str = "default"
    k: int = 1

    def compile(self, text: str, *, name: str = "") -> Compiled:
        """The instruction `text`, called `name` or by its first words. Raises `DecodeError`
        (``instruction-empty``, or the model's), `ObviateError` (``bad-constant``) for a name that is none.
        """
        if not any(letter.isalpha() for letter in text):
            raise DecodeError("instruction-empty", "there are no words in the instruction", help="say what to do where")
        reading = self.cues.read(text)
        opinion = self._opinion(text)
        reasons = list(doubts(reading, opinion))
        meaning, found = reading.meaning, reading.signature
        if self.synthesis is not None:
            meaning = self.synthesis.read(text)
            reasons = _second_thoughts(reading, meaning, opinion)
        signature = decide(reading, opinion, sure=not reasons, mode=self.mode)
        called = constant(name, "name") if name else name_of(text)
        program, inferred = _program(called, text, None if reasons else meaning, reading)
        if inferred is not None:
            signature = signature.union(inferred)
        votes = {"cues": found} | ({"model": opinion.signature} if opinion else {})
        file = program + depends(called, signature)
        Instruction.of(file)  # whatever is wrong with what is emitted is told here, not where it is used
        abstained = bool(reasons) and self.mode == "safe"
        return Compiled(called, file, signature, inferred, not reasons, abstained, tuple(reasons), votes)

    def _opinion(self, text: str) -> Opinion | None:
        if isinstance(self.voter, Channel):
            # Rooms by name are told by the cues, better than by the channel.
            return replace(self.voter, kinds=KINDS).read(text, k=self.k)
        return self.voter.read(text, k=self.k) if self.voter else None


def decide(reading: Reading, opinion: Opinion | None, *, sure: bool, mode: str) -> Signature:
    """The signature: what the cues say where the compiler is sure; else all that anyone says, or everything."""
    if mode == "safe" and not sure:
        return UNIVERSAL
    if sure:
        return reading.signature
    return reading.cautious.union(opinion.signature) if opinion else reading.cautious


def doubts(reading: Reading, opinion: Opinion | None) -> tuple[str, ...]:
    """Why the compiler is not sure, in words; nothing if it is."""
    found = []
    words = [word for word in dict.fromkeys(reading.unknown) if word != SEVERAL]
    if words:
        found.append(f"not understood: {', '.join(words)}")
    if SEVERAL in reading.unknown:
        found.append("not understood: how the things or rooms belong together")
    if not reading.unknown and reading.meaning is None:
        found.append("the words name no thing and no room, or contradict each other")
    if opinion is not None and opinion.disputes(reading.signature):
        found.append("the model takes it for another kind of request")
    return tuple(found)


def _second_thoughts(reading: Reading, meaning: Meaning | None, opinion: Opinion | None) -> list[str]:
    """The doubts where a capable model has told the meaning, which then counts in place of unknown words."""
    if meaning is None:
        return ["the model finds the instruction unclear"]
    doubts = []
    read = Instruction.of(header("i", "") + meaning.rules("i")).inferred
    if not read.contains(reading.signature):
        doubts.append("the model's program leaves out what the words say")
    if opinion is not None and opinion.disputes(read):
        doubts.append("the model's program and its dependencies differ")
    return doubts


def _program(name: str, text: str, meaning: Meaning | None, reading: Reading) -> tuple[str, Signature | None]:
    """The file without its dependencies, and what its program reads."""
    begin = header(name, text)
    if meaning is not None:
        program = begin + meaning.rules(name)
        return program, Instruction.of(program).inferred
    nearest = f"prefer({name}, R, D) :- hops(R, D).\n" if "topology" in reading.cautious.selection else ""
    return f"{begin}judged({name}).\n{nearest}", None


def _told(signature: Signature) -> dict[str, list[str]]:
    return {
        "semantic": [category for category in CATEGORIES if category in signature.semantic],
        "selection": [category for category in CATEGORIES if category in signature.selection],
    }
