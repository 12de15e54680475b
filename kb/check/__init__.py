"""What a rule pack may not say, found on its syntax before it is loaded (DESIGN: rule packs).

`findings` yields every problem as a `PackError`, most basic first; `warnings` what is allowed and hardly meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from obviate.kb.check.literals import literal_findings
from obviate.kb.check.members import member_findings
from obviate.kb.check.sorts import sort_findings
from obviate.kb.check.statements import statement_findings
from obviate.kb.check.style import warnings
from obviate.kb.dependency import dependency_findings
from obviate.kb.errors import PackError
from obviate.kb.program import Program
from obviate.kb.vocabulary import Vocabulary

__all__ = ["findings", "warnings"]


def findings(program: Program, vocabulary: Vocabulary) -> Iterator[PackError]:
    """Everything wrong with the program of a pack."""
    yield from statement_findings(program, vocabulary)
    yield from member_findings(program)
    yield from literal_findings(program, vocabulary)
    yield from dependency_findings(program)
    yield from sort_findings(program)
