"""Small packs and scenes that the tests of the contract share, and how they start an episode."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from packs_strategies import BACKENDS, names, node, scene

from obviate.engine import Engine
from obviate.kb import Pack, household

Start = Callable[..., Engine]


@pytest.fixture(name="start", params=BACKENDS)
def begin(request: pytest.FixtureRequest) -> Iterator[Start]:
    """Starts an episode with a pack, given as text, and the objects of the scene."""
    engines: list[Engine] = []

    def episode(text: str | Pack | list[Pack], *nodes: Any, edges: Any = (), **options: Any) -> Engine:
        packs = [household_pack(text)] if isinstance(text, str) else [text] if isinstance(text, Pack) else text
        engines.append(Engine(*packs, objects=scene(*nodes, edges=edges), backend=request.param, **options))
        return engines[-1]

    yield episode
    for engine in engines:
        engine.close()


def household_pack(text: str, **options: Any) -> Pack:
    return Pack.of(text, vocabulary=household.vocabulary(), **options)


def settled(engine: Engine) -> list[tuple[str, str, str]]:
    """The settled records as (record, verdict, reason)."""
    return [(str(r), r.verdict, r.reason) for r in engine.records() if r.verdict != "pending"]


def pending(engine: Engine) -> list[str]:
    return names(engine.obligations())


# A plate that is dusty when food is put on it: situational, with the target left out.
CLEAN = """
rule(clean, situational).
hazard(clean, (X,Y)) :- tag(X, safety_food), state(Y, dusty).
threatens(clean, (X,Y)) :- intent(place_on_top(X,Y)).
"""
PEACH, PLATE = node("peach", "safety_food"), node("plate", states=["dusty"])

# A cabinet that must be shut in the end: temporal, with the target left out.
SHUT = """
rule(shut, temporal).
hazard(shut, X) :- state(X, open).
"""

# The same with a target of its own: shut is not enough, it must be seen to be shut and dry.
SHUT_AND_DRY = """
rule(shut, temporal).
hazard(shut, X) :- state(X, open).
resolved(shut, X) :- pending(shut, X), -state(X, open), -state(X, wet).
"""

# The same with a target of its own: shut is not enough, it must be seen to be shut and dry.
SHUT_AND_DRY = """
rule(shut, temporal).
hazard(shut, X) :- state(X, open).
resolved(shut, X) :- pending(shut, X), -state(X, open), -state(X, wet).
"""
