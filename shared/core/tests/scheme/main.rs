//! What the core decides about signatures: which forms, times and secrets hold, whom an event is from, and what
//! an operator is told of a refusal.

#[cfg(test)]
mod form;
#[cfg(test)]
mod identity;
#[cfg(test)]
mod near_miss;
#[cfg(test)]
mod secret;
#[cfg(test)]
mod signed;
#[cfg(test)]
mod time;
