//! The functions of the AWS side: their real binaries, each under a platform of its own, over an emulator of the table, the
//! queues and the secrets.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod batches;
mod bodies;
mod ingress;
mod keeper;
mod measured;
mod page;
mod start;
mod status;
mod worker;
