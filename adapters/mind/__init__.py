"""MIND: the dependency benchmark for standing instructions, drawn over houses."""

from obviate.adapters.mind.benchmark import KINDS, Benchmark, Sequence, build, manifest
from obviate.adapters.mind.families import ADJACENT, FAMILIES, REQUESTS, Family, Request

__all__ = [
    "ADJACENT",
    "FAMILIES",
    "KINDS",
    "REQUESTS",
    "Benchmark",
    "Family",
    "Request",
    "Sequence",
    "build",
    "manifest",
]
