"""Gates that a compiled rule passes before it goes into a pack: none of them asks a model.

A rule that loads may still be nonsense. What each gate doubts goes to a person (`audit`); the hand-written household
rules pass all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from obviate.compilers.rules import plausibility
from obviate.compilers.rules.cues import cue_doubts, injected
from obviate.compilers.rules.scoring import alone
from obviate.compilers.rules.synthesis import Candidate
from obviate.engine.analysis import analysis
from obviate.engine.difference import difference
from obviate.engine.resolution import resolution
from obviate.engine.search import smallest
from obviate.engine.slice import Slice, slice_of
from obviate.kb import Pack
from obviate.kb.errors import PackError
from obviate.kb.kinds import Kinds

__all__ = ["GATES", "Finding", "doubts", "of_candidate"]

GATES = ("text", "words", "check", "types", "actions", "duplicate", "settled", "agreement")
_SURE = 2 / 3  # of the samples, that said the same
_MARGIN = 2.5  # nats by which the rule explains its principle better than the next candidate


@dataclass(frozen=True, slots=True)
class Finding:
    """What a gate doubts about a rule; `stopped` if it can do nothing at all, otherwise it is a matter of opinion."""

    gate: str
    reason: str
    stopped: bool = False


def doubts(
    pack: Pack, name: str, *, others: Sequence[Pack] = (), kinds: Kinds | None = None, seconds: float = 10.0
) -> tuple[Finding, ...]:
    """What speaks against the rule `name` of a pack that loads, as far as `seconds` reach for each search.

    `others` are packs whose rules it should not repeat; `kinds` is what objects there are.
    """
    found: list[Finding] = []
    rule, part = pack.rules[name], slice_of(pack, name)
    if (reason := injected(rule.principle)) is not None:
        found.append(Finding("text", reason))
    found += [Finding("words", reason) for reason in cue_doubts(rule.principle, part)]
    checked = list(_checked(pack, name, seconds))
    found += checked
    if not any(finding.stopped for finding in checked):
        found += _late("types", lambda: plausibility.odd(part, kinds, seconds), seconds)
        found += [Finding("actions", reason) for reason in plausibility.idle(part)]
        found += _late("actions", lambda: _hopeless(pack, name, seconds), seconds)
        found += _late("duplicate", lambda: _repeats(pack, name, others, seconds), seconds)
    return tuple(found)


def of_candidate(candidate: Candidate) -> tuple[Finding, ...]:
    """What speaks against a candidate by the way it came about."""
    found = [Finding("settled", f"contradicted itself: {what}") for what in candidate.dropped]
    if candidate.share < _SURE:
        found.append(Finding("agreement", f"{candidate.share:.0%} of the samples said so"))
    if candidate.margin is not None and candidate.margin < _MARGIN:
        reason = f"it explains its principle {candidate.margin:.1f} nats better than the next: {_MARGIN} are wanted"
        found.append(Finding("agreement", reason))
    return tuple(found)


def _late(gate: str, look: Callable[[], Iterator[str]], seconds: float) -> Iterator[Finding]:
    try:
        yield from [Finding(gate, reason) for reason in look()]
    except PackError as error:
        if error.code != "search-timeout":
            raise
        yield Finding(gate, f"not told within {seconds:g} s")


def _checked(pack: Pack, name: str, seconds: float) -> Iterator[Finding]:
    """Hazard and target that can hold, and never together: what `obviate check` finds by search."""
    alone = replace(pack, rules={name: pack.rules[name]})
    for finding in analysis(alone, seconds=seconds):
        yield Finding("check", f"{finding.message} [{finding.code}]", stopped=finding.severity == "error")


def _hopeless(pack: Pack, name: str, seconds: float) -> Iterator[str]:
    """A record that no change of beliefs resolves. A situational rule about what things are is obeyed by giving up."""
    part = slice_of(pack, name)
    stands = [*part.reads("state"), *part.reads("state", positive=False), *part.reads("edge"), *part.reads("value")]
    if part.rule.mode == "situational" and not stands and not part.moving:
        return
    example = smallest(pack, name, seconds=seconds)
    if example is not None and resolution(pack, example, seconds=seconds) is None:
        yield "nothing that can change resolves it"


def _repeats(pack: Pack, name: str, others: Sequence[Pack], seconds: float) -> Iterator[str]:
    """The rules that conclude the same on all small graphs, whatever they are called."""
    mine = slice_of(pack, name)
    end = time.monotonic() + seconds
    for other in (pack, *others):
        for known in other.rules.values():
            if (other is pack and known.name == name) or not _alike(mine, slice_of(other, known.name)):
                continue
            one, two = alone(mine), alone(slice_of(other, known.name))
            if difference(one, two, seconds=max(0.1, end - time.monotonic())) is None:
                yield f"{other.name}.{known.name} says the same"


def _alike(one: Slice, two: Slice) -> bool:
    """Whether two rules could be the same, by what they read."""

    def reads(part: Slice) -> tuple[object, ...]:
        names = [frozenset(part.reads(sort)) for sort in ("tag", "state", "edge", "value")]
        return part.rule.mode, part.arity, part.rule.deadline, frozenset(part.skills), *names

    return reads(one) == reads(two)
