"""The one seam to language models: messages and a spec go in, a text that satisfies the spec comes out.

Every backend looks at the spec before it asks (`preflight`) and at the answer before it hands it on (`recheck`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from obviate.compilers.spec import Spec, canonical
from obviate.kb.errors import DataError, DecodeError

__all__ = ["ROLES", "DecodeError", "Decoder", "Message", "Scorer", "content", "key"]

ROLES = ("system", "user", "assistant")
MAX_IMAGE = 20_000_000  # bytes


@dataclass(frozen=True)
class Message:
    """One turn of a conversation. Raises `DecodeError` (``message-role``) for another role than `ROLES`.

    What strangers wrote belongs into `text` through `obviate.compilers.prompt.quoted` only.
    """

    role: str
    text: str
    images: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            message = f"{self.role!r} is no role of a message"
            raise DecodeError("message-role", message, where="role", help=f"use one of {', '.join(ROLES)}")


@runtime_checkable
class Decoder(Protocol):
    """A language model that answers within a spec."""

    @property
    def name(self) -> str:
        """What stands in logs and tapes, such as ``local:smollm2-135m``."""

    def decode(
        self,
        messages: Sequence[Message],
        spec: Spec,
        *,
        max_tokens: int = 256,
        seed: int | None = None,
        temperature: float = 0.0,
    ) -> str:
        """The model's answer, which satisfies the spec. Raises `DecodeError`, never answers something else.

        At temperature 0 it is the most likely one, otherwise a sample that `seed` fixes, where the backend can.
        """


@runtime_checkable
class Scorer(Protocol):
    """A language model whose probabilities can be read: a local one."""

    def logprobs(self, prefix: str, continuations: Sequence[str]) -> list[float]:
        """The sum of the log-probabilities (natural) of each continuation's tokens after the prefix, as plain text.

        Prefix and continuation are split into tokens apart, so a continuation should begin with its space.
        """


def content(messages: Sequence[Message], spec: Spec) -> dict[str, Any]:
    """What is asked, as JSON data, with the images as hashes. Raises `DataError` (``images-unusable``)."""
    return {"messages": [_told(message) for message in messages], "spec": canonical(spec)}


def key(asked: Mapping[str, Any], *, seed: int | None = None, temperature: float = 0.0) -> str:
    """The name of a question by its `content`, and by what else decides the answer when it is drawn by chance."""
    data = dict(asked) if temperature == 0 else {**asked, "seed": seed, "temperature": temperature}
    return sha256(json.dumps(data, ensure_ascii=True, sort_keys=True).encode()).hexdigest()


def image(file: Path) -> bytes:
    """The bytes of an image. Raises `DataError` (``images-unusable``)."""
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_IMAGE + 1)
    except OSError as error:
        message = f"cannot be read: {error.strerror}"
        raise DataError("images-unusable", message, where=str(file), help="give a PNG or JPEG file") from error
    if len(data) > MAX_IMAGE:
        message = f"the image has over {MAX_IMAGE:,} bytes"
        raise DataError("images-unusable", message, where=str(file), help="make it smaller")
    return data


def _told(message: Message) -> dict[str, Any]:
    told: dict[str, Any] = {"role": message.role, "text": message.text}
    if message.images:
        told["images"] = [sha256(image(file)).hexdigest() for file in message.images]
    return told
