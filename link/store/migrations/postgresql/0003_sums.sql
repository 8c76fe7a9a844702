-- Derived: what happened in each quarter of an hour (link/rows.py, SumRow). The program fills it from
-- events, entries, awards and steps in the same transaction; then every group adds to it.
CREATE TABLE sums (
  at_ms BIGINT NOT NULL,
  pool TEXT NOT NULL,
  level TEXT NOT NULL,
  table_id TEXT NOT NULL,
  wagers BIGINT NOT NULL,
  wagered_cents BIGINT NOT NULL,
  rounds BIGINT NOT NULL,
  hands BIGINT NOT NULL,
  in_units BIGINT NOT NULL,
  hits BIGINT NOT NULL,
  win_units BIGINT NOT NULL,
  PRIMARY KEY (at_ms, pool, level, table_id)
);
