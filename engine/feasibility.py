"""What a robot with the household skills can do about the rules of a pack.

Each question is a search for a scene from which no plan leads where it should. One search proposes scenes, and a
planner tries each; the plans that it finds are told to the first, which then proposes only scenes where they all fail.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from obviate.engine.backend import KERNEL
from obviate.engine.conflict import overlaps
from obviate.engine.scenery import CHANGING, OUTPUTS, Scenery, Staged, names_of, statics
from obviate.engine.search import SMALLEST, action_of, frame, ranks, renamed_graph
from obviate.engine.slice import Slice, slice_of
from obviate.engine.standing import Binding, Instance
from obviate.engine.verdict import NO, UNDECIDED, YES, Limits, Scene, Verdict, binding_text
from obviate.kb import Action, Pack, asp
from obviate.kb.terms import Term

__all__ = ["blockable", "governable", "reachable", "unblocked"]

_OUTPUTS = [
    *OUTPUTS,
    ("_u_0_do", 1, True),
    ("_v_0_do", 1, True),
    *((f"_w_{name}", arity, sign) for name, arity, sign in CHANGING),
]
Signature = tuple[str, int, bool]


@dataclass(frozen=True)
class _Search:
    """A search for a scene from which no plan leads to what is asked for; `end` is when it gives up.

    `opened` says which scenes are meant, `alone` what must be possible there besides, and `good` which plans would do:
    the rules for ``{p}good`` after `k` actions, with ``{p}`` before what holds at each moment.
    """

    scenery: Scenery
    opened: Sequence[str]
    alone: Sequence[str]
    good: Callable[[str, int], Sequence[str]]
    limits: Limits
    end: float
    judged: bool = False

    def stuck(self, *extra: str) -> tuple[asp.Answer | None, bool]:
        """The scene found, the smallest if `extra` says so; and whether any scene is meant at all."""
        learned: list[str] = []
        proposed = False
        stages = [[*self.alone, *extra]] if extra or not self.alone else [[], list(self.alone)]
        for more in stages:  # what must be possible is asked only where it matters
            while True:
                found = self.answer([*self.scenes(), *more, *learned])
                if found is None:
                    return None, proposed
                proposed = True
                plan = self._plan(self.scenery.told(found.atoms))
                if plan is None:
                    break
                prefix = f"_l{len(learned)}_"
                told = [*self.scenery.acted(prefix, plan, judged=self.judged), *self.good(prefix, len(plan))]
                learned.append("\n".join([*told, f":- {prefix}good."]))
        return found, proposed

    def scenes(self) -> Iterator[str]:
        """The program of all scenes that are meant."""
        part = self.scenery.part
        yield from (*self.scenery.scene(), *frame(part), KERNEL, part.text, *self.opened)

    def _plan(self, scene: Staged) -> list[Action] | None:
        """A plan that would do: one or two actions if they can, else as many as may be, or fewer."""
        most = self.limits.actions
        for steps in dict.fromkeys([*(k for k in (1, 2) if k <= most), most]):
            lines = [*self.scenery.staged(scene), *self.scenery.acted("_p_", steps, judged=self.judged)]
            lines += [*frame(self.scenery.part), *self._open(), *self.good("_p_", steps), ":- not _p_good."]
            found = self.answer(lines, [(f"_p_{i}_do", 1, True) for i in range(steps)])
            if found is not None:
                done = {atom.name: atom.args[0] for atom in found.atoms}
                return [action_of(done[each]) for each in sorted(done)]
        return None

    def _open(self) -> list[str]:
        return [line for line in self.opened if line.startswith("_open(")]

    def answer(self, lines: Sequence[str], outputs: Sequence[Signature] = _OUTPUTS) -> asp.Answer | None:
        """The answer of a program within the time that is left."""
        consts = self.scenery.part.pack.consts
        return asp.search("\n".join(lines), outputs, consts, seconds=self.end - time.monotonic())


def reachable(pack: Pack, rule: str, limits: Limits) -> Verdict:
    """Whether from every scene on which a record of the rule opens, and on which its target could hold of the same
    objects, skills of the robot lead to one where it does.
    """
    part, end = slice_of(pack, rule), time.monotonic() + limits.seconds
    most = limits.objects or part.arity + 1
    bounds = {"objects": most, "actions": limits.actions}

    def search(size: int) -> _Search:
        scenery = Scenery(part, size, limits.theory)
        instance = f"{rule},{binding_text(scenery.binding)}"
        opened = [f":- not opens({instance}).", f"_open({instance})."]
        alone = [
            *scenery.other("_w_"),
            ":- moved(X), not _w_moved(X).",
            "_w_was_pending(R,B) :- _open(R,B).",
            f":- not _w_target({instance}).",
        ]
        return _Search(scenery, opened, alone, lambda p, k: [f"{p}good :- {p}{k}_target({instance})."], limits, end)

    found, proposed = search(most).stuck()
    if not proposed:
        return _nowhere("reachable", rule, bounds)
    if found is None:
        says = f"wherever the target of {rule} could hold, up to {limits.actions} actions reach it"
        return Verdict("reachable", (rule,), YES, says, bounds)
    for size in range(part.arity, most + 1):
        each = search(size)
        found, _ = each.stuck(SMALLEST, *ranks(part))
        if found is not None:
            told, bounds = _Told(each.scenery, found), {"objects": size, "actions": limits.actions}
            says = f"no {limits.actions} actions reach the target of {rule}, which these objects could meet"
            instances = ((rule, told.binding(each.scenery.binding)),)
            scenes = (told.scene("opened"), told.scene("wanted", instances, "_w_"))
            return Verdict("reachable", (rule,), NO, says, bounds, scenes, instances, **told.world())
    says = f"wherever the target of {rule} could hold, up to {limits.actions} actions reach it"
    return Verdict("reachable", (rule,), YES, says, bounds)


def governable(pack: Pack, rule: str, limits: Limits) -> Verdict:
    """Whether skills of the robot can make the hazard of the rule, or end it, for some objects."""
    part, end = slice_of(pack, rule), time.monotonic() + limits.seconds
    most = limits.objects or part.arity + 1
    bounds = {"objects": most, "actions": limits.actions}
    search = _Search(Scenery(part, most, limits.theory), (), (), lambda p, k: (), limits, end)
    instance = f"{rule},{binding_text(search.scenery.binding)}"
    opened = replace(search, opened=[f":- not opens({instance})."])
    found = opened.answer([*opened.scenes()])
    if found is None:
        return _nowhere("governable", rule, bounds)
    for steps in range(1, limits.actions + 1):
        last = f"_p_{steps}_hazard({instance})"
        differs = f":- hazard({instance}), {last}.\n:- not hazard({instance}), not {last}."
        if search.answer([*search.scenes(), *search.scenery.acted("_p_", steps), differs]) is not None:
            says = f"the robot can make or end the hazard of {rule}"
            return Verdict("governable", (rule,), YES, says, bounds)
    for size in range(part.arity, most + 1):
        smaller = replace(opened, scenery=Scenery(part, size, limits.theory))
        found = smaller.answer([*smaller.scenes(), SMALLEST, *ranks(part)])
        if found is not None:
            break
    assert found is not None
    says = f"no {limits.actions} actions make the hazard of {rule}, and none end it: only giving up helps"
    told = _Told(search.scenery, found)
    instances = ((rule, told.binding(search.scenery.binding)),)
    return Verdict("governable", (rule,), NO, says, bounds, (told.scene("opened"),), instances, **told.world())


def blockable(pack: Pack, rule: str) -> list[str]:
    """The later situational rules."""
    later = list(pack.rules)[list(pack.rules).index(rule) + 1 :]
    situational = [name for name in later if pack.rules[name].mode == "situational"]
    return situational if pack.rules[rule].mode == "situational" else []


def unblocked(pack: Pack, rule: str, other: str, limits: Limits) -> Verdict:
    """Whether two situational rules never block each other: where an action would meet the target of one, and the other
    forbids it, and the same the other way round, some plan that neither forbids meets one of the targets.
    """
    end, part = time.monotonic() + limits.seconds, slice_of(pack, rule, other)
    arities = [slice_of(pack, name).arity for name in (rule, other)]
    bounds = {"objects": limits.objects or sum(arities), "actions": limits.actions}
    says = (
        f"where {rule} and {other} forbid each other's remedy, some safe plan of up to {limits.actions} actions is left"
    )
    yes = Verdict("unblocked", (rule, other), YES, says, bounds)
    if not (_meeting(pack, rule, limits, end) & _skills(pack, other)):
        return yes
    if not (_meeting(pack, other, limits, end) & _skills(pack, rule)):
        return yes
    for pair in overlaps(*arities, name="thing"):
        size = len({*pair[0], *pair[1]})
        search = _blocked(Scenery(part, size, limits.theory), ((rule, pair[0]), (other, pair[1])), limits, end)
        if search.stuck()[0] is None:
            continue
        found, _ = search.stuck(SMALLEST, *ranks(part))
        assert found is not None
        says = f"{rule} forbids what {other} asks for, {other} what {rule} asks for, and nothing safe is left to do"
        told = _Told(search.scenery, found)
        instances = ((rule, told.binding(pair[0])), (other, told.binding(pair[1])))
        plans = {rule: told.plan("_u_"), other: told.plan("_v_")}
        bounds = {"objects": size, "actions": limits.actions}
        scenes = (told.scene("blocked", instances),)
        return Verdict("unblocked", (rule, other), NO, says, bounds, scenes, instances, plans, **told.world())
    return yes


def _blocked(scenery: Scenery, pair: tuple[Instance, Instance], limits: Limits, end: float) -> _Search:
    """The search for a scene on which each rule forbids an action that would meet the target of the other."""
    (one, b), (two, c) = ((rule, f"{rule},{binding_text(binding)}") for rule, binding in pair)
    opened = [f"_open({b}).", f"_open({c}).", ":- intent(_)."]
    for prefix, met, forbidding in (("_u_", b, c), ("_v_", c, b)):
        opened += scenery.acted(prefix, 1, judged=True)
        opened += [
            f":- not {prefix}1_target({met}).",
            f":- {prefix}0_target({met}).",
            f":- not {prefix}0_risk({forbidding}).",
        ]

    def good(p: str, k: int) -> list[str]:
        bad = [f"{p}bad :- {p}{i}_risk({rule},_)." for i in range(k) for rule in (one, two)]
        return [*bad, *(f"{p}good :- {p}{k}_target({each}), not {p}bad." for each in (b, c))]

    return _Search(scenery, opened, (), good, limits, end, judged=True)


@lru_cache(maxsize=256)
def _meeting(pack: Pack, rule: str, limits: Limits, end: float) -> frozenset[str]:
    """The skills that can meet the target of a rule in one action."""
    part = slice_of(pack, rule)
    scenery = Scenery(part, part.arity + 1, limits.theory)
    instance = f"{rule},{binding_text(scenery.binding)}"
    lines = [f"_open({instance}).", ":- intent(_).", *scenery.acted("_p_", 1, judged=True)]
    lines += [f":- not _p_1_target({instance}).", f":- _p_0_target({instance}).", f":- not hazard({instance})."]
    lines += [f"_chosen({skill}) :- _p_0_do({term})." for skill, term in _any_arguments(part)]
    search = _Search(scenery, lines, (), lambda p, k: (), limits, end)
    found = asp.search(
        "\n".join(search.scenes()), [("_chosen", 1, True)], pack.consts, seconds=end - time.monotonic(), brave=True
    )
    return frozenset(str(atom.args[0]) for atom in found.atoms) if found is not None else frozenset()


def _any_arguments(part: Slice) -> Iterator[tuple[str, str]]:
    for skill, arity in part.vocabulary.skills.items():
        yield skill, f"{skill}({','.join('_' * arity)})" if arity else skill


def _skills(pack: Pack, rule: str) -> frozenset[str]:
    return frozenset(slice_of(pack, rule).skills)


def _nowhere(question: str, rule: str, bounds: Mapping[str, int]) -> Verdict:
    says = f"nothing in the household world opens a record of {rule} with up to {bounds['objects']} objects"
    return Verdict(question, (rule,), UNDECIDED, says, bounds)


class _Told:
    """What an answer says, with names for the objects that say what they are."""

    def __init__(self, scenery: Scenery, found: asp.Answer) -> None:
        self._scenery = scenery
        self._atoms = found.atoms
        self._now = scenery.told(found.atoms)
        self._names = names_of(self._now.kinds, scenery.part.objects)

    def binding(self, binding: Binding) -> Binding:
        return tuple(self._names[name] for name in binding)

    def scene(self, name: str, records: tuple[Instance, ...] = (), prefix: str = "") -> Scene:
        """The scene, or another state of it."""
        terms = [atom.args[0] for atom in self._atoms if atom.name == "intent" and not prefix]
        intent = self._action(terms[0]) if terms else None
        return Scene(name, renamed_graph(self._scenery.told(self._atoms, prefix).graph, self._names), intent, records)

    def plan(self, prefix: str) -> tuple[Action, ...]:
        """The first action of a copy."""
        return tuple(self._action(atom.args[0]) for atom in self._atoms if atom.name == f"{prefix}0_do")

    def world(self) -> dict[str, Any]:
        kinds = {self._names[name]: kind for name, kind in self._now.kinds.items()}
        return {"world": kinds, "statics": statics(kinds)}

    def _action(self, term: Term) -> Action:
        action = action_of(term)
        return replace(action, args=tuple(self._names[arg] for arg in action.args))
