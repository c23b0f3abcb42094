//! A deployed Switchboard's configuration, told as stories: the real command line against the real routers, over stores
//! of which the configuration's and the secrets' are in memory, and a clock moved by hand.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod applied;
mod live;
mod refused;
mod setting;
