"""Counterexamples confirmed by the oracle: what a search concluded is concluded again from scratch."""

from __future__ import annotations

from itertools import product

from obviate.engine.backend import Conclusions, Query
from obviate.engine.oneshot import OneShot
from obviate.engine.scenery import Staged
from obviate.engine.standing import Ledger, Standing
from obviate.engine.verdict import NO, Scene, Verdict
from obviate.kb import Action, Pack
from obviate.kb.errors import DisagreementError

__all__ = ["confirm"]


def confirm(pack: Pack, verdict: Verdict, theory: str = "") -> Verdict:
    """The verdict, once the ``oneshot`` backend and the household world say of its scenes what it says.

    Raises `DisagreementError` (``backends-disagree``) when they do not.
    """
    if verdict.answer == NO:
        _Witness(pack, verdict, theory).check()
    return verdict


class _Witness:
    """A counterexample and the oracle."""

    def __init__(self, pack: Pack, verdict: Verdict, theory: str) -> None:
        self._theory = theory
        self._verdict = verdict
        self._oracle = OneShot(pack)
        self._scenes = {scene.name: scene for scene in verdict.scenes}
        self._vocabulary = pack.vocabulary

    def check(self) -> None:
        """See that each scene does what it is to show."""
        verdict, first = self._verdict, self._verdict.instances[:1]
        match verdict.question:
            case "triggers":
                near = self._scenes.get("nearest")
                for scene in self._with_every_intent(near) if near is not None else ():
                    self._require(not any(r == verdict.rules[0] for r, _ in self._at(scene).appeared), "no trigger")
            case "independent":
                self._require(set(verdict.instances) <= self._at(self._scenes["triggered"]).appeared, "triggers")
            case "compatible":
                self._check_opposed()
            case "unblocked":
                self._check_blocked()
            case _:
                opened = self._scenes["opened"]
                self._require(set(first) <= self._at(opened).opens, "a record")
                self._require("wanted" not in self._scenes or self._meets("wanted", 0), "a target")
                for action in self._actions(opened) if verdict.question == "reachable" else ():
                    self._require(not set(first) <= self._at(self._after(opened, action)).passed, "no target")

    def _check_opposed(self) -> None:
        for name, i in (("first opened", 0), ("second opened", 1), ("opened", 0), ("opened", 1)):
            if name in self._scenes:
                self._require(self._verdict.instances[i] in self._at(self._scenes[name]).opens, "a record")
        for name, i in (("first met", 0), ("second met", 1)):
            self._require(self._meets(name, i), "a target")
            self._require(not self._meets(name, 1 - i), "no target")

    def _check_blocked(self) -> None:
        scene = self._scenes["blocked"]
        for i, (rule, plan) in enumerate(self._verdict.plans.items()):
            forbidden = {r for r, _ in self._at(Scene("", scene.graph, plan[0], scene.records)).risk}
            self._require(self._verdict.rules[1 - i] in forbidden, "a risk")
            met = self._at(self._after(scene, plan[0])).passed
            self._require(any(r == rule for r, _ in met), "a target")

    # -- what is so on a scene -----------------------------------------------------------------------

    def _at(self, scene: Scene) -> Conclusions:
        records = Ledger().opened(scene.records, born=0)
        return self._oracle.conclude(scene.graph, Query(intent=scene.intent, standing=Standing(open=records)))

    def _meets(self, name: str, i: int) -> bool:
        return self._verdict.instances[i] in self._at(self._scenes[name]).passed

    def _with_every_intent(self, scene: Scene) -> list[Scene]:
        return [scene, *(Scene(scene.name, scene.graph, action) for action in self._actions(scene))]

    def _actions(self, scene: Scene) -> list[Action]:
        """Every action on the objects of a scene."""
        return [
            Action(skill, args)
            for skill, arity in self._vocabulary.skills.items()
            for args in product(scene.graph.nodes, repeat=arity)
        ]

    def _after(self, scene: Scene, action: Action) -> Scene:
        """The scene after an action, its records still open, or those that it is about."""
        world = Staged(self._verdict.world, scene.graph).world(self._theory)
        world.step(action)
        return Scene(scene.name, world.graph, None, scene.records or self._verdict.instances)

    def _require(self, so: bool, what: str) -> None:
        if not so:
            raise DisagreementError(
                "backends-disagree",
                f"on {self._verdict.question} of {' and '.join(self._verdict.rules)} the search concludes {what},"
                " and oneshot does not",
                help="this is a bug in Obviate: please report it with the pack",
            )
