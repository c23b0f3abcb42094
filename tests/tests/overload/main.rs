//! More than can be served: what is turned away is told so at once and when to come back, what was accepted keeps its
//! promise, and neither memory nor handles nor the log grow with the flood.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod flood;
mod load;
mod setting;
mod stop;
mod watch;
