-- A password makes a key: the store keeps its public half. Nobody is locked out for ever: until_ms is
-- a time, and the 1 of an account that was locked is long ago.
ALTER TABLE accounts RENAME COLUMN scrypt TO credential;

ALTER TABLE accounts RENAME COLUMN locked TO until_ms;

-- The chain of staff orders: each is an event, head is SHA-256 (link/rows.py, staff_head).
CREATE TABLE staff (
  number INTEGER PRIMARY KEY,
  event INTEGER NOT NULL UNIQUE REFERENCES events (id),
  head BLOB NOT NULL
) STRICT;
