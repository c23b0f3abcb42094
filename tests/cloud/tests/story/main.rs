//! The stack, deployed on the emulator: its story under the rights of the template alone, and that it ends without a trace.

mod end;
mod rights;
mod stays;
