-- Deliveries lie beside their event, in the order of receipt, so that storing and settling one writes to a page that is
-- at hand. By its own id a delivery is looked for only when it is dead.
CREATE TABLE delivery_2 (
  event INTEGER NOT NULL,               -- its seq
  run INTEGER NOT NULL,
  destination TEXT NOT NULL,
  action TEXT NOT NULL,
  id TEXT NOT NULL,
  state INTEGER NOT NULL,
  due INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,  -- recorded so far
  base INTEGER NOT NULL DEFAULT 0,      -- of them, before the present round
  reason INTEGER,                       -- why it is dead
  changed_at INTEGER NOT NULL,
  log TEXT NOT NULL DEFAULT '[]',       -- the last attempts, JSON
  PRIMARY KEY (event, run, destination, action)
) STRICT, WITHOUT ROWID;
INSERT INTO delivery_2 (event, run, destination, action, id, state, due, attempts, base, reason, changed_at, log)
  SELECT event, run, destination, action, id, state, due, attempts, base, reason, changed_at, log FROM delivery
  ORDER BY event, run, destination, action;
DROP TABLE delivery;
ALTER TABLE delivery_2 RENAME TO delivery;
CREATE INDEX delivery_waiting ON delivery (destination, due) WHERE state = 0;
CREATE INDEX delivery_held ON delivery (destination, changed_at) WHERE state = 1;
CREATE INDEX delivery_dead ON delivery (changed_at, id) WHERE state = 3;
CREATE INDEX delivery_dead_by_destination ON delivery (destination, changed_at) WHERE state = 3;
CREATE INDEX delivery_dead_by_id ON delivery (id) WHERE state = 3;

-- Without a scope the sender's id and the source make the event's id, which has an index.
DROP INDEX event_by_sender_id;
CREATE INDEX event_by_scoped_sender_id ON event (sender_id) WHERE scope IS NOT NULL;
