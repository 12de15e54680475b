"""The household rules in SWI-Prolog with incremental tabling, through pyswip; the rules are `household.pl`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from obviate.adapters.step.peer import Changed
from obviate.engine.standing import Instance
from obviate.kb import Action, BeliefGraph, Patch
from obviate.kb.errors import DataError

__all__ = ["Tabled"]


class Tabled:
    """Follows a graph as Prolog facts; see `Peer`. One at a time: a process has a single Prolog.

    The rules are written as in the pack and share a table; `tuned`, each has its own and goals in an expert's order.
    Raises `DataError` (``peer-missing``) without pyswip or SWI-Prolog.
    """

    def __init__(self, graph: BeliefGraph, *, tuned: bool = False) -> None:
        self._prolog = _prolog()
        self._symmetric = graph.vocabulary.symmetric
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "facts.pl"
            file.write_text("".join(f"{fact}.\n" for fact in self._facts(graph)), encoding="utf-8")
            self._ask(f"start({'tuned' if tuned else 'plain'},{_quote(str(file))})")
        (found,) = self._ask("hazards(Now)")
        self._found = frozenset(map(_instance, found["Now"]))

    def step(self, patch: Patch) -> Changed:
        """Take an observation; what changed."""
        removed = [f for e in patch.remove_edges for f in self._edges(e.pred, e.src, e.dst)]
        added = [f for e in patch.add_edges for f in self._edges(e.pred, e.src, e.dst)]
        for update in patch.update_node_states:
            removed += [_state(update.node_id, state) for state in (*update.remove, *update.forget)]
            added += [_state(update.node_id, state) for state in update.add]
        (found,) = self._ask(f"step([{','.join(removed)}],[{','.join(added)}],Appeared,Vanished)")
        appeared, vanished = (frozenset(map(_instance, found[key])) for key in ("Appeared", "Vanished"))
        self._found = (self._found - vanished) | appeared
        return appeared, vanished

    def triggers(self) -> frozenset[Instance]:
        """The temporal triggers that are true now."""
        return self._found

    def risks(self, action: Action) -> set[Instance]:
        """The situational triggers of an intent."""
        (found,) = self._ask(f"risks({action.skill}({','.join(map(_quote, action.args))}),Risks)")
        return set(map(_instance, found["Risks"]))

    def close(self) -> None:
        """The facts stay until the next one starts."""

    def _ask(self, goal: str) -> list[dict[str, Any]]:
        return list(self._prolog.query(goal))  # all of it: an open query at the end of a process crashes it

    def _facts(self, graph: BeliefGraph) -> Iterator[str]:
        for name, node in graph.nodes.items():
            yield from (f"tag({_quote(name)},{tag})" for tag in node.tags)
            yield from (_state(name, state) for state in node.states)
            if node.moved:
                yield f"moved({_quote(name)})"
        for edge in graph.edges():
            yield from self._edges(edge.pred, edge.src, edge.dst)

    def _edges(self, pred: str, src: str, dst: str) -> Iterator[str]:
        yield f"edge({pred},{_quote(src)},{_quote(dst)})"
        if pred in self._symmetric:
            yield f"edge({pred},{_quote(dst)},{_quote(src)})"


def _prolog() -> Any:
    """SWI-Prolog with the rules loaded."""
    try:
        import pyswip  # noqa: F401
    except Exception as error:  # without SWI-Prolog, pyswip raises whatever its search ran into
        message = f"SWI-Prolog cannot be used: {error or type(error).__name__}"
        help = "apt-get install swi-prolog-nox, then pip install 'obviate[prolog]'"
        raise DataError("peer-missing", message, help=help) from None
    return _loaded()


@cache
def _loaded() -> Any:
    from pyswip import Prolog

    prolog = Prolog()
    with as_file(files("obviate.adapters.step") / "household.pl") as rules:
        prolog.consult(str(rules))
    return prolog


def _state(name: str, state: str) -> str:
    return f"state({_quote(name)},{state})"


def _quote(name: str) -> str:
    """An atom of Prolog."""
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def _instance(found: Iterable[str]) -> Instance:
    rule, *binding = found
    return str(rule), tuple(map(str, binding))
