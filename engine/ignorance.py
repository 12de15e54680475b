"""Facts that were forgotten while a record was open: ignorance never passes (paper, Section 4.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from obviate.engine.standing import Instance
from obviate.kb import BeliefGraph, Patch
from obviate.kb.terms import Atom, Fun, Term

__all__ = ["still_forgotten"]


def still_forgotten(
    patch: Patch, graph: BeliefGraph, records: Iterable[Instance], forgotten: Mapping[Instance, frozenset[Atom]]
) -> Mapping[Instance, frozenset[Atom]]:
    """What was forgotten while each of the open `records` was so, after a patch to `graph` that forgets or settles."""
    lost, settled = _forgotten(patch, graph)
    if not lost and not forgotten:
        return forgotten
    found = {}
    for instance in records if lost else forgotten:
        before = forgotten.get(instance, frozenset())
        atoms = lost.union(atom for atom in before if not settled & {atom.args[:2], atom.args[:1]})
        if atoms:
            found[instance] = atoms
    return found


def _forgotten(patch: Patch, graph: BeliefGraph) -> tuple[frozenset[Atom], set[tuple[Term, ...]]]:
    """The believed atoms that a patch makes unknown, and what it settles: an object, or a property of one."""
    lost: set[Atom] = set()
    settled: set[tuple[Term, ...]] = {(name,) for name in patch.remove_nodes}
    for update in patch.update_node_states:
        name = update.node_id
        settled |= {(name, Fun(state)) for state in (*update.add, *update.remove)}
        settled |= {(name, Fun(quantity)) for quantity, value in update.values.items() if value is not None}
        unknown = {Fun(s) for s in update.forget} | {Fun(q) for q, value in update.values.items() if value is None}
        if unknown and name in graph and (name,) not in settled:
            found = (atom for atom in graph.nodes[name].atoms(name) if atom.name in ("state", "value"))
            lost |= {atom for atom in found if atom.args[1] in unknown}
    return frozenset(lost), settled
