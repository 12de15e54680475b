"""Prompts: instructions of ours, and data of others that cannot pass for them."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["plain", "quoted", "section"]

# Control tokens of chat templates are written with these: <|im_end|>, </s>, [INST], <start_of_turn>.
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>|`\u2028\u2029\x7f\x85"}


def quoted(data: Any) -> str:
    """JSON on one line in which nothing can end the section, open another, or be read as a token of a chat template.

    It means the same as any other JSON text of `data`: a text that was written by a stranger stays a text.
    """
    text = json.dumps(data, ensure_ascii=False, separators=(", ", ": ")).translate(_ESCAPES)
    return text.replace("[INST", "\\u005bINST").replace("[/INST", "\\u005b/INST")


def section(name: str, data: Any) -> str:
    """A named section of a prompt that holds data: ``name: {...}``, on one line."""
    return f"{name}: {quoted(data)}"


def plain(text: str) -> bool:
    """Whether a text is printable and `quoted` leaves it as it is."""
    return text.isprintable() and quoted(text) == f'"{text}"'
