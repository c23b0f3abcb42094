//! What operators reach, request by request, over a backend in memory.

#[cfg(test)]
mod admin;
#[cfg(test)]
mod allowed;
#[cfg(test)]
mod configuration;
#[cfg(test)]
mod deployed;
#[cfg(test)]
mod described;
#[cfg(test)]
mod desk;
#[cfg(test)]
mod events;
#[cfg(test)]
mod fake;
#[cfg(test)]
mod guard;
#[cfg(test)]
mod operate;
#[cfg(test)]
mod overview;
#[cfg(test)]
mod range;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod shown;
#[cfg(test)]
mod sign_in;
#[cfg(test)]
mod trial;
