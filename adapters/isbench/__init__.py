"""IS-Bench: reading a user's checkout, judging its goals, scoring episodes as its evaluator does."""

from obviate.adapters.isbench.bddl import (
    And,
    Atom,
    Exists,
    Forall,
    Formula,
    Imply,
    Literal,
    Not,
    Or,
    Problem,
    parse_goal,
    parse_problem,
)
from obviate.adapters.isbench.goals import Facts, Verdict, evaluate
from obviate.adapters.isbench.scoring import GoalOutcome, Score, Scorer
from obviate.adapters.isbench.task import Caution, Checkout, SafetyGoal, Task, WashCondition, WashRule

__all__ = [
    "And",
    "Atom",
    "Caution",
    "Checkout",
    "Exists",
    "Facts",
    "Forall",
    "Formula",
    "GoalOutcome",
    "Imply",
    "Literal",
    "Not",
    "Or",
    "Problem",
    "SafetyGoal",
    "Score",
    "Scorer",
    "Task",
    "Verdict",
    "WashCondition",
    "WashRule",
    "evaluate",
    "parse_goal",
    "parse_problem",
]
