//! Strangers that mean harm: requests that are no requests, crowds of connections, floods of forged signatures, and
//! destinations that hurt. Each costs bounded time and memory, and good senders are served meanwhile.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod crowds;
mod cut;
mod destinations;
mod floods;
mod framing;
mod handshakes;
mod heads;
mod hurting;
mod raw;
mod slow;
