"""Verifies, from the JSON alone, what `obviate prove equivalence --drop H` and `obviate prove signature` say.

It shares no code with Obviate; clingo runs an instruction's program. `python check_proof.py FILE`, or - for
standard input, prints a line for each and exits with 1 if one is wrong.
"""

from __future__ import annotations

import json
import sys
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

JSON = dict[str, Any]
OWN = {"add": "inventory", "remove": "inventory", "relocate": "inventory", "relabel": "label", "use": "history"}
OWN |= {"move": "position", "open": "topology", "close": "topology"}


def doors(state: JSON, room: str) -> list[str]:
    """The rooms behind passable doors."""
    pairs = [door for door in state["doors"] if isinstance(door, list)] + state["passages"]
    pairs += [door["between"] for door in state["doors"] if isinstance(door, dict) and door["passable"]]
    return sorted(b if a == room else a for a, b in pairs if room in (a, b))


def reach(state: JSON) -> dict[str, int]:
    hops, todo = {state["at"]: 0}, [state["at"]]
    for room in todo:
        for other in doors(state, room):
            if other not in hops:
                hops[other] = hops[room] + 1
                todo.append(other)
    return hops


def own(state: JSON, category: str, room: str) -> Any:
    if category in ("inventory", "label"):
        return state["regions"][room][category]
    return {"position": state["at"] == room, "history": room in state["used"]}.get(category, doors(state, room))


def changed(before: JSON, after: JSON) -> dict[str, set[str]]:
    """What really changed, by the paper's footprint convention."""
    rooms = set(before["regions"])
    found = {v: {room for room in rooms if own(before, v, room) != own(after, v, room)} for v in set(OWN.values())}
    return {v: where if v == "inventory" else rooms for v, where in found.items() if where}


def need(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)


def equivalence(case: JSON) -> None:
    states, reads, known, dropped = case["states"], case["reads"], case["depends"], case["dropped"]
    rooms, times = sorted(states[0]["regions"]), range(len(states))
    holds, full = [set(one) for one in case["holds"]], case["full"]
    fit = [holds[t] & set(reach(states[t])) for t in times]
    for t, u in combinations(times, 2):  # evaluator and selector are functions of what they read
        for room in rooms:
            if all(own(states[t], v, room) == own(states[u], v, room) for v in reads["semantic"]):
                need((room in holds[t]) == (room in holds[u]), "the evaluator is no function of what it reads")
        same = all(own(states[t], v, room) == own(states[u], v, room) for v in reads["selection"] for room in rooms)
        need(not same or fit[t] != fit[u] or full[t] == full[u], "the selector is no function of what it reads")
    need(all(run(case, states[t])[0] == holds[t] for t in times), "the instruction judges otherwise")
    need(all(full[t] in fit[t] if fit[t] else full[t] is None for t in times), "a target is not feasible")
    truly = [changed(a, b) for a, b in pairwise(states)]
    need(all(set(one) <= {OWN[e["event"]]} for one, e in zip(truly, case["events"], strict=True)), "an event does more")
    reports = [{v: set(where) for v, where in one.items()} for one in case["reports"]]
    kept = {
        "semantic": set(reads["semantic"]) <= set(known["semantic"]),
        "selection": set(reads["selection"]) <= {*known["semantic"], *known["selection"]},
        "footprint": all(v in r and w <= r[v] for t, r in zip(truly, reports, strict=True) for v, w in t.items()),
        "reselection": dropped != "reselection",
    }
    need([name for name, holds_ in kept.items() if not holds_] == [dropped], "not that hypothesis alone is dropped")
    cache, target, reached = set(holds[0]), case["maintained"][0], set(reach(states[0]))
    need(target == full[0], "the controller begins otherwise")
    for t, report in enumerate(reports, start=1):
        stale = {room for v in report if v in known["semantic"] for room in report[v]}  # equation (11)
        need(stale == set(case["stale"][t - 1]), "other judgments are stale")
        cache = (cache - stale) | (holds[t] & stale)  # equation (5)
        walked = bool({"position", "topology"} & set(report))
        reached = set(reach(states[t])) if walked else reached
        named = bool(set(report) & {*known["semantic"], *known["selection"]}) and dropped != "reselection"
        if walked or stale or named:  # steps 3 and 4
            feasible, told = cache & reached, case["maintained"][t]
            target = full[t] if feasible == fit[t] else told
            need(target in feasible if feasible else target is None, "the controller's target is not feasible")
        need(case["maintained"][t] == target, "the controller decides otherwise")
    need(case["maintained"][-1] != full[-1], "the decisions are the same")


def signature(case: JSON) -> None:
    stages: dict[str, set[str]] = {"semantic": set(), "selection": set()}
    for one in case["readings"]:
        if one["verdict"] == "read":
            witness(case, one["witness"])
            stages[one["stage"]].add(one["category"])
    need({stage: sorted(found) for stage, found in stages.items()} == case["true"], "the witnesses say otherwise")
    known = {stage: set(said) for stage, said in (case["declared"] or case["inferred"]).items()}
    missing = [["semantic", v] for v in stages["semantic"] - known["semantic"]]
    missing += [["selection", v] for v in stages["selection"] - known["semantic"] - known["selection"]]
    need(sorted(missing) == sorted(case["missing"]), "something else is missing")
    need(bool(missing) == (case["verdict"] == "refuted"), "the verdict is wrong")


def witness(case: JSON, pair: JSON) -> None:
    before, after = pair["states"]
    need(set(changed(before, after)) == {pair["category"]}, "the states do not differ in that category alone")
    found = [run(case, state) for state in (before, after)]
    said: list[Any] = [pair["region"] in qualifying for qualifying, _ in found]
    if pair["stage"] == "selection":
        said = [min((ranks.get(room, 1 << 32), room) for room in pair["among"])[1] for _, ranks in found]
    need(said == [pair["before"], pair["after"]] and said[0] != said[1], "the program concludes otherwise")


def run(case: JSON, state: JSON) -> tuple[set[str], dict[str, int]]:
    import clingo

    facts = [f'at("{state["at"]}").', *(f'used("{room}").' for room in state["used"])]
    facts += [f'reachable("{room}"). hops("{room}",{d}).' for room, d in reach(state).items()]
    for room, region in state["regions"].items():
        facts += [f'label("{room}",{region["label"]}).', *(f'door("{room}","{q}").' for q in doors(state, room))]
        facts += [f'inventory("{room}",{type},{count}).' for type, count in region["inventory"].items()]
    control = clingo.Control(["--warn=none"])
    control.add("base", [], case["instruction"] + "\n" + "\n".join(facts))
    control.ground([("base", [])])
    atoms = control.symbolic_atoms
    qualifying = {a.symbol.arguments[1].string for a in atoms.by_signature("qualifies", 2)}
    preferred = [a.symbol.arguments[1:] for a in atoms.by_signature("prefer", 3)]
    ranked = sorted(((rank.number, room.string) for room, rank in preferred), reverse=True)  # the least comes last
    return qualifying, {room: rank for rank, room in ranked}


def main(file: str) -> int:
    data, wrong = json.loads(sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")), 0
    for case in data if isinstance(data, list) else [data]:
        try:
            {"equivalence": equivalence, "signature": signature}[case["kind"]](case)
            print(f"verified: {case['kind']} {case.get('dropped', case.get('name', ''))}")
        except (ValueError, KeyError) as error:
            wrong += 1
            print(f"wrong: {error}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
