//! The stack, deployed on the emulator: its story under the rights of the template alone, and that it ends without a trace.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod end;
mod rights;
