"""Offsets of the noisy channel for models that are known, so that nothing has to be computed before the first use."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["known"]

# By model and kind, one for each of the four orders: `Channel.calibrated(model, k=4, kinds=ALL)`, in bfloat16.
_OFFSETS: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "smollm2-135m": {
        "named-region": (-48.66, -47.40, -48.20, -49.04),
        "inventory-only": (-48.25, -47.89, -47.93, -48.67),
        "current-region": (-48.88, -49.01, -48.33, -48.97),
        "history-dependent": (-46.35, -45.87, -45.38, -45.88),
        "nearest-candidate": (-47.16, -47.35, -47.29, -49.57),
        "nearest+history": (-47.82, -45.09, -47.09, -46.30),
    },
}


def known(model: str) -> Mapping[tuple[str, int], float] | None:
    """The offsets of a model by the name of its decoder; None for a model that must be calibrated first."""
    table = _OFFSETS.get(model.rpartition(":")[2])
    if not table:
        return None
    return MappingProxyType(
        {(kind, order): offset for kind, offsets in table.items() for order, offset in enumerate(offsets)}
    )
