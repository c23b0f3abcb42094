//! Expiry: events past their life are removed in small steps; SQLite uses the space again.

use std::time::Duration;

use switchboard_core::delivery::State;
use switchboard_core::ports::{Keep, Moved};
use switchboard_core::time::Timestamp;

use crate::failure::Failure;
use crate::minutes;
use crate::rows::{self, state_number};
use crate::writer::Step;

/// How long an event is passed over that an open delivery still needs. Its life does not grow by it.
const RESPITE: Duration = Duration::from_hours(24);

/// Removes events past their life, at most `limit` of them looked at.
pub(crate) fn expire(step: &mut Step<'_>, now: Timestamp, limit: u32) -> Result<Moved, Failure> {
    let seqs: Vec<i64> = step
        .prepare_cached(
            "SELECT seq FROM event WHERE expiry_looks_at <= ?1 ORDER BY expiry_looks_at LIMIT ?2",
        )?
        .query_map((now.millis(), limit), |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    minutes::remove(step, now)?;
    // Only whether there may be more: the one writer counts no backlog.
    let full = u32::try_from(seqs.len()).is_ok_and(|looked_at| looked_at == limit);
    let mut done = 0;
    for seq in seqs {
        if has_open(step, seq)? {
            // Out of the way, so that such events never fill a whole step.
            step.prepare_cached("UPDATE event SET expiry_looks_at = ?2 WHERE seq = ?1")?
                .execute((seq, now.plus(RESPITE).millis()))?;
        } else {
            remove(step, seq)?;
            done += 1;
        }
    }
    Ok(Moved {
        done,
        left: u32::from(full),
    })
}

/// Whether an attempt of this event is still to come: a delivery waits or is held.
pub(crate) fn has_open(step: &Step<'_>, event: i64) -> Result<bool, Failure> {
    let mut statement = step.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM delivery WHERE event = ?1 AND state IN (?2, ?3))",
    )?;
    let open = (
        event,
        state_number(State::Waiting),
        state_number(State::Held),
    );
    Ok(statement.query_row(open, |row| row.get(0))?)
}

/// Removes an event and its deliveries. The totals tell what happened, so they stay; also that dead letters expired.
pub(crate) fn remove(step: &mut Step<'_>, event: i64) -> Result<(), Failure> {
    let dead: Vec<(String, i64)> = step
        .prepare_cached(
            "SELECT destination, count(*) FROM delivery WHERE event = ?1 AND state = ?2 GROUP BY destination",
        )?
        .query_map((event, state_number(State::Dead)), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .collect::<Result<_, _>>()?;
    for (destination, count) in dead {
        let destination = rows::destination(&destination)?;
        step.totals.expired(&destination, count);
    }
    step.prepare_cached("DELETE FROM delivery WHERE event = ?1")?
        .execute([event])?;
    step.prepare_cached("DELETE FROM event WHERE seq = ?1")?
        .execute([event])?;
    Ok(())
}

/// An event with a dead or held delivery lives longer.
pub(crate) fn keep_longer(step: &Step<'_>, event: i64, keep: Keep) -> Result<(), Failure> {
    let more = keep.until_when_dead(Timestamp::default()).millis();
    step.prepare_cached(
        "UPDATE event SET expires_at = max(expires_at, received_at + ?2),
           expiry_looks_at = max(expiry_looks_at, received_at + ?2)
         WHERE seq = ?1",
    )?
    .execute((event, more))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use switchboard_core::ports::Ledger;

    use super::*;
    use crate::store::Store;

    #[tokio::test]
    async fn more_may_be_left_while_a_step_is_full() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("a store");
        store
            .step("filling", |step| {
                Ok(step.execute_batch(
                    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 25)
                     INSERT INTO event (id, source, sender_id, kind, received_at, expires_at, expiry_looks_at, headers, body, body_digest)
                     SELECT printf('e%d', i), 'shop', i, '', 0, 0, 0, x'', x'', x'' FROM n;",
                )?)
            })
            .await
            .expect("filled");
        for expected in [(10, 1), (10, 1), (5, 0), (0, 0)] {
            let moved = store.expire(Timestamp::from_millis(1), 10).await;
            let moved = moved.expect("expired");
            assert_eq!((moved.done, moved.left), expected);
        }
    }
}
