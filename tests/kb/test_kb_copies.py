"""Copies of a program: over time, by prefix, and step by step."""

from __future__ import annotations

from obviate.kb import asp
from obviate.kb.copies import Stepped, lasting_predicates, prefixed, stepped, timed
from obviate.kb.program import Program
from obviate.kb.terms import Atom


def program(text: str) -> Program:
    return asp.parse(text, "text")


def test_what_depends_on_nothing_that_changes_is_fixed() -> None:
    text = "big(X) :- tag(X,a). hot(X) :- big(X), state(X,on). on :- hot(_)."
    copy = stepped(program(text), lasting={"tag"}, shared={"state"}, prefix="p_")

    assert copy.texts({}) == (
        "p_big(X) :- tag(X,a).",
        "p_hot(t,X) :- p_big(X); state(t,X,on).\np_on(t) :- p_hot(t,_).",
    )
    assert lasting_predicates(program(text), {"tag"}) == {"tag", "big"}


def test_a_predicate_that_is_asked_for_at_a_step_has_one() -> None:
    copy = stepped(program("goal."), lasting=(), changing={"goal"})
    assert copy.texts({}) == ("", "goal(t).")


def test_what_can_never_fire_is_left_out() -> None:
    text = "a(X) :- tag(X,(red;blue)), state(X,on). b(X) :- do(open(X)). c(X) :- not tag(X,red), state(X,on)."
    copy = stepped(program(text), lasting={"tag"}, shared={"state", "do"})

    def heads(**given: set[str]) -> str:
        return "".join(
            line[0] for line in copy.texts({("tag", 1): given["tag"], ("do", 0): given["do"]})[1].split("\n")
        )

    assert heads(tag={"blue"}, do={"open"}) == "abc"
    assert heads(tag={"green"}, do={"open"}) == "bc"
    assert heads(tag={"red"}, do={"close"}) == "ac"


def test_classical_negation_keeps_its_sign() -> None:
    text = "-cold(X) :- -state(X,off), not -state(X,on)."
    assert timed(program(text)) == "-cold(T,X) :- -state(T,X,off); not -state(T,X,on); time(T)."
    assert prefixed(program(text), "p_") == "-p_cold(X) :- -p_state(X,off); not -p_state(X,on)."


def test_a_growing_program_may_end_anywhere_and_at_the_least_cost() -> None:
    text = (
        "#program step(t). #external end(t). { at(t) } :- end(t). over(t) :- at(t). over(t) :- over(t-1)."
        "#external last(t). :- last(t), not over(t). :- at(t), t < 2. #minimize { 5@2,t : not over(t) }."
    )
    growing = asp.Growing(text, [("at", 1, True)], {})
    growing.ground(*(("step", (step,)) for step in range(4)))
    for atom in [*(Atom("end", (step,)) for step in range(4)), Atom("last", (3,))]:
        growing.assign(atom, True)
    answer = growing.best(seconds=10)
    assert answer is not None
    assert answer.proven
    assert answer.atoms == {Atom("at", (2,))}
    growing.close()


def test_nothing_is_stepped_of_nothing() -> None:
    assert Stepped().texts({}) == ("", "")
