//! The page (rule 8) in Debian's Chromium: what an operator sees, and what nobody can make the page do.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod accessible;
mod acting;
mod expired;
mod hostile;
mod secret;
mod setting;
mod sign_in;
mod standing;
mod totals;
