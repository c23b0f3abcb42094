//! What is wrong with what Switchboard is given, by whoever starts it and by whoever posts to it: found early, said in
//! one clear line each, and told to nobody whom it does not concern.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod built_in;
mod configuration;
mod declined;
mod folder;
mod hosts;
mod secrets;
