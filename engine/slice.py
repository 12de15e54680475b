"""The part of a pack that one of its rules depends on, and what that part reads of the beliefs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from obviate.kb import Pack
from obviate.kb.dependency import MEMBERS, Key, dependency_key
from obviate.kb.pack import SafetyRule
from obviate.kb.program import Literal, Pattern, Rule, TermPattern
from obviate.kb.scan import code_of
from obviate.kb.vocabulary import Vocabulary

__all__ = ["MOST_OBJECTS", "Slice", "keys_of", "object_variables", "slice_of"]

MOST_OBJECTS = 6  # a search never tries more
_LEAST_OBJECTS = 4
_DEEPEST = 50  # helpers that read helpers
_MOST_INSTANCES = 100_000  # of one rule, so that grounding stays short
_SORTS = {"tag": (1, "tag"), "state": (1, "state"), "edge": (0, "relation"), "value": (1, "quantity")}
_OBJECTS = {"object": (0,), "tag": (0,), "state": (0,), "value": (0,), "moved": (0,), "edge": (1, 2), "intent": (0,)}
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_CALCULATION = re.compile(r"[A-Z]\w*\s*[-+*/\\&?^]|[-+*/\\&?^]\s*[A-Z(]")
_NUMBER = re.compile(r"(?<![\w.])\d+(?!\w)")
_ESCAPE = re.compile(r"\\(.)")
_MOST_NUMBERS = 40
_MAX_INT = 2**31 - 1


@dataclass(frozen=True)
class Slice:
    """The rules of `pack` that the safety rule `rule`, and `others` beside it, depend on, in their order."""

    pack: Pack
    rule: SafetyRule
    rules: tuple[Rule, ...]
    others: tuple[SafetyRule, ...] = ()

    @property
    def vocabulary(self) -> Vocabulary:
        return self.pack.vocabulary

    @cached_property
    def text(self) -> str:
        return "\n".join(rule.text for rule in self.rules)

    @cached_property
    def judged(self) -> tuple[SafetyRule, ...]:
        """The safety rules that can have records here: those asked for, and those whose targets they read."""
        read = {owner for rule in self.rules for member, owner in keys_of(rule) if member == "resolved"}
        asked = (self.rule, *self.others)
        return (*asked, *(self.pack.rules[name] for name in sorted(read - {rule.name for rule in asked} - {"*"})))

    @cached_property
    def constants(self) -> dict[str, str]:
        """The value of each ``#const`` that the rules mention, as this pack has it."""
        texts = (other.text.rstrip(". ") for other in self.pack.program.others if other.kind == "definition")
        defaults = (text.removeprefix("#const").partition("=") for text in texts)
        values = {**{name.strip(): value.strip() for name, _, value in defaults}, **self.pack.consts}
        words = set(re.findall(r"\w+", self.text))
        return {name: value for name, value in values.items() if name in words}

    @cached_property
    def arity(self) -> int:
        """The number of objects that the rule binds."""
        heads = (rule.head for rule in self.rules if ("hazard", self.rule.name) in keys_of(rule))
        return next((len(_parts(head)) for head in heads if head is not None), 1)

    # -- what it reads --------------------------------------------------------------------------

    def patterns(self) -> Iterator[Pattern]:
        """Every atom in a body, in the order of the text."""
        for rule in self.rules:
            for literal in rule.body:
                yield from (pattern for pattern, _ in literal.inner)

    def reads(self, predicate: str, *, positive: bool = True) -> tuple[str, ...]:
        """The tags, states, relations or quantities that the rules read, as they come; all where one is left open."""
        place, sort = _SORTS[predicate]
        found: dict[str, None] = {}
        for pattern in self.patterns():
            if pattern.name == predicate and pattern.positive == positive:
                for part in pattern.args[place].alternatives():
                    every = sorted(self.vocabulary.names(sort))
                    found |= dict.fromkeys([part.name] if part.kind == "constant" else every)
        return tuple(found)

    @cached_property
    def moving(self) -> bool:
        """Whether they read what the agent has moved."""
        return any(pattern.name == "moved" for pattern in self.patterns())

    @cached_property
    def skills(self) -> tuple[str, ...]:
        """The skills of the intents that they read, as they come; all where one is left open."""
        found: dict[str, None] = {}
        for pattern in self.patterns():
            if pattern.name == "intent":
                for part in pattern.args[0].alternatives():
                    named = part.kind in ("constant", "function")
                    found |= dict.fromkeys([part.name] if named else sorted(self.vocabulary.skills))
        return tuple(found)

    @cached_property
    def idle(self) -> tuple[tuple[str, int], ...]:
        """The arguments of skills that no rule looks at: the skill, and the index of the argument."""
        looked: dict[tuple[str, int], bool] = {}
        for pattern in self.patterns():
            for part in pattern.args[0].alternatives() if pattern.name == "intent" else ():
                for i, inner in enumerate(part.parts):
                    looked[part.name, i] = looked.get((part.name, i), False) or inner.text != "_"
        return tuple(argument for argument, some in looked.items() if not some)

    @cached_property
    def objects(self) -> tuple[str, ...]:
        """The objects that they name themselves."""
        words = dict.fromkeys(match[0][1:-1] for rule in self.rules for match in _STRING.finditer(rule.text))
        unescaped = (_ESCAPE.sub(lambda m: "\n" if m[1] == "n" else m[1], word) for word in words)
        return tuple(word for word in unescaped if word)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Integers around those that they name, near zero first: on each side of every comparison with one."""
        text = code_of(self.text)
        named = [int(n) for n in (*_NUMBER.findall(text), *self.constants.values()) if n.lstrip("-").isdigit()]
        signs = (1, -1) if "-" in text else (1,)
        around = {sign * n + d for n in named for sign in signs for d in (-1, 0, 1)} | {0, 1}
        return tuple(sorted((n for n in around if abs(n) <= _MAX_INT), key=lambda n: (abs(n), n < 0))[:_MOST_NUMBERS])

    # -- how far to search ----------------------------------------------------------------------

    @cached_property
    def bound(self) -> int:
        """The number of objects to try at most: as many as the rules have variables for, within reason."""
        size = min(MOST_OBJECTS, max(_LEAST_OBJECTS, self._needed))
        widest = max((len(_variables(rule)) for rule in self.rules), default=0)
        while size > 2 and size**widest > _MOST_INSTANCES:
            size -= 1
        return size

    @cached_property
    def exhaustive(self) -> bool:
        """Whether what no graph of `bound` objects shows is taken for impossible: the rules do not calculate, have no
        more variables, and read no target of another rule, whose open records a search does not guess.
        """
        return self.bound >= self._needed and len(self.judged) == 1 and not any(map(_computes, self.rules))

    @cached_property
    def _needed(self) -> int:
        members = (self._variables_of((member, self.rule.name), frozenset()) for member in ("hazard", "resolved"))
        return max(*members, self._variables_of(("threatens", self.rule.name), frozenset()), self.arity)

    def _variables_of(self, key: Key, above: frozenset[Key]) -> int:
        """How many objects the body of a predicate can speak of, its helpers' bodies included; recursion once."""
        if len(above) > _DEEPEST:
            return MOST_OBJECTS + 1  # more than will be tried
        most = 0
        for rule in self.rules:
            if not any(key in (other, (other[0], "*")) for other in keys_of(rule)):
                continue
            count = len(_variables(rule)) + sum(self._counted(literal) for literal in rule.body)
            for literal in rule.body:
                for pattern, _ in literal.inner:
                    inner = (self._variables_of(k, above | {key}) for k in dependency_key(pattern) if k not in above)
                    count += max(0, max(inner, default=0) - len(pattern.variables))
            most = max(most, min(count, MOST_OBJECTS + 1))
        return most

    def _counted(self, literal: Literal) -> int:
        """How many objects an aggregate asks for."""
        if "{" not in literal.text:
            return 0
        named = [self.constants.get(word, word) for word in re.findall(r"\w+", code_of(literal.text))]
        numbers = [int(word) for word in named if word.isdigit()]
        summed = "#sum" in literal.text  # where one object may weigh enough
        return max((n for n in numbers if not summed or n <= MOST_OBJECTS), default=0)


def object_variables(rule: Rule) -> tuple[str, ...]:
    """The variables of a rule that stand for objects, as far as the rule itself tells."""
    found: dict[str, None] = {}
    if rule.head is not None and rule.head.name in MEMBERS:
        found |= dict.fromkeys(part.text for part in _parts(rule.head) if part.kind == "variable")
    for literal in rule.body:
        if literal.atom is not None and not literal.negations:
            for i, arg in enumerate(literal.atom.args):
                if i in _OBJECTS.get(literal.atom.name, ()):
                    inner = (arg, *(part for term in arg.alternatives() for part in term.parts))
                    found |= dict.fromkeys(p.text for p in inner if p.kind == "variable" and p.text != "_")
    return tuple(found)


def keys_of(rule: Rule) -> tuple[Key, ...]:
    """What the rule concludes."""
    return dependency_key(rule.head) if rule.head is not None else ()


@lru_cache(maxsize=1_024)
def slice_of(pack: Pack, rule: str, *others: str) -> Slice:
    """The part of the pack that its rule called `rule`, and `others` beside it, depend on."""
    concluding, reading = _index(pack)
    todo: list[Key] = [(member, name) for name in (rule, *others) for member in MEMBERS]
    seen: set[Key] = set()
    while todo:
        key = todo.pop()
        if key not in seen:
            seen.add(key)
            if key[1] == "*":
                todo += [other for other in concluding if other[0] == key[0]]
            elif key[0] == "resolved":  # asks what is pending, and so what triggers it
                todo += [(member, key[1]) for member in MEMBERS]
            todo += [read for i in concluding.get(key, ()) for read in reading[i]]
    chosen = sorted({i for key in seen for i in concluding.get(key, ())})
    beside = tuple(pack.rules[name] for name in others)
    return Slice(pack, pack.rules[rule], tuple(pack.program.rules[i] for i in chosen), beside)


@lru_cache(maxsize=32)
def _index(pack: Pack) -> tuple[dict[Key, list[int]], list[list[Key]]]:
    """Which rules of a program conclude what, and what each reads."""
    concluding: dict[Key, list[int]] = {}
    for i, rule in enumerate(pack.program.rules):
        for key in keys_of(rule):
            concluding.setdefault(key, []).append(i)
    read = [[pattern for literal in rule.body for pattern, _ in literal.inner] for rule in pack.program.rules]
    return concluding, [[key for pattern in patterns for key in dependency_key(pattern)] for patterns in read]


def _parts(head: Pattern) -> tuple[TermPattern, ...]:
    term = head.args[1]
    return term.parts if term.kind == "tuple" else (term,)


def _computes(rule: Rule) -> bool:
    """Whether the rule calculates with a variable; a classical negation or a negative number does not."""
    patterns = [pattern for literal in rule.body for pattern, _ in literal.inner]
    terms = [arg for pattern in (*patterns, *([rule.head] if rule.head is not None else [])) for arg in pattern.args]
    terms += [term for literal in rule.body for term in literal.compared]
    inside = (code_of(literal.text) for literal in rule.body if "{" in literal.text)
    return any(part.kind == "operation" and part.variables for term in terms for part in term.walk()) or any(
        _CALCULATION.search(text) for text in inside
    )


def _variables(rule: Rule) -> frozenset[str]:
    head = rule.head.variables if rule.head is not None else frozenset()
    return head.union(*(literal.variables for literal in rule.body)) | {
        f"_{i}" for i, literal in enumerate(rule.body) if re.search(r"(?<!\w)_(?!\w)", code_of(literal.text))
    }
