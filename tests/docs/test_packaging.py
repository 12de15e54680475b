"""What is built is what is here: every package is listed, and every data file is taken along."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]


def test_every_package_is_listed() -> None:
    found = {
        ".".join([name, *file.parent.relative_to(ROOT / folder).parts])
        for name, folder in SETTINGS["package-dir"].items()
        for file in (ROOT / folder).rglob("__init__.py")
    }
    empty = {"obviate.compilers"} if not list((ROOT / "compilers").glob("*.py")) else set()
    assert found - empty == set(SETTINGS["packages"]) - empty


def test_every_data_file_is_taken_along() -> None:
    for name, folder in SETTINGS["package-dir"].items():
        patterns = [*SETTINGS["package-data"]["*"], *SETTINGS["package-data"].get(name, [])]
        taken = {file for pattern in patterns for file in (ROOT / folder).glob(pattern)}
        data = {f for f in (ROOT / folder).rglob("*") if f.is_file() and f.suffix in (".lp", ".toml", ".lark", ".tsv")}
        nested = {f for f in data if f.parent != ROOT / folder and f.suffix == ".lark"}
        assert data - nested <= taken
