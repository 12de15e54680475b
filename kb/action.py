"""Actions and intents: a skill applied to known objects."""

from __future__ import annotations

import re
from dataclasses import dataclass

from obviate.kb.errors import ActionError
from obviate.kb.terms import Fun, check_id

__all__ = ["DONE", "Action"]

_SKILL = re.compile(r"\s*([A-Za-z_]\w*)\s*(\(|$)", re.ASCII)
_QUOTED = re.compile(r'\s*"((?:[^"\\]|\\.)*)"\s*([,)])', re.DOTALL)
_BARE = re.compile(r'\s*([^\s,()"](?:[^,()"\n]*[^\s,()"])?)\s*([,)])')
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Action:
    """A skill and its arguments, object ids in the order of the skill's signature (paper, Section 3.1)."""

    skill: str
    args: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Action:
        """Read ``place_on_top(peach, plate)``, ``PLACE_ON_TOP(apple.n.01_1, plate.n.04_1)`` or ``done``.

        Skills are case-insensitive. An id with commas, brackets, quotes or newlines is written as a
        string with backslash escapes. Raises `ActionError` with code ``action-syntax``.
        """
        head = _SKILL.match(text)
        if head is None:
            raise _syntax(text, 0, "a skill name such as open(cabinet)")
        skill, position = head[1].lower(), head.end()
        args: list[str] = []
        if head[2] == "(":
            if text[position:].strip() == ")":
                return cls(skill)
            closed = False
            while not closed:
                quoted = _QUOTED.match(text, position)
                match = quoted or _BARE.match(text, position)
                if match is None:
                    raise _syntax(text, position, "an object id followed by ',' or ')'")
                name = _ESCAPE.sub(lambda m: "\n" if m[1] == "n" else m[1], match[1]) if quoted else match[1]
                args.append(check_id(name, f"argument {len(args) + 1} of {skill}"))
                closed, position = match[2] == ")", match.end()
        if text[position:].strip():
            raise _syntax(text, position, "nothing after the action")
        return cls(skill, tuple(args))

    @property
    def term(self) -> Fun:
        """The action as a term of the logic: ``place_on_top("peach","plate")``."""
        return Fun(self.skill, self.args)

    def __str__(self) -> str:
        if not self.args:
            return self.skill
        return f"{self.skill}({', '.join(map(_written, self.args))})"


DONE = Action("done")


def _written(name: str) -> str:
    match = _BARE.fullmatch(name + ")")
    if match is not None and match[1] == name:
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _syntax(text: str, position: int, expected: str) -> ActionError:
    found = repr(text[position : position + 20]) if position < len(text) else "the end"
    return ActionError(
        "action-syntax",
        f"cannot read the action {text!r}: expected {expected}, found {found}",
        where=f"column {position + 1}",
        help='write skill(object, ...), and ids with special characters as "strings"',
    )
