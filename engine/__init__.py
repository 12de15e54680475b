"""Reasoning: triggering and verification, on clingo."""

from obviate.engine.engine import Engine, Snapshot
from obviate.engine.log import replay
from obviate.engine.record import Change, Moment, Record, Trigger

__all__ = ["Change", "Engine", "Moment", "Record", "Snapshot", "Trigger", "replay"]
