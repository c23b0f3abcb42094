//! Hints as queue messages, and tickets of dead letters. A message is never the truth: it names a delivery and the due
//! time it was sent for, and may carry the event so that whoever attempts it need not read.

use std::sync::Arc;

use bytes::Bytes;
use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use switchboard_core::delivery::DeliveryKey;
use switchboard_core::event::Event;
use switchboard_core::forward::KeptHeaders;
use switchboard_core::identity::{DeliveryId, EventId, Run};
use switchboard_core::names::{ActionName, DestinationName, Kind, SenderId, SourceName};
use switchboard_core::ports::Hint;
use switchboard_core::time::Timestamp;

use crate::token::Token;

/// Longest message that carries its event, in bytes: ten of them are one request, and one unit of the queue's price is four
/// of them. What is longer is read from the table, which costs less than sending it does.
pub const LONGEST_WITH_EVENT: usize = 16 * 1024;
/// Attribute of a message that was set aside: why.
pub const REASON: &str = "reason";
/// Version of the messages that are sent.
const VERSION: u32 = 1;

/// Whether a hint may be the only one of its delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Sent when its event was stored: unless it was received before, nothing can have happened to the delivery.
    First,
    /// Sent later: the record tells.
    Later,
}

/// A hint as it travels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Which delivery.
    pub key: DeliveryKey,
    /// The due time it was sent for.
    pub due: Timestamp,
    /// The life of its event.
    pub life: Token,
    /// Whether it may be the only one.
    pub origin: Origin,
    /// What is delivered, where it is small enough.
    pub event: Option<Arc<Event>>,
}

/// Why a message cannot be read. Nothing of it is quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableMessage {
    /// It is not what is sent here.
    #[error("the message is no hint")]
    Malformed,
    /// A later program sent it.
    #[error("the hint is of version {0}, and this program reads none later than {VERSION}")]
    Newer(u32),
}

/// The form of a hint: short names, since every byte is sent and paid for.
#[derive(Serialize, Deserialize)]
struct Sent {
    v: u32,
    e: String,
    d: String,
    to: String,
    ac: String,
    run: u32,
    due: i64,
    lf: String,
    /// 1 on a first hint.
    #[serde(skip_serializing_if = "Option::is_none")]
    f: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    x: Option<SentEvent>,
}

/// An event in a hint. What a sender wrote is base64: the queue takes no text with control characters.
#[derive(Serialize, Deserialize)]
struct SentEvent {
    s: String,
    i: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    c: Option<String>,
    k: String,
    t: i64,
    h: String,
    b: String,
}

impl SentEvent {
    fn of(event: &Event) -> Self {
        let scope = event.sender_id.scope();
        Self {
            s: event.source.to_string(),
            i: BASE64.encode(event.sender_id.as_str().as_bytes()),
            c: scope.map(|scope| BASE64.encode(scope.as_bytes())),
            k: BASE64.encode(event.kind.as_str().as_bytes()),
            t: event.received_at.millis(),
            h: BASE64.encode(&event.headers.to_lines()),
            b: BASE64.encode(&event.body),
        }
    }

    fn read(&self, id: EventId) -> Option<Event> {
        let bytes = |text: &str| BASE64.decode(text.as_bytes()).ok();
        let text = |encoded: &str| String::from_utf8(bytes(encoded)?).ok();
        let sender_id = SenderId::new(&text(&self.i)?)?;
        Some(Event {
            id,
            source: SourceName::parse(&self.s).ok()?,
            sender_id: match &self.c {
                Some(scope) => sender_id.within(&text(scope)?),
                None => sender_id,
            },
            kind: Kind::new(&text(&self.k)?)?,
            received_at: Timestamp::from_millis(self.t),
            headers: KeptHeaders::from_lines(&bytes(&self.h)?),
            body: Bytes::from(bytes(&self.b)?),
        })
    }
}

impl Message {
    /// The port's hint.
    pub fn hint(&self) -> Hint {
        Hint {
            event: self.key.event.clone(),
            delivery: self.key.id.clone(),
            due: self.due,
        }
    }

    /// The text that is sent: with the event only where that stays within [`LONGEST_WITH_EVENT`].
    pub fn text(&self) -> String {
        let mut sent = Sent {
            v: VERSION,
            e: self.key.event.to_string(),
            d: self.key.id.to_string(),
            to: self.key.destination.to_string(),
            ac: self.key.action.to_string(),
            run: self.key.run.0,
            due: self.due.millis(),
            lf: self.life.to_string(),
            f: (self.origin == Origin::First).then_some(1),
            // Base64 is never shorter than what it encodes.
            x: self
                .event
                .as_ref()
                .filter(|event| event.body.len() < LONGEST_WITH_EVENT)
                .map(|event| SentEvent::of(event)),
        };
        // Texts and numbers: nothing that JSON cannot hold.
        let text = serde_json::to_string(&sent).unwrap_or_default();
        if text.len() <= LONGEST_WITH_EVENT {
            return text;
        }
        sent.x = None;
        serde_json::to_string(&sent).unwrap_or_default()
    }

    /// Reads a message that was received.
    pub fn read(text: &str) -> Result<Self, UnreadableMessage> {
        let version = version(text).ok_or(UnreadableMessage::Malformed)?;
        if version > VERSION {
            return Err(UnreadableMessage::Newer(version));
        }
        read(text).ok_or(UnreadableMessage::Malformed)
    }
}

fn version(text: &str) -> Option<u32> {
    #[derive(Deserialize)]
    struct Versioned {
        v: u32,
    }
    let versioned: Versioned = serde_json::from_str(text).ok()?;
    Some(versioned.v)
}

fn read(text: &str) -> Option<Message> {
    let sent: Sent = serde_json::from_str(text).ok()?;
    let id = EventId::parse(&sent.e)?;
    let key = DeliveryKey {
        id: DeliveryId::parse(&sent.d)?,
        event: id.clone(),
        destination: DestinationName::parse(&sent.to).ok()?,
        action: ActionName::parse(&sent.ac).ok()?,
        run: Run(sent.run),
    };
    let event = match sent.x {
        Some(event) => Some(Arc::new(event.read(id)?)),
        None => None,
    };
    Some(Message {
        key,
        due: Timestamp::from_millis(sent.due),
        life: Token::stored(&sent.lf),
        origin: if sent.f.is_some() {
            Origin::First
        } else {
            Origin::Later
        },
        event,
    })
}

/// A ticket that was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The event of the dead letter.
    pub event: EventId,
    /// The dead letter.
    pub delivery: DeliveryId,
    /// The attempt that it died at.
    pub attempts: u32,
}

impl Ticket {
    /// Reads a ticket; `None` where it is none of a version that can be read.
    pub fn read(text: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Put {
            e: String,
            d: String,
            n: u32,
        }
        version(text).filter(|version| *version <= VERSION)?;
        let put: Put = serde_json::from_str(text).ok()?;
        Some(Self {
            event: EventId::parse(&put.e)?,
            delivery: DeliveryId::parse(&put.d)?,
            attempts: put.n,
        })
    }
}

/// The ticket of a dead letter, for alarms and habits: which, and the attempt that it died at.
pub(crate) fn ticket(key: &DeliveryKey, attempts: u32) -> String {
    serde_json::json!({
        "v": VERSION,
        "e": key.event.as_str(),
        "d": key.id.as_str(),
        "n": attempts,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::event::tests::sample;

    fn message(body: Bytes, scope: Option<&str>) -> Message {
        let stored = sample(scope);
        let event = stored.event(body);
        let planned = stored.head.plan.first().expect("planned").clone();
        Message {
            key: planned.key,
            due: planned.due,
            life: stored.head.life,
            origin: Origin::First,
            event: Some(Arc::new(event)),
        }
    }

    #[test]
    fn what_is_sent_is_read_again() {
        for scope in [None, Some(""), Some("h\0\u{ffff}")] {
            let first = message(Bytes::from_static(b"\0\xff"), scope);
            assert_eq!(Message::read(&first.text()), Ok(first.clone()));
            let later = Message {
                origin: Origin::Later,
                event: None,
                ..first
            };
            assert_eq!(Message::read(&later.text()), Ok(later));
        }
    }

    #[test]
    fn a_ticket_is_read_again_and_is_no_hint() {
        let key = message(Bytes::new(), None).key;
        let text = ticket(&key, 6);
        let read = Ticket::read(&text).expect("a ticket");
        assert_eq!(
            (read.event, read.delivery, read.attempts),
            (key.event, key.id, 6)
        );
        assert_eq!(Message::read(&text), Err(UnreadableMessage::Malformed));
        let hint = message(Bytes::new(), None).text();
        for text in ["", "{}", &hint, &text.replace("\"v\":1", "\"v\":2")] {
            assert_eq!(Ticket::read(text), None, "{text}");
        }
    }

    #[test]
    fn the_queue_takes_every_character_of_it() {
        let text = message(Bytes::from_static(b"\0\xff"), Some("\0\u{ffff}\u{1}")).text();
        assert!(
            text.bytes().all(|byte| (0x20..0x7f).contains(&byte)),
            "{text}"
        );
    }

    #[test]
    fn a_message_over_the_budget_carries_no_event_and_one_within_it_does() {
        let empty = message(Bytes::new(), None).text().len();
        // Three bytes of a body are four of base64.
        let most = (LONGEST_WITH_EVENT - empty) / 4 * 3;
        for (length, carried) in [(most, true), (most + 3, false), (4 << 20, false)] {
            let message = message(Bytes::from(vec![b'x'; length]), None);
            let text = message.text();
            assert!(text.len() <= LONGEST_WITH_EVENT, "{} bytes", text.len());
            let read = Message::read(&text).expect("read");
            assert_eq!(read.event.is_some(), carried, "a body of {length} bytes");
            assert_eq!((read.key, read.due), (message.key, message.due));
        }
    }

    #[test]
    fn what_is_no_hint_is_told_from_a_later_one() {
        for text in ["", "{}", "null", "{\"v\":1}", "{\"v\":1,\"e\":\"evt_\"}"] {
            assert_eq!(Message::read(text), Err(UnreadableMessage::Malformed));
        }
        let later = Message::read("{\"v\":2,\"anything\":true}");
        assert_eq!(later, Err(UnreadableMessage::Newer(2)));
    }
}
