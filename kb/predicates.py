"""The predicates that beliefs, rule packs and the kernel share, with their numbers of arguments."""

from __future__ import annotations

__all__ = ["BELIEFS", "DESCRIPTIONS", "EVENTS", "KERNEL", "MEMBERS", "NAMED", "READABLE"]

BELIEFS = {"object": 1, "tag": 2, "state": 2, "edge": 3, "value": 3, "moved": 1}
EVENTS = {"intent": 1, "executed": 1}
MEMBERS = {"hazard": 2, "threatens": 2, "resolved": 2}  # of a safety rule
DESCRIPTIONS = {"rule": 2, "principle": 2, "severity": 2, "deadline": 2}
KERNEL = dict.fromkeys(
    ("trigger", "target", "opens", "passed", "risk", "due", "failed", "given_up", "abandoned", "was_pending", "spent"),
    2,
) | {"age": 3, "targeted": 1}
READABLE = {**BELIEFS, **EVENTS, **MEMBERS, "rule": 2, "pending": 2}  # what the body of a rule may read
# Where a belief names something that the vocabulary declares, and of which sort.
NAMED = {("tag", 1): "tag", ("state", 1): "state", ("edge", 0): "relation", ("value", 1): "quantity"}
