//! What an event asks of AWS: the real functions run over the emulator, behind a proxy that counts every call, its bytes and
//! DynamoDB's units. What that costs, `cargo xtask cost` says.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a measurement fails as a test does, by panicking"
)]

pub mod board;
pub mod call;
pub mod counter;
pub mod images;
pub mod item;
pub mod minute;
pub mod page;
pub mod past;
pub mod scene;
pub mod units;
