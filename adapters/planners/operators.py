"""The household action theory, ground for one scene: per action, when it fails and what it changes.

Nothing here knows a skill. The rules are those of ``kb/actions/household.lp``, ground by clingo for the objects at hand
with what may change left open; what is left of them is folded into conditions over beliefs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from pathlib import Path

import networkx as nx

from obviate.adapters.planners.formula import FALSE, TRUE, Conjunction, Dnf, Formulas
from obviate.engine.world import World
from obviate.kb import DONE, Action, asp, household
from obviate.kb.belief import Edge
from obviate.kb.copies import lasting_predicates, timed
from obviate.kb.files import read_text
from obviate.kb.program import Program
from obviate.kb.terms import Atom, Fun, quote

__all__ = ["Effect", "Operator", "Scene", "ground", "sensible"]

Listed = tuple[Atom | int, tuple[tuple[Atom | int, bool], ...]]  # a ground rule: its head and its body

_CHANGES = {"becomes": ("state", True), "ceases": ("state", False), "links": ("edge", True), "unlinks": ("edge", False)}
# Of several reasons why an action fails the theory gives the first; for whether it fails, any will do.
_ANY_REASON = "fails :- violates(_,_). works :- do(_), not fails."
_REPLACED = {"reason", "works"}
_HOLDERS = frozenset({"function_surface", "function_container", "function_storage", "surface_floor"})


@dataclass(frozen=True, slots=True)
class Effect:
    """`atom` becomes true, or false, if `condition` holds; of a true and a false one, the true one wins."""

    atom: Atom
    value: bool
    condition: Dnf


@dataclass(frozen=True, slots=True)
class Operator:
    """One action of the scene: `fails` is when it fails, and changes nothing; else it has these effects."""

    action: Action
    fails: Dnf
    effects: tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """The operators of a scene, the beliefs that they may change, and those that hold for ever."""

    operators: tuple[Operator, ...]
    open: frozenset[Atom]
    fixed: frozenset[Atom]
    initial: frozenset[Atom]


def sensible(world: World) -> Callable[[Action], bool]:
    """Which actions a plan is offered by default: all but placing what belongs to the scene, such as furniture, and
    placing on what is neither that nor a surface or vessel. The theory itself would allow both.
    """
    fixtures = {name for name, kind in world.objects.items() if world.kinds.can(kind, "sceneObject")}
    tagged = {name for name, node in world.graph.nodes.items() if node.tags & _HOLDERS}

    def offered(action: Action) -> bool:
        if action.skill not in ("place_on_top", "place_inside"):
            return True
        return action.args[0] not in fixtures and action.args[1] in fixtures | tagged

    return offered


def ground(world: World, *, offered: Callable[[Action], bool] | None = None, actions: str = "") -> Scene:
    """The operators for the actions that are `offered` (`sensible`) in a world, from its present state on.

    `actions` is the file of another action theory, as of the world. They are exact for every state that these actions
    lead to from here. Raises `ObviateError` (``translation-too-large``), `PackError` (``not-stratified``).
    """
    return _Grounding(world, offered or sensible(world), actions).scene()


class _Grounding:
    def __init__(self, world: World, offered: Callable[[Action], bool], actions: str) -> None:
        self._world = world
        self._words = world.graph.vocabulary
        file = Path(actions) if actions else household.folder / "actions" / "household.lp"
        self._rules = _indexed(read_text(file), str(file))
        self._statics = [f"{fact}." for fact in world.kinds.facts(world.objects)]
        self._statics += [f"{Atom('object', (name,))}." for name in world.graph.nodes]
        self._offered = [one for one in self._candidates() if offered(one)]
        self._formulas = Formulas(self._impossible)
        facts = {self._canonical(atom) for atom in world.graph.facts()}
        self._initial = frozenset(atom for atom in facts if atom.name in ("state", "edge") and atom.positive)

    def _candidates(self) -> Iterator[Action]:
        names = sorted(self._world.graph.nodes)
        for skill, arity in sorted(self._words.skills.items()):
            if skill != DONE.skill:
                yield from (Action(skill, args) for args in permutations(names, arity))

    def _canonical(self, atom: Atom) -> Atom:
        """A symmetric relation is one belief, whichever way it is written."""
        if atom.name != "edge":
            return atom
        return self._world.graph.canonical(Edge(*map(str, atom.args))).atom

    def _impossible(self, term: Conjunction) -> bool:
        """Whether an object would have two direct supporters, which merging never leaves."""
        held: dict[object, object] = {}
        for atom, true in term:
            if true and atom.name == "edge" and str(atom.args[0]) in self._words.supports:
                _, src, dst = atom.args
                if held.setdefault(src, dst) != dst:
                    return True
        return False

    # -- what may come about ---------------------------------------------------------------------

    def scene(self) -> Scene:
        """Ground again while something new may come about; then once more with what nothing ever changes as facts."""
        possible = set(self._initial)
        while True:
            heads, barred = self._heads(self._listed(possible, ()))
            come = {atom for atom, value in heads if value} - possible
            if not come:
                break
            possible |= come
        self._offered = [one for one in self._offered if one not in barred]  # what failed before may work by now
        fixed = self._initial - {atom for atom, value in heads if not value} - self._pruned(heads, possible)
        operators = self._operators(self._listed(possible - fixed, fixed), possible - fixed)
        return Scene(tuple(operators), frozenset(possible - fixed), fixed, self._initial)

    def _listed(self, open_: Iterable[Atom], fixed: Iterable[Atom]) -> list[Listed]:
        actions = [f"offered({one.term}). do({one.term},{one.term})." for one in self._offered]
        actions += [f"argument({one.term},{quote(name)})." for one in self._offered for name in one.args]
        known = [f"{atom}." for one in fixed for atom in self._both_ways(one)]
        inputs = [atom for one in open_ for atom in self._both_ways(one)]
        return asp.listing("\n".join([self._rules, *self._statics, *actions, *known]), inputs)

    def _both_ways(self, atom: Atom) -> Iterator[Atom]:
        return self._world.graph.edge_atoms(Edge(*map(str, atom.args))) if atom.name == "edge" else iter([atom])

    def _heads(self, rules: Iterable[Listed]) -> tuple[set[tuple[Atom, bool]], set[Action]]:
        """What some action may change, and the actions that fail whatever is so."""
        changed: set[tuple[Atom, bool]] = set()
        barred: set[Action] = set()
        for head, body in rules:
            if isinstance(head, Atom):
                if head.name in _CHANGES:
                    changed.add(self._change(head))
                elif head.name == "fails" and not body:
                    barred.add(_action(head))
        return changed, barred

    def _change(self, head: Atom) -> tuple[Atom, bool]:
        name, value = _CHANGES[head.name]
        return self._canonical(Atom(name, head.args[1:])), value

    def _pruned(self, heads: Iterable[tuple[Atom, bool]], possible: Iterable[Atom]) -> set[Atom]:
        """The supports that a new one may take away."""
        new = [atom for atom, value in heads if value and self._supports(atom)]
        return {old for atom in new for old in possible if self._supports(old) and _replaces(atom, old)}

    def _supports(self, atom: Atom) -> bool:
        return atom.name == "edge" and str(atom.args[0]) in self._words.supports

    # -- folding ---------------------------------------------------------------------------------

    def _operators(self, rules: list[Listed], open_: set[Atom]) -> Iterator[Operator]:
        conditions = self._folded(rules)
        changes: dict[Action, dict[tuple[Atom, bool], Dnf]] = {one: {} for one in self._offered}
        for head, condition in conditions.items():
            if isinstance(head, Atom) and head.name in _CHANGES:
                found, change = changes[_action(head)], self._change(head)
                found[change] = self._formulas.either(found.get(change, FALSE), condition)
        named = ((head, dnf) for head, dnf in conditions.items() if isinstance(head, Atom))
        failing = {_action(head): dnf for head, dnf in named if head.name == "fails"}
        for action, found in changes.items():
            fails = failing.get(action, FALSE)
            if fails != TRUE:
                yield Operator(action, fails, tuple(self._effects(self._merged(found, open_), open_)))

    def _merged(self, found: dict[tuple[Atom, bool], Dnf], open_: set[Atom]) -> dict[tuple[Atom, bool], Dnf]:
        """With the supports that merging the effects prunes."""
        merged = dict(found)
        for (atom, value), condition in found.items():
            if value and self._supports(atom):
                for old in open_:
                    if self._supports(old) and _replaces(atom, old):
                        merged[old, False] = self._formulas.either(merged.get((old, False), FALSE), condition)
        return merged

    def _effects(self, found: dict[tuple[Atom, bool], Dnf], open_: set[Atom]) -> Iterator[Effect]:
        for (atom, value), condition in sorted(found.items(), key=str):
            if atom not in open_ or (not value and found.get((atom, True)) == TRUE and atom.name == "edge"):
                continue  # it never changes, or is removed and added again
            told = _without(condition, (atom, not value), (atom, value))
            if value and atom.name == "state" and (atom, False) in found:  # the world removes one that is there
                told = self._formulas.both(told, frozenset({frozenset({(atom, False)})}))
            told = self._formulas.either(told)
            if told != FALSE:
                yield Effect(atom, value, told)

    def _folded(self, rules: list[Listed]) -> dict[Atom | int, Dnf]:
        """Each concluded atom as a condition over what is open; recursion by iteration to its least fixpoint."""
        bodies: dict[Atom | int, list[tuple[tuple[Atom | int, bool], ...]]] = {}
        links: nx.DiGraph[Atom | int] = nx.DiGraph()
        for head, body in rules:
            bodies.setdefault(head, []).append(body)
            links.add_node(head)
            links.add_edges_from((other, head) for other, _ in body)
        folded: dict[Atom | int, Dnf] = {}
        for group in _ordered(links):
            defined = [atom for atom in group if atom in bodies]
            for atom in group - set(defined):  # an input, or what nothing concludes
                folded[atom] = self._input(atom)
            for atom in defined:
                folded[atom] = TRUE if isinstance(atom, Atom) and atom.name == "works" else FALSE
            changed = True
            while changed:
                changed = False
                for atom in defined:
                    if folded[atom] == TRUE:
                        continue
                    new = self._formulas.either(*(self._body(body, folded) for body in bodies[atom]))
                    changed |= new != folded[atom] and len(group) > 1
                    folded[atom] = new
        return folded

    def _input(self, atom: Atom | int) -> Dnf:
        if isinstance(atom, Atom) and atom.name in ("state", "edge"):
            return frozenset({frozenset({(self._canonical(atom), True)})})
        return FALSE

    def _body(self, body: Iterable[tuple[Atom | int, bool]], folded: dict[Atom | int, Dnf]) -> Dnf:
        result = TRUE
        for atom, true in body:
            result = self._formulas.both(result, folded[atom] if true else self._formulas.negation(folded[atom]))
            if result == FALSE:
                break
        return result


@lru_cache(maxsize=8)
def _indexed(text: str, file: str) -> str:
    """A theory for many actions at once: what depends on the action is told apart by it."""
    theory = asp.parse(text, file)
    kept = tuple(rule for rule in theory.rules if rule.head is None or rule.head.name not in _REPLACED)
    program = Program((*kept, *asp.parse(_ANY_REASON, "operators").rules), (), "")
    concluded = {rule.head.name for rule in program.rules if rule.head is not None}
    used = {pattern.name for rule in program.rules for literal in rule.body for pattern, _ in literal.inner}
    still = lasting_predicates(program, used - concluded - {"do", "argument"})
    plain = dict.fromkeys(rule.text for rule in program.rules if rule.head is not None and rule.head.name in still)
    acting = tuple(rule for rule in program.rules if rule.text not in plain)
    told_apart = timed(Program(acting, (), ""), lasting=still, variable="Act", bound="offered(Act)")
    return "\n".join([*plain, told_apart])


def _ordered(links: nx.DiGraph[Atom | int]) -> Iterator[set[Atom | int]]:
    """The strongly connected parts, what they depend on first."""
    whole = nx.condensation(links)
    for number in nx.topological_sort(whole):
        yield whole.nodes[number]["members"]


def _action(head: Atom) -> Action:
    term = head.args[0]
    assert isinstance(term, Fun)
    return Action(term.name, tuple(map(str, term.args)))


def _replaces(new: Atom, old: Atom) -> bool:
    return new.args[1] == old.args[1] and new.args[2] != old.args[2]


def _without(condition: Dnf, implied: tuple[Atom, bool], empty: tuple[Atom, bool]) -> Dnf:
    """The cases of a change that change something: what it makes so was not, and need not be said."""
    return frozenset(term - {implied} for term in condition if empty not in term)
