"""The tables of a store, and how older files are brought up to date."""

from __future__ import annotations

import sqlalchemy as sa

__all__ = ["APPLICATION", "MIGRATIONS", "cases", "marks", "skills", "versions"]

APPLICATION = 0x0B71A7E  # what SQLite's header calls a file of ours

_tables = sa.MetaData()

versions = sa.Table("schema_version", _tables, sa.Column("number", sa.Integer, nullable=False))

cases = sa.Table(
    "cases",
    _tables,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("digest", sa.String(24), nullable=False, unique=True),
    sa.Column("rule", sa.String(200), nullable=False),
    sa.Column("outcome", sa.String(12), nullable=False),
    sa.Column("sign", sa.Integer, nullable=False),  # 1 shows what to do, -1 what not to, 0 neither
    sa.Column("body", sa.LargeBinary, nullable=False),  # JSON, by zlib
    sa.Index("cases_by_rule", "rule", "sign", "id"),
)

skills = sa.Table(
    "skills",
    _tables,
    sa.Column("rule", sa.String(200), primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("digest", sa.String(24), nullable=False),
    sa.Column("origin", sa.String(200), nullable=False),  # who wrote it
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("evidence", sa.Text, nullable=False),  # the digests of its cases, as JSON
    sa.Column("body", sa.Text, nullable=False),
)

# A rule's version in force, and up to which case its buffers have been learned from.
marks = sa.Table(
    "marks",
    _tables,
    sa.Column("rule", sa.String(200), primary_key=True),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("learned", sa.Integer, nullable=False),
)


def _first(connection: sa.Connection) -> None:
    _tables.create_all(connection)
    connection.execute(versions.insert().values(number=0))


# The n-th entry makes a file of version n out of one of version n - 1. Entries are only ever added.
MIGRATIONS = [_first]
