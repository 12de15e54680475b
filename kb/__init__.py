"""Knowledge as data: vocabulary, belief graph, patches, rule packs, and the one module that imports clingo."""

from obviate.kb import household
from obviate.kb.action import DONE, Action
from obviate.kb.belief import BeliefGraph
from obviate.kb.errors import ObviateError
from obviate.kb.pack import Pack, SafetyRule
from obviate.kb.patch import Patch
from obviate.kb.vocabulary import Vocabulary

__all__ = [
    "DONE",
    "Action",
    "BeliefGraph",
    "ObviateError",
    "Pack",
    "Patch",
    "SafetyRule",
    "Vocabulary",
    "household",
]
