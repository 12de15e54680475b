"""What stands from one conclusion to the next: open records, failed bindings, triggers. All of it shares structure, so
that a step costs what it changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from rpds import HashTrieMap, HashTrieSet

if TYPE_CHECKING:
    from obviate.engine.backend import Conclusions

__all__ = ["Binding", "Instance", "Ledger", "Standing"]

Binding = tuple[str, ...]
Instance = tuple[str, Binding]  # a rule and the objects that it is bound to
Bindings: TypeAlias = "HashTrieSet[Binding]"
_NONE: Bindings = HashTrieSet()


@dataclass(frozen=True, slots=True)
class Ledger:
    """The open records, found by instance, by rule, or by rule and object.

    `born` is the number of actions that had been executed when each opened.
    """

    born: HashTrieMap[Instance, int] = field(default_factory=HashTrieMap)
    _of_rule: HashTrieMap[str, Bindings] = field(default_factory=HashTrieMap, compare=False, repr=False)
    _about: HashTrieMap[tuple[str, str], Bindings] = field(default_factory=HashTrieMap, compare=False, repr=False)

    def __contains__(self, instance: Instance) -> bool:
        return instance in self.born

    def __iter__(self) -> Iterator[Instance]:
        return iter(self.born)

    def __len__(self) -> int:
        return len(self.born)

    def of_rule(self, rule: str) -> Iterable[Binding]:
        """The bindings of a rule that have an open record."""
        return self._of_rule.get(rule, _NONE)

    def about(self, rule: str, name: str) -> Iterable[Binding]:
        """Those of them in which an object takes part."""
        return self._about.get((rule, name), _NONE)

    def opened(self, instances: Iterable[Instance], born: int) -> Ledger:
        """With records of these instances besides."""
        ledger = self
        for rule, binding in instances:
            about = ledger._about
            for key in {(rule, name) for name in binding}:
                about = about.insert(key, about.get(key, _NONE).insert(binding))
            of_rule = ledger._of_rule.insert(rule, ledger._of_rule.get(rule, _NONE).insert(binding))
            ledger = Ledger(ledger.born.insert((rule, binding), born), of_rule, about)
        return ledger

    def closed(self, instances: Iterable[Instance]) -> Ledger:
        """Without the records of these instances."""
        ledger = self
        for rule, binding in instances:
            about = ledger._about
            for key in {(rule, name) for name in binding}:
                left = about[key].remove(binding)
                about = about.insert(key, left) if left else about.remove(key)
            rest = ledger._of_rule[rule].remove(binding)
            of_rule = ledger._of_rule.insert(rule, rest) if rest else ledger._of_rule.remove(rule)
            ledger = Ledger(ledger.born.remove((rule, binding)), of_rule, about)
        return ledger


@dataclass(frozen=True, slots=True)
class Standing:
    """What a pack concluded last, on the graph of version `since`, after so many executed `actions`.

    No open record had its target then, but those that a forgotten fact held back. `spent` are the temporal instances
    that failed and whose trigger has been true ever since; the triggers are apart by the mode of their rules.
    """

    open: Ledger = field(default_factory=Ledger)
    spent: HashTrieSet[Instance] = field(default_factory=HashTrieSet)
    temporal: HashTrieSet[Instance] = field(default_factory=HashTrieSet)
    situational: frozenset[Instance] = frozenset()
    actions: int = 0
    since: int = field(default=0, compare=False)

    def triggers(self) -> Iterator[Instance]:
        """Every trigger that is true."""
        yield from self.temporal
        yield from self.situational

    def __contains__(self, trigger: Instance) -> bool:
        return trigger in self.temporal or trigger in self.situational

    def after(self, found: Conclusions, temporal: Collection[str], *, executed: bool, version: int) -> Standing:
        """What stands after new conclusions on a graph; `temporal` names the rules of that mode.

        An executed action ends the intent, and situational triggers with it.
        """
        lasting = self.temporal.update(i for i in found.appeared if i[0] in temporal)
        momentary = self.situational.union(found.appeared) - found.vanished
        for instance in found.vanished:
            lasting = lasting.discard(instance)
        failures = found.failed | found.abandoned
        spent = self.spent.update(i for i in found.failed if i[0] in temporal and i in lasting)
        for instance in found.vanished:
            spent = spent.discard(instance)
        return Standing(
            open=self.open.opened(found.opens, self.actions + executed).closed(found.passed | failures),
            spent=spent,
            temporal=lasting,
            situational=frozenset() if executed else frozenset(i for i in momentary if i[0] not in temporal),
            actions=self.actions + executed,
            since=version,
        )

    def without_records(self) -> Standing:
        """With every record settled."""
        return replace(self, open=Ledger())
