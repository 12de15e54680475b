"""Search over belief graphs: the smallest one, and intent, that make a rule do something, or two packs differ.

Candidates come from `kb/kernel/graphs.lp`, restricted to the names that the rule reads; the pack and the kernel
conclude from them as they do from any graph. What is not found with the number of objects that `bound` tells may
still exist with more.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any

from obviate.engine.backend import KERNEL
from obviate.engine.slice import Slice, object_variables, slice_of
from obviate.engine.standing import Binding
from obviate.engine.wording import CLASSES
from obviate.kb import Action, BeliefGraph, Pack, asp
from obviate.kb.errors import PackError
from obviate.kb.predicates import BELIEFS, MEMBERS
from obviate.kb.program import Rule
from obviate.kb.terms import Atom, Fun, Term, binding_of, quote, term_of_binding
from obviate.kb.vocabulary import Vocabulary

__all__ = [
    "DISTINCT",
    "GOALS",
    "GRAPHS",
    "INPUTS",
    "SMALLEST",
    "Example",
    "action_of",
    "beliefs_of",
    "body_of",
    "bound",
    "candidates",
    "example_of",
    "frame",
    "graph_of",
    "possible",
    "ranks",
    "readable_ids",
    "renamed_example",
    "renamed_graph",
    "satisfiable",
    "smallest",
]

GRAPHS = files("obviate.kb").joinpath("kernel/graphs.lp").read_text(encoding="utf-8")
SMALLEST = files("obviate.kb").joinpath("kernel/smallest.lp").read_text(encoding="utf-8")
INPUTS = [(name, arity, True) for name, arity in {**BELIEFS, "intent": 1}.items()] + [("state", 2, False)]

# What can be asked of a rule R and a binding B, as atoms of the kernel
GOALS: Mapping[str, str] = {
    "opens": "opens({r},B)",  # it opens a record
    "hazard": "hazard({r},B)",
    "trigger": "trigger({r},B)",  # hazard and intent
    "target": "was_pending({r},B), target({r},B)",  # an open record is resolved
    "both": "trigger({r},B), target({r},B)",  # it is resolved at once, so that no record opens
}
_SEVERAL = "{ was_pending({r},B) : _binding(B) } 1."


@dataclass(frozen=True, slots=True)
class Example:
    """A belief graph, and perhaps an intent, for which a rule and a binding do what was asked.

    `proven` unless time ran out before it was sure that nothing is smaller. `earlier` is where a record opened that
    is open now, `age` actions later, if there is one.
    """

    rule: str
    binding: Binding
    intent: Action | None
    graph: BeliefGraph = field(repr=False)
    proven: bool = True
    earlier: Example | None = None
    age: int = 0

    @property
    def beliefs(self) -> tuple[Atom, ...]:
        """What is believed; see `beliefs_of`."""
        return beliefs_of(self.graph)

    @property
    def scene(self) -> dict[str, Any]:
        """The graph as ``Engine(objects=...)`` takes it; what the agent has moved is no part of a scene."""
        patch = BeliefGraph(self.graph.vocabulary).difference(self.graph).to_json()
        return {"nodes": patch.get("add_nodes", []), "edges": patch.get("add_edges", [])}


def beliefs_of(graph: BeliefGraph) -> tuple[Atom, ...]:
    """The beliefs, tags first: a symmetric relation once, `object` only where nothing else is said of it."""
    atoms = [*(atom for name, node in graph.nodes.items() for atom in node.atoms(name))]
    atoms += [edge.atom for edge in graph.edges()]
    said = {arg for atom in atoms if atom.name != "object" for arg in atom.args if isinstance(arg, str)}
    kept = (atom for atom in atoms if atom.name != "object" or atom.args[0] not in said)
    return tuple(sorted(kept, key=lambda atom: (atom.name != "tag", str(atom))))


def bound(pack: Pack, rule: str) -> int:
    """The number of objects that searches for `rule` try at most."""
    return slice_of(pack, rule).bound


def smallest(
    pack: Pack,
    rule: str,
    goal: str = "opens",
    *,
    seconds: float = 5.0,
    objects: int = 0,
    beside: Sequence[str] = (),
    also: str = "",
) -> Example | None:
    """The smallest belief graph and intent for which `goal`, one of `GOALS` or ``any``, is true of `rule`.

    `objects` is another bound; `also` are conditions on the binding, ``_chosen(B)``, that may speak of the rules
    `beside`.

    Different objects for the parts of a binding, and of an intent, are preferred to fewer objects. None when there
    is none with up to `bound` objects. Raises `PackError` (``search-timeout``) when `seconds` do not suffice.
    """
    part, end = slice_of(pack, rule, *beside), time.monotonic() + seconds
    bound = objects or part.bound
    wanted = f"_found(B) :- {_goal(goal, rule)}.\n:- not _found(_).\n1 {{ _chosen(B) : _found(B) }} 1."
    several = _SEVERAL.replace("{r}", rule) if goal == "target" else ""
    fixed = [*frame(part), KERNEL, part.text, wanted, several, also]

    def solve(size: int, *extra: str) -> asp.Answer | None:
        program = "\n".join([*candidates(part, size), *fixed, *extra])
        return asp.search(program, [*INPUTS, ("_chosen", 1, True)], pack.consts, seconds=end - time.monotonic())

    if solve(bound) is None:
        return None
    for apart, most in ((_apart(part), _TIDY_OBJECTS), (DISTINCT, bound), ("", bound)):
        for size in range(1, min(most, bound) + 1):
            answer = solve(size, SMALLEST, *ranks(part), apart)
            if answer is not None:
                return _named(example_of(part, answer.atoms, answer.proven), part, goal)
    return None


def _goal(goal: str, rule: str) -> str:
    """What is asked of a binding; of any at all, nothing."""
    return GOALS[goal].format(r=rule) if goal in GOALS else "_binding(B)"


def possible(
    pack: Pack, rule: str, goals: Iterable[str] = GOALS, *, seconds: float = 5.0
) -> tuple[frozenset[str], frozenset[int]] | None:
    """What some belief graph and intent of up to `bound` objects make true: which of `goals`, and the bodies of
    which of the rules in its slice, by their index. None when `seconds` do not suffice to tell.
    """
    part = slice_of(pack, rule)
    told = [f'_goal("{goal}") :- {GOALS[goal].format(r=rule)}.' for goal in goals]
    told += [f"_fires({i}) :- {body_of(each)}." for i, each in enumerate(part.rules) if each.body]
    lines = [*candidates(part, part.bound), *frame(part), KERNEL, part.text, _SEVERAL.replace("{r}", rule), *told]
    outputs = [("_goal", 1, True), ("_fires", 1, True)]
    try:
        answer = asp.search("\n".join(lines), outputs, pack.consts, seconds=seconds, brave=True)
    except PackError as error:
        if error.code != "search-timeout":
            raise
        return None
    if answer is None or not answer.proven:
        return None
    goals_met = frozenset(str(atom.args[0]) for atom in answer.atoms if atom.name == "_goal")
    return goals_met, frozenset(int(str(atom.args[0])) for atom in answer.atoms if atom.name == "_fires")


def satisfiable(part: Slice, body: str, *, seconds: float) -> bool:
    """Whether the body can be true, given the rest of a slice, on some belief graph of up to `bound` objects."""
    goal = f"_found :- {body}.\n:- not _found."
    lines = [*candidates(part, part.bound), *frame(part), KERNEL, part.text, goal]
    return asp.search("\n".join(lines), [("_found", 0, True)], part.pack.consts, seconds=seconds) is not None


def body_of(rule: Rule) -> str:
    """The text of the body of a rule."""
    return "; ".join(literal.text for literal in rule.body)


# -- programs ------------------------------------------------------------------------------------

_TIDY_OBJECTS = 4  # with more, an example is not made tidier than it must be
_SAID = """
_said(X) :- tag(X,_).
_said(X) :- state(X,_).
_said(X) :- edge(_,X,_).
_said(Y) :- edge(_,_,Y).
"""
DISTINCT = ":- _chosen(B), _alike(B).\n:- intent(A), _alike(A).\n"


def _apart(part: Slice) -> str:
    """Different objects in different places: for the variables of each rule, and a plain one where no rule looks."""
    lines = [DISTINCT, _SAID]
    for rule in part.rules:
        pairs = itertools.combinations(object_variables(rule), 2)
        chosen = f"; _chosen({rule.head.args[1].text})" if rule.head and rule.head.name in MEMBERS else ""
        lines += [f":- {body_of(rule)}{chosen}; {x} = {y}." for x, y in pairs if rule.body]
    variables = _tuple(part.arity)
    for skill, index in part.idle:
        arguments = [f"Y{i}" for i in range(part.vocabulary.skills[skill])]
        intent = f"intent({skill}({','.join(arguments)}))"
        lines.append(f":- {intent}, _said(Y{index}).")
        lines += [f":- {intent}, _chosen({variables}), Y{index} = {x}." for x in _variables(part.arity)]
    return "\n".join(lines)


def candidates(part: Slice, size: int, *, skills: Iterable[str] = ()) -> Iterator[str]:
    """The program that generates the graphs of up to `size` objects, and intents, that a slice tells apart."""
    vocabulary = part.vocabulary
    yield GRAPHS
    yield from (f"_place({i},{quote(f'object_{i}')})." for i in range(1, size + 1))
    yield from (f"_given({quote(name)})." for name in part.objects)
    named = {
        "_tag": part.reads("tag"),
        "_state": part.reads("state"),
        "_absent": part.reads("state", positive=False),
        "_relation": part.reads("edge"),
        "_quantity": part.reads("value"),
        "_symmetric": sorted(vocabulary.symmetric),
        "_support": sorted(vocabulary.supports),
    }
    yield from (f"{sort}({name})." for sort, names in named.items() for name in names)
    if part.reads("value"):
        yield from (f"_number({n})." for n in part.numbers)
    if part.moving:
        yield "_moving."
    yield "".join(f"_binding({_tuple(part.arity)}) :- {_domain(part.arity)}.")
    yield _alike(_tuple(part.arity), part.arity)
    for skill in dict.fromkeys([*part.skills, *skills]):
        arity = vocabulary.skills[skill]
        yield f"_action({Action(skill).term}{_arguments(arity)}) :- {_domain(arity)}."
        yield _alike(f"{skill}{_arguments(arity)}", arity)


def frame(part: Slice) -> Iterator[str]:
    """What the kernel needs to know about the rules with records, and the constants of the pack."""
    yield from (f"rule({rule.name},{rule.mode})." for rule in part.judged)
    names = {Fun(rule.name) for rule in part.judged}
    yield from (f"{fact}." for fact in part.pack.frame if fact.args[0] in names)
    yield from (other.text for other in part.pack.program.others if other.kind == "definition")


def ranks(part: Slice) -> Iterator[str]:
    """The names that a slice reads in their order, its numbers, and the intents by their skills."""
    names = [*part.reads("tag"), *part.reads("state"), *part.reads("state", positive=False), *part.reads("edge")]
    yield from (f"_rank({i},{name})." for i, name in enumerate(dict.fromkeys(names)))
    yield from (f"_rank({i},{n})." for i, n in enumerate(part.numbers))
    for i, skill in enumerate(part.skills):
        arity = part.vocabulary.skills[skill]
        yield f"_turn({i},{skill}{_arguments(arity)}) :- {_domain(arity)}."


def _variables(arity: int) -> list[str]:
    return [f"X{i}" for i in range(arity)]


def _arguments(arity: int) -> str:
    return f"({','.join(_variables(arity))})" if arity else ""


def _tuple(arity: int) -> str:
    return "X0" if arity == 1 else _arguments(arity) or "()"


def _domain(arity: int) -> str:
    return ", ".join(f"object({x})" for x in _variables(arity)) or "#true"


def _alike(term: str, arity: int) -> str:
    """Which of the terms have a part twice."""
    pairs = itertools.combinations(_variables(arity), 2)
    return "".join(f"_alike({term}) :- {_domain(arity)}, {x} = {y}.\n" for x, y in pairs)


# -- examples ------------------------------------------------------------------------------------


def example_of(part: Slice, atoms: Iterable[Atom], proven: bool) -> Example:
    """The example that the output atoms of a search tell."""
    binding: Binding = ()
    intent, beliefs = None, []
    for atom in atoms:
        if atom.name == "_chosen":
            binding = binding_of(atom.args[0])
        elif atom.name == "intent":
            intent = action_of(atom.args[0])
        else:
            beliefs.append(atom)
    return Example(part.rule.name, binding, intent, graph_of(beliefs, part.vocabulary), proven)


def action_of(term: Term) -> Action:
    """The action that a term stands for."""
    assert isinstance(term, Fun)
    return Action(term.name, tuple(map(str, term.args)))


def graph_of(beliefs: Iterable[Atom], vocabulary: Vocabulary) -> BeliefGraph:
    """The belief graph of these atoms. Raises `PatchError` when they make up no graph."""
    nodes: dict[str, dict[str, Any]] = {}
    edges, moved = [], []
    for atom in sorted(beliefs, key=lambda atom: (atom.name != "object", str(atom))):
        first, *rest = atom.args
        node = nodes.setdefault(str(first), {"node_id": str(first)}) if atom.name != "edge" else {}
        match atom.name:
            case "tag":
                node.setdefault("tags", []).append(str(rest[0]))
            case "state":
                node.setdefault("states" if atom.positive else "absent", []).append(str(rest[0]))
            case "value":
                node.setdefault("values", {})[str(rest[0])] = rest[1]
            case "moved":
                moved.append(str(first))
            case "edge":
                edges.append({"pred": str(first), "src": rest[0], "dst": rest[1]})
    graph = BeliefGraph.of(vocabulary, {"nodes": [*nodes.values()], "edges": edges})
    for name in moved:
        graph = graph.with_moved(name)
    return graph


def _named(example: Example, part: Slice, goal: str) -> Example:
    """The example with ids that say what an object is, unless the rule cares about the ids."""
    renamed, rule = renamed_example(example, readable_ids(example, part)), part.rule.name
    facts = [*renamed.graph.facts(), *([Atom("intent", (renamed.intent.term,))] if renamed.intent else ())]
    if goal == "target":
        facts.append(Atom("was_pending", (Fun(rule), term_of_binding(renamed.binding))))
    asked = f"_found(B) :- {_goal(goal, rule)}."
    program = [*frame(part), KERNEL, part.text, asked]
    found = asp.evaluate(program, facts, [("_found", 1, True)], part.pack.consts)
    return renamed if Atom("_found", (term_of_binding(renamed.binding),)) in found else example


def readable_ids(example: Example, part: Slice) -> dict[str, str]:
    """An id for each object that says what it is: those of the pack stay."""
    names = {name: name for name in part.objects}
    counts: dict[str, int] = {}
    for name in [*example.binding, *(example.intent.args if example.intent else ()), *sorted(example.graph.nodes)]:
        if name not in names:
            word = _word(name, example.graph, part)
            counts[word] = counts.get(word, 0) + 1
            names[name] = f"{word}_{counts[word]}"
    return names


def renamed_example(example: Example, names: Mapping[str, str]) -> Example:
    """The example with other ids for its objects."""
    intent = example.intent and replace(example.intent, args=tuple(names[arg] for arg in example.intent.args))
    return replace(
        example,
        binding=tuple(names[name] for name in example.binding),
        intent=intent,
        graph=renamed_graph(example.graph, names),
        earlier=example.earlier and renamed_example(example.earlier, names),
    )


def renamed_graph(graph: BeliefGraph, names: Mapping[str, str]) -> BeliefGraph:
    """The graph with other ids for its objects."""

    def new(term: Term) -> Term:
        return names.get(term, term) if isinstance(term, str) else term

    return graph_of([atom._replace(args=tuple(map(new, atom.args))) for atom in graph.facts()], graph.vocabulary)


def _word(name: str, graph: BeliefGraph, part: Slice) -> str:
    """What an object is called by: the first of its tags that the rule reads, without its class; or a state."""
    node = graph.nodes[name]
    tag = next((tag for tag in part.reads("tag") if tag in node.tags), "")
    state = next((state for state in part.reads("state") if state in node.states), "object")
    head, _, rest = tag.partition("_")
    return (rest if rest and head in CLASSES else tag) or state
