"""The one module that imports clingo.

`parse` turns text into our own `Program`, `evaluate` grounds a stratified program from scratch (grounding alone
decides it), `Resident` keeps one multi-shot Control whose inputs are externals, `search` solves a program with
choices, and `Growing` one that is ground part by part.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import clingo
from clingo import ast

from obviate.kb.errors import PackError, Span
from obviate.kb.program import Program, Signature
from obviate.kb.reader import read
from obviate.kb.scan import code_of, inspect
from obviate.kb.terms import Atom, Fun, Term

__all__ = ["Answer", "Growing", "Resident", "evaluate", "late", "listing", "parse", "search"]

# --eq=0: with equivalence preprocessing, clingo 5.8 answers wrongly after a redefinition instead of raising.
_OPTIONS = ["--eq=0", "--warn=no-atom-undefined"]
_MESSAGE = re.compile(r"^(?P<file>.*?):(?P<line>\d+):(?P<column>\d+)(?:-[\d:]+)?: (?P<level>\w+): (?P<text>.*)", re.S)
_UNSAFE = re.compile(r"^.*?:(?P<line>\d+):(?P<column>\d+)-[\d:]+: note: '(?P<name>[\w']+)' is unsafe", re.M)
_BLOCK = "<block>"
_TICK = 0.01  # seconds


# -- terms ---------------------------------------------------------------------------------------


@lru_cache(maxsize=65_536)
def _term(symbol: clingo.Symbol) -> Term:
    if symbol.type == clingo.SymbolType.String:
        return symbol.string
    if symbol.type == clingo.SymbolType.Number:
        return symbol.number
    if symbol.type != clingo.SymbolType.Function or symbol.negative:
        return Fun(str(symbol))
    return Fun(symbol.name, tuple(map(_term, symbol.arguments)))


@lru_cache(maxsize=65_536)
def _atom(symbol: clingo.Symbol) -> Atom:
    return Atom(symbol.name, tuple(map(_term, symbol.arguments)), symbol.positive)


@lru_cache(maxsize=65_536)
def _symbol(term: Term | Atom) -> clingo.Symbol:
    if isinstance(term, str):
        return clingo.String(term)
    if isinstance(term, int):
        return clingo.Number(term)
    positive = term.positive if isinstance(term, Atom) else True
    return clingo.Function(term.name, [_symbol(arg) for arg in term.args], positive)


# -- solving -------------------------------------------------------------------------------------


class _Messages:
    """Collects what clingo says: operations on the wrong sort would otherwise drop a rule instance silently."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, code: clingo.MessageCode, text: str) -> None:
        if code not in (clingo.MessageCode.AtomUndefined, clingo.MessageCode.GlobalVariable):
            self.texts.append(text)

    def problems(self) -> list[PackError]:
        """What clingo said, as errors at their places in the block that was ground."""
        return [error for text in self.texts for error in _complaints(text)]

    def raise_if_any(self) -> None:
        for problem in self.problems():
            raise problem


def _complaints(text: str) -> Iterator[PackError]:
    notes = list(_UNSAFE.finditer(text))
    for note in notes:
        name = note["name"]
        yield PackError(
            "unsafe-variable",
            f"no positive literal binds {name}",
            where=Span(_BLOCK, int(note["line"]), int(note["column"])),
            help=f"say what {name} is, at least object({name})",
        )
    if not notes:
        match = _MESSAGE.match(text)
        yield PackError(
            "grounding-failed",
            (match["text"] if match else text).strip(),
            where=Span(_BLOCK, int(match["line"]), int(match["column"])) if match else "",
            help="arithmetic needs integers",
        )


def _control(consts: Mapping[str, str]) -> tuple[clingo.Control, _Messages]:
    messages = _Messages()
    for name, value in consts.items():
        if not _is_term(value):  # clingo would end the process
            raise PackError("bad-const", f"{value!r} is no value for {name}", help='a number, a name, or a "string"')
    options = [*_OPTIONS, *(f"-c{name}={value}" for name, value in consts.items())]
    return clingo.Control(options, logger=messages, message_limit=20), messages


def _is_term(text: str) -> bool:
    if any(inspect(text, "")) or "%" in code_of(text):
        return False
    try:
        clingo.parse_term(text, logger=lambda *_: None)
    except RuntimeError:
        return False
    return True


def _ground(control: clingo.Control, messages: _Messages, text: str, *, strict: bool = True) -> None:
    try:
        control.add("base", [], text)
        control.ground([("base", [])])
    except RuntimeError as error:
        messages.raise_if_any()
        raise PackError("grounding-failed", f"clingo refuses the program: {error}", help="see the rules") from None
    if strict:
        messages.raise_if_any()


def evaluate(
    programs: Sequence[str],
    facts: Iterable[Atom],
    outputs: Collection[Signature],
    consts: Mapping[str, str] | None = None,
    problems: list[PackError] | None = None,
) -> set[Atom]:
    """The true atoms with the signatures `outputs` of a stratified program, from scratch.

    Raises `PackError` (``unsafe-variable``, ``grounding-failed``) for the first thing that clingo refuses; all of
    them go to the list `problems` if there is one.
    """
    control, messages = _control(consts or {})
    try:
        _ground(control, messages, "\n".join([*programs, *(f"{fact}." for fact in facts)]))
    except PackError as error:
        if problems is None:
            raise
        problems += messages.problems() or [error]
        return set()
    found = set()
    for name, arity, positive in outputs:
        for atom in control.symbolic_atoms.by_signature(name, arity, positive):
            if not atom.is_fact:
                raise PackError("not-stratified", f"the truth of {atom.symbol} needs a search", help="avoid choices")
            found.add(_atom(atom.symbol))
    return found


class Resident:
    """One multi-shot Control: rules grounded once, inputs as externals that are switched between solves.

    An input never declared grows the universe and rebuilds the Control: a head is never extended in a later
    part, which clingo accepts and answers wrongly. Not thread-safe; `close` frees the Control.
    """

    def __init__(self, program: str, outputs: Collection[Signature], consts: Mapping[str, str]) -> None:
        self._source = program
        self._outputs = outputs
        self._program = f"{program}\n#show.\n{_shows(outputs)}"
        self._consts = consts
        self._fragile = False  # whether some possible input makes an arithmetic term undefined
        self._inputs: set[Atom] = set()
        self._true: set[Atom] = set()
        self._control: clingo.Control | None = None
        self._model: frozenset[Atom] | None = None
        self.rebuilds = 0

    def update(self, added: Iterable[Atom], removed: Iterable[Atom], possible: Iterable[Atom] = ()) -> None:
        """Make the inputs `added` true and `removed` false. `possible` inputs are declared when it is rebuilt."""
        added, removed = set(added), set(removed)
        if not added and not removed and self._model is not None:
            return
        self._model = None
        self._true = (self._true - removed) | added
        if self._control is None or not added <= self._inputs:
            self._control = None
            self._inputs.update(possible)
            return
        for atom in removed & self._inputs:
            self._control.assign_external(_symbol(atom), False)
        for atom in added:
            self._control.assign_external(_symbol(atom), True)

    def model(self) -> frozenset[Atom]:
        """The true output atoms under the present inputs."""
        if self._model is None:
            control = self._control or self._build()
            if self._fragile:  # only grounding the true inputs tells whether one that is true does
                self._model = frozenset(evaluate([self._source], self._true, self._outputs, self._consts))
                return self._model
            with control.solve(yield_=True) as handle:
                model = handle.model()
                if model is None:
                    raise PackError("no-model", "the pack has no answer set", help="remove its constraints")
                shown = map(_atom, filter(model.contains, model.symbols(shown=True)))
                asked = set(self._outputs)  # a #show in the program may show more, and terms that are no atoms
                self._model = frozenset(a for a in shown if (a.name, len(a.args), a.positive) in asked)
        return self._model

    def _build(self) -> clingo.Control:
        if len(self._inputs) > 64 + 4 * len(self._true):  # forget what has long been false
            self._inputs = set()
        self._inputs |= self._true
        control, messages = _control(self._consts)
        externals = "".join(f"#external {atom}.\n" for atom in self._inputs)
        _ground(control, messages, self._program + externals, strict=False)
        self._fragile = bool(messages.texts)
        for atom in self._true:
            control.assign_external(_symbol(atom), True)
        self.rebuilds += 1
        self._control = control
        return control

    def close(self) -> None:
        """Free the Control."""
        self._control = self._model = None
        self._inputs, self._true = set(), set()


@dataclass(frozen=True, slots=True)
class Answer:
    """Output atoms of the best model, or of all models together; `proven` unless time ran out before that was sure."""

    atoms: frozenset[Atom]
    proven: bool


def search(
    program: str,
    outputs: Collection[Signature],
    consts: Mapping[str, str] | None = None,
    *,
    seconds: float,
    brave: bool = False,
) -> Answer | None:
    """The first model of a program with choices, the best if it minimises; None when there is none.

    With `brave`, what is true in one model or another. At the limit of `seconds` for solving, the answer so far is
    returned; `PackError` (``search-timeout``) is raised when there is none yet.
    """
    control, messages = _control(consts or {})
    _ground(control, messages, f"{program}\n#show.\n{_shows(outputs)}", strict=False)
    if brave:
        control.configuration.solve.enum_mode = "brave"  # type: ignore[union-attr]
        control.configuration.solve.models = 0  # type: ignore[union-attr]
    return _best(control, seconds)


def _shows(outputs: Collection[Signature]) -> str:
    return "".join(f"#show {'' if sign else '-'}{name}/{arity}.\n" for name, arity, sign in outputs)


def _best(control: clingo.Control, seconds: float, improving: float = math.inf) -> Answer | None:
    """The last model that is found. Raises `PackError` (``search-timeout``, ``grounding-failed``)."""
    if seconds <= 0:
        raise late()
    found: list[Sequence[clingo.Symbol]] = []

    def keep(model: clingo.Model) -> None:
        found.append(model.symbols(shown=True))

    end, ended = time.monotonic() + seconds, False
    try:
        with control.solve(on_model=keep, async_=True) as handle:
            while improving < seconds and not (ended or found) and time.monotonic() < end:
                ended = handle.wait(_TICK)
            ended = ended or handle.wait(max(0.0, min(improving, end - time.monotonic())))
            if not ended:
                handle.cancel()
            handle.get()
    except RuntimeError as error:  # such as a sum that leaves its integers
        raise PackError("grounding-failed", f"clingo refuses the program: {error}", help="see the rules") from None
    if not found and not ended:
        raise late()
    return Answer(frozenset(map(_atom, found[-1])), ended) if found else None


def late() -> PackError:
    """The error of a search that found nothing in its time."""
    return PackError("search-timeout", "the search found nothing in its time", help="allow more seconds")


class Growing:
    """A program of parts with one parameter, ground step by step: a part once at each step, and in ascending order.

    Its externals are false until `assign`. Not thread-safe; `close` frees the Control.
    """

    def __init__(self, program: str, outputs: Collection[Signature], consts: Mapping[str, str]) -> None:
        self._control, messages = _control(consts)
        _ground(self._control, messages, f"{program}\n#program base.\n#show.\n{_shows(outputs)}", strict=False)

    def ground(self, *parts: tuple[str, tuple[int, ...]]) -> None:
        """Ground parts together. Raises `PackError` (``grounding-failed``)."""
        try:
            self._control.ground([(name, [clingo.Number(n) for n in numbers]) for name, numbers in parts])
        except RuntimeError as error:
            raise PackError("grounding-failed", f"clingo refuses the program: {error}", help="see the rules") from None

    def assign(self, atom: Atom, value: bool) -> None:
        """Give an external a truth value. One that is not needed any more is made false: released, it stays so."""
        self._control.assign_external(_symbol(atom), value)

    def best(
        self, *, seconds: float, improving: float = math.inf, first: bool = False, strategy: str = "usc"
    ) -> Answer | None:
        """The best model that is found in `seconds`, as by `search`, and in `improving` seconds from the first one on;
        or the `first` that is found. `strategy` is clasp's ``opt-strategy``.
        """
        self._control.configuration.solve.opt_mode = "ignore" if first else "opt"  # type: ignore[union-attr]
        self._control.configuration.solver.opt_strategy = strategy  # type: ignore[union-attr]
        return _best(self._control, seconds, improving)

    def close(self) -> None:
        """Free the Control."""
        del self._control


class _Listing(clingo.Observer):
    """Keeps the rules that grounding leaves, by the numbers of their atoms; None for what is no plain rule."""

    def __init__(self) -> None:
        self.rules: list[tuple[int, Sequence[int]] | None] = []

    def rule(self, choice: bool, head: Sequence[int], body: Sequence[int]) -> None:
        self.rules.append(None if choice or len(head) != 1 else (head[0], list(body)))

    def weight_rule(self, *_: object) -> None:
        self.rules.append(None)


def listing(program: str, inputs: Iterable[Atom]) -> list[tuple[Atom | int, tuple[tuple[Atom | int, bool], ...]]]:
    """The ground rules of a program whose `inputs` may be true or false, as far as grounding does not decide them.

    A body has atoms and whether they are true; what clingo made up is a number. Raises `PackError` as `evaluate`.
    """
    (control, messages), seen = _control({}), _Listing()
    control.register_observer(seen)
    _ground(control, messages, "\n".join([program, *(f"#external {atom}." for atom in inputs)]))
    names: dict[int, Atom | int] = {a.literal: _atom(a.symbol) for a in control.symbolic_atoms}
    if None in seen.rules:
        raise PackError("not-stratified", "a choice or a count cannot be listed", help="use plain rules")
    rules = filter(None, seen.rules)
    return [(names.get(head, head), tuple((names.get(abs(n), abs(n)), n > 0) for n in body)) for head, body in rules]


# -- parsing -------------------------------------------------------------------------------------


def parse(text: str, file: str) -> Program:
    """Read a program. Raises `PackError` at its place in `file`; see `scan.inspect` for what is never read."""
    for problem in inspect(text, file):
        raise problem
    lines = text.split("\n")
    plain = text.isascii()

    def column(line: int, byte: int) -> int:  # clingo counts bytes
        if plain:
            return byte
        source = lines[line - 1] if 0 < line <= len(lines) else ""
        return len(source.encode()[: byte - 1].decode(errors="ignore")) + 1

    def span(line: int, byte: int, end_line: int = 0, end_byte: int = 0) -> Span:
        source = lines[line - 1] if 0 < line <= len(lines) else ""
        end = column(end_line, end_byte) if end_line else 0
        return Span(file, line, column(line, byte), source[:500], end_line, end)

    nodes: list[ast.AST] = []
    messages: list[str] = []
    try:
        ast.parse_string(text, nodes.append, logger=lambda _, message: messages.append(message), message_limit=1)
    except RuntimeError:
        match = _MESSAGE.match(messages[0]) if messages else None
        if match is None:
            raise PackError("syntax", "clingo cannot read this text", where=file, help="is a bracket open?") from None
        what = match["text"].strip().replace("syntax error, ", "").replace("<IDENTIFIER>", "a name")
        where = span(int(match["line"]), int(match["column"]))
        raise PackError("syntax", what, where=where, help="a rule is head :- body, and ends in a period") from None
    try:
        rules, others = read(nodes, span)
    except RecursionError:
        raise PackError("too-deep", "a term is too deep", where=file, help="use helper predicates") from None
    return Program(rules, others, text)
