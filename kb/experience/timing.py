"""Timing by contrast: which moment agrees with the successes and with none of what was undone."""

from __future__ import annotations

from collections.abc import Sequence

from obviate.kb.experience.case import Case
from obviate.kb.experience.skill import TIMINGS, Timing

__all__ = ["moments", "timing_of"]


def moments(case: Case, essential: Sequence[int]) -> frozenset[Timing]:
    """The timings that the case is an example of, where the `essential` deeds met the target.

    For example one closed at once, that was not used again: closed immediately, and after the last use as well.
    """
    if case.mode == "situational":
        return frozenset({"before the intent"})
    if not essential:
        return frozenset()
    fits: set[Timing] = set()
    if essential[0] == 0:
        fits.add("immediately")
    if not case.marks.used_after:
        fits.add("after the last use")
    if not case.marks.remaining:
        fits.add("before done")
    return frozenset(fits)


def timing_of(
    positive: Sequence[frozenset[Timing]], negative: Sequence[frozenset[Timing]], present: Timing
) -> tuple[Timing, str]:
    """The simplest timing that most successes are examples of and nothing undone is, and why it is not `present`.

    The present one stays unless the evidence speaks against it.
    """
    if present == "before the intent":
        return present, ""
    refuted = frozenset().union(*negative)
    order = sorted(TIMINGS, key=lambda t: (-sum(t in fits for fits in positive), TIMINGS.index(t)))
    left = [timing for timing in order if timing not in refuted]
    if present not in refuted and (not positive or any(present in fits for fits in positive)):
        return present, ""
    if not left:
        return present, ""
    told = f"{present!r} was undone in {sum(present in fits for fits in negative)} cases" if present in refuted else ""
    told = told or f"no success was {present!r}"
    return left[0], told
