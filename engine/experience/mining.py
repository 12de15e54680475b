"""Mining: from a finished run to its cases (paper, Algorithm 1 and equation 10)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from obviate.engine.description import described
from obviate.engine.experience.audit import Audit, audit
from obviate.engine.experience.verification import refusal
from obviate.engine.loop import Run
from obviate.engine.record import Moment, Record
from obviate.kb import Action, BeliefGraph, Pack, Patch
from obviate.kb.experience.case import MAX_DEEDS, MAX_SLOTS, Case, Deed, Marks, Outcome, slot_names
from obviate.kb.experience.use import used
from obviate.kb.patch import EdgePatch, NodePatch, StatePatch

__all__ = ["mine"]


def mine(run: Run, *packs: Pack, episode: str = "") -> tuple[Case, ...]:
    """The cases of a run, one for each record that was settled, as the audit of the run finds them.

    A case is kept only if its window alone, with slots in place of objects, has the same verdict again. `episode` names
    where the cases are from.
    """
    found = audit(run, *packs)
    miner = _Miner(run, packs, found, episode)
    cases = (miner.case(record) for record in found.records if record.verdict != "pending")
    return tuple({case.digest: case for case in cases if case is not None}.values())


@dataclass(frozen=True)
class _Window:
    """The part of a run that a case tells: from the trigger, `moments` with an action each, and the graph after."""

    outcome: Outcome
    moments: Sequence[Moment]
    after: BeliefGraph


@dataclass(frozen=True)
class _Miner:
    run: Run
    packs: tuple[Pack, ...]
    found: Audit
    episode: str

    def case(self, record: Record) -> Case | None:
        """The case of a record, with as much of the scene as its verdict needs; None if nothing reproduces it."""
        window = self._window(record)
        if window is None or len(window.moments) > MAX_DEEDS:
            return None
        intent = self.found.intent(record)
        for keep in _scenes(record, window, intent):
            if len(keep) <= MAX_SLOTS:
                case = self._lifted(record, window, intent, keep)
                if not refusal(case, *self.packs):
                    return case
        return None

    # -- the window --------------------------------------------------------------------------------

    def _window(self, record: Record) -> _Window | None:
        if record.settled is None:
            return None
        if record.verdict == "passed":
            again = self._undone(record)
            if again is not None:
                return self._cut(record, "undone", again)
            return self._cut(record, "passed", record.settled - 1)
        if record.reason == "abandoned" and record.mode == "situational":
            return self._given_up(record)
        outcome: Outcome = "failed" if record.counts else "advised"
        return self._cut(record, outcome, record.settled)

    def _cut(self, record: Record, outcome: Outcome, last: int) -> _Window | None:
        inside = [m for m in self.found.moments if record.t_on <= m.step <= last and m.action is not None]
        after = next((m.graph for m in self.found.moments if m.step == last + 1), None)
        graph = after if after is not None else self.found.moments[-1].graph
        if not any(m.step == record.t_on for m in self.found.moments):
            return None  # no longer in memory
        return _Window(outcome, inside, graph)

    def _undone(self, record: Record) -> int | None:
        """The step whose action made the same hazard anew, if the episode did that."""
        later = [
            one.t_on - 1
            for one in self.found.records
            if one.rule == record.rule and one.binding == record.binding and one.t_on > (record.t_off or 0)
        ]
        return min(later) if later and record.mode == "temporal" else None

    def _given_up(self, record: Record) -> _Window | None:
        """Whether something else was done in place of the intent: the same skill on some of the same objects."""
        intent = self.found.intent(record)
        failed = {one.settled for one in self.found.records if one.rule == record.rule and one.counts}
        stuck = None
        for moment in self.found.moments:
            action = moment.action
            if moment.step < record.t_on or action is None or intent is None or not instead(action, intent):
                continue
            if moment.step not in self.found.failures:
                return None if moment.step in failed else self._cut(record, "evaded", moment.step)
            stuck = moment.step
        if stuck is not None:
            return self._cut(record, "stuck", stuck)
        return self._cut(record, "abandoned", record.t_on)

    # -- slots in place of objects -----------------------------------------------------------------

    def _lifted(self, record: Record, window: _Window, intent: Action | None, keep: frozenset[str]) -> Case:
        graphs = [m.graph.neighbourhood(keep, 0) for m in window.moments] + [window.after.neighbourhood(keep, 0)]
        tags = {name: node.tags for graph in reversed(graphs) for name, node in graph.nodes.items()}
        names = slot_names(self._variables(record), record.binding, sorted(tags.items(), key=_by_role))
        first = graphs[0]
        deeds = [
            Deed(
                action=str(lifted(m.action, names)),
                failure=_words(self.found.failures.get(m.step, ""), names),
                patch=renamed(graphs[i].difference(graphs[i + 1]), names),
            )
            for i, m in enumerate(window.moments)
            if m.action is not None
        ]
        kinds = self.run.assignment.objects
        return Case(
            rule=record.rule,
            mode="temporal" if record.mode == "temporal" else "situational",
            outcome=window.outcome,
            reason=record.reason,
            episode=self.episode,
            step=record.t_on,
            binding=tuple(names[name] for name in record.binding),
            kinds={names[name]: kinds[name] for name in sorted(tags) if name in kinds},
            moved=tuple(sorted(names[n] for n, node in first.nodes.items() if node.moved)),
            intent=str(lifted(intent, names)) if intent else "",
            scene=renamed(BeliefGraph(first.vocabulary).difference(first), names),
            deeds=tuple(deeds),
            marks=self._marks(record, window),
        )

    def _variables(self, record: Record) -> tuple[str, ...]:
        told = described(record.rule, self.packs)
        names = tuple(variable for variable, _ in told.variables) if told is not None else ()
        if len(names) == len(record.binding):
            return names
        return tuple("XYZUVW"[: len(record.binding)])

    def _marks(self, record: Record, window: _Window) -> Marks:
        bound = set(record.binding)
        uses = [bool(bound & used(m.action, m.graph)) for m in window.moments if m.action]
        done = record.settled if record.verdict == "passed" and record.settled is not None else 1 << 30
        later = [m for m in self.found.moments if m.step >= done and m.action and m.action.skill != "done"]
        before = [i for i, use in enumerate(uses[:-1]) if use]
        return Marks(
            last_use=max(before, default=-1),
            used_after=any(bound & used(m.action, m.graph) for m in later if m.action),
            remaining=len(later),
        )


def instead(action: Action, intent: Action) -> bool:
    """Whether an action does, to other objects in part, what was intended."""
    return action.skill == intent.skill and action != intent and action.args[:1] == intent.args[:1]


def _scenes(record: Record, window: _Window, intent: Action | None) -> Iterator[frozenset[str]]:
    """The objects that matter, ever more of them: those that are named, what holds and covers them; then everything."""
    graphs = [*(m.graph for m in window.moments), window.after]
    named = set(record.binding) | set(intent.args if intent else ())
    named |= {name for m in window.moments if m.action for name in m.action.args}
    keep = set(named)
    for graph in graphs:
        for name in list(keep):
            keep |= {other for _, other in graph.out.get(name, ())}
            keep |= set(graph.supporters(name))
        around = {other for name in record.binding for _, other in graph.into.get(name, ())}
        keep |= set(sorted(around)[:12])
    for graph in graphs:
        for name in list(keep):
            while above := [one for one in graph.supporters(name) if one not in keep]:
                keep |= set(above)
                name = above[0]
    yield frozenset(keep)
    yield frozenset().union(*(graph.nodes for graph in graphs))


def _by_role(item: tuple[str, frozenset[str]]) -> tuple[str, ...]:
    return item[0], *sorted(item[1])


def lifted(action: Action | None, names: Mapping[str, str]) -> Action:
    """The action with slots in place of objects; the other way round with the inverse mapping."""
    assert action is not None
    return replace(action, args=tuple(names.get(name, name) for name in action.args))


def renamed(patch: Patch, names: Mapping[str, str]) -> Patch:
    """The patch with other names for its objects."""

    def edges(found: Iterable[EdgePatch]) -> tuple[EdgePatch, ...]:
        return tuple(EdgePatch(pred=e.pred, src=names[e.src], dst=names[e.dst]) for e in found)

    return Patch(
        add_nodes=tuple(NodePatch(**{**dict(n), "node_id": names[n.node_id]}) for n in patch.add_nodes),
        update_node_states=tuple(
            StatePatch(**{**dict(n), "node_id": names[n.node_id]}) for n in patch.update_node_states
        ),
        add_edges=edges(patch.add_edges),
        remove_edges=edges(patch.remove_edges),
        remove_nodes=tuple(names[name] for name in patch.remove_nodes),
    )


def _words(text: str, names: Mapping[str, str]) -> str:
    """A message of the world with slots in place of objects."""
    if not names or not text:
        return text[:200]
    longest = sorted(names, key=len, reverse=True)
    pattern = r"(?<![\w.])(?:" + "|".join(map(re.escape, longest)) + r")(?![\w])"
    return re.sub(pattern, lambda found: names[found[0]], text)[:200]
