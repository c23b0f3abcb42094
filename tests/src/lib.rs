//! What the end-to-end tests share: the real binary in a folder of its own, the functions on AWS under a platform of their
//! own, a destination that records what it gets, senders that sign as the real ones do, a browser that looks at the page,
//! and waiting on a condition with a deadline.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a test fails by panicking"
)]

pub mod axe;
pub mod board;
pub mod browser;
pub mod front;
pub mod gateway;
pub mod lambda;
pub mod libraries;
pub mod load;
pub mod page;
pub mod process;
pub mod receivers;
pub mod run;
pub mod sender;
pub mod setting;
pub mod sink;
pub mod strace;
pub mod switchboard;
pub mod wait;
pub mod wire;
