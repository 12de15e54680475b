"""What depends on what in a rule pack: stratification, independence of intents, recursion that may not end."""

from __future__ import annotations

from collections.abc import Iterator

from obviate.kb import digraph
from obviate.kb.errors import PackError
from obviate.kb.predicates import EVENTS, MEMBERS
from obviate.kb.program import Literal, Pattern, Program, Rule, TermPattern

__all__ = ["EVENTS", "MEMBERS", "Key", "dependency_findings", "dependency_key"]

Key = tuple[str, str]  # a predicate and its arity; of a safety rule's members, the rule ("*" where it is left open)
_INTENT: Key = ("intent", "1")
# What a member of a safety rule may not depend on, not even through helpers.
_BARRED = {
    "hazard": {*EVENTS, "threatens", "resolved", "pending"},
    "resolved": {*EVENTS, "threatens"},
    "threatens": {"pending", "resolved", "executed"},
}


def dependency_findings(program: Program) -> Iterator[PackError]:
    """Everything wrong with how the rules of a pack depend on each other."""
    graph = _dependencies(program)
    yield from _intents(program)
    yield from _opposites(program)
    yield from _independence(program, graph)
    cycles = list(_stratification(graph))
    yield from cycles or _new_terms(program, graph)


def dependency_key(pattern: Pattern) -> tuple[Key, ...]:
    """The nodes of the dependency graph that an atom stands for: hazards, intents and targets by rule."""
    sign = "" if pattern.positive else "-"
    if pattern.name in MEMBERS and len(pattern.args) == 2:
        return tuple(
            (pattern.name, part.name if part.kind == "constant" else "*") for part in pattern.args[0].alternatives()
        )
    return ((f"{sign}{pattern.name}", str(len(pattern.args))),)


def _intents(program: Program) -> Iterator[PackError]:
    """A threat needs an intent: each rule reads one positively, itself or through a helper that does."""
    needing = _needing_intent(program)
    for rule in program.rules:
        if rule.head is not None and rule.head.name == "threatens" and not _reads_one_of(needing, rule):
            yield PackError(
                "no-intent",
                "this threat holds without any intent",
                where=rule.span,
                help="add intent(...) to its body: what else makes the hazard one?",
            )


def _needing_intent(program: Program) -> set[Key]:
    """What holds only where something is intended: every rule for it reads, positively, what needs an intent."""
    reading: dict[Key, list[int]] = {}  # which conditions, by what they read
    conditions: list[int] = []  # the rule of each condition
    alive = [0] * len(program.rules)  # how many conditions of each rule may still need an intent
    for i, rule in enumerate(program.rules):
        for literal in rule.body:
            for pattern, monotone in literal.inner if rule.head else ():
                if monotone:
                    alive[i] += 1
                    conditions.append(i)
                    for key in set(dependency_key(pattern)):
                        reading.setdefault(key, []).append(len(conditions) - 1)
    concluded = {key for rule in program.rules for key in (dependency_key(rule.head) if rule.head else ())}
    idle = {key for key in reading if key not in concluded} - {_INTENT}
    idle |= {
        key for i, rule in enumerate(program.rules) if rule.head and not alive[i] for key in dependency_key(rule.head)
    }
    todo, dead = list(idle), set()
    while todo:
        for condition in reading.get(todo.pop(), ()):
            if condition in dead:
                continue
            dead.add(condition)
            i = conditions[condition]
            alive[i] -= 1
            head = program.rules[i].head
            if alive[i] == 0 and head is not None:
                new = set(dependency_key(head)) - idle
                idle |= new
                todo += new
    return ({_INTENT} | concluded) - idle


def _reads_one_of(needing: set[Key], rule: Rule) -> bool:
    return any(set(dependency_key(p)) <= needing for literal in rule.body for p, monotone in literal.inner if monotone)


def _opposites(program: Program) -> Iterator[PackError]:
    """A predicate and its classical negation are not both concluded: they could be, of the same thing."""
    heads = {rule.head.signature: rule for rule in program.rules if rule.head is not None}
    for (name, arity, positive), rule in heads.items():
        if not positive and (name, arity, True) in heads:
            yield PackError(
                "opposites",
                f"the pack concludes both {name}/{arity} and -{name}/{arity}",
                where=rule.span,
                help=f"conclude one of them, and read the other as not {name}(...)",
            )


def _independence(program: Program, graph: digraph.DiGraph[Key]) -> Iterator[PackError]:
    for rule in program.rules:
        if rule.head is None or rule.head.name not in MEMBERS:
            continue
        for key in dependency_key(rule.head):
            reached = {name for name, _ in {key} | digraph.descendants(graph, key)}
            used = sorted(reached & _BARRED[rule.head.name])
            if used:
                yield PackError(
                    "depends-on-intent",
                    f"{rule.head.name} of {key[1]} depends on {used[0]}",
                    where=rule.span,
                    help="put the intent into threatens, and the state into hazard",
                )


def _stratification(graph: digraph.DiGraph[Key]) -> Iterator[PackError]:
    for component in digraph.strongly_connected_components(graph):
        within = graph.subgraph(component)
        negative = [(data["span"], head, body) for head, body, data in within.edges(data=True) if data["negative"]]
        if negative:
            span, head, body = min(negative, key=lambda edge: (edge[0].file, edge[0].line, edge[0].column, edge[1:]))
            cycle = [head, *digraph.shortest_path(within, body, head)]
            yield PackError(
                "not-stratified",
                "negation or an aggregate in a cycle: " + " <- ".join(f"{n}/{a}" for n, a in cycle),
                where=span,
                help="break the cycle, so that every conclusion has one answer",
            )


def _new_terms(program: Program, graph: digraph.DiGraph[Key]) -> Iterator[PackError]:
    """Recursion that builds new terms may go on for ever, as p(N+1) :- p(N) does."""
    component = {key: i for i, part in enumerate(digraph.strongly_connected_components(graph)) for key in part}
    for rule in program.rules:
        for head in dependency_key(rule.head) if rule.head else ():
            read = [key for literal in rule.body for pattern, _ in literal.inner for key in dependency_key(pattern)]
            within = {component.get(key) for key in read}
            builds = rule.head is not None and (any(map(_builds, _parts(rule.head))) or _computes(rule, rule.head))
            if component.get(head) in within and builds:
                yield PackError(
                    "endless-recursion",
                    "recursion that builds new terms may never end",
                    where=rule.span,
                    help="recurse over objects only, whatever bounds a comparison sets; count with an aggregate",
                )


def _computes(rule: Rule, head: Pattern) -> bool:
    """Whether a head takes a new term from its body, as p(Y) :- p(X), Y = X+1 and p(Y) :- p(Y-1) do."""
    known: set[str] = set()
    for literal in rule.body:
        if literal.atom is not None and not literal.negations:
            known |= {v for arg in literal.atom.args for v in _plain(arg)}
    while True:
        sides = [pair for lit in rule.body if not lit.negations for pair in _equations(lit)]
        new = {a.text for a, b in sides if a.kind == "variable" and b.variables <= known and not _builds(b)} - known
        if not new:
            return not head.variables - {"_"} <= known
        known |= new


def _equations(literal: Literal) -> Iterator[tuple[TermPattern, TermPattern]]:
    for one, operator, other in zip(literal.compared, literal.operators, literal.compared[1:], strict=False):
        if operator == "=":
            yield from ((one, other), (other, one))


def _plain(term: TermPattern) -> Iterator[str]:
    """The variables of a term that it does not calculate with: those are solved for, and may be new."""
    if term.kind == "variable":
        yield term.text
    elif term.kind != "operation":
        for part in term.parts:
            yield from _plain(part)


def _parts(head: Pattern) -> tuple[TermPattern, ...]:
    """The arguments of a head, a binding taken apart."""
    last = head.args[-1:] if head.name in MEMBERS and head.args and head.args[-1].kind == "tuple" else ()
    return (*head.args[: len(head.args) - len(last)], *(part for term in last for part in term.parts))


def _builds(term: TermPattern) -> bool:
    """Whether a term makes new ones of its variables."""
    return (term.kind not in ("variable", "pool") and bool(term.variables)) or any(map(_builds, term.parts))


def _dependencies(program: Program) -> digraph.DiGraph[Key]:
    """Edges from what is concluded to what it is concluded from; `negative` under negation and in aggregates."""
    graph: digraph.DiGraph[Key] = digraph.DiGraph()
    named = {key for rule in program.rules if rule.head for key in dependency_key(rule.head)}
    for rule in program.rules:
        for head in dependency_key(rule.head) if rule.head else ():
            graph.add_node(head)
            for literal in rule.body:
                for pattern, monotone in literal.inner:
                    for body in dependency_key(pattern):
                        same = [key for key in named if key[0] == body[0]] if body[1] == "*" else [body]
                        for target in same:
                            if not (graph.has_edge(head, target) and graph[head][target]["negative"]):
                                graph.add_edge(head, target, negative=not monotone, span=literal.span)
    return graph
