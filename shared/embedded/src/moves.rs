//! Moving many deliveries at once: to the dead letters and back to waiting, and to held.

use rusqlite::types::Value;
use switchboard_core::delivery::{DeathReason, State};
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{Keep, Moved, Selection, Spread};
use switchboard_core::time::Timestamp;

use crate::expire;
use crate::failure::Failure;
use crate::rows::{self, Spot, reason_number, state_number};
use crate::settings;
use crate::wakes::Look;
use crate::writer::Step;

/// A delivery that is to be moved.
pub(crate) struct Found {
    pub(crate) spot: Spot,
    destination: DestinationName,
    state: State,
}

/// Which deliveries are looked for, and which of them first. One index finds them in that order: the one writer neither
/// goes through a whole backlog in every step nor sorts it.
pub(crate) struct Search {
    /// A WHERE clause.
    wanted: &'static str,
    order: &'static str,
}

const WAITING: Search = Search {
    wanted: "destination = ?1 AND state = 0",
    order: "due",
};
const DUE: Search = Search {
    wanted: "destination = ?1 AND state = 0 AND due <= ?2",
    order: "due",
};
pub(crate) const HELD: Search = Search {
    wanted: "destination = ?1 AND state = 1",
    order: "changed_at",
};
const DEAD: Search = Search {
    wanted: "state = 3",
    order: "changed_at, id",
};
const DEAD_OF: Search = Search {
    wanted: "destination = ?1 AND state = 3",
    order: "changed_at",
};
/// Those that a caller listed; in no order of an index, since they are found one by one.
const LISTED: Search = Search {
    wanted: "id IN (SELECT value FROM json_each(?1)) AND state = 3",
    order: "+changed_at",
};

impl Search {
    fn find(&self, limit: u32) -> String {
        let Self { wanted, order } = self;
        format!(
            "SELECT event, run, action, destination, state FROM delivery WHERE {wanted} ORDER BY {order} LIMIT {limit}"
        )
    }

    fn count(&self, most: u32) -> String {
        let Self { wanted, .. } = self;
        format!("SELECT count(*) FROM (SELECT 1 FROM delivery WHERE {wanted} LIMIT {most})")
    }
}

/// The deliveries of a search, at most `limit`, and how many more there are, up to a bound.
pub(crate) fn find(
    step: &Step<'_>,
    search: &Search,
    values: &[Value],
    limit: u32,
) -> Result<(Vec<Found>, u32), Failure> {
    let mut statement = step.prepare_cached(&search.find(limit))?;
    let mut rows = statement.query(rusqlite::params_from_iter(values))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let name = row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?;
        found.push(Found {
            spot: Spot::read(row)?,
            destination: rows::destination(name)?,
            state: rows::state(row.get(4)?)?,
        });
    }
    let done = number(&found);
    if done < limit {
        return Ok((found, 0));
    }
    let most = Moved::COUNTED.saturating_add(done);
    let count: u32 = step
        .prepare_cached(&search.count(most))?
        .query_row(rusqlite::params_from_iter(values), |row| row.get(0))?;
    Ok((found, count.saturating_sub(done)))
}

pub(crate) fn number(found: &[Found]) -> u32 {
    u32::try_from(found.len()).unwrap_or(u32::MAX)
}

/// Makes open deliveries of a destination dead letters without an attempt; of your endpoint only if it is not set as this
/// commits.
pub(crate) fn bury(
    step: &mut Step<'_>,
    destination: &DestinationName,
    reason: DeathReason,
    now: Timestamp,
    keep: Keep,
    limit: u32,
) -> Result<Moved, Failure> {
    // Set again since whoever buries has looked: what is open has somewhere to go.
    if destination.is_your_endpoint() && settings::load(step)?.endpoint.is_some() {
        return Ok(Moved::default());
    }
    // Two searches, since each of the two partial indexes serves one state.
    let mut done = Moved::default();
    for search in [WAITING, HELD] {
        let (found, left) = find(
            step,
            &search,
            &[name(destination)],
            limit.saturating_sub(done.done),
        )?;
        for delivery in &found {
            step.prepare_cached(
                "UPDATE delivery SET state = ?5, reason = ?6, changed_at = ?7
                 WHERE event = ?1 AND run = ?2 AND destination = ?3 AND action = ?4",
            )?
            .execute((
                delivery.spot.event,
                delivery.spot.run,
                delivery.destination.as_str(),
                delivery.spot.action.as_str(),
                state_number(State::Dead),
                reason_number(reason),
                now.millis(),
            ))?;
            step.totals.pass(delivery.state, State::Dead, destination);
            expire::keep_longer(step, delivery.spot.event, keep)?;
        }
        done = Moved {
            done: done.done.saturating_add(number(&found)),
            left: done.left.saturating_add(left),
        };
    }
    Ok(done)
}

/// Moves waiting deliveries that are due to held, if their destination is held as this commits.
pub(crate) fn shelve(
    step: &mut Step<'_>,
    destination: &DestinationName,
    now: Timestamp,
    keep: Keep,
    limit: u32,
) -> Result<Moved, Failure> {
    let held: bool = step
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM held WHERE destination = ?1)")?
        .query_row([destination.as_str()], |row| row.get(0))?;
    if !held {
        return Ok(Moved::default());
    }
    let values = [name(destination), Value::Integer(now.millis())];
    let (found, left) = find(step, &DUE, &values, limit)?;
    for delivery in &found {
        step.prepare_cached(
            "UPDATE delivery SET state = ?5, changed_at = ?6
             WHERE event = ?1 AND run = ?2 AND destination = ?3 AND action = ?4",
        )?
        .execute((
            delivery.spot.event,
            delivery.spot.run,
            delivery.destination.as_str(),
            delivery.spot.action.as_str(),
            state_number(State::Held),
            now.millis(),
        ))?;
        step.totals.pass(State::Waiting, State::Held, destination);
        expire::keep_longer(step, delivery.spot.event, keep)?;
    }
    Ok(Moved {
        done: number(&found),
        left,
    })
}

/// Puts dead letters back to waiting, for a new round.
pub(crate) fn requeue(
    step: &mut Step<'_>,
    selection: &Selection,
    spread: Spread,
    limit: u32,
) -> Result<Moved, Failure> {
    let (found, left) = match selection {
        Selection::AllDead => find(step, &DEAD, &[], limit)?,
        Selection::DeadOf(destination) => find(step, &DEAD_OF, &[name(destination)], limit)?,
        Selection::Dead(deliveries) => {
            let ids: Vec<&str> = deliveries
                .iter()
                .map(switchboard_core::identity::DeliveryId::as_str)
                .collect();
            let ids = serde_json::to_string(&ids).map_err(|_| Failure::Unreadable("selection"))?;
            find(step, &LISTED, &[Value::Text(ids)], limit)?
        }
    };
    for (nth, delivery) in (0..).zip(&found) {
        step.prepare_cached(
            "UPDATE delivery SET state = 0, due = ?5, changed_at = ?6, base = attempts, reason = NULL
             WHERE event = ?1 AND run = ?2 AND destination = ?3 AND action = ?4",
        )?
        .execute((
            delivery.spot.event,
            delivery.spot.run,
            delivery.destination.as_str(),
            delivery.spot.action.as_str(),
            spread.due(nth).millis(),
            spread.start.millis(),
        ))?;
        step.totals
            .pass(State::Dead, State::Waiting, &delivery.destination);
        step.news.look(&delivery.destination, Look::Now);
    }
    Ok(Moved {
        done: number(&found),
        left,
    })
}

pub(crate) fn name(destination: &DestinationName) -> Value {
    Value::Text(destination.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use switchboard_core::ports::Ledger;

    use super::*;
    use crate::plans::plan;
    use crate::store::Store;

    #[tokio::test]
    async fn no_step_goes_through_a_backlog_or_sorts_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("a store");
        let known = [
            (WAITING, "delivery_waiting (destination=?)"),
            (DUE, "delivery_waiting (destination=? AND due<?)"),
            (HELD, "delivery_held (destination=?)"),
            (DEAD, "delivery_dead"),
            (DEAD_OF, "delivery_dead_by_destination (destination=?)"),
            (LISTED, "delivery_dead_by_id (id=?)"),
        ];
        for (search, index) in known {
            let sorts = search.order.starts_with('+');
            for sql in [search.find(500), search.count(500)] {
                let plan = plan(&store, &sql).await;
                let finds = |line: &String| line.contains(index);
                assert!(plan.iter().any(finds), "{sql}: {plan:?}");
                let sorted = plan.iter().any(|line| line.contains("TEMP B-TREE"));
                assert!(sorts || !sorted, "{sql}: {plan:?}");
            }
        }
    }

    #[tokio::test]
    async fn what_is_left_is_counted_up_to_a_bound() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("a store");
        store
            .step("filling", |step| {
                Ok(step.execute_batch(
                    "INSERT INTO event VALUES (1, 'e', 'shop', '1', NULL, '', 0, 0, 0, x'', x'', x'', 0, 0);
                     WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20120)
                     INSERT INTO delivery (id, event, run, destination, action, state, due, changed_at)
                     SELECT printf('d%d', i), 1, i, 'chat', 'deliver', 3, 0, 0 FROM n;",
                )?)
            })
            .await
            .expect("filled");
        let spread = Spread {
            start: Timestamp::default(),
            per_second: 50,
        };
        for (limit, expected) in [(100, 20_000), (50, 19_970), (19_970, 0), (1, 0)] {
            let moved = store.requeue(&Selection::AllDead, spread, limit).await;
            assert_eq!(moved.expect("moved").left, expected, "after {limit} more");
        }
    }
}
