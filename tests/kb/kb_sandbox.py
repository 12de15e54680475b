"""A child process that checks, loads and grounds packs: a text that kills the interpreter then fails a test, not the
whole run.
"""

from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection
from typing import Any

from obviate.kb import Pack, Vocabulary, asp, household
from obviate.kb.errors import ObviateError


class Sandbox:
    """Loads texts in a child, which is started again after it died or hung."""

    def __init__(self) -> None:
        self._child: Any = None
        self._pipe: Any = None

    def load(self, text: str, consts: dict[str, str] | None = None, *, seconds: float = 10.0) -> str:
        """``loaded``, ``refused``, ``raised SomeError``, ``died`` or ``hung``; ``contradicted`` if checking and loading
        say different things of a text, or what loads does not ground on beliefs.
        """
        if self._child is None:
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._child = context.Process(target=_serve, args=(theirs,), daemon=True)
            self._child.start()
            theirs.close()
            self._pipe.recv()
        try:
            self._pipe.send((text, consts or {}))
            outcome = str(self._pipe.recv()) if self._pipe.poll(seconds) else "hung"
        except (EOFError, ConnectionError):
            outcome = "died"
        if outcome in ("hung", "died"):
            self.close()
        return outcome

    def close(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.join()
            self._child.close()
            self._pipe.close()
            self._child = None


def _serve(pipe: Connection) -> None:
    vocabulary = household.vocabulary()
    pipe.send("ready")
    while True:
        text, consts = pipe.recv()
        try:
            outcome = _outcome(text, vocabulary, consts)
        except BaseException as error:
            outcome = f"raised {type(error).__name__}"
        pipe.send(outcome)


_BELIEFS = """
    object("a"). tag("a",soil). state("a",dusty). -state("a",wet). edge(ontop,"a","b"). moved("a").
    object("b"). tag("b",heavy). state("b",open). -state("b",dusty). edge(inside,"a","b").
    intent(open("a")). executed(open("b")). pending(a,"a"). pending(b,("a","b")).
"""


def _outcome(text: str, vocabulary: Vocabulary, consts: dict[str, str]) -> str:
    problems = Pack.problems({"pack.lp": text}, vocabulary=vocabulary, consts=consts)
    errors = [problem for problem in problems if problem.severity == "error"]
    try:
        pack = Pack.of({"pack.lp": text}, vocabulary=vocabulary, consts=consts)
    except ObviateError:
        return "refused" if errors else "contradicted"
    if errors:
        return "contradicted"
    try:
        asp.evaluate([pack.program.text, _BELIEFS], (), [("hazard", 2, True)], pack.consts)
    except ObviateError:
        return "contradicted"
    return "loaded"
