//! Names of attributes: short, since every item pays for them.

/// Key of the table: partition.
pub(crate) const PARTITION: &str = "pk";
/// Key of the table: place in the partition.
pub(crate) const SORT: &str = "sk";
/// Version of the item's form.
pub(crate) const VERSION: &str = "v";
/// When the service may remove the item, in seconds since 1970.
pub(crate) const TTL: &str = "ttl";

/// Index of recent events.
pub(crate) const RECENT: [&str; 2] = ["g1", "g1s"];
/// Index of events with a scope: their partition; sorted as recent events are.
pub(crate) const SCOPED: &str = "g2";
/// Index of what the keeper is to look at, by when: waiting deliveries, and dead letters that owe a ticket.
pub(crate) const WAITING: [&str; 2] = ["g3", "g3s"];
/// Index of waiting, held and dead deliveries by destination.
pub(crate) const OPEN: [&str; 2] = ["g4", "g4s"];
/// Index of dead deliveries by id.
pub(crate) const DEAD: &str = "g5";

/// Token of the write that left the item as it is.
pub(crate) const TOKEN: &str = "tok";
/// Life of the event that the item belongs to: the event's own token.
pub(crate) const LIFE: &str = "lf";
/// A source.
pub(crate) const SOURCE: &str = "src";
/// The sender's id.
pub(crate) const SENDER_ID: &str = "sid";
/// What the sender's id is unique within.
pub(crate) const SCOPE: &str = "scp";
/// The kind of an event.
pub(crate) const KIND: &str = "k";
/// When an event was received, or another item made.
pub(crate) const AT: &str = "at";
/// Headers as lines.
pub(crate) const HEADERS: &str = "hd";
/// A body, or a part of one.
pub(crate) const BODY: &str = "bd";
/// How many parts a body has.
pub(crate) const PARTS: &str = "bp";
/// When the parts of a body may be removed, in seconds since 1970.
pub(crate) const PARTS_TTL: &str = "bt";
/// SHA-256 of a body.
pub(crate) const DIGEST: &str = "dg";
/// Length of a body in bytes.
pub(crate) const LENGTH: &str = "ln";
/// A plan.
pub(crate) const PLAN: &str = "pl";
/// End of an event's life, in milliseconds since 1970.
pub(crate) const UNTIL: &str = "un";
/// When a repeat last queued deliveries of its event again.
pub(crate) const REQUEUED: &str = "rq";
/// Whether a repeat carried another body.
pub(crate) const OTHER_BODY: &str = "ob";

/// A destination.
pub(crate) const DESTINATION: &str = "to";
/// An action.
pub(crate) const ACTION: &str = "ac";
/// A run.
pub(crate) const RUN: &str = "run";
/// Where a delivery stands, as a number.
pub(crate) const STATE: &str = "st";
/// How many attempts are recorded.
pub(crate) const ATTEMPTS: &str = "n";
/// How many of them were before the present round.
pub(crate) const BASE: &str = "bs";
/// When a delivery is due.
pub(crate) const DUE: &str = "due";
/// The last attempts.
pub(crate) const LOG: &str = "log";
/// When a delivery last changed.
pub(crate) const CHANGED: &str = "ch";
/// Why a delivery is dead, as a number.
pub(crate) const REASON: &str = "why";
/// Why a delivery is dead, as operators read it.
pub(crate) const REASON_LINE: &str = "wl";
/// When a delivery's event was received.
pub(crate) const RECEIVED: &str = "ra";
/// When the keeper is to look at a waiting delivery, or to put the ticket of a dead one.
pub(crate) const LOOK: &str = "lk";
/// How often it has looked since the last record.
pub(crate) const LOOKS: &str = "bk";
/// How often a hint came back that nobody could use.
pub(crate) const RETURNS: &str = "rt";
/// When such a return was last counted.
pub(crate) const RETURNED: &str = "rta";

/// Version of a changing item, which each write of it is conditional on.
pub(crate) const REVISION: &str = "vr";
/// A JSON text.
pub(crate) const JSON: &str = "js";
/// The sources that ever stored an event.
pub(crate) const SOURCES: &str = "srcs";
/// The destinations that ever had an item in the index of open deliveries.
pub(crate) const DESTINATIONS: &str = "dsts";

/// The text of a configuration.
pub(crate) const TEXT: &str = "tx";
