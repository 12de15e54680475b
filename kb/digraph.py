"""What is used of networkx, imported when it is first asked for: that takes as long as importing all of `kb`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from networkx import (
        DiGraph,
        ancestors,
        condensation,
        descendants,
        shortest_path,
        strongly_connected_components,
        topological_sort,
    )

__all__ = [
    "DiGraph",
    "ancestors",
    "condensation",
    "descendants",
    "shortest_path",
    "strongly_connected_components",
    "topological_sort",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(name)
    import networkx

    return getattr(networkx, name)
