//! The keeper over real queues: what it finds, that it may run twice at once, and die anywhere.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod chain;
mod cut;
mod disaster;
mod fuse;
mod held;
mod lag;
mod overdue;
mod returned;
mod scene;
mod stays;
#[path = "../support/mod.rs"]
mod support;
mod tickets;
mod turns;
mod twice;
mod walks;

use switchboard_testkit::proxy;
