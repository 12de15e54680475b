"""A household task as a problem of unified-planning, for any planner that speaks it.

Each action of the scene becomes an action without parameters, since which conditions it has depends on its objects.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from obviate.adapters.planners.formula import TRUE, Dnf
from obviate.adapters.planners.operators import Operator, Scene, ground
from obviate.adapters.scenario import Goal
from obviate.engine.world import World
from obviate.kb import Action
from obviate.kb.errors import ObviateError, nearest
from obviate.kb.extras import module
from obviate.kb.terms import Atom, Fun

__all__ = ["EXTRA", "Translation", "names_for", "translate"]

EXTRA = "planning"
_PLAIN = re.compile(r"[A-Za-z][\w.-]*", re.ASCII)
_LONGEST = 40  # characters of an id in a name
_DUMMY, _NEVER = "dummy", "never"
_RESERVED = ("thing", "any", _DUMMY, f"the_{_DUMMY}", _NEVER)
_CASES = 3  # conditions with alternatives that a planner may multiply out


@dataclass(frozen=True)
class Translation:
    """A `unified_planning.model.Problem` and what its names mean.

    `objects` maps our ids to names in the problem, `actions` the names of its actions to ours. Goals that `translate`
    does not take can be added to the problem with `fluent`.
    """

    problem: Any
    scene: Scene
    objects: Mapping[str, str]
    actions: Mapping[str, Action]

    def fluent(self, atom: Atom) -> Any:
        """A belief, ``state(x,s)`` or ``edge(p,x,y)``, as an expression of the problem; false if it never holds.

        Raises `ObviateError` (``not-translated``) for what the problem knows nothing of.
        """
        if atom.name not in ("state", "edge") or not atom.positive:
            raise _unknown(atom, ["state", "edge"])
        what, args = (str(atom.args[1]), atom.args[:1]) if atom.name == "state" else (str(atom.args[0]), atom.args[1:])
        for name in args:
            if name not in self.objects:
                raise _unknown(atom, self.objects)
        if not self.problem.has_fluent(what):
            return self.problem.environment.expression_manager.FALSE()
        return self.problem.fluent(what)(*(self.problem.object(self.objects[str(name)]) for name in args))

    def action(self, instance: Any) -> Action:
        """Our action of an `ActionInstance`. Raises `ObviateError` (``not-translated``)."""
        name = str(instance.action.name)
        if name not in self.actions:
            raise _unknown(name, self.actions)
        return self.actions[name]

    def instance(self, action: Action | str) -> Any:
        """The `ActionInstance` of our action. Raises `ObviateError` (``not-translated``) for one not offered."""
        action = Action.parse(action) if isinstance(action, str) else action
        for name, ours in self.actions.items():
            if ours == action:
                return _plans().ActionInstance(self.problem.action(name))
        raise _unknown(action, map(str, self.actions.values()))

    def plan(self, actions: Iterable[Action | str]) -> Any:
        """A `SequentialPlan` of our actions."""
        return _plans().SequentialPlan([self.instance(action) for action in actions], self.problem.environment)

    def beliefs(self, state: Any) -> frozenset[Atom]:
        """What holds in a state of a simulator of the problem: states and relations, each of them once."""
        held = (atom for atom in self.scene.open if state.get_value(self.fluent(atom)).is_true())
        return frozenset(held) | self.scene.fixed


def translate(
    world: World,
    goals: Sequence[Goal],
    *,
    offered: Callable[[Action], bool] | None = None,
    actions: str = "",
    name: str = "household",
) -> Translation:
    """The task of reaching `goals` in a world from its present state, with everything in it known.

    `offered` and `actions` are those of `operators.ground`. Left out are ``done`` and whatever changes nothing, the
    order of reasons why an action fails, actions on the same object twice, and, by default, moving furniture. Raises
    `ObviateError` (``extra-missing``, ``translation-too-large``, ``not-translated``).
    """
    up = module("unified_planning.shortcuts", extra=EXTRA)
    environment = module("unified_planning.environment", extra=EXTRA).Environment()
    environment.credits_stream = None
    scene = ground(world, offered=offered, actions=actions)
    problem = up.Problem(name, environment)
    thing = environment.type_manager.UserType("thing")
    fluents = dict(sorted({_name(atom) for atom in scene.open | scene.fixed}))
    names = names_for(world.graph.nodes, reserved={*fluents, *world.graph.vocabulary.skills, *_RESERVED})
    for known in names.values():
        problem.add_object(up.Object(known, thing, environment))
    truth = environment.type_manager.BoolType()
    for what, arity in fluents.items():
        slots = dict.fromkeys(("x", "y")[:arity], thing)
        problem.add_fluent(up.Fluent(what, truth, environment=environment, **slots), default_initial_value=False)
    useful = [one for one in scene.operators if one.effects]
    labels = _distinct({one.action: _label(one.action, names) for one in useful})
    made = Translation(problem, scene, names, {label: action for action, label in labels.items()})
    for atom in scene.initial:
        problem.set_initial_value(made.fluent(atom), True)
    terms = _Terms(made)
    for operator in useful:
        problem.add_action(terms.action(labels[operator.action], operator, up))
    for goal in goals:
        condition = terms.literal(_atom(goal), goal.positive).simplify()
        if not condition.is_true():  # which some planners cannot write down
            problem.add_goal(condition)
    return made


class _Terms:
    """Conditions as expressions. A tautology about one object stands around what planners would multiply out."""

    def __init__(self, made: Translation) -> None:
        self._made = made
        self._environment = made.problem.environment
        self._build = self._environment.expression_manager
        self._known: dict[tuple[Atom, bool], Any] = {}

    def action(self, label: str, operator: Operator, up: Any) -> Any:
        action = up.InstantaneousAction(label, _env=self._environment)
        clauses = []
        for case in sorted(operator.fails, key=str):
            if len(case) == 1:
                ((atom, true),) = case
                action.add_precondition(self.literal(atom, not true))
            else:
                clauses.append(self._build.Or(*(self.literal(atom, not true) for atom, true in sorted(case, key=str))))
        if len(clauses) <= _CASES:
            for clause in clauses:
                action.add_precondition(clause)
        else:
            action.add_precondition(self._guarded(clauses, up))
        for effect in operator.effects:
            for condition in self._cases(effect.condition):
                action.add_effect(self.literal(effect.atom, True), effect.value, condition)
        return action

    def _guarded(self, clauses: Sequence[Any], up: Any) -> Any:
        """Many alternatives at once. As they are, a planner would make as many operators as there are ways to satisfy
        all of them: a product. Under a quantifier it derives one atom, "one of them is violated", by a rule for each.
        The quantifier goes over a single dummy, of which nothing is true.
        """
        problem = self._made.problem
        if not problem.has_fluent(_NEVER):
            kind = self._environment.type_manager.UserType(_DUMMY)
            truth = self._environment.type_manager.BoolType()
            problem.add_fluent(
                up.Fluent(_NEVER, truth, environment=self._environment, x=kind), default_initial_value=False
            )
            problem.add_object(up.Object(f"the_{_DUMMY}", kind, self._environment))
        any_ = up.Variable("any", problem.user_type(_DUMMY), self._environment)
        never = problem.fluent(_NEVER)(any_)
        return self._build.Forall(self._build.And(*(self._build.Or(never, clause) for clause in clauses)), any_)

    def _cases(self, condition: Dnf) -> list[Any]:
        if condition == TRUE:
            return [True]
        return [
            self._build.And(*(self.literal(*one) for one in sorted(case, key=str)))
            for case in sorted(condition, key=str)
        ]

    def literal(self, atom: Atom, true: bool) -> Any:
        if (atom, true) not in self._known:
            expression = self._made.fluent(atom)
            self._known[atom, true] = expression if true else self._build.Not(expression)
        return self._known[atom, true]


def names_for(ids: Iterable[str], reserved: Iterable[str] = ()) -> dict[str, str]:
    """A name for each id that any planner's syntax can take: letters, digits and underscores, all different, and none
    of those `reserved`. An id that is no plain word, such as a sentence, becomes ``object``.
    """
    plain = {name: re.sub(r"\W", "_", name).lower() if _usable(name) else "object" for name in sorted(set(ids))}
    return _distinct(plain, reserved)


def _usable(name: str) -> bool:
    return bool(_PLAIN.fullmatch(name)) and len(name) <= _LONGEST


def _distinct(wanted: Mapping[Any, str], reserved: Iterable[str] = ()) -> dict[Any, str]:
    taken = set(reserved)
    found = {}
    for key, name in wanted.items():
        number, new = 1, name
        while new in taken:
            number += 1
            new = f"{name}_{number}"
        taken.add(new)
        found[key] = new
    return found


def _label(action: Action, names: Mapping[str, str]) -> str:
    return "__".join([action.skill, *(names[name] for name in action.args)])


def _name(atom: Atom) -> tuple[str, int]:
    return (str(atom.args[1]), 1) if atom.name == "state" else (str(atom.args[0]), 2)


def _atom(goal: Goal) -> Atom:
    if len(goal.args) == 1:
        return Atom("state", (goal.args[0], Fun(goal.predicate)))
    return Atom("edge", (Fun(goal.predicate), *goal.args))


def _plans() -> Any:
    return module("unified_planning.plans", extra=EXTRA)


def _unknown(what: object, known: Iterable[str]) -> ObviateError:
    return ObviateError(
        "not-translated", f"the problem knows no {what}", help=nearest(str(what), known) or "see its actions"
    )
