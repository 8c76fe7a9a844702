-- seal: CRC-32 of the row (link/store/tables.py), so that a damaged row is found at a start.

-- Who leads: one row, compared in every transaction; and everybody who ever led.
CREATE TABLE leader (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  epoch INTEGER NOT NULL,
  holder TEXT NOT NULL,
  lease_ms INTEGER NOT NULL,
  renewed_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE epochs (
  epoch INTEGER PRIMARY KEY,
  holder TEXT NOT NULL,
  since_ms INTEGER NOT NULL,
  after_event INTEGER NOT NULL
) STRICT;

-- Journals of the tables; number 0 is the orders given at the server.
CREATE TABLE journals (
  id INTEGER PRIMARY KEY,
  journal TEXT NOT NULL UNIQUE,
  table_id TEXT NOT NULL,
  state TEXT NOT NULL,
  why TEXT NOT NULL,
  accepted_by TEXT NOT NULL,
  seal INTEGER NOT NULL
) STRICT;

-- How far each journal is known: changed by nearly every group, so rows are short.
CREATE TABLE watermarks (
  id INTEGER PRIMARY KEY REFERENCES journals (id),
  n INTEGER NOT NULL CHECK (n >= 0),
  event INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  hash BLOB NOT NULL,
  head_seq INTEGER NOT NULL,
  head_hash BLOB NOT NULL,
  received_ms INTEGER NOT NULL,
  rounds BLOB NOT NULL,
  seal INTEGER NOT NULL
) STRICT;

INSERT INTO journals VALUES (0, '', '', 'active', '', '[]', 2196449160);

INSERT INTO watermarks VALUES (0, 0, 0, 0, x'', 0, x'', 0, x'', 2114863794);

-- Every accepted input, in the order of record. previous is the event before it of the same journal:
-- with marks it finds any event of a journal without an index that each event would have to touch.
CREATE TABLE events (
  id INTEGER PRIMARY KEY,
  journal INTEGER NOT NULL REFERENCES journals (id),
  n INTEGER NOT NULL CHECK (n > 0),
  previous INTEGER NOT NULL CHECK (previous < id),
  seq INTEGER NOT NULL,
  hash BLOB NOT NULL,
  at_ms INTEGER NOT NULL,
  received_ms INTEGER NOT NULL,
  body BLOB NOT NULL,
  chain BLOB NOT NULL
) STRICT;

CREATE INDEX events_by_time ON events (received_ms);

-- Every 256th event of a journal.
CREATE TABLE marks (
  journal INTEGER NOT NULL REFERENCES journals (id),
  n INTEGER NOT NULL,
  event INTEGER NOT NULL,
  PRIMARY KEY (journal, n)
) STRICT, WITHOUT ROWID;

-- Money, double entry: units go from debit to credit within one level.
CREATE TABLE entries (
  id INTEGER PRIMARY KEY,
  pool TEXT NOT NULL,
  level TEXT NOT NULL,
  generation INTEGER NOT NULL,
  debit TEXT NOT NULL,
  credit TEXT NOT NULL CHECK (credit <> debit),
  units INTEGER NOT NULL,
  why TEXT NOT NULL,
  first_event INTEGER NOT NULL,
  through_event INTEGER NOT NULL CHECK (through_event >= first_event),
  award TEXT NOT NULL,
  seal INTEGER NOT NULL
) STRICT;

CREATE INDEX entries_by_event ON entries (through_event);

-- Derived: the sums of the entries.
CREATE TABLE balances (
  pool TEXT NOT NULL,
  level TEXT NOT NULL,
  account TEXT NOT NULL,
  units INTEGER NOT NULL,
  PRIMARY KEY (pool, level, account)
) STRICT, WITHOUT ROWID;

CREATE TABLE levels (
  pool TEXT NOT NULL,
  level TEXT NOT NULL,
  generation INTEGER NOT NULL,
  parameters BLOB NOT NULL,
  next_parameters BLOB NOT NULL,
  hits INTEGER NOT NULL,
  state BLOB NOT NULL,
  seal INTEGER NOT NULL,
  PRIMARY KEY (pool, level)
) STRICT, WITHOUT ROWID;

CREATE TABLE awards (
  award TEXT NOT NULL PRIMARY KEY,
  pool TEXT NOT NULL,
  level TEXT NOT NULL,
  generation INTEGER NOT NULL,
  place INTEGER NOT NULL,
  table_id TEXT NOT NULL,
  journal TEXT NOT NULL,
  round_no INTEGER NOT NULL,
  seat INTEGER NOT NULL,
  hand TEXT NOT NULL,
  percent INTEGER NOT NULL,
  cents INTEGER NOT NULL CHECK (cents >= 0),
  state TEXT NOT NULL,
  policy TEXT NOT NULL,
  event INTEGER NOT NULL,
  jackpot_cents INTEGER NOT NULL,
  reset_cents INTEGER NOT NULL,
  seed_units INTEGER NOT NULL,
  seal INTEGER NOT NULL
) STRICT;

CREATE INDEX awards_by_event ON awards (event);

CREATE INDEX awards_by_round ON awards (journal, round_no);

CREATE TABLE steps (
  award TEXT NOT NULL REFERENCES awards (award) DEFERRABLE INITIALLY DEFERRED,
  step_no INTEGER NOT NULL,
  state TEXT NOT NULL,
  by_whom TEXT NOT NULL,
  role TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  note TEXT NOT NULL,
  event INTEGER NOT NULL,
  seal INTEGER NOT NULL,
  PRIMARY KEY (award, step_no)
) STRICT, WITHOUT ROWID;

CREATE TABLE alarms (
  id INTEGER PRIMARY KEY,
  code TEXT NOT NULL,
  table_id TEXT NOT NULL,
  said TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  event INTEGER NOT NULL,
  seal INTEGER NOT NULL
) STRICT;

-- Public keys and whom they speak for.
CREATE TABLE keys (
  public_key TEXT NOT NULL PRIMARY KEY,
  table_id TEXT NOT NULL,
  role TEXT NOT NULL,
  from_ms INTEGER NOT NULL,
  until_ms INTEGER NOT NULL,
  revoked_ms INTEGER NOT NULL,
  by_whom TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  seal INTEGER NOT NULL
) STRICT;

-- People. No password, only its scrypt hash.
CREATE TABLE accounts (
  name TEXT NOT NULL PRIMARY KEY,
  role TEXT NOT NULL,
  scrypt TEXT NOT NULL,
  failures INTEGER NOT NULL,
  locked INTEGER NOT NULL,
  by_whom TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  seal INTEGER NOT NULL
) STRICT;
