"""Maintenance policies: which judgments an event makes stale, and which of those are asked for again.

Each preserves the decisions of full recomputation under the condition that it states; `POLICIES` has them by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from obviate.kb.errors import LifecycleError, nearest
from obviate.kb.instruction import Instruction, Signature
from obviate.kb.regions import CATEGORIES

__all__ = ["POLICIES", "Policy", "policy"]

_EVERY = frozenset(CATEGORIES)


@dataclass(frozen=True, slots=True)
class Policy:
    """A maintenance policy.

    `signature` is what it takes an instruction to depend on: ``inferred``, ``declared`` (or inferred where nothing
    is), ``widened`` (declared, equation (9)), ``merged`` (inferred, without the split in stages), ``universal``, or
    ``inventory``. It preserves decisions if that contains the true read sets, equation (12), and footprints cover
    what changed; ``universal`` always does, ``inventory`` does not unless nothing else is read.

    - `everything` refreshes every region after every event, as the paper's full recomputation. Needs nothing.
    - `exact` keeps a stale judgment whose question has not changed. Needs an evaluator that answers the question
      and nothing else.
    - `addressed` reuses the answer to a question that was asked before, of whatever region. Needs the same, and
      that answers do not depend on when they are given.
    - `lazy` judges in the selector's order, and only until the target is certain. Needs a selector that takes the
      first feasible region in an order of its own, as the built-in one does.
    - `eventwise` asks at each event whether it matters (``none``, ``selection`` or ``semantic``) instead of reading a
      signature: the paper's compiler-free alternative, Section VI-A. Needs right answers, which nothing checks.
    - `polar` keeps a yes where contents only grew, and a no where they only shrank. Needs a program in which more
      contents never disqualify, and that it is the program that judges; applied only where both can be seen.
    """

    name: str
    signature: str = "inferred"
    everything: bool = False
    exact: bool = False
    addressed: bool = False
    lazy: bool = False
    polar: bool = False
    eventwise: bool = False

    def signature_of(self, instruction: Instruction) -> Signature:
        """What this policy takes the instruction to depend on."""
        return _SIGNATURES[self.signature](instruction)


_SIGNATURES: Mapping[str, Callable[[Instruction], Signature]] = {
    "inferred": lambda one: one.inferred,
    "declared": lambda one: one.signature,
    "widened": lambda one: one.signature.widened(),
    "merged": lambda one: Signature(one.inferred.semantic | one.inferred.selection, one.inferred.selection),
    "universal": lambda one: Signature(_EVERY, _EVERY - {"inventory"}),
    "inventory": lambda one: Signature(frozenset({"inventory"}), frozenset()),
}
_OURS = Policy("ours", exact=True, addressed=True, lazy=True, polar=True)
POLICIES: Mapping[str, Policy] = {
    one.name: one
    for one in (
        Policy("full", everything=True),
        Policy("static", "inventory"),
        Policy("universal", "universal"),
        Policy("merged", "merged"),
        Policy("reference"),
        Policy("declared", "declared"),
        Policy("widened", "widened"),
        Policy("exact", exact=True),
        Policy("addressed", addressed=True),
        Policy("lazy", lazy=True),
        Policy("polar", polar=True),
        Policy("eventwise", "universal", eventwise=True),
        _OURS,
        replace(_OURS, name="ours-declared", signature="declared"),
    )
}


def policy(name: str) -> Policy:
    """The policy called `name`. Raises `LifecycleError` (``unknown-policy``)."""
    if name not in POLICIES:
        raise LifecycleError("unknown-policy", f"there is no policy {name!r}", help=nearest(name, POLICIES))
    return POLICIES[name]
