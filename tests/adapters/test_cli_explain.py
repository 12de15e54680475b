"""`obviate explain`: what it prints, as text and as JSON, and wrong use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from obviate.adapters.cli import main
from obviate.adapters.cli.explanation import list_rules, tell_rule
from obviate.engine.search import graph_of, smallest
from obviate.kb import Pack, asp, household

Output = pytest.CaptureFixture[str]


def explained(pack: Pack, rule: str, capsys: Output) -> str:
    tell_rule(pack, rule, json=False)
    return capsys.readouterr().out


def of(text: str) -> Pack:
    return Pack.of(text, vocabulary=household.vocabulary())


def test_a_rule_is_told_from_its_principle_to_a_test(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = explained(household.pack(), "food_on_clean", capsys)
    order = [
        "food_on_clean (situational)",
        "Place food only on clean surfaces",
        "a container or a surface",
        "Hazard",
        "Y is dusty, stained, muddy or dirty",
        "Threat",
        "Trigger",
        "Target",
        "Y is not believed to be dusty",
        "Deadline",
        "The smallest scene",
        "container_1 is dusty",
        "intends place_on_top(food_1, container_1)",
        "What then resolves it",
        "container_1 was seen not to be dusty",
        'test(smallest_food_on_clean, "',
        'intend(place_on_top("food_1","container_1"))',
        'expect(smallest_food_on_clean, 1, trigger(food_on_clean,("food_1","container_1"))).',
    ]
    places = [text.find(part) for part in order]
    assert -1 not in places
    assert places == sorted(places)
    prose = text.partition("test(smallest")[0]
    assert max(map(len, prose.splitlines())) <= 80


@pytest.mark.parametrize("rule", household.pack().rules)
def test_every_household_rule_is_explained_with_facts_that_are_asp(rule: str, capsys: Output) -> None:
    tell_rule(household.pack(), rule, json=True)
    data = json.loads(capsys.readouterr().out)
    assert data["rule"] == rule
    assert data["hazard"]
    assert len(data["example"]["words"]) == len(data["example"]["beliefs"])
    facts = asp.parse(data["test"], "test").rules
    assert {fact.head.name for fact in facts if fact.head} >= {"test", "given", "expect"}
    example = smallest(household.pack(), rule)
    assert example is not None
    believed = asp.evaluate([f"{atom}." for atom in data["example"]["beliefs"]], (), [("tag", 2, True)])
    assert believed <= set(graph_of(example.beliefs, household.vocabulary()).facts())


def test_a_moved_object_is_moved_in_the_test(capsys: Output) -> None:
    tell_rule(household.pack(), "fragile_low", json=True)
    test = json.loads(capsys.readouterr().out)["test"]
    assert 'execute(place_inside("fragile_1","storage_1"))' in test
    assert 'step(smallest_fragile_low, 2, observe(edge(inside,"fragile_1","storage_1"))).' in test
    assert "expect(smallest_fragile_low, 2," in test


def test_a_rule_that_nothing_triggers_says_how_far_was_searched(capsys: Output) -> None:
    pack = of("rule(r, temporal). hazard(r, X) :- edge(ontop,X,X).")
    assert "No belief graph of up to 4 objects triggers it." in explained(pack, "r", capsys)
    tell_rule(pack, "r", json=True)
    assert json.loads(capsys.readouterr().out)["example"] is None


def test_names_are_data_on_the_screen(capsys: Output) -> None:
    pack = of('rule(r, temporal). principle(r, "[red]Mind[/red] [/]"). hazard(r, "[bold]s") :- state("[bold]s", open).')
    text = explained(pack, "r", capsys)
    assert "[red]Mind[/red] [/]" in text
    assert "[bold]s is open" in text
    assert 'state("[bold]s",open)' in text
    list_rules(pack, json=False)
    assert "[red]Mind[/red]" in capsys.readouterr().out


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["obviate", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_the_command_lists_explains_and_refuses(
    capsys: Output, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert command(monkeypatch, "explain", "household") == 0
    assert "storage_closed" in capsys.readouterr().out
    assert command(monkeypatch, "explain", "household", "--json") == 0
    assert len(json.loads(capsys.readouterr().out)) == len(household.pack().rules)
    assert command(monkeypatch, "explain", "household", "storage_close") == 2
    assert "did you mean 'storage_closed'?" in capsys.readouterr().err
    (tmp_path / "words.lp").write_text("quantity(temperature, celsius).")
    (tmp_path / "cold.lp").write_text(
        "rule(cold, temporal). hazard(cold, X) :- value(X, temperature, T), T > -15. deadline(cold, within(2))."
    )
    words = ("--vocabulary", str(tmp_path / "words.lp"))
    assert command(monkeypatch, "explain", str(tmp_path / "cold.lp"), "cold", *words) == 0
    out = capsys.readouterr().out
    assert "T is greater than -15" in out
    assert "within 2 actions after the trigger" in out
