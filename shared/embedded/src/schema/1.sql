-- Times are milliseconds since 1970. States: 0 waiting, 1 held, 2 delivered, 3 dead.

CREATE TABLE event (
  seq INTEGER PRIMARY KEY,              -- in the order of receipt
  id TEXT NOT NULL UNIQUE,
  source TEXT NOT NULL,
  sender_id TEXT NOT NULL,
  scope TEXT,                           -- what the sender's id is unique within, besides the source
  kind TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,          -- the end of its life
  expiry_looks_at INTEGER NOT NULL,     -- the same, or later when a waiting delivery needed it past that
  headers BLOB NOT NULL,                -- "name: value" lines
  body BLOB NOT NULL,
  body_digest BLOB NOT NULL,            -- SHA-256
  repeats INTEGER NOT NULL DEFAULT 0,
  other_bodies INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX event_by_expiry ON event (expiry_looks_at);
CREATE INDEX event_by_source ON event (source);
CREATE INDEX event_by_sender_id ON event (sender_id);

CREATE TABLE delivery (
  id TEXT PRIMARY KEY,
  event INTEGER NOT NULL REFERENCES event (seq),
  run INTEGER NOT NULL,
  destination TEXT NOT NULL,
  action TEXT NOT NULL,
  state INTEGER NOT NULL,
  due INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,  -- recorded so far
  base INTEGER NOT NULL DEFAULT 0,      -- of them, before the present round
  reason INTEGER,                       -- why it is dead
  changed_at INTEGER NOT NULL,
  log TEXT NOT NULL DEFAULT '[]'        -- the last attempts, JSON
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_by_event ON delivery (event);
CREATE INDEX delivery_waiting ON delivery (destination, due) WHERE state = 0;
CREATE INDEX delivery_held ON delivery (destination, changed_at) WHERE state = 1;
CREATE INDEX delivery_dead ON delivery (changed_at, id) WHERE state = 3;
CREATE INDEX delivery_dead_by_destination ON delivery (destination, changed_at) WHERE state = 3;

CREATE TABLE total (
  name TEXT NOT NULL,
  label TEXT NOT NULL,                  -- the source or destination
  detail TEXT NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (name, label, detail)
) STRICT, WITHOUT ROWID;

CREATE TABLE refusal (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  source TEXT NOT NULL,
  detail TEXT NOT NULL                  -- JSON
) STRICT;

CREATE TABLE declined (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  source TEXT,
  path TEXT NOT NULL,
  status INTEGER NOT NULL,
  cause TEXT NOT NULL
) STRICT;

CREATE TABLE setting (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL                   -- JSON
) STRICT, WITHOUT ROWID;

CREATE TABLE held (destination TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
