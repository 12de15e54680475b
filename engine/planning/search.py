"""The search for a plan: horizon by horizon, until no longer plan can be better."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from obviate.engine.planning.domain import Domain
from obviate.kb import Action, asp
from obviate.kb.errors import PackError
from obviate.kb.terms import Atom, Fun, binding_of, term_of_binding

__all__ = ["Costs", "Limits", "Mind", "Plan", "search"]

_EFFECTS = {"world_becomes": 3, "world_ceases": 3, "world_links": 4, "gone": 4}
_OUTPUTS = [
    ("do", 2, True),
    ("minded", 3, True),
    ("lies", 2, True),
    ("doubtful", 2, True),
    *((n, k, True) for n, k in _EFFECTS.items()),
]
_FIRST, _STRIDE = 3, 3
_LONG = 12  # steps that are enough for most plans
_USUAL, _STEADY = "usc,stratify", "bb,lin"  # the latter finds plans where the former finds none in its time
# For a plan that is good enough: whether it may leave nothing, by which strategy, in which share of the time left.
_ATTEMPTS = ((True, _USUAL, 0.15), (False, _USUAL, 0.4), (False, _STEADY, 1.0))


@dataclass(frozen=True, slots=True)
class Costs:
    """What actions cost: `action` each, unless `given` has a price for its skill or for itself, and `disturbance` more
    where it moves something that the goal does not name.
    """

    action: int = 10
    disturbance: int = 25
    given: Mapping[str, int] = field(default_factory=dict)

    def of(self, action: Action) -> int:
        """The price of an action."""
        return self.given.get(str(action), self.given.get(action.skill, self.action))


@dataclass(frozen=True, slots=True)
class Mind:
    """Which rules are obligations: advisory ones too, if it would `heed` them; a hazard without its intent, if they
    hold `always`; only instances that it was `told` (rule and binding), or only rules that are `known`, if not None.
    """

    heed: bool = False
    always: bool = False
    told: frozenset[tuple[str, tuple[str, ...]]] | None = None
    known: frozenset[str] | None = None

    def facts(self) -> Iterator[Atom]:
        """As facts of ``plan.lp``."""
        yield from (Atom(name) for name in ("heed", "always") if getattr(self, name))
        if self.told is None and self.known is None:
            yield Atom("cautious")
            return
        yield Atom("only_told")
        yield from (Atom("known", (Fun(rule),)) for rule in sorted(self.known or ()))
        for rule, binding in sorted(self.told or ()):
            yield Atom("told", (Fun(rule), term_of_binding(binding)))


@dataclass(frozen=True, slots=True)
class Limits:
    """Where the search ends: plans of `steps` actions, `seconds` in all, and `patience` more steps than the best plan
    found, where that waives something. In a scene of more than `objects`, only what may matter is looked at, and a
    plan is improved for `improving` seconds at most.
    """

    steps: int = 24
    seconds: float = 10.0
    patience: int = 6
    objects: int = 25
    improving: float = 0.7


@dataclass(frozen=True, slots=True)
class Plan:
    """Actions that reach the goal, and what they change: the belief atoms added and removed by each.

    `waived` are the rule instances that it leaves, as ``rule(objects)``, of them `advised` those of advisory rules.
    `guessed` are the beliefs about hidden things that it takes for granted. It is `proven` if no plan can be better.
    """

    actions: tuple[Action, ...]
    waived: tuple[str, ...]
    advised: tuple[str, ...]
    cost: int
    effects: tuple[tuple[frozenset[Atom], frozenset[Atom]], ...] = field(repr=False)
    guessed: frozenset[Atom] = frozenset()
    proven: bool = True


def search(
    domain: Domain,
    goal: str,
    facts: Iterable[Atom],
    actions: Sequence[Action],
    *,
    wanted: Collection[str],
    mind: Mind | None = None,
    costs: Costs | None = None,
    limits: Limits | None = None,
    roughly: bool = False,
) -> Plan | None:
    """The best plan: fewest obligations waived, then cheapest; None if there is none of at most `limits.steps` actions.
    Raises `PackError` (``search-timeout``) if none was found in its time.

    `mind` says which rules are obligations. With `roughly`, the first plan is improved as long as `limits` allow.
    """
    mind, costs, limits = mind or Mind(), costs or Costs(), limits or Limits()
    least = min(map(costs.of, actions), default=costs.action)
    given = [*facts, *_offers(domain, actions, costs, least)]
    given += mind.facts() if domain.pack else ()
    growing = asp.Growing(domain.program(goal, given), _OUTPUTS, domain.consts)
    try:
        return _Search(growing, domain, limits, least, costs, wanted, roughly).plan()
    finally:
        growing.close()


@dataclass
class _Search:
    """First for a plan that leaves no obligation; then, if none is in sight, for one that leaves the fewest.

    In this order, since the fewest that a short plan leaves are hard to find, and no use if a longer one leaves none.
    """

    growing: asp.Growing
    domain: Domain
    limits: Limits
    least: int
    costs: Costs
    wanted: Collection[str]
    roughly: bool
    _ground: int = -1  # up to this step
    _end: float = 0.0

    def plan(self) -> Plan | None:
        """The best plan. Raises `PackError` (``search-timeout``)."""
        start, limits = time.monotonic(), self.limits
        self._end = start + (limits.improving if self.roughly else limits.seconds / 2)
        best, reached, late = self._without_waiver()
        self._end = start + limits.seconds
        if best is not None:
            return replace(best, proven=False) if late or self.roughly else best
        if late:
            return self._sketch()
        return self._solved(range(self._ground + 1), strict=False) if reached else None

    def _without_waiver(self) -> tuple[Plan | None, bool, bool]:
        """The best plan that leaves no obligation; whether there are plans that do; whether time ran out."""
        best, most, reached = None, self.limits.steps, False
        for window in _windows(self.limits.steps):
            window = range(window[0], min(window[-1], most) + 1)
            if not window:
                break
            try:
                better = self._solved(window, strict=True)
                if better is None and not reached and best is None and self._solved(window, strict=False, first=True):
                    reached, most = True, min(most, window[-1] + self.limits.patience)
            except PackError as error:
                if error.code != "search-timeout":
                    raise
                return best, reached, True
            if better is not None and (best is None or better.cost < best.cost):
                best, most = better, min(self.limits.steps, (better.cost - 1) // self.least)
                if not better.proven:
                    return best, reached, True
        return best, reached, False

    def _sketch(self) -> Plan:
        """A good plan, if there is not the time for the best one. Raises `PackError` (``search-timeout``)."""
        window = range(max(self._ground, min(_LONG, self.limits.steps)) + 1)
        for strict, strategy, share in _ATTEMPTS:
            try:
                improving = self.limits.improving
                plan = self._solved(window, strict=strict, strategy=strategy, share=share, improving=improving)
            except PackError as error:
                if error.code != "search-timeout":
                    raise
                continue
            if plan is not None:
                return replace(plan, proven=False)
        raise asp.late()

    def _solved(self, window: range, *, strict: bool, share: float = 1.0, **options: Any) -> Plan | None:
        """The best plan that ends in a window, in a `share` of the time left; `options` as of `Growing.best`."""
        if time.monotonic() >= self._end:
            raise asp.late()
        steps = range(self._ground + 1, window[-1] + 1)
        if steps:  # several at once: every call costs, whatever it grounds
            self.growing.ground(*(part for step in steps for part in _parts(step)))
            self._ground = window[-1]
        used = [*(Atom("may_end", (step,)) for step in window), Atom("last", (window[-1],))]
        used += [Atom("strict")] if strict else []
        for atom in used:
            self.growing.assign(atom, True)
        try:
            seconds = share * (self._end - time.monotonic())
            answer = self.growing.best(seconds=seconds, **{"strategy": _USUAL, **options})
        finally:
            for atom in used:
                self.growing.assign(atom, False)
        return _plan(self.domain, answer, self.costs, self.wanted) if answer is not None else None


def _windows(most: int) -> Iterator[range]:
    """The steps at which plans may end that are looked at together: few plans are longer than the first."""
    start, stop = 0, _FIRST
    while start <= most:
        yield range(start, min(stop, most) + 1)
        start, stop = stop + 1, stop + _STRIDE


def _parts(step: int) -> Iterable[tuple[str, tuple[int, ...]]]:
    return (("act", (step - 1,)), ("next", (step,)), ("step", (step,))) if step else (("step", (0,)),)


def _offers(domain: Domain, actions: Sequence[Action], costs: Costs, least: int) -> Iterator[Atom]:
    moves = domain.vocabulary.moves
    yield Atom("least", (least,))
    yield Atom("disturbance", (costs.disturbance,))
    for action in actions:
        term = action.term
        yield Atom("offered", (term,))
        if costs.of(action) > least:
            yield Atom("extra", (term, costs.of(action) - least))
        yield from (Atom("about", (term, name)) for name in dict.fromkeys(action.args))
        if action.skill in moves:
            yield Atom("moves", (term, action.args[moves[action.skill] - 1]))


def _plan(domain: Domain, answer: asp.Answer, costs: Costs, wanted: Collection[str]) -> Plan:
    steps: dict[int, Action] = {}
    waived: set[tuple[bool, str]] = set()
    guessed: dict[str, set[Atom]] = {}
    doubtful: dict[str, set[Atom]] = {}
    added: dict[int, set[Atom]] = {}
    removed: dict[int, set[Atom]] = {}
    for atom in answer.atoms:
        if atom.name == "lies":
            guessed.setdefault(str(atom.args[0]), set()).add(Atom("edge", (Fun("inside"), *atom.args)))
            continue
        if atom.name == "doubtful":
            doubtful.setdefault(str(atom.args[0]), set()).add(Atom("state", atom.args))
            continue
        at, *args = atom.args
        assert isinstance(at, int)
        if atom.name == "do":
            assert isinstance(args[0], Fun)
            steps[at] = Action(args[0].name, tuple(map(str, args[0].args)))
        elif atom.name == "minded":
            rule = str(args[0])
            assert domain.pack is not None
            told = f"{rule}({', '.join(binding_of(args[1]))})"
            waived.add((domain.pack.rules[rule].advisory, told))
        else:
            side = added if atom.name in ("world_becomes", "world_links") else removed
            name = "state" if len(args) == 2 else "edge"
            side.setdefault(at, set()).add(Atom(name, tuple(args)))
    actions = tuple(steps[at] for at in sorted(steps))
    moves = domain.vocabulary.moves
    moved = [a.args[moves[a.skill] - 1] for a in actions if a.skill in moves]
    return Plan(
        actions,
        tuple(sorted(told for advisory, told in waived if not advisory)),
        tuple(sorted(told for advisory, told in waived if advisory)),
        sum(map(costs.of, actions)) + costs.disturbance * sum(name not in wanted for name in moved),
        tuple((frozenset(added.get(at, ())), frozenset(removed.get(at, ()))) for at in range(len(actions))),
        frozenset().union(*(facts | doubtful.get(name, set()) for name, facts in guessed.items())),
        answer.proven,
    )
