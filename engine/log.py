"""The decision log: JSON lines that replay to the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

from obviate.kb import BeliefGraph, Pack

__all__ = ["DecisionLog"]

FORMAT = 1
Result = TypeVar("Result")


class DecisionLog:
    """Writes one line for each verb: its input, and what it changed. Without a path it writes nothing.

    The first line names the packs and the vocabulary by their hashes and holds the initial scene. Lines carry
    no clock and no backend, so the same inputs give the same bytes. Each line is flushed when it is written.
    """

    def __init__(self, path: Path | str | None, packs: Sequence[Pack], graph: BeliefGraph) -> None:
        self._file: IO[str] | None = None
        if path is not None:
            self._file = Path(path).open("w", encoding="utf-8", newline="\n")  # noqa: SIM115
            self._line(header(packs, graph))

    def write(self, verb: str, given: Any, result: Result) -> Result:
        """Log a verb; returns `result`."""
        if self._file is not None:
            shown = result.to_json() if hasattr(result, "to_json") else result
            self._line({verb: given, "gives": shown})
        return result

    def _line(self, data: Any) -> None:
        if self._file is not None:
            self._file.write(json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n")
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def header(packs: Iterable[Pack], graph: BeliefGraph) -> dict[str, Any]:
    """The first line of a log."""
    return {
        "obviate": FORMAT,
        "packs": {pack.name: pack.digest for pack in packs},
        "vocabulary": graph.vocabulary.digest,
        "scene": BeliefGraph(graph.vocabulary).difference(graph).to_json(),
    }
