-- What happened at a destination in a minute (counted since 1970); with an empty name: what came in. t0 to t15 count
-- answers by the time they took, in the bins that the core names.
CREATE TABLE minute (
  minute INTEGER NOT NULL,
  destination TEXT NOT NULL,
  events INTEGER NOT NULL,              -- stored
  delivered INTEGER NOT NULL,           -- attempts
  failed INTEGER NOT NULL,
  t0 INTEGER NOT NULL, t1 INTEGER NOT NULL, t2 INTEGER NOT NULL, t3 INTEGER NOT NULL,
  t4 INTEGER NOT NULL, t5 INTEGER NOT NULL, t6 INTEGER NOT NULL, t7 INTEGER NOT NULL,
  t8 INTEGER NOT NULL, t9 INTEGER NOT NULL, t10 INTEGER NOT NULL, t11 INTEGER NOT NULL,
  t12 INTEGER NOT NULL, t13 INTEGER NOT NULL, t14 INTEGER NOT NULL, t15 INTEGER NOT NULL,
  PRIMARY KEY (minute, destination)
) STRICT, WITHOUT ROWID;

-- When something last happened, however long ago.
CREATE TABLE latest (
  what TEXT NOT NULL,                   -- event, refusal, delivered, failure
  label TEXT NOT NULL,                  -- the source or destination
  at INTEGER NOT NULL,
  why TEXT NOT NULL,                    -- of a failure
  PRIMARY KEY (what, label)
) STRICT, WITHOUT ROWID;

-- Lists of events go by the time of receipt, so that a span of time is a piece of them.
CREATE INDEX event_by_receipt ON event (received_at);
DROP INDEX event_by_source;
CREATE INDEX event_by_source ON event (source, received_at);
DROP INDEX event_by_scoped_sender_id;
CREATE INDEX event_by_scoped_sender_id ON event (sender_id, received_at) WHERE scope IS NOT NULL;

-- The list of one destination's dead letters.
DROP INDEX delivery_dead_by_destination;
CREATE INDEX delivery_dead_by_destination ON delivery (destination, changed_at, id) WHERE state = 3;

-- What waits after an attempt, in its first round or sent once more (redriven or replayed).
DROP INDEX delivery_again;
CREATE INDEX delivery_again ON delivery (destination, (base + run > 0), event) WHERE state = 0 AND attempts > 0;

-- Of dead letters, those that nobody redrove while they were kept.
INSERT INTO total (name, label, detail, value)
  SELECT 'expired', label, '', value - (SELECT count(*) FROM delivery d WHERE d.destination = t.label AND d.state = 3)
  FROM total t WHERE name = 'dead' AND value > (SELECT count(*) FROM delivery d WHERE d.destination = t.label AND d.state = 3);

INSERT INTO latest (what, label, at, why)
  SELECT 'event', source, max(received_at), '' FROM event GROUP BY source;
INSERT INTO latest (what, label, at, why)
  SELECT 'refusal', source, max(at), '' FROM refusal GROUP BY source;
