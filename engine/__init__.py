"""Reasoning: triggering and verification, on clingo."""

from obviate.engine.backend import Capability
from obviate.engine.engine import Engine, Snapshot
from obviate.engine.log import replay
from obviate.engine.record import Change, Memory, Moment, Record, Trigger

__all__ = ["Capability", "Change", "Engine", "Memory", "Moment", "Record", "Snapshot", "Trigger", "replay"]
