"""A decoder that says what a test wrote, within the spec or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from obviate.compilers.decoder import Message
from obviate.compilers.spec import Spec, preflight, recheck


@dataclass
class Scripted:
    """Answers in turn with `answers`, of which those that are errors are raised. `asked` is what it was asked."""

    answers: Sequence[str | Exception]
    name: str = "scripted"
    asked: list[tuple[tuple[Message, ...], Spec]] = field(default_factory=list)

    def decode(
        self,
        messages: Sequence[Message],
        spec: Spec,
        *,
        max_tokens: int = 256,
        seed: int | None = None,
        temperature: float = 0.0,
    ) -> str:
        preflight(spec)
        answer = self.answers[len(self.asked)]
        self.asked.append((tuple(messages), spec))
        if isinstance(answer, Exception):
            raise answer
        return recheck(spec, answer)
