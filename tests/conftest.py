"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SOAK = bool(os.environ.get("OBVIATE_SOAK"))
NO_SKIP = bool(os.environ.get("OBVIATE_NO_SKIP"))

settings.register_profile("obviate", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("obviate")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where nothing may be skipped, what skips has failed."""
    report = yield
    if NO_SKIP and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"OBVIATE_NO_SKIP is set, and this skips: {call.excinfo and call.excinfo.value}"
    return report


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of test data that the project does not ship."""
    folder = os.environ.get("OBVIATE_DATA")
    if not folder:
        pytest.skip("OBVIATE_DATA is not set: it names the folder that holds isbench/ and procthor/")
    return Path(folder)


@pytest.fixture(scope="session")
def isbench(data: Path) -> Path:
    """The root of an IS-Bench checkout."""
    root = data / "isbench"
    if not root.is_dir():
        pytest.skip(f"there is no {root}: an IS-Bench checkout belongs there")
    return root


@pytest.fixture(scope="session")
def procthor(data: Path) -> Path:
    """The folder of ProcTHOR houses."""
    root = data / "procthor"
    if not root.is_dir():
        pytest.skip(f"there is no {root}: files of ProcTHOR houses belong there")
    return root


def obviate(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does."""
    command = [str(Path(sys.executable).parent / "obviate"), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
