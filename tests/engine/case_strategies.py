"""Random scenario tests, without text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from packs_strategies import VOCABULARY, actions, pack, pack_texts, patches, scenes

from obviate.engine.trial import Step
from obviate.kb import Action, BeliefGraph, Pack, Patch
from obviate.kb.cases import CONCLUSIONS, Case, Event, Expectation
from obviate.kb.errors import ObviateError, Span

__all__ = ["cases", "exact", "expected"]

NOWHERE = Span("", 0, 0)
ENDS = (Event("finish", "tired", "", NOWHERE), Event("execute", Action("done"), "", NOWHERE))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Pack, Case]:
    """A random pack and an episode for it, of which nothing is expected."""
    loaded = pack("\n".join(draw(pack_texts())[:1]))
    scene = draw(scenes())
    graph = BeliefGraph.of(VOCABULARY, scene)
    events: list[Event] = []
    for _ in range(draw(st.integers(0, 5))):
        verb = draw(st.sampled_from(("apply", "apply", "intend", "probe", "execute")))
        if verb == "apply":
            patch = Patch.read(draw(patches(graph)))
            try:
                graph = graph.merge(patch)
            except ObviateError:  # a cycle of support
                continue
            events.append(Event(verb, patch, "", NOWHERE))
        elif graph.nodes:
            events.append(Event(verb, Action.parse(draw(actions(graph))), "", NOWHERE))
    events += draw(st.sampled_from(((), ENDS[:1], ENDS[1:])))
    return loaded, Case("t", "T", Patch.scene(scene), (), tuple(events), (), NOWHERE)


def expected(
    step: int, quantifier: str, conclusion: str, rule: str = "", binding: Any = None, reason: str = "", count: int = 0
) -> Expectation:
    return Expectation(step, quantifier, conclusion, rule, binding, reason, count, "", NOWHERE)


def exact(pack: Pack, case: Case, steps: Sequence[Step]) -> Case:
    """The case with the expectation of just what is concluded at these steps."""

    def of(number: int, step: Step) -> Iterator[Expectation]:
        for conclusion in CONCLUSIONS:
            found = step.findings[conclusion]
            yield expected(number, "exactly", conclusion, count=len(found))
            yield from (expected(number, "only", conclusion, f.rule, f.binding, f.reason) for f in found)
            yield from (
                expected(number, "no", conclusion, rule) for rule in pack.rules.keys() - {f.rule for f in found}
            )

    return replace(case, expectations=tuple(one for number, step in enumerate(steps) for one in of(number, step)))
