//! A function whose calls to the services are counted, one of which may suffer a fault; when it dies, another process takes
//! its place.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use switchboard_testkit::emulator::Emulator;
use switchboard_testkit::proxy::{Fate, Proxy, Request};
use switchboard_tests::board::Board;
use switchboard_tests::lambda::{Function, Invoked, Killer, Lambda};
use switchboard_tests::wait::until;

use crate::call::{Call, Plan};
use crate::fault::Fault;

#[derive(Default)]
struct Seen {
    calls: Vec<Call>,
    names: HashMap<String, Call>,
    hits: u32,
    killer: Option<Killer>,
}

impl Seen {
    /// What becomes of a request.
    fn fault(&mut self, request: &Request, plan: Option<&Plan>) -> Option<Fault> {
        let is_first = !self.names.contains_key(&request.call);
        if is_first {
            let call = Call::behind(&self.calls, request);
            self.calls.push(call.clone());
            self.names.insert(request.call.clone(), call);
        }
        let call = self.names.get(&request.call)?;
        let Plan {
            call: hit, fault, ..
        } = plan?;
        let is_alike = call.operation == hit.operation && call.of == hit.of;
        let are_hit = hit.nth..hit.nth + fault.calls();
        let is_hit = is_alike && are_hit.contains(&call.nth);
        let suffers = is_hit && (is_first || fault.is_of_every_attempt());
        self.hits += u32::from(suffers);
        suffers.then_some(*fault)
    }
}

/// It.
pub(crate) struct Watched {
    function: Function,
    proxy: Proxy,
    seen: Arc<Mutex<Seen>>,
    plan: Option<Plan>,
    running: Option<Lambda>,
    /// Everything that its former processes wrote.
    former: String,
    /// Methods and paths of the requests that it was invoked with.
    asked: BTreeSet<(String, String)>,
}

/// What a function was asked, and what it asked of the services for that.
#[derive(Default)]
pub(crate) struct Heard {
    /// Methods and paths.
    pub(crate) asked: BTreeSet<(String, String)>,
    /// Its calls.
    pub(crate) calls: Vec<Call>,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.proxy.end();
    }
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watched {
    /// The function of that name on a board.
    pub(crate) fn new(board: &Board, name: &str, plan: Option<Plan>) -> Self {
        Self::made(board, name, plan, |function| function)
    }

    /// The same, started otherwise.
    pub(crate) fn made(
        board: &Board,
        name: &str,
        plan: Option<Plan>,
        made: impl FnOnce(Function) -> Function,
    ) -> Self {
        let seen: Arc<Mutex<Seen>> = Arc::default();
        let (own, own_plan) = (Arc::clone(&seen), plan.clone());
        let proxy = Proxy::start(Emulator::shared().address(), move |request| {
            let mut seen = lock(&own);
            let fault = seen.fault(request, own_plan.as_ref());
            let killer = seen.killer.clone();
            // Whoever is killed may be waited for by somebody who looks here.
            drop(seen);
            match fault.zip(killer) {
                Some((fault, killer)) => fault.fate(killer),
                None => Fate::Passed,
            }
        });
        let function = made(board.function_over(name, &proxy.url()));
        Self {
            function,
            proxy,
            seen,
            plan,
            running: None,
            former: String::new(),
            asked: BTreeSet::new(),
        }
    }

    /// Invokes it; where no process is left, another one is started first.
    pub(crate) async fn invoke(&mut self, event: &Value) -> Invoked {
        if let Some(method) = event["requestContext"]["http"]["method"].as_str() {
            let path = event["rawPath"].as_str().unwrap_or_default();
            self.asked.insert((method.to_owned(), path.to_owned()));
        }
        let running = match self.running.take() {
            Some(running) => running,
            None => self.function.clone().start().await,
        };
        lock(&self.seen).killer = Some(running.killer());
        let invoked = running.invoke(event).await;
        if invoked == Invoked::Died {
            self.former.push_str(&running.text());
        } else {
            self.running = Some(running);
        }
        invoked
    }

    /// Ends its process: the next invocation comes to another one.
    pub(crate) fn end(&mut self) {
        if let Some(running) = self.running.take() {
            self.former.push_str(&running.text());
        }
    }

    /// Goes on with one more variable from the next process on.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.end();
        self.function = self.function.clone().set(name, value);
    }

    /// Whether it has a process, that did not die.
    pub(crate) const fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Its calls so far.
    pub(crate) fn calls(&self) -> Vec<Call> {
        lock(&self.seen).calls.clone()
    }

    /// What it was asked so far, and its calls.
    pub(crate) fn heard(&self) -> Heard {
        Heard {
            asked: self.asked.clone(),
            calls: self.calls(),
        }
    }

    /// Waits until nothing of it is on its way any more, also what its clients have given up.
    pub(crate) async fn quiet(&self) {
        let under_way = async || (self.proxy.under_way() == 0).then_some(());
        until("all requests have arrived", under_way).await;
    }

    /// The planned fault happened, if one was planned.
    pub(crate) fn assert_hit(&self) {
        let hits = lock(&self.seen).hits;
        assert!(self.plan.is_none() || hits > 0, "the fault never happened");
    }

    /// What all of its processes wrote.
    pub(crate) fn log(&self) -> String {
        let running = self.running.as_ref().map(Lambda::text);
        format!("{}{}", self.former, running.unwrap_or_default())
    }
}
