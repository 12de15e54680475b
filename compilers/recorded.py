"""Answers from a tape: what a model once answered, without the model.

A tape is a file of JSON lines, one per answer. Its questions are known by their content, so a tape cannot answer
another question than the one that was asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from obviate.compilers.decoder import Decoder, Message, content, key
from obviate.compilers.spec import Spec, preflight, recheck
from obviate.kb.errors import DataError, DecodeError
from obviate.kb.files import read_text

__all__ = ["Recorded", "Recording"]

_LINE = 'a line is {"key": ..., "answer": ...}, as Recording writes it'


@dataclass(frozen=True)
class Recorded:
    """A `Decoder` that answers from a tape, by the messages and the spec (and the seed of a sampled answer)."""

    answers: Mapping[str, str] = field(repr=False)
    name: str = "tape"

    @classmethod
    def load(cls, tape: Path) -> Recorded:
        """The answers on the tape; the last one where a question was asked again.

        Raises `DataError` (``tape-malformed``, or as `read_text`).
        """
        return cls(_answers(tape), f"tape:{tape.name}")

    def decode(
        self,
        messages: Sequence[Message],
        spec: Spec,
        *,
        max_tokens: int = 256,
        seed: int | None = None,
        temperature: float = 0.0,
    ) -> str:
        """The answer on the tape. Raises `DecodeError`: ``not-on-tape``, or as `recheck`, for tapes may be edited."""
        preflight(spec)
        asked = key(content(messages, spec), seed=seed, temperature=temperature)
        if asked not in self.answers:
            message = "the tape has no answer to this question"
            raise DecodeError("not-on-tape", message, where=f"{self.name}, key {asked[:12]}", help="record it anew")
        return recheck(spec, self.answers[asked])


@dataclass(frozen=True)
class Recording:
    """A `Decoder` that asks another one, and appends each answer to a tape as soon as it has it."""

    decoder: Decoder
    tape: Path

    @property
    def name(self) -> str:
        return self.decoder.name

    def decode(
        self,
        messages: Sequence[Message],
        spec: Spec,
        *,
        max_tokens: int = 256,
        seed: int | None = None,
        temperature: float = 0.0,
    ) -> str:
        """The other's answer, which is on the tape. Raises as it does; `DataError` (``tape-unwritable``)."""
        answer = self.decoder.decode(messages, spec, max_tokens=max_tokens, seed=seed, temperature=temperature)
        asked = content(messages, spec)
        line: dict[str, Any] = {"key": key(asked, seed=seed, temperature=temperature), "decoder": self.name}
        if temperature:
            line |= {"seed": seed, "temperature": temperature}
        line |= {**asked, "answer": answer}
        try:
            with self.tape.open("a", encoding="utf-8", newline="\n") as stream:
                stream.write(json.dumps(line, ensure_ascii=True) + "\n")
        except OSError as error:
            message = f"the tape cannot be written: {error.strerror}"
            raise DataError(
                "tape-unwritable", message, where=str(self.tape), help="give a file you may write"
            ) from error
        return answer


def _answers(tape: Path) -> dict[str, str]:
    answers = {}
    for number, line in enumerate(read_text(tape).split("\n"), start=1):
        if line:
            name, answer = _entry(line, f"{tape}:{number}")
            answers[name] = answer
    return answers


def _entry(line: str, where: str) -> tuple[str, str]:
    try:
        data = json.loads(line)
        name, answer = data["key"], data["answer"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError("tape-malformed", f"this is no answer: {error}", where=where, help=_LINE) from error
    if not isinstance(name, str) or not isinstance(answer, str):
        raise DataError("tape-malformed", "key and answer are not texts", where=where, help=_LINE)
    return name, answer
