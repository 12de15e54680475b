"""The decision log: JSON lines that replay to the same bytes."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from obviate.kb import BeliefGraph, Pack
from obviate.kb.errors import DataError, ObviateError

if TYPE_CHECKING:
    from obviate.engine.engine import Engine, Snapshot

__all__ = ["DecisionLog", "Replayed", "replay"]

FORMAT = 1
VERBS = ("apply", "intend", "probe", "execute", "finish")


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

    @property
    def writes(self) -> bool:
        """Whether there is a file."""
        return self._file is not None

    def write(self, verb: str, given: Any, result: object) -> None:
        """Log a verb, its input and its result."""
        if self._file is not None:
            shown, said = (one.to_json() if hasattr(one, "to_json") else one for one in (result, given))
            self._line({verb: said, "gives": shown})

    def _line(self, data: Any) -> None:
        if self._file is not None:
            try:
                self._file.write(json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n")
                self._file.flush()
            except (OSError, UnicodeEncodeError) as error:
                raise DataError("log-unwritable", f"cannot write the log: {error}", where=self._file.name) from None

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


def replay(path: Path | str, *packs: Pack, backend: str = "auto") -> Replayed:
    """Feed the inputs of a decision log to a new engine and compare what it logs, byte for byte.

    Raises `DataError` for a file that is no decision log.
    """
    from obviate.engine.engine import Engine

    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "replayed.jsonl"
        numbered = enumerate(_lines(path), 1)
        first = _entry(next(numbered, (1, ""))[1], path, 1)
        if first.get("obviate") != FORMAT:
            raise DataError(
                "log-malformed", f"not a decision log of format {FORMAT}", where=str(path), help="see --log"
            )
        with Engine(*packs, objects=first.get("scene"), backend=backend, log=copy) as engine:
            moments = [engine.snapshot()]
            for number, line in numbered:
                if number > 2:
                    try:
                        _again(engine, _entry(line, path, number), moments)
                    except ObviateError as error:
                        where = f"{path}:{number}"
                        raise DataError("log-malformed", error.message, where=where, help=error.help) from None
                    moments.append(engine.snapshot())
        count = 0
        for count, (old, new) in enumerate(zip_longest(_lines(path), _lines(copy), fillvalue=""), 1):
            if old != new:
                return Replayed(count, f"line {count}: {old or 'nothing'} became {new or 'nothing'}")
        return Replayed(count)


def _lines(path: Path | str) -> Iterator[str]:
    """The lines of a log, one at a time, however long it is; only a newline ends one."""
    if not Path(path).is_file():
        raise DataError("file-missing", "there is no such file", where=str(path), help="name a decision log")
    try:
        with Path(path).open(encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith("\n"):
                    where = f"{path}:{number}"
                    raise DataError("log-malformed", "the last line is cut off", where=where, help="remove it")
                yield line[:-1]
    except OSError as error:
        raise DataError(
            "file-missing", f"cannot read the log: {error.strerror}", where=str(path), help="name a log"
        ) from None
    except UnicodeDecodeError as error:
        raise DataError("file-encoding", f"byte {error.start} is not UTF-8", where=str(path)) from None


def _again(engine: Engine, entry: dict[str, Any], moments: list[Snapshot]) -> None:
    """Do what a line of a log says. `moments` are the engine's states after each line so far."""
    verb, given = next(iter(entry.items()), ("", None))
    if verb in VERBS:
        getattr(engine, verb)(given)
    elif verb == "restore" and isinstance(given, int) and 0 <= given < len(moments):
        engine.restore(moments[given])
    else:
        raise DataError("log-malformed", f"{verb!r} is no verb that can be replayed", help=f"verbs: {', '.join(VERBS)}")


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
