"""The durable store of experience: one SQLite file, through SQLAlchemy (paper, Sections 4.4 and 0.B.4).

Every case goes to an archive; the bounded buffers of a rule are views on it, emptied by moving a mark. A change is on
disk when its method returns, or it has not happened.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any

import sqlalchemy as sa
from pydantic import ValidationError

from obviate.kb.errors import DataError, nearest
from obviate.kb.experience import tables
from obviate.kb.experience.case import Case
from obviate.kb.experience.skill import MetaSkill
from obviate.kb.experience.tables import cases, marks, skills, versions

__all__ = ["BUFFER", "Entry", "Evidence", "Recollection", "Store", "Version"]

BUFFER = 3  # K: the capacity of either buffer of a rule (paper, Appendix 0.B.4)
_OF: sa.BindParameter[str] = sa.bindparam("of")
_LATEST = sa.select(cases).where(cases.c.rule == _OF, cases.c.sign == 1).order_by(cases.c.id.desc()).limit(1)
_CURRENT = sa.select(skills).join(marks, (marks.c.rule == skills.c.rule) & (marks.c.version == skills.c.version))
_CURRENT = _CURRENT.where(skills.c.rule == _OF)
BUSY = 30_000  # milliseconds that a writer waits for another


@dataclass(frozen=True, slots=True)
class Version:
    """A meta-skill as it is kept: its number, who wrote it and why, and the digests of the cases it came from."""

    number: int
    skill: MetaSkill
    origin: str
    reason: str
    evidence: tuple[str, ...]
    current: bool


@dataclass(frozen=True, slots=True)
class Recollection:
    """What is known about a triggered rule."""

    version: Version | None
    case: Case | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a rule's buffers hold, oldest first, and the mark that empties them once they are learned from."""

    positive: tuple[Case, ...]
    negative: tuple[Case, ...]
    mark: int

    @property
    def full(self) -> bool:
        """Whether one of them has reached its capacity, so that the skill is to be updated."""
        return max(len(self.positive), len(self.negative)) >= BUFFER


@dataclass(frozen=True, slots=True)
class Entry:
    """What a store holds of a rule: cases in the archive by outcome, those in the buffers, and the skill's version."""

    rule: str
    outcomes: dict[str, int]
    positive: int
    negative: int
    version: int


class Store:
    """Experience in the file at `path`, made if there is none. A context manager; not shared between threads.

    Processes may have it open at once: writers wait for each other, readers for nobody. Raises `DataError`:
    ``memory-corrupt`` for a file that is damaged or no store, ``memory-newer`` for one of a later version of Obviate,
    ``memory-unusable`` where it cannot be opened or written. Nothing is ever replaced or repaired silently.
    """

    def __init__(self, path: Path | str, *, create: bool = True) -> None:
        self.path = Path(path)
        if not self.path.exists():
            if not create:
                raise DataError("memory-unusable", "there is no such file", where=str(path), help="name a memory file")
            _create(self.path)
        _recognise(self.path)
        self._engine = _engine(self.path)
        self._writer = self._engine.execution_options(writes=True)
        try:
            with self._told():
                self._open()
        except BaseException:
            self._engine.dispose()
            raise

    def _open(self) -> None:
        with self._engine.connect() as connection:
            found = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
            if found != "ok":
                raise _corrupt(self.path, str(found).splitlines()[-1])
            number = connection.execute(sa.select(versions.c.number)).scalar_one()
        latest = len(tables.MIGRATIONS)
        if number > latest:
            message = f"the file has version {number}, and this program knows {latest}"
            raise DataError("memory-newer", message, where=str(self.path), help="use the newer Obviate")
        if number < latest:
            with self._writer.begin() as connection:
                _migrate(connection)

    # -- cases -------------------------------------------------------------------------------------

    def add(self, *added: Case) -> int:
        """Archive cases, all of them or none; how many were new. The same window of the same episode is kept once."""
        rows = [
            {
                "digest": case.digest,
                "rule": case.rule,
                "outcome": case.outcome,
                "sign": case.positive - case.negative,
                "body": zlib.compress(case.text().encode()),
            }
            for case in added
        ]
        if not rows:
            return 0
        with self._told(), self._writer.begin() as connection:
            before = connection.execute(sa.select(sa.func.count()).select_from(cases)).scalar_one()
            connection.execute(cases.insert().prefix_with("OR IGNORE", dialect="sqlite"), rows)
            after = connection.execute(sa.select(sa.func.count()).select_from(cases)).scalar_one()
        return int(after) - int(before)

    def recall(self, rule: str) -> Recollection:
        """What a trigger brings back: the meta-skill in force, and the most recent case that shows what to do.

        The case is from the archive, so that there is one just after an update, too (paper, Appendix 0.B.4).
        """
        with self._told(), self._engine.connect() as connection:
            skill = connection.execute(_CURRENT, {"of": rule}).first()
            case = connection.execute(_LATEST, {"of": rule}).first()
        version = _version(skill, skill.version) if skill is not None else None
        return Recollection(version, _case(case) if case is not None else None)

    def evidence(self, rule: str) -> Evidence:
        """The buffers B+ and B- of a rule: its last `BUFFER` cases of either sign since it was learned from."""
        with self._told(), self._engine.connect() as connection:
            learned = connection.execute(sa.select(marks.c.learned).where(marks.c.rule == rule)).scalar() or 0
            found = []
            for sign in (1, -1):
                fresh = sa.select(cases).where(cases.c.rule == rule, cases.c.sign == sign, cases.c.id > learned)
                found.append(connection.execute(fresh.order_by(cases.c.id.desc()).limit(BUFFER)).fetchall()[::-1])
        last = max((row.id for rows in found for row in rows), default=learned)
        return Evidence(tuple(map(_case, found[0])), tuple(map(_case, found[1])), last)

    def archive(self, rule: str = "", *, limit: int = 0, sign: int | None = None) -> Iterator[Case]:
        """The cases in the archive, oldest first; of one rule, the last `limit` of one sign, if asked for."""
        query = sa.select(cases)
        if rule:
            query = query.where(cases.c.rule == rule)
        if sign is not None:
            query = query.where(cases.c.sign == sign)
        with self._told(), self._engine.connect() as connection:
            if limit:
                rows = connection.execute(query.order_by(cases.c.id.desc()).limit(limit)).fetchall()[::-1]
                yield from map(_case, rows)
            else:
                yield from map(_case, connection.execute(query.order_by(cases.c.id)))

    # -- skills ------------------------------------------------------------------------------------

    def skill(self, rule: str) -> Version | None:
        """The meta-skill in force for a rule."""
        return self.recall(rule).version

    def history(self, rule: str) -> tuple[Version, ...]:
        """Every version of a rule's meta-skill, oldest first."""
        with self._told(), self._engine.connect() as connection:
            current = connection.execute(sa.select(marks.c.version).where(marks.c.rule == rule)).scalar() or 0
            query = sa.select(skills).where(skills.c.rule == rule).order_by(skills.c.version)
            return tuple(_version(row, current) for row in connection.execute(query))

    def write(
        self, skill: MetaSkill, *, origin: str, reason: str = "", evidence: Iterable[Case] = (), mark: int = 0
    ) -> int:
        """Keep a new version of a rule's meta-skill and put it in force; its number, from 1.

        With the `mark` of the evidence that it came from, the buffers are emptied in the same breath.
        """
        body, rule = skill.model_dump_json(exclude_defaults=True), skill.rule
        digests = json.dumps([case.digest for case in evidence])
        with self._told(), self._writer.begin() as connection:
            newest = connection.execute(sa.select(sa.func.max(skills.c.version)).where(skills.c.rule == rule)).scalar()
            number = (newest or 0) + 1
            row = {"rule": rule, "version": number, "digest": _digest(body.encode()), "origin": origin}
            connection.execute(skills.insert().values(**row, reason=reason, evidence=digests, body=body))
            _set(connection, rule, version=number, learned=mark)
        return int(number)

    def learned(self, rule: str, mark: int) -> None:
        """Empty a rule's buffers up to the mark of its evidence; the archive keeps every case."""
        with self._told(), self._writer.begin() as connection:
            _set(connection, rule, learned=mark)

    def rollback(self, rule: str, number: int = 0) -> Version:
        """Put an earlier version in force, the one before the present one unless told; all versions are kept.

        Raises `DataError` (``unknown-version``).
        """
        history = self.history(rule)
        present = next((i for i, one in enumerate(history) if one.current), 0)
        chosen = [one for one in history if one.number == number] if number else list(history[:present][-1:])
        if not chosen:
            known = ", ".join(str(one.number) for one in history)
            message = f"there is no version {number} of {rule}" if number else f"{rule} has no version before this one"
            raise DataError("unknown-version", message, where=rule, help=f"versions: {known}" if known else "none yet")
        with self._told(), self._writer.begin() as connection:
            _set(connection, rule, version=chosen[0].number)
        return next(one for one in self.history(rule) if one.current)

    # -- the whole ---------------------------------------------------------------------------------

    def entries(self) -> tuple[Entry, ...]:
        """What there is, rule by rule."""
        counts: dict[str, dict[str, int]] = {}
        with self._told(), self._engine.connect() as connection:
            query = sa.select(cases.c.rule, cases.c.outcome, sa.func.count()).group_by(cases.c.rule, cases.c.outcome)
            for rule, outcome, count in connection.execute(query):
                counts.setdefault(rule, {})[outcome] = count
            current = {rule: version for rule, version, _ in connection.execute(sa.select(marks))}
        found = []
        for rule in sorted(counts.keys() | {rule for rule, version in current.items() if version}):
            held = self.evidence(rule)
            outcomes = dict(sorted(counts.get(rule, {}).items()))
            found.append(Entry(rule, outcomes, len(held.positive), len(held.negative), current.get(rule, 0)))
        return tuple(found)

    def require(self, rule: str) -> None:
        """Raises `DataError` (``unknown-memory``) if nothing is kept of the rule."""
        known = [entry.rule for entry in self.entries()]
        if rule not in known:
            message = f"this memory has nothing about {rule!r}"
            raise DataError("unknown-memory", message, where=str(self.path), help=nearest(rule, known))

    def close(self) -> None:
        """Let go of the file."""
        self._engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """What the database complains of, in our words."""
        try:
            yield
        except sa.exc.DatabaseError as error:
            cause = str(error.orig or error)
            if isinstance(error, sa.exc.OperationalError) and "malformed" not in cause:
                help = "is the folder writable, and the disk not full?"
                raise DataError("memory-unusable", cause, where=str(self.path), help=help) from None
            raise _corrupt(self.path, cause) from None
        except sa.exc.NoResultFound:
            raise _corrupt(self.path, "it has no version") from None


def _recognise(path: Path) -> None:
    """Look at the header of a file before SQLite does, which would change what is not ours."""
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except OSError as error:
        message = f"it cannot be read: {error.strerror}"
        raise DataError("memory-unusable", message, where=str(path), help="name a memory file") from None
    if header[:16] != b"SQLite format 3\0" or int.from_bytes(header[68:72]) != tables.APPLICATION:
        raise _corrupt(path, "it does not begin as one" if header else "it is empty")


def _create(path: Path) -> None:
    """Make an empty store, whole or not at all: another process may be making it too, or this one be killed."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise DataError(
            "memory-unusable", f"it cannot be made: {error.strerror}", where=str(path), help="name a folder there is"
        ) from None
    made = Path(name)
    engine = _engine(made)
    try:
        with engine.execution_options(writes=True).begin() as connection:
            _migrate(connection)
            connection.exec_driver_sql(f"PRAGMA application_id = {tables.APPLICATION}")
    finally:
        engine.dispose()  # the last to close a file takes its log in
    try:
        os.link(made, path)
        made.unlink()
    except FileExistsError:  # whoever came first is right
        made.unlink()
    except OSError:  # a file system without links
        os.rename(made, path)


def _engine(path: Path) -> sa.Engine:
    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(path, timeout=BUSY / 1000, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # what was committed survives a power cut, too
        return connection

    engine = sa.create_engine("sqlite://", creator=connect, poolclass=sa.pool.QueuePool, pool_size=1)

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        """A writer waits for its turn before it reads: one that became a writer half-way would be turned away."""
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _migrate(connection: sa.Connection) -> None:
    """Bring a file up to the latest version, one step after the other, in one transaction."""
    number = 0
    if sa.inspect(connection).has_table(versions.name):
        number = connection.execute(sa.select(versions.c.number)).scalar_one()
    for step in tables.MIGRATIONS[number:]:
        step(connection)
    connection.execute(versions.update().values(number=len(tables.MIGRATIONS)))


def _set(connection: sa.Connection, rule: str, *, version: int | None = None, learned: int = 0) -> None:
    old = connection.execute(sa.select(marks).where(marks.c.rule == rule)).first()
    if old is None:
        connection.execute(marks.insert().values(rule=rule, version=version or 0, learned=learned))
        return
    new = {"version": old.version if version is None else version, "learned": max(learned, old.learned)}
    connection.execute(marks.update().where(marks.c.rule == rule).values(**new))


def _case(row: sa.Row[Any]) -> Case:
    what = f"case {row.id} of {row.rule}"
    try:
        text = zlib.decompress(row.body)
        case = Case.model_validate_json(text) if _digest(text) == row.digest else None
    except (zlib.error, ValidationError):
        case = None
    if case is None or (case.rule, case.outcome) != (row.rule, row.outcome):
        raise _tampered(what)
    return case


def _version(row: sa.Row[Any], current: int) -> Version:
    try:
        skill = MetaSkill.model_validate_json(row.body) if _digest(row.body.encode()) == row.digest else None
        evidence = tuple(map(str, json.loads(row.evidence)))
    except ValueError:
        skill = None
    if skill is None or skill.rule != row.rule:
        raise _tampered(f"version {row.version} of {row.rule}")
    return Version(row.version, skill, row.origin, row.reason, evidence, row.version == current)


def _tampered(what: str) -> DataError:
    message = f"{what} is not what was written"
    return DataError("memory-tampered", message, where=what, help="restore the file from a backup or an export")


def _digest(body: bytes) -> str:
    return sha256(body).hexdigest()[:24]


def _corrupt(path: Path, what: str) -> DataError:
    help = "it was left as it is: restore a backup, or name another file"
    return DataError("memory-corrupt", f"the file is damaged, or no memory: {what}", where=str(path), help=help)
