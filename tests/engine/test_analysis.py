"""What the analysis of a pack finds, and that it finds nothing where nothing is wrong."""

from __future__ import annotations

import time

import packs_strategies as ps
import pytest
from hypothesis import given, settings

from obviate.engine.analysis import analysis
from obviate.engine.search import possible, smallest
from obviate.kb import Pack, household
from obviate.kb.errors import Span

HOUSEHOLD = household.folder / "packs" / "household.lp"


def found(text: str) -> list[tuple[str, str, int]]:
    """The findings on a pack: code, severity and line."""
    findings = analysis(Pack.of(text, vocabulary=ps.VOCABULARY))
    assert all(finding.help for finding in findings)
    return [(f.code, f.severity, f.where.line) for f in findings if isinstance(f.where, Span)]


def test_the_household_pack_has_no_finding_in_little_time() -> None:
    pack = Pack.load(HOUSEHOLD, vocabulary=household.vocabulary())
    before = time.process_time()
    assert analysis(pack) == []
    assert time.process_time() - before < 1.5  # 0.09 s on an idle machine; this one may be busy


SITUATIONAL = """rule(r, situational).
hazard(r, (X,Y)) :- {hazard}.
threatens(r, (X,Y)) :- {threat}.
resolved(r, (X,Y)) :- {target}.
{more}"""
FINE = {
    "hazard": "tag(X, safety_food), state(Y, dusty), tag(Y, function_surface)",
    "threat": "intent(place_on_top(X,Y))",
    "target": "pending(r, (X,Y)), not state(Y, dusty)",
    "more": "",
}


def test_a_rule_without_fault_has_no_finding() -> None:
    assert found(SITUATIONAL.format(**FINE)) == []


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"hazard": "tag(X, safety_food), state(Y, dusty), -state(Y, dusty)"}, [("never-hazard", "error", 2)]),
        ({"hazard": "edge(ontop,X,Y), edge(ontop,Y,X)"}, [("never-hazard", "error", 2)]),
        ({"hazard": "value(X,weight,N), object(Y), N > 4, N < 5"}, [("never-hazard", "error", 2)]),
        ({"hazard": "value(X,weight,N), object(Y), N*N = 50"}, [("never-hazard", "warning", 2)]),
        ({"hazard": "edge(ontop,X,Y), #count{ Z : edge(ontop,Z,Y) } > 9"}, [("never-hazard", "warning", 2)]),
        ({"hazard": "edge(ontop,X,Y), big(Y)", "more": "big(Y) :- object(Y), #false."}, "never-hazard never-holds"),
        ({"threat": "intent(place_on_top(X,Y)), not state(Y, dusty)"}, [("never-threatens", "error", 3)]),
        ({"hazard": "edge(ontop,X,Y)", "threat": "intent(wipe(X,Y)), X = Y"}, [("never-threatens", "error", 3)]),
        ({"target": "pending(r, (X,Y)), state(Y, hot), -state(Y, hot)"}, [("never-resolved", "warning", 4)]),
        ({"target": "pending(r, (X,Y)), state(Y, wet)"}, [("hazard-with-target", "warning", 4)]),
        ({"target": "pending(r, (X,Y)), state(Y, dusty)"}, [("hazard-with-target", "error", 4)]),
        ({"more": "hazard(r, (X,X)) :- edge(ontop,X,X)."}, [("never-holds", "warning", 5)]),
        ({"more": "#const on = 0.\nhazard(r, (X,Y)) :- edge(ontop,X,Y), on = 1."}, []),
    ],
)
def test_findings_name_what_is_wrong_and_where(
    changed: dict[str, str], expected: list[tuple[str, str, int]] | str
) -> None:
    findings = found(SITUATIONAL.format(**{**FINE, **changed}))
    if isinstance(expected, str):
        assert [code for code, _, _ in findings] == expected.split()
    else:
        assert findings == expected


def test_a_hazard_that_always_holds_is_never_resolved() -> None:
    assert found("rule(r, temporal). hazard(r, ()).") == [("never-resolved", "warning", 1)]


def test_the_smallest_graph_is_in_the_message_and_the_bound_too() -> None:
    text = SITUATIONAL.format(**{**FINE, "target": "pending(r, (X,Y)), state(Y, wet)"})
    (finding,) = analysis(Pack.of(text, vocabulary=ps.VOCABULARY))
    assert 'state("surface_1",wet)' in finding.message
    assert "place_on_top(food_1, surface_1)" in finding.message
    (finding,) = analysis(Pack.of("rule(r, temporal). hazard(r, X) :- edge(ontop,X,X).", vocabulary=ps.VOCABULARY))
    assert "up to 4 objects" in finding.message


@pytest.mark.parametrize(
    ("body", "excluding"),
    [
        ("tag(X,safety_food), state(X,wet), object(X), -state(X,wet)", "state(X,wet); -state(X,wet)"),
        ("value(X,weight,N), tag(X,safety_food), N > 4, N < 5", "value(X,weight,N); N > 4; N < 5"),
        ("state(X,wet), edge(ontop,X,Y), edge(inside,Y,X)", "edge(ontop,X,Y); edge(inside,Y,X)"),
        ("state(X,wet), edge(ontop,X,X)", "edge(ontop,X,X)"),
        ("state(X,wet), not object(X)", "not object(X)"),
    ],
)
def test_the_conditions_that_exclude_each_other_are_named(body: str, excluding: str) -> None:
    (finding,) = analysis(Pack.of(f"rule(r, temporal). hazard(r, X) :- {body}.", vocabulary=ps.VOCABULARY))
    assert finding.help == f"nothing makes this true: {excluding}"


def test_the_faults_that_the_household_pack_had_are_found_again() -> None:
    text = HOUSEHOLD.read_text(encoding="utf-8")
    for guard in (",\n    not tag(Y, surface_high)", ",\n    not tag(Y, function_heat_source)"):
        assert guard in text
        (finding,) = analysis(Pack.of(text.replace(guard, ""), vocabulary=household.vocabulary()))
        assert finding.code == "hazard-with-target"


def test_without_time_it_says_so() -> None:
    pack = Pack.of("rule(r, temporal). hazard(r, X) :- edge(ontop,X,X).", vocabulary=ps.VOCABULARY)
    (finding,) = analysis(pack, seconds=0)
    assert (finding.code, finding.severity) == ("search-timeout", "warning")


def test_where_nothing_is_found_in_time_it_is_told_and_nothing_raised() -> None:
    pack = Pack.load(HOUSEHOLD, vocabulary=household.vocabulary())
    assert [possible(pack, rule, seconds=1e-9) for rule in pack.rules].count(None) > 0
    for seconds in (1e-3, 1e-2):
        for finding in analysis(pack, seconds=seconds):
            assert (finding.code, finding.severity) == ("search-timeout", "warning")


@settings(max_examples=25)
@given(ps.pack_texts())
def test_findings_agree_with_the_smallest_examples(texts: list[str]) -> None:
    pack = ps.pack(texts[0])
    findings = analysis(pack, seconds=20)
    idle = {f.message.split(" of ")[2].split()[0] for f in findings if f.code in ("never-hazard", "never-threatens")}
    for rule in pack.rules:
        if smallest(pack, rule, "trigger", seconds=20) is not None:
            assert rule not in idle


def test_long_chains_of_helpers_are_searched() -> None:
    chain = "\n".join(f"h{i}(X) :- h{i + 1}(X)." for i in range(300))
    text = "rule(r, temporal). hazard(r, X) :- h0(X).\n" + chain + "\nh300(X) :- state(X, dusty), -state(X, dusty)."
    codes = {finding.code for finding in analysis(Pack.of(text, vocabulary=ps.VOCABULARY))}
    assert "never-hazard" in codes
