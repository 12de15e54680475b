"""The belief graph G_t: what the agent believes about the objects around it (paper, Section 4.2).

A graph is immutable: `merge` returns a new one that shares everything unchanged with the old, so snapshots of
a whole episode are cheap. Besides true and unknown, a state can be *observed to be false*.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rpds import HashTrieMap, HashTrieSet

from obviate.kb.errors import ObviateError
from obviate.kb.patch import EdgePatch, NodePatch, Patch, StatePatch
from obviate.kb.terms import Atom, Fun
from obviate.kb.vocabulary import Vocabulary

__all__ = ["BeliefGraph", "Delta", "Edge", "Node"]

Link = tuple[str, str]  # (relation, the other object)
_NO_LINKS: HashTrieSet[Link] = HashTrieSet()
_versions = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Node:
    """What is believed of one object. `absent` are states seen to be false, never also in `states`."""

    tags: frozenset[str] = frozenset()
    states: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()
    values: tuple[tuple[str, int], ...] = ()
    moved: bool = False

    def atoms(self, name: str) -> Iterator[Atom]:
        """The belief atoms about the object `name` alone (relations are not among them)."""
        yield Atom("object", (name,))
        yield from self.beyond(_NOTHING, name)

    def beyond(self, other: Node, name: str) -> Iterator[Atom]:
        """The belief atoms about the object `name` that this node has and `other` has not."""
        yield from (Atom("tag", (name, Fun(tag))) for tag in self.tags - other.tags)
        yield from (state_atom(name, state) for state in self.states - other.states)
        yield from (state_atom(name, state, positive=False) for state in self.absent - other.absent)
        yield from (Atom("value", (name, Fun(q), n)) for q, n in self.values if (q, n) not in other.values)
        if self.moved and not other.moved:
            yield Atom("moved", (name,))


_NOTHING = Node()


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """`src` stands in the relation `pred` to `dst`."""

    pred: str
    src: str
    dst: str

    @property
    def atom(self) -> Atom:
        return Atom("edge", (Fun(self.pred), self.src, self.dst))


@dataclass(frozen=True, slots=True)
class Delta:
    """The atoms by which a graph differs from the one it was made from."""

    added: frozenset[Atom] = frozenset()
    removed: frozenset[Atom] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


def state_atom(name: str, state: str, *, positive: bool = True) -> Atom:
    """The atom ``state(name,state)``, or ``-state(name,state)``."""
    return Atom("state", (name, Fun(state)), positive)


@dataclass(frozen=True, slots=True, eq=False)
class BeliefGraph:
    """Objects with tags, states and quantities, and the relations between them.

    `version` identifies the graph; `parent` and `delta` say how it came from the one before.
    """

    vocabulary: Vocabulary
    nodes: HashTrieMap[str, Node] = field(default_factory=HashTrieMap)
    out: HashTrieMap[str, HashTrieSet[Link]] = field(default_factory=HashTrieMap, repr=False)
    into: HashTrieMap[str, HashTrieSet[Link]] = field(default_factory=HashTrieMap, repr=False)
    version: int = field(default_factory=lambda: next(_versions))
    parent: int = 0
    delta: Delta = field(default=Delta(), repr=False)

    @classmethod
    def of(cls, vocabulary: Vocabulary, scene: Patch | Mapping[str, Any] | None = None) -> BeliefGraph:
        """A graph with the objects and relations of `scene` (paper, Appendix 0.B.1), or an empty one."""
        graph = cls(vocabulary)
        if scene is None:
            return graph
        try:
            return graph.merge(Patch.scene(scene))
        except ObviateError as error:
            if isinstance(scene, Mapping) and not scene.keys() & {"add_nodes", "add_edges"}:  # as it was written
                error.where = str(error.where).replace("add_nodes", "nodes", 1).replace("add_edges", "edges", 1)
            raise

    # -- reading --------------------------------------------------------------------------------

    def __contains__(self, name: object) -> bool:
        return name in self.nodes

    def __len__(self) -> int:
        return len(self.nodes)

    def __eq__(self, other: object) -> bool:
        """Two graphs are equal when they hold the same beliefs, whatever their history."""
        if not isinstance(other, BeliefGraph):
            return NotImplemented
        return self.version == other.version or (self.nodes == other.nodes and self.out == other.out)

    def __hash__(self) -> int:
        return hash((self.nodes, self.out))

    def edges(self) -> list[Edge]:
        """All relations, sorted; a symmetric one is listed once."""
        return sorted(Edge(pred, src, dst) for src, links in self.out.items() for pred, dst in links)

    def supporters(self, name: str) -> list[str]:
        """What directly holds the object: at most one."""
        return sorted({dst for pred, dst in self.out.get(name, _NO_LINKS) if pred in self.vocabulary.supports})

    def supports(self, name: str) -> frozenset[Link]:
        """How the object is held: the relations to its supporter."""
        return frozenset(link for link in self.out.get(name, _NO_LINKS) if link[0] in self.vocabulary.supports)

    def has_edge(self, pred: str, src: str, dst: str) -> bool:
        """Whether the relation is believed, in either direction for a symmetric one."""
        edge = self.canonical(Edge(pred, src, dst))
        return (edge.pred, edge.dst) in self.out.get(edge.src, _NO_LINKS)

    def has_state(self, name: str, state: str) -> bool:
        """Whether the state is believed of the object."""
        return name in self.nodes and state in self.nodes[name].states

    def holds(self, atom: Atom) -> bool:
        """Whether the belief atom is true in this graph."""
        name = atom.args[0] if atom.args else None
        if atom.name == "edge":
            pred, src, dst = atom.args
            return self.has_edge(str(pred), str(src), str(dst))
        return isinstance(name, str) and name in self.nodes and atom in set(self.nodes[name].atoms(name))

    def facts(self) -> Iterator[Atom]:
        """Every belief atom, symmetric relations in both directions, in no particular order."""
        for name, node in self.nodes.items():
            yield from node.atoms(name)
        for src, links in self.out.items():
            for pred, dst in links:
                yield from self.edge_atoms(Edge(pred, src, dst))

    def edge_atoms(self, edge: Edge) -> Iterator[Atom]:
        """The atom of a relation; both of them for a symmetric one."""
        yield edge.atom
        if edge.pred in self.vocabulary.symmetric:
            yield Edge(edge.pred, edge.dst, edge.src).atom

    def canonical(self, edge: Edge) -> Edge:
        """The way the graph stores the relation: a symmetric one once, from the smaller id."""
        if edge.pred in self.vocabulary.symmetric and edge.dst < edge.src:
            return Edge(edge.pred, edge.dst, edge.src)
        return edge

    def neighbourhood(self, seeds: Iterable[str], hops: int) -> BeliefGraph:
        """The subgraph within `hops` relations of `seeds`, F_t = Hop_k(S; G) (paper, Section 4.2)."""
        reached = {seed for seed in seeds if seed in self.nodes}
        frontier = set(reached)
        for _ in range(hops):
            links = (link for n in frontier for side in (self.out, self.into) for link in side.get(n, _NO_LINKS))
            frontier = {other for _, other in links} - reached
            reached |= frontier
        kept = {
            name: [(pred, dst) for pred, dst in self.out.get(name, _NO_LINKS) if dst in reached] for name in reached
        }
        into: dict[str, list[Link]] = {}
        for src, links_of in kept.items():
            for pred, dst in links_of:
                into.setdefault(dst, []).append((pred, src))
        return BeliefGraph(
            self.vocabulary,
            HashTrieMap({name: self.nodes[name] for name in reached}),
            HashTrieMap({src: HashTrieSet(links_of) for src, links_of in kept.items() if links_of}),
            HashTrieMap({dst: HashTrieSet(links_of) for dst, links_of in into.items()}),
        )

    # -- changing -------------------------------------------------------------------------------

    def merge(self, patch: Patch | Mapping[str, Any]) -> BeliefGraph:
        """G_{t+1} = Merge(G_t, patch): removals before additions, a new supporter prunes the old.

        Raises `PatchError` or `VocabularyError` naming the path in the patch; this graph never changes.
        """
        from obviate.kb.merge import merge

        return merge(self, Patch.read(patch))

    def with_moved(self, name: str) -> BeliefGraph:
        """The same beliefs, and that the agent has moved `name` in this episode."""
        if name not in self.nodes or self.nodes[name].moved:
            return self
        node = replace(self.nodes[name], moved=True)
        added = self.delta.added | {Atom("moved", (name,))}
        return replace(  # still one step from the same parent
            self,
            nodes=self.nodes.insert(name, node),
            version=next(_versions),
            delta=Delta(added, self.delta.removed),
        )

    def unmoved(self) -> BeliefGraph:
        """The same beliefs at the start of an episode, in which the agent has moved nothing."""
        moved = {name: replace(node, moved=False) for name, node in self.nodes.items() if node.moved}
        if not moved:
            return self
        removed = frozenset(Atom("moved", (name,)) for name in moved)
        return self.succeed(nodes=self.nodes.update(moved), delta=Delta(removed=removed))

    def with_atoms(self, atoms: Iterable[Atom]) -> BeliefGraph:
        """The same beliefs and these atoms about single objects besides (states and quantities)."""
        nodes, added = self.nodes, set()
        for atom in atoms:
            name, what = str(atom.args[0]), str(atom.args[1])
            if name not in nodes or self.holds(atom):
                continue
            node = nodes[name]
            if atom.name == "value" and isinstance(atom.args[2], int):
                node = replace(node, values=(*node.values, (what, atom.args[2])))
            elif atom.positive:
                node = replace(node, states=node.states | {what})
            else:
                node = replace(node, absent=node.absent | {what})
            nodes = nodes.insert(name, node)
            added.add(atom)
        return self.succeed(nodes=nodes, delta=Delta(added=frozenset(added)))

    def succeed(self, **changes: Any) -> BeliefGraph:
        """A graph made from this one; for the modules of this package."""
        return replace(self, version=next(_versions), parent=self.version, **changes)

    def difference(self, target: BeliefGraph) -> Patch:
        """The patch that turns these beliefs into those of `target`: ``self.merge(it) == target``.

        An object whose tags differ is removed and added anew, since tags are static; what the agent has
        moved is not part of a patch.
        """
        kept = {n for n in self.nodes if n in target.nodes and self.nodes[n].tags == target.nodes[n].tags}
        gone = sorted(set(self.nodes) - kept)
        new = sorted(set(target.nodes) - kept)
        ours, theirs = set(self.edges()), set(target.edges())
        return Patch(
            remove_nodes=tuple(gone),
            add_nodes=tuple(_node_patch(name, target.nodes[name]) for name in new),
            update_node_states=tuple(
                _state_patch(name, self.nodes[name], target.nodes[name])
                for name in sorted(kept)
                if _beliefs(self.nodes[name]) != _beliefs(target.nodes[name])
            ),
            remove_edges=tuple(_edge_patch(e) for e in sorted(ours - theirs) if {e.src, e.dst} <= kept),
            add_edges=tuple(_edge_patch(e) for e in sorted(theirs) if e not in ours or not {e.src, e.dst} <= kept),
        )


def _beliefs(node: Node) -> tuple[object, ...]:
    return node.states, node.absent, frozenset(node.values)


def _edge_patch(edge: Edge) -> EdgePatch:
    return EdgePatch(pred=edge.pred, src=edge.src, dst=edge.dst)


def _node_patch(name: str, node: Node) -> NodePatch:
    return NodePatch(
        node_id=name,
        tags=tuple(sorted(node.tags)),
        states=tuple(sorted(node.states)),
        absent=tuple(sorted(node.absent)),
        values=dict(sorted(node.values)),
    )


def _state_patch(name: str, old: Node, new: Node) -> StatePatch:
    known = new.states | new.absent
    values: dict[str, int | None] = dict.fromkeys(sorted({q for q, _ in old.values} - {q for q, _ in new.values}))
    values.update(sorted(set(new.values) - set(old.values)))
    return StatePatch(
        node_id=name,
        add=tuple(sorted(new.states - old.states)),
        remove=tuple(sorted(new.absent - old.absent)),
        forget=tuple(sorted((old.states | old.absent) - known)),
        values=values,
    )
