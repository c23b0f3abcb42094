//! What the core makes of a configuration: every key of a good one, every fault of a bad one, and its secrets.

#[cfg(test)]
mod deployed;
#[cfg(test)]
mod fault;
#[cfg(test)]
mod full;
#[cfg(test)]
mod secret;
#[cfg(test)]
mod vault;
