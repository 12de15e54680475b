"""Answers kept on disk: a question that was answered once is not asked again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from obviate.compilers.decoder import Decoder, Message, content, key
from obviate.compilers.spec import Spec, preflight, recheck
from obviate.kb.errors import DataError, DecodeError
from obviate.kb.files import replace_text

__all__ = ["Cached", "Hits"]

MAX_BYTES = 1_000_000  # of an entry


@dataclass
class Hits:
    """How many answers came from the cache, how many were asked for, and how many entries were unusable."""

    kept: int = 0
    asked: int = 0
    damaged: int = 0


@dataclass(frozen=True)
class Cached:
    """A `Decoder` that remembers in `folder` what another one answered, each answer as soon as it is there.

    An entry is named by its content: the decoder's name, the messages with the bytes of their images, the spec, and
    the seed and temperature of a sample. Samples without a seed are not kept. Entries are checked as if they came from
    the model; what is damaged is asked for again. A model that changes under its name needs another folder.
    """

    decoder: Decoder
    folder: Path
    hits: Hits = field(default_factory=Hits, compare=False)

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
        """The answer, from the cache or the other decoder. Raises as it does; `DataError` (``cache-unwritable``)."""
        preflight(spec)
        question = key(content(messages, spec), seed=seed, temperature=temperature)
        name = sha256(f"{self.name}\0{question}".encode()).hexdigest()
        file = self.folder / name[:2] / f"{name}.json"
        keep = temperature == 0 or seed is not None
        if keep and (answer := self._kept(file, name, spec)) is not None:
            self.hits.kept += 1
            return answer
        answer = self.decoder.decode(messages, spec, max_tokens=max_tokens, seed=seed, temperature=temperature)
        self.hits.asked += 1
        if keep:
            _write(file, json.dumps({"key": name, "decoder": self.name, "answer": answer}))
        return answer

    def _kept(self, file: Path, name: str, spec: Spec) -> str | None:
        try:
            with file.open("rb") as stream:
                data = json.loads(stream.read(MAX_BYTES))
            if data["key"] != name:
                raise ValueError("an entry under another name")
            return recheck(spec, str(data["answer"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, RecursionError, DecodeError):
            self.hits.damaged += 1
            return None


def _write(file: Path, text: str) -> None:
    """Write the whole entry or nothing of it; readers never see a half."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_text(file, text)
    except OSError as error:
        raise _unwritable(file, str(error.strerror)) from error
    except DataError as error:
        raise _unwritable(file, error.message) from error


def _unwritable(file: Path, why: str) -> DataError:
    message = f"the cache cannot be written: {why}"
    return DataError("cache-unwritable", message, where=str(file), help="name another folder")
