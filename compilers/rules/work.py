"""What a compilation has done so far: a file of JSON lines beside its output, so that it can go on where it stopped.

Answers are known by what was asked: the principle, the vocabulary, the model and the number of samples. A line that a
crash cut short is skipped.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from obviate.compilers.rules.shape import Shape
from obviate.compilers.rules.synthesis import Candidate, Compiled, Compiler
from obviate.kb.errors import DataError
from obviate.kb.files import read_text

__all__ = ["Work"]

_VERSION = 1  # of the prompts and stages: another one asks again


class _Candidate(BaseModel):
    model_config = ConfigDict(extra="forbid")
    shape: Shape
    dropped: tuple[str, ...]
    share: float
    margin: float | None


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid")
    key: str
    name: str
    principle: str
    candidates: tuple[_Candidate, ...]
    model: str
    prompt: str
    failure: str


@dataclass
class Work:
    """The lines of a work file, which is only ever added to."""

    file: Path
    lines: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def load(cls, file: Path) -> Work:
        """The work file, empty if there is none. Raises `DataError` for one that cannot be read."""
        work = cls(file)
        for line in read_text(file).split("\n") if file.exists() else ():
            try:
                data = json.loads(line) if line else None
            except (ValueError, RecursionError):
                continue
            if isinstance(data, dict) and isinstance(data.get("key"), str):
                work.lines[data["key"]] = data
        return work

    def compiled(self, compiler: Compiler, principle: str, name: str) -> Compiled:
        """The candidates for a principle: as they are known, or asked for and then kept."""
        key = _key(
            _VERSION, principle, compiler.vocabulary.digest, compiler.decoder.name, compiler.samples, compiler.method
        )
        known = self._known(key, name)
        if known is not None:
            return known
        found = compiler.compile(principle, name)
        if found.candidates:  # a failure is asked again
            self._add({"key": key, **_told(found)})
        return found

    def wrote(self, file: Path, text: str) -> None:
        """Remember that this text of a file is ours."""
        self._add({"key": f"wrote {file.name}", "hash": sha256(text.encode()).hexdigest()})

    def is_ours(self, file: Path) -> bool:
        """Whether a file is as it was written, so that nobody's changes are lost with it."""
        known = self.lines.get(f"wrote {file.name}", {}).get("hash")
        return known == sha256(read_text(file).encode()).hexdigest()

    def _known(self, key: str, name: str) -> Compiled | None:
        if key not in self.lines:
            return None
        try:
            line = _Line.model_validate(self.lines[key])
        except ValidationError:
            return None
        candidates = tuple(Candidate(c.shape, c.dropped, c.share, c.margin) for c in line.candidates)
        return Compiled(name, line.principle, candidates, line.model, line.prompt, line.failure)

    def _add(self, line: dict[str, Any]) -> None:
        self.lines[line["key"]] = line
        try:
            with self.file.open("a", encoding="utf-8", newline="\n") as stream:
                stream.write(json.dumps(line, ensure_ascii=True) + "\n")
        except OSError as error:
            message = f"the work file cannot be written: {error.strerror}"
            raise DataError("work-unwritable", message, where=str(self.file), help="choose another -o") from error


def _key(*parts: object) -> str:
    return sha256(json.dumps([str(part) for part in parts]).encode()).hexdigest()


def _told(found: Compiled) -> dict[str, Any]:
    candidates = [
        {"shape": c.shape.model_dump(mode="json"), "dropped": c.dropped, "share": c.share, "margin": c.margin}
        for c in found.candidates
    ]
    return {
        "name": found.name,
        "principle": found.principle,
        "candidates": candidates,
        "model": found.model,
        "prompt": found.prompt,
        "failure": found.failure,
    }
