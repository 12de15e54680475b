"""The decision log: JSON lines that replay to the same bytes."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

from obviate.kb import BeliefGraph, Pack
from obviate.kb.errors import DataError, ObviateError
from obviate.kb.files import read_text

__all__ = ["DecisionLog", "Replayed", "replay"]

FORMAT = 1
VERBS = ("apply", "intend", "probe", "execute", "finish")
Result = TypeVar("Result")


class DecisionLog:
    """Writes one line for each verb: its input, and what it changed. Without a path it writes nothing.

    The first line names the packs and the vocabulary by their hashes and holds the initial scene. Lines carry
    no clock and no backend, so the same inputs give the same bytes. Each line is flushed when it is written.
    """

    def __init__(self, path: Path | str | None, packs: Sequence[Pack], graph: BeliefGraph) -> None:
        self._file: IO[str] | None = None
        if path is not None:
            try:
                self._file = Path(path).open("w", encoding="utf-8", newline="\n")  # noqa: SIM115
            except OSError as error:
                raise DataError("log-unwritable", f"cannot write the log: {error}", where=str(path)) from None
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


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of replaying a log: its number of lines, and the first difference, if any."""

    lines: int
    difference: str = ""


def replay(path: Path | str, *packs: Pack, backend: str = "multishot") -> Replayed:
    """Feed the inputs of a decision log to a new engine and compare what it logs, byte for byte.

    Raises `DataError` for a file that is no decision log.
    """
    from obviate.engine.engine import Engine

    lines = read_text(path).splitlines(keepends=True)
    first = _entry(lines[0] if lines else "", path, 1)
    if first.get("obviate") != FORMAT:
        raise DataError("log-malformed", f"not a decision log of format {FORMAT}", where=str(path))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "replayed.jsonl"
        with Engine(*packs, objects=first.get("scene"), backend=backend, log=copy) as engine:
            for number, line in enumerate(lines[2:], 3):
                verb, given = next(iter(_entry(line, path, number).items()), ("", None))
                if verb not in VERBS:
                    raise DataError("log-malformed", f"there is no verb {verb!r}", where=f"{path}:{number}")
                try:
                    getattr(engine, verb)(given)
                except ObviateError as error:
                    raise DataError(
                        "log-malformed", f"{verb}: {error.message}", where=f"{path}:{number}", help=error.help
                    ) from None
        again = read_text(copy).splitlines(keepends=True)
    for number, (old, new) in enumerate(zip(lines, again, strict=False), 1):
        if old != new:
            return Replayed(len(lines), f"line {number}: {old.strip()} became {new.strip()}")
    return Replayed(len(lines))


def _entry(line: str, path: Path | str, number: int) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except ValueError:
        entry = None
    if not isinstance(entry, dict):
        raise DataError("log-malformed", "expected a JSON object", where=f"{path}:{number}", help="is it truncated?")
    return entry


def header(packs: Iterable[Pack], graph: BeliefGraph) -> dict[str, Any]:
    """The first line of a log."""
    return {
        "obviate": FORMAT,
        "packs": {pack.name: pack.digest for pack in packs},
        "vocabulary": graph.vocabulary.digest,
        "scene": BeliefGraph(graph.vocabulary).difference(graph).to_json(),
    }
