"""Standing instructions as answer set programs, and what their judgments depend on (MIND paper, Section IV-A).

An instruction says which regions qualify and which of them it prefers. What either reads of the state is told from
the program's own data flow; a compiler or an author may declare it, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from obviate.kb import asp, digraph
from obviate.kb.crowd import refuse_costly
from obviate.kb.dependency import dependency_findings
from obviate.kb.errors import PackError, Span, nearest
from obviate.kb.files import read_text
from obviate.kb.program import Pattern, Program, Rule
from obviate.kb.program import Signature as Predicate
from obviate.kb.regions import CATEGORIES

__all__ = ["STAGES", "Instruction", "Signature"]

STAGES = ("semantic", "selection")
# What the facts of a state belong to: where the robot can go follows from its position and the topology.
READS: Mapping[tuple[str, int], tuple[str, ...]] = {
    ("inventory", 3): ("inventory",),
    ("label", 2): ("label",),
    ("at", 1): ("position",),
    ("used", 1): ("history",),
    ("door", 2): ("topology",),
    ("reachable", 1): ("position", "topology"),
    ("hops", 2): ("position", "topology"),
}
_MEMBERS = {"instruction": 1, "says": 2, "judged": 1, "depends": 3, "qualifies": 2, "prefer": 3}
_FACTS = ("instruction", "says", "judged", "depends")
_KERNEL = ("stale", "replan", "reselect", "feasible", "target", "changed", "verdict", "none")


@dataclass(frozen=True, slots=True)
class Signature:
    """The state categories that qualification (`semantic`) and choice (`selection`) read, equation (8)."""

    semantic: frozenset[str]
    selection: frozenset[str]

    def contains(self, true: Signature) -> bool:
        """Whether this conservatively contains the true read sets, equation (12)."""
        return true.semantic <= self.semantic and true.selection <= self.semantic | self.selection

    def widened(self) -> Signature:
        """Every category in the semantic stage, and in selection all but the inventory, equation (9)."""
        both = self.semantic | self.selection
        return Signature(both, both - {"inventory"})

    def union(self, *others: Signature) -> Signature:
        """Each slot united: what K samples of a compiler say together."""
        every = (self, *others)
        return Signature(
            frozenset().union(*(one.semantic for one in every)), frozenset().union(*(one.selection for one in every))
        )

    def inflation(self, true: Signature) -> float:
        """How many times as many semantic categories as the true ones, at least one."""
        return len(self.semantic) / max(1, len(true.semantic))


@dataclass(frozen=True, eq=False)
class Instruction:
    """A checked instruction: its `name`, what it `says`, and its program.

    `inferred` is what the program reads; `declared` what its ``depends`` facts say, None if it has none. `judged`
    means that qualification is asked of a semantic evaluator, for which ``qualifies`` may be left out.
    """

    name: str
    says: str
    program: Program
    inferred: Signature
    declared: Signature | None
    judged: bool
    span: Span = field(repr=False)

    @classmethod
    def load(cls, file: Path | str) -> Instruction:
        """Read an instruction from a file. Raises `PackError` or `DataError`, at the place of the first fault."""
        return cls.of(read_text(file), file=str(file))

    @classmethod
    def of(cls, text: str, *, file: str = "instruction.lp") -> Instruction:
        """An instruction from its text; otherwise like `load`."""
        program = asp.parse(text, file)
        for problem in _problems(program):
            raise problem
        refuse_costly(program, consts={})
        try:
            asp.evaluate([text], (), ())
        except PackError as error:
            where = error.where
            if isinstance(where, Span):
                where = Span(file, where.line, where.column, text.split("\n")[where.line - 1])
            raise PackError(error.code, error.message, where=where, help=error.help) from None
        facts = {(rule.head.name, *(arg.name for arg in rule.head.args)): rule for rule in program.rules if rule.head}
        (name, rule) = next((key[1], rule) for key, rule in facts.items() if key[0] == "instruction")
        declared = _declared(program)
        judged = any(key[0] == "judged" for key in facts)
        inferred = _inferred(program)
        if judged and declared is not None:  # the evaluator reads what it is given
            inferred = Signature(inferred.semantic | declared.semantic, inferred.selection)
        says = next((key[2] for key in facts if key[0] == "says"), "")
        return cls(name, says, program, inferred, declared, judged, rule.span)

    @property
    def signature(self) -> Signature:
        """What is declared, or else inferred."""
        return self.declared if self.declared is not None else self.inferred

    @property
    def undeclared(self) -> Signature:
        """What the program reads and nothing declares: where this is empty, containment holds by the data flow."""
        known = self.signature
        return Signature(
            self.inferred.semantic - known.semantic, self.inferred.selection - known.semantic - known.selection
        )


# -- what is wrong -------------------------------------------------------------------------------


def _problems(program: Program) -> Iterator[PackError]:
    for other in program.others:
        if other.kind not in ("definition", "defined", "showsignature"):
            help = "an instruction has rules, facts and #const only"
            yield PackError("refused-statement", f"{other.text} is refused", where=other.span, help=help)
    names = [rule for rule in program.rules if rule.head is not None and rule.head.signature[:2] == ("instruction", 1)]
    if len(names) != 1:
        where = names[1].span if names else (program.rules[0].span if program.rules else "")
        message = f"a text holds one instruction, not {len(names)}"
        yield PackError("instruction-form", message, where=where, help="write instruction(name).")
        return
    name = names[0].head.args[0].text if names[0].head else ""
    concluded = {rule.head.signature for rule in program.rules if rule.head is not None}
    for rule in program.rules:
        yield from _head(rule, name)
        for literal in rule.body:
            for pattern, _ in literal.inner:
                yield from _read(pattern, concluded)
    yield from _complete(program, names[0])
    yield from dependency_findings(program)
    yield from _scope(program)


def _head(rule: Rule, name: str) -> Iterator[PackError]:
    head = rule.head
    if head is None:
        help = "say what qualifies instead"
        yield PackError("refused-statement", "an integrity constraint is refused", where=rule.span, help=help)
    elif (head.name, len(head.args)) in READS or head.name in _KERNEL or head.name.startswith("_"):
        message = f"{head.name} belongs to the {'state' if head.name not in _KERNEL else 'kernel'}"
        yield PackError("instruction-form", message, where=head.span, help="choose another name")
    elif head.name in _MEMBERS:
        if len(head.args) != _MEMBERS[head.name] or not head.positive:
            form = f"{head.name}({', '.join('IRD'[: _MEMBERS[head.name]])})"
            yield PackError("predicate-arity", f"this is not {form}", where=head.span, help=f"write {form}")
        elif head.args[0].text != name:
            message = f"{head.args[0].text} is not the instruction of this text"
            yield PackError("unknown-rule", message, where=head.args[0].span or head.span, help=f"write {name}")
        elif head.name in _FACTS and rule.body:
            yield PackError("not-a-fact", f"{head.name} must be a fact", where=rule.span, help="remove the body")
        elif head.name == "depends":
            yield from _dependency(head)


def _dependency(head: Pattern) -> Iterator[PackError]:
    for arg, known in ((head.args[1], STAGES), (head.args[2], CATEGORIES)):
        for part in arg.alternatives():
            if part.name not in known or part.kind != "constant":
                what = "stage" if known is STAGES else "category"
                message = f"{part.text} is no {what}"
                yield PackError(
                    "unknown-category", message, where=part.span or head.span, help=nearest(part.text, known)
                )


def _read(pattern: Pattern, concluded: set[Predicate]) -> Iterator[PackError]:
    known = pattern.signature in concluded or (pattern.positive and pattern.signature[:2] in READS)
    if known and pattern.name not in _FACTS:
        return
    names = {name for name, _ in READS} | {name for name, _, _ in concluded}
    arities = [arity for name, arity in READS if name == pattern.name]
    if arities and pattern.positive:
        message = f"{pattern.name} takes {arities[0]} arguments, not {len(pattern.args)}"
        yield PackError("predicate-arity", message, where=pattern.span, help="see the atoms of a state")
    else:
        message = f"nothing defines {pattern.name}/{len(pattern.args)}"
        yield PackError("undeclared-predicate", message, where=pattern.span, help=nearest(pattern.name, names))


def _complete(program: Program, named: Rule) -> Iterator[PackError]:
    heads = {rule.head.name for rule in program.rules if rule.head is not None}
    if "qualifies" not in heads and "judged" not in heads:
        help = "add qualifies(I, R) :- ..., or judged(I) where a semantic evaluator is asked"
        yield PackError("no-qualifies", "nothing says which regions qualify", where=named.span, help=help)
    if "qualifies" not in heads and "depends" not in heads:
        help = "add depends(I, semantic, inventory), and whatever else the evaluator is told"
        yield PackError("no-qualifies", "nothing says what the evaluator reads", where=named.span, help=help)


def _scope(program: Program) -> Iterator[PackError]:
    """What the method does not cover (Section III, Scope): judging a region by others, choosing by contents."""
    judging = {("qualifies", 2)} | _read_by(program, ("qualifies", 2))
    choosing = {("prefer", 3)} | _read_by(program, ("prefer", 3))
    for rule in program.rules:
        if rule.head is None:
            continue
        predicate = rule.head.signature[:2]
        for literal in rule.body:
            for pattern, _ in literal.inner:
                if predicate in choosing and pattern.signature[:2] == ("inventory", 3):
                    help = "count in qualifies; prefer by hops, label or history"
                    yield PackError("not-local", "a choice never reads inventories", where=pattern.span, help=help)
                elif predicate in judging:
                    yield from _foreign(pattern, rule.head)


def _foreign(pattern: Pattern, head: Pattern) -> Iterator[PackError]:
    """What is read of another region than the candidate, or of the way to it."""
    if pattern.name in ("reachable", "hops"):
        help = "what cannot be reached is never chosen; prefer the nearest by prefer(I, R, D) :- hops(R, D)"
        yield PackError("not-local", "a region is judged without the way to it", where=pattern.span, help=help)
        return
    places = {"inventory": pattern.args[:1], "label": pattern.args[:1], "used": pattern.args[:1], "door": pattern.args}
    regions = places.get(pattern.name)
    own = {head.args[1].text} if head.name == "qualifies" else {arg.text for arg in head.args}
    if regions is not None and not own & {arg.text for arg in regions}:
        help = f"a region is judged by what it shows itself: write {min(own) if own else 'R'}"
        message = f"{pattern.name} is asked of another region than the candidate"
        yield PackError("not-local", message, where=pattern.span, help=help)


# -- what is read --------------------------------------------------------------------------------


def _read_by(program: Program, predicate: tuple[str, int]) -> set[tuple[str, int]]:
    """The predicates that one reads, through helpers too."""
    graph = _graph(program)
    return set(digraph.descendants(graph, predicate)) if predicate in graph else set()


def _graph(program: Program) -> digraph.DiGraph[tuple[str, int]]:
    """Edges from what is concluded to what it reads."""
    graph: digraph.DiGraph[tuple[str, int]] = digraph.DiGraph()
    for rule in program.rules:
        if rule.head is not None:
            graph.add_node(rule.head.signature[:2])
            read = (pattern.signature[:2] for literal in rule.body for pattern, _ in literal.inner)
            graph.add_edges_from((rule.head.signature[:2], other) for other in read)
    return graph


def _inferred(program: Program) -> Signature:
    def read(predicate: tuple[str, int]) -> frozenset[str]:
        return frozenset(category for other in _read_by(program, predicate) for category in READS.get(other, ()))

    return Signature(read(("qualifies", 2)), read(("prefer", 3)))


def _declared(program: Program) -> Signature | None:
    slots: dict[str, set[str]] = {stage: set() for stage in STAGES}
    said = False
    for rule in program.rules:
        if rule.head is not None and rule.head.name == "depends":
            said = True
            for stage in rule.head.args[1].alternatives():
                slots[stage.name] |= {part.name for part in rule.head.args[2].alternatives()}
    return Signature(frozenset(slots["semantic"]), frozenset(slots["selection"])) if said else None
