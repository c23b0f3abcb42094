//! The stack on AWS: the template as values, the same deployed on the emulator, and the story that it tells there.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a test fails by panicking"
)]

pub mod aws;
pub mod deployed;
pub mod door;
pub mod operator;
pub mod rights;
pub mod story;
pub mod template;
pub mod told;
