//! The calls that a function makes to the services, and the faults that they are to suffer.

use std::fmt;

use serde_json::Value;
use switchboard_testkit::proxy::Request;

use crate::fault::Fault;

/// One call of a function, whatever number of attempts its client makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// What is to be done.
    pub(crate) operation: String,
    /// With what, as far as that is the same each time the story is told: the kind of an item, an index, a queue.
    pub(crate) of: String,
    /// Which of those, from 1.
    pub(crate) nth: usize,
}

impl Call {
    /// The call that a request belongs to, behind those calls.
    pub(crate) fn behind(before: &[Self], request: &Request) -> Self {
        let first = Self {
            operation: request.operation.clone(),
            of: of(request),
            nth: 1,
        };
        let alike = before.iter().filter(|call| call.is_like(&first)).count();
        Self {
            nth: alike + 1,
            ..first
        }
    }

    /// Whether it is the same but for its number.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.operation == other.operation && self.of == other.of
    }

    /// Whether it only reads.
    pub(crate) fn reads(&self) -> bool {
        let reads = ["Get", "BatchGet", "Query", "Scan", "Describe", "List"];
        let mut reads = reads.iter();
        reads.any(|begin| self.operation.starts_with(begin))
    }

    /// Whether it reads what calls before and behind it read as well, as where an index has several parts.
    fn is_one_of_many(&self, all: &[Self]) -> bool {
        let is_later = |call: &Self| {
            call.operation == self.operation && call.of == self.of && call.nth > self.nth
        };
        self.reads() && self.nth > 1 && all.iter().any(is_later)
    }

    /// Whether it may come or not: what is the same for all is read again when some seconds have passed.
    fn is_by_time(&self) -> bool {
        let of_all = self.of.starts_with("S/") || self.operation == "GetSecretValue";
        self.reads() && of_all && self.nth > 1
    }
}

fn of(request: &Request) -> String {
    let body: Value = serde_json::from_str(&request.body).unwrap_or_default();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let queue = text(&body["QueueUrl"]);
    let queue = queue.and_then(|url| Some(url.rsplit('/').next()?.to_owned()));
    let key = body.get("Key").or_else(|| body.get("Item"));
    let key = key.or_else(|| first_of_transaction(&body));
    let key = key.or_else(|| first_of_batch(&body));
    let item = key.map(|key| {
        // What stands behind the kind is another in each story.
        let kind = |name: &str| {
            let whole = key[name]["S"].as_str().unwrap_or_default();
            let kind = whole.split('#').next().unwrap_or_default();
            let is_kind = kind.chars().all(|one| one.is_ascii_alphabetic());
            if is_kind {
                kind.to_owned()
            } else {
                String::new()
            }
        };
        format!("{}/{}", kind("pk"), kind("sk"))
    });
    let others = || text(&body["IndexName"]).or_else(|| text(&body["SecretId"]));
    queue.or(item).or_else(others).unwrap_or_default()
}

/// The key of the first item that a transaction writes or looks at.
fn first_of_transaction(body: &Value) -> Option<&Value> {
    let first = body["TransactItems"].get(0)?.as_object()?.values().next()?;
    first.get("Key").or_else(|| first.get("Item"))
}

/// The first key of a batch that reads.
fn first_of_batch(body: &Value) -> Option<&Value> {
    let table = body["RequestItems"].as_object()?.values().next()?;
    table["Keys"].get(0)
}

/// A fault of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) call: Call,
    pub(crate) fault: Fault,
    /// What follows upon the call where nothing fails.
    next: Option<Call>,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Call { operation, of, nth } = &self.call;
        write!(f, "{operation} {of} {nth}: {:?}", self.fault)
    }
}

impl Plan {
    /// Every fault of these calls that tells something new.
    pub(crate) fn all_of(calls: &[Call]) -> Vec<Self> {
        let nexts = calls.iter().skip(1).map(Some).chain([None]);
        let certain = calls.iter().zip(nexts);
        let certain = certain.filter(|(call, _)| !call.is_by_time() && !call.is_one_of_many(calls));
        let of_call = |(call, next): (&Call, Option<&Call>)| {
            let (call, next) = (call.clone(), next.cloned());
            Fault::all_of(&call).into_iter().map(move |fault| Self {
                call: call.clone(),
                fault,
                next: next.clone(),
            })
        };
        certain.flat_map(of_call).collect()
    }

    /// The same of the worker's calls. A hint that is received once it is due spares it the later of two reads, so none but
    /// the first is sure to come.
    pub(crate) fn all_of_worker(calls: &[Call]) -> Vec<Self> {
        let is_sure = |plan: &Self| !plan.call.reads() || plan.call.nth == 1;
        Self::all_of(calls).into_iter().filter(is_sure).collect()
    }

    /// Whether the call is one of that operation with that.
    pub(crate) fn is(&self, operation: &str, of: &str) -> bool {
        self.call.operation == operation && self.call.of == of
    }

    /// Whether that operation with that follows upon the call.
    pub(crate) fn is_before(&self, operation: &str, of: &str) -> bool {
        let next = self.next.as_ref();
        next.is_some_and(|next| next.operation == operation && next.of == of)
    }
}
