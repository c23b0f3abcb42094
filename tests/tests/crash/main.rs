//! Crashes: the real binary dies at every place between two effects, at random moments under load, and loses its disk;
//! everything promised holds afterwards.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod book;
mod death;
mod disk;
mod kills;
mod last;
mod points;
mod power;
mod promise;
mod slow;
mod stored;
mod story;
mod writer;
