"""Rules that a pack could do without: those that can never trigger, and those that others say already."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import permutations

from obviate.engine.analysis import safe_body
from obviate.engine.backend import Query
from obviate.engine.oneshot import OneShot
from obviate.engine.search import Example, smallest
from obviate.engine.slice import Slice, keys_of, slice_of
from obviate.engine.standing import Binding
from obviate.engine.verdict import NO, YES, Limits, Scene, Verdict
from obviate.kb import Pack
from obviate.kb.program import Rule

__all__ = ["independent", "triggers"]

_STILL = ("pending", "hazard")
Cover = tuple[str, tuple[int, ...]]  # another rule, and which objects of a binding it is about


def triggers(pack: Pack, rule: str, limits: Limits) -> Verdict:
    """Whether the rule can trigger. A no comes with the scene that comes nearest: on it no intent triggers the rule."""
    part, end = slice_of(pack, rule), time.monotonic() + limits.seconds
    bounds = {"objects": limits.objects or part.bound}
    example = _smallest(pack, rule, "trigger", limits, end)
    if example is not None:
        says = f"{rule} can trigger"
        return Verdict("triggers", (rule,), YES, says, bounds, _scenes("triggered", example), (_instance(example),))
    near = _smallest(pack, rule, "hazard", limits, end)
    says = f"no belief graph of up to {bounds['objects']} objects and no intent trigger {rule}"
    if near is not None:
        says += ": its hazard can hold, but not together with its threat for the same objects"
        return Verdict("triggers", (rule,), NO, says, bounds, _scenes("nearest", near), (_instance(near),))
    near, missing = _nearest(part, limits, end)
    says += f": its hazard can hold but for {missing}" if near is not None else ""
    found = (_scenes("nearest", near), (_instance(near),)) if near is not None else ((), ())
    return Verdict("triggers", (rule,), NO, says, bounds, *found)


def _nearest(part: Slice, limits: Limits, end: float) -> tuple[Example | None, str]:
    """The smallest graph on which as many conditions of a hazard hold as can hold, and those that then do not."""
    name = part.rule.name
    for clause in (each for each in part.rules if ("hazard", name) in keys_of(each)):
        kept: list[int] = []
        best: Example | None = None
        for i in range(len(clause.body)):
            example = _relaxed(part, clause, [*kept, i], limits, end)
            if example is not None:
                kept, best = [*kept, i], example
        if best is not None:
            return best, ", ".join(literal.text for i, literal in enumerate(clause.body) if i not in kept)
    return None, ""


def _relaxed(part: Slice, clause: Rule, kept: Sequence[int], limits: Limits, end: float) -> Example | None:
    assert clause.head is not None
    body = safe_body(clause, [clause.body[i] for i in kept])
    if not body:
        return None
    term = clause.head.args[1]
    loose = clause.head.variables - frozenset().union(*(clause.body[i].binds for i in kept))
    held = "".join(f"; object({name})" for name in sorted(loose))
    goal = f"_nearly({term.text}) :- {body}{held}.\n:- _chosen(B), not _nearly(B)."
    return _smallest(part.pack, part.rule.name, "any", limits, end, also=goal)


def independent(pack: Pack, rule: str, limits: Limits) -> Verdict:
    """Whether the rule adds something: it can trigger while no other rule of its mode and deadline, which asks as much
    of the same objects, does. A no names the rules that trigger whenever it does, and whose targets leave it nothing
    to ask: one (the rule is implied), or several together (it is shadowed).
    """
    part, end = slice_of(pack, rule), time.monotonic() + limits.seconds
    bounds = {"objects": limits.objects or part.bound}
    example = _smallest(pack, rule, "trigger", limits, end)
    if example is None:
        return Verdict("independent", (rule,), YES, f"{rule} never triggers, and no rule implies it", bounds)
    covers = list(_covers(pack, part))
    if _triggered(pack, example, covers):
        for allowed in (covers, [cover for cover in covers if _ask_as_much(part, [cover], limits, end)]):
            alone = _smallest(pack, rule, "trigger", limits, end, covers=allowed)
            if alone is None:
                needed = _fewest(pack, rule, allowed, limits, end)
                if _ask_as_much(part, needed, limits, end):
                    return _implied(pack, rule, needed, limits, end)
            example = alone or example
    says = f"{rule} asks for something that no other rule asks for"
    return Verdict("independent", (rule,), YES, says, bounds, _scenes("triggered", example), (_instance(example),))


def _fewest(pack: Pack, rule: str, covers: Sequence[Cover], limits: Limits, end: float) -> list[Cover]:
    """The fewest of the covers without which the rule never triggers."""
    needed = list(covers)
    for cover in covers:
        fewer = [each for each in needed if each != cover]
        if fewer and _smallest(pack, rule, "trigger", limits, end, covers=fewer) is None:
            needed = fewer
    return needed


def _implied(pack: Pack, rule: str, needed: Sequence[Cover], limits: Limits, end: float) -> Verdict:
    """The finding that these covers leave the rule nothing to ask."""
    example = _smallest(pack, rule, "trigger", limits, end, beside=[name for name, _ in needed])
    assert example is not None
    bound = limits.objects or slice_of(pack, rule).bound
    names = tuple(dict.fromkeys(name for name, _ in needed))
    says = f"on belief graphs of up to {bound} objects, {rule} triggers only where {' or '.join(names)} does"
    says += f" for the same objects: it is {'implied' if len(names) == 1 else 'shadowed'}"
    found = [_instance(example)]
    found += [(name, _of(example.binding, places)) for name, places in _triggered(pack, example, needed)]
    return Verdict(
        "independent", (rule, *names), NO, says, {"objects": bound}, _scenes("triggered", example), tuple(found)
    )


def _covers(pack: Pack, part: Slice) -> Iterator[Cover]:
    """The rules that may say as much as a rule, each with every choice of its objects among those of the rule."""
    for other in pack.rules.values():
        alike = (other.mode, other.deadline) == (part.rule.mode, part.rule.deadline)
        if alike and other.name != part.rule.name and (part.rule.advisory or not other.advisory):
            for places in permutations(range(part.arity), slice_of(pack, other.name).arity):
                yield other.name, places


def _triggered(pack: Pack, example: Example, covers: Sequence[Cover]) -> list[Cover]:
    found = OneShot(pack).conclude(example.graph, Query(intent=example.intent)).appeared
    return [(name, places) for name, places in covers if (name, _of(example.binding, places)) in found]


def _ask_as_much(part: Slice, covers: Sequence[Cover], limits: Limits, end: float) -> bool:
    """Whether the record of the rule is never left unresolved once those of the covers are all resolved."""
    name, all_ = part.rule.name, _terms(part.arity)
    lines = [f"was_pending({name},B) :- _chosen(B).", f":- _chosen(B), target({name},B)."]
    for other, places in covers:
        of = _terms(part.arity, places)
        lines += [
            f"{{ was_pending({other},{of}) }} :- _chosen({all_}).",
            f"_some :- _chosen({all_}), was_pending({other},{of}).",
        ]
        lines += [f":- _chosen({all_}), {still}({other},{of}), not target({other},{of})." for still in _STILL]
    lines.append(":- not _some.")
    names = [other for other, _ in covers]
    return _smallest(part.pack, name, "any", limits, end, beside=names, also="\n".join(lines)) is None


def _smallest(
    pack: Pack,
    rule: str,
    goal: str,
    limits: Limits,
    end: float,
    *,
    covers: Sequence[Cover] = (),
    beside: Sequence[str] = (),
    also: str = "",
) -> Example | None:
    """The smallest example on which none of the covers triggers."""
    arity = slice_of(pack, rule).arity
    names = list(dict.fromkeys([*beside, *(name for name, _ in covers)]))
    apart = [f":- _chosen({_terms(arity)}), trigger({name},{_terms(arity, places)})." for name, places in covers]
    return smallest(
        pack,
        rule,
        goal,
        seconds=end - time.monotonic(),
        objects=limits.objects,
        beside=names,
        also="\n".join([*apart, also]),
    )


def _terms(arity: int, places: Sequence[int] | None = None) -> str:
    names = [f"X{i}" for i in (range(arity) if places is None else places)]
    return names[0] if len(names) == 1 else f"({','.join(names)})"


def _of(binding: Binding, places: Sequence[int]) -> Binding:
    return tuple(binding[i] for i in places)


def _instance(example: Example) -> tuple[str, Binding]:
    return example.rule, example.binding


def _scenes(name: str, example: Example) -> tuple[Scene, ...]:
    return (Scene(name, example.graph, example.intent),)
