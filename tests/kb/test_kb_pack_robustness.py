"""Packs come from models and strangers: any text loads or is refused, and nothing kills or blocks the process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from kb_sandbox import Sandbox

FINE = {"loaded", "refused"}
NO_SHRINKING = [Phase.explicit, Phase.reuse, Phase.generate]  # a child that dies takes half a second to replace


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    sandbox = Sandbox()
    yield sandbox
    sandbox.close()


# Pieces that a pack may or may not contain. None computes new terms, so that none grounds for ever.
_ATOMS_TEXT = r"""
    object(X)  tag(X,soil)  state(X,dusty)  -state(X,dusty)  edge(ontop,X,Y)  value(X,_,N)  moved(X)  p(X)  -p(X)  q(X)
    rule(a,temporal)  rule(a,situational)  -rule(a,temporal)  rule((a;b),temporal)  severity(a,advisory)
    principle(a,"s")  deadline(a,within(2))  -deadline(a,before_done)  hazard(a,X)  -hazard(a,X)  hazard(b,(X,Y))
    hazard(a,())  threatens(a,X)  threatens(R,X)  resolved(a,X)  pending(a,X)  intent(open(X))  executed(done)
    hazard(X)  state(X,shiny)  p(@f(1))  p(a;b)  p((X,))  p(#sup)  p("\"")  failed(a,X)  _p(X)
"""
_ATOMS = st.sampled_from(_ATOMS_TEXT.split())
_LITERALS = st.builds(
    str.format,
    st.sampled_from(["{0}", "{0}", "{0}", "not {0}", "not not {0}", "{0} : {1}", "1 < #count {{ X : {0}, {1} }}"]),
    _ATOMS,
    _ATOMS,
)
_HEADS = _ATOMS | _ATOMS | st.sampled_from(["", "{ p(X) }", "p(X) ; q(X)", "&t { }", "#external p(X)", "#show p(X)"])
_RULES = st.builds(
    lambda head, body: f"{head} :- object(X), {', '.join(body)}.", _HEADS, st.lists(_LITERALS, min_size=1, max_size=2)
)
_FACTS = st.builds("{}.".format, _HEADS)
_OTHERS = st.sampled_from(
    ["#const a = 3.", "#const temporal = b.", "#const p = b.", "#show p/1.", "#show.", "#program p."]
)
_OTHERS |= st.sampled_from(
    ["%* ", " *%", '"', "#script (lua)", "#end.", "#include", "#defined p/1.", "@", "}", "\n", "\r", "."]
)
_STARTS = st.sampled_from(["", "rule(a,temporal). hazard(a,X) :- object(X). p(1). q(1)."])
_PROGRAMS = st.builds(
    lambda *parts: " ".join([parts[0], *parts[1]]), _STARTS, st.lists(_RULES | _FACTS | _OTHERS, max_size=3)
)


@settings(max_examples=300, phases=NO_SHRINKING)
@given(_PROGRAMS)
def test_any_program_loads_or_is_refused(sandbox: Sandbox, text: str) -> None:
    assert sandbox.load(text) in FINE


@settings(max_examples=200, phases=NO_SHRINKING)
@given(st.text(max_size=30) | st.text('abX()".,:-;#%*@{}\n\\ \0é', max_size=30))
def test_any_text_loads_or_is_refused(sandbox: Sandbox, text: str) -> None:
    assert sandbox.load(text) in FINE


@pytest.mark.parametrize("text", ["p(é).", "é", "\ufeffp(1).", "p :- object(皿)."])
def test_letters_beyond_ascii_outside_strings_are_refused(sandbox: Sandbox, text: str) -> None:
    assert sandbox.load(text) == "refused"


@pytest.mark.parametrize("value", ["", "(", "1 2", "X", "é", "f(", '"', "a b", "\0", "%", "1."])
def test_any_const_is_a_term_or_refused(sandbox: Sandbox, value: str) -> None:
    assert sandbox.load("#const n = 1. p(n).", {"n": value}) == "refused"


NESTED = [("f(", ")"), ("(", ")"), ("(1,", ")"), ("-", ""), ("1+", ""), ("2**", ""), ("|", "|")]


@pytest.mark.parametrize(("depth", "opening", "closing"), [(10_000, "f(", ")"), *((100_000, *pair) for pair in NESTED)])
def test_terms_nested_deeply_load_or_are_refused(sandbox: Sandbox, depth: int, opening: str, closing: str) -> None:
    assert sandbox.load(f"p({opening * depth}1{closing * depth}).") in FINE


def test_a_pack_that_would_be_ground_for_ever_is_refused(sandbox: Sandbox) -> None:
    assert sandbox.load("p(0). p(N + 1) :- p(N).", seconds=1) == "refused"


@pytest.mark.parametrize("range_", ["1..100000000", "-2..2000000000"])
def test_a_range_too_wide_to_be_ground_is_refused(sandbox: Sandbox, range_: str) -> None:
    assert sandbox.load(f"p({range_}).", seconds=1) == "refused"
