"""What a plan is made from: the action theory, the safety rules and the goal, as one program with steps.

Nothing is written twice: theory, rules and kernel are the files that world and engine run, with the step in front.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib.resources import files
from itertools import product
from pathlib import Path

from obviate.engine.backend import KERNEL
from obviate.kb import Action, Pack, Vocabulary, asp, household
from obviate.kb.copies import Stepped, lasting_predicates, stepped, timed
from obviate.kb.files import read_text
from obviate.kb.kinds import Kinds
from obviate.kb.program import Program
from obviate.kb.terms import Atom, Fun

__all__ = ["Domain"]

STATICS = frozenset(  # what Kinds.facts tells
    {"ability", "substance", "of_kind", "order", "deep", "washer", "heats", "cooks_to", "cuts_to", "source"}
    | {"shows_as", "removes", "removes_if"}
)
_FLUENTS = frozenset(("state", "edge", "moved"))
_FRAME = frozenset(("object", "tag", "value", "deadline", "targeted"))
_EVENTS = frozenset(("intent", "executed"))
_READ = frozenset(("hazard", "threatens"))  # by the kernel and plan.lp, at a step
_PLAN = files("obviate.kb").joinpath("planning/plan.lp").read_text(encoding="utf-8")
_RELEVANCE = files("obviate.kb").joinpath("planning/relevance.lp").read_text(encoding="utf-8")
_FEW = 2
_ANY = ""  # any object: an id is never empty


@dataclass(frozen=True)
class Domain:
    """Skills as an action theory, what objects are, and the rules to obey (None: none).

    `actions` is the file of another theory than the household's, `customs` that of another ``planning/household.lp``.
    """

    kinds: Kinds
    pack: Pack | None = None
    actions: str = ""
    customs: str = ""

    @property
    def vocabulary(self) -> Vocabulary:
        return self.kinds.vocabulary

    @cached_property
    def consts(self) -> Mapping[str, str]:
        """The values of the constants that the rules use."""
        return {**self.pack.program.constants, **self.pack.consts} if self.pack else {}

    def program(self, goal: str, facts: Iterable[Atom]) -> str:
        """The program of `plan.lp` with theory, rules and the goal, and `facts` of a situation.

        `goal` is a program that concludes ``goal`` from the belief atoms and ``seen(X)``.
        """
        facts = list(facts)
        given = _given(facts)
        theory, rules = _theory(self._theory_file), _rules(self.pack) if self.pack else Stepped()
        (theory_fixed, theory_step), (rules_fixed, rules_step) = theory.texts(given), rules.texts(given)
        aim_fixed, aim_step = _aim(goal).texts({})
        return "\n".join(
            [
                _PLAN,
                f"#program step(t).\n{rules_step}\n{aim_step}",
                f"#program act(t).\n{theory_step}",
                f"#program base.\n{self._customs}\n{theory_fixed}\n{rules_fixed}\n{aim_fixed}",
                *sorted(f"{fact}." for fact in facts),  # in order: the search breaks ties by it
            ]
        )

    def statics(self, objects: Mapping[str, str]) -> list[Atom]:
        """What objects (id to kind) can do, as far as anything asks.

        The simulator of IS-Bench also cooks in a refrigerator; no plan counts on that.
        """
        read = _abilities(self._theory_file, self._customs)
        facts = [fact for fact in self.kinds.facts(objects) if fact.name != "ability" or str(fact.args[1]) in read]
        cold = {name for name, kind in objects.items() if self.kinds.can(kind, "coldSource")}
        return [fact for fact in facts if fact.name != "heats" or fact.args[0] not in cold]

    def offers(self, statics: Iterable[Atom], names: Iterable[str]) -> list[Action]:
        """The actions on objects that the theory does not rule out whatever the state is, in order.

        Each argument is looked at by itself, with any other beside it.
        """
        skills = {name: n for name, n in sorted(self.vocabulary.skills.items()) if name != "done"}
        names = sorted(names)
        tried = [
            _single(skill, name, place, arity)
            for skill, arity in skills.items()
            for place in range(arity)
            for name in names
        ]
        facts = [Atom("object", (name,)) for name in names]
        for action in tried:
            facts.append(Atom("offered", (action.term,)))
            facts += [Atom("about", (action.term, name)) for name in action.args if name != _ANY]
        found = asp.evaluate([_barring(self._theory_file)], [*facts, *statics], [("violates", 3, True)])
        barred = {
            _action(act)
            for act, _, reason in (atom.args for atom in found)
            if isinstance(act, Fun) and isinstance(reason, Fun) and _ANY not in reason.args
        }
        fit = {action for action in tried if action not in barred}
        return [
            Action(skill, args)
            for skill, arity in skills.items()
            for args in product(
                *([name for name in names if _single(skill, name, place, arity) in fit] for place in range(arity))
            )
        ]

    def relevant(self, facts: Iterable[Atom], *, wide: bool) -> frozenset[str]:
        """The objects that may matter to a task, by ``planning/relevance.lp``: a few for each turn, or all (`wide`)."""
        facts = [*facts, Atom("wide") if wide else Atom("few", (_FEW,))]
        found = asp.evaluate([_RELEVANCE, self._customs], facts, [("relevant", 1, True)])
        return frozenset(str(atom.args[0]) for atom in found)

    @property
    def _theory_file(self) -> str:
        return self.actions or str(household.folder / "actions" / "household.lp")

    @cached_property
    def _customs(self) -> str:
        return read_text(Path(self.customs or household.folder / "planning" / "household.lp"))


def _single(skill: str, name: str, place: int, arity: int) -> Action:
    return Action(skill, tuple(name if i == place else _ANY for i in range(arity)))


def _action(term: Fun) -> Action:
    return Action(term.name, tuple(map(str, term.args)))


def _given(facts: Iterable[Atom]) -> dict[tuple[str, int], set[str]]:
    """The constants and functions in facts about what never changes, and in what may be done."""
    found: dict[tuple[str, int], set[str]] = {("tag", 1): set(), ("ability", 1): set(), ("do", 0): set()}
    for fact in facts:
        if fact.name in ("tag", "ability"):
            found[fact.name, 1].add(str(fact.args[1]))
        elif fact.name == "offered":
            found["do", 0].add(fact.args[0].name if isinstance(fact.args[0], Fun) else "")
    return found | {("intent", 0): found["do", 0] | {"done"}}


@lru_cache(maxsize=8)
def _parsed(file: str) -> Program:
    return asp.parse(read_text(Path(file)), file)


@lru_cache(maxsize=8)
def _theory(file: str) -> Stepped:
    shared = _FLUENTS | {"do", "argument"}
    program = _parsed(file)
    # Which reason is the first, a minimum at each, is of no use where there must be none: plan.lp forbids them all.
    rules = tuple(rule for rule in program.rules if rule.head is None or rule.head.name != "reason")
    return stepped(replace(program, rules=rules), lasting=STATICS | {"object", "tag"}, shared=shared, prefix="world_")


@lru_cache(maxsize=8)
def _rules(pack: Pack) -> Stepped:
    kernel = asp.parse(KERNEL, "jit.lp")
    both = Program((*pack.program.rules, *kernel.rules), (), "")
    return stepped(both, lasting=_FRAME, shared=_FLUENTS | _EVENTS, changing=_READ, prefix="safety_")


@lru_cache(maxsize=256)
def _aim(goal: str) -> Stepped:
    return stepped(
        asp.parse(goal, "goal"), lasting=_FRAME, shared=_FLUENTS | {"seen"}, changing={"goal"}, prefix="aim_"
    )


@lru_cache(maxsize=8)
def _barring(file: str) -> str:
    """The rules of a theory that tell, without any state, why an action fails: at every action that is offered."""
    program = _parsed(file)
    inputs = STATICS | {"object", "tag", "do", "argument"}
    still = lasting_predicates(program, inputs)
    rules = tuple(rule for rule in program.rules if {p.name for one in rule.body for p, _ in one.inner} <= still)
    text = timed(Program(rules, (), ""), lasting=STATICS | {"object", "tag"}, variable="Act", bound="offered(Act)")
    return f"{text}\ndo(Act,Act) :- offered(Act).\nargument(Act,X) :- about(Act,X)."


@lru_cache(maxsize=8)
def _abilities(file: str, customs: str) -> frozenset[str]:
    """The abilities that theory and customs name."""
    found = set()
    for program in (_parsed(file), asp.parse(customs, "customs")):
        for rule in program.rules:
            for literal in rule.body:
                for pattern, _ in literal.inner:
                    if pattern.name == "ability":
                        found |= {part.name for part in pattern.args[1].walk() if part.kind == "constant"}
    return frozenset(found)
