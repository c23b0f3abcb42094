-- Waiting deliveries that were attempted before, the oldest event of each destination first; those that were redriven
-- (base above 0) apart. What is delivered at its first attempt is never in it.
CREATE INDEX delivery_again ON delivery (destination, base, event) WHERE state = 0 AND attempts > 0;

-- What is raised of a destination and what was told of it.
CREATE TABLE alert (
  destination TEXT PRIMARY KEY,
  value TEXT NOT NULL                   -- JSON
) STRICT, WITHOUT ROWID;
