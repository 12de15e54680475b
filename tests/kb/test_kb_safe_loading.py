"""Packs of strangers: nothing is run, no file is read, and what would take for ever is stopped within its limit."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from conftest import SOAK

from obviate.adapters.cli.packs import pack_files
from obviate.kb import Pack, household
from obviate.kb.errors import DataError, ObviateError, PackError, Span
from obviate.kb.sandbox import run_limited

RULE = 'rule(shut, temporal).\nprinciple(shut, "Close it.").\nhazard(shut, X) :- state(X, open).\n'


def load(*files: Path) -> Pack:
    return Pack.load(*files, vocabulary=household.vocabulary())


def refusal(text: str) -> PackError:
    with pytest.raises(PackError) as refused:
        Pack.of(text, vocabulary=household.vocabulary())
    return refused.value


# -- a process of its own --------------------------------------------------------------------------


def test_a_result_comes_back() -> None:
    assert run_limited("builtins:sorted", [3, 1, 2], seconds=20, megabytes=1_000) == [1, 2, 3]


@pytest.mark.parametrize(
    ("target", "args", "said"),
    [
        ("time:sleep", (60,), "over 0.5 s"),
        ("obviate.kb.asp:evaluate", (["p(0). p(X+1) :- p(X)."], (), ()), "over 0.5 s"),  # within clingo
        ("builtins:bytearray", (3_000_000_000,), "over 1000 MB"),
        ("os:abort", (), "process ended"),
    ],
)
def test_what_takes_too_much_is_stopped_and_told(target: str, args: tuple[object, ...], said: str) -> None:
    began = time.monotonic()
    with pytest.raises(PackError, match=said) as stopped:
        run_limited(target, *args, seconds=0.5 if "0.5" in said else 20, megabytes=1_000)
    assert stopped.value.code == "too-costly"
    assert time.monotonic() - began < 15


# -- packs that would blow up ----------------------------------------------------------------------


def test_a_product_that_would_take_all_memory_is_refused_at_the_rule_that_makes_it() -> None:
    error = refusal("n(1..1000).\nmany(A,B,C,D) :- n(A), n(B), n(C), n(D).\n" + RULE)
    assert error.code == "too-costly"
    assert isinstance(error.where, Span)
    assert error.where.line == 2


@pytest.mark.parametrize(
    "text",
    [
        "p(0). p(X+1) :- p(X).",
        "p(0). p(Y) :- p(X), Y = X + 1.",
        "p(0). q(X) :- p(X). p(X*2) :- q(X).",
        "p(a). p(Y) :- p(X), Y = f(X).",
    ],
)
def test_what_would_ground_for_ever_is_told_from_its_rules(text: str) -> None:
    assert refusal(text).code == "endless-recursion"


def test_what_is_large_but_bounded_loads() -> None:
    pairs = "n(1..600). pair(A,B) :- n(A), n(B).\n"  # 360,000 instances: tried elsewhere first
    assert Pack.of(pairs + RULE, vocabulary=household.vocabulary()).rules.keys() == {"shut"}


# -- code and files --------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["#script (python)\nimport os\nos._exit(1)\n#end.", "#script (lua) os.exit(1) #end."])
def test_scripts_are_refused_and_never_run(text: str) -> None:
    assert refusal(RULE + text).code == "refused-statement"


def test_a_script_hidden_behind_a_comment_is_seen() -> None:
    assert refusal("%* % *%\n*% p(@f(1)).").code == "refused-function"
    assert refusal('%* % *%\n*% #include "/etc/hostname".').code == "include-refused"


@pytest.mark.parametrize("name", ["/etc/passwd", "../secret.lp", "sub/../../secret.lp", "absent.lp", "link.lp", "."])
def test_an_include_never_leaves_the_folder_of_the_pack(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "pack"
    folder.mkdir()
    (tmp_path / "secret.lp").write_text("secret(1).")
    (folder / "link.lp").symlink_to(tmp_path / "secret.lp")
    (folder / "main.lp").write_text(f'{RULE}#include "{name}".')
    with pytest.raises(PackError) as refused:
        load(folder / "main.lp")
    assert refused.value.code == "include-refused"
    assert isinstance(refused.value.where, Span)
    assert (refused.value.where.line, refused.value.where.column) == (4, 1)


def test_files_of_the_pack_are_included_once_however_often_they_are_named(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "main.lp").write_text('#include "sub/places.lp". #include "more.lp".\n' + RULE)
    (tmp_path / "more.lp").write_text('#include "sub/places.lp".\nhazard(shut, X) :- away(X), state(X, hot).\n')
    (tmp_path / "sub" / "places.lp").write_text('#include "../main.lp".\naway(X) :- edge(inside, X, _).\n')
    pack = load(tmp_path / "main.lp")
    assert [rule.text for rule in pack.program.rules].count("away(X) :- edge(inside,X,_).") == 1
    assert {Path(rule.span.file).name for rule in pack.program.rules} == {"main.lp", "more.lp", "places.lp"}


def test_texts_include_one_another_by_name() -> None:
    texts = {"a/main.lp": '#include "rest.lp".\n' + RULE, "a/rest.lp": "hazard(shut, X) :- state(X, hot)."}
    assert Pack.of(texts, vocabulary=household.vocabulary()).rules.keys() == {"shut"}


# -- size ------------------------------------------------------------------------------------------


def test_a_file_of_50_megabytes_is_refused_unread(tmp_path: Path) -> None:
    file = tmp_path / "huge.lp"
    with file.open("wb") as stream:
        stream.truncate(50_000_000)
    with pytest.raises(DataError) as refused:
        load(file)
    assert refused.value.code == "file-too-large"


def many(count: int) -> str:
    rules = [
        f"rule(r{i}, temporal). hazard(r{i}, X) :- state(X, open), h{i}(X). h{i}(X) :- tag(X, soil)."
        for i in range(count)
    ]
    return "\n".join(rules)


@pytest.mark.soak
def test_ten_thousand_rules_are_checked_and_loaded() -> None:
    count = 3_400 if SOAK else 170  # three rules each
    text = many(count)
    problems = Pack.problems({"many.lp": text}, vocabulary=household.vocabulary())
    assert {problem.code for problem in problems} == {"no-principle"}
    assert len(Pack.of(text, vocabulary=household.vocabulary()).rules) == count


def test_the_last_of_many_rules_is_found_broken() -> None:
    text = many(300) + "\nrule(last temporal)."
    (problem,) = Pack.problems({"many.lp": text}, vocabulary=household.vocabulary())
    assert isinstance(problem, ObviateError)
    assert isinstance(problem.where, Span)
    assert (problem.code, problem.where.line) == ("missing-comma", 301)


def test_a_long_chain_of_helpers_is_checked() -> None:
    chain = "\n".join(f"h{i}(X) :- h{i + 1}(X)." for i in range(1_500))
    text = RULE + "hazard(shut, X) :- h0(X).\n" + chain + "\nh1500(X) :- object(X)."
    assert Pack.problems({"chain.lp": text}, vocabulary=household.vocabulary()) == ()


def test_operators_in_a_row_are_counted_not_matched() -> None:
    text = RULE + "hazard(shut, X) :- object(X), 1 != " + "1--" * 200 + "1.\n"
    assert Pack.of(text, vocabulary=household.vocabulary()).rules.keys() == {"shut"}


def test_a_folder_with_a_link_that_leads_out_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.lp").write_text("secret(1).")
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "rules.lp").symlink_to(tmp_path / "secret.lp")
    with pytest.raises(DataError) as refused:
        pack_files(str(tmp_path / "pack"))
    assert refused.value.code == "outside-pack"
