"""Work on strangers' programs in a process of its own, which is stopped when it takes too long or too much.

Grounding cannot be interrupted, and may take all memory: a pack never does so in the host process.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from obviate.kb.errors import ObviateError, PackError

__all__ = ["run_limited"]

_MAIN = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from obviate.kb.sandbox import main; main()"
_SPENT, _LATE = 27, 14  # SIGPROF and SIGALRM, whose default action ends the process even within clingo
_PATIENCE = 10  # how much longer than its processor time a process may take, for the sake of a busy machine
_OVER_MEMORY = 125


def run_limited(target: str, *args: Any, seconds: float, megabytes: int) -> Any:
    """Call the function `target`, as ``module:name``, in another process; returns what it returns, as JSON.

    Raises `PackError` (``too-costly``) when it uses more memory or `seconds` of processor time than allowed, takes ten
    times as long, or ends the process, and with the code of an `ObviateError` that the function raises.
    """
    run = _forked if _alone() else _spawned
    code, output = run(target, args, seconds, megabytes)
    if code == 0:
        result, refused = json.loads(output)
        if refused:
            error = _Refused(*refused)
            raise PackError(error.code, error.message, help=error.help)
        return result
    what = {-_SPENT: f"over {seconds:g} s", -_LATE: f"over {seconds:g} s", _OVER_MEMORY: f"over {megabytes} MB"}
    raise PackError(
        "too-costly",
        f"grounding the pack took {what.get(code, f'so much that its process ended ({code})')}",
        help="bind the variables of each rule by what it is about, and count instead of pairing",
    )


class _Refused(NamedTuple):
    """An error as it comes from another process."""

    code: str
    message: str
    help: str


def _alone() -> bool:
    """Whether this process has a single thread, so that a fork of it can run on; told on Linux only."""
    tasks = Path("/proc/self/task")
    return tasks.is_dir() and len(list(tasks.iterdir())) == 1


def _forked(target: str, args: Sequence[Any], seconds: float, megabytes: int) -> tuple[int, bytes]:
    """In a fork, which starts at once with everything imported."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            os._exit(_work(target, args, seconds, megabytes, writing))
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        output = stream.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), output


def _spawned(target: str, args: Sequence[Any], seconds: float, megabytes: int) -> tuple[int, bytes]:
    """In a new interpreter."""
    command = [sys.executable, "-c", _MAIN, json.dumps(sys.path)]
    task = pickle.dumps((target, args, seconds, megabytes))
    late = _PATIENCE * seconds + 10
    try:
        done = subprocess.run(command, input=task, stdout=subprocess.PIPE, timeout=late, check=False)
    except subprocess.TimeoutExpired:  # where a process cannot set itself an alarm
        return -_LATE, b""
    return done.returncode, done.stdout


def main() -> None:
    """The new interpreter: the task pickled on standard input, the result on standard output."""
    target, args, seconds, megabytes = pickle.load(sys.stdin.buffer)
    sys.exit(_work(target, args, seconds, megabytes, sys.stdout.fileno()))


def _work(target: str, args: Sequence[Any], seconds: float, megabytes: int, output: int) -> int:
    """Do a task within its limits and write the result as JSON; returns the exit code."""
    module, name = target.split(":")
    try:
        _limit(seconds, megabytes)
        result = json.dumps((getattr(import_module(module), name)(*args), None)).encode()
    except ObviateError as error:
        result = json.dumps((None, (error.code, error.message, error.help))).encode()
    except Exception as error:
        if isinstance(error, MemoryError) or "bad_alloc" in str(error):
            return _OVER_MEMORY
        traceback.print_exc()
        return 1
    with os.fdopen(output, "wb") as stream:
        stream.write(result)
    return 0


def _limit(seconds: float, megabytes: int) -> None:
    """Bound what this process may use beyond what it has, where the system can."""
    try:
        import resource
    except ImportError:  # Windows: the parent's time-out remains
        return
    import signal

    # What a pack costs is told by processor time: by the clock, the same pack would be refused on a busy machine only.
    for timer, ends, limit in (
        (signal.ITIMER_PROF, signal.SIGPROF, seconds),
        (signal.ITIMER_REAL, signal.SIGALRM, _PATIENCE * seconds),
    ):
        signal.signal(ends, signal.SIG_DFL)
        signal.setitimer(timer, limit)
    sizes = Path("/proc/self/statm")
    used = int(sizes.read_text().split()[0]) * resource.getpagesize() if sizes.exists() else 0
    size = used + megabytes * 1_000_000
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
