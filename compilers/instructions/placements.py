"""Where an instruction may place its dependencies: six families of the MIND paper (Section V), and Adjacent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from obviate.kb.instruction import Signature
from obviate.kb.regions import CATEGORIES

__all__ = ["INVENTORY", "PLACEMENTS", "UNIVERSAL", "Placement", "united"]

UNIVERSAL = Signature(frozenset(CATEGORIES), frozenset(CATEGORIES) - {"inventory"})


@dataclass(frozen=True, slots=True)
class Placement:
    """A kind of request by its dependencies."""

    name: str
    signature: Signature


def united(placements: Iterable[Placement]) -> Signature:
    """What a request may depend on that is of one of these kinds. At least the inventory, as in the paper."""
    return INVENTORY.union(*(placement.signature for placement in placements))


def _signature(semantic: str, selection: str = "") -> Signature:
    return Signature(frozenset(semantic.split()), frozenset(selection.split()))


INVENTORY = _signature("inventory")
_PLACEMENTS = (
    Placement("inventory-only", INVENTORY),
    Placement("named-region", _signature("inventory label")),
    Placement("current-region", _signature("inventory position")),
    Placement("history-dependent", _signature("inventory history")),
    Placement("nearest-candidate", _signature("inventory", "position topology")),
    Placement("nearest+history", _signature("inventory history", "position topology")),
    Placement("adjacent", _signature("inventory position topology")),
)
PLACEMENTS: Mapping[str, Placement] = MappingProxyType({placement.name: placement for placement in _PLACEMENTS})
