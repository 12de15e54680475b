"""A broken line of the kernel fails a proof; a broken line of the Maintainer fails a replay."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest

from obviate.engine import maintainer as original
from obviate.engine.evaluator import Exact
from obviate.engine.proofs import HYPOTHESES, Story, choose, confirm, counterexample, induct, tales
from obviate.kb import asp
from obviate.kb.errors import PackError
from obviate.kb.instruction import Instruction
from obviate.kb.question import Question

KERNEL = files("obviate.kb").joinpath("kernel/maintenance.lp").read_text(encoding="utf-8")
SWAPS = [("semantic", "selection"), ("position", "inventory"), ("topology", "label"), (" < ", " > "), (" < ", " <= ")]
SWAPS += [("#min", "#max"), ("not ", ""), ("changed(V)", "changed(V,_)"), ("stale(I,_)", "replan"), (" = ", " != ")]


# -- the kernel --------------------------------------------------------------------------------------


def kernels() -> Iterator[tuple[str, str]]:
    """The kernel without each rule, without each literal, and with each swap in each rule."""
    rules = asp.parse(KERNEL, "kernel").rules
    for index, rule in enumerate(rules):
        others = [other.text for other in rules[:index]], [other.text for other in rules[index + 1 :]]
        head = rule.text.partition(":-")[0].strip()
        changed = {"": f"without {rule.text}"}
        for dropped in rule.body:
            body = "; ".join(literal.text for literal in rule.body if literal is not dropped)
            changed[f"{head} :- {body}." if body else f"{head}."] = f"{rule.text} without {dropped.text}"
        for old, new in SWAPS:
            if old in rule.text:
                changed[rule.text.replace(old, new, 1)] = f"{rule.text} with {new or 'nothing'} for {old}"
        for text, what in changed.items():
            yield what, "\n".join([*others[0], text, *others[1]])


def fails(kernel: str) -> bool:
    try:
        return any(one.verdict == "refuted" for one in (induct(kernel=kernel), choose(kernel=kernel)))
    except PackError:  # it does not even ground
        return True


def test_a_broken_kernel_fails_a_proof() -> None:
    survivors = [what for what, kernel in kernels() if not fails(kernel)]
    assert len(survivors) * 10 <= len(list(kernels())), survivors
    assert not fails(KERNEL)


# -- the maintainer ----------------------------------------------------------------------------------

DECIDING = {
    "_initialized",
    "_updated",
    "_observed",
    "_make_stale",
    "_spared",
    "_decide",
    "_first",
    "_order",
    "_refresh",
}
Edit = tuple[str, ast.AST, str, Any]  # what it is, the node, its field and the new value


def deciding(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name in DECIDING:
            yield node


def edits(tree: ast.Module) -> Iterator[Edit]:
    """Each condition negated, each comparison and connective turned, each statement left out, each constant changed."""
    for function in deciding(tree):
        for node in ast.walk(function):
            if not (isinstance(node, ast.stmt) and is_refusal(node)):
                where = f"{function.name}:{getattr(node, 'lineno', 0)}"
                yield from turned(where, node)
                yield from shortened(where, node)


def turned(where: str, node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.If | ast.IfExp):
        yield f"{where} not {ast.unparse(node.test)}", node, "test", ast.UnaryOp(ast.Not(), node.test)
    if isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield f"{where} turned {ast.unparse(node)}", node, "op", other
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int):
        new = not node.value if isinstance(node.value, bool) else node.value + 1
        yield f"{where} {node.value} is {new}", node, "value", new


def shortened(where: str, node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.comprehension) and node.ifs:
        yield f"{where} every {ast.unparse(node)}", node, "ifs", []
    for field, body in ast.iter_fields(node):
        if field in ("body", "orelse") and isinstance(body, list):
            for index, statement in enumerate(body):
                if not is_idle(statement) and not is_refusal(statement):
                    rest = [*body[:index], ast.Pass(), *body[index + 1 :]]
                    yield f"{where} without {ast.unparse(statement)[:60]}", node, field, rest


def is_idle(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def is_refusal(statement: ast.stmt) -> bool:
    """What is refused has tests of its own, and is in no proof."""
    return isinstance(statement, ast.If) and isinstance(statement.body[0], ast.Raise)


def mutant(tree: ast.Module, edit: Edit) -> type[original.Maintainer]:
    """The Maintainer of the module with one edit, which is taken back."""
    _, node, field, new = edit
    old = getattr(node, field)
    setattr(node, field, new)
    try:
        code = compile(ast.fix_missing_locations(tree), "mutant", "exec")
    finally:
        setattr(node, field, old)
    module = ModuleType("mutant")
    sys.modules["mutant"] = module  # dataclasses look there
    exec(code, module.__dict__)
    found: type[original.Maintainer] = module.Maintainer
    return found


@pytest.fixture(scope="module")
def stories() -> list[Story]:
    return [*tales(), *(story for name in HYPOTHESES if (story := counterexample(name)))]


class Remembered:
    """The instruction's own program, asked each question once for all mutants."""

    exact = True
    known: ClassVar[dict[tuple[str, Question], bool]] = {}

    def __init__(self, instruction: Instruction) -> None:
        self.instruction = instruction

    def judge(self, questions: Sequence[Question]) -> list[bool]:
        return [self.answer(question) for question in questions]

    def answer(self, question: Question) -> bool:
        key = (self.instruction.program.text, question)
        if key not in self.known:
            (self.known[key],) = Exact(self.instruction).judge([question])
        return self.known[key]


def survives(stories: list[Story], mutated: type[original.Maintainer]) -> bool:
    def making(instruction: Instruction, **options: Any) -> original.Maintainer:
        return mutated(instruction, evaluator=Remembered(instruction), **options)

    try:
        for story in stories:
            confirm(story, making=making)
    except Exception:  # a mutant may break in any way
        return False
    return True


def test_a_broken_maintainer_fails_a_replay(stories: list[Story]) -> None:
    tree = ast.parse(Path(original.__file__).read_text(encoding="utf-8"))
    every = list(edits(tree))
    survivors = [edit[0] for edit in every if survives(stories, mutant(tree, edit))]
    assert survives(stories, original.Maintainer)
    assert len(every) > 80
    assert len(survivors) * 10 <= len(every), survivors
