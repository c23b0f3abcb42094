//! What is known to go wrong in systems of this kind, told as stories over the real binary: requests of odd forms,
//! large numbers of them, and destinations that behave badly. `tests/cases.toml` says which case each story shows.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod addresses;
mod attempts;
mod bodies;
mod configurations;
mod copies;
mod floods;
mod kinds;
mod outcomes;
mod reading;
mod secrets;
mod setting;
mod signatures;
