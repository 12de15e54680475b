"""README and every page in docs/ do what they say."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from obviate.adapters.cli import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
EXECUTED_ELSEWHERE = {"errors.md"}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SAVED = re.compile(r"^```(?:toml|prolog)\n(.*?)^```\n\nSaved as `(\S+?)`", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    return [(match[1], match[2]) for match in BLOCK.finditer(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", [p for p in PAGES if p.name not in EXECUTED_ELSEWHERE], ids=lambda p: p.name)
def test_python_blocks_run_and_print_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    printed = ""
    for language, text in blocks(page):
        if language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(text, str(page), "exec"), namespace)
            printed = out.getvalue()
        elif language == "text":
            assert printed == text


def commands(page: Path) -> list[str]:
    lines = [line for language, text in blocks(page) if language == "sh" for line in text.splitlines()]
    return [line for line in lines if line.startswith("obviate ")]


@pytest.mark.parametrize("page", [p for p in PAGES if commands(p)], ids=lambda p: p.name)
def test_commands_run(page: Path, tmp_path: Path) -> None:
    for text, name in SAVED.findall(page.read_text(encoding="utf-8")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    ran = 0
    for line in commands(page):
        command, _, comment = line.partition("#")
        if "--data" in command:
            if "OBVIATE_DATA" not in os.environ:
                continue
            command = command.replace("~/IS-Bench", os.environ["OBVIATE_DATA"] + "/isbench")
        done = subprocess.run(
            [Path(sys.executable).parent / "obviate", *shlex.split(command)[1:]],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        expected = re.search(r"exits (\d)", comment)
        assert done.returncode == int(expected[1] if expected else 0), line + done.stdout + done.stderr
        ran += 1
    if not ran:
        pytest.skip("OBVIATE_DATA is not set: every command here needs an IS-Bench checkout")


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
    shell = "".join(text for page in PAGES for language, text in blocks(page) if language == "sh")
    named = set(re.findall(r"^make (\w+)", shell, re.MULTILINE))
    assert {"demo", "test"} <= named <= targets


def test_links_lead_somewhere() -> None:
    for page in [*PAGES, ROOT / "LIMITATIONS.md"]:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert link.startswith("http") or (page.parent / link).exists(), f"{page.name}: {link}"


def test_readme_example_is_short() -> None:
    code = next(text for language, text in blocks(ROOT / "README.md") if language == "python")
    assert len(code.splitlines()) <= 15
