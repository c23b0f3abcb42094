//! The command line, each command told as a story: the real binary, what it prints, and the code it ends with.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod backup;
mod check;
mod endpoint;
mod help;
mod init;
mod looking;
mod operators;
mod receivers;
mod replays;
mod sends;
mod strangers;
mod token;
mod verify;
