"""Cases and skills for the tests of the experience memory."""

from __future__ import annotations

from typing import Any

from obviate.kb.experience.case import Case
from obviate.kb.experience.skill import MetaSkill, Way


def closing(number: int = 0, **changes: Any) -> Case:
    """A cabinet is open and is closed: a success, unless `changes` say otherwise."""
    data: dict[str, Any] = {
        "rule": "storage_closed",
        "mode": "temporal",
        "outcome": "passed",
        "episode": f"episode {number}",
        "step": number,
        "binding": ("x",),
        "kinds": {"x": "top_cabinet.n.01"},
        "scene": {"add_nodes": [{"node_id": "x", "tags": ["function_storage"], "states": ["open"]}]},
        "deeds": [{"action": "close(x)", "patch": {"update_node_states": [{"node_id": "x", "remove": ["open"]}]}}],
    }
    return Case.model_validate({**data, **changes})


def leaving(number: int = 0) -> Case:
    """A cabinet is left open: a failure."""
    return closing(number, outcome="failed", reason="unresolved", deeds=[{"action": "done"}])


def closer(**changes: Any) -> MetaSkill:
    """The early skill of the paper's first example."""
    data: dict[str, Any] = {
        "rule": "storage_closed",
        "purpose": "Leave no storage open.",
        "how": "Close {x} at once.",
        "binding": ("x",),
        "timing": "immediately",
        "ways": (Way(steps=("close(x)",)),),
    }
    return MetaSkill.model_validate({**data, **changes})
