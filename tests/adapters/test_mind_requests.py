"""The request benchmark: what its manifest refuses, and that its scores count what they say."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from obviate.adapters.mind.families import ADJACENT, FAMILIES
from obviate.adapters.mind.request_bench import Answer, Memo, answers, channel, cross_validated, paired, rows
from obviate.adapters.mind.requests import HELD_OUT, Pair, Phrase, manifest, read_sets
from obviate.compilers.instructions.channel import ALL
from obviate.compilers.instructions.development import DEVELOPMENT, Template
from obviate.compilers.instructions.placements import PLACEMENTS, UNIVERSAL
from obviate.kb.errors import DataError
from obviate.kb.instruction import Signature

BENCHMARK = manifest()
INVENTORY = PLACEMENTS["inventory-only"].signature
HISTORY = PLACEMENTS["history-dependent"].signature


def signature(semantic: str, selection: str = "") -> Signature:
    return Signature(frozenset(semantic.split()), frozenset(selection.split()))


def test_its_size_is_the_papers() -> None:
    six = [phrase for phrase in BENCHMARK.development if phrase.placement != "adjacent"]
    assert len(six) + len(BENCHMARK.held_out) == 216
    assert len({phrase.template for phrase in (*six, *BENCHMARK.held_out)}) == 36
    assert len(BENCHMARK.pairs) == 144
    assert len({phrase.text for phrase in (*BENCHMARK.development, *BENCHMARK.held_out)}) == 168 + 72


def test_it_stays_the_same() -> None:
    assert manifest().digest == BENCHMARK.digest


@pytest.mark.parametrize("family", [*FAMILIES, ADJACENT], ids=lambda family: family.name)
def test_placements_are_the_dependency_benchmarks_and_what_is_seen_to_be_read(family: object) -> None:
    assert isinstance(family, type(ADJACENT))
    assert PLACEMENTS[family.name].signature == family.signature == read_sets(family)


LEAKED = {**HELD_OUT, "current-region": (*HELD_OUT["current-region"][:1], DEVELOPMENT["current-region"][0])}
REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "unbalanced": (lambda: manifest(held_out={**HELD_OUT, "named-region": HELD_OUT["named-region"][:1]}), "unbalanced"),
    "leak": (lambda: manifest(held_out=LEAKED), "held-out template is in development"),
    "shared": (
        lambda: manifest(signatures={**_all(), "named-region": HISTORY}),
        "share a signature",
    ),
    "instrument": (lambda: manifest(signatures={**_all(), "named-region": UNIVERSAL}), "named-region reads"),
    "edge": (lambda: manifest(edges={"label": ("label history", "", ("in the hall",))}), "the modifier label claims"),
}


def _all() -> dict[str, Signature]:
    return {name: placement.signature for name, placement in PLACEMENTS.items()}


@pytest.mark.parametrize("name", REFUSED)
def test_a_manifest_is_refused(name: str) -> None:
    made, words = REFUSED[name]
    with pytest.raises(DataError, match=words) as caught:
        made()
    assert caught.value.code == "requests-refused"


def test_a_leak_in_other_letters_is_a_leak() -> None:
    first = DEVELOPMENT["inventory-only"][0]
    shouted = Template(first.placement, first.text.upper().replace("{THING}", "{thing}") + "!")
    with pytest.raises(DataError):
        manifest(held_out={**HELD_OUT, "inventory-only": (shouted, HELD_OUT["inventory-only"][1])})


def answer(true: Signature, said: Signature, *, abstained: bool = False, text: str = "x") -> Answer:
    names = ("inventory only", "universal", "cues alone", "both", "safe")
    return Answer(Phrase(text, "p", true, "t"), dict.fromkeys(names, said), abstained, 0.0)


def test_rows_count() -> None:
    found = [
        answer(HISTORY, HISTORY),
        answer(HISTORY, INVENTORY),
        answer(INVENTORY, HISTORY),
        answer(HISTORY, UNIVERSAL, abstained=True),
    ]
    row = rows(found)["safe"]
    assert (row.phrases, row.exact, row.contained, row.abstained) == (4, 1, 3, 1)
    assert row.inflation == pytest.approx((1 + 0.5 + 2 + 2.5) / 4)


def test_pairs_count() -> None:
    nearest = signature("", "position topology")
    pairs = [Pair("a", "b", "nearest", nearest), Pair("a", "c", "nearest", nearest), Pair("a", "d", "nearest", nearest)]
    said = {
        "a": INVENTORY,
        "b": signature("inventory", "position topology"),
        "c": signature("inventory history", "position topology"),
        "d": signature("inventory position topology"),
    }
    found = {text: answer(INVENTORY, one, text=text) for text, one in said.items()}
    edge = paired(pairs, found)["both"]["nearest"]
    assert (edge.pairs, edge.correct, edge.clean) == (3, 2, 1)


class Counting:
    def __init__(self) -> None:
        self.asked = 0

    def logprobs(self, prefix: str, continuations: object) -> list[float]:
        assert isinstance(continuations, list | tuple)
        self.asked += len(continuations)
        return [-float(len(prefix) + len(text)) for text in continuations]


def test_no_question_is_asked_twice() -> None:
    counting = Counting()
    memo = Memo(counting)
    assert memo.logprobs("a", ["b", "cc", "b"]) == [-2.0, -3.0, -2.0]
    assert memo.logprobs("a", ["cc"]) == [-3.0]
    assert counting.asked == 2


def test_a_model_beside_the_cues_never_contains_less() -> None:
    some = BENCHMARK.development[::6]
    alone, both = list(answers(some, None)), list(answers(some, channel(Counting())))
    for one, two in zip(alone, both, strict=True):
        assert two.signatures["both"].contains(one.signatures["both"])
        assert set(two.signatures) > set(one.signatures)
    assert set(channel(Counting()).kinds) == set(ALL)


def test_cross_validation_covers_all_templates() -> None:
    some = BENCHMARK.development[::6]
    found = list(cross_validated(some, None))
    assert [one.phrase for one in found] == list(some)
    assert rows(found)["safe"].contained == len(some)
