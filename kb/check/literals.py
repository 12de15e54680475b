"""What the bodies of rules read: predicates that exist, declared names, and objects where they belong."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from obviate.kb.check.members import arity_error, capitalised, suggestion
from obviate.kb.errors import Fix, PackError, nearest
from obviate.kb.predicates import BELIEFS, EVENTS, KERNEL, NAMED, READABLE
from obviate.kb.program import Literal, Pattern, Program, Rule, TermPattern
from obviate.kb.tokens import tokenize
from obviate.kb.vocabulary import Vocabulary

__all__ = ["literal_findings"]

Helpers = Mapping[tuple[str, bool], set[int]]  # numbers of arguments of each predicate and sign that is concluded


def literal_findings(program: Program, vocabulary: Vocabulary) -> Iterator[PackError]:
    """What is wrong with the atoms that rules read."""
    helpers: dict[tuple[str, bool], set[int]] = {}
    for rule in program.rules:
        if rule.head is not None:
            helpers.setdefault((rule.head.name, rule.head.positive), set()).add(len(rule.head.args))
    for rule in program.rules:
        for literal in rule.body:
            yield from _literal(literal, rule, helpers, vocabulary, program.constants)
            yield from _pending(literal, rule)
        yield from _equated(rule, vocabulary, program.constants)


def _equated(rule: Rule, vocabulary: Vocabulary, consts: Mapping[str, str]) -> Iterator[PackError]:
    """The names and actions that a variable is said to be, as in state(X,S), S = (dusty; stained)."""
    sorts = _variable_sorts(rule)
    for literal in rule.body:
        for one, operator, other in zip(literal.compared, literal.operators, literal.compared[1:], strict=False):
            for variable, term in ((one, other), (other, one)) if operator in ("=", "!=") else ():
                sort = sorts.get(variable.text) if variable.kind == "variable" else None
                named = [part for part in term.alternatives() if sort is not None and part.name not in consts]
                for part in named:
                    if sort == "skill":
                        yield from _skill(part, vocabulary)
                    elif part.kind == "constant":
                        yield from _declared(vocabulary, str(sort), part)


def _variable_sorts(rule: Rule) -> dict[str, str]:
    """The variables that stand where names of the vocabulary do, or for a whole action."""
    found = {}
    for literal in rule.body:
        for pattern, _ in literal.inner:
            for i, arg in enumerate(pattern.args):
                sort = "skill" if pattern.name in EVENTS else NAMED.get((pattern.name, i))
                if sort is not None and arg.kind == "variable":
                    found[arg.text] = sort
    return found


def _literal(
    literal: Literal, rule: Rule, helpers: Helpers, vocabulary: Vocabulary, consts: Mapping[str, str]
) -> Iterator[PackError]:
    for pattern, _ in literal.inner:
        arities = helpers.get((pattern.name, pattern.positive), set())
        if pattern.name in READABLE and (pattern.positive or pattern.name == "state"):
            arities = arities | {READABLE[pattern.name]}
        if pattern.name in KERNEL:
            yield PackError(
                "reads-kernel",
                f"{pattern.name} belongs to the kernel",
                where=pattern.span,
                help="of the kernel's conclusions a pack may read pending(R,B) only",
            )
        elif not arities:
            yield PackError(
                "undeclared-predicate",
                f"nothing defines {'' if pattern.positive else '-'}{pattern.name}/{len(pattern.args)}",
                where=pattern.span,
                help=_near(pattern.name, {*READABLE, *(name for name, _ in helpers)}),
            )
        elif len(pattern.args) not in arities:
            yield arity_error(pattern, min(arities))
        else:
            yield from _names(pattern, rule, vocabulary, consts)


def _near(name: str, known: Collection[str]) -> str:
    help = nearest(name, known)
    return help if help.startswith("did you mean") else "define it by a rule, or read a belief"


def _pending(literal: Literal, rule: Rule) -> Iterator[PackError]:
    """A target may ask about the records of its own rule, and nothing else about records at all."""
    for pattern, _ in literal.inner:
        if pattern.name != "pending" or len(pattern.args) != 2:
            continue
        own = rule.head is not None and rule.head.name == "resolved" and rule.head.args[0].text == pattern.args[0].text
        if not own:
            yield PackError(
                "reads-kernel",
                "only the target of a rule may read pending, and of that rule",
                where=pattern.span,
                help="write resolved(R,B) :- pending(R,B), ...",
            )


def _names(pattern: Pattern, rule: Rule, vocabulary: Vocabulary, consts: Mapping[str, str]) -> Iterator[PackError]:
    """The constants of a belief or event: declared names where names belong, and never where objects do."""
    for i, arg in enumerate(pattern.args):
        sort = NAMED.get((pattern.name, i))
        for part in arg.alternatives():
            if part.kind == "constant" and part.name in consts:
                continue  # a site says what it stands for
            if sort is not None:
                yield from _name(part, sort, pattern, rule, vocabulary)
            elif pattern.name in EVENTS:
                yield from _skill(part, vocabulary)
                yield from (no_object(inner, pattern) for inner in part.parts if inner.kind in ("constant", "number"))
            elif pattern.name in BELIEFS and (pattern.name, i) != ("value", 2) and part.kind in ("constant", "number"):
                yield no_object(part, pattern)


def _name(part: TermPattern, sort: str, pattern: Pattern, rule: Rule, vocabulary: Vocabulary) -> Iterator[PackError]:
    where = part.span or pattern.span
    if part.kind == "constant":
        yield from _declared(vocabulary, sort, part)
    elif part.kind == "variable":
        names = {part.text.lower(), re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", part.text).lower()}
        meant = sorted(names & vocabulary.names(sort))
        alone = sum(token.text == part.text for token in tokenize(rule.text)) == 1 if meant else False
        if meant and alone and part.span:  # else it joins
            yield capitalised(part, meant[0], f"a {sort}")
    else:
        known = part.kind == "string" and part.name in vocabulary.names(sort)
        help = f"write it without quotes: {part.name}" if part.kind == "string" else f"name a {sort}"
        fix = Fix(f"write {part.name}", where, part.name) if known else None
        yield PackError("undeclared-name", f"{part.text} is not the name of a {sort}", where=where, help=help, fix=fix)


def no_object(part: TermPattern, pattern: Pattern) -> PackError:
    """A constant or number where an object belongs."""
    where = part.span or pattern.span
    text = f'"{part.text.strip(chr(39))}"'
    return PackError(
        "constant-object",
        f"{part.text} is never an object: ids are strings",
        where=where,
        help=f"write {text}, or a variable",
        fix=Fix(f"write {text}", where, text) if part.kind == "constant" else None,
    )


def _declared(vocabulary: Vocabulary, sort: str, part: TermPattern) -> Iterator[PackError]:
    known = vocabulary.names(sort)
    if part.name in known:
        return
    bare = part.name.strip("'")
    fix = suggestion(part, known)
    help = nearest(part.name, known) if fix else _declaration(sort, part.name)
    if bare in known and part.span:  # 'dusty' for dusty
        help, fix = f"write {bare}", Fix(f"write {bare}", part.span, bare)
    where = part.span or ""
    message = f"no vocabulary declares the {sort} {part.name!r}"
    yield PackError("undeclared-name", message, where=where, help=help, fix=fix)


def _declaration(sort: str, name: str) -> str:
    """How to make a name known."""
    forms = {"state": "unary({})", "tag": "tag_name({})", "quantity": "quantity({}, unit)", "skill": "skill({}, 2)"}
    return f"declare it in a vocabulary file: {forms.get(sort, sort + '({})').format(name)}."


def _skill(part: TermPattern, vocabulary: Vocabulary) -> Iterator[PackError]:
    if part.kind not in ("constant", "function"):
        return
    arity = vocabulary.skills.get(part.name)
    if arity is None:
        where = part.span or ""
        yield PackError(
            "undeclared-name",
            f"no vocabulary declares the skill {part.name!r}",
            where=where,
            help=nearest(part.name, vocabulary.skills)
            if suggestion(part, vocabulary.skills)
            else _declaration("skill", part.name),
        )
    elif arity != len(part.parts):
        yield PackError(
            "wrong-arity",
            f"{part.name} takes {arity} arguments, not {len(part.parts)}",
            where=part.span or "",
            help="use _ for an argument that does not matter",
        )
