"""Workers in processes of their own: a job that hangs or dies costs itself and no other."""

from __future__ import annotations

import multiprocessing
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Generic, TypeVar

__all__ = ["Lost", "work_off"]

Job = TypeVar("Job")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Lost:
    """A job without a result, and why: it ``hung`` or its process died (``raised``)."""

    verdict: str
    detail: str


@dataclass
class _Worker(Generic[Job, Result]):
    process: multiprocessing.Process
    pipe: Connection
    job: Job
    end: float


def work_off(
    work: Callable[[Job], Result], jobs: Iterable[Job], *, workers: int, seconds: float
) -> Iterator[tuple[Job, Result | Lost]]:
    """The results as they come, each job having `seconds`. What `work` raises is a `Lost` result as well."""
    left = deque(jobs)
    busy: dict[Connection, _Worker[Job, Result]] = {}
    idle: list[tuple[multiprocessing.Process, Connection]] = []
    try:
        while left or busy:
            while left and len(busy) < max(1, workers):
                process, pipe = idle.pop() if idle else _hired(work)
                job = left.popleft()
                pipe.send(job)
                busy[pipe] = _Worker(process, pipe, job, time.monotonic() + seconds)
            first = min(one.end for one in busy.values())
            ready = wait(list(busy), timeout=max(0.0, first - time.monotonic()))
            for pipe in [one for one in busy if one in ready]:
                one = busy.pop(pipe)
                try:
                    yield one.job, pipe.recv()
                    idle.append((one.process, pipe))
                except (EOFError, OSError):
                    one.process.join()
                    yield one.job, Lost("raised", f"its process ended with {one.process.exitcode}")
            for one in [one for one in busy.values() if time.monotonic() >= one.end]:
                del busy[one.pipe]
                _dismiss(one.process, one.pipe)
                yield one.job, Lost("hung", f"no result in {seconds:g} s")
    finally:
        for process, pipe in [*idle, *((one.process, one.pipe) for one in busy.values())]:
            _dismiss(process, pipe)


def _hired(work: Callable[[Job], Result]) -> tuple[multiprocessing.Process, Connection]:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=_serve, args=(work, theirs, ours), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def _serve(work: Callable[[Job], Result], pipe: Connection, other: Connection) -> None:
    other.close()
    while True:
        try:
            job = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            result: Result | Lost = work(job)
        except Exception as error:  # a stranger's planner may raise anything
            result = Lost("raised", f"{type(error).__name__}: {error}")
        pipe.send(result)


def _dismiss(process: multiprocessing.Process, pipe: Connection) -> None:
    pipe.close()
    process.kill()
    process.join()
