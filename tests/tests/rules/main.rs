//! The rules of the product, each told as a story: the real binary, real sockets, real signatures.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod copies;
mod delivered;
mod kept_once;
mod libraries;
mod operators;
mod promised;
mod proven;
mod real_pauses;
mod setting;
