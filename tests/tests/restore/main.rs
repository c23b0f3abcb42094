//! Backup and restore, told as stories: what a copy holds, what a Switchboard over it does, and that no half of one is
//! ever taken for a whole one.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod books;
mod cut;
mod served;
mod setting;
