//! A service that is down.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use switchboard_testkit::emulator::Emulator;

use crate::proxy::{Fate, Proxy};

/// Turns it off and on.
pub(crate) struct Switch(Arc<AtomicBool>);

impl Switch {
    pub(crate) fn down(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    pub(crate) fn up(&self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

/// A way to the emulator on which `operation` (every one, where it is empty) gets an answer that cannot be read while it is
/// down.
pub(crate) fn switched(operation: &'static str) -> (Proxy, Switch) {
    let is_down = Arc::new(AtomicBool::new(false));
    let rule = Arc::clone(&is_down);
    let proxy = Proxy::start(Emulator::shared().address(), move |request| {
        let is_meant = operation.is_empty() || request.operation == operation;
        if is_meant && rule.load(Ordering::SeqCst) {
            return Fate::Answered("broken".to_owned());
        }
        Fate::Passed
    });
    (proxy, Switch(is_down))
}
