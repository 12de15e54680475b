"""Checks what ``obviate prove pack --json`` and ``obviate diff --json`` print as counterexamples, from the JSON alone.

It shares only clingo with Obviate: the kernel is written anew. Use: ``python check_pack_proof.py FILE.json``.
"""

from __future__ import annotations

import json
import re
import sys
from itertools import product
from pathlib import Path
from typing import Any

import clingo

KERNEL = """
k_on(R,B) :- hazard(R,B), k_temporal(R).
k_on(R,B) :- hazard(R,B), threatens(R,B), not k_temporal(R).
pending(R,B) :- k_on(R,B).  pending(R,B) :- k_held(R,B).
k_met(R,B) :- pending(R,B), k_targeted(R), resolved(R,B).
k_met(R,B) :- pending(R,B), not k_targeted(R), not hazard(R,B).
k_said(trigger,R,B) :- k_on(R,B).
k_said(opens,R,B) :- k_on(R,B), not k_held(R,B), not k_met(R,B).
k_said(passed,R,B) :- k_held(R,B), k_met(R,B).
k_said(hazard,R,B) :- hazard(R,B).  k_said(met,R,B) :- k_met(R,B).
k_late(R,B) :- pending(R,B), k_until(R,before_intent), threatens(R,B).
k_late(R,B) :- k_held(R,B), k_until(R,N), k_actions(M), M >= N, intent(_).
k_late(R,B) :- pending(R,B), intent(done), 1 { k_temporal(R); not k_until(R,before_intent) }.
k_said(risk,R,B) :- k_late(R,B), not k_met(R,B).
"""
Scene = dict[str, Any]
KINDS = ("becomes", "ceases", "links", "unlinks")


def atoms(program: str, consts: dict[str, str], name: str, models: int = 1) -> list[set[str]]:
    """The atoms called `name` in the models of a program."""
    control = clingo.Control([f"-c{k}={v}" for k, v in consts.items()] + [str(models)], logger=lambda *_: None)
    control.add("base", [], program)
    control.ground([("base", [])])
    found: list[set[str]] = []
    pattern = re.compile(rf"-?({name})\(")
    control.solve(on_model=lambda m: found.append({str(a) for a in m.symbols(atoms=True) if pattern.match(str(a))}))
    return found


def text(what: str, instance: list[Any]) -> str:
    """A rule and its objects as clingo writes them, such as ``trigger(rule,objects)``."""
    inner = ",".join(map(json.dumps, instance[1]))
    return f"{what}({instance[0]},{inner})" if len(instance[1]) == 1 else f"{what}({instance[0]},({inner}))"


def said(pack: dict[str, Any], scene: Scene, held: list[Any], intent: str | None = None, age: int = 0) -> set[str]:
    """What the pack concludes on a scene with these records open."""
    intent = intent or scene["intent"]
    lines = [pack["program"], KERNEL, *(f"{fact}." for fact in scene["facts"]), f"k_actions({age})."]
    for name, rule in pack["rules"].items():
        lines += [f"k_temporal({name})."] * (rule["mode"] == "temporal") + [f"k_targeted({name})."] * rule["targeted"]
        lines.append(f"k_until({name},{rule['deadline']}).")
    lines += [f"k_{text('held', each)}." for each in held] + [f"intent({intent})."] * bool(intent)
    (model,) = atoms("\n".join(lines), pack["consts"], "k_said")
    return {re.sub(r"^k_said\((\w+),", r"\1(", atom) for atom in model}


def is_so(data: dict[str, Any], scene: Scene, what: str, instance: list[Any], **more: Any) -> bool:
    """Whether `what` is said of the instance."""
    return text(what, instance) in said(data, scene, more.pop("held", []), **more)


def deeds(data: dict[str, Any], scene: Scene) -> list[str]:
    """Every action on the objects of a scene."""
    objects = [fact[7:-1] for fact in scene["facts"] if fact.startswith("object(")]
    every = [(skill, args) for skill, arity in data["skills"].items() for args in product(objects, repeat=arity)]
    return [f"{skill}({','.join(args)})" if args else skill for skill, args in every]


def after(data: dict[str, Any], verdict: dict[str, Any], scene: Scene, action: str) -> Scene:
    """The scene after an action."""
    facts = set(scene["facts"])
    lines = [data["actions"], *(f"{fact}." for fact in [*facts, *verdict["statics"]]), f"do({action})."]
    lines += [f"argument({name})." for name in re.findall(r'"[^"]*"', action)]
    (changes,) = atoms("\n".join(lines), {}, "becomes|ceases|links|unlinks")
    old = {kind: {c[len(kind) + 1 :] for c in changes if c.startswith(f"{kind}(")} for kind in KINDS}
    for gone in old["ceases"]:
        facts = facts - {f"state({gone}"} | {f"-state({gone}"}
    for change in old["becomes"] - {f[6:] for f in scene["facts"] if f.startswith("state(")}:
        facts = facts - {f"-state({change}"} | {f"state({change}"}
    for gone in old["unlinks"]:
        relation, one, two = gone[:-1].split(",")
        facts -= {f"edge({gone}"} | ({f"edge({relation},{two},{one})"} if relation == "nextto" else set())
    facts |= {f"edge({new}" for new in old["links"]}
    facts |= {f"moved({x})" for x in re.findall(r'^place_\w+\(("[^"]*")', action)}
    return {"facts": sorted(facts), "intent": None}


def holds(data: dict[str, Any], verdict: dict[str, Any]) -> bool:
    """Whether the scenes of a refuted verdict show what they should."""
    scenes, rules, about = {scene["name"]: scene for scene in verdict["scenes"]}, verdict["rules"], verdict["instances"]
    first = scenes.get("opened", {"facts": []})
    so: list[bool] = []
    match verdict["question"]:
        case "triggers" if "nearest" in scenes:
            every = [said(data, scenes["nearest"], [], intent) for intent in [None, *deeds(data, scenes["nearest"])]]
            so += [not atom.startswith(f"trigger({rules[0]},") for conclusions in every for atom in conclusions]
        case "independent":
            so += [len(about) > 1, *(is_so(data, scenes["triggered"], "trigger", each) for each in about)]
        case "compatible":
            for i, which in enumerate(("first", "second")):
                met = said(data, scenes[f"{which} met"], about)
                so += [is_so(data, scenes.get(f"{which} opened", first), "opens", about[i])]
                so += [(text("met", about[k]) in met) == (k == i) for k in (0, 1)]
        case "reachable" | "governable" as question:
            later = {tuple(s["facts"]): s for s in (after(data, verdict, first, deed) for deed in deeds(data, first))}
            so += [is_so(data, first, "opens", about[0])]
            so += [is_so(data, scenes[name], "met", about[0], held=about) for name in scenes if name == "wanted"]
            what = "met" if question == "reachable" else "hazard"
            so += [is_so(data, s, what, about[0], held=about) == (what == "hazard") for s in later.values()]
        case "unblocked":
            for i, plan in enumerate(verdict["plans"][rule][0] for rule in rules):
                forbidden = said(data, scenes["blocked"], about, plan)
                so += [any(atom.startswith(f"risk({rules[1 - i]},") for atom in forbidden)]
                so += [is_so(data, after(data, verdict, scenes["blocked"], plan), "met", about[i], held=about)]
    return all(so)


def differs(data: dict[str, Any], found: dict[str, Any]) -> bool:
    """Whether two packs differ as told; a record that is open was opened by the old pack."""
    held = [found["record"]] if found["record"] else []
    kind, instance = found["kind"], [found["rule"], found["binding"]]
    if held and not is_so(data["old"], found["opened"], "opens", held[0]):
        return False
    if kind == "severity":
        advisory = [side for side in ("old", "new") if data[side]["rules"][found["rule"]]["advisory"]]
        return is_so(data["old"], found["scene"], "opens", instance) and advisory not in ([], [found["by"]])
    now = [s for s in ("old", "new") if is_so(data[s], found["scene"], kind, instance, held=held, age=found["age"])]
    return now == [found["by"]]


def main(file: str) -> int:
    """Check a file; returns the exit code."""
    data = json.loads(Path(file).read_text(encoding="utf-8"))
    refuted, found = [v for v in data.get("verdicts", ()) if v["answer"] == "no"], data.get("differences", [])
    wrong = [" ".join([v["question"], *v["rules"]]) for v in refuted if not holds(data, v)]
    wrong += [f"{d['kind']} {d['rule']}" for d in found if not differs(data, d)]
    print("\n".join([*(f"not so: {each}" for each in wrong), f"{len(refuted) + len(found)} checked"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
