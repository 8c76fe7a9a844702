"""Where a group becomes durable: one contract, SQLite and PostgreSQL."""

from __future__ import annotations

from pathlib import Path

from link.store.base import Store


def open_store(
    where: str, *, create: bool = False, wait_ms: int = 10_000, standby_required: bool = False
) -> Store:
    """``postgresql://...``, or the path of a SQLite file. ``create`` makes the file if there is
    none; a schema is made by ``migrate``. ``wait_ms`` bounds every wait for PostgreSQL and its
    standby; ``standby_required`` refuses one that waits for none."""
    if where.startswith(("postgresql://", "postgres://")):
        # Only where it is used: a table's Pi, and a server on SQLite, do without the driver.
        from link.store.postgres import PostgresStore

        return PostgresStore(where, statement_ms=wait_ms, standby_required=standby_required)
    from link.store.sqlite import SqliteStore

    return SqliteStore(Path(where), create=create)
