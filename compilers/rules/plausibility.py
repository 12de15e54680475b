"""Whether a rule is about things that there are, and about something that a robot can change.

The scenes are those of the engine's searches, with objects of the kinds in the tables (``data/typed.lp``): nothing is a
frozen floor or a sponge to cut with.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files

from obviate.engine.backend import KERNEL
from obviate.engine.search import GOALS, body_of, candidates, frame
from obviate.engine.slice import Slice, keys_of
from obviate.kb import asp
from obviate.kb.errors import PackError
from obviate.kb.kinds import Kinds
from obviate.kb.program import Pattern, Rule
from obviate.kb.terms import Atom, Fun

__all__ = ["idle", "odd"]

_DATA = files("obviate.compilers.rules").joinpath("data")
_LEVERS = ("openable", "toggleable", "cookable", "freezable", "heatable", "cloth", "slicer", "sceneObject")
_GOALS = ("hazard", "opens")
_MOST = 5  # objects of a scene; a rule of three has room for two more


def odd(part: Slice, kinds: Kinds | None, seconds: float) -> Iterator[str]:
    """Which parts of a rule are true of no scene of real things. Raises `PackError` (``search-timeout``)."""
    if kinds is None:
        return
    mine = [rule for rule in part.rules if any(key[1] == part.rule.name for key in keys_of(rule)) and rule.body]
    lines = [*candidates(part, min(part.bound, _MOST)), *frame(part), KERNEL, part.text]
    lines += [_typed(), *_profiles(part, kinds)]
    lines += [f'_goal("{goal}") :- {GOALS[goal].format(r=part.rule.name)}.' for goal in _GOALS]
    lines += [f"{{ was_pending({part.rule.name},B) : _binding(B) }} 1."]
    for i, rule in enumerate(mine):
        together = f"; hazard({part.rule.name},{_binding(rule)})" if _member(rule) == "threatens" else ""
        lines.append(f"_fires({i}) :- {body_of(rule)}{together}.")
    outputs = [("_goal", 1, True), ("_fires", 1, True)]
    answer = asp.search("\n".join(lines), outputs, part.pack.consts, seconds=seconds, brave=True)
    if answer is None or not answer.proven:
        raise PackError("search-timeout", "the search for a real scene took too long", help="allow more seconds")
    goals = {str(atom.args[0]) for atom in answer.atoms if atom.name == "_goal"}
    fires = {int(str(atom.args[0])) for atom in answer.atoms if atom.name == "_fires"}
    if "hazard" not in goals:
        yield "no things that there are make its hazard true"
    elif "opens" not in goals:
        yield "with things that there are, no action that makes sense triggers it"
    else:
        for i, rule in enumerate(mine):
            if i not in fires:
                yield f"no things that there are make this true: {rule.text}"


def idle(part: Slice) -> Iterator[str]:
    """Why no action of the robot could bring the hazard about, or end it.

    A situational rule about what things are, and not how they stand, ends by giving up the intent.
    """
    effects = _effects()
    if not {effect.args[0] for effect in effects} & {Fun(skill) for skill in part.vocabulary.skills}:
        return  # another robot, of whose actions nothing is told
    changed = {str(effect.args[-1]) for effect in effects} | {"moved"}
    read = {*part.reads("state"), *part.reads("state", positive=False), *part.reads("edge"), *part.reads("value")}
    read |= {"moved"} if part.moving else set()
    name = part.rule.name
    hazards = [rule for rule in part.rules if ("hazard", name) in keys_of(rule)]
    if part.rule.mode == "temporal" and not read:
        yield "it is about what things are, and nothing that the robot does brings that about or ends it"
    elif read and not read & changed and not part.reads("value"):
        yield f"no action of the robot changes {', '.join(sorted(read))}"
    if part.rule.mode == "situational" and not part.rule.targeted:
        for rule in part.rules:
            if ("threatens", name) in keys_of(rule):
                yield from _undoing(rule, hazards, effects)


def _undoing(threat: Rule, hazards: list[Rule], effects: set[Atom]) -> Iterator[str]:
    """The intents that end the very hazard that they are said to make acute."""
    ends = {(str(e.args[0]), int(str(e.args[1])) - 1, str(e.args[2])) for e in effects if e.name == "ends"}
    letters = dict(zip(_names(threat), zip(*map(_names, hazards), strict=False), strict=False))
    needed = [{(p.args[0].text, s.name) for p in _states(rule) for s in p.args[1].alternatives()} for rule in hazards]
    for pattern in (p for literal in threat.body for p, _ in literal.inner if p.name == "intent"):
        for action in pattern.args[0].alternatives():
            for skill, index, state in ends:
                if skill == action.name and index < len(action.parts) and action.parts[index].text in letters:
                    own = letters[action.parts[index].text]
                    if all((letter, state) in asked for letter, asked in zip(own, needed, strict=True)):
                        yield f"{skill} ends the hazard that it is said to make acute"


def _states(rule: Rule) -> list[Pattern]:
    """The states that must hold for a body to."""
    atoms = [literal.atom for literal in rule.body if literal.atom is not None and not literal.negations]
    return [atom for atom in atoms if atom.name == "state" and atom.positive]


def _names(rule: Rule) -> list[str]:
    assert rule.head is not None
    term = rule.head.args[1]
    return [part.text for part in (term.parts if term.kind == "tuple" else (term,))]


def _binding(rule: Rule) -> str:
    return rule.head.args[1].text if rule.head is not None else "()"


def _member(rule: Rule) -> str:
    return rule.head.name if rule.head is not None else ""


# -- the tables ------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _typed() -> str:
    return _DATA.joinpath("typed.lp").read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _effects() -> set[Atom]:
    text = _DATA.joinpath("effects.lp").read_text(encoding="utf-8")
    return asp.evaluate([text], (), [("ends", 3, True), ("makes", 3, True), ("relates", 2, True)])


def _profiles(part: Slice, kinds: Kinds) -> Iterator[str]:
    """What tags and abilities go together in some kind, as far as the rule or the roles tell them apart."""
    found = {(tags, frozenset(kinds.abilities.get(kind, ())) & frozenset(_LEVERS)) for kind, tags in kinds.tags.items()}
    read = set(part.reads("tag"))
    known = {tag for tags, _ in found for tag in tags}
    for i, (tags, levers) in enumerate(sorted(found, key=lambda pair: (sorted(pair[0]), sorted(pair[1])))):
        yield f"_profile({i})."
        yield "".join(f"_has({i},{tag})." for tag in sorted(tags))
        yield "".join(f"_can({i},{_quoted(lever)})." for lever in sorted(levers))
    yield "".join(f"_known_tag({tag})." for tag in sorted(read & known))


def _quoted(name: str) -> str:
    return name
