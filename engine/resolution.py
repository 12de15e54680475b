"""What would resolve a record: the smallest change of a belief graph after which a target holds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from obviate.engine.backend import KERNEL
from obviate.engine.search import INPUTS, Example, candidates, example_of, frame, ranks, readable_ids, renamed_example
from obviate.engine.slice import Slice, slice_of
from obviate.kb import Pack, Patch, asp
from obviate.kb.terms import Fun, quote

__all__ = ["resolution"]

_MORE_OBJECTS = 2
# Beliefs change, what is known does not become unknown: a state that is over was seen to be.
_CHANGES = """
:- not target({r},{b}).
:- _was(state(X,S)), not state(X,S), not -state(X,S).
:- _was(absent(X,S)), not state(X,S), not -state(X,S).
:- _was(value(X,A,_)), not value(X,A,_).
:- _was(moved(X)), not moved(X).
:- _known(X), not object(X).
:- _known(X), tag(X,T), not _was(tag(X,T)).
:- _was(tag(X,T)), not tag(X,T).
_is(tag(X,T),T)      :- tag(X,T), not _known(X).
_is(state(X,S),S)    :- state(X,S).
_is(absent(X,S),S)   :- -state(X,S).
_is(edge(P,X,Y),P)   :- edge(P,X,Y).
_is(value(X,A,N),N)  :- value(X,A,N).
_is(moved(X),0)      :- moved(X).
#minimize {{ 1@2,B : _is(B,_), not _was(B) }}.
#minimize {{ 1@2,edge(P,X,Y) : _was(edge(P,X,Y)), not edge(P,X,Y) }}.
#minimize {{ N@1,B : _is(B,Name), _rank(N,Name) }}.
"""


def resolution(pack: Pack, example: Example, *, seconds: float = 5.0) -> Patch | None:
    """The smallest observation that makes the record of an example pass; deterministic.

    Up to two objects may come in. None when nothing can: tags never change, so that only another intent helps.
    Raises `PackError` (``search-timeout``).
    """
    part, end = slice_of(pack, example.rule), time.monotonic() + seconds
    outputs = [*INPUTS, ("_chosen", 1, True)]
    for size in range(_MORE_OBJECTS + 1):
        program = "\n".join(_program(part, example, size))
        answer = asp.search(program, outputs, pack.consts, seconds=end - time.monotonic())
        if answer is not None:
            after = replace(example_of(part, answer.atoms, answer.proven), intent=None, binding=())
            known = {name: name for name in example.graph.nodes}
            names = {**_fresh(readable_ids(after, part), known), **known}
            return example.graph.difference(renamed_example(after, names).graph)
    return None


def _fresh(names: dict[str, str], known: dict[str, str]) -> dict[str, str]:
    return {name: f"other_{new}" if new in known else new for name, new in names.items()}


def _program(part: Slice, example: Example, size: int) -> Iterator[str]:
    binding = str(Fun("", example.binding)) if len(example.binding) != 1 else quote(example.binding[0])
    record = f"{part.rule.name},{binding}"
    yield from (line for line in candidates(part, size) if not line.startswith("_action("))
    for state in dict.fromkeys([*part.reads("state"), *part.reads("state", positive=False)]):
        yield f"_state({state}). _absent({state})."
    yield from ranks(part)
    yield from frame(part)
    yield KERNEL
    yield part.text
    yield f"was_pending({record})."
    yield _CHANGES.format(r=part.rule.name, b=binding)
    for name in example.graph.nodes:
        yield f"_given({quote(name)}). _known({quote(name)})."
    for fact in example.graph.facts():
        if fact.name != "object":
            yield f"_was({Fun(fact.name if fact.positive else 'absent', fact.args)})."
