"""ASP from the form of a rule: deterministic, formatted, with the principle as a comment and where it came from.

What a principle says is data: it stands in a comment and in a string, and ends neither.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

from obviate.compilers.rules.shape import BOUND, EXTRA, Clause, Lack, Place, Shape, Thing, Threat, derived, said
from obviate.kb import Vocabulary
from obviate.kb.format import formatted
from obviate.kb.terms import quote

__all__ = ["Provenance", "Written", "clean", "emitted", "pack_text", "rule_name", "threat_clauses"]

_LONGEST = 40
_SKIPPED = re.compile(
    r"an?|and|any|are|as|at|be|before|by|do|for|from|if|into?|is|its?|no|not|off?|on|or|out|so|that|the|their|them|"
    r"then|they|things?|to|up|when|where|which|while|with|your?|never|always|only"
)


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a rule came from: the model, the hash of what it was asked, and the day."""

    model: str
    prompt: str
    date: str

    def __str__(self) -> str:
        return f"compiled by {clean(self.model)}, prompt {clean(self.prompt)}, {clean(self.date)}"


def clean(text: str) -> str:
    """A text on one line, without control and format characters: what can stand in a comment and in a terminal."""
    spaced = re.sub(r"\s+", " ", text)
    return "".join(c for c in spaced if unicodedata.category(c) not in ("Cc", "Cf", "Zl", "Zp", "Cs", "Co")).strip()


def rule_name(principle: str, taken: Sequence[str] = ()) -> str:
    """A name for the rule of a principle: its first words, and a number if others have it."""
    plain = unicodedata.normalize("NFKD", principle).encode("ascii", "ignore").decode().lower()
    words = [word for word in re.findall(r"[a-z]+", plain) if not _SKIPPED.fullmatch(word)]
    name = ""
    for word in words:
        if len(name) + len(word) >= _LONGEST:
            break
        name = f"{name}_{word}" if name else word
    name = name or "rule"
    number = next(i for i in range(1, len(taken) + 2) if (name if i == 1 else f"{name}_{i}") not in taken)
    return name if number == 1 else f"{name}_{number}"


@dataclass(frozen=True, slots=True)
class Written:
    """The statements of a rule, and those of the helper predicates that it reads, which rules may share."""

    text: str
    helpers: tuple[str, ...]


def pack_text(rules: Sequence[Written], *, title: str) -> str:
    """A pack of rules and the helpers that they read, each once, in the project's layout."""
    shared = dict.fromkeys(line for rule in rules for line in rule.helpers)
    parts = [f"% {clean(title)}", "\n".join(shared), *(rule.text for rule in rules)]
    return formatted("\n\n".join(part for part in parts if part))


def emitted(
    shape: Shape, name: str, principle: str, vocabulary: Vocabulary, origin: Provenance | None = None
) -> Written:
    """The rule of a settled form, called `name`."""
    said, writer = clean(principle), _Writer(vocabulary)
    binding = _tuple(shape.about)
    lines = [f"% {said}", *([f"% {origin}"] if origin else [])]
    lines += [f"rule({name}, {shape.mode}).", f"principle({name}, {quote(said)})."]
    if shape.advisory:
        lines.append(f"severity({name}, advisory).")
    if shape.deadline != "default":
        term = shape.deadline if isinstance(shape.deadline, str) else f"within({shape.deadline})"
        lines.append(f"deadline({name}, {term}).")
    for clause in shape.hazard:
        lines.append(f"hazard({name}, {binding}) :- {writer.body(clause, shape.about, different=shape.different)}.")
    lines += writer.threats(name, shape.about, shape.threats)
    for clause in shape.target:
        body = writer.body(clause, (), given=frozenset(shape.about), first=f"pending({name}, {binding})")
        lines.append(f"resolved({name}, {binding}) :- {body}.")
    return Written(formatted("\n".join(lines)), tuple(writer.helpers))


def threat_clauses(name: str, about: Sequence[str], threats: Sequence[Threat], vocabulary: Vocabulary) -> Written:
    """Only the clauses that tell when a hazard becomes acute."""
    writer = _Writer(vocabulary)
    return Written(formatted("\n".join(writer.threats(name, about, threats))), tuple(writer.helpers))


_MOST_POOLED = 8  # instances of a rule that its pools stand for; beyond, a helper stands for the pool
_MOST_LETTERS = 3  # in a rule; beyond, a helper stands for an object of which only one thing is said


class _Writer:
    """Writes conditions as literals, and gathers the helpers that they read."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._derived = derived(vocabulary)
        self.helpers: dict[str, None] = {}

    def threats(self, name: str, about: Sequence[str], threats: Sequence[Threat]) -> list[str]:
        """What the intent does not name, the hazard binds."""
        lines = []
        for threat in threats:
            args = f"({','.join(threat.args)})" if threat.args else ""
            intent = f"intent({_pool([skill + args for skill in threat.skills])})"
            bound = {arg for arg in threat.args if arg != "_"}
            rest = [] if set(about) <= bound else [f"hazard({name}, {_tuple(about)})"]
            given = frozenset(bound | (set(about) if rest else set()))
            body = self.body(threat.given, (), given=given, first=intent, last=rest, pooled=len(threat.skills))
            lines.append(f"threatens({name}, {_tuple(about)}) :- {body}.")
        return lines

    def body(
        self,
        clause: Clause,
        about: Sequence[str],
        *,
        given: frozenset[str] = frozenset(),
        different: bool = False,
        first: str = "",
        last: Sequence[str] = (),
        pooled: int = 1,
    ) -> str:
        """A body in which a positive literal binds every variable. `about` are those of the head that it must bind,
        `given` those that `first` or `last` do; `pooled` is how many instances `first` stands for.
        """
        kept = frozenset(about) | (given & set(BOUND))
        mentions = Counter(letter for letter in re.findall(r"\b[UVXYZ]\b", f"{first} {' '.join(last)}"))
        for thing in clause:
            mentions[thing.object] += len(said(thing))
            mentions.update(place.of for place in thing.at)
        letters = kept | mentions.keys()
        crowded = len(letters) > _MOST_LETTERS
        lonely = frozenset(x for x in letters if mentions[x] == 1 and x not in kept) if crowded else frozenset()
        pools = [group for thing in clause for group in (*thing.tags, *thing.states)]
        pools += [place.relations for thing in clause for place in thing.at]
        few = pooled * prod(map(len, pools)) <= _MOST_POOLED and not crowded
        positive = [literal for thing in clause for literal in self._positive(thing, lonely, few)]
        negative = [literal for thing in clause for literal in self._negative(thing)]
        named = [x for x in (*BOUND, *EXTRA) if x in about or _mentions([*positive, *negative], x)]
        if different:
            negative += [f"{one} != {other}" for one, other in combinations(named, 2)]
        bound = given | {letter for letter in named if _mentions(positive, letter)}
        known = [f"object({letter})" for letter in named if letter not in bound]
        literals = [*([first] if first else []), *known, *positive, *last, *negative]
        return ", ".join(_anonymous(literals or ["#true"], kept))

    def _positive(self, thing: Thing, lonely: frozenset[str], few: bool) -> Iterator[str]:
        name = thing.object
        yield from (self._one_of("tag", name, group, few) for group in thing.tags)
        yield from (self._one_of("state", name, group, few) for group in thing.states)
        yield from (f"-state({name}, {word})" for word in thing.seen_not)
        if thing.moved:
            yield f"moved({name})"
        yield from (self._place(name, place, lonely, few) for place in thing.at)
        for i, measure in enumerate(thing.measures):
            number = f"N{name}{i}"
            yield f"value({name}, {measure.quantity}, {number})"
            yield f"{number} {'>' if measure.side == 'above' else '<'} {measure.number}"

    def _negative(self, thing: Thing) -> Iterator[str]:
        yield from (f"not tag({thing.object}, {word})" for word in thing.not_tags)
        yield from (f"not state({thing.object}, {word})" for word in thing.not_states)
        yield from (f"not {self._near(lack)}({thing.object})" for lack in thing.lacks)

    def _one_of(self, predicate: str, name: str, words: Sequence[str], few: bool) -> str:
        if few or len(words) == 1:
            return f"{predicate}({name}, {_pool(words)})"
        helper = f"{predicate}_{_joined(words)}"
        self._help(f"{helper}(X) :- {predicate}(X, {_pool(words)}).")
        return f"{helper}({name})"

    def _place(self, name: str, place: Place, lonely: frozenset[str], few: bool) -> str:
        relations = place.relations
        derived = bool(set(relations) & self._derived.keys())
        for relation in relations:
            self._define(relation)
        if lonely & {name, place.of}:
            reverse = name in lonely
            helper = f"{'has' if reverse else 'is'}_{_joined(relations)}_anything"
            one, two = ("_", "X") if reverse else ("X", "_")
            for relation in relations:
                self._help(f"{helper}(X) :- {self._relation(relation, one, two)}.")
            return f"{helper}({place.of if reverse else name})"
        if len(relations) > 1 and (derived or not few):
            for relation in relations:
                self._help(f"{_joined(relations)}(X, Y) :- {self._relation(relation, 'X', 'Y')}.")
        elif not derived:
            return f"edge({_pool(relations)}, {name}, {place.of})"
        return f"{_joined(relations)}({name}, {place.of})"

    # -- helpers -------------------------------------------------------------------------------------

    def _help(self, line: str) -> None:
        self.helpers[line] = None

    def _near(self, lack: Lack) -> str:
        """The helper for being in a relation to something with one of the tags."""
        reverse = lack.relation.endswith("_it")
        relation = lack.relation.removesuffix("_it")
        self._define(relation)
        name = f"{'has' if reverse else 'is'}_{relation}_{_joined(lack.tags) or 'anything'}"
        other = "C" if lack.tags else "_"
        one, two = (other, "X") if reverse else ("X", other)
        tagged = f", tag(C, {_pool(lack.tags)})" if lack.tags else ""
        self._help(f"{name}(X) :- {self._relation(relation, one, two)}{tagged}.")
        return name

    def _define(self, relation: str) -> None:
        if relation in self._derived:
            first, rest = self._derived[relation]
            supports = _pool(rest)
            self._help(f"{relation}(X, Y) :- edge({first or supports}, X, Y).")
            self._help(f"{relation}(X, Y) :- edge({supports}, X, Z), {relation}(Z, Y).")

    def _relation(self, relation: str, one: str, two: str) -> str:
        return f"{relation}({one}, {two})" if relation in self._derived else f"edge({relation}, {one}, {two})"


def _joined(names: Sequence[str]) -> str:
    return "_or_".join(name.replace("_or_", "_or__") for name in names)


def _pool(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"({'; '.join(words)})"


def _tuple(letters: Sequence[str]) -> str:
    return letters[0] if len(letters) == 1 else f"({','.join(letters)})"


def _mentions(literals: Sequence[str], letter: str) -> bool:
    return any(re.search(rf"\b{letter}\b", literal) for literal in literals)


def _anonymous(literals: Sequence[str], kept: frozenset[str]) -> list[str]:
    """The literals with ``_`` for a variable that stands in one place only."""
    counts = Counter(letter for text in literals for letter in re.findall(r"\b[UVXYZ]\b", text))
    once = [letter for letter, count in counts.items() if count == 1 and letter not in kept]
    pattern = rf"\b({'|'.join(once)})\b"
    return [re.sub(pattern, "_", text) if once else text for text in literals]
