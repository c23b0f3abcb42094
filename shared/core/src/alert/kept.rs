//! What is kept of a destination's alerts, as the text that every store keeps.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Hold, Known, Record, Recovered, Trouble};
use crate::time::Timestamp;

/// Version of the text.
const VERSION: u32 = 1;

/// A record as it is stored; moments in milliseconds since 1970.
#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    raised: BTreeMap<String, i64>,
    /// Whether it is known for sure.
    known: BTreeMap<String, bool>,
    /// When it was raised, and when it was over.
    recovered: Option<(i64, i64)>,
    on_hold: bool,
    held_until: Option<i64>,
}

impl Record {
    /// Its text; `None` for none, which nothing that can be kept has.
    pub fn to_text(&self) -> Option<String> {
        serde_json::to_string(&stored(self)).ok()
    }

    /// Reads a text of this version; `None` when it is none.
    pub fn of_text(text: &str) -> Option<Self> {
        read(text)
    }
}

fn stored(record: &Record) -> Stored {
    let name = |trouble: &Trouble| trouble.as_str().to_owned();
    let raised = record.raised.iter();
    let known = record.known.iter();
    let recovered = record.recovered;
    Stored {
        version: VERSION,
        raised: raised.map(|(of, at)| (name(of), at.millis())).collect(),
        known: known
            .map(|(of, known)| (name(of), *known == Known::Surely))
            .collect(),
        recovered: recovered.map(|of| (of.raised_at.millis(), of.at.millis())),
        on_hold: record.hold == Hold::Now,
        held_until: match record.hold {
            Hold::Until(moment) => Some(moment.millis()),
            Hold::No | Hold::Now => None,
        },
    }
}

fn read(text: &str) -> Option<Record> {
    let stored: Stored = serde_json::from_str(text)
        .ok()
        .filter(|stored: &Stored| stored.version == VERSION)?;
    let moment = Timestamp::from_millis;
    let known = |sure| if sure { Known::Surely } else { Known::Perhaps };
    let raised = stored.raised.iter();
    let told = stored.known.iter();
    Some(Record {
        raised: raised
            .map(|(name, at)| Some((Trouble::named(name)?, moment(*at))))
            .collect::<Option<_>>()?,
        known: told
            .map(|(name, sure)| Some((Trouble::named(name)?, known(*sure))))
            .collect::<Option<_>>()?,
        recovered: stored.recovered.map(|(raised_at, at)| Recovered {
            raised_at: moment(raised_at),
            at: moment(at),
        }),
        hold: match (stored.on_hold, stored.held_until) {
            (true, _) => Hold::Now,
            (false, Some(until)) => Hold::Until(moment(until)),
            (false, None) => Hold::No,
        },
    })
}
