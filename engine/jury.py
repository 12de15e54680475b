"""The tests of a pack as judges of its mutants: a mutant is killed when a test that passes on the pack fails on it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from obviate.engine.difference import difference
from obviate.engine.mutation import Mutant
from obviate.engine.trial import Step, follow, missed, variant
from obviate.kb import Pack, asp, digraph
from obviate.kb.cases import Case
from obviate.kb.check import findings
from obviate.kb.dependency import MEMBERS, Key, dependency_key
from obviate.kb.errors import ObviateError, PackError, Span
from obviate.kb.pack import rule_names
from obviate.kb.program import Program, Rule

__all__ = ["Jury", "Same", "Verdict", "indistinguishable", "score"]

_OBJECTS, _SECONDS = 4, 10.0  # how far a survivor is compared with the pack
Same = Callable[[Pack, Pack], bool]  # whether two packs conclude the same of every scene


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant: ``killed`` by the test `by`, ``survived``, ``equivalent`` to the pack, or ``invalid``,
    which no pack would load.
    """

    mutant: Mutant
    outcome: str
    by: str = ""


def indistinguishable(pack: Pack, other: Pack) -> bool:
    """Whether no small belief graph, with one record open at most, tells the packs apart; False if that takes long."""
    try:
        return difference(pack, other, objects=_OBJECTS, seconds=_SECONDS) is None
    except PackError:
        return False


def score(verdicts: Sequence[Verdict]) -> float:
    """The percentage killed of the mutants that load and differ; 100 if there are none."""
    killed, survived = (sum(v.outcome == outcome for v in verdicts) for outcome in ("killed", "survived"))
    return 100 * killed / (killed + survived) if killed + survived else 100.0


class Jury:
    """Judges mutants of `pack` by `cases` that pass on it.

    `same` may tell of a survivor that it means the same as the pack. Only what depends on a change is concluded anew;
    of the other rules every mutant concludes what the pack does.
    """

    def __init__(
        self, pack: Pack, cases: Sequence[Case], *, backend: str = "oneshot", same: Same | None = None
    ) -> None:
        self._pack = pack
        self._cases = cases
        self._backend = backend
        self._same = same
        self._graph = _dependencies(pack)
        self._steps: dict[str, tuple[Step, ...]] = {}

    def judge(self, mutant: Mutant) -> Verdict:
        """Try the cases that concern the changed rules until one fails."""
        mutated = _mutated(self._pack, mutant)
        if mutated is None:
            return Verdict(mutant, "invalid")
        rules = self._concerned(mutant.statement)
        small = self._sliced(mutated, rules)
        for case in self._cases:
            if case.concerns(rules) and not self._passes(case, small, rules):
                return Verdict(mutant, "killed", case.name)
        if self._same is not None and self._same(self._pack, mutated):
            return Verdict(mutant, "equivalent")
        return Verdict(mutant, "survived")

    def _passes(self, case: Case, mutated: Pack, rules: Collection[str]) -> bool:
        """Whether the case passes, where what is concluded of `rules` is what the mutated pack concludes."""
        other = variant(self._pack, case.consts)
        if case.name not in self._steps:
            self._steps[case.name] = follow(case, other, backend=self._backend)
        described = other.rules if mutated.rules == self._pack.rules else mutated.rules
        try:
            steps = follow(case, replace(mutated, consts=other.consts, rules=described), backend=self._backend)
        except ObviateError:  # it computes with what is no number
            return False
        both = zip(self._steps[case.name], steps, strict=True)
        return not any(missed(case, [_joined(old, new, rules) for old, new in both]))

    def _concerned(self, statement: Span) -> frozenset[str]:
        """The safety rules that depend on a statement."""
        mine = [rule for rule in self._pack.program.rules if rule.span == statement]
        heads = {key for rule in mine if rule.head for key in dependency_key(rule.head)}
        reached = heads.union(*(digraph.descendants(self._graph, head) for head in heads))
        owners = {owner for name, owner in reached if name in MEMBERS and owner != "*"}
        return frozenset(owners.union(*map(rule_names, mine)) & self._pack.rules.keys())

    def _sliced(self, mutated: Pack, rules: Collection[str]) -> Pack:
        """The pack with what these rules are concluded from, and nothing else."""
        roots = {(member, name) for member in MEMBERS for name in rules} & set(self._graph)
        needed = roots.union(*(digraph.ancestors(self._graph, root) for root in roots))

        def is_needed(rule: Rule) -> bool:
            if rule.head is None or (rule.head.name == "rule" and not set(rules).isdisjoint(rule_names(rule))):
                return True
            return not needed.isdisjoint(dependency_key(rule.head))

        return replace(mutated, program=_program(tuple(filter(is_needed, mutated.program.rules)), mutated.program))


def _joined(old: Step, new: Step, rules: Collection[str]) -> Step:
    """A step on which these rules conclude what is new, and the others what is old."""
    found = {
        conclusion: frozenset(f for f in old.findings[conclusion] if f.rule not in rules)
        | {f for f in new.findings[conclusion] if f.rule in rules}
        for conclusion in old.findings
    }
    return Step(new.situation, found)


def _dependencies(pack: Pack) -> digraph.DiGraph[Key]:
    """Edges from what is read to what is concluded from it."""
    graph: digraph.DiGraph[Key] = digraph.DiGraph()
    for rule in pack.program.rules:
        for head in dependency_key(rule.head) if rule.head else ():
            graph.add_node(head)
            if head[0] in MEMBERS:
                graph.add_edge(head, (head[0], "*"))
            for literal in rule.body:
                for pattern, _ in literal.inner:
                    graph.add_edges_from((body, head) for body in dependency_key(pattern))
    return graph


# -- loading a mutant ----------------------------------------------------------------------------


def _mutated(pack: Pack, mutant: Mutant) -> Pack | None:
    """The changed pack, or None if it would not load. Only the changed statement is parsed."""
    try:
        new = [replace(rule, span=mutant.statement) for rule in asp.parse(mutant.text, mutant.span.file).rules]
        rules: list[Rule] = []
        for rule in pack.program.rules:
            if rule.span != mutant.statement:
                rules.append(rule)
            elif new[0] not in rules:
                rules += new
        program = _program(tuple(rules), pack.program)
        if any(problem.severity == "error" for problem in findings(program, pack.vocabulary)):
            return None
        if new[0].head is not None and new[0].head.name == "deadline":  # which the pack tells in words
            return Pack.of(program.text, vocabulary=pack.vocabulary, name=pack.name, consts=pack.consts)
        asp.evaluate([program.text], (), (), pack.consts)
    except ObviateError:
        return None
    return replace(pack, program=program, digest=sha256(program.text.encode()).hexdigest()[:16])


def _program(rules: tuple[Rule, ...], whole: Program) -> Program:
    """The program of some rules, with the constants of the whole."""
    texts = {rule.span: rule.text for rule in rules}  # a statement with a pool in its head is several rules
    return Program(rules, whole.others, "\n".join([*(other.text for other in whole.others), *texts.values()]))
