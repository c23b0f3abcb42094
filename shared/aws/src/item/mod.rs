//! Items of the table as the core's types, one file for each kind of item. What is stored was checked before it was
//! written, so an attribute that cannot be read means a broken table, and a newer version means a newer program.

use std::collections::HashMap;
use std::fmt::Display;
use std::str::FromStr;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use bytes::Bytes;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::names::{ActionName, DestinationName, Kind, SourceName};
use switchboard_core::time::Timestamp;

use crate::keys;
use crate::token::Token;

pub(crate) mod configuration;
pub(crate) mod delivery;
pub(crate) mod event;
pub(crate) mod log;
pub(crate) mod names;
pub(crate) mod part;
pub(crate) mod plan;
pub(crate) mod repeat;
pub(crate) mod run;
pub(crate) mod settings;
pub(crate) mod stay;

/// An item, as the SDK has it.
pub(crate) type Attributes = HashMap<String, AttributeValue>;

/// Version of the items that are written; older ones are read, newer ones are not.
pub(crate) const VERSION: u32 = 1;

/// Why an item cannot be read. Values are never quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unreadable {
    /// An attribute is missing, of another type, or not what it should be.
    #[error("the stored {item} has no readable attribute {attribute:?}")]
    Attribute {
        /// The kind of item.
        item: &'static str,
        /// The attribute's name.
        attribute: &'static str,
    },
    /// It was written by a later program.
    #[error(
        "the stored {item} is of version {found}, and this program reads none later than {VERSION}"
    )]
    Newer {
        /// The kind of item.
        item: &'static str,
        /// Its version.
        found: u32,
    },
}

/// The attributes of an item, to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'a> {
    item: &'static str,
    attributes: &'a Attributes,
}

impl<'a> Reading<'a> {
    /// An item of a version that can be read; `item` is the kind of item, for errors.
    pub(crate) fn of(item: &'static str, attributes: &'a Attributes) -> Result<Self, Unreadable> {
        let reading = Self { item, attributes };
        let found = reading.number(names::VERSION)?;
        if found > VERSION {
            return Err(Unreadable::Newer { item, found });
        }
        Ok(reading)
    }

    /// An item of whichever version, for one whose reader judges that.
    pub(crate) const fn of_any_version(item: &'static str, attributes: &'a Attributes) -> Self {
        Self { item, attributes }
    }

    /// That `attribute` cannot be read.
    pub(crate) fn fault(&self, attribute: &'static str) -> Unreadable {
        Unreadable::Attribute {
            item: self.item,
            attribute,
        }
    }

    /// Whether the item has it.
    pub(crate) fn has(&self, attribute: &'static str) -> bool {
        self.attributes.contains_key(attribute)
    }

    /// A text.
    pub(crate) fn text(&self, attribute: &'static str) -> Result<&'a str, Unreadable> {
        self.attributes
            .get(attribute)
            .and_then(|value| value.as_s().ok())
            .map(String::as_str)
            .ok_or(self.fault(attribute))
    }

    /// What `parse` makes of a text.
    pub(crate) fn parsed<T>(
        &self,
        attribute: &'static str,
        parse: impl FnOnce(&'a str) -> Option<T>,
    ) -> Result<T, Unreadable> {
        parse(self.text(attribute)?).ok_or(self.fault(attribute))
    }

    /// A number.
    pub(crate) fn number<T: FromStr>(&self, attribute: &'static str) -> Result<T, Unreadable> {
        self.attributes
            .get(attribute)
            .and_then(|value| value.as_n().ok()?.parse().ok())
            .ok_or(self.fault(attribute))
    }

    /// A number that need not be there.
    pub(crate) fn number_if_any<T: FromStr>(
        &self,
        attribute: &'static str,
    ) -> Result<Option<T>, Unreadable> {
        self.has(attribute)
            .then(|| self.number(attribute))
            .transpose()
    }

    /// A moment.
    pub(crate) fn moment(&self, attribute: &'static str) -> Result<Timestamp, Unreadable> {
        self.number(attribute).map(Timestamp::from_millis)
    }

    /// A moment that need not be there.
    pub(crate) fn moment_if_any(
        &self,
        attribute: &'static str,
    ) -> Result<Option<Timestamp>, Unreadable> {
        Ok(self.number_if_any(attribute)?.map(Timestamp::from_millis))
    }

    /// Bytes.
    pub(crate) fn bytes(&self, attribute: &'static str) -> Result<&'a [u8], Unreadable> {
        self.attributes
            .get(attribute)
            .and_then(|value| value.as_b().ok())
            .map(AsRef::as_ref)
            .ok_or(self.fault(attribute))
    }

    /// A set of texts; one that is not there is empty, since the table keeps no empty sets.
    pub(crate) fn texts(&self, attribute: &'static str) -> Result<&'a [String], Unreadable> {
        match self.attributes.get(attribute) {
            Some(value) => value
                .as_ss()
                .map(Vec::as_slice)
                .map_err(|_| self.fault(attribute)),
            None => Ok(&[]),
        }
    }

    /// A token.
    pub(crate) fn token(&self, attribute: &'static str) -> Result<Token, Unreadable> {
        self.text(attribute).map(Token::stored)
    }

    /// The event in whose partition the item lies.
    pub(crate) fn event(&self) -> Result<EventId, Unreadable> {
        self.parsed(names::PARTITION, keys::event_of)
    }

    /// A source.
    pub(crate) fn source(&self) -> Result<SourceName, Unreadable> {
        self.parsed(names::SOURCE, |text| SourceName::parse(text).ok())
    }

    /// A kind of event.
    pub(crate) fn kind(&self) -> Result<Kind, Unreadable> {
        self.parsed(names::KIND, Kind::new)
    }

    /// A destination.
    pub(crate) fn destination(&self) -> Result<DestinationName, Unreadable> {
        self.parsed(names::DESTINATION, |text| DestinationName::parse(text).ok())
    }

    /// An action.
    pub(crate) fn action(&self) -> Result<ActionName, Unreadable> {
        self.parsed(names::ACTION, |text| ActionName::parse(text).ok())
    }

    /// A run.
    pub(crate) fn run(&self) -> Result<Run, Unreadable> {
        self.number(names::RUN).map(Run)
    }
}

/// Attributes of an item that is to be written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Writing(Attributes);

impl Writing {
    /// An item of the present version at these keys.
    pub(crate) fn at(partition: impl Into<String>, sort: impl Into<String>) -> Self {
        Self::default()
            .text(names::PARTITION, partition)
            .text(names::SORT, sort)
            .number(names::VERSION, VERSION)
    }

    /// A text.
    #[must_use]
    pub(crate) fn text(self, attribute: &'static str, text: impl Into<String>) -> Self {
        self.value(attribute, AttributeValue::S(text.into()))
    }

    /// A text, if there is one.
    #[must_use]
    pub(crate) fn text_if_any(
        self,
        attribute: &'static str,
        text: Option<impl Into<String>>,
    ) -> Self {
        match text {
            Some(text) => self.text(attribute, text),
            None => self,
        }
    }

    /// Two keys of an index, if it has the item.
    #[must_use]
    pub(crate) fn index(
        self,
        [partition, sort]: [&'static str; 2],
        keys: Option<(String, String)>,
    ) -> Self {
        match keys {
            Some((p, s)) => self.text(partition, p).text(sort, s),
            None => self,
        }
    }

    /// A number.
    #[must_use]
    pub(crate) fn number(self, attribute: &'static str, number: impl Display + Copy) -> Self {
        self.value(attribute, AttributeValue::N(number.to_string()))
    }

    /// A number, if there is one.
    #[must_use]
    pub(crate) fn number_if_any(
        self,
        attribute: &'static str,
        number: Option<impl Display + Copy>,
    ) -> Self {
        match number {
            Some(number) => self.number(attribute, number),
            None => self,
        }
    }

    /// A moment.
    #[must_use]
    pub(crate) fn moment(self, attribute: &'static str, at: Timestamp) -> Self {
        self.number(attribute, at.millis())
    }

    /// Bytes.
    #[must_use]
    pub(crate) fn bytes(self, attribute: &'static str, bytes: impl Into<Vec<u8>>) -> Self {
        self.value(attribute, AttributeValue::B(Blob::new(bytes)))
    }

    /// A value of any type.
    #[must_use]
    pub(crate) fn value(mut self, attribute: &'static str, value: AttributeValue) -> Self {
        self.0.insert(attribute.to_owned(), value);
        self
    }

    /// The item.
    pub(crate) fn done(self) -> Attributes {
        self.0
    }
}

/// The two keys of an item.
pub(crate) fn place(partition: impl Into<String>, sort: impl Into<String>) -> Attributes {
    Attributes::from([
        (
            names::PARTITION.to_owned(),
            AttributeValue::S(partition.into()),
        ),
        (names::SORT.to_owned(), AttributeValue::S(sort.into())),
    ])
}

/// Bytes that were read.
pub(crate) fn owned(bytes: &[u8]) -> Bytes {
    Bytes::copy_from_slice(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_item_is_one_clear_line() {
        let newer = Writing::at("S", "x")
            .number(names::VERSION, VERSION + 1)
            .done();
        let read = Reading::of("event", &newer).map(|_| ());
        let error = read.expect_err("not to be read");
        assert_eq!(
            error.to_string(),
            "the stored event is of version 2, and this program reads none later than 1"
        );
    }

    #[test]
    fn an_attribute_that_cannot_be_read_is_named_and_its_value_is_not() {
        let item = Writing::at("S", "x").text(names::ATTEMPTS, "secret").done();
        let reading = Reading::of("delivery", &item).expect("its version is known");
        let error = reading
            .number::<u32>(names::ATTEMPTS)
            .expect_err("no number");
        assert_eq!(
            error.to_string(),
            "the stored delivery has no readable attribute \"n\""
        );
        let without = Attributes::new();
        let error = Reading::of("event", &without)
            .map(|_| ())
            .expect_err("no version");
        assert!(error.to_string().ends_with("\"v\""), "{error}");
    }
}
