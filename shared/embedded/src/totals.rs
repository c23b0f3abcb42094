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
/// Name of the total by destination of dead letters that nobody redrove while they were kept.
pub(crate) const EXPIRED: &str = "expired";
/// Name of the totals by source and cause.
pub(crate) const DECLINED: &str = "declined";

/// Whose total it is.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    Nobodys,
    Of(SourceName),
    To(DestinationName),
}

impl Label {
    fn as_str(&self) -> &str {
        match self {
            Self::Nobodys => "",
            Self::Of(source) => source.as_str(),
            Self::To(destination) => destination.as_str(),
        }
    }
}

type Name = (&'static str, Label, Cow<'static, str>);

/// What a transaction changes the totals by.
#[derive(Debug, Default)]
pub(crate) struct Changes(BTreeMap<Name, i64>);

impl Changes {
    pub(crate) fn source(&mut self, name: &'static str, source: &SourceName, by: i64) {
        self.add((name, Label::Of(source.clone()), Cow::Borrowed("")), by);
    }

    pub(crate) fn declined(
        &mut self,
        source: Option<&SourceName>,
        status: u16,
        cause: &str,
        by: i64,
    ) {
        let label = source.map_or(Label::Nobodys, |source| Label::Of(source.clone()));
        let detail = Cow::Owned(format!("{status} {cause}"));
        self.add((DECLINED, label, detail), by);
    }

    /// A delivery to `destination` came into `state`.
    pub(crate) fn enter(&mut self, state: State, destination: &DestinationName) {
        self.change(state, destination, 1);
    }

    /// A delivery to `destination` went from one state to another.
    pub(crate) fn pass(&mut self, from: State, to: State, destination: &DestinationName) {
        self.change(from, destination, -1);
        self.change(to, destination, 1);
    }

    /// So many dead letters to `destination` expired.
    pub(crate) fn expired(&mut self, destination: &DestinationName, count: i64) {
        let label = Label::To(destination.clone());
        self.add((EXPIRED, label, Cow::Borrowed("")), count);
    }

    fn change(&mut self, state: State, destination: &DestinationName, by: i64) {
        let label = Label::To(destination.clone());
        self.add((state.as_str(), label, Cow::Borrowed("")), by);
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
            statement.execute((name, label.as_str(), detail, by))?;
        }
        Ok(())
    }
}
