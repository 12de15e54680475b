"""What small sets of facts lead to, each kind of set evaluated once.

Conclusions do not depend on what objects are called, but for the order of their names. So the objects of a question
are put into numbered slots, in that order, and a question that was asked before about others is not asked again. The
solver sees the names of slots only, of which there are few: it never frees a name.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence

from obviate.engine.reach import Fact, atom_of
from obviate.engine.standing import Binding
from obviate.kb import asp
from obviate.kb.errors import PackError
from obviate.kb.program import Signature
from obviate.kb.terms import binding_of

__all__ = ["Answer", "Answers"]

Answer = frozenset[tuple[str, str, Binding]]  # a predicate of the kernel, a rule, and objects
_LIMIT = 10_000  # questions that are remembered
_SLOTS = [f"{i:06}" for i in range(64)]


class Answers:
    """Evaluates programs on facts. `constants` are the objects that the programs name, which have no slots."""

    def __init__(self, consts: Mapping[str, str], constants: Collection[str]) -> None:
        self._consts = consts
        self._constants = sorted(constants)
        self._named = any("\1" in name for name in constants)  # which slots could not be told from
        self._known: dict[tuple[str, frozenset[Fact]], Answer] = {}
        self._names: set[str] = set()  # what the solver was given for objects
        self.evaluated = 0

    @property
    def symbols(self) -> int:
        """The names that the solver was given for objects."""
        return len(self._names)

    def __len__(self) -> int:
        return len(self._known)

    def ask(self, program: str, facts: Iterable[Fact], outputs: Collection[Signature]) -> Answer:
        """What a program concludes from facts: its atoms with the signatures `outputs`, of a rule and a binding."""
        facts = list(facts)
        names = sorted({name for _, objects, _ in facts for name in objects})
        slots = dict(zip(names, self._slots(names), strict=True))
        key = (
            program,
            frozenset([(topic, tuple([slots[n] for n in objects]), number) for topic, objects, number in facts]),
        )
        answer = self._known.get(key)
        if answer is None:
            if len(self._known) >= _LIMIT:
                self._known.clear()
            try:
                answer = self._known[key] = self._evaluate(*key, outputs)
            except PackError:
                self._evaluate(program, frozenset(facts), outputs)  # says it of the objects themselves
                raise
        back = {slot: name for name, slot in slots.items()}
        return frozenset(
            (what, rule, tuple([back.get(slot, slot) for slot in binding])) for what, rule, binding in answer
        )

    def _slots(self, names: Sequence[str]) -> Sequence[str]:
        if self._named:
            return names
        if not self._constants:
            return _SLOTS[: len(names)] if len(names) <= len(_SLOTS) else [f"{i:06}" for i in range(len(names))]
        found = []
        for i, name in enumerate(names):  # between the two constants that the name is between
            place = bisect_right(self._constants, name)
            before = self._constants[place - 1] if place else ""
            found.append(name if name == before else f"{before}\1{i:06}")
        return found

    def _evaluate(self, program: str, facts: frozenset[Fact], outputs: Collection[Signature]) -> Answer:
        self.evaluated += 1
        self._names.update(name for _, objects, _ in facts for name in objects)
        found = asp.evaluate([program], map(atom_of, facts), outputs, self._consts)
        return frozenset((atom.name, str(atom.args[0]), binding_of(atom.args[1])) for atom in found)
