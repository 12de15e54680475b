"""Random episodes, run on two backends in lock step: the answers are the same, and what must not change does not."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from packs_strategies import (
    BACKENDS,
    actions,
    bad_actions,
    bad_patches,
    pack,
    pack_texts,
    patches,
    scenes,
)

from obviate.engine import Change, Engine, Snapshot
from obviate.kb import Action, BeliefGraph
from obviate.kb.errors import ObviateError

SHARDS = 4  # so that several processes share the work
EXAMPLES = (10_000 if os.environ.get("OBVIATE_SOAK") else 500) // SHARDS
STEPS = 8


class Lockstep(RuleBasedStateMachine):
    """One episode on every backend. Every call is written down, and shown when something is wrong."""

    backends: Sequence[str] = BACKENDS
    packs = pack_texts()
    first_scenes = scenes()

    def __init__(self) -> None:
        super().__init__()
        self.engines: list[Engine] = []
        self.saved: list[list[Snapshot]] = []
        self.script: list[str] = []

    # -- calls ----------------------------------------------------------------------------------

    @initialize(data=st.data())
    def draw(self, data: st.DataObject) -> None:
        self.begin(data.draw(self.packs), data.draw(self.first_scenes))

    def begin(self, texts: list[str], scene: dict[str, Any]) -> None:
        loaded = ", ".join(f"TEXT_{i}" for i in range(len(texts)))
        self.script = [
            "from packs_strategies import pack",
            "from obviate.engine import Engine",
            *(f'TEXT_{i} = """\n{text}"""' for i, text in enumerate(texts)),
            f"packs = [pack(text, f'p{{i}}') for i, text in enumerate([{loaded}])]",
            f"engines = [Engine(*packs, objects={scene!r}, backend=name) for name in {self.backends!r}]",
            "saved = []",
        ]
        packs = [pack("\n" + text, f"p{i}") for i, text in enumerate(texts)]
        self.engines = [Engine(*packs, objects=scene, backend=name) for name in self.backends]
        self.save()

    def both(self, verb: str, *given: Any) -> Any:
        """Call a verb of every engine. Gives what all of them return, or None when all refuse."""
        arguments = ", ".join(map(repr, given))
        self.script.append(f"for engine in engines: print(engine.{verb}({arguments}))")
        before = [engine.snapshot() for engine in self.engines]
        outcomes = [self.outcome(engine, verb, given) for engine in self.engines]
        for name, outcome in zip(self.backends[1:], outcomes[1:], strict=True):
            self.claim(outcomes[0] == outcome, f"{self.backends[0]} gives {outcomes[0]}, and {name} {outcome}")
        if isinstance(outcomes[0], tuple) and outcomes[0][:1] == ("refused",):
            self.script[-1] = f"# refused ({outcomes[0][1]}): engine.{verb}({arguments})"
            self.claim(before == [engine.snapshot() for engine in self.engines], "a refused call changed something")
            return None
        return outcomes[0]

    def outcome(self, engine: Engine, verb: str, given: tuple[Any, ...]) -> object:
        try:
            return getattr(engine, verb)(*given)
        except ObviateError as error:
            return "refused", error.code
        except Exception as error:
            error.add_note(self.transcript())
            raise

    def claim(self, true: bool, what: str) -> None:
        if not true:
            raise AssertionError(f"{what}\n\n{self.transcript()}")

    def transcript(self) -> str:
        """The episode so far as a Python program, to be run in this folder."""
        return "\n".join(self.script)

    @property
    def graph(self) -> BeliefGraph:
        return self.engines[0].graph

    # -- steps ----------------------------------------------------------------------------------

    @rule(data=st.data())
    def observe(self, data: st.DataObject) -> None:
        self.both("apply", data.draw(patches(self.graph)))

    @rule(data=st.data())
    def observe_twice(self, data: st.DataObject) -> None:
        self.both("apply", data.draw(patches(self.graph)))
        self.both("apply", data.draw(patches(self.graph)))

    @precondition(lambda self: len(self.graph) > 0)
    @rule(data=st.data())
    def intend(self, data: st.DataObject) -> None:
        self.announce(self.risky(data))

    @precondition(lambda self: len(self.graph) > 0)
    @rule(data=st.data(), announced=st.booleans(), observed=st.booleans())
    def execute(self, data: st.DataObject, announced: bool, observed: bool) -> None:
        """Executing fails what a probe just before said that it would fail."""
        action = self.risky(data)
        if announced:
            self.announce(action)
        risks = self.probe(action)
        change: Change = self.both("execute", action)
        self.claim({str(r) for r in change.failed} == set(risks), f"{action} failed other rules than {risks}")
        if observed:
            self.both("apply", data.draw(patches(self.graph)))

    @rule()
    def execute_done(self) -> None:
        """``done`` fails what a probe says, and besides only what was given up; nothing stays open."""
        self.save()
        risks = self.probe("done")
        change: Change = self.both("execute", "done")
        counted = {str(record) for record in change.failed if record.reason != "abandoned"}
        self.claim(counted == set(risks), f"done failed {counted}, a probe said {risks}")
        self.ended()

    @rule(reason=st.sampled_from(("out of time", "done")))
    def finish(self, reason: str) -> None:
        self.save()
        self.both("finish", reason)
        self.ended()

    @rule()
    def save(self) -> None:
        self.script.append("saved.append([engine.snapshot() for engine in engines])")
        self.saved.append([engine.snapshot() for engine in self.engines])

    @precondition(lambda self: self.saved)
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        self.back_to(data.draw(st.integers(0, len(self.saved) - 1)))

    @precondition(lambda self: len(self.graph) > 0)
    @rule(data=st.data())
    def try_nonsense(self, data: st.DataObject) -> None:
        """A refused call changes nothing."""
        if data.draw(st.booleans()):
            refused = self.both("apply", data.draw(bad_patches(self.graph)))
        else:
            refused = self.both(
                data.draw(st.sampled_from(("probe", "intend", "execute"))), data.draw(bad_actions(self.graph))
            )
        self.claim(refused is None, "nonsense was not refused")

    @rule(data=st.data())
    def observe_and_undo(self, data: st.DataObject) -> None:
        """An observation and then its inverse restore the triggers."""
        self.both("apply", {})
        graph, triggers = self.graph, self.engines[0].triggers()
        if self.both("apply", data.draw(patches(graph))) is None:
            return
        self.both("apply", self.graph.difference(graph).to_json())
        if _moved(self.graph) == _moved(graph):  # what the agent has moved is not part of an observation
            self.claim(self.graph == graph, "the inverse did not restore the beliefs")
            self.claim(self.engines[0].triggers() == triggers, "the inverse did not restore the triggers")

    # -- what holds after every step ------------------------------------------------------------

    @invariant()
    def the_backends_agree(self) -> None:
        for what in ("step", "ended", "graph"):
            first, *others = (getattr(engine, what) for engine in self.engines)
            self.claim(others == [first] * len(others), f"the backends differ in {what}: {first} and {others}")
        for what in ("records", "obligations", "triggers"):
            first, *others = (getattr(engine, what)() for engine in self.engines)
            self.claim(others == [first] * len(others), f"the backends differ in {what}: {first} and {others}")

    @invariant()
    def one_record_is_open_for_a_binding(self) -> None:
        for engine in self.engines:
            open_ones = [(record.rule, record.binding) for record in engine.obligations()]
            self.claim(len(open_ones) == len(set(open_ones)), f"open twice: {open_ones}")

    def teardown(self) -> None:
        for engine in self.engines:
            engine.close()

    # -- parts of steps -------------------------------------------------------------------------

    def risky(self, data: st.DataObject) -> str:
        """Of a few actions, the one that a probe finds most risky."""
        choice = data.draw(st.lists(actions(self.graph), min_size=1, max_size=2))
        return max(choice, key=lambda action: len(self.probe(action)))

    def probe(self, action: str) -> list[str]:
        """A probe changes nothing."""
        before = [engine.snapshot() for engine in self.engines]
        risks = [str(risk) for risk in self.both("probe", action)]
        self.claim(before == [engine.snapshot() for engine in self.engines], "a probe changed something")
        return risks

    def announce(self, action: str) -> list[str]:
        """An intent has the risks that a probe tells."""
        risks = self.probe(action)
        change: Change = self.both("intend", action)
        self.claim([str(risk) for risk in change.risks] == risks, f"{action} has {change.risks}, a probe said {risks}")
        return risks

    def back_to(self, index: int) -> None:
        self.script.append(f"for engine, state in zip(engines, saved[{index}]): engine.restore(state)")
        for engine, state in zip(self.engines, self.saved[index], strict=True):
            engine.restore(state)

    def ended(self) -> None:
        for engine in self.engines:
            self.claim(engine.ended and not engine.obligations(), "the episode ended with open records")
        self.both("probe", "done")
        self.back_to(-1)


def _moved(graph: BeliefGraph) -> set[str]:
    return {name for name, node in graph.nodes.items() if node.moved}


@pytest.mark.soak
@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_backend_follows_the_same_episode_alike(shard: int) -> None:
    run(Lockstep, EXAMPLES)


def run(machine: type[Lockstep], examples: int) -> None:
    """Try random episodes."""
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=STEPS,
            deadline=None,
            phases=(Phase.reuse, Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_the_transcript_of_an_episode_can_be_run() -> None:
    machine = Lockstep()
    text = "rule(shut, temporal).\nhazard(shut,X) :- state(X,open).\n"
    machine.begin([text, text], {"nodes": [{"node_id": 'a "b",\n\\n) é'}]})
    machine.both("apply", {"update_node_states": [{"node_id": 'a "b",\n\\n) é', "add": ["open"]}]})
    machine.both("execute", "wipe(nobody)")
    machine.both("probe", "done")
    machine.both("execute", str(Action("open", ('a "b",\n\\n) é',))))
    machine.back_to(0)
    machine.both("intend", "done")
    again: dict[str, Any] = {}
    exec(compile(machine.transcript(), "transcript", "exec"), again)
    assert [engine.snapshot() for engine in again["engines"]] == [engine.snapshot() for engine in machine.engines]
    for engine in again["engines"]:
        engine.close()
    machine.teardown()
