"""Backends: ways to draw the same conclusions from a belief graph (DESIGN: backends)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from typing import Protocol

from obviate.kb import Action, BeliefGraph, Pack
from obviate.kb.errors import DisagreementError, LifecycleError, nearest
from obviate.kb.terms import Atom, Fun, binding_of, term_of_binding

__all__ = [
    "BACKENDS",
    "KERNEL",
    "OUTPUTS",
    "Backend",
    "Binding",
    "Conclusions",
    "Instance",
    "Query",
    "backend",
]

KERNEL = files("obviate.kb").joinpath("kernel/jit.lp").read_text(encoding="utf-8")
_NAMES = ("trigger", "risk", "opens", "passed", "failed", "abandoned")
OUTPUTS = frozenset((name, 2, True) for name in _NAMES)

Binding = tuple[str, ...]
Instance = tuple[str, Binding]  # a rule and the objects that it is bound to


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked of a graph: the intent or executed action, and the engine's bookkeeping.

    `pending` are the open records with the number of actions executed since each opened; `spent` the temporal
    instances that failed and whose trigger has been true ever since.
    """

    intent: Action | None = None
    executed: Action | None = None
    pending: tuple[tuple[Instance, int], ...] = ()
    spent: frozenset[Instance] = frozenset()

    def facts(self) -> Iterable[Atom]:
        """The query as input atoms of the kernel."""
        if self.intent is not None:
            yield Atom("intent", (self.intent.term,))
        if self.executed is not None:
            yield Atom("executed", (self.executed.term,))
        for (rule, binding), age in self.pending:
            yield Atom("was_pending", (Fun(rule), term_of_binding(binding)))
            yield Atom("age", (Fun(rule), term_of_binding(binding), age))
        for rule, binding in self.spent:
            yield Atom("spent", (Fun(rule), term_of_binding(binding)))


@dataclass(frozen=True, slots=True)
class Conclusions:
    """The kernel's answers, each a set of instances; see ``kb/kernel/jit.lp``."""

    trigger: frozenset[Instance] = frozenset()
    risk: frozenset[Instance] = frozenset()
    opens: frozenset[Instance] = frozenset()
    passed: frozenset[Instance] = frozenset()
    failed: frozenset[Instance] = frozenset()
    abandoned: frozenset[Instance] = frozenset()

    @classmethod
    def of(cls, atoms: Iterable[Atom]) -> Conclusions:
        """The conclusions among `atoms`."""
        found: dict[str, set[Instance]] = {name: set() for name in _NAMES}
        for atom in atoms:
            if atom.name in found:
                found[atom.name].add((str(atom.args[0]), binding_of(atom.args[1])))
        return cls(**{name: frozenset(instances) for name, instances in found.items()})


class Backend(Protocol):
    """Draws conclusions. Whatever a backend keeps between calls never changes an answer."""

    name: str

    def conclude(self, graph: BeliefGraph, query: Query) -> Conclusions:
        """The conclusions of the pack and the kernel on `graph` for `query`."""

    def close(self) -> None:
        """Free what the backend holds."""


BACKENDS = ("multishot", "oneshot", "crosscheck")


def backend(name: str, pack: Pack) -> Backend:
    """The backend called `name` for a pack. Raises `LifecycleError` (``unknown-backend``)."""
    from obviate.engine.multishot import MultiShot
    from obviate.engine.oneshot import OneShot

    match name:
        case "multishot":
            return MultiShot(pack)
        case "oneshot":
            return OneShot(pack)
        case "crosscheck":
            return CrossCheck(MultiShot(pack), OneShot(pack))
    raise LifecycleError("unknown-backend", f"there is no backend {name!r}", help=nearest(name, BACKENDS))


class CrossCheck:
    """Two backends side by side: every conclusion of the first is compared with the second's."""

    name = "crosscheck"

    def __init__(self, first: Backend, second: Backend) -> None:
        self._first, self._second = first, second

    def conclude(self, graph: BeliefGraph, query: Query) -> Conclusions:
        """The conclusions of both. Raises `DisagreementError` with the first difference."""
        ours, theirs = self._first.conclude(graph, query), self._second.conclude(graph, query)
        for name in _NAMES:
            only = getattr(ours, name) ^ getattr(theirs, name)
            if only:
                rule, binding = min(only)
                who = self._first.name if min(only) in getattr(ours, name) else self._second.name
                raise DisagreementError(
                    "backends-disagree",
                    f"only {who} concludes {name} of {rule}({', '.join(binding)})",
                    help="this is a bug in Obviate: please report it with the decision log",
                )
        return ours

    def close(self) -> None:
        self._first.close()
        self._second.close()
