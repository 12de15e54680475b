"""What became of a standing instruction after an event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from obviate.kb.footprint import Footprint

__all__ = ["Decision"]


@dataclass(frozen=True, slots=True)
class Decision:
    """The target after a step, None where nothing is feasible.

    `refreshed` are the regions judged again, so many as `evaluations` were asked for; `total` counts them since the
    beginning, equation (6). `footprint` is what was reported, and `semantic` what judgments were taken to depend
    on. It is not `certain` where the evaluator failed for a region that could be the target; `failure` says how.
    """

    step: int
    target: str | None
    refreshed: tuple[str, ...]
    total: int
    certain: bool = True
    failure: str = ""
    footprint: Footprint = field(default=Footprint(), repr=False)
    semantic: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def evaluations(self) -> int:
        """The evaluations of this step."""
        return len(self.refreshed)

    @property
    def stale(self) -> Mapping[str, frozenset[str]]:
        """The regions that the event made stale, equation (11), each with the categories why."""
        found: dict[str, set[str]] = {}
        for category, regions in self.footprint.pairs:
            for region in regions if category in self.semantic else ():
                found.setdefault(region, set()).add(category)
        return {region: frozenset(found[region]) for region in sorted(found)}
