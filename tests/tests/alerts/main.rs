//! Alerts, told as stories: the real binary, a destination that fails, and a receiver of what is told about it.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod hidden;
mod kept;
mod receiver;
mod setting;
mod told;
