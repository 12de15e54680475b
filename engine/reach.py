"""Walking a belief graph in the roles of a rule: forward to what decides a conclusion, and from a change back to the
conclusions that it may concern.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping

from obviate.engine.occurrence import Topic
from obviate.engine.roles import Link, Role, Roles
from obviate.kb import BeliefGraph
from obviate.kb.belief import Node
from obviate.kb.terms import Atom, Fun, Term, term_of_binding

__all__ = ["Fact", "Lost", "Part", "atom_of", "back", "forward", "is_fit", "lost", "may_play", "word"]

Part = tuple[int, str]  # an object in a role
# What is said, of which objects, and a number: a belief, or what the engine says of a binding or an action.
Fact = tuple[Topic, tuple[str, ...], int]
Lost = Mapping[str, Collection[Topic]]  # what was believed before a change and is not now, by object


def word(term: Term) -> str:
    """The text of a term that is a name."""
    return term.name if isinstance(term, Fun) else str(term)


def atom_of(fact: Fact) -> Atom:
    """A fact as an atom."""
    (name, positive, about), objects, number = fact
    match name:
        case "edge":
            return Atom("edge", (Fun(about), *objects))
        case "value":
            return Atom("value", (*objects, Fun(about), number))
        case "object" | "moved":
            return Atom(name, objects)
        case "intent" | "executed":
            return Atom(name, (Fun(about, objects),))
        case "tag" | "state":
            return Atom(name, (*objects, Fun(about)), positive)
        case "age":
            return Atom(name, (Fun(about), term_of_binding(objects), number))
    return Atom(name, (Fun(about), term_of_binding(objects)))


def lost(removed: Iterable[Atom]) -> Lost:
    """Of each object what was believed of it alone, by the atoms that were removed."""
    found: dict[str, set[Topic]] = {}
    for atom in removed:
        if atom.name != "edge":
            about = word(atom.args[1]) if len(atom.args) > 1 else ""
            found.setdefault(word(atom.args[0]), set()).add((atom.name, atom.positive, about))
    return found


def forward(
    roles: Roles, seeds: Iterable[Part], graph: BeliefGraph, spared: Container[str] = ()
) -> tuple[set[Part], set[Fact]]:
    """The objects that take part, beginning with `seeds`, and the facts that are read of them. No gate is closed to
    those that are `spared`.
    """
    nodes, symmetric = graph.nodes, graph.vocabulary.symmetric
    seen: set[Part] = set()
    facts: set[Fact] = set()
    todo = list(seeds)
    while todo:
        part = todo.pop()
        number, name = part
        if part in seen or not is_fit(roles, number, name, nodes.get(name), spared):
            continue
        seen.add(part)
        role = roles.roles[number]
        for topic in role.reads:
            facts.update(_read(nodes[name], name, topic))
        todo += [(same, name) for same in role.same]
        for link in role.links:
            for pred, other, stored in _follow(graph, name, link):
                if link.target >= 0:
                    if not is_fit(roles, link.target, other, nodes.get(other), spared):
                        continue  # the rule that names the relation does not hold of these two
                    todo.append((link.target, other))
                facts.add((("edge", True, pred), (name, other) if stored else (other, name), 0))
                if pred in symmetric:
                    facts.add((("edge", True, pred), (other, name) if stored else (name, other), 0))
    return seen, facts


def back(roles: Roles, touched: Iterable[Part], graph: BeliefGraph, lost: Lost) -> set[Part]:
    """The parts from which one of `touched` can have been found, in this graph or as it was before.

    Only the present relations are walked: of one that is lost, the end that is nearer to the start is touched too.
    """
    seen: set[Part] = set()
    todo = list(touched)
    while todo:
        part = todo.pop()
        if part in seen:
            continue
        number, name = part
        role = roles.roles[number]
        if not may_play(role, name, graph, lost):
            continue
        seen.add(part)
        for source, link in role.back:
            if link is None:
                todo.append((source, name))
            else:
                todo += [(source, other) for other in _led(graph, name, link)]
    return seen


def is_fit(roles: Roles, number: int, name: str, node: Node | None, spared: Container[str] = ()) -> bool:
    """Whether an object, of which `node` is believed if it is known, can play a part."""
    role = roles.roles[number]
    if node is None or not _has(node, role):
        return False
    return not role.gate or name in spared or any(_has(node, roles.roles[other]) for other in role.gate)


def _has(node: Node, role: Role) -> bool:
    return all(any(_holds(node, topic) for topic in need) for need in role.needs)


def may_play(role: Role, name: str, graph: BeliefGraph, lost: Lost) -> bool:
    """Whether an object can play a part in this graph, or could before."""
    if not role.needs:
        return True
    node, gone = graph.nodes.get(name), lost.get(name, ())
    return all(any((node is not None and _holds(node, t)) or t in gone for t in need) for need in role.needs)


def _follow(graph: BeliefGraph, name: str, link: Link) -> Iterator[tuple[str, str, bool]]:
    """The relations of an object that a link takes, with the other object, and whether they are stored forward."""
    symmetric = graph.vocabulary.symmetric
    wanted = link.relations
    for table, out in ((graph.out, True), (graph.into, False)):
        if link.out is out or not wanted or wanted & symmetric:
            for pred, other in table.get(name, ()):
                if (not wanted or pred in wanted) and (link.out is out or pred in symmetric):
                    yield pred, other, out


def _led(graph: BeliefGraph, name: str, link: Link) -> Iterator[str]:
    """The objects from which a link leads here."""
    return (other for _, other, _ in _follow(graph, name, Link(link.relations, not link.out, -1)))


def _holds(node: Node, topic: Topic) -> bool:
    name, positive, about = topic
    match name:
        case "tag":
            return about in node.tags
        case "state":
            return about in (node.states if positive else node.absent)
        case "value":
            return any(quantity == about for quantity, _ in node.values)
        case "moved":
            return node.moved
    return True


def _read(node: Node, name: str, topic: Topic) -> Iterator[Fact]:
    """What is believed of an object on a topic."""
    kind, positive, about = topic
    if not positive and kind != "state":
        return
    match kind:
        case "tag" | "state":
            said = node.tags if kind == "tag" else node.states if positive else node.absent
            for word in (about,) if about in said else () if about else said:
                yield (kind, positive, word), (name,), 0
        case "value":
            for quantity, number in node.values:
                if about in ("", quantity):
                    yield (kind, positive, quantity), (name,), number
        case "object":
            yield topic, (name,), 0
        case "moved":
            if node.moved:
                yield topic, (name,), 0
