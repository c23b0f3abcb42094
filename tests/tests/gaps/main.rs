//! The gaps between store and queue: every write that the real functions make to a service is lost, cut, held up, doubled or
//! answered by a failure in its turn, every kind of read is lost, and what was promised holds at the end. The calls are
//! those of the same story told without a fault before.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![expect(
    clippy::future_not_send,
    reason = "all stories of a test are told on its one thread"
)]

mod asked;
mod attempted;
mod call;
mod changed;
mod fault;
mod kept;
mod many;
mod mapping;
mod moved_on;
mod operated;
mod promises;
mod read;
mod recovered;
mod replayed;
mod scene;
mod sent;
mod set_aside;
mod steps;
mod stories;
mod twice;
mod watched;
