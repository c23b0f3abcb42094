//! Applying deliveries to a file: one after the other, many at once, and by processes that die.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod concurrent;
mod crash;
mod once;
mod shop;
