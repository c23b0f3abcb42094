//! The backend on the wire: lost answers, refused messages, big bodies, and what is read and sent at all.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod bodies;
mod cut;
mod down;
mod earlier;
mod ground;
mod hints;
mod journal;
mod late;
mod lost;
mod queue;
mod recent;
mod released;
mod repeats;
mod replay;
mod sample;
mod search;
mod settings;
mod stay;
mod steps;
#[path = "../support/mod.rs"]
mod support;
mod views;

use switchboard_testkit::proxy;
