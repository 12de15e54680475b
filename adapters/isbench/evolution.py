"""Test-time evolution on IS-Bench: learn in order, freeze, evaluate on held-out tasks (paper, Section 5.4)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from obviate.adapters.isbench.aims import Aim
from obviate.adapters.isbench.pursuit import POLICIES, Episode, Maker, Policy, Setting, pursue
from obviate.adapters.isbench.task import Checkout, Task
from obviate.engine.experience.evolution import Editor, Learner, Update, seed
from obviate.engine.experience.practice import SkilledPlanner
from obviate.engine.experience.rehearsal import Rehearser
from obviate.engine.loop import Guard, Planner, Run
from obviate.engine.planning.domain import Domain
from obviate.engine.planning.planner import SymbolicPlanner
from obviate.kb import Pack, household
from obviate.kb.errors import DataError
from obviate.kb.experience.seeds import early_skills
from obviate.kb.experience.skill import MetaSkill
from obviate.kb.kinds import Kinds

if TYPE_CHECKING:  # a store needs an extra
    from obviate.kb.experience.store import Store

__all__ = ["Checkpoint", "Evolution", "Split", "split"]

_TRIES = 2  # an episode has ten steps more than its golden plan
Skills = Callable[[str], MetaSkill | None]


@dataclass(frozen=True, slots=True)
class Split:
    """The tasks to learn from, in order, and those held out."""

    train: tuple[str, ...]
    test: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What the memory is worth after so many episodes: the scores of the held-out tasks with it frozen, in percent.

    `skills` counts the meta-skills in force, `versions` all that were written.
    """

    episodes: int
    ts: float
    ss: float
    pre: float
    post: float
    steps: float
    skills: int = 0
    versions: int = 0

    def to_json(self) -> dict[str, Any]:
        """The checkpoint as JSON data."""
        return asdict(self)


def split(tasks: Sequence[str], *, train: int, test: int = 0, seed: int = 0) -> Split:
    """Tasks drawn by `seed`: `train` to learn from, and `test` of the others held out, 0 for all of them.

    Raises `DataError` (``split-too-large``).
    """
    drawn = sorted(tasks)
    random.Random(seed).shuffle(drawn)
    if train + max(test, 1) > len(drawn):
        message = f"{train} tasks to learn from and {test or 'some'} held out are more than the {len(drawn)} there are"
        raise DataError("split-too-large", message, where="--train", help="learn from fewer")
    return Split(tuple(drawn[:train]), tuple(drawn[train:][: test or None]))


@dataclass
class Evolution:
    """A memory that evolves over the tasks of a checkout.

    The agent plans for the task alone and deals with triggers by its skills. While it learns, it also explores: where
    no skill works, it searches for a plan that obeys the rule. When it is evaluated, it has its skills only.
    """

    root: Path
    store: Store
    editor: Editor
    learning: bool = True
    partial: bool = True

    def begin(self) -> None:
        """Give a memory without skills the early ones."""
        for skill in early_skills():
            seed(self.store, skill)

    def train(self, task: str) -> tuple[Episode, tuple[Update, ...]]:
        """One episode to learn from."""
        updates: list[Update] = []

        def learn(run: Run) -> None:
            if self.learning:
                updates.extend(self._learner.learn(run, episode=task))

        skills = self.frozen()
        policy = Policy("training", "by skills, exploring", self._maker(skills, explores=True), Guard("just-in-time"))
        return pursue(task, policy, self._setting, watch=learn), tuple(updates)

    def evaluate(self, tasks: Sequence[str], *, tell: Callable[[Episode], object] | None = None) -> Checkpoint:
        """The scores of tasks with the memory as it is."""
        maker = self._maker(self.frozen(), explores=False)
        policy = Policy("memory", "by skills alone", maker, Guard("just-in-time"))
        return self._scored(tasks, policy, tell)

    def reference(self, tasks: Sequence[str], policy: str = "task-only") -> Checkpoint:
        """The scores of tasks by a policy without memory."""
        return self._scored(tasks, POLICIES[policy], None)

    def curve(self, tasks: Split, *, every: int, tell: Callable[[str], object] = str) -> Iterator[Checkpoint]:
        """Train in order; the scores of the held-out tasks before, every so many episodes, and at the end."""
        yield self._checkpoint(0, tasks.test)
        for number, task in enumerate(tasks.train, 1):
            episode, updates = self.train(task)
            tell(f"{number}/{len(tasks.train)} {task}: {episode.verdict}")
            for update in updates:
                tell(f"  {update.rule}: {f'version {update.version}, ' if update.version else ''}{update.reason}")
            if number % every == 0 or number == len(tasks.train):
                yield self._checkpoint(number, tasks.test)

    def frozen(self) -> Skills:
        """The skills as they are in force now."""
        found: Mapping[str, MetaSkill] = {
            entry.rule: version.skill
            for entry in self.store.entries()
            if (version := self.store.skill(entry.rule)) is not None
        }
        return found.get

    def _checkpoint(self, episodes: int, tasks: Sequence[str]) -> Checkpoint:
        scored = asdict(self.evaluate(tasks))
        entries = [entry for entry in self.store.entries() if entry.version]
        versions = sum(len(self.store.history(entry.rule)) for entry in entries)
        return Checkpoint(**{**scored, "episodes": episodes, "skills": len(entries), "versions": versions})

    def _scored(self, tasks: Sequence[str], policy: Policy, tell: Callable[[Episode], object] | None) -> Checkpoint:
        episodes = []
        for task in tasks:
            episodes.append(pursue(task, policy, self._setting))
            if tell is not None:
                tell(episodes[-1])
        count = len(episodes) or 1
        return Checkpoint(
            episodes=0,
            ts=_percent(sum(e.ts for e in episodes), count),
            ss=_percent(sum(e.ss for e in episodes), count),
            pre=_percent(*map(sum, zip(*(e.pre for e in episodes), strict=True))),
            post=_percent(*map(sum, zip(*(e.post for e in episodes), strict=True))),
            steps=round(sum(e.steps for e in episodes) / count, 2),
        )

    @property
    def _setting(self) -> Setting:
        return Setting(self.root, partial=self.partial)

    @cached_property
    def _rehearser(self) -> Rehearser:
        kinds = Kinds.load(household.vocabulary(), abilities=Checkout(self.root).abilities_file)
        return Rehearser((household.pack(),), kinds)

    @cached_property
    def _learner(self) -> Learner:
        return Learner(self.store, self._rehearser, self.editor)

    def _maker(self, skills: Skills, *, explores: bool) -> Maker:
        def make(task: Task, aim: Aim, kinds: Kinds, pack: Pack) -> Planner:
            base = SymbolicPlanner(Domain(kinds), aim.program, aim.names)
            explorer = SymbolicPlanner(Domain(kinds, pack), aim.program, aim.names) if explores else None
            return SkilledPlanner(base, skills, self._rehearser, explorer, tries=_TRIES)

        return make


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 0.0
