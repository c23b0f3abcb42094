//! A repeat: that an event came again, counted by its being there.

use switchboard_core::names::SourceName;
use switchboard_core::ports::SameBody;
use switchboard_core::time::Timestamp;

use super::{Attributes, Reading, Unreadable, Writing, names};
use crate::token::Token;
use crate::{keys, life};

const ITEM: &str = "repeat";

/// A counted repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// The life of its event. Of another one than the event's own, it counts as absent.
    pub(crate) life: Token,
    pub(crate) source: SourceName,
    pub(crate) same_body: SameBody,
}

impl Counted {
    /// Reads it.
    pub(crate) fn read(attributes: &Attributes) -> Result<Self, Unreadable> {
        let reading = Reading::of(ITEM, attributes)?;
        Ok(Self {
            life: reading.token(names::LIFE)?,
            source: reading.source()?,
            same_body: if reading.has(names::OTHER_BODY) {
                SameBody::No
            } else {
                SameBody::Yes
            },
        })
    }

    /// The item that the call with `token` writes for `event`, whose life ends at `until`.
    pub(crate) fn write(
        &self,
        event: &switchboard_core::identity::EventId,
        token: &Token,
        until: Timestamp,
    ) -> Attributes {
        let other = match self.same_body {
            SameBody::Yes => None,
            SameBody::No => Some(1),
        };
        Writing::at(keys::event(event), keys::repeat(token))
            .text(names::LIFE, self.life.as_str())
            .text(names::SOURCE, self.source.as_str())
            .number_if_any(names::OTHER_BODY, other)
            .number(names::TTL, life::of_belongings(until))
            .done()
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::tests::sample;
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let head = sample(None).head;
        for same_body in [SameBody::Yes, SameBody::No] {
            let counted = Counted {
                life: head.life.clone(),
                source: head.source.clone(),
                same_body,
            };
            let item = counted.write(&head.id, &Token::stored("this-call"), head.until);
            assert_eq!(Counted::read(&item), Ok(counted));
        }
    }
}
