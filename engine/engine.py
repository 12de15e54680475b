"""The engine: belief, intent and execution in; triggers and verdicts out (paper, Sections 4.1 to 4.3)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from rpds import HashTrieMap

from obviate.engine.backend import Capability, Conclusions, Query
from obviate.engine.ignorance import still_forgotten
from obviate.engine.log import DecisionLog
from obviate.engine.record import Change, Memory, Moment, Record, Trigger
from obviate.engine.session import Session, Standings
from obviate.engine.standing import Binding, Instance, Standing
from obviate.engine.support import support
from obviate.kb import DONE, Action, BeliefGraph, Pack, Patch
from obviate.kb.errors import LifecycleError, ObviateError
from obviate.kb.terms import Atom

__all__ = ["Engine", "Snapshot"]

Result = TypeVar("Result")
_engines = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything an engine knows at one moment; opaque, immutable, and cheap: it shares structure."""

    graph: BeliefGraph
    trace: HashTrieMap[int, Moment]
    packs: tuple[str, ...]
    engine: int = field(compare=False)
    mark: int = field(default=0, compare=False)  # how many verbs led here, so that a log can name it
    step: int = 0
    intent: Action | None = None
    moving: frozenset[str] = frozenset()
    observed: bool = True
    standings: Standings = ()
    open: HashTrieMap[Instance, Record] = field(default_factory=HashTrieMap)
    forgotten: Mapping[Instance, frozenset[Atom]] = field(default_factory=dict)  # while the record was open
    closed: HashTrieMap[int, Record] = field(default_factory=HashTrieMap)  # the last of them, numbered
    settled: int = 0  # how many records have been so
    ended: str = ""


class Engine:
    """Follows one episode: what is believed, intended and executed, against one or more rule packs.

    `packs` are checked packs over one vocabulary; with several, rules are named ``pack.rule``. `objects` is the
    initial scene: a `BeliefGraph`, a patch, or the paper's ``{"nodes": [...], "edges": [...]}``. `backend` is
    ``auto`` (the default), ``sliced`` (a step costs what it changes), ``multishot`` (resident), ``oneshot`` (the
    oracle) or ``crosscheck`` (all three): the answers are the same. `log` is a path for the decision log. `history` is
    the number of steps whose graphs and settled records stay in memory.

    Every verb either returns plain data or raises an `ObviateError` and changes nothing. An engine is not
    thread-safe; different engines are independent. Use it as a context manager or call `close`.
    """

    def __init__(
        self,
        *packs: Pack,
        objects: BeliefGraph | Patch | Mapping[str, Any] | None = None,
        backend: str = "auto",
        log: Path | str | None = None,
        history: int = 1_000,
    ) -> None:
        if history < 1:
            raise LifecycleError("bad-history", f"history is {history}", help="keep at least the present step")
        self._session = Session(packs, backend)
        vocabulary = packs[0].vocabulary
        graph = objects if isinstance(objects, BeliefGraph) else BeliefGraph.of(vocabulary, objects)
        if graph.vocabulary.digest != vocabulary.digest:
            raise LifecycleError(
                "two-vocabularies", "the objects and the packs have different vocabularies", help="use pack.vocabulary"
            )
        graph = graph.unmoved()
        self._history = history
        start = HashTrieMap({0: Moment(0, graph)})
        stands = tuple(Standing() for _ in packs)
        self._state = Snapshot(graph, start, self._session.digests, next(_engines), standings=stands)
        self._engine = self._state.engine
        self._verbs = -1
        self._before = self._state
        self._closed = False
        began = self._conclude(self._state, Query())
        self._log = DecisionLog(log, self._session.packs, graph)  # last: a refused engine leaves the file alone
        self._write("begin", {}, began)

    @property
    def packs(self) -> tuple[Pack, ...]:
        """The rule packs that it follows."""
        self._alive()
        return self._session.packs

    # -- verbs ----------------------------------------------------------------------------------

    def apply(self, patch: Patch | Mapping[str, Any]) -> Change:
        """Take an observation: the belief graph becomes G_{t+1} = Merge(G_t, patch).

        A standing intent stays. Raises `PatchError` or `VocabularyError` naming the path in the patch.
        """
        state = self._running()
        patch = Patch.read(patch)
        graph = state.graph.merge(patch)
        for name in sorted(state.moving):
            if graph.supports(name) != state.graph.supports(name):
                graph = graph.with_moved(name)
        doubted = frozenset(state.forgotten)
        forgotten = still_forgotten(patch, state.graph, state.open, state.forgotten)
        state = self._advance(replace(state, graph=graph, forgotten=forgotten, observed=True))
        change = self._conclude(state, Query(intent=state.intent, doubted=doubted))
        return self._write("apply", patch, change)

    def intend(self, action: Action | str) -> Change:
        """Commit the one-step lookahead: opens a record for each hazard that the action would turn into harm.

        The intent stands until the next `intend` or `execute`. Raises `ActionError`.
        """
        state = self._running()
        action = self._action(action)
        change = self._conclude(replace(self._turn(state), intent=action), Query(intent=action))
        return self._write("intend", str(action), change)

    def probe(self, action: Action | str) -> tuple[Trigger, ...]:
        """What would fail if the action were executed now; of ``done``, the obligations that would.

        Commits nothing. Raises `ActionError`.
        """
        state = self._running()
        action = self._action(action)
        risks = self._session.triggers(self._session.joined(self._answers(state, Query(intent=action))).risk)
        self._write("probe", str(action), [risk.to_json() for risk in risks])
        return risks

    def execute(self, action: Action | str) -> Change:
        """Judge an action on the graph before its effects, which arrive by the next `apply`.

        A record that the action threatens and whose target is false fails, announced or not. ``done`` ends the
        episode and settles every record. Raises `ActionError`.
        """
        state = self._running()
        action = self._action(action)
        state = self._turn(state)
        trace = state.trace.insert(state.step, replace(state.trace[state.step], action=action))
        moving = self._moved_by(action) | (frozenset() if state.observed else state.moving)
        state = replace(state, trace=trace, intent=None, moving=moving, observed=False)
        change = self._conclude(state, Query(intent=action, executed=action))
        return self._write("execute", str(action), change)

    def finish(self, reason: str = "finished") -> Change:
        """End an episode that stops without ``done``, for a `reason` of yours: every open record is settled."""
        state, reason = self._running(), reason or "finished"
        failed = [
            replace(record, verdict="failed", settled=state.step, reason=self._unfinished(record, reason))
            for record in self.obligations()
        ]
        standings = tuple(standing.without_records() for standing in state.standings)
        state = self._settle(state, failed)
        nothing: HashTrieMap[Instance, Record] = HashTrieMap()
        self._commit(replace(state, intent=None, standings=standings, open=nothing, forgotten={}, ended=reason))
        return self._write("finish", reason, Change(state.step, failed=tuple(failed)))

    # -- reading --------------------------------------------------------------------------------

    @property
    def graph(self) -> BeliefGraph:
        """What is believed now, G_t."""
        return self._alive().graph

    @property
    def step(self) -> int:
        """The present step t."""
        return self._alive().step

    @property
    def ended(self) -> bool:
        """Whether the episode is over."""
        return bool(self._alive().ended)

    def obligations(self) -> tuple[Record, ...]:
        """The records that are open, oldest first."""
        return tuple(sorted(self._alive().open.values(), key=_order))

    def records(self) -> tuple[Record, ...]:
        """The verification records: those settled in the last `history` steps in order of verdict, then the open ones.

        Older ones are in the decision log.
        """
        closed = self._alive().closed
        return (*(closed[number] for number in sorted(closed)), *self.obligations())

    def triggers(self) -> tuple[Trigger, ...]:
        """The triggers that are true now."""
        return self._session.triggers(self._session.instances(Standing.triggers, self._alive().standings))

    def support(self, trigger: Trigger) -> tuple[str, ...]:
        """The beliefs that the hazard of `trigger` stands on, such as ``state(plate, stained)``.

        Empty when the hazard does not hold now.
        """
        return support(self._session.pack(trigger.rule), self._alive().graph, trigger)

    def history(self) -> tuple[Moment, ...]:
        """The steps still in memory, oldest first: graph and action of each."""
        trace = self._alive().trace
        return tuple(trace[step] for step in sorted(trace))

    def window(self, record: Record) -> tuple[Moment, ...]:
        """The minimal causal window {(a_t, G_t)} from the trigger to the verdict (paper, equation 10).

        Raises `LifecycleError` (``window-forgotten``, ``unknown-record``) when its steps are no longer in memory,
        or it is no record of this episode.
        """
        state = self._alive()
        if record not in self.records():
            raise LifecycleError("unknown-record", f"{record} is no record of this episode", help="see records()")
        last = state.step if record.settled is None else record.settled
        steps = range(record.t_on, last + 1)
        if record.t_on not in state.trace:
            raise LifecycleError(
                "window-forgotten",
                f"step {record.t_on} is no longer in memory (history={self._history})",
                help="read it from the decision log, or raise Engine(history=...)",
            )
        return tuple(state.trace[step] for step in steps)

    def capabilities(self) -> tuple[Capability, ...]:
        """How each rule is followed now: by which backend, and how or why so."""
        self._alive()
        return self._session.capabilities()

    def memory(self) -> Memory:
        """What the engine holds. All of it is bounded by the graph, the open records and `history`."""
        state = self._alive()
        return Memory(len(state.graph), len(state.open), len(state.closed), len(state.trace), self._session.symbols)

    # -- the life of an engine ------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """The whole state, to return to with `restore`."""
        return self._alive()

    def restore(self, snapshot: Snapshot) -> None:
        """Return to a snapshot of this engine, or of one with the same packs. The log notes it.

        Raises `LifecycleError` (``foreign-snapshot``) for other packs, and for another engine's when there is a
        log, which could not be replayed.
        """
        self._alive()
        foreign = snapshot.engine != self._engine and self._log.writes
        if foreign or snapshot.packs != self._session.digests:
            raise LifecycleError(
                "foreign-snapshot",
                "this snapshot is of an engine with other packs, or would leave a gap in the log",
                help="restore snapshots of the same engine",
            )
        self._state = snapshot
        self._write("restore", snapshot.mark, None)

    def close(self) -> None:
        """Free the solver and the log file; afterwards every use raises `LifecycleError`."""
        if not self._closed:
            self._closed = True
            self._session.close()
            self._log.close()

    def __enter__(self) -> Engine:
        self._alive()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # -- concluding -----------------------------------------------------------------------------

    def _conclude(self, state: Snapshot, query: Query) -> Change:
        """Draw conclusions, commit the resulting state, and say what changed."""
        found = self._answers(state, query)
        answers = self._session.joined(found)
        executed = query.executed is not None
        opened = {i: self._session.record(i, state.step) for i in answers.opens}
        records = state.open
        for instance, record in opened.items():
            records = records.insert(instance, record)
        failures = answers.failed | answers.abandoned
        passed = [replace(records[i], verdict="passed", t_off=state.step) for i in answers.passed]
        failed = [replace(records[i], verdict="failed", reason=self._reason(i, answers, query)) for i in failures]
        passed, failed = ([replace(r, settled=state.step) for r in sorted(rs, key=_order)] for rs in (passed, failed))
        vanished = answers.vanished
        if executed:  # which ends the intent
            vanished = vanished.union(self._session.instances(lambda one: one.situational, state.standings))
        settled = answers.passed | failures
        for instance in settled:
            records = records.remove(instance)
        self._commit(
            replace(
                self._settle(state, [*passed, *failed]),
                standings=self._session.after(state.standings, found, executed=executed, graph=state.graph),
                open=records,
                forgotten={i: atoms for i, atoms in state.forgotten.items() if i not in settled},
                ended="done" if query.executed == DONE else "",
            )
        )
        return Change(
            step=state.step,
            appeared=self._session.triggers(answers.appeared),
            vanished=self._session.triggers(vanished),
            opened=tuple(sorted(opened.values(), key=_order)),
            passed=tuple(passed),
            failed=tuple(failed),
            risks=self._session.triggers(answers.risk),
        )

    def _settle(self, state: Snapshot, settled: list[Record]) -> Snapshot:
        """With records that are settled now, and without those that were settled long ago."""
        closed, count = state.closed, state.settled
        for record in settled:
            closed, count = closed.insert(count, record), count + 1
        while closed and (closed[count - len(closed)].settled or 0) < state.step - self._history:
            closed = closed.remove(count - len(closed))
        return replace(state, closed=closed, settled=count)

    def _commit(self, state: Snapshot) -> None:
        self._state = replace(state, engine=self._engine, mark=self._verbs + 1)

    def _write(self, verb: str, given: object, result: Result) -> Result:
        """Log a verb; returns `result`."""
        try:
            self._log.write(verb, given, result)
        except ObviateError:
            self._state = self._before
            raise
        self._verbs += 1
        return result

    def _answers(self, state: Snapshot, query: Query) -> list[Conclusions]:
        return self._session.conclude(state.graph, query, state.standings, state.forgotten)

    def _reason(self, instance: Instance, answers: Conclusions, query: Query) -> str:
        rule = self._session.rule(instance)
        deadline = rule.deadline
        if instance in answers.abandoned:
            return "abandoned"
        if query.executed == DONE and (rule.mode == "temporal" or deadline != "before_intent"):
            return "unresolved"
        return "executed" if deadline == "before_intent" else "deadline"

    def _unfinished(self, record: Record, reason: str) -> str:
        rule = self._session.rule((record.rule, record.binding))
        return "abandoned" if rule.mode == "situational" and rule.deadline == "before_intent" else reason

    def _turn(self, state: Snapshot) -> Snapshot:
        """The step that an action belongs to: where nothing was observed since the last, the belief stands."""
        return state if state.trace[state.step].action is None else self._advance(state)

    def _advance(self, state: Snapshot) -> Snapshot:
        step = state.step + 1
        trace = state.trace.insert(step, Moment(step, state.graph)).discard(step - self._history)
        return replace(state, step=step, trace=trace)

    def _action(self, action: Action | str) -> Action:
        return self._session.vocabulary.check_action(action, self._state.graph.nodes)

    def _moved_by(self, action: Action) -> frozenset[str]:
        index = self._session.vocabulary.moves.get(action.skill)
        return frozenset({action.args[index - 1]} if index else ())

    def _alive(self) -> Snapshot:
        if self._closed:
            raise LifecycleError("engine-closed", "this engine is closed", help="make a new Engine")
        self._before = self._state  # to return to, should the log refuse what a verb concludes
        return self._state

    def _running(self) -> Snapshot:
        state = self._alive()
        if state.ended:
            raise LifecycleError(
                "episode-over",
                f"the episode ended with {state.ended!r}",
                help="make a new Engine for the next one",
            )
        return state


def _order(record: Record) -> tuple[int, str, Binding]:
    return record.t_on, record.rule, record.binding
