"""Cases as text for prompts: what was there, what was intended, what was done, and that it did."""

from __future__ import annotations

from collections.abc import Iterator

from obviate.kb.action import Action
from obviate.kb.experience.case import Case
from obviate.kb.experience.skill import shown

__all__ = ["case_text", "tokens"]

BYTES_PER_TOKEN = 3  # fewer than any tokenizer needs for English, so that a budget is kept whoever counts


def tokens(text: str) -> int:
    """About how many tokens a text is to a language model; rather too many."""
    return -(-len(text.encode()) // BYTES_PER_TOKEN)


def case_text(case: Case, *, brief: bool = False) -> str:
    """A verified success in words; `brief` leaves out what its slots stand for."""
    lines = [f"Verified {'evasion' if case.outcome == 'evaded' else 'success'}:"]
    if case.intent:
        lines.append(f"Intended: {shown(Action.parse(case.intent))}")
    if not brief:
        lines += [f"{{{name}}}: {', '.join(facts)}" for name, facts in _objects(case)]
    done = [shown(deed.parsed) for deed in case.deeds if not deed.failure]
    lines.append(f"Done: {'; '.join(done) or 'nothing'}")
    return "\n".join(lines)


def _objects(case: Case) -> Iterator[tuple[str, list[str]]]:
    """The slots that the text names, with their tags, states and relations at the trigger."""
    actions = [deed.parsed for deed in case.deeds] + ([Action.parse(case.intent)] if case.intent else [])
    named = dict.fromkeys([*case.binding, *(name for action in actions for name in action.args)])
    states = {node.node_id: node.states for node in case.scene.add_nodes}
    for name in named:
        links = [f"{edge.pred} {{{edge.dst}}}" for edge in case.scene.add_edges if edge.src == name]
        facts = [*sorted(case.tags.get(name, ())), *states.get(name, ()), *links]
        yield name, facts or ["an object"]
