-- Derived: what happened in each quarter of an hour (link/rows.py, SumRow). The program fills it from
-- events, entries, awards and steps in the same transaction; then every group adds to it.
CREATE TABLE sums (
  at_ms INTEGER NOT NULL,
  pool TEXT NOT NULL,
  level TEXT NOT NULL,
  table_id TEXT NOT NULL,
  wagers INTEGER NOT NULL,
  wagered_cents INTEGER NOT NULL,
  rounds INTEGER NOT NULL,
  hands INTEGER NOT NULL,
  in_units INTEGER NOT NULL,
  hits INTEGER NOT NULL,
  win_units INTEGER NOT NULL,
  PRIMARY KEY (at_ms, pool, level, table_id)
) STRICT, WITHOUT ROWID;
