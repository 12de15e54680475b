"""Decision equivalence (MIND paper, Proposition 1) as a search for what would refute it.

The programs are in ``kb/proofs``, and the kernel in them is ``kb/kernel/maintenance.lp`` itself. No model is a proof:
`prove` for given numbers of regions and events, `induct` for sequences of any length.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from obviate.engine.proofs.story import OUTPUTS, Story
from obviate.kb import asp
from obviate.kb.copies import timed
from obviate.kb.errors import PackError, VocabularyError, nearest

__all__ = [
    "CONDITIONS",
    "CUTOFF",
    "HYPOTHESES",
    "Bounds",
    "Result",
    "choose",
    "counterexample",
    "induct",
    "ours",
    "prove",
    "text",
]

HYPOTHESES: Mapping[str, str] = {
    "semantic": "the signature contains what the evaluator reads",
    "selection": "the signature contains what the selector reads",
    "footprint": "the report covers what the event changed",
    "reselection": "a reported change that the signature names leads to choosing again",
}
CONDITIONS: Mapping[str, str] = {
    "question": "the evaluator answers the question and nothing else",
    "steady": "the same question has the same answer whenever it is asked",
    "order": "the selector takes the first feasible region in an order of its own",
    "monotone": "more contents never disqualify",
}
CUTOFF = 3  # regions that a broken step needs at most, whatever the kernel: docs/proofs.md
_ATOMS = 60_000  # pairs of regions in all moments: what is larger is not begun
_KINDS = ("add", "remove", "study", "plain", "use", "move", "open", "close")
_WISHES = [f"prefers({how})" for how in ("name", "used", "label", "near")]
_WISHES += [f"reads(semantic,{v})" for v in ("label", "history", "position", "topology")]
_LASTING = frozenset({"instruction", "depends"})


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many regions and events a proof is about."""

    regions: int
    events: int


@dataclass(frozen=True, slots=True)
class Result:
    """`verdict` is ``proven``, ``refuted`` or ``undecided``, within `bounds`; `why` says what was found or lacked."""

    verdict: str
    bounds: Bounds
    why: str = ""
    seconds: float = 0.0


def prove(bounds: Bounds, *, dropped: Collection[str] = (), kernel: str | None = None, seconds: float = 10.0) -> Result:
    """Whether every decision is that of full recomputation, for any world, functions, signature and report in `bounds`.

    `dropped` are hypotheses, keys of `HYPOTHESES`, that are not assumed. `kernel` is another text of the maintenance
    kernel. Raises `VocabularyError` (``unknown-hypothesis``).
    """
    program = [_base(kernel), ":- not differs(_).", *_dropped(dropped)]
    return _decided("\n".join(program), bounds, "differs", seconds)


def induct(
    regions: int = CUTOFF, *, dropped: Collection[str] = (), kernel: str | None = None, seconds: float = 10.0
) -> Result:
    """Whether one event preserves cache, planner's output and decision from any state in which they are right, and
    refreshes nothing needlessly; with `CUTOFF` regions, that holds for any number of regions and events.
    """
    program = [_base(kernel), text("step"), *_dropped(dropped)]
    return _decided("\n".join(program), Bounds(regions, 1), "broken", seconds)


def choose(regions: int = CUTOFF, *, kernel: str | None = None, seconds: float = 10.0) -> Result:
    """Whether the kernel's own selector takes what equations (3) and (4) say: the least feasible, by rank and name."""
    return _decided(text("selector") + (kernel or _kernel()), Bounds(regions, 0), "broken", seconds)


def ours(regions: int = CUTOFF, *, dropped: Collection[str] = (), seconds: float = 10.0) -> Result:
    """Whether our policies, in any combination, decide as full recomputation does after one event from any state in
    which their caches are right. `dropped` are keys of `CONDITIONS`; raises as `prove`.
    """
    program = [text("policies"), *_dropped(dropped, CONDITIONS)]
    return _decided("\n".join(program), Bounds(regions, 1), "broken", seconds)


def counterexample(
    hypothesis: str, *, most: Bounds = Bounds(3, 3), kernel: str | None = None, seconds: float = 10.0
) -> Story | None:
    """The plainest story in which a decision differs without one hypothesis: the fewest events, then regions.

    None if there is none up to the size `most`. Raises `VocabularyError` (``unknown-hypothesis``) and `PackError`
    (``search-timeout``).
    """
    program = "\n".join(
        [_base(kernel), text("story"), text("plain"), ":- not differs(events).", *_dropped([hypothesis])]
    )
    end = time.monotonic() + seconds
    for events in range(1, most.events + 1):
        for regions in range(1, most.regions + 1):
            sizes = {"regions": str(regions), "events": str(events)}
            found = asp.search(program, OUTPUTS, sizes, seconds=end - time.monotonic())
            if found is not None:
                return Story.of(found.atoms, hypothesis, regions, events)
    return None


def tales(seconds: float = 30.0) -> Iterator[Story]:
    """Stories in which all hypotheses hold, of three events in three regions: each way to prefer and each category that
    is read, with each kind of event, and the last changes the target. Raises as `counterexample`.
    """
    program = "\n".join([_base(None), text("story"), text("tale")])
    end = time.monotonic() + seconds
    for wish in _WISHES:
        for kind in _KINDS:
            wanted = f"{program}\n:- not {wish}.\n:- not happens(events,{kind},_)."
            found = asp.search(wanted, OUTPUTS, {"regions": "3", "events": "3"}, seconds=end - time.monotonic())
            if found is not None:
                yield Story.of(found.atoms, "", 3, 3)


def _lack(bounds: Bounds, seconds: float) -> str:
    """Why a proof is not even begun; nothing if it can be."""
    if bounds.regions**2 * (bounds.events + 1) > _ATOMS:
        return f"{bounds.regions} regions and {bounds.events} events are too many to ground"
    return "" if seconds > 0 else "there is no time"


def text(name: str) -> str:
    """One of the programs in ``kb/proofs``."""
    return files("obviate.kb").joinpath(f"proofs/{name}.lp").read_text(encoding="utf-8")


def _decided(program: str, bounds: Bounds, refuted: str, seconds: float) -> Result:
    began = time.monotonic()
    lack = _lack(bounds, seconds)
    if lack:
        return Result("undecided", bounds, lack)
    sizes = {"regions": str(bounds.regions), "events": str(bounds.events)}
    try:
        found = asp.search(program, [(refuted, 1, True)], sizes, seconds=seconds)
    except PackError as error:
        if error.code != "search-timeout":
            raise
        return Result("undecided", bounds, f"not within {seconds:g} s", time.monotonic() - began)
    took = time.monotonic() - began
    if found is None:
        return Result("proven", bounds, "", took)
    return Result("refuted", bounds, ", ".join(sorted(map(str, found.atoms))), took)


def _dropped(names: Collection[str], known: Collection[str] = HYPOTHESES) -> Iterator[str]:
    for name in names:
        if name not in known:
            help = nearest(name, known)
            raise VocabularyError("unknown-hypothesis", f"the proposition assumes nothing called {name!r}", help=help)
        yield f"dropped({name})."


def _base(kernel: str | None) -> str:
    return "\n".join([text("world"), text("maintained"), _timed(kernel or _kernel())])


@cache
def _timed(kernel: str) -> str:
    return timed(asp.parse(kernel, "maintenance.lp"), lasting=_LASTING)


def _kernel() -> str:
    return files("obviate.kb").joinpath("kernel/maintenance.lp").read_text(encoding="utf-8")
