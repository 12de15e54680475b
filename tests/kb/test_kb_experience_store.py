"""The store of experience: nothing that was committed is lost, and nothing damaged is believed."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa
from conftest import SOAK
from kb_experience import closer, closing, leaving

from obviate.kb.errors import DataError
from obviate.kb.experience import tables
from obviate.kb.experience.store import BUFFER, Store

RULE = "storage_closed"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def refused(file: Path) -> DataError:
    with pytest.raises(DataError) as caught:
        Store(file)
    return caught.value


def test_what_was_added_is_there_after_it_is_opened_again(file: Path) -> None:
    with Store(file) as store:
        assert store.add(closing(1), leaving(2)) == 2
    with Store(file) as store:
        assert list(store.archive()) == [closing(1), leaving(2)]


def test_the_same_case_is_kept_once(file: Path) -> None:
    with Store(file) as store:
        assert [store.add(closing(1)), store.add(closing(1), closing(2))] == [1, 1]


def test_buffers_are_bounded_views_and_an_update_empties_them(file: Path) -> None:
    with Store(file) as store:
        store.add(*map(closing, range(5)), leaving(9))
        evidence = store.evidence(RULE)
        assert evidence.positive == tuple(map(closing, range(2, 5)))
        assert len(evidence.positive) == BUFFER
        assert evidence.negative == (leaving(9),)
        assert evidence.full
        store.write(closer(), origin="test", evidence=evidence.positive, mark=evidence.mark)
        emptied = store.evidence(RULE)
        assert (emptied.positive, emptied.negative) == ((), ())
        assert store.recall(RULE).case == closing(4)  # the archive has it still
        assert len(list(store.archive())) == 6


def test_what_came_in_while_a_skill_was_learned_stays_in_the_buffer(file: Path) -> None:
    with Store(file) as store:
        store.add(closing(1))
        evidence = store.evidence(RULE)
        store.add(closing(2))
        store.write(closer(), origin="test", mark=evidence.mark)
        assert store.evidence(RULE).positive == (closing(2),)


def test_every_version_is_kept_and_any_can_be_put_in_force(file: Path) -> None:
    later = closer(timing="after the last use")
    with Store(file) as store:
        assert store.recall(RULE).version is None
        numbers = [store.write(closer(), origin="seed"), store.write(later, origin="induction", reason="reopened")]
        assert numbers == [1, 2]
        assert [one.current for one in store.history(RULE)] == [False, True]
        assert store.rollback(RULE).skill == closer()
        assert store.skill(RULE) == store.history(RULE)[0]
        assert store.rollback(RULE, 2).skill == later
        assert store.write(closer(), origin="seed") == 3
        with pytest.raises(DataError, match="no version 7"):
            store.rollback(RULE, 7)
        store.rollback(RULE, 1)
        with pytest.raises(DataError, match="no version before"):
            store.rollback(RULE)


def test_what_there_is_of_each_rule(file: Path) -> None:
    with Store(file) as store:
        store.add(closing(1), closing(2), leaving(3))
        store.write(closer(), origin="seed")
        (entry,) = store.entries()
        assert (entry.rule, entry.outcomes, entry.positive, entry.negative, entry.version) == (
            RULE,
            {"failed": 1, "passed": 2},
            2,
            1,
            1,
        )
        store.require(RULE)
        with pytest.raises(DataError, match="nothing about"):
            store.require("storage_open")


# -- damage ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"not a database, by any means" * 40, b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_file_that_is_no_memory_is_reported_and_left_alone(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    error = refused(file)
    assert error.code == "memory-corrupt"
    assert "left as it is" in error.help
    assert file.read_bytes() == content


def test_a_database_of_somebody_elses_is_left_alone(file: Path) -> None:
    with sqlite3.connect(file) as other:
        other.execute("CREATE TABLE cases (id)")
    other.close()
    before = file.read_bytes()
    assert refused(file).code == "memory-corrupt"
    assert file.read_bytes() == before


@pytest.mark.parametrize("seed", range(6))
def test_damaged_pages_are_never_taken_for_cases(file: Path, seed: int) -> None:
    """Whatever bytes are overwritten: the store is refused, or it says which case is not what was written, or all is
    as it was."""
    with Store(file) as store:
        store.add(*map(closing, range(200)))
    draw, data = random.Random(seed), bytearray(file.read_bytes())
    start = draw.randrange(4096, len(data) - 600)
    data[start : start + 600] = draw.randbytes(600)
    file.write_bytes(data)
    try:
        with Store(file) as store:
            assert list(store.archive()) == list(map(closing, range(200)))
    except DataError as error:
        assert error.code in ("memory-corrupt", "memory-tampered")  # noqa: PT017
    assert file.read_bytes() == bytes(data)


def test_a_row_that_somebody_changed_is_refused(file: Path) -> None:
    with Store(file) as store:
        store.add(leaving(1))
        store.write(closer(), origin="seed")
    with sqlite3.connect(file) as other:
        other.execute("UPDATE cases SET outcome = 'passed', sign = 1")
        other.execute("UPDATE skills SET body = replace(body, 'at once', 'never')")
    other.close()
    with Store(file) as store:
        for ask in (lambda: list(store.archive()), lambda: store.history(RULE), lambda: store.evidence(RULE)):
            with pytest.raises(DataError) as caught:
                ask()
            assert caught.value.code == "memory-tampered"


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    assert refused(tmp_path / "nowhere" / "memory.db").code == "memory-unusable"
    with pytest.raises(DataError) as caught:
        Store(tmp_path / "memory.db", create=False)
    assert caught.value.code == "memory-unusable"
    assert os.listdir(tmp_path) == []


# -- versions of the file ----------------------------------------------------------------------------


def test_an_older_file_is_migrated_and_a_newer_one_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(file) as store:
        store.add(closing(1))

    def second(connection: sa.Connection) -> None:
        connection.exec_driver_sql("ALTER TABLE cases ADD COLUMN weight INTEGER NOT NULL DEFAULT 1")

    with monkeypatch.context() as patched:
        patched.setattr(tables, "MIGRATIONS", [*tables.MIGRATIONS, second])
        for _ in range(2):  # once is enough
            with Store(file) as store:
                assert list(store.archive()) == [closing(1)]
    assert refused(file).code == "memory-newer"


def test_a_migration_that_fails_changes_nothing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(file) as store:
        store.add(closing(1))

    def half(connection: sa.Connection) -> None:
        connection.exec_driver_sql("ALTER TABLE cases ADD COLUMN weight INTEGER NOT NULL DEFAULT 1")
        connection.exec_driver_sql("SELECT * FROM nowhere")

    with monkeypatch.context() as patched:
        patched.setattr(tables, "MIGRATIONS", [*tables.MIGRATIONS, half])
        assert refused(file).code == "memory-unusable"
    with Store(file) as store:
        assert list(store.archive()) == [closing(1)]
        assert store.add(closing(2)) == 1


# -- several writers, and dead ones ------------------------------------------------------------------

WRITER = """
import sys
from kb_experience import closer, closing
from obviate.kb.experience.store import Store
file, first = sys.argv[1], int(sys.argv[2])
with Store(file) as store:
    for number in range(first, first + 60):
        store.add(closing(number))
        if number % 10 == 0:
            store.write(closer(), origin=str(first))
"""


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}


def test_two_processes_that_write_at_once_lose_nothing(file: Path) -> None:
    """They make the file at once, too."""
    commands = [[sys.executable, "-c", WRITER, str(file), str(first)] for first in (0, 1000)]
    writers = [subprocess.Popen(command, env=environment()) for command in commands]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    with Store(file) as store:
        assert {case.step for case in store.archive()} == {*range(60), *range(1000, 1060)}
        history = store.history(RULE)
        assert [version.number for version in history] == list(range(1, 13))
        assert sorted(version.origin for version in history) == ["0"] * 6 + ["1000"] * 6
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.soak
def test_a_killed_writer_loses_nothing_that_it_had_committed(file: Path) -> None:
    rounds = 500 if SOAK else 25
    script = Path(__file__).with_name("kb_killed.py")
    command = [sys.executable, str(script), str(rounds), "11", str(file)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"rounds": rounds, "lost": 0, "torn": 0}
