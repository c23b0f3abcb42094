//! Totals, counted in the same transactions as what they count: each transaction gathers its changes and writes them
//! once.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rusqlite::Connection;
use switchboard_core::delivery::State;
use switchboard_core::names::{DestinationName, SourceName};

/// Names of the totals by source.
pub(crate) const STORED: &str = "stored";
pub(crate) const REPEATS: &str = "repeats";
pub(crate) const OTHER_BODIES: &str = "other-bodies";
pub(crate) const REFUSED: &str = "refused";
pub(crate) const UNROUTED: &str = "unrouted";
/// Name of the totals by source and cause.
pub(crate) const DECLINED: &str = "declined";

type Name = (&'static str, String, Cow<'static, str>);

/// What a transaction changes the totals by.
#[derive(Debug, Default)]
pub(crate) struct Changes(BTreeMap<Name, i64>);

impl Changes {
    pub(crate) fn source(&mut self, name: &'static str, source: &SourceName, by: i64) {
        self.add((name, source.as_str().to_owned(), Cow::Borrowed("")), by);
    }

    pub(crate) fn declined(
        &mut self,
        source: Option<&SourceName>,
        status: u16,
        cause: &str,
        by: i64,
    ) {
        let label = source
            .map(SourceName::as_str)
            .unwrap_or_default()
            .to_owned();
        self.add(
            (DECLINED, label, Cow::Owned(format!("{status} {cause}"))),
            by,
        );
    }

    /// A delivery to `destination` came into `state`.
    pub(crate) fn enter(&mut self, state: State, destination: &DestinationName) {
        self.add(
            (
                state.as_str(),
                destination.as_str().to_owned(),
                Cow::Borrowed(""),
            ),
            1,
        );
    }

    /// A delivery to `destination` went from one state to another.
    pub(crate) fn pass(&mut self, from: State, to: State, destination: &DestinationName) {
        self.add(
            (
                from.as_str(),
                destination.as_str().to_owned(),
                Cow::Borrowed(""),
            ),
            -1,
        );
        self.enter(to, destination);
    }

    fn add(&mut self, name: Name, by: i64) {
        let value = self.0.entry(name).or_default();
        *value = value.saturating_add(by);
    }

    pub(crate) fn write(self, connection: &Connection) -> rusqlite::Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut statement = connection.prepare_cached(
            "INSERT INTO total (name, label, detail, value) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (name, label, detail) DO UPDATE SET value = value + excluded.value",
        )?;
        for ((name, label, detail), by) in self.0.into_iter().filter(|(_, by)| *by != 0) {
            statement.execute((name, label, detail, by))?;
        }
        Ok(())
    }
}
