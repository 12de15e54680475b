"""The maintenance kernel on a resident Control: what the equations say of an event (MIND paper, Sections III and IV).

`maintainer` carries the equations out faster on large buildings; this is what it is held against.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib.resources import files

from obviate.kb import asp
from obviate.kb.footprint import Footprint
from obviate.kb.instruction import Signature
from obviate.kb.terms import Atom, Fun

__all__ = ["Kernel", "Maintained"]

_TEXT = files("obviate.kb").joinpath("kernel/maintenance.lp").read_text(encoding="utf-8")
_OUTPUTS = [("stale", 2, True), ("reselect", 1, True), ("feasible", 2, True), ("target", 2, True)]


@dataclass(frozen=True, slots=True)
class Maintained:
    """What the kernel concludes: the stale judgments, whether to choose again, the feasible regions, the target."""

    stale: frozenset[str]
    reselect: bool
    feasible: frozenset[str]
    target: str | None


class Kernel:
    """The kernel for one instruction, ground once; footprints, verdicts and reachable regions are externals.

    Use it as a context manager or call `close`.
    """

    def __init__(self, name: str, signature: Signature) -> None:
        facts = [Atom("instruction", (Fun(name),))]
        facts += [Atom("depends", (Fun(name), Fun("semantic"), Fun(v))) for v in sorted(signature.semantic)]
        facts += [Atom("depends", (Fun(name), Fun("selection"), Fun(v))) for v in sorted(signature.selection)]
        program = "\n".join([_TEXT, *(f"{fact}." for fact in facts)])
        self._name = Fun(name)
        self._inputs: set[Atom] = set()
        self._control = asp.Resident(program, _OUTPUTS, {})

    def conclude(
        self, report: Footprint, *, verdicts: Collection[str], reachable: Collection[str], ranks: Mapping[str, int]
    ) -> Maintained:
        """The conclusions for a reported footprint, the regions judged to qualify, those that can be reached, and the
        ranks that the instruction gives.
        """
        inputs = set(report.facts())
        inputs |= {Atom("verdict", (self._name, region)) for region in verdicts}
        inputs |= {Atom("reachable", (region,)) for region in reachable}
        inputs |= {Atom("prefer", (self._name, region, rank)) for region, rank in ranks.items()}
        self._control.update(inputs - self._inputs, self._inputs - inputs)
        self._inputs = inputs
        found: dict[str, set[str]] = {name: set() for name, _, _ in _OUTPUTS}
        for atom in self._control.model():
            found[atom.name].add(str(atom.args[-1]))
        target = next(iter(found["target"]), None)
        return Maintained(frozenset(found["stale"]), bool(found["reselect"]), frozenset(found["feasible"]), target)

    def close(self) -> None:
        """Free the Control."""
        self._control.close()

    def __enter__(self) -> Kernel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
