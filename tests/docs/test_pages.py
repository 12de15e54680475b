"""README and every page in docs/ do what they say."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer.main

from obviate.adapters.cli import app
from obviate.kb import ObviateError

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
EXECUTED_ELSEWHERE = {"errors.md"}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$(?:\n\nSaved as `(\S+?)`)?", re.MULTILINE | re.DOTALL)
BIN = Path(sys.executable).parent
PLAIN = {"COLUMNS": "80", "NO_COLOR": "1", "FORCE_COLOR": "", "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}


class Block(NamedTuple):
    language: str
    text: str
    saved_as: str


def blocks(page: Path) -> list[Block]:
    return [Block(*found) for found in BLOCK.findall(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", [p for p in PAGES if p.name not in EXECUTED_ELSEWHERE], ids=lambda p: p.name)
def test_page_does_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From top to bottom: files are saved, code and commands run, and ``text`` is what the block before it printed."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    printed = ""
    for language, text, saved_as in blocks(page):
        if saved_as:
            Path(saved_as).write_text(text, encoding="utf-8")
        elif language == "python":
            printed = printed_by(text, page, namespace)
        elif language == "sh":
            printed = "".join(map(run, commands(text)))
        elif language == "text":
            assert tidy(printed) == tidy(text) or re.fullmatch(pattern(text), tidy(printed))
    lines = commands(page.read_text(encoding="utf-8"))
    if lines and all(map(lacks_data, lines)):
        pytest.skip("OBVIATE_DATA is not set: every command here needs an IS-Bench checkout")


def printed_by(text: str, page: Path, namespace: dict[str, object]) -> str:
    """What a block of Python prints. Without an extra that it needs, the page skips there."""
    try:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(text, str(page), "exec"), namespace)
    except ObviateError as error:
        if error.code == "extra-missing":
            pytest.skip(str(error))
        raise
    return out.getvalue()


def commands(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("obviate ")]


def lacks_data(line: str) -> bool:
    return "--data" in line and "OBVIATE_DATA" not in os.environ


def run(line: str) -> str:
    """What a command of ours prints; nothing if the data it needs is not there."""
    if lacks_data(line):
        return ""
    line = line.replace("~/IS-Bench", os.environ.get("OBVIATE_DATA", "") + "/isbench")
    done = subprocess.run(["sh", "-c", line], env=os.environ | PLAIN, capture_output=True, text=True, check=False)
    exits = re.search(r"# exits (\d)", line)
    assert done.returncode == int(exits[1] if exits else 0), line + done.stdout + done.stderr
    return done.stdout + done.stderr


def tidy(text: str) -> str:
    return "".join(line.rstrip() + "\n" for line in text.strip("\n").splitlines())


def pattern(text: str) -> str:
    """A line ``...`` stands for any lines."""
    return "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in tidy(text).splitlines())


def leaves(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    for part, inner in getattr(command, "commands", {}).items():
        yield from leaves(inner, f"{name} {part}")
    if not hasattr(command, "commands"):
        yield name, command


@pytest.mark.parametrize(("name", "command"), list(leaves(typer.main.get_command(app), "obviate")))
def test_every_command_and_option_is_documented(name: str, command: Any) -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert f"\n## {name}\n" in page
    section = page.split(f"\n## {name}\n")[1].split("\n## ")[0]
    for parameter in command.params:
        for option in parameter.opts:
            if option.startswith("--") and option not in ("--help", "--json"):
                assert option in section, f"{name} {option}"
    assert command.help
    assert "Example:" in command.help


def test_make_targets_named_in_the_pages_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^(\w+):", makefile, re.MULTILINE))
    shell = "".join(text for page in PAGES for language, text, _ in blocks(page) if language == "sh")
    named = set(re.findall(r"^make (\w+)", shell, re.MULTILINE))
    assert {"demo", "test"} <= named <= targets


def test_links_lead_somewhere() -> None:
    for page in [*PAGES, ROOT / "LIMITATIONS.md"]:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert link.startswith("http") or (page.parent / link).exists(), f"{page.name}: {link}"


def test_readme_example_is_short() -> None:
    code = next(text for language, text, _ in blocks(ROOT / "README.md") if language == "python")
    assert len(code.splitlines()) <= 15
