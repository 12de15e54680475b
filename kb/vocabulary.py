"""The finite vocabulary that beliefs, rules and actions share (paper, Appendix 0.A.1)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from obviate.kb import asp
from obviate.kb.action import Action
from obviate.kb.errors import ActionError, VocabularyError, nearest
from obviate.kb.files import read_text
from obviate.kb.program import Rule
from obviate.kb.terms import Atom, Fun

__all__ = ["DECLARATIONS", "Vocabulary"]

_NAME = re.compile(r"[a-z]\w*", re.ASCII)
DECLARATIONS = {
    "unary": 1,
    "relation": 1,
    "symmetric": 1,
    "support": 1,
    "tag_name": 1,
    "skill": 2,
    "moves": 2,
    "quantity": 2,
    "appears": 2,
}


@dataclass(frozen=True)
class Vocabulary:
    """The declared names. `skills` maps a skill to its number of arguments, `moves` a skill to the argument
    that it moves (1-based), `quantities` a quantity to its unit, and `appearances` a kind of substance to the
    state that perception reports of what it covers.
    """

    states: frozenset[str]
    relations: frozenset[str]
    symmetric: frozenset[str]
    supports: frozenset[str]
    tags: frozenset[str]
    skills: Mapping[str, int]
    moves: Mapping[str, int]
    quantities: Mapping[str, str]
    appearances: Mapping[str, str]
    digest: str = field(compare=False)

    @classmethod
    def load(cls, *files: Path | str) -> Vocabulary:
        """Read and join vocabulary files.

        Raises `VocabularyError` for a statement that is not a declaration, or a name used but not declared;
        `PackError` for a text clingo cannot read.
        """
        texts = [(str(file), read_text(file)) for file in files]
        for file, text in texts:
            program = asp.parse(text, file)
            for rule in program.rules:
                if not _declares(rule):
                    raise VocabularyError(
                        "not-a-declaration",
                        f"{rule.text} declares nothing",
                        where=rule.span,
                        help=nearest(rule.head.name if rule.head else "", DECLARATIONS),
                    )
            for other in program.others:
                raise VocabularyError("not-a-declaration", f"{other.text} declares nothing", where=other.span)
            for rule in program.rules:
                _check_numbers(rule)
        outputs = [(name, arity, True) for name, arity in DECLARATIONS.items()]
        atoms = asp.evaluate([text for _, text in texts], (), outputs)
        digest = sha256("\0".join(text for _, text in texts).encode()).hexdigest()[:16]
        return cls._of(atoms, digest)

    @classmethod
    def _of(cls, atoms: Iterable[Atom], digest: str) -> Vocabulary:
        by_name: dict[str, list[tuple[str, object]]] = {name: [] for name in DECLARATIONS}
        atoms = list(atoms)
        _refuse_two(atoms)
        for atom in atoms:
            first = atom.args[0]
            if atom.name != "appears" and not (isinstance(first, Fun) and _NAME.fullmatch(str(first))):
                raise VocabularyError(
                    "not-a-declaration", f"{atom} declares no name", help="names are lower-case words"
                )
            name = first.name if isinstance(first, Fun) else str(first)
            second = atom.args[1] if len(atom.args) > 1 else None
            by_name[atom.name].append((name, second.name if isinstance(second, Fun) else second))
        skills = {name: int(str(arity)) for name, arity in by_name["skill"]}
        vocabulary = cls(
            states=frozenset(name for name, _ in by_name["unary"]),
            relations=frozenset(name for name, _ in by_name["relation"]),
            symmetric=frozenset(name for name, _ in by_name["symmetric"]),
            supports=frozenset(name for name, _ in by_name["support"]),
            tags=frozenset(name for name, _ in by_name["tag_name"]),
            skills=dict(sorted({**skills, "done": 0}.items())),
            moves={name: int(str(index)) for name, index in sorted(by_name["moves"])},
            quantities={name: str(unit) for name, unit in sorted(by_name["quantity"])},
            appearances={kind: str(state) for kind, state in sorted(by_name["appears"])},
            digest=digest,
        )
        for relation in sorted(vocabulary.symmetric):
            vocabulary.require("relation", relation, f"symmetric({relation})")
        for relation in sorted(vocabulary.supports):
            vocabulary.require("relation", relation, f"support({relation})")
        for kind, state in vocabulary.appearances.items():
            vocabulary.require("state", state, f'appears("{kind}",{state})')
        for skill, index in vocabulary.moves.items():
            vocabulary.require("skill", skill, f"moves({skill},{index})")
            if not 1 <= index <= vocabulary.skills[skill]:
                raise VocabularyError(
                    "not-a-declaration",
                    f"{skill} has no argument {index}",
                    where=f"moves({skill},{index})",
                    help=f"its arguments are 1 to {vocabulary.skills[skill]}",
                )
        return vocabulary

    @cached_property
    def _sorts(self) -> dict[str, frozenset[str]]:
        return {
            "state": self.states,
            "relation": self.relations,
            "tag": self.tags,
            "quantity": frozenset(self.quantities),
            "skill": frozenset(self.skills),
        }

    def names(self, sort: str) -> frozenset[str]:
        """The declared names of a sort: state, relation, tag, quantity or skill."""
        return self._sorts[sort]

    def require(self, sort: str, name: str, where: str) -> None:
        """Raise `VocabularyError` (``undeclared-name``) unless the vocabulary declares the `sort` `name`."""
        if name not in self._sorts[sort]:
            raise VocabularyError(
                "undeclared-name",
                f"no vocabulary declares the {sort} {name!r}",
                where=where,
                help=nearest(name, self._sorts[sort]),
            )

    def check_action(self, action: Action | str, objects: Iterable[str]) -> Action:
        """The action, if its skill is declared, its arity right and its objects known; else `ActionError`."""
        if isinstance(action, str):
            action = Action.parse(action)
        elif not isinstance(action, Action):
            raise ActionError(
                "action-syntax", f"{action!r} is no action", help="a text such as open(fridge), or an Action"
            )
        arity = self.skills.get(action.skill)
        if arity is None:
            raise ActionError(
                "unknown-skill",
                f"there is no skill {action.skill!r}",
                help=nearest(action.skill, self.skills),
            )
        if arity != len(action.args):
            raise ActionError(
                "wrong-arity",
                f"{action.skill} takes {arity} argument{'s' * (arity != 1)}, not {len(action.args)}",
                where=str(action),
                help=f"write {action.skill}({', '.join('XYZ'[:arity])})" if arity else f"write {action.skill}",
            )
        known = objects if isinstance(objects, Collection) else set(objects)
        for i, name in enumerate(action.args):
            if name not in known:
                raise ActionError(
                    "unknown-object",
                    f"there is no object {name!r}",
                    where=f"argument {i + 1} of {action}",
                    help=nearest(name, known),
                )
        return action


def _declares(rule: Rule) -> bool:
    """Whether a rule is a declaration, a fact: of names, and of texts and numbers where they belong."""
    head = rule.head
    if head is None or rule.body or not head.positive or DECLARATIONS.get(head.name) != len(head.args):
        return False
    kinds = {"variable", "constant"} | ({"string"} if head.name == "appears" else set())
    return all(part.kind in kinds for part in head.args[0].alternatives())


def _refuse_two(atoms: list[Atom]) -> None:
    """A skill has one arity, a quantity one unit, a substance one appearance."""
    said: dict[tuple[str, str], Atom] = {("skill", "done"): Atom("skill", (Fun("done"), 0))}
    for atom in sorted(atoms, key=str):
        first = said.setdefault((atom.name, str(atom.args[0])), atom)
        if first != atom:
            raise VocabularyError("not-a-declaration", f"{first} and {atom} contradict each other", help="keep one")


def _check_numbers(rule: Rule) -> None:
    """The second argument of skill and moves is a number."""
    head = rule.head
    if head is not None and head.name in ("skill", "moves") and head.args[1].kind != "number":
        raise VocabularyError(
            "not-a-declaration",
            f"{head.args[1].text} is no number of arguments",
            where=head.args[1].span or rule.span,
            help=f"write {head.name}({head.args[0].text}, 2)",
        )
