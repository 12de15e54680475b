"""Scenario tests of rule packs, as ASP facts: what is given, what happens step by step, what must follow.

    test(wipe_first, "A dusty plate is wiped before food is put on it").
    given(wipe_first, (tag("peach", safety_food); tag("plate", function_container); state("plate", dusty))).
    step(wipe_first, 1, intend(place_on_top("peach", "plate"))).
    expect(wipe_first, 1, trigger(food_on_clean, ("peach", "plate"))).

``docs/cli.md`` describes the format.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from obviate.kb import asp
from obviate.kb.action import DONE, Action
from obviate.kb.belief import BeliefGraph
from obviate.kb.crowd import refuse_costly
from obviate.kb.dependency import dependency_findings
from obviate.kb.errors import DataError, ObviateError, PackError, Span, nearest
from obviate.kb.files import read_text
from obviate.kb.observed import Written, observation_of, scene_of
from obviate.kb.pack import Pack, rule_names
from obviate.kb.patch import Patch
from obviate.kb.places import Places, written
from obviate.kb.program import Program
from obviate.kb.terms import Atom, Fun, Term, binding_of

__all__ = ["CONCLUSIONS", "Case", "Event", "Expectation", "load_cases", "read_cases"]

CONCLUSIONS = ("trigger", "risk", "pending", "passed", "failed")
_QUANTIFIERS = ("some", "no", "only", "exactly")
_STEPS = ("intend", "probe", "execute", "observe", "finish")
_REASONS = ("executed", "deadline", "unresolved", "abandoned")
_FORMS = {"test": 2, "given": 2, "step": 3, "expect": 3}
# A classically negated term has no parts for us, so the ones that mean something are told without their sign.
_SIGNS = """
_negated(W) :- given(_,-state(X,S)), W = state(X,S).
_negated(W) :- step(_,_,observe(-state(X,S))), W = state(X,S).
_negated(W) :- step(_,_,observe(-edge(P,X,Y))), W = edge(P,X,Y).
_negated(W) :- step(_,_,observe(-object(X))), W = object(X).
"""


@dataclass(frozen=True, slots=True)
class Event:
    """What happens at one step: a verb of the engine (intend, probe, execute, apply, finish) and what it is told.

    `text` is how it was written.
    """

    verb: str
    given: Action | Patch | str
    text: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Expectation:
    """What must be so after `step`: of the instances of `conclusion` that are meant there are `some`, `no`, `exactly`
    `count`, or `only` these of their rule.

    Without a `rule` those of every rule are meant, with `binding` None those of any objects; `reason` narrows
    failures, unless it is empty. `text` is how it was written.
    """

    step: int
    quantifier: str
    conclusion: str
    rule: str
    binding: tuple[str, ...] | None
    reason: str
    count: int
    text: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Case:
    """A scenario test: the first scene, one event for each step from 1, and what is expected.

    `consts` are the ``#const`` values of the pack that the test overrides.
    """

    name: str
    title: str
    scene: Patch
    consts: tuple[tuple[str, str], ...]
    events: tuple[Event, ...]
    expectations: tuple[Expectation, ...]
    span: Span = field(compare=False)

    def concerns(self, rules: Collection[str]) -> bool:
        """Whether something is expected of one of these rules."""
        return any(not expected.rule or expected.rule in rules for expected in self.expectations)


def load_cases(*files: Path | str, pack: Pack) -> tuple[Case, ...]:
    """The scenario tests for `pack` in files, in their order. Raises `ObviateError` at the place of what is wrong."""
    return read_cases({str(file): read_text(file) for file in files}, pack=pack)


def read_cases(texts: Mapping[str, str] | str, *, pack: Pack) -> tuple[Case, ...]:
    """The same from texts by file name, or from one text."""
    texts = {"cases.test.lp": texts} if isinstance(texts, str) else texts
    cases: dict[str, Case] = {}
    for file, text in texts.items():
        for case in _Reader(file, text, pack).cases():
            if case.name in cases:
                raise _twice(case.name, cases[case.name].span, case.span)
            cases[case.name] = case
    return tuple(cases.values())


def _refuse(code: str, message: str, where: Span, help: str) -> DataError:
    return DataError(code, message, where=where, help=help)


def _twice(name: str, first: Span, second: Span) -> DataError:
    return _refuse("said-twice", f"{name} is already a test at {first}", second, "give one of them another name")


@contextmanager
def _placed(where: Span) -> Iterator[None]:
    """Gives an error that knows no place in the text this one."""
    try:
        yield
    except ObviateError as error:
        if isinstance(error.where, Span):
            raise
        raise DataError(error.code, error.message, where=where, help=error.help) from None


def _check_forms(program: Program) -> None:
    """Only the four predicates are concluded, and only they are read."""
    for other in program.others:
        if other.kind not in ("definition", "defined"):
            told = f"{other.text} is refused in a test file"
            raise _refuse("refused-statement", told, other.span, "it has facts and rules only")
    for rule in program.rules:
        if rule.head is None:
            help = "say what is to be true with expect(...)"
            raise _refuse("refused-statement", "a test file has no constraints", rule.span, help)
        for atom in (rule.head, *(pattern for literal in rule.body for pattern, _ in literal.inner)):
            arity = _FORMS.get(atom.name)
            if arity is None or not atom.positive:
                told = f"a test file has no {'' if atom.positive else '-'}{atom.name}/{len(atom.args)}"
                raise _refuse("undeclared-predicate", told, atom.span, nearest(atom.name, _FORMS))
            if len(atom.args) != arity:
                told = f"{atom.name} takes {arity} arguments, not {len(atom.args)}"
                help = f"write {atom.name}(Test, {'Step, ' if arity == 3 else ''}...)"
                raise _refuse("predicate-arity", told, atom.span, help)


class _Reader:
    """Reads the cases of one file."""

    def __init__(self, file: str, text: str, pack: Pack) -> None:
        self._pack = pack
        program = asp.parse(text, file)
        _check_forms(program)
        for problem in dependency_findings(program):  # what would not end, or not have one answer
            raise problem
        refuse_costly(program, consts={})
        self._places = Places(program)
        outputs = [("_negated", 1, True), *((name, arity, True) for name, arity in _FORMS.items())]
        try:
            atoms = asp.evaluate([text, _SIGNS], (), outputs)
        except PackError as error:
            where: Span | str = file
            if isinstance(error.where, Span):
                line = error.where.line
                where = Span(file, line, error.where.column, text.split("\n")[line - 1])
            raise PackError(error.code, error.message, where=where, help=error.help) from None
        signs = {f"-{atom.args[0]}": atom.args[0] for atom in atoms if atom.name == "_negated"}
        self._atoms: dict[str, list[Atom]] = {name: [] for name in _FORMS}
        for atom in sorted(atoms, key=str):
            if atom.name in _FORMS:
                self._atoms[atom.name].append(Atom(atom.name, tuple(_signed(arg, signs) for arg in atom.args)))
        for found in self._atoms.values():
            found.sort(key=lambda atom: (self._at(atom).line, self._at(atom).column))

    def cases(self) -> list[Case]:
        titles: dict[Term, Atom] = {}
        for atom in self._atoms["test"]:
            name, title = atom.args
            if not (isinstance(name, Fun) and name.name and not name.args and isinstance(title, str) and title.strip()):
                help = 'write test(name, "What it shows")'
                raise _refuse("test-form", f"{written(Fun(*atom[:2]))} is no test", self._at(atom), help)
            if name in titles:
                raise _twice(name.name, self._at(titles[name]), self._at(atom))
            titles[name] = atom
        for kind in ("given", "step", "expect"):
            for atom in self._atoms[kind]:
                if atom.args[0] not in titles:
                    name = atom.args[0]
                    help = nearest(str(name), map(str, titles)) or f'add test({name}, "What it shows")'
                    raise _refuse("unknown-test", f"there is no test {written(name)}", self._at(atom, 0), help)
        return [self._case(atom) for atom in titles.values()]

    def _case(self, test: Atom) -> Case:
        given, steps, expected = (
            [atom for atom in self._atoms[kind] if atom.args[0] == test.args[0]] for kind in ("given", "step", "expect")
        )
        span = self._at(test)
        if not expected:
            help = f"add expect({test.args[0]}, Step, ...)"
            raise _refuse("no-expectations", f"{test.args[0]} expects nothing", span, help)
        consts = self._consts([atom for atom in given if _is(atom.args[1], "const", 2)])
        beliefs = [atom for atom in given if not _is(atom.args[1], "const", 2)]
        with _placed(self._at(beliefs[0]) if beliefs else span):
            scene = scene_of([self._written(atom, 1) for atom in beliefs], self._pack.vocabulary)
            graph = BeliefGraph.of(self._pack.vocabulary, scene)
        events, objects = self._events(steps, graph)
        expectations = [self._expectation(atom, events, objects) for atom in expected]
        expectations.sort(key=lambda e: (e.step, e.span.line, e.span.column, e.text))
        return Case(str(test.args[0]), str(test.args[1]), scene, consts, events, tuple(expectations), span)

    def _at(self, atom: Atom, *path: int) -> Span:
        return self._places.of(atom, *path)

    def _written(self, atom: Atom, *path: int) -> Written:
        term: Term = Fun(atom.name, atom.args)
        for i in path:
            assert isinstance(term, Fun)
            term = term.args[i]
        return term, lambda *more: self._at(atom, *path, *more)

    # -- what is given and what happens ----------------------------------------------------------

    def _consts(self, given: Sequence[Atom]) -> tuple[tuple[str, str], ...]:
        """The constants of the pack that a test gives a value."""
        declared = {other.text.split()[1] for other in self._pack.program.others if other.kind == "definition"}
        values: dict[str, str] = {}
        for atom in given:
            assert isinstance(atom.args[1], Fun)
            name, value = map(written, atom.args[1].args)
            if name not in declared:
                help = nearest(name, declared) or "it has none"
                raise _refuse("unknown-const", f"the pack has no #const {name}", self._at(atom, 1, 0), help)
            if values.setdefault(name, value) != value:
                told = f"{name} is {values[name]} already"
                raise _refuse("said-twice", told, self._at(atom, 1, 1), "keep one of them")
        return tuple(sorted(values.items()))

    def _events(self, steps: Sequence[Atom], graph: BeliefGraph) -> tuple[tuple[Event, ...], frozenset[str]]:
        """The events in order, and every object that is known at some step."""
        by_step: dict[int, list[Atom]] = {}
        for atom in steps:
            number = atom.args[1]
            if not isinstance(number, int) or number < 1:
                told = f"{written(number)} is no step"
                raise _refuse("test-steps", told, self._at(atom, 1), "steps are 1, 2, 3, ...; 0 is what is given")
            by_step.setdefault(number, []).append(atom)
        events: list[Event] = []
        objects = set(graph.nodes)
        for number, atoms in sorted(by_step.items()):
            where = self._at(atoms[0], 1)
            if number != len(events) + 1:
                help = "number the steps 1, 2, 3, ..."
                raise _refuse("test-steps", f"step {len(events) + 1} is missing", where, help)
            if events and (events[-1].verb == "finish" or (events[-1].verb, events[-1].given) == ("execute", DONE)):
                raise _refuse("test-steps", f"the episode ended at step {len(events)}", where, "remove what follows")
            with _placed(self._at(atoms[0], 2)):
                events.append(self._event(atoms, graph))
                if isinstance(events[-1].given, Patch):
                    graph = graph.merge(events[-1].given)
            objects |= set(graph.nodes)
        return tuple(events), frozenset(objects)

    def _event(self, atoms: Sequence[Atom], graph: BeliefGraph) -> Event:
        """What the atoms of one step say; several are one observation."""
        terms = []
        for atom in atoms:
            what = atom.args[2]
            if not (isinstance(what, Fun) and what.name in _STEPS and len(what.args) == 1):
                help = nearest(what.name if isinstance(what, Fun) else str(what), _STEPS)
                raise _refuse("test-form", f"{written(what)} is no event", self._at(atom, 2), help)
            terms.append(what)
        if len(terms) > 1 and any(term.name != "observe" for term in terms):
            told = f"{written(terms[0])} and {written(terms[1])} are both step {atoms[0].args[1]}"
            raise _refuse("test-steps", told, self._at(atoms[1], 2), "give each event a step of its own")
        kind, given = terms[0].name, terms[0].args[0]
        text, span = ", ".join(map(written, terms)), self._at(atoms[0], 2)
        if kind == "observe":
            seen = [self._written(atom, 2, 0) for atom in atoms]
            return Event("apply", observation_of(seen, graph), text, span)
        if kind == "finish":
            return Event(kind, str(given) or "finished", text, span)
        if not isinstance(given, Fun) or not all(isinstance(arg, str) for arg in given.args):
            help = 'write skill("object", ...): object ids are strings'
            raise _refuse("test-form", f"{written(given)} is no action", self._at(atoms[0], 2, 0), help)
        with _placed(self._at(atoms[0], 2, 0)):
            action = graph.vocabulary.check_action(Action(given.name, tuple(map(str, given.args))), graph.nodes)
        return Event(kind, action, text, span)

    # -- what is expected ------------------------------------------------------------------------

    def _expectation(self, atom: Atom, events: Sequence[Event], objects: Collection[str]) -> Expectation:
        step, what = atom.args[1:]
        if not isinstance(step, int) or not 0 <= step <= len(events):
            help = f"its steps are 0 (what is given) to {len(events)}"
            raise _refuse("test-steps", f"there is no step {written(step)}", self._at(atom, 1), help)
        quantifier, count, inner, path = _quantified(what)
        conclusion, args = (inner.name, inner.args) if isinstance(inner, Fun) else ("", ())
        least = 2 if path == (2,) or quantifier == "only" else 0
        most = 3 if conclusion == "failed" else 2
        if conclusion not in CONCLUSIONS or not least <= len(args) <= most:
            help = f"write {conclusion}(Rule, Objects)" if conclusion in CONCLUSIONS else ""
            help = help or {"exactly": "write exactly(K, W)", "only": "write only(W)"}.get(conclusion, "")
            help = help or nearest(conclusion or written(what), (*CONCLUSIONS, *_QUANTIFIERS))
            raise _refuse("test-form", f"{written(inner)} cannot be expected here", self._at(atom, *path), help)
        if not step and conclusion in ("risk", "passed", "failed"):
            told = f"{written(what)} cannot be expected of what is given"
            raise _refuse("test-steps", told, self._at(atom, 1), "that is decided at the steps from 1")
        rule = str(args[0]) if args else ""
        if args and rule not in self._pack.rules:
            told = f"the pack has no rule {written(args[0])}"
            raise _refuse("unknown-rule", told, self._at(atom, *path, 0), nearest(rule, self._pack.rules))
        binding = self._binding(args[1], rule, atom, (*path, 1), objects) if len(args) > 1 else None
        reason = str(args[2]) if len(args) > 2 else ""
        reasons = (*_REASONS, *(str(event.given) for event in events if event.verb == "finish"))
        if reason and reason not in reasons:
            told = f"nothing fails because of {written(args[2])}"
            raise _refuse("test-form", told, self._at(atom, *path, 2), nearest(reason, reasons))
        span = self._at(atom, 2)
        return Expectation(step, quantifier, conclusion, rule, binding, reason, count, written(what), span)

    def _binding(
        self, term: Term, rule: str, atom: Atom, path: tuple[int, ...], objects: Collection[str]
    ) -> tuple[str, ...]:
        with _placed(self._at(atom, *path)):
            binding = binding_of(term)
        size = _arity(self._pack, rule)
        if len(binding) != size:
            told = f"{rule} binds {size} object{'s' * (size != 1)}, not {len(binding)}"
            shown = f"({','.join('XYZ'[:size])})" if size != 1 else "X"
            raise _refuse("binding-arity", told, self._at(atom, *path), f"write {shown}")
        for i, name in enumerate(binding):
            if name not in objects:
                where = self._at(atom, *path, *([i] if size > 1 else []))
                help = nearest(name, objects) or "give it, or observe it"
                raise _refuse("unknown-object", f"there is no object {name!r}", where, help)
        return binding


def _quantified(what: Term) -> tuple[str, int, Term, tuple[int, ...]]:
    """The quantifier and count of an expectation, what is quantified, and the path to it."""
    if isinstance(what, Fun) and what.name in _QUANTIFIERS:
        number = what.args[0] if what.args else None
        if what.name == "exactly" and len(what.args) == 2 and isinstance(number, int) and number >= 0:
            return "exactly", number, what.args[1], (2, 1)
        if what.name != "exactly" and len(what.args) == 1:
            return what.name, 0, what.args[0], (2, 0)
    return "some", 0, what, (2,)


def _arity(pack: Pack, rule: str) -> int:
    """How many objects a rule binds."""
    heads = (r.head for r in pack.program.rules if r.head and r.head.name == "hazard" and rule in rule_names(r))
    term = next(heads).args[1]
    return len(term.parts) if term.kind == "tuple" else 1


def _signed(term: Term, signs: Mapping[str, Term]) -> Term:
    """The term with each negated one as a function ``-`` of what is negated."""
    if not isinstance(term, Fun):
        return term
    if term.name in signs:
        return Fun("-", (signs[term.name],))
    return Fun(term.name, tuple(_signed(arg, signs) for arg in term.args))


def _is(term: Term, name: str, arity: int) -> bool:
    return isinstance(term, Fun) and term.name == name and len(term.args) == arity
