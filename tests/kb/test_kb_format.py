"""The formatter: one layout, the same program, and every comment where it was."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packs_strategies import pack_texts

from obviate.kb import household
from obviate.kb.asp import parse
from obviate.kb.errors import PackError, Span
from obviate.kb.format import WIDTH, formatted
from obviate.kb.tokens import significant, tokenize

# Kernels and proofs are no packs: they may weigh what they minimise, which a pack may not.
SHIPPED = sorted(
    file for file in household.folder.rglob("*.lp") if not {"kernel", "planning", "proofs"} & {*file.parts}
)
LONG = "a_rather_long_name_of_a_predicate"

GOLDEN = {
    "spaces": (
        "p( X,Y ):-q(X , Y),not  r(X),X!=Y,  2 * X-1>Y,X=- 1,Y=1 .. 3 .",
        "p(X, Y) :- q(X, Y), not r(X), X != Y, 2*X-1 > Y, X = -1, Y = 1..3.\n",
    ),
    "tuples and pools": (
        "hazard(r,(X , Y)):-tag(Y,(a;b)),intent((on(X,Y);in(X,Y))),edge(ontop,X,Y).",
        "hazard(r, (X,Y)) :- tag(Y, (a; b)), intent((on(X,Y); in(X,Y))), edge(ontop, X, Y).\n",
    ),
    "aggregates": (
        "a:-#sum+{N,X:v(X,w,N),o((X,X));1,f(a,b)}>=2,N=#count{},1<#count{X:p(X)}<3.",
        "a :- #sum+{ N,X : v(X, w, N), o((X,X)); 1,f(a, b) } >= 2, N = #count{}, 1 < #count{ X : p(X) } < 3.\n",
    ),
    "negation": ("- p(- X):-not-q(X),not not r,X=2* -1-X.", "-p(-X) :- not -q(X), not not r, X = 2*-1-X.\n"),
    "absolute values and disjunction": (
        "a(|X - 1|)|b:-X=||Y|-1|,c(X,Y).",
        "a(|X-1|) | b :- X = ||Y|-1|, c(X, Y).\n",
    ),
    "choice": ("1{a(X):b(X);c}2:-d. {a}=1.", "1 { a(X) : b(X); c } 2 :- d.\n{ a } = 1.\n"),
    "conditions": ("a:-b:c,d;e.", "a :- b : c, d; e.\n"),
    "directives": (
        "#const n=1.[override]#show a/1. #show-b/2. #show X:a(X). #show. :~a.[1,b]#minimize{1,X:p(X)}. #edge(a,b):c.",
        "#const n = 1. [override]\n#show a/1.\n#show -b/2.\n#show X : a(X).\n#show.\n:~ a. [1, b]\n"
        "#minimize{ 1,X : p(X) }.\n#edge (a, b) : c.\n",
    ),
    "constants": ("p(#inf,#sup):-#true,0x1F<0b11.", "p(#inf, #sup) :- #true, 0x1F < 0b11.\n"),
    "names that begin with k": ("kind(k):-k=kind,-k(kk).", "kind(k) :- k = kind, -k(kk).\n"),
    "names that begin with not": ("nota:-not'a(not_b),notb.", "nota :- not'a(not_b), notb.\n"),
    "strings": ('p("a ,  b.  % no comment","\\"").', 'p("a ,  b.  % no comment", "\\"").\n'),
    "statements of one line": ("a.b.  c:-a.\n", "a.\nb.\nc :- a.\n"),
    "blank lines": ("\n\n  a.\n\n\n\nb.\nc.\n\n", "a.\n\nb.\nc.\n"),
    "windows lines": ("a :-\r\n\tb.  % c\r\n", "a :- b.  % c\n"),
    "nothing": (" \n\n", ""),
    "comments between statements": (
        "  % one  \n\n\n%two\na. % three\n  % four\n",
        "% one\n\n%two\na. % three\n% four\n",
    ),
    "a column kept": ("a(X)   :- b(X).       % c\n", "a(X) :- b(X).         % c\n"),
    "a column that is taken": ("a:-b.%c\na:-b,c,d.% e\n", "a :- b.  %c\na :- b, c, d.  % e\n"),
    "a column too far": (f"a.{' ' * WIDTH}% c\n", "a.  % c\n"),
    "a comment after the neck": ("h(X):-   % why\nb(X),\n c(X).\n", "h(X) :-  % why\n    b(X),\n    c(X).\n"),
    "comments between literals": (
        "h(X):-a(X),\n b(X),      % b\n% c and d\n       c(X),d(X).\n",
        "h(X) :-\n    a(X),\n    b(X),   % b\n    % c and d\n    c(X), d(X).\n",
    ),
    "comments in brackets": ("p((a; % one\nb;c)).% all\n", "p((a; % one\n    b; c)).  % all\n"),
    "block comments": (
        "%* a\n   b *% p. %* c *% q:-r,%* d *%s.\n",
        "%* a\n   b *%\np.         %* c *%\nq :-\n    r,                  %* d *%\n    s.\n",
    ),
    "a percent in a block comment": ("%* 100% *%a.\n *%b. %*% *%\n*% c.", "%* 100% *%a.\n *%\nb.    %*% *%\n*%\nc.\n"),
    "a theory as it stands": ("a:-&diff{x  -y}<=3. b:-c.", "a:-&diff{x  -y}<=3.\nb :- c.\n"),
    "a long body": (
        f"h(X) :- {LONG}(X,a), not {LONG}(X,b), {LONG}(X, (c;d)).",
        f"h(X) :-\n    {LONG}(X, a), not {LONG}(X, b),\n    {LONG}(X, (c; d)).\n",
    ),
    "a body that fits again": ("h(X) :-\n    a(X),\n    b(X).\n", "h(X) :- a(X), b(X).\n"),
    "a long constraint": (
        f":- {LONG}(X,a), not {LONG}(X,b), {LONG}(X).",
        f":- {LONG}(X, a), not {LONG}(X, b),\n    {LONG}(X).\n",
    ),
    "a long fact": (
        f'principle({LONG}, "{"word " * 15}").',
        f'principle({LONG},\n    "{"word " * 15}").\n',
    ),
    "a long literal": (
        f"h :- b, 2 < #count{{X,Y:{LONG}(X,Y),{LONG}(Y,X);X,Y:{LONG}(Y,X)}},c.",
        f"h :-\n    b, 2 < #count{{ X,Y : {LONG}(X, Y),\n        {LONG}(Y, X); X,Y : {LONG}(Y, X) }}, c.\n",
    ),
    "nothing to break": (f'p("{"x" * WIDTH}") :- q.', f'p("{"x" * WIDTH}") :-\n    q.\n'),
}


def meaning(text: str) -> tuple[list[str], list[str]]:
    program = parse(text, "text")
    return [rule.text for rule in program.rules], [f"{other.kind} {other.text}" for other in program.others]


def tokens(text: str) -> list[str]:
    return [token.text for token in significant(tokenize(text))]


def comments(text: str) -> list[str]:
    return [token.text.rstrip() for token in tokenize(text) if token.kind == "comment"]


def in_order(text: str) -> list[str]:
    return [token.text.rstrip() for token in tokenize(text) if token.kind != "space"]


def check(text: str) -> str:
    """What is true of every text; the result."""
    result = formatted(text)
    assert in_order(result) == in_order(text)
    assert meaning(result) == meaning(text)
    assert formatted(result) == result
    assert result == "" or (result.endswith("\n") and not result.startswith("\n"))
    return result


@pytest.mark.parametrize(("text", "expected"), GOLDEN.values(), ids=GOLDEN)
def test_layout(text: str, expected: str) -> None:
    assert check(text) == expected


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: "/".join(file.parts[-2:]))
def test_what_we_ship_keeps_its_meaning(file: Path) -> None:
    result = check(file.read_text(encoding="utf-8"))

    code = [line.partition("  %")[0] for line in result.splitlines() if not line.startswith("%")]
    assert max(map(len, code)) <= WIDTH


def test_the_shipped_pack_is_formatted() -> None:
    text = (household.folder / "packs" / "household.lp").read_text(encoding="utf-8")

    assert formatted(text) == text


@pytest.mark.parametrize(
    ("text", "code"),
    [("a :- b :- c.", "syntax"), ("p(X :- q.", "syntax"), ("#script (lua) x = 1 #end.", "refused-statement")],
)
def test_what_cannot_be_formatted_is_refused_at_its_place(text: str, code: str) -> None:
    with pytest.raises(PackError) as refused:
        formatted(f"a.\n{text}", file="mine.lp")

    assert refused.value.code == code
    assert isinstance(refused.value.where, Span)
    assert (refused.value.where.file, refused.value.where.line) == ("mine.lp", 2)


# -- any text --------------------------------------------------------------------------------------

SPACES = ("", "", "", " ", "  ", "\n", "\n\n\n", "\t", "\r\n", " " * 60)
COMMENTS = (
    "% why\n",
    "%\n",
    "%* block *%",
    "  % a.b :- c, \n",
    "\n    % own line  \n",
    "%* two\n   lines *% ",
    "%* 100% of it\n *%",
)
STATEMENTS = tuple(text for text, _ in GOLDEN.values() if "&" not in text and list(significant(tokenize(text))))


def mangled(text: str, seed: int) -> str:
    """The tokens of `text` with other whitespace, and a few comments, between them."""
    random = Random(seed)
    parts = tokens(text)
    gaps = random.choices(SPACES, k=len(parts))
    for i in random.choices(range(len(parts)), k=random.randrange(5)):
        gaps[i] += random.choice(COMMENTS)
    mixed = "".join(gap + part for gap, part in zip(gaps, parts, strict=True))
    return mixed if in_order(mixed) == _without_space(gaps, parts) else _apart(gaps, parts)


def _without_space(gaps: list[str], parts: list[str]) -> list[str]:
    return [text for gap, part in zip(gaps, parts, strict=True) for text in [*comments(gap), part]]


def _apart(gaps: list[str], parts: list[str]) -> str:
    """With a space where two tokens would run into one."""
    return "".join(f"{gap or ' '}{part}" for gap, part in zip(gaps, parts, strict=True))


PACKS = pack_texts().map("\n".join)
SEEDS = st.integers(0, 2**32)


@settings(max_examples=12)
@given(PACKS, SEEDS)
def test_random_packs_keep_their_meaning_and_comments(text: str, seed: int) -> None:
    check(text)
    check(mangled(text, seed))


@settings(max_examples=50)
@given(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=3).map("\n".join), SEEDS)
def test_statements_of_every_kind_keep_their_meaning_and_comments(text: str, seed: int) -> None:
    check(mangled(text, seed))


@settings(max_examples=10)
@given(PACKS, SEEDS)
def test_the_layout_is_a_function_of_the_tokens(text: str, seed: int) -> None:
    parts = tokens(text)
    spaced = "".join(map(str.__add__, parts, Random(seed).choices((" ", "  ", "\t", "\n"), k=len(parts))))

    assert formatted(spaced) == formatted(text.replace("\n\n", "\n"))
