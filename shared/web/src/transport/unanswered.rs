//! Why there was no answer, read off the client's error. None of it quotes an address. What goes wrong within HTTP/2
//! ends the connection and counts as closed.

use std::error::Error;

use hyper_util::client::legacy;
use switchboard_core::delivery::Unanswered;

use super::connect::ConnectFault;
use super::tls;

/// What an error of the client means.
pub(super) fn why(error: &legacy::Error) -> Unanswered {
    std::iter::successors(error.source(), |cause| (*cause).source())
        .find_map(known)
        .unwrap_or(if error.is_connect() {
            // The guard's own faults are known: what is left of connecting is the handshake.
            Unanswered::Tls
        } else {
            Unanswered::Closed
        })
}

fn known(cause: &(dyn Error + 'static)) -> Option<Unanswered> {
    if let Some(fault) = cause.downcast_ref::<ConnectFault>() {
        return Some(match fault {
            ConnectFault::Unresolved => Unanswered::Unresolved,
            ConnectFault::Forbidden(why) => Unanswered::Forbidden(*why),
            ConnectFault::NoConnection => Unanswered::NoConnection,
        });
    }
    if let Some(error) = cause.downcast_ref::<hyper::Error>() {
        return if error.is_user() {
            Some(Unanswered::Unbuildable)
        } else if error.is_parse() {
            Some(Unanswered::Unreadable)
        } else {
            None
        };
    }
    tls::is_fault(cause).then_some(Unanswered::Tls)
}
