//! One table of a configuration, taken apart key by key: what is wrong is noted, and what is left over at the end
//! is a key that nobody knows.

use std::time::Duration;

use toml::{Table, Value};

use super::read::Fault;
use crate::time;

/// A table, and where it stands in the configuration.
pub(super) struct Fields<'a> {
    place: String,
    table: Table,
    faults: &'a mut Vec<Fault>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(place: impl Into<String>, table: Table, faults: &'a mut Vec<Fault>) -> Self {
        Self {
            place: place.into(),
            table,
            faults,
        }
    }

    /// Names the table by what it declares, once that is known.
    pub(super) fn call(&mut self, place: String) {
        self.place = place;
    }

    /// How the table is named in faults and warnings.
    pub(super) fn place(&self) -> &str {
        &self.place
    }

    pub(super) fn fault(&mut self, what: impl Into<String>) {
        self.faults.push(Fault::new(&self.place, what));
    }

    fn wrong(&mut self, key: &str, due: &str) {
        self.fault(format!("{key} must be {due}"));
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        if let Value::String(text) = self.table.remove(key)? {
            Some(text)
        } else {
            self.wrong(key, "a text");
            None
        }
    }

    pub(super) fn required_text(&mut self, key: &str) -> Option<String> {
        if !self.has(key) {
            self.fault(format!("{key} is missing"));
        }
        self.text(key)
    }

    /// A whole number within bounds.
    pub(super) fn number(
        &mut self,
        key: &str,
        bounds: std::ops::RangeInclusive<i64>,
    ) -> Option<i64> {
        match self.table.remove(key)? {
            Value::Integer(number) if bounds.contains(&number) => Some(number),
            _ => {
                self.wrong(
                    key,
                    &format!("a whole number from {} to {}", bounds.start(), bounds.end()),
                );
                None
            }
        }
    }

    pub(super) fn fraction(&mut self, key: &str) -> Option<f64> {
        match self.table.remove(key)? {
            Value::Float(number) => Some(number),
            Value::Integer(0) => Some(0.0),
            _ => {
                self.wrong(key, "a number from 0 to 0.9, such as 0.2");
                None
            }
        }
    }

    pub(super) fn switch(&mut self, key: &str) -> Option<bool> {
        if let Value::Boolean(on) = self.table.remove(key)? {
            Some(on)
        } else {
            self.wrong(key, "true or false");
            None
        }
    }

    pub(super) fn texts(&mut self, key: &str) -> Option<Vec<String>> {
        let Value::Array(values) = self.table.remove(key)? else {
            self.wrong(key, "a list of texts");
            return None;
        };
        let read = |value| match value {
            Value::String(text) => Some(text),
            _ => None,
        };
        let texts: Option<Vec<String>> = values.into_iter().map(read).collect();
        if texts.is_none() {
            self.wrong(key, "a list of texts");
        }
        texts
    }

    pub(super) fn table(&mut self, key: &str) -> Option<Table> {
        if let Value::Table(table) = self.table.remove(key)? {
            Some(table)
        } else {
            self.wrong(key, "a table");
            None
        }
    }

    pub(super) fn tables(&mut self, key: &str) -> Vec<Table> {
        let Some(value) = self.table.remove(key) else {
            return Vec::new();
        };
        let read = |value| match value {
            Value::Table(table) => Some(table),
            _ => None,
        };
        let tables: Option<Vec<Table>> = match value {
            Value::Array(values) => values.into_iter().map(read).collect(),
            _ => None,
        };
        if tables.is_none() {
            self.wrong(key, "a list of tables");
        }
        tables.unwrap_or_default()
    }

    /// A span of time within bounds, as `"2s"`, `"500ms"`, `"5m"`.
    pub(super) fn span(
        &mut self,
        key: &str,
        bounds: std::ops::RangeInclusive<Duration>,
    ) -> Option<Duration> {
        let text = self.text(key)?;
        self.read_span(key, &text, &bounds)
    }

    pub(super) fn spans(
        &mut self,
        key: &str,
        bounds: &std::ops::RangeInclusive<Duration>,
    ) -> Option<Vec<Duration>> {
        let texts = self.texts(key)?;
        // Each of them is read, whatever became of the one before: every fault is named at once.
        let spans: Vec<Option<Duration>> = texts
            .iter()
            .map(|text| self.read_span(key, text, bounds))
            .collect();
        spans.into_iter().collect()
    }

    fn read_span(
        &mut self,
        key: &str,
        text: &str,
        bounds: &std::ops::RangeInclusive<Duration>,
    ) -> Option<Duration> {
        let read = humantime::parse_duration(text)
            .ok()
            .filter(|span| bounds.contains(span));
        if read.is_none() {
            let (least, most) = (time::span(*bounds.start()), time::span(*bounds.end()));
            self.fault(format!(
                "{key}: {text:?} is not a span of time from {least} to {most}, such as \"2s\""
            ));
        }
        read
    }

    /// Notes every key that nobody took.
    pub(super) fn finish(self) {
        for key in self.table.keys() {
            self.faults
                .push(Fault::new(&self.place, format!("unknown key {key:?}")));
        }
    }
}
