-- seal: CRC-32 of the row (link/store/tables.py), so that a damaged row is found at a start.

-- Who leads: one row, compared in every transaction; and everybody who ever led.
CREATE TABLE leader (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  epoch BIGINT NOT NULL,
  holder TEXT NOT NULL,
  lease_ms BIGINT NOT NULL,
  renewed_ms BIGINT NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE epochs (
  epoch BIGINT PRIMARY KEY,
  holder TEXT NOT NULL,
  since_ms BIGINT NOT NULL,
  after_event BIGINT NOT NULL
);

-- Journals of the tables; number 0 is the orders given at the server.
CREATE TABLE journals (
  id BIGINT PRIMARY KEY,
  journal TEXT NOT NULL UNIQUE,
  table_id TEXT NOT NULL,
  state TEXT NOT NULL,
  why TEXT NOT NULL,
  accepted_by TEXT NOT NULL,
  seal BIGINT NOT NULL
);

-- How far each journal is known: changed by nearly every group, so rows are short and pages have
-- room.
CREATE TABLE watermarks (
  id BIGINT PRIMARY KEY REFERENCES journals (id),
  n BIGINT NOT NULL CHECK (n >= 0),
  event BIGINT NOT NULL,
  seq BIGINT NOT NULL,
  hash BYTEA NOT NULL,
  head_seq BIGINT NOT NULL,
  head_hash BYTEA NOT NULL,
  received_ms BIGINT NOT NULL,
  rounds BYTEA NOT NULL,
  seal BIGINT NOT NULL
) WITH (fillfactor = 50);

INSERT INTO journals VALUES (0, '', '', 'active', '', '[]', 2196449160);

INSERT INTO watermarks VALUES (0, 0, 0, 0, '', 0, '', 0, '', 2114863794);

-- Every accepted input, in the order of record. previous is the event before it of the same journal:
-- with marks it finds any event of a journal without an index that each event would have to touch.
-- The journal is not a foreign key here: PostgreSQL would run one query per event. The watermark,
-- compared in the same transaction, is one.
CREATE TABLE events (
  id BIGINT PRIMARY KEY,
  journal BIGINT NOT NULL,
  n BIGINT NOT NULL CHECK (n > 0),
  previous BIGINT NOT NULL CHECK (previous < id),
  seq BIGINT NOT NULL,
  hash BYTEA NOT NULL,
  at_ms BIGINT NOT NULL,
  received_ms BIGINT NOT NULL,
  body BYTEA NOT NULL,
  chain BYTEA NOT NULL
);

CREATE INDEX events_by_time ON events (received_ms);

-- Every 256th event of a journal.
CREATE TABLE marks (
  journal BIGINT NOT NULL REFERENCES journals (id),
  n BIGINT NOT NULL,
  event BIGINT NOT NULL,
  PRIMARY KEY (journal, n)
);

-- Money, double entry: units go from debit to credit within one level.
CREATE TABLE entries (
  id BIGINT PRIMARY KEY,
  pool TEXT NOT NULL,
  level TEXT NOT NULL,
  generation BIGINT NOT NULL,
  debit TEXT NOT NULL,
  credit TEXT NOT NULL CHECK (credit <> debit),
  units BIGINT NOT NULL,
  why TEXT NOT NULL,
  first_event BIGINT NOT NULL,
  through_event BIGINT NOT NULL CHECK (through_event >= first_event),
  award TEXT NOT NULL,
  seal BIGINT NOT NULL
);

CREATE INDEX entries_by_event ON entries (through_event);

-- Derived: the sums of the entries.
CREATE TABLE balances (
  pool TEXT NOT NULL,
  level TEXT NOT NULL,
  account TEXT NOT NULL,
  units BIGINT NOT NULL,
  PRIMARY KEY (pool, level, account)
) WITH (fillfactor = 50);

CREATE TABLE levels (
  pool TEXT NOT NULL,
  level TEXT NOT NULL,
  generation BIGINT NOT NULL,
  parameters BYTEA NOT NULL,
  next_parameters BYTEA NOT NULL,
  hits BIGINT NOT NULL,
  state BYTEA NOT NULL,
  seal BIGINT NOT NULL,
  PRIMARY KEY (pool, level)
);

CREATE TABLE awards (
  award TEXT NOT NULL PRIMARY KEY,
  pool TEXT NOT NULL,
  level TEXT NOT NULL,
  generation BIGINT NOT NULL,
  place BIGINT NOT NULL,
  table_id TEXT NOT NULL,
  journal TEXT NOT NULL,
  round_no BIGINT NOT NULL,
  seat BIGINT NOT NULL,
  hand TEXT NOT NULL,
  percent BIGINT NOT NULL,
  cents BIGINT NOT NULL CHECK (cents >= 0),
  state TEXT NOT NULL,
  policy TEXT NOT NULL,
  event BIGINT NOT NULL,
  jackpot_cents BIGINT NOT NULL,
  reset_cents BIGINT NOT NULL,
  seed_units BIGINT NOT NULL,
  seal BIGINT NOT NULL
);

CREATE INDEX awards_by_event ON awards (event);

CREATE INDEX awards_by_round ON awards (journal, round_no);

CREATE TABLE steps (
  award TEXT NOT NULL REFERENCES awards (award) DEFERRABLE INITIALLY DEFERRED,
  step_no BIGINT NOT NULL,
  state TEXT NOT NULL,
  by_whom TEXT NOT NULL,
  role TEXT NOT NULL,
  at_ms BIGINT NOT NULL,
  note TEXT NOT NULL,
  event BIGINT NOT NULL,
  seal BIGINT NOT NULL,
  PRIMARY KEY (award, step_no)
);

CREATE TABLE alarms (
  id BIGINT PRIMARY KEY,
  code TEXT NOT NULL,
  table_id TEXT NOT NULL,
  said TEXT NOT NULL,
  at_ms BIGINT NOT NULL,
  event BIGINT NOT NULL,
  seal BIGINT NOT NULL
);

-- Public keys and whom they speak for.
CREATE TABLE keys (
  public_key TEXT NOT NULL PRIMARY KEY,
  table_id TEXT NOT NULL,
  role TEXT NOT NULL,
  from_ms BIGINT NOT NULL,
  until_ms BIGINT NOT NULL,
  revoked_ms BIGINT NOT NULL,
  by_whom TEXT NOT NULL,
  at_ms BIGINT NOT NULL,
  seal BIGINT NOT NULL
);

-- People. No password, only its scrypt hash.
CREATE TABLE accounts (
  name TEXT NOT NULL PRIMARY KEY,
  role TEXT NOT NULL,
  scrypt TEXT NOT NULL,
  failures BIGINT NOT NULL,
  locked BIGINT NOT NULL,
  by_whom TEXT NOT NULL,
  at_ms BIGINT NOT NULL,
  seal BIGINT NOT NULL
);
