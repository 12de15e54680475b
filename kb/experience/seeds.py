"""The early meta-skills that household memories begin with: well meant, and too simple (paper, Appendix 0.D.1)."""

from __future__ import annotations

from pathlib import Path

from obviate.kb.experience.skill import MetaSkill, read_skill
from obviate.kb.files import read_text

__all__ = ["early_skills"]


def early_skills() -> tuple[MetaSkill, ...]:
    """Skills that resolve a state at once, wipe without soaking, and switch to cabinets that are closed."""
    text = read_text(Path(__file__).with_name("seeds.jsonl"))
    return tuple(map(read_skill, text.splitlines()))
