"""Where a group becomes durable: one contract, SQLite and PostgreSQL."""
