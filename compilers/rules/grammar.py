"""A grammar for the form of a rule, in the notation of ASP: for local models, and for rules that people type.

It is the same form in fewer tokens: every sentence is read into a `Shape`, and goes the same way from there.
``lacks(X, within, a)`` stands for a negated helper, and names of rules are left to us:

    situational(X,Y).
    hazard :- tag(X, safety_food), tag(Y, (function_container; function_surface)), state(Y, dusty).
    threatens :- intent(place_on_top(X,Y)).
    resolved :- not state(Y, dusty).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal

from lark import Lark, Token, Tree
from lark.exceptions import LarkError

from obviate.compilers.rules.shape import BOUND, EXTRA, Lack, Measure, Place, Shape, Thing, Threat, Words
from obviate.kb.errors import DecodeError

__all__ = ["grammar", "read_sentence"]

_LITERALS = 8  # in a body
_WORDS = 4  # in a pool
_HAZARDS, _THREATS, _TARGETS = 2, 4, 2


def grammar(words: Words) -> str:
    """The grammar, in Lark's notation, over declared names."""
    kinds = ['"temporal(" about ").\\n" hazards targets?']
    if words.skills:
        kinds.insert(0, '"situational(" about ").\\n" hazards threats targets?')
    lines = [
        f"start: situational | temporal\nsituational: {kinds[0]}\ntemporal: {kinds[-1]}"
        if words.skills
        else f"start: temporal\ntemporal: {kinds[-1]}",
        f"about: {_listed('BOUND', len(BOUND), ',')}",
        f"hazards: {_repeated('hazard', _HAZARDS)}",
        f"targets: {_repeated('target', _TARGETS)}",
        'hazard: "hazard :- " hbody ".\\n"',
        'target: "resolved :- " obody ".\\n"',
        f"hbody: {_listed('hliteral', _LITERALS, ', ')}",
        f"obody: {_listed('oliteral', _LITERALS, ', ')}",
        _terminal("BOUND", BOUND),
        _terminal("LETTER", (*BOUND, *EXTRA)),
        *_literals("h", "BOUND", words),
        *_literals("o", "LETTER", words),
        *(_terminal(name, names) for name, names in _names(words) if names),
    ]
    if words.tags:
        lines.append(f'tags: TAG | "(" {_more("TAG", _WORDS)} ")"')
    if words.states:
        lines.append(f'states: STATE | "(" {_more("STATE", _WORDS)} ")"')
    if words.relations:
        lines.append(f'relations: RELATION | "(" {_more("RELATION", 3)} ")"')
    if words.quantities:
        lines += ['SIDE: "above" | "below"', "NUMBER: /-?(0|[1-9][0-9]{0,2})/"]
    if words.skills:
        lines += [f"threats: {_repeated('threat', _THREATS)}"]
        lines += ['threat: "threatens :- intent(" action ")" (", " obody)? ".\\n"', *_actions(words)]
    return "\n".join(lines) + "\n"


def _names(words: Words) -> Iterator[tuple[str, Sequence[str]]]:
    yield "TAG", words.tags
    yield "STATE", words.states
    yield "RELATION", words.relations
    yield "LACKED", words.reversible
    yield "QUANTITY", words.quantities


def _literals(prefix: str, letter: str, words: Words) -> Iterator[str]:
    """The literals about some letters; each alternative has a name, so that it can be read back."""
    found = [("moved", f'"moved(" {letter} ")"')]
    if words.tags:
        found += [("tag", f'"tag(" {letter} ", " tags ")"'), ("nottag", f'"not tag(" {letter} ", " TAG ")"')]
    if words.states:
        found += [
            ("state", f'"state(" {letter} ", " states ")"'),
            ("notstate", f'"not state(" {letter} ", " STATE ")"'),
            ("seennot", f'"-state(" {letter} ", " STATE ")"'),
        ]
    if words.relations:
        found += [("at", f'"edge(" relations ", " {letter} ", " {letter} ")"')]
        found += [("lacksany", f'"lacks(" {letter} ", " LACKED ")"')]
        found += [("lacks", f'"lacks(" {letter} ", " LACKED ", " tags ")"')] if words.tags else []
    if words.quantities:
        found += [("value", f'"value(" {letter} ", " QUANTITY ", " SIDE ", " NUMBER ")"')]
    yield f"{prefix}literal: {' | '.join(prefix + name for name, _ in found)}"
    yield from (f"{prefix}{name}: {body}" for name, body in found)


def _actions(words: Words) -> Iterator[str]:
    arities = sorted(set(words.skills.values()))
    yield f"action: {' | '.join(f'act{n}' for n in arities)}"
    yield _terminal("ARG", (*BOUND, *EXTRA, "_"))
    for n in arities:
        yield _terminal(f"SKILL{n}", [skill for skill, arity in words.skills.items() if arity == n])
        args = ' "," '.join(["ARG"] * n)
        yield f'act{n}: SKILL{n} "(" {args} ")"' if n else f"act{n}: SKILL{n}"


def _terminal(name: str, names: Iterable[str]) -> str:
    return f"{name}: " + " | ".join(f'"{each}"' for each in names)


def _listed(item: str, most: int, separator: str) -> str:
    """One to `most` items, without recursion or repetition, which some backends bound in other ways."""
    text = item
    for _ in range(most - 1):
        text = f'{item} ("{separator}" {text})?'
    return text


def _more(item: str, most: int) -> str:
    """Two items or more."""
    return f'{item} "; " {_listed(item, most - 1, "; ")}'


def _repeated(item: str, most: int) -> str:
    text = item
    for _ in range(most - 1):
        text = f"{item} ({text})?"
    return text


# -- reading ---------------------------------------------------------------------------------------


def read_sentence(text: str, words: Words) -> Shape:
    """The form that a sentence of the grammar stands for. Raises `DecodeError` (``form-malformed``)."""
    try:
        tree = _parser(grammar(words)).parse(text)
    except LarkError as error:
        message = f"this is no rule: {str(error).splitlines()[0]}"
        raise DecodeError("form-malformed", message, help="see obviate.compilers.rules.grammar") from None
    (rule,) = _subtrees(tree)
    parts = {str(part.data): part for part in _subtrees(rule)}
    return Shape(
        mode="situational" if rule.data == "situational" else "temporal",
        about=tuple(dict.fromkeys(_tokens(parts["about"]))),
        hazard=tuple(_clause(*_subtrees(each)) for each in _subtrees(parts["hazards"])),
        threats=tuple(_threat(each) for each in _subtrees(parts["threats"])) if "threats" in parts else (),
        target=tuple(_clause(*_subtrees(each)) for each in _subtrees(parts["targets"])) if "targets" in parts else (),
    )


@lru_cache(maxsize=4)
def _parser(text: str) -> Lark:
    return Lark(text, parser="earley", import_paths=[])


def _subtrees(tree: Tree[Token]) -> list[Tree[Token]]:
    return [child for child in tree.children if isinstance(child, Tree)]


def _tokens(tree: Tree[Token]) -> list[str]:
    return [str(child) for child in tree.children if isinstance(child, Token)]


def _threat(tree: Tree[Token]) -> Threat:
    action, *given = _subtrees(tree)
    skill, *args = _tokens(_subtrees(action)[0])
    return Threat(skills=(skill,), args=tuple(args), given=_clause(*given) if given else ())


def _clause(body: Tree[Token]) -> tuple[Thing, ...]:
    """The things of a body, one for each literal: what they say of one object is put together later."""
    return tuple(_thing(_subtrees(literal)[0]) for literal in _subtrees(body))


def _thing(literal: Tree[Token]) -> Thing:
    tokens = _tokens(literal)
    listed = [tuple(_tokens(part)) for part in _subtrees(literal)]
    said: dict[str, Any]
    match str(literal.data)[1:]:
        case "moved":
            said = {"moved": True}
        case "tag":
            said = {"tags": (listed[0],)}
        case "state":
            said = {"states": (listed[0],)}
        case "nottag":
            said = {"not_tags": (tokens[1],)}
        case "notstate":
            said = {"not_states": (tokens[1],)}
        case "seennot":
            said = {"seen_not": (tokens[1],)}
        case "at":
            said = {"at": (Place(relations=listed[0], of=tokens[1]),)}
        case "value":
            side: Literal["above", "below"] = "above" if tokens[2] == "above" else "below"
            said = {"measures": (Measure(quantity=tokens[1], side=side, number=int(tokens[3])),)}
        case _:
            said = {"lacks": (Lack(relation=tokens[1], tags=listed[0] if listed else ()),)}
    return Thing(object=tokens[0], **said)
