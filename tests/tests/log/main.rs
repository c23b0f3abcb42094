//! The log: one wide line for each accepted request and each attempt, and nothing in it that is nobody's business.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod closed;
mod hidden;
mod life;
mod lines;
mod over_tls;
mod piped;
mod story;
mod unread;
