"""Backends: ways to draw the same conclusions from a belief graph (DESIGN: backends)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Protocol

from obviate.engine.standing import Instance, Standing
from obviate.kb import Action, BeliefGraph, Pack
from obviate.kb.errors import DisagreementError, LifecycleError, nearest
from obviate.kb.terms import Atom, Fun, binding_of, term_of_binding

__all__ = [
    "BACKENDS",
    "KERNEL",
    "OUTPUTS",
    "Backend",
    "Capability",
    "Conclusions",
    "Query",
    "backend",
]

KERNEL = files("obviate.kb").joinpath("kernel/jit.lp").read_text(encoding="utf-8")
_NAMES = ("trigger", "risk", "opens", "passed", "failed", "abandoned")
OUTPUTS = frozenset((name, 2, True) for name in _NAMES)


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked of a graph: the intent or executed action, and what stood before.

    `doubted` are open records whose target may hold already: a fact that they stood on was forgotten.
    """

    intent: Action | None = None
    executed: Action | None = None
    standing: Standing = field(default_factory=Standing)
    doubted: frozenset[Instance] = frozenset()

    def facts(self) -> Iterable[Atom]:
        """The query as input atoms of the kernel."""
        if self.intent is not None:
            yield Atom("intent", (self.intent.term,))
        if self.executed is not None:
            yield Atom("executed", (self.executed.term,))
        for instance in self.standing.open:
            yield from self.record_facts(instance)
        for rule, binding in self.standing.spent:
            yield Atom("spent", (Fun(rule), term_of_binding(binding)))

    def record_facts(self, instance: Instance) -> Iterable[Atom]:
        """That the record of an instance is open, and how many actions it has been so."""
        name, binding = Fun(instance[0]), term_of_binding(instance[1])
        yield Atom("was_pending", (name, binding))
        yield Atom("age", (name, binding, self.standing.actions - self.standing.open.born[instance]))


@dataclass(frozen=True, slots=True)
class Conclusions:
    """The kernel's answers, each a set of instances (see ``kb/kernel/jit.lp``): the triggers that appeared and vanished
    since what stood before, and of the rest all that is true.
    """

    appeared: frozenset[Instance] = frozenset()
    vanished: frozenset[Instance] = frozenset()
    opens: frozenset[Instance] = frozenset()
    passed: frozenset[Instance] = frozenset()
    risk: frozenset[Instance] = frozenset()
    failed: frozenset[Instance] = frozenset()
    abandoned: frozenset[Instance] = frozenset()

    @classmethod
    def of(cls, atoms: Iterable[Atom], standing: Standing) -> Conclusions:
        """The conclusions among `atoms`."""
        found: dict[str, set[Instance]] = {name: set() for name in _NAMES}
        for atom in atoms:
            if atom.name in found:
                found[atom.name].add((str(atom.args[0]), binding_of(atom.args[1])))
        triggers = found.pop("trigger")
        return cls(
            appeared=frozenset(i for i in triggers if i not in standing),
            vanished=frozenset(i for i in standing.triggers() if i not in triggers),
            **{name: frozenset(instances) for name, instances in found.items()},
        )

    def renamed(self, rule: Callable[[str], str]) -> Conclusions:
        """The same of rules that have another name."""
        return Conclusions(*(frozenset((rule(r), b) for r, b in getattr(self, name)) for name in Conclusions.__slots__))

    def __or__(self, other: Conclusions) -> Conclusions:
        return Conclusions(*(getattr(self, name) | getattr(other, name) for name in Conclusions.__slots__))


@dataclass(frozen=True, slots=True)
class Capability:
    """How a rule is followed: by which backend, and how or why so."""

    rule: str
    backend: str
    how: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.backend}, {self.how}"


class Backend(Protocol):
    """Draws conclusions. Whatever a backend keeps between calls never changes an answer."""

    name: str

    def capabilities(self) -> tuple[Capability, ...]:
        """How each rule of the pack is followed, in the order of the pack."""

    @property
    def symbols(self) -> int:
        """The names of objects that clingo was given so far, and never frees; an upper bound."""

    def conclude(self, graph: BeliefGraph, query: Query) -> Conclusions:
        """The conclusions of the pack and the kernel on `graph` for `query`."""

    def close(self) -> None:
        """Free what the backend holds."""


BACKENDS = ("auto", "sliced", "multishot", "oneshot", "crosscheck")


def backend(name: str, pack: Pack) -> Backend:
    """The backend called `name` for a pack. Raises `LifecycleError` (``unknown-backend``)."""
    from obviate.engine.auto import Auto
    from obviate.engine.multishot import MultiShot
    from obviate.engine.oneshot import OneShot
    from obviate.engine.sliced import Sliced

    match name:
        case "auto":
            return Auto(pack)
        case "multishot":
            return MultiShot(pack)
        case "sliced":
            return Sliced(pack)
        case "oneshot":
            return OneShot(pack)
        case "crosscheck":
            return CrossCheck(OneShot(pack), Sliced(pack), MultiShot(pack))
    raise LifecycleError("unknown-backend", f"there is no backend {name!r}", help=nearest(name, BACKENDS))


class CrossCheck:
    """Backends side by side: every conclusion of the others is compared with the first's."""

    name = "crosscheck"

    def __init__(self, first: Backend, *others: Backend) -> None:
        self._first, self._others = first, others

    def capabilities(self) -> tuple[Capability, ...]:
        return self._first.capabilities()

    @property
    def symbols(self) -> int:
        return sum(part.symbols for part in (self._first, *self._others))

    def conclude(self, graph: BeliefGraph, query: Query) -> Conclusions:
        """The conclusions of all. Raises `DisagreementError` with the first difference."""
        ours = self._first.conclude(graph, query)
        for other in self._others:
            self._compare(ours, other.conclude(graph, query), other.name)
        return ours

    def _compare(self, ours: Conclusions, theirs: Conclusions, other: str) -> None:
        for name in Conclusions.__slots__:
            only = getattr(ours, name) ^ getattr(theirs, name)
            if only:
                rule, binding = min(only)
                who, whom = self._first.name, other
                if min(only) not in getattr(ours, name):
                    who, whom = whom, who
                raise DisagreementError(
                    "backends-disagree",
                    f"{who} concludes {name} of {rule}({', '.join(binding)}), and {whom} does not",
                    help="this is a bug in Obviate: please report it with the decision log",
                )

    def close(self) -> None:
        for part in (self._first, *self._others):
            part.close()
