"""Forms of household rules, and a decoder that answers each stage from them.

They were written by hand for these tests, as a capable model could answer; no model was asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from obviate.compilers.decoder import Message
from obviate.compilers.recorded import Recording
from obviate.compilers.rules.synthesis import Compiler
from obviate.compilers.spec import Spec, preflight, recheck
from obviate.kb import household

DATA = Path(__file__).parent / "data"
FORMS = DATA / "household_forms.json"
TAPE = DATA / "household.tape.jsonl"


@cache
def forms() -> dict[str, Any]:
    """The forms by the names of the rules."""
    found: dict[str, Any] = json.loads(FORMS.read_text(encoding="utf-8"))["forms"]
    return found


def by_principle() -> dict[str, Any]:
    rules = household.pack().rules
    return {rules[name].principle: form for name, form in forms().items()}


@dataclass(frozen=True)
class Filled:
    """A decoder that answers every stage from a form, which it finds by the principle."""

    known: Mapping[str, Any]
    name: str = "written-by-hand"

    def decode(
        self,
        messages: Sequence[Message],
        spec: Spec,
        *,
        max_tokens: int = 256,
        seed: int | None = None,
        temperature: float = 0.0,
    ) -> str:
        preflight(spec)
        told = messages[-1].text.rpartition("principle: ")[2]
        form = self.known[json.loads(told)]
        system = messages[0].text
        if "Stage 1" in system:
            answer = concepts(form)
        elif "Stage 2" in system:
            answer = {k: form[k] for k in ("about", "different", "hazard", "threats") if k in form}
        elif "Stage 3" in system:
            answer = {k: form[k] for k in ("target", "deadline", "advisory")}
        else:
            answer = {"threats": form["threats"]}
        return recheck(spec, json.dumps(answer))


def concepts(form: Any) -> dict[str, Any]:
    """The names that a form uses."""
    found: dict[str, dict[str, None]] = {"tags": {}, "states": {}, "relations": {}}

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                if key in ("tags", "not_tags"):
                    _add(found["tags"], inner)
                elif key in ("states", "not_states", "seen_not"):
                    _add(found["states"], inner)
                elif key in ("relations", "relation"):
                    _add(found["relations"], [inner.removesuffix("_it")] if isinstance(inner, str) else inner)
                else:
                    walk(inner)
                if key == "lacks":
                    walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(form)
    return {"mode": form["mode"], **{sort: list(names) for sort, names in found.items()}}


def _add(into: dict[str, None], value: Any) -> None:
    for inner in value:
        if isinstance(inner, list):
            _add(into, inner)
        else:
            into[inner] = None


def record(tape: Path) -> None:
    """Write the tape of the answers to what the compiler asks now: `python tests/compilers/rule_forms.py`."""
    full = tape.with_suffix(".full")
    full.unlink(missing_ok=True)
    compiler = Compiler(Recording(Filled(by_principle()), full), household.vocabulary())
    for name, rule in household.pack().rules.items():
        compiler.compile(rule.principle, name)
    lines = [json.loads(line) for line in full.read_text(encoding="utf-8").splitlines()]
    kept = [{key: line[key] for key in ("key", "decoder", "answer")} for line in lines]
    tape.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
    full.unlink()


if __name__ == "__main__":
    record(TAPE)
