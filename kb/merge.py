"""Merging a patch into a belief graph: deterministic and atomic (paper, Appendix 0.A.1)."""

from __future__ import annotations

from collections.abc import Iterable

from rpds import HashTrieMap, HashTrieSet

from obviate.kb.belief import _NO_LINKS, BeliefGraph, Delta, Edge, Link, Node
from obviate.kb.errors import PatchError, nearest
from obviate.kb.patch import EdgePatch, NodePatch, Patch, StatePatch, path
from obviate.kb.terms import Atom, check_id

__all__ = ["merge"]


def merge(graph: BeliefGraph, patch: Patch) -> BeliefGraph:
    """The graph after `patch`; see `BeliefGraph.merge`."""
    draft = _Draft(graph)
    for i, name in enumerate(patch.remove_nodes):
        draft.remove_node(name, path("remove_nodes", i))
    for i, edge in enumerate(patch.remove_edges):
        draft.remove_edge(edge, path("remove_edges", i))
    for i, node in enumerate(patch.add_nodes):
        draft.add_node(node, path("add_nodes", i))
    for i, update in enumerate(patch.update_node_states):
        draft.update(update, path("update_node_states", i))
    for i, edge in enumerate(patch.add_edges):
        draft.add_edge(edge, path("add_edges", i))
    return draft.finish()


class _Draft:
    """The graph under construction: persistent maps, so that dropping it undoes everything."""

    def __init__(self, graph: BeliefGraph) -> None:
        self.graph = graph
        self.vocabulary = graph.vocabulary
        self.nodes: HashTrieMap[str, Node] = graph.nodes
        self.out = graph.out
        self.into = graph.into
        self.added: set[Atom] = set()
        self.removed: set[Atom] = set()
        self.said: dict[tuple[str, str], str] = {}  # (object, state or quantity) -> what this patch says of it
        self.supported: dict[str, tuple[str, str]] = {}  # object -> (its new supporter, path of the edge)

    def finish(self) -> BeliefGraph:
        for name, (_, where) in self.supported.items():
            self._refuse_cycle(name, where)
        delta = Delta(frozenset(self.added), frozenset(self.removed))
        return self.graph.succeed(nodes=self.nodes, out=self.out, into=self.into, delta=delta)

    # -- nodes ----------------------------------------------------------------------------------

    def remove_node(self, name: str, where: str) -> None:
        node = self._known(name, where)
        for pred, dst in self.out.get(name, _NO_LINKS):
            self._drop(Edge(pred, name, dst))
        for pred, src in self.into.get(name, _NO_LINKS):
            self._drop(Edge(pred, src, name))
        self._record(removed=node.atoms(name))
        self.nodes = self.nodes.remove(name)

    def add_node(self, new: NodePatch, where: str) -> None:
        name = check_id(new.node_id, f"{where}.node_id")
        if name in self.nodes:
            raise PatchError(
                "duplicate-node",
                f"the object {name!r} is known already",
                where=f"{where}.node_id",
                help="change a known object with update_node_states",
            )
        for quantity in new.values:
            self._declared_one("quantity", quantity, f"{where}.values")
        node = Node(
            tags=frozenset(self._declared("tag", new.tags, f"{where}.tags")),
            states=frozenset(self._declared("state", new.states, f"{where}.states")),
            absent=frozenset(self._declared("state", new.absent, f"{where}.absent")),
            values=tuple(
                sorted((self._declared_one("quantity", q, f"{where}.values"), n) for q, n in new.values.items())
            ),
        )
        self._refuse_both(node.states & node.absent, where)
        self.nodes = self.nodes.insert(name, node)
        self._record(added=node.atoms(name))

    def update(self, update: StatePatch, where: str) -> None:
        name = update.node_id
        node = self._known(name, f"{where}.node_id")
        add, remove, forget = (
            set(self._declared("state", getattr(update, part), f"{where}.{part}"))
            for part in ("add", "remove", "forget")
        )
        for part, states in (("add", add), ("remove", remove), ("forget", forget)):
            self._refuse_both({state for state in states if self._said(name, state, part) != part}, where)
        values = dict(node.values)
        for quantity, n in update.values.items():
            self._declared_one("quantity", quantity, f"{where}.values")
            self._refuse_both({quantity} if self._said(name, quantity, str(n)) != str(n) else set(), where)
            if n is None:
                values.pop(quantity, None)
            else:
                values[quantity] = n
        new = Node(
            node.tags,
            node.states - remove - forget | add,
            node.absent - add - forget | remove,
            tuple(sorted(values.items())),
            node.moved,
        )
        self._record(added=new.beyond(node, name), removed=node.beyond(new, name))
        self.nodes = self.nodes.insert(name, new)

    # -- edges ----------------------------------------------------------------------------------

    def remove_edge(self, patch: EdgePatch, where: str) -> None:
        edge = self._edge(patch, where)
        if (edge.pred, edge.dst) in self.out.get(edge.src, _NO_LINKS):
            self._drop(edge)

    def add_edge(self, patch: EdgePatch, where: str) -> None:
        edge = self._edge(patch, where)
        if edge.src == edge.dst:
            raise PatchError("self-edge", f"{edge.src!r} cannot be {edge.pred} itself", where=where, help="check dst")
        if edge.pred in self.vocabulary.supports:
            self._prune_supports(edge, where)
        link: Link = (edge.pred, edge.dst)
        if link not in self.out.get(edge.src, _NO_LINKS):
            self.out = self.out.insert(edge.src, self.out.get(edge.src, _NO_LINKS).insert(link))
            back: Link = (edge.pred, edge.src)
            self.into = self.into.insert(edge.dst, self.into.get(edge.dst, _NO_LINKS).insert(back))
            self._record(added=self.graph.edge_atoms(edge))

    def _prune_supports(self, edge: Edge, where: str) -> None:
        supporter, before = self.supported.setdefault(edge.src, (edge.dst, where))
        if supporter != edge.dst:
            raise PatchError(
                "two-supports",
                f"{edge.src!r} is put on {edge.dst!r} here and on {supporter!r} by {before}",
                where=where,
                help="an object has one direct supporter",
            )
        for pred, dst in self.out.get(edge.src, _NO_LINKS):
            if pred in self.vocabulary.supports and dst != edge.dst:
                self._drop(Edge(pred, edge.src, dst))

    def _refuse_cycle(self, name: str, where: str) -> None:
        chain, current = [name], name
        while True:
            links = self.out.get(current, _NO_LINKS)
            above = next((dst for pred, dst in links if pred in self.vocabulary.supports), None)
            if above is None:
                return
            chain.append(above)
            if above == name:
                raise PatchError(
                    "support-cycle",
                    "objects would hold each other up: " + " on ".join(map(repr, chain)),
                    where=where,
                    help="remove the old support edge in the same patch",
                )
            if above in chain[:-1]:  # a cycle further up, reported from the edge that closes it
                return
            current = above

    def _edge(self, patch: EdgePatch, where: str) -> Edge:
        self._declared_one("relation", patch.pred, f"{where}.pred")
        self._known(patch.src, f"{where}.src")
        self._known(patch.dst, f"{where}.dst")
        return self.graph.canonical(Edge(patch.pred, patch.src, patch.dst))

    def _drop(self, edge: Edge) -> None:
        self.out = _without(self.out, edge.src, (edge.pred, edge.dst))
        self.into = _without(self.into, edge.dst, (edge.pred, edge.src))
        self._record(removed=self.graph.edge_atoms(edge))

    # -- checks ---------------------------------------------------------------------------------

    def _known(self, name: str, where: str) -> Node:
        node = self.nodes.get(name)
        if node is None:
            raise PatchError(
                "unknown-object",
                f"there is no object {name!r}",
                where=where,
                help=nearest(name, self.nodes) or "add it in add_nodes first",
            )
        return node

    def _declared(self, sort: str, names: tuple[str, ...], where: str) -> tuple[str, ...]:
        return tuple(self._declared_one(sort, name, f"{where}[{i}]") for i, name in enumerate(names))

    def _declared_one(self, sort: str, name: str, where: str) -> str:
        self.vocabulary.require(sort, name, where)
        return name

    def _said(self, name: str, what: str, said: str) -> str:
        return self.said.setdefault((name, what), said)

    def _refuse_both(self, names: set[str] | frozenset[str], where: str) -> None:
        if names:
            raise PatchError(
                "contradictory-patch",
                f"{min(names)!r} is said to be two things at once",
                where=where,
                help="a state is added, removed (seen to be false) or forgotten (unknown), one of the three",
            )

    def _record(self, *, added: Iterable[Atom] = (), removed: Iterable[Atom] = ()) -> None:
        for atom in removed:
            if atom in self.added:
                self.added.remove(atom)
            else:
                self.removed.add(atom)
        for atom in added:
            if atom in self.removed:
                self.removed.remove(atom)
            else:
                self.added.add(atom)


def _without(side: HashTrieMap[str, HashTrieSet[Link]], name: str, link: Link) -> HashTrieMap[str, HashTrieSet[Link]]:
    links = side[name].remove(link)
    return side.insert(name, links) if len(links) else side.remove(name)
