"""Rules whose verification targets demand opposite things of the same objects.

Two rules open records on one scene. Each target can be met alone, whatever else is around; both together cannot. So one
search proposes scenes, and another looks for a way to meet both targets on each; what it finds is told to the first,
which then proposes only scenes where that is no way.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from importlib.resources import files
from itertools import permutations

from obviate.engine.backend import KERNEL
from obviate.engine.layer import side
from obviate.engine.search import (
    INPUTS,
    SMALLEST,
    Example,
    candidates,
    example_of,
    frame,
    graph_of,
    ranks,
    readable_ids,
    renamed_example,
)
from obviate.engine.slice import Slice, slice_of
from obviate.engine.standing import Binding, Instance
from obviate.engine.verdict import NO, YES, Limits, Scene, Verdict, binding_text
from obviate.kb import Pack, asp
from obviate.kb.terms import Atom, Fun, quote, term_of_binding

__all__ = ["compatible", "overlaps", "rivals"]

_MOMENT = files("obviate.kb").joinpath("proofs/moment.lp").read_text(encoding="utf-8")
_SHARED = frozenset({"object"})
_CHANGING = [(name, arity, sign) for name, arity, sign in INPUTS if name not in ("object", "intent")]
_SUPPORT = "support"
_MOVED = ("moved", "_g_moved")  # what was moved once stays so
# The way that says least: the fewer beliefs, the more scenes it is a way for.
_LEAST = """
#minimize { 1,t(X,T) : _e_tag(X,T); 1,s(X,S) : _e_state(X,S); 1,a(X,S) : -_e_state(X,S); 1,e(P,X,Y) : _e_edge(P,X,Y) }.
"""


def rivals(pack: Pack, rule: str) -> list[str]:
    """The later rules whose targets may depend on something that the target of this one depends on."""
    later = list(pack.rules)[list(pack.rules).index(rule) + 1 :]
    mine = _changeable(slice_of(pack, rule))
    return [name for name in later if mine & _changeable(slice_of(pack, name))]


def _changeable(part: Slice) -> frozenset[str]:
    """What can change of what the rules read; where a thing is counts as one matter."""
    supports = part.vocabulary.supports
    edges = (_SUPPORT if name in supports else f"edge {name}" for name in part.reads("edge"))
    states = (f"state {name}" for sign in (True, False) for name in part.reads("state", positive=sign))
    values = (f"value {name}" for name in part.reads("value"))
    return frozenset([*edges, *states, *values, *(["moved"] if part.moving else [])])


def compatible(pack: Pack, rule: str, other: str, limits: Limits) -> Verdict:
    """Whether the targets of two rules can be met together wherever both have open records on a common object."""
    end, part = time.monotonic() + limits.seconds, slice_of(pack, rule, other)
    most = limits.objects or max(part.bound, slice_of(pack, other).bound)
    for mine, yours in overlaps(part.arity, slice_of(pack, other).arity):
        pair = _Pair(part, (rule, mine), (other, yours))
        if pair.opposed(min(most, pair.least + 1), end) is None:
            continue
        for size in range(pair.least, most + 1):
            found = pair.opposed(size, end, SMALLEST, *ranks(part))
            if found is not None:
                says = f"the targets of {rule} and {other} can each be met, and no way meets both of the same objects"
                return Verdict("compatible", (rule, other), NO, says, {"objects": size}, *found)
    says = f"the targets of {rule} and {other} can be met together wherever each can be alone"
    return Verdict("compatible", (rule, other), YES, says, {"objects": most})


def overlaps(one: int, two: int, *, name: str = "object") -> Iterator[tuple[Binding, Binding]]:
    """The ways in which two bindings of different objects have at least one in common."""
    mine = tuple(f"{name}_{i + 1}" for i in range(one))
    fresh = tuple(f"{name}_{one + i + 1}" for i in range(two))
    seen = set()
    for yours in permutations([*mine, *fresh], two):
        new = [each for each in yours if each in fresh]
        if len(new) < two and new == list(fresh[: len(new)]) and yours not in seen:
            seen.add(yours)
            yield mine, yours


class _Pair:
    """Two rules for certain objects, and the searches about them."""

    def __init__(self, part: Slice, one: Instance, two: Instance) -> None:
        self._part = part
        self._pair = (one, two)
        self._core = tuple(dict.fromkeys([*one[1], *two[1]]))
        self._apart = all(part.pack.rules[name].mode == "temporal" for name, _ in self._pair)
        self.least = len(self._core)

    def opposed(self, size: int, end: float, *extra: str) -> tuple[tuple[Scene, ...], tuple[Instance, ...]] | None:
        """A scene of so many objects, the smallest if `extra` says so, on which the targets are opposed, and how each
        of them can be met.
        """
        learned = [*self._excluding("_l_", frozenset())]  # nothing is anywhere: a way out of most hazards
        alone = [*self._moment("_e_", [0]), *self._moment("_f_", [1])]
        for each in ([], [*alone, *extra]):  # whether a target can be met alone is asked only where it matters
            while True:
                lines = [*self._scene(size), *each, *learned]
                left = end - time.monotonic()
                found = asp.search("\n".join(lines), self._outputs, self._part.pack.consts, seconds=left)
                if found is None:
                    return None
                way = self._way(size, found, end)
                if way is None:
                    break
                learned += self._excluding(f"_l{len(learned)}_", way.atoms)
        assert found is not None
        return self._told(found)

    @property
    def _outputs(self) -> list[tuple[str, int, bool]]:
        return [*INPUTS, *((f"{p}{n}", a, s) for p in ("_e_", "_f_", "_g_") for n, a, s in _CHANGING)]

    def _scene(self, size: int) -> Iterator[str]:
        """Scenes of so many objects on which the records open: both at once, or, if both rules are temporal, each at
        some moment.
        """
        yield from (*self._objects(size), *frame(self._part), KERNEL, self._part.text)
        prefixes = ["", "_g_" if self._apart else ""]
        for prefix, (name, binding) in zip(prefixes, self._pair, strict=True):
            yield f":- not {prefix}opens({name},{binding_text(binding)})."
        if self._apart:
            yield _MOMENT.replace("_e_", "_g_")
            yield side(self._part, "_g_", _SHARED)

    def _objects(self, size: int) -> Iterator[str]:
        yield from candidates(self._part, size)
        yield ":- _place(_,X), not object(X)."
        yield from (f"_core({quote(name)})." for name in self._core)

    def _moment(self, prefix: str, met: Sequence[int], *, guessed: bool = True) -> Iterator[str]:
        """Another moment of the scene, at which the targets with the numbers `met` are met."""
        if guessed:
            yield _MOMENT.replace("_e_", prefix)
        yield side(self._part, prefix, _SHARED)
        for i, (name, binding) in enumerate(self._pair):
            term = binding_text(binding)
            yield f"{prefix}was_pending({name},{term})."
            if i in met:
                yield f":- not {prefix}target({name},{term})."

    def _way(self, size: int, found: asp.Answer, end: float) -> asp.Answer | None:
        """A moment at which both targets are met, of the objects in the rules as they are on the scene found."""
        tags = {atom for atom in found.atoms if atom.name == "tag"}
        same = [
            f":- {'not ' if Atom('tag', (name, Fun(tag))) in tags else ''}tag({quote(name)},{tag})."
            for name in self._core
            for tag in self._part.reads("tag")
        ]
        moved = [f":- not moved({quote(str(atom.args[0]))})." for atom in found.atoms if atom.name in _MOVED]
        lines = [*self._objects(size), *same, *moved, *self._moment("_e_", [0, 1]), ":- intent(_).", _LEAST]
        return asp.search("\n".join(lines), self._outputs, self._part.pack.consts, seconds=end - time.monotonic())

    def _excluding(self, prefix: str, way: frozenset[Atom]) -> Iterator[str]:
        """That a way to meet both targets, found for some scene, is none for the next."""
        met = [a._replace(name=a.name.removeprefix("_e_")) for a in way if a.name.startswith("_e_")]
        others = [a for a in met if a.name != "tag" or a.args[0] not in self._core]
        lines = [f"{'' if a.positive else '-'}{prefix}{a._replace(positive=True)}." for a in others]
        lines += [f"{prefix}tag(X,T) :- tag(X,T), _core(X).", *self._moment(prefix, [], guessed=False)]
        both = ", ".join(f"{prefix}target({name},{binding_text(binding)})" for name, binding in self._pair)
        yield "\n".join([*lines, f":- {both}.", *(f"{prefix}moved(X) :- {earlier}(X)." for earlier in _MOVED)])

    def _told(self, found: asp.Answer) -> tuple[tuple[Scene, ...], tuple[Instance, ...]]:
        chosen = Atom("_chosen", (term_of_binding(self._core),))
        plain = [atom for atom in found.atoms if not atom.name.startswith("_")]
        now = example_of(self._part, [*plain, chosen], found.proven)
        names = readable_ids(now, self._part)
        objects = [atom for atom in plain if atom.name == "object"]
        pair = tuple((rule, tuple(names[x] for x in binding)) for rule, binding in self._pair)
        now = renamed_example(now, names)
        scenes = [Scene("first opened" if self._apart else "opened", now.graph, now.intent)]
        moments = [("_e_", "first met", pair), ("_f_", "second met", pair)]
        for prefix, name, records in [*([("_g_", "second opened", ())] if self._apart else []), *moments]:
            later = [a._replace(name=a.name.removeprefix(prefix)) for a in found.atoms if a.name.startswith(prefix)]
            graph = graph_of([*objects, *later], self._part.vocabulary)
            moment = renamed_example(Example(now.rule, self._core, None, graph), names)
            scenes.append(Scene(name, moment.graph, None, records))
        return tuple(scenes), pair
