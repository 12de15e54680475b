"""Rule packs: safety rules as answer set programs, loaded, checked and described (paper, Section 4.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from obviate.kb import asp
from obviate.kb.check import findings, warnings
from obviate.kb.check.safety import with_binding
from obviate.kb.crowd import refuse_costly
from obviate.kb.errors import ObviateError, PackError, Span
from obviate.kb.program import Program, Rule
from obviate.kb.scan import inspect
from obviate.kb.sources import gather, without_includes
from obviate.kb.syntax import syntax_errors
from obviate.kb.terms import Atom, Fun
from obviate.kb.vocabulary import Vocabulary

__all__ = ["Pack", "SafetyRule"]

_DESCRIPTION = [("rule", 2, True), ("principle", 2, True), ("severity", 2, True), ("deadline", 2, True)]


@dataclass(frozen=True, slots=True)
class SafetyRule:
    """What a pack says about a rule besides its logic.

    `mode` is ``situational`` or ``temporal``; `deadline` is ``before_intent``, ``before_done`` or a number of
    actions; an `advisory` rule only reports; `targeted` tells that the pack states a verification target.
    """

    name: str
    mode: str
    principle: str
    deadline: str | int
    advisory: bool
    targeted: bool
    span: Span = field(compare=False)


@dataclass(frozen=True, eq=False)
class Pack:
    """A checked rule pack over a vocabulary. `consts` are the ``#const`` values that a site overrides."""

    name: str
    vocabulary: Vocabulary
    program: Program
    consts: Mapping[str, str]
    rules: Mapping[str, SafetyRule]
    digest: str

    @classmethod
    def load(
        cls,
        *files: Path | str,
        vocabulary: Vocabulary,
        name: str = "",
        consts: Mapping[str, str | int] | None = None,
    ) -> Pack:
        """Read the files of a pack as one program and check it.

        Raises `PackError` for the first thing wrong, at its place.
        """
        if not files:
            raise PackError("empty-pack", "a pack needs at least one file", help="name its .lp files")
        texts = gather(*files)
        return cls.of(texts, vocabulary=vocabulary, name=name or Path(files[0]).stem, consts=consts)

    @classmethod
    def of(
        cls,
        texts: Mapping[str, str] | str,
        *,
        vocabulary: Vocabulary,
        name: str = "pack",
        consts: Mapping[str, str | int] | None = None,
    ) -> Pack:
        """A pack from texts by file name, or from one text; otherwise like `load`."""
        texts = {f"{name}.lp": texts} if isinstance(texts, str) else texts
        program, problems = _read(texts)
        for problem in problems:
            raise problem
        for problem in findings(program, vocabulary):
            raise problem
        overrides = {key: str(value) for key, value in (consts or {}).items()}
        return cls._of(texts, program, vocabulary, name, overrides)

    @classmethod
    def _of(
        cls, texts: Mapping[str, str], program: Program, vocabulary: Vocabulary, name: str, consts: Mapping[str, str]
    ) -> Pack:
        """The pack of a program without findings."""
        _check_consts(program, consts)
        facts, problems = _ground(program, texts, vocabulary, consts)
        for problem in problems:
            raise problem
        rules = _describe(program, facts)
        text = "\0".join([*texts.values(), *(f"{k}={v}" for k, v in sorted(consts.items()))])
        return cls(name, vocabulary, program, consts, rules, sha256(text.encode()).hexdigest()[:16])

    @classmethod
    def problems(
        cls, texts: Mapping[str, str], *, vocabulary: Vocabulary, consts: Mapping[str, str | int] | None = None
    ) -> tuple[ObviateError, ...]:
        """Everything wrong with the texts of a pack, and warnings, in the order of files and lines.

        It loads if none of them is an error.
        """
        program, syntax = _read(texts)
        found: list[ObviateError] = [*syntax] or list(findings(program, vocabulary))
        overrides = {key: str(value) for key, value in (consts or {}).items()}
        if not found:
            found += _ground(program, texts, vocabulary, {})[1]
        if not found:
            try:
                cls._of(texts, program, vocabulary, "", overrides)
            except ObviateError as error:
                found.append(error)
        if not found:
            found += warnings(program, texts)
        unique = {(str(problem.where), problem.code, problem.message): problem for problem in found}
        return tuple(sorted(unique.values(), key=_place))

    @cached_property
    def frame(self) -> tuple[Atom, ...]:
        """The facts about its rules that the kernel needs: deadlines and which rules are targeted."""
        facts = []
        for rule in self.rules.values():
            within = Fun("within", (rule.deadline,)) if isinstance(rule.deadline, int) else Fun(rule.deadline)
            facts.append(Atom("deadline", (Fun(rule.name), within)))
            if rule.targeted:
                facts.append(Atom("targeted", (Fun(rule.name),)))
        return tuple(facts)


def _read(texts: Mapping[str, str]) -> tuple[Program, list[PackError]]:
    """The program of texts, and what keeps some of them from being read."""
    plain = without_includes(texts)
    parts: list[Program] = []
    problems: list[PackError] = []
    for file, text in plain.items():
        found = list(inspect(text, file, told=True))
        if not found:
            try:
                parts.append(asp.parse(text, file))
            except PackError as error:
                found = (syntax_errors(text, file) if error.code == "syntax" else []) or [error]
        problems += found
    rules = tuple(rule for part in parts for rule in part.rules)
    others = tuple(other for part in parts for other in part.others)
    return Program(rules, others, "\n".join(plain.values())), problems


def _ground(
    program: Program, texts: Mapping[str, str], vocabulary: Vocabulary, consts: Mapping[str, str]
) -> tuple[set[Atom], list[PackError]]:
    """The facts that describe the rules, and what clingo refuses."""
    try:
        refuse_costly(program, vocabulary=vocabulary, consts=consts)
    except PackError as error:
        return set(), [error]
    problems: list[PackError] = []
    facts = asp.evaluate([program.text], (), _DESCRIPTION, consts, problems)
    return facts, [with_binding(_placed(problem, texts), program) for problem in problems]


def _place(problem: ObviateError) -> tuple[str, int, int]:
    where = problem.where
    return (where.file, where.line, where.column) if isinstance(where, Span) else (str(where), 0, 0)


def _placed(error: PackError, texts: Mapping[str, str]) -> PackError:
    """The same error, at its place in the file that it comes from."""
    if not isinstance(error.where, Span):
        return error
    line = error.where.line
    for file, text in texts.items():
        lines = text.split("\n")
        if line <= len(lines):
            source = lines[line - 1]
            column = len(source.encode()[: error.where.column - 1].decode(errors="ignore")) + 1  # clingo counts bytes
            name = re.match(r"[\w']*", source[column - 1 :])
            end = column + max(1, len(name[0]) if name else 0)
            where = Span(file, line, column, source[:500], line, end)
            return PackError(error.code, error.message, where=where, help=error.help)
        line -= len(lines)
    return error


def _describe(program: Program, atoms: set[Atom]) -> dict[str, SafetyRule]:
    said: dict[tuple[str, str], object] = {}
    spans: dict[tuple[str, str], Span] = {}
    for rule in program.rules:
        if rule.head is not None and rule.head.args:
            for named in rule.head.args[0].alternatives():
                spans.setdefault((rule.head.name, named.name), rule.span)
    for atom in sorted(atoms, key=str):
        name, value = atom.args
        if said.setdefault((atom.name, str(name)), value) != value:
            raise PackError(
                "said-twice",
                f"{name} has two of {atom.name}/2: {said[atom.name, str(name)]} and {value}",
                where=spans[atom.name, str(name)],
                help="keep one",
            )
        if atom.name == "severity" and value != Fun("advisory"):
            raise PackError(
                "bad-severity",
                f"{value} is not a severity",
                where=spans["severity", str(name)],
                help="advisory, or none",
            )
    rules = {}
    for name, span in ((name, span) for (head, name), span in spans.items() if head == "rule"):
        mode = str(said["rule", name])
        deadline = said.get(("deadline", name), Fun("before_intent" if mode == "situational" else "before_done"))
        principle = said.get(("principle", name), "")
        if mode == "temporal" and ("threatens", name) in spans and deadline != Fun("before_intent"):
            raise PackError(
                "idle-threat",
                f"{name} is temporal, so its threat would never matter",
                where=spans["threatens", name],
                help=f"make it situational, or add deadline({name}, before_intent)",
            )
        rules[name] = SafetyRule(
            name=name,
            mode=mode,
            principle=principle if isinstance(principle, str) else str(principle),
            deadline=_deadline(deadline, name, spans.get(("deadline", name), span)),
            advisory=str(said.get(("severity", name), "")) == "advisory",
            targeted=("resolved", name) in spans,
            span=span,
        )
    return rules


def _deadline(term: object, name: str, span: Span) -> str | int:
    if isinstance(term, Fun):
        if term.name == "within" and len(term.args) == 1 and isinstance(term.args[0], int) and term.args[0] >= 0:
            return term.args[0]
        if term in (Fun("before_intent"), Fun("before_done")):
            return term.name
    raise PackError(
        "bad-deadline",
        f"{term} is not a deadline for {name}",
        where=span,
        help="before_intent, before_done, or within(N) for N actions",
    )


def _check_consts(program: Program, overrides: Mapping[str, str]) -> None:
    declared = program.constants
    for name, value in overrides.items():
        default = declared.get(name, "")
        if default.lstrip("-").isdigit() and not value.lstrip("-").isdigit():
            raise PackError("bad-const", f"{name} is a number, not {value!r}", help=f"its default is {default}")
        if name not in declared:
            raise PackError(
                "unknown-const",
                f"the pack has no #const {name}",
                help=f"it has: {', '.join(sorted(declared)) or 'none'}",
            )


def rule_names(rule: Rule) -> tuple[str, ...]:
    """The safety rules that the head of a ``hazard``, ``threatens`` or ``resolved`` rule speaks of."""
    if rule.head is None or not rule.head.args:
        return ()
    return tuple(part.name for part in rule.head.args[0].alternatives() if part.kind == "constant")
