"""The engine beside a simulator of unified-planning: which step of a plan triggers which rule, and what stays open.

It follows any problem whose names can be read as ours: actions as skills, fluents as states and relations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from obviate.adapters.planners.problem import EXTRA, Translation
from obviate.engine.engine import Engine
from obviate.engine.record import Change, Record, Trigger
from obviate.engine.world import World
from obviate.kb import DONE, Action, BeliefGraph, Pack, Patch, Vocabulary
from obviate.kb.belief import Edge
from obviate.kb.errors import ActionError, LifecycleError
from obviate.kb.extras import module
from obviate.kb.patch import EdgePatch, NodePatch

__all__ = ["Audit", "Reading", "Watch", "Watched", "audit"]


@dataclass(frozen=True)
class Reading:
    """What a problem's actions and states mean: an action of ours or None, and what is believed."""

    action: Callable[[Any], Action | None]
    graph: Callable[[Any], BeliefGraph]

    @classmethod
    def of(
        cls,
        problem: Any,
        vocabulary: Vocabulary,
        tags: Mapping[str, Iterable[str]],
        *,
        words: Mapping[str, str] | None = None,
    ) -> Reading:
        """By name: an action named like a skill, with its objects in order; boolean fluents of one object named like a
        state, and of two named like a relation.

        `words` maps other names to ours; what has no meaning so is passed over. `tags` says for each object of the
        problem what it is, which no fluent does.
        """
        renamed = {name.lower(): word for name, word in (words or {}).items()}

        def word(name: str) -> str:
            return renamed.get(name.lower(), name.lower())

        def action(instance: Any) -> Action | None:
            skill = word(instance.action.name)
            args = tuple(str(one.object().name) for one in instance.actual_parameters if one.is_object_exp())
            known = vocabulary.skills.get(skill) == len(args) == len(instance.actual_parameters)
            return Action(skill, args) if known else None

        fluents = [(word(one.name), one) for one in problem.fluents if one.type.is_bool_type()]
        states = [(name, one) for name, one in fluents if one.arity == 1 and name in vocabulary.states]
        relations = [(name, one) for name, one in fluents if one.arity == 2 and name in vocabulary.relations]

        def graph(state: Any) -> BeliefGraph:
            held = {name: (set[str](), set[str]()) for name in (str(one.name) for one in problem.all_objects)}
            for name, fluent in states:
                for one in problem.objects(fluent.signature[0].type):
                    held[one.name][not state.get_value(fluent(one)).is_true()].add(name)
            edges = [
                Edge(name, one.name, other.name)
                for name, fluent in relations
                for one in problem.objects(fluent.signature[0].type)
                for other in problem.objects(fluent.signature[1].type)
                if state.get_value(fluent(one, other)).is_true()
            ]
            return _graph(vocabulary, held, tags, edges)

        return cls(action, graph)

    @classmethod
    def translated(cls, translation: Translation, world: World) -> Reading:
        """Of a translated task: all that holds in the world it came from, but for what does not exist yet."""
        vocabulary = world.graph.vocabulary
        tags = {name: node.tags for name, node in world.graph.nodes.items()}
        changing = {str(atom.args[1]) for atom in translation.scene.open if atom.name == "state"}

        def graph(state: Any) -> BeliefGraph:
            atoms = translation.beliefs(state)
            real = {name: (set[str](), set(changing)) for name in tags}
            for atom in atoms:
                if atom.name == "state":
                    name, what = map(str, atom.args)
                    real[name][0].add(what)
                    real[name][1].discard(what)
            held = {name: states for name, states in real.items() if "future" not in states[0]}
            edges = [Edge(*map(str, atom.args)) for atom in atoms if atom.name == "edge"]
            return _graph(vocabulary, held, tags, [one for one in edges if {one.src, one.dst} <= held.keys()])

        return cls(translation.action, graph)


def _graph(
    vocabulary: Vocabulary,
    held: Mapping[str, tuple[Iterable[str], Iterable[str]]],
    tags: Mapping[str, Iterable[str]],
    edges: Iterable[Edge],
) -> BeliefGraph:
    nodes = (
        NodePatch(node_id=name, tags=tuple(tags.get(name, ())), states=tuple(true), absent=tuple(false))
        for name, (true, false) in held.items()
    )
    links = (EdgePatch(pred=one.pred, src=one.src, dst=one.dst) for one in edges)
    return BeliefGraph.of(vocabulary, Patch(add_nodes=tuple(nodes), add_edges=tuple(links)))


@dataclass(frozen=True, slots=True)
class Watched:
    """One step: the instance by its `name`, our `action` if it has one, and the rules that it triggered.

    `taken` tells whether the simulator took it. Without, it was `vetoed`, or `failure` says why it could not be done.
    `judged` is what the engine concluded of the execution, `observed` of the state after it.
    """

    name: str
    action: Action | None
    risks: tuple[Trigger, ...] = ()
    taken: bool = True
    vetoed: bool = False
    failure: str = ""
    judged: Change | None = field(default=None, repr=False)
    observed: Change | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Audit:
    """A watched plan: its steps, the rules `unmet` at the end, and all verification records."""

    steps: tuple[Watched, ...]
    unmet: tuple[Trigger, ...]
    records: tuple[Record, ...]

    @property
    def violations(self) -> tuple[Record, ...]:
        """The records that count as failures."""
        return tuple(record for record in self.records if record.counts)


class Watch:
    """A `SequentialSimulator` and an engine that see the same states. Close it, or use it as a context manager.

    With `veto`, an action that triggers a rule is not done, unless the rule is advisory. `simulator` is one of the
    problem's; without it, unified-planning's own. Raises `ObviateError` (``extra-missing``), and what merging a state
    that no belief graph can be raises, such as `PatchError` (``two-supports``).
    """

    def __init__(self, problem: Any, *packs: Pack, reading: Reading, veto: bool = False, simulator: Any = None) -> None:
        engines = module("unified_planning.engines.sequential_simulator", extra=EXTRA)
        self._simulator = simulator if simulator is not None else engines.UPSequentialSimulator(problem)
        self._reading = reading
        self._veto = veto
        self.state = self._simulator.get_initial_state()
        self.engine = Engine(*packs, objects=reading.graph(self.state))
        self.steps: list[Watched] = []

    def step(self, instance: Any) -> Watched:
        """Do an action instance in both. Raises `LifecycleError` (``episode-over``) after `finish`."""
        if self.engine.ended:
            raise LifecycleError("episode-over", "the watch has ended", help="make a new Watch")
        watched = self._step(instance)
        self.steps.append(watched)
        return watched

    def _step(self, instance: Any) -> Watched:
        name, action = str(instance), self._reading.action(instance)
        risks: tuple[Trigger, ...] = ()
        if action is not None:
            try:
                risks = self.engine.probe(action)
            except ActionError as error:  # an object that is not there yet
                return Watched(name, action, taken=False, failure=error.message)
        if self._veto and any(not risk.advisory for risk in risks):
            return Watched(name, action, risks, taken=False, vetoed=True)
        after = self._simulator.apply(self.state, instance)
        graph = None if after is None else self._reading.graph(after)  # before anything changes: it may be refused
        judged = None
        if action is not None:
            self.engine.intend(action)
            judged = self.engine.execute(action)
        if graph is None:
            return Watched(name, action, risks, taken=False, failure="its conditions do not hold", judged=judged)
        self.state = after
        observed = self.engine.apply(self.engine.graph.difference(graph))
        return Watched(name, action, risks, judged=judged, observed=observed)

    def finish(self) -> Audit:
        """End the episode: what is still open then has failed."""
        unmet = self.engine.probe(DONE)
        self.engine.execute(DONE)
        return Audit(tuple(self.steps), unmet, self.engine.records())

    def close(self) -> None:
        """Free the engine."""
        self.engine.close()

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def audit(problem: Any, plan: Any, *packs: Pack, reading: Reading) -> Audit:
    """Watch a whole `SequentialPlan`. It goes on after a step that cannot be done, as a robot's log would."""
    with Watch(problem, *packs, reading=reading) as watch:
        for instance in plan.actions:
            watch.step(instance)
        return watch.finish()
