"""What is measured beside the engine: other ways to the same answers, each by the same few verbs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from obviate.engine.standing import Instance
from obviate.kb import Action, BeliefGraph, Patch
from obviate.kb.errors import LifecycleError, nearest

__all__ = ["PEERS", "Changed", "Peer", "of"]

Changed = tuple[frozenset[Instance], frozenset[Instance]]  # the temporal triggers that appeared, and that vanished


class Peer(Protocol):
    """Follows a graph and knows the temporal triggers of the household pack.

    A patch changes states and relations of known objects and names every relation that ends; see `stream`.
    """

    def step(self, patch: Patch) -> Changed:
        """Take an observation; what changed."""

    def triggers(self) -> frozenset[Instance]:
        """The temporal triggers that are true now."""

    def risks(self, action: Action) -> Iterable[Instance] | None:
        """The situational triggers of an intent; None where the peer does not know those rules."""

    def close(self) -> None:
        """Free what the peer holds."""


PEERS = ("matcher", "networkx", "prolog", "prolog-tuned")


def of(name: str, graph: BeliefGraph) -> Peer:
    """The peer called `name`, having seen `graph`.

    Raises `LifecycleError` (``unknown-backend``), or `DataError` (``peer-missing``) if its software is not installed.
    """
    match name:
        case "matcher":
            from obviate.adapters.step.matcher import Matcher

            return Matcher(graph)
        case "networkx":
            from obviate.adapters.step.subgraph import Subgraphs

            return Subgraphs(graph)
        case "prolog" | "prolog-tuned":
            from obviate.adapters.step.prolog import Tabled

            return Tabled(graph, tuned=name == "prolog-tuned")
    raise LifecycleError("unknown-backend", f"there is no backend or peer {name!r}", help=nearest(name, PEERS))
