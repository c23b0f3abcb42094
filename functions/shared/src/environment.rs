//! The environment, read once. What is missing or wrong in it is collected, so that one start tells all of it.

use std::collections::BTreeMap;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Mutex;
use std::sync::PoisonError;

use url::Url;

/// The environment, and what was found wrong in it so far.
#[derive(Debug, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    faults: Mutex<Vec<String>>,
}

/// Everything that is missing or wrong, one line for each.
#[derive(Debug, PartialEq, Eq)]
pub struct Faults(Vec<String>);

impl Faults {
    /// One fault.
    pub fn one(line: impl std::fmt::Display) -> Self {
        Self(vec![line.to_string()])
    }

    /// The lines.
    pub fn lines(&self) -> &[String] {
        &self.0
    }
}

impl Environment {
    /// The process's own; what is not text is left out.
    pub fn read() -> Self {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    }

    /// A variable that may be missing or empty.
    pub fn given(&self, name: &str) -> Option<&str> {
        let value = self.variables.get(name).map(String::as_str);
        value.filter(|value| !value.is_empty())
    }

    /// A variable that has to be there.
    pub fn text(&self, name: &str) -> Option<&str> {
        let value = self.given(name);
        if value.is_none() {
            self.fault(format!("{name} is not set"));
        }
        value
    }

    /// A variable that is read by `read`; `is` says what it should be.
    pub fn parsed<T>(
        &self,
        name: &str,
        is: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let value = self.text(name)?;
        let parsed = read(value);
        if parsed.is_none() {
            self.fault(format!("{name} is not {is}: {value:?}"));
        }
        parsed
    }

    /// The address of a queue.
    pub fn queue(&self, name: &str) -> Option<String> {
        self.parsed(name, "the address of a queue", |value| {
            let url = Url::parse(value).ok()?;
            (matches!(url.scheme(), "http" | "https") && url.path().len() > 1)
                .then(|| value.to_owned())
        })
    }

    /// The addresses of a host with a port, such as the platform's own.
    pub fn sockets(&self, name: &str) -> Option<Vec<SocketAddr>> {
        self.parsed(name, "a host with a port", |value| {
            Some(value.to_socket_addrs().ok()?.collect())
        })
    }

    /// Adds a fault.
    pub fn fault(&self, line: String) {
        self.faults().push(line);
    }

    /// What was read, unless something was wrong in it.
    pub fn whole<T>(&self, read: Option<T>) -> Result<T, Faults> {
        let faults = std::mem::take(&mut *self.faults());
        match read {
            Some(read) if faults.is_empty() => Ok(read),
            Some(_) | None => Err(Faults(faults)),
        }
    }

    fn faults(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self {
            variables: variables.into_iter().collect(),
            faults: Mutex::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        variables.iter().map(owned).collect()
    }

    #[test]
    fn all_that_is_missing_or_wrong_is_told_at_once() {
        let environment = environment(&[
            ("EMPTY", ""),
            ("QUEUE", "deliveries"),
            ("HOST", "localhost"),
            ("GOOD", "http://127.0.0.1:4566/000000000000/deliveries"),
        ]);
        let read = environment.text("EMPTY").map(str::to_owned);
        let read = read.zip(environment.queue("QUEUE"));
        let read = read.zip(environment.sockets("HOST"));
        let read = read.zip(environment.queue("GOOD"));
        let faults = environment.whole(read).expect_err("faults");
        assert_eq!(
            faults.lines(),
            [
                "EMPTY is not set",
                "QUEUE is not the address of a queue: \"deliveries\"",
                "HOST is not a host with a port: \"localhost\"",
            ]
        );
        let good = environment.queue("GOOD");
        assert!(environment.whole(good).is_ok(), "what was told is told");
    }
}
