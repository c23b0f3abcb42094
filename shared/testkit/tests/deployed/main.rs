//! The configuration of a deployed Switchboard over a store and secrets in memory and a clock moved by hand: when it is
//! read again, what stays when it cannot be, and what is applied.

#[cfg(test)]
mod applied;
#[cfg(test)]
mod cached;
#[cfg(test)]
mod failing;
#[cfg(test)]
mod insisted;
#[cfg(test)]
mod needing;
#[cfg(test)]
mod setting;
