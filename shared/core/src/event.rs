//! An event: what a source sent once, byte for byte.

use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::forward::KeptHeaders;
use crate::identity::EventId;
use crate::names::{Kind, SenderId, SourceName};
use crate::time::Timestamp;

/// What was accepted and is stored under its source and sender's id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Made of the source and the sender's id.
    pub id: EventId,
    /// Who sent it.
    pub source: SourceName,
    /// The sender's own id for it.
    pub sender_id: SenderId,
    /// The sender's name for what happened.
    pub kind: Kind,
    /// When it was first received.
    pub received_at: Timestamp,
    /// The sender's headers that go on to destinations.
    pub headers: KeptHeaders,
    /// The bytes as they came.
    pub body: Bytes,
}

impl Event {
    /// SHA-256 of the body: tells a repeat with another body from a true one.
    pub fn body_digest(&self) -> [u8; 32] {
        Sha256::digest(&self.body).into()
    }
}
