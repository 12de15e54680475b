"""Patches: what an observation adds to the belief graph (paper, Appendix 0.A.1).

The paper's JSON is read as it stands (``"pred": "INSIDE"``, ``"tags": ["FUNCTION_HEAT_SOURCE"]``): names are
case-insensitive. Beyond it, `remove_nodes` drops objects that are gone, `forget` makes a state unknown where
`remove` says it was seen to be false, and `values` carries integer quantities.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from obviate.kb.errors import PatchError, nearest

__all__ = ["EdgePatch", "NodePatch", "Patch", "StatePatch"]

MAX_INT = 2**31 - 1  # clingo's integers have 32 bits and wrap silently

Name = Annotated[str, BeforeValidator(lambda v: v.lower() if isinstance(v, str) else v)]
Quantity = Annotated[int, Field(strict=True, ge=-MAX_INT, le=MAX_INT)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class NodePatch(_Part):
    """A newly seen object: its id, static tags, believed states, states seen to be false, and quantities."""

    node_id: str
    tags: tuple[Name, ...] = ()
    states: tuple[Name, ...] = ()
    absent: tuple[Name, ...] = ()
    values: dict[Name, Quantity] = Field(default_factory=dict)


class StatePatch(_Part):
    """New states of a known object: `add` is true now, `remove` seen to be false, `forget` unknown again.

    In `values`, ``null`` makes a quantity unknown.
    """

    node_id: str
    add: tuple[Name, ...] = ()
    remove: tuple[Name, ...] = ()
    forget: tuple[Name, ...] = ()
    values: dict[Name, Quantity | None] = Field(default_factory=dict)


class EdgePatch(_Part):
    """A relation between two objects: `src` is inside, on top of, or next to `dst`."""

    pred: Name
    src: str
    dst: str


class Patch(_Part):
    """One observation. Removals are merged before additions; see `BeliefGraph.merge`."""

    add_nodes: tuple[NodePatch, ...] = ()
    update_node_states: tuple[StatePatch, ...] = ()
    add_edges: tuple[EdgePatch, ...] = ()
    remove_edges: tuple[EdgePatch, ...] = ()
    remove_nodes: tuple[str, ...] = ()

    @classmethod
    def read(cls, data: Patch | Mapping[str, Any]) -> Patch:
        """`data` as a patch. Raises `PatchError` (``patch-malformed``) that names the offending path."""
        if isinstance(data, Patch):
            return data
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            first = error.errors()[0]
            what = f"{first['msg'][:1].lower()}{first['msg'][1:]}"
            help = "a patch has the lists " + ", ".join(cls.model_fields)
            if first["type"] == "extra_forbidden":
                what, help = f"unknown key {first['loc'][-1]!r}", nearest(str(first["loc"][-1]), _keys(first["loc"]))
            elif not first["loc"]:
                what = f"expected a JSON object, found {data!r:.40}"
            raise PatchError("patch-malformed", what, where=path(*first["loc"]), help=help) from None

    @classmethod
    def scene(cls, data: Patch | Mapping[str, Any]) -> Patch:
        """The paper's initial graph ``{"nodes": [...], "edges": [...]}``, or any patch, as a patch."""
        if isinstance(data, Mapping) and data.keys() <= {"nodes", "edges"}:
            return cls.read({"add_nodes": data.get("nodes", ()), "add_edges": data.get("edges", ())})
        return cls.read(data)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data, without the parts that are empty."""
        return self.model_dump(mode="json", exclude_defaults=True)


def _keys(place: tuple[str | int, ...]) -> list[str]:
    """The keys that are known where an unknown one was found."""
    parts: dict[str, type[BaseModel]] = {"add_nodes": NodePatch, "update_node_states": StatePatch}
    parts |= {"add_edges": EdgePatch, "remove_edges": EdgePatch}
    model = parts.get(str(place[0]), Patch) if len(place) > 1 else Patch
    return list(model.model_fields)


def path(*parts: str | int) -> str:
    """A path into a value: ``path("add_edges", 2, "dst")`` is ``add_edges[2].dst``."""
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
