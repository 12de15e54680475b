"""A language model as a planner: a prompt, and an answer that can only name skills and objects that there are.

The three styles are those that the JIT-Memory paper compares (Appendix 0.B.3): the plain prompt of IS-Bench, one that
thinks of safety first, and one that is given working memory, triggered rules and experience.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from obviate.compilers.aliases import Aliases
from obviate.compilers.decoder import Decoder, Message
from obviate.compilers.planning.wording import STYLES, Style, system
from obviate.compilers.prompt import section
from obviate.compilers.spec import Json, closed, read_json
from obviate.engine.experience.retrieval import Reminder
from obviate.engine.loop import Context, Guidance, Move, Turn
from obviate.engine.record import Record, Trigger
from obviate.kb.action import DONE, Action
from obviate.kb.belief import BeliefGraph
from obviate.kb.errors import DecodeError, nearest, visible

__all__ = ["LanguagePlanner"]

ATTEMPTS = 2  # the answer, and one correction
RECENT = 20  # turns of the history that are told
WORDS = 400  # characters of what a model may say besides


def _nothing(context: Context) -> Sequence[Reminder]:
    return ()


@dataclass(frozen=True)
class LanguagePlanner:
    """A `Planner` that asks `decoder` at every decision.

    `style` is ``plain``, ``cautious`` (thinks before it acts) or ``memory``; only the last is told the tags, and what
    `recall` remembers for a context, such as `Retrieval.remind` of a memory. `data` is further data for the prompt, by
    name, such as ``goals`` or ``abilities``. `tell` hears what was refused before it was corrected. What the guard
    tells (guidance, obligations, failures, bans) is in every style. Raises `DecodeError` (``style-unknown``).
    """

    decoder: Decoder
    style: Style = "memory"
    recall: Callable[[Context], Sequence[Reminder]] = _nothing
    data: Mapping[str, Any] = field(default_factory=dict)
    max_tokens: int = 400
    temperature: float = 0.0
    seed: int | None = None
    tell: Callable[[str], None] = field(default=lambda refusal: None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.style not in STYLES:
            message = f"there is no style {self.style!r}"
            raise DecodeError("style-unknown", message, where="style", help=nearest(self.style, STYLES))

    def act(self, context: Context) -> Move:
        """The model's action and the intent after it.

        Raises `DecodeError`: ``planner-refused`` when the corrected answer is none either, or as the decoder.
        """
        graph = context.graph
        offered = sorted(graph.nodes)
        aliases = Aliases.of([*offered, *context.assignment.objects, *_mentioned(context)])
        hoped = sorted({*offered, *context.assignment.objects})  # an intent may be about what is still to be found
        shown = ([aliases.shown[name] for name in names] for names in (offered, hoped))
        spec = Json(_schema(self.style, graph, *shown))
        messages = [
            Message("system", system(self.style, graph.vocabulary)),
            Message("user", "\n".join(self._sections(context, aliases, offered))),
        ]
        answer, calls = self._ask(messages, spec)
        names = {shown: name for name, shown in aliases.shown.items()}
        action, intent = _action(answer["action"], names), _action(answer["intent"], names)
        note = visible(str(answer.get("prevention", answer.get("caution", ""))))
        return Move(action, None if action == DONE else intent, calls=calls, note=note)

    def _ask(self, messages: list[Message], spec: Json) -> tuple[dict[str, Any], int]:
        """An answer within the spec, and how often the model was asked."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                text = self.decoder.decode(
                    messages, spec, max_tokens=self.max_tokens, seed=self.seed, temperature=self.temperature
                )
                return _read(text), attempt
            except DecodeError as error:
                if not error.code.startswith("answer-"):  # to ask once more would not help
                    raise
                refusal = error
            self.tell(str(refusal))
            said = section("mistake", {"message": refusal.message, "help": refusal.help})
            messages = [*messages, Message("user", f"Your answer could not be read. Answer again, corrected.\n{said}")]
        raise DecodeError(
            "planner-refused",
            f"the model gave no action, asked {ATTEMPTS} times: {refusal.message}",
            where=str(refusal.where),
            help="use another model, or allow more tokens",
        ) from refusal

    # -- what is told ----------------------------------------------------------------------------

    def _sections(self, context: Context, aliases: Aliases, offered: Sequence[str]) -> list[str]:
        shown, assignment = aliases.shown, context.assignment
        unseen = [name for name in assignment.objects if name not in context.graph]
        kinds = {shown[name]: assignment.objects.get(name, "") for name in offered}
        beliefs = aliases.beliefs(context.graph)
        if self.style != "memory":
            beliefs["nodes"] = [{k: v for k, v in node.items() if k != "tags"} for node in beliefs["nodes"]]
        parts: dict[str, Any] = {
            "task": assignment.text,
            "objects": kinds,
            "unseen": [shown[name] for name in unseen],
            **self.data,
            "beliefs": beliefs,
            "history": [_told(turn, shown) for turn in context.history[-RECENT:]],
            "intended": _shown(context.intent, shown) if context.intent else "",
            "triggered": [_guidance(one, shown) for one in context.guidance],
            "obligations": [_rule(one, shown) for one in context.obligations],
            "failure": context.feedback,
            "refused": sorted(_shown(action, shown) for action in context.banned),
        }
        if self.style == "memory":
            found = [{"rule": one.rule, "skill": one.skill, "case": one.case} for one in self.recall(context)]
            parts["experience"] = found
        always = {"task", "objects", "beliefs", "history"}
        return [section(name, value) for name, value in parts.items() if value or name in always]


def _mentioned(context: Context) -> set[str]:
    """The ids in all that is told of actions and rules."""
    actions = [turn.move.action for turn in context.history[-RECENT:]]
    actions += [context.intent] if context.intent else []
    actions += [one.action for one in context.guidance if one.action]
    actions += context.banned
    rules: list[Trigger | Record] = [one.trigger for one in context.guidance]
    rules += context.obligations
    return {name for action in actions for name in action.args} | {name for rule in rules for name in rule.binding}


def _shown(action: Action, shown: Mapping[str, str]) -> str:
    return str(Action(action.skill, tuple(shown[name] for name in action.args)))


def _told(turn: Turn, shown: Mapping[str, str]) -> dict[str, Any]:
    outcome = turn.failure or ("done" if turn.executed else "not carried out")
    return {"action": _shown(turn.move.action, shown), "outcome": outcome}


def _rule(one: Trigger | Record, shown: Mapping[str, str]) -> dict[str, Any]:
    return {"rule": one.rule, "objects": [shown[name] for name in one.binding], "principle": one.principle}


def _guidance(one: Guidance, shown: Mapping[str, str]) -> dict[str, Any]:
    told = _rule(one.trigger, shown)
    if one.action is not None:
        told["action"] = _shown(one.action, shown)
    told |= {"before": one.target, "because": list(one.grounds)}
    return told | ({"advice": True} if one.trigger.advisory else {})


# -- what may be answered ----------------------------------------------------------------------------


def _schema(style: Style, graph: BeliefGraph, known: Sequence[str], hoped: Sequence[str]) -> dict[str, Any]:
    """An action over the skills and the known objects, and an intent that may hope for others; before them, words."""
    first = "prevention" if style == "cautious" else "caution"
    lists = {"known": known, "hoped": hoped}
    properties = {
        first: {"type": "string", "maxLength": WORDS},
        "action": _step(graph, "known" if known else ""),
        "intent": _step(graph, "hoped" if hoped else ""),
    }
    definitions = {name: {"type": "string", "enum": list(names)} for name, names in lists.items() if names}
    return {**closed(**properties), **({"$defs": definitions} if definitions else {})}


def _step(graph: BeliefGraph, names: str) -> dict[str, Any]:
    """Any skill, with objects from the definition `names`; without one, a skill that needs none."""
    by_arity: dict[int, list[str]] = {}
    for skill, arity in graph.vocabulary.skills.items():
        if names or not arity:
            by_arity.setdefault(arity, []).append(skill)
    return {"anyOf": [_choice(skills, arity, names) for arity, skills in sorted(by_arity.items())]}


def _choice(skills: Sequence[str], arity: int, names: str) -> dict[str, Any]:
    slots = {slot: {"$ref": f"#/$defs/{names}"} for slot in _slots(arity)}
    return closed(skill={"type": "string", "enum": list(skills)}, **slots)


def _read(text: str) -> dict[str, Any]:
    """The answer as data; decoders promise its shape, and are not believed."""
    value = read_json(text)
    try:
        for part in ("action", "intent"):
            if not all(isinstance(item, str) for item in (value[part]["skill"], *value[part].values())):
                raise TypeError
    except (KeyError, TypeError, AttributeError):
        raise DecodeError("answer-malformed", "the answer has no action", help="the spec was not followed") from None
    return dict(value)


def _action(answer: Mapping[str, str], names: Mapping[str, str]) -> Action:
    """The action with the ids put back. What is unknown stays as it is, for the loop to say so."""
    given = (answer[slot] for slot in _slots(len(answer)) if slot in answer)
    return Action(answer["skill"], tuple(names.get(name, name) for name in given))


def _slots(arity: int) -> list[str]:
    return [f"object_{i}" for i in range(1, arity + 1)]
