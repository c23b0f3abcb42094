//! An event: what the list of recent events has of it, and all of it.

use bytes::Bytes;
use switchboard_core::event::Event;
use switchboard_core::forward::KeptHeaders;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::names::{Kind, SenderId, SourceName};
use switchboard_core::ports::Queued;
use switchboard_core::time::Timestamp;

use super::{Attributes, Reading, Unreadable, Writing, names, owned, plan};
use crate::token::Token;
use crate::{keys, life};

const ITEM: &str = "event";

/// An event without its headers and its body: as the index of recent events has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) id: EventId,
    pub(crate) source: SourceName,
    pub(crate) sender_id: SenderId,
    pub(crate) kind: Kind,
    pub(crate) received_at: Timestamp,
    /// Of the body, in bytes.
    pub(crate) length: u64,
    /// Run 0.
    pub(crate) plan: Vec<Queued>,
    /// The token of the call that stored it: what belongs to the event carries it.
    pub(crate) life: Token,
    /// When its life ends.
    pub(crate) until: Timestamp,
}

/// Attributes of a [`Head`]: what is to be asked for where the body is not wanted, and what the index holds.
pub(crate) const HEAD: [&str; 10] = [
    names::VERSION,
    names::SOURCE,
    names::SENDER_ID,
    names::SCOPE,
    names::KIND,
    names::AT,
    names::LENGTH,
    names::PLAN,
    names::TOKEN,
    names::UNTIL,
];

impl Head {
    /// What `event` with `plan` is, stored by the call with token `life`.
    pub(crate) fn new(event: &Event, plan: &[Queued], life: Token, until: Timestamp) -> Self {
        Self {
            id: event.id.clone(),
            source: event.source.clone(),
            sender_id: event.sender_id.clone(),
            kind: event.kind.clone(),
            received_at: event.received_at,
            length: u64::try_from(event.body.len()).unwrap_or(u64::MAX),
            plan: plan.to_vec(),
            life,
            until,
        }
    }

    /// Reads an event, or its row in the index of recent events.
    pub(crate) fn read(attributes: &Attributes) -> Result<Self, Unreadable> {
        let reading = Reading::of(ITEM, attributes)?;
        let id = reading.event()?;
        let received_at = reading.moment(names::AT)?;
        let sender_id = reading.parsed(names::SENDER_ID, SenderId::new)?;
        let sender_id = if reading.has(names::SCOPE) {
            sender_id.within(reading.text(names::SCOPE)?)
        } else {
            sender_id
        };
        let plan = reading.parsed(names::PLAN, |text| {
            plan::read(text, &id, received_at, Run(0))
        })?;
        Ok(Self {
            source: reading.source()?,
            sender_id,
            kind: reading.kind()?,
            received_at,
            length: reading.number(names::LENGTH)?,
            plan,
            life: reading.token(names::TOKEN)?,
            until: reading.moment(names::UNTIL)?,
            id,
        })
    }
}

/// Where a body is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// In the event's own item.
    Here(Bytes),
    /// In so many items of its own.
    Parts(u32),
}

/// An event whole, but for a body that is too big for its item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) head: Head,
    pub(crate) headers: KeptHeaders,
    pub(crate) body: Body,
    pub(crate) digest: [u8; 32],
    /// When a repeat last queued deliveries of it again.
    pub(crate) requeued: Option<Timestamp>,
    /// When the parts of its body may be removed, in seconds since 1970.
    pub(crate) parts_ttl: Option<i64>,
}

impl Stored {
    /// Reads it.
    pub(crate) fn read(attributes: &Attributes) -> Result<Self, Unreadable> {
        let head = Head::read(attributes)?;
        let reading = Reading::of(ITEM, attributes)?;
        let body = match reading.number_if_any(names::PARTS)? {
            Some(parts) => Body::Parts(parts),
            None => Body::Here(owned(reading.bytes(names::BODY)?)),
        };
        let digest = reading.bytes(names::DIGEST)?;
        Ok(Self {
            head,
            headers: KeptHeaders::from_lines(reading.bytes(names::HEADERS)?),
            body,
            digest: digest
                .try_into()
                .map_err(|_| reading.fault(names::DIGEST))?,
            requeued: reading.moment_if_any(names::REQUEUED)?,
            parts_ttl: reading.number_if_any(names::PARTS_TTL)?,
        })
    }

    /// The item.
    pub(crate) fn write(&self) -> Attributes {
        let head = &self.head;
        let recent = keys::recent_of(&head.source, head.received_at, &head.id);
        let scoped = head
            .sender_id
            .scope()
            .map(|_| keys::scoped(head.sender_id.as_str()));
        let item = Writing::at(keys::event(&head.id), keys::EVENT)
            .text(names::TOKEN, head.life.as_str())
            .text(names::SOURCE, head.source.as_str())
            .text(names::SENDER_ID, head.sender_id.as_str())
            .text_if_any(names::SCOPE, head.sender_id.scope())
            .text(names::KIND, head.kind.as_str())
            .moment(names::AT, head.received_at)
            .number(names::LENGTH, head.length)
            .text(names::PLAN, plan::text(&head.plan, head.received_at))
            .moment(names::UNTIL, head.until)
            .number(names::TTL, life::of_event(head.until))
            .bytes(names::HEADERS, self.headers.to_lines())
            .bytes(names::DIGEST, self.digest)
            .number_if_any(names::REQUEUED, self.requeued.map(Timestamp::millis))
            .number_if_any(names::PARTS_TTL, self.parts_ttl)
            .index(names::RECENT, Some(recent))
            .text_if_any(names::SCOPED, scoped);
        match &self.body {
            Body::Here(bytes) => item.bytes(names::BODY, bytes.to_vec()),
            Body::Parts(parts) => item.number(names::PARTS, parts),
        }
        .done()
    }

    /// The event, with its whole body.
    pub(crate) fn event(&self, body: Bytes) -> Event {
        Event {
            id: self.head.id.clone(),
            source: self.head.source.clone(),
            sender_id: self.head.sender_id.clone(),
            kind: self.head.kind.clone(),
            received_at: self.head.received_at,
            headers: self.headers.clone(),
            body,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use switchboard_core::delivery::DeliveryKey;
    use switchboard_core::names::{ActionName, DestinationName};

    use super::*;

    pub(crate) fn sample(scope: Option<&str>) -> Stored {
        let source = SourceName::parse("shop").expect("a name");
        let sender_id = SenderId::new("1001 é").expect("an id");
        let sender_id = match scope {
            Some(scope) => sender_id.within(scope),
            None => sender_id,
        };
        let received_at = Timestamp::from_millis(1_764_446_400_250);
        let event = Event {
            id: EventId::of(&source, &sender_id),
            source,
            sender_id,
            kind: Kind::new("orders/create").expect("a kind"),
            received_at,
            headers: KeptHeaders::from_lines(b"x-name: \xe4\nb: 2\nb: 1\n"),
            body: Bytes::from_static(b"\0\xff"),
        };
        let to = DestinationName::parse("chat").expect("a name");
        let plan = [Queued {
            key: DeliveryKey::of(&event.id, to, ActionName::deliver(), Run(0)),
            due: Timestamp::from_millis(received_at.millis() + 1500),
        }];
        let life = Token::stored("the-token");
        Stored {
            head: Head::new(
                &event,
                &plan,
                life,
                Timestamp::from_millis(1_767_038_400_250),
            ),
            headers: event.headers.clone(),
            body: Body::Here(event.body.clone()),
            digest: event.body_digest(),
            requeued: None,
            parts_ttl: None,
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for scope in [None, Some(""), Some("hook 1")] {
            let stored = sample(scope);
            let item = stored.write();
            assert_eq!(Stored::read(&item), Ok(stored.clone()), "{scope:?}");
            assert_eq!(Head::read(&item), Ok(stored.head));
            assert_eq!(item.contains_key(names::SCOPED), scope.is_some());
        }
    }

    #[test]
    fn a_body_in_parts_is_told_by_their_number() {
        let stored = Stored {
            body: Body::Parts(12),
            requeued: Some(Timestamp::from_millis(5)),
            parts_ttl: Some(7),
            ..sample(None)
        };
        let item = stored.write();
        assert!(!item.contains_key(names::BODY));
        assert_eq!(Stored::read(&item), Ok(stored));
    }

    #[test]
    fn the_row_of_an_index_is_enough_for_a_head() {
        let stored = sample(Some("hook 1"));
        let mut row = stored.write();
        row.retain(|name, _| name == names::PARTITION || HEAD.contains(&name.as_str()));
        assert_eq!(Head::read(&row), Ok(stored.head));
    }

    #[test]
    fn every_attribute_that_is_missing_is_named() {
        for missing in HEAD {
            let mut item = sample(None).write();
            if item.remove(missing).is_none() {
                assert_eq!(missing, names::SCOPE, "which need not be there");
                continue;
            }
            let error = Head::read(&item).expect_err("not to be read").to_string();
            assert!(error.ends_with(&format!("{missing:?}")), "{error}");
        }
    }
}
