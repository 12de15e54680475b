"""Variables that no positive literal binds: clingo finds them, and an object is often all that is missing."""

from __future__ import annotations

from dataclasses import replace

from obviate.kb.check.sorts import OBJECT, Sorts
from obviate.kb.errors import Fix, PackError, Span
from obviate.kb.program import Program, Rule

__all__ = ["with_binding"]


def with_binding(error: PackError, program: Program) -> PackError:
    """The error ``unsafe-variable`` with the fix that binds the variable as an object, where it is used as one."""
    where = error.where
    if error.code != "unsafe-variable" or not isinstance(where, Span):
        return error
    rule = next((rule for rule in program.rules if _covers(rule.span, where)), None)
    name = where.source[where.column - 1 : where.end_column - 1]
    if rule is None or rule.head is None:
        return error
    sorts = Sorts(program).of(rule).get(name, set())
    in_head = name in rule.head.variables
    if sorts != {OBJECT} and not (in_head and not sorts):
        return error
    return PackError(
        error.code, error.message, where=where, help=error.help, fix=_bind(rule, name, safe=in_head and bool(sorts))
    )


def _covers(rule: Span, where: Span) -> bool:
    begin, end = (rule.line, rule.column), (rule.end_line, rule.end_column)
    return rule.file == where.file and begin <= (where.line, where.column) < end


def _bind(rule: Rule, name: str, *, safe: bool) -> Fix:
    assert rule.head is not None
    last = rule.body[-1].span if rule.body else rule.head.span
    at = replace(last, line=last.end_line, column=last.end_column, source="")
    text = f"{', ' if rule.body else ' :- '}object({name})"
    return Fix(f"add object({name})", at, text, safe)
