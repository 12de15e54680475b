"""Packages that only some parts need, which an extra of the project installs."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any

from obviate.kb.errors import ObviateError

__all__ = ["absence", "module"]


def absence(name: str, *, extra: str) -> ObviateError | None:
    """The error that `module` would raise for a package that is not installed; nothing is imported."""
    if find_spec(name) is not None:
        return None
    help = f"pip install 'obviate[{extra}]'"
    return ObviateError("extra-missing", "this needs a package that is missing", where=name, help=help)


def module(name: str, *, extra: str) -> Any:
    """The module of a package that the `extra` installs. Raises `ObviateError` (``extra-missing``)."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        message = f"this needs a package that is missing or broken: {error}"
        raise ObviateError("extra-missing", message, where=name, help=f"pip install 'obviate[{extra}]'") from error
