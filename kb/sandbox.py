"""Work on strangers' programs in a process of its own, which is stopped when it takes too long or too much.

Grounding cannot be interrupted, and may take all memory: a pack never does so in the host process.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from importlib import import_module
from typing import Any

from obviate.kb.errors import PackError

__all__ = ["run_limited"]


def run_limited(target: str, *args: Any, seconds: float, megabytes: int) -> Any:
    """Call the function `target`, as ``module:name``, in a new process; returns what it returns, as JSON.

    Raises `PackError` (``too-costly``) when it uses more time or memory than allowed, or ends the process.
    """
    command = [sys.executable, "-c", _MAIN, json.dumps(sys.path), target, str(seconds), str(megabytes)]
    try:
        done = subprocess.run(command, input=pickle.dumps(args), capture_output=True, timeout=seconds + 5, check=False)
    except subprocess.TimeoutExpired:
        raise _costly(f"over {seconds:g} s") from None
    if done.returncode == -_ALARM:
        raise _costly(f"over {seconds:g} s")
    if done.returncode != 0:
        memory = done.returncode == _OVER_MEMORY or b"MemoryError" in done.stderr or b"bad_alloc" in done.stderr
        raise _costly(f"over {megabytes} MB" if memory else f"so much that its process ended ({done.returncode})")
    return json.loads(done.stdout)


_MAIN = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from obviate.kb.sandbox import main; main()"
_ALARM = 14  # SIGALRM, whose default action ends the process even within clingo
_OVER_MEMORY = 125


def _costly(what: str) -> PackError:
    return PackError(
        "too-costly",
        f"grounding the pack took {what}",
        help="bind the variables of each rule by what it is about, and count instead of pairing",
    )


def main() -> None:
    """The child process: arguments pickled on standard input, the result as JSON on standard output."""
    _, _, target, seconds, megabytes = sys.argv
    _limit(float(seconds), int(megabytes))
    module, name = target.split(":")
    args = pickle.load(sys.stdin.buffer)
    try:
        result = getattr(import_module(module), name)(*args)
    except MemoryError:
        sys.exit(_OVER_MEMORY)
    json.dump(result, sys.stdout)


def _limit(seconds: float, megabytes: int) -> None:
    """Bound this process, where the system can."""
    try:
        import resource
    except ImportError:  # Windows: the parent's time-out remains
        return
    import signal

    size = megabytes * 1_000_000
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.setitimer(signal.ITIMER_REAL, seconds)
