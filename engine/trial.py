"""Trying a scenario test on a rule pack: what came of each step, and why an expectation was not met."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from obviate.engine.account import Account, Situation
from obviate.engine.backend import Query
from obviate.engine.engine import Engine, Snapshot
from obviate.engine.record import Change, Record, Trigger
from obviate.engine.standing import Binding
from obviate.kb import Action, Pack
from obviate.kb.cases import CONCLUSIONS, Case, Event, Expectation
from obviate.kb.errors import PackError
from obviate.kb.places import written
from obviate.kb.terms import Fun, term_of_binding

__all__ = ["Finding", "Miss", "Step", "Trial", "follow", "missed", "try_case", "variant"]


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """An instance of a conclusion: a rule, the objects it binds and, of a failure, the reason."""

    rule: str
    binding: Binding
    reason: str = ""

    def written(self, conclusion: str) -> str:
        """As a test would expect it."""
        reason = (Fun(self.reason),) if self.reason else ()
        return written(Fun(conclusion, (Fun(self.rule), term_of_binding(self.binding), *reason)))


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a trial; `findings` are by conclusion. The end of an episode by ``finish`` has no situation."""

    situation: Situation | None
    findings: Mapping[str, frozenset[Finding]]


@dataclass(frozen=True, slots=True)
class Miss:
    """An expectation that was not met: what is there instead, and why."""

    expected: Expectation
    found: tuple[str, ...]
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trial:
    """A case, its steps from 0 (what is given), and the expectations that were not met."""

    case: Case
    steps: tuple[Step, ...]
    misses: tuple[Miss, ...]

    @property
    def passed(self) -> bool:
        """Whether everything came as expected."""
        return not self.misses

    @property
    def situations(self) -> tuple[Situation, ...]:
        """What the kernel saw, step by step."""
        return tuple(step.situation for step in self.steps if step.situation is not None)


def try_case(case: Case, pack: Pack, *, backend: str = "oneshot") -> Trial:
    """Follow a case on a pack. Raises `ObviateError` if the pack cannot be evaluated."""
    try:
        pack = variant(pack, case.consts)
    except PackError as error:
        raise PackError(error.code, error.message, where=error.where or case.span, help=error.help) from None
    steps = follow(case, pack, backend=backend)
    misses = (Miss(expected, found, tuple(_why(expected, steps, one))) for expected, found, one in missed(case, steps))
    return Trial(case, steps, tuple(misses))


@lru_cache(maxsize=8)
def variant(pack: Pack, consts: tuple[tuple[str, str], ...]) -> Pack:
    """The pack with some of its constants overridden."""
    if not consts:
        return pack
    values = {**pack.consts, **dict(consts)}
    other = Pack.of(pack.program.text, vocabulary=pack.vocabulary, name=pack.name, consts=values)
    rules = {name: replace(rule, span=pack.rules[name].span) for name, rule in other.rules.items()}
    return replace(pack, consts=other.consts, rules=rules, digest=other.digest)  # its places stay those of the files


# -- following -----------------------------------------------------------------------------------


def follow(case: Case, pack: Pack, *, backend: str = "oneshot") -> tuple[Step, ...]:
    """The steps of a case on a pack as it is, whatever constants the case overrides."""
    with Engine(pack, objects=case.scene, backend=backend) as engine:
        steps = [Step(Situation(pack, engine.graph, Query()), _findings(engine, None))]
        for event in case.events:
            query = _query(event, engine.snapshot())
            result = getattr(engine, event.verb)(event.given)
            situation = Situation(pack, engine.graph, query) if query is not None else None
            steps.append(Step(situation, _findings(engine, result)))
    return tuple(steps)


def _query(event: Event, before: Snapshot) -> Query | None:
    """What the event asks of the kernel; None of ``finish``, which settles every record without it."""
    asked = Query(intent=before.intent, standing=before.standings[0])
    if isinstance(event.given, Action):
        return replace(asked, intent=event.given, executed=event.given if event.verb == "execute" else None)
    return asked if event.verb == "apply" else None


def _findings(engine: Engine, result: Change | tuple[Trigger, ...] | None) -> dict[str, frozenset[Finding]]:
    change = result if isinstance(result, Change) else Change(engine.step)
    risks = result if isinstance(result, tuple) else change.risks
    found: dict[str, tuple[Trigger | Record, ...]] = {
        "trigger": engine.triggers(),
        "risk": risks,
        "pending": engine.obligations(),
        "passed": change.passed,
        "failed": change.failed,
    }
    return {
        name: frozenset(Finding(one.rule, one.binding, getattr(one, "reason", "")) for one in found[name])
        for name in CONCLUSIONS
    }


# -- judging -------------------------------------------------------------------------------------


def missed(case: Case, steps: Sequence[Step]) -> Iterator[tuple[Expectation, tuple[str, ...], Finding | None]]:
    """The expectations that the steps do not meet, what there is instead, and what should not be there, if any."""
    only: dict[tuple[int, str, str], set[Binding | None]] = {}
    for expected in case.expectations:
        if expected.quantifier == "only":
            only.setdefault((expected.step, expected.conclusion, expected.rule), set()).add(expected.binding)
    for expected in case.expectations:
        findings = steps[expected.step].findings[expected.conclusion]
        of_rule = {f for f in findings if expected.rule in ("", f.rule)}
        meant = {f for f in of_rule if expected.binding in (None, f.binding) and expected.reason in ("", f.reason)}
        unwanted: set[Finding] = set()
        lacking = not meant
        match expected.quantifier:
            case "no":
                unwanted, lacking = meant, False
            case "only":
                bindings = only[expected.step, expected.conclusion, expected.rule]
                unwanted = {f for f in of_rule if f.binding not in bindings}
            case "exactly":
                unwanted, lacking = meant if len(meant) > expected.count else set(), len(meant) < expected.count
        if unwanted or lacking:
            found = tuple(f.written(expected.conclusion) for f in sorted(of_rule))
            yield expected, found, min(unwanted, default=None)


def _why(expected: Expectation, steps: Sequence[Step], unwanted: Finding | None) -> Iterator[str]:
    step = steps[expected.step]
    open_before = steps[expected.step - 1].findings["pending"] if expected.step else frozenset()
    one = unwanted or Finding(expected.rule, expected.binding or ())
    if step.situation is None:
        yield "the episode was finished, which settles what is open" + ("" if unwanted else ": this was not")
    elif unwanted or expected.binding is not None:
        account = Account(step.situation, one.rule, one.binding, Finding(one.rule, one.binding) in open_before)
        settled = {name: {(f.rule, f.binding) for f in step.findings[name]} for name in ("passed", "failed")}
        told = account.present(expected.conclusion) if unwanted else account.absent(expected.conclusion, settled)
        yield from told
