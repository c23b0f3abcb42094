//! The names in a configuration's text, whatever else is wrong with it: what goes when another takes its place.

use std::collections::BTreeSet;

use toml::{Table, Value};

/// What a text names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// Sources.
    pub sources: BTreeSet<String>,
    /// Destinations.
    pub destinations: BTreeSet<String>,
}

impl Named {
    /// What that text names; nothing where it cannot be read.
    pub fn in_text(text: &str) -> Self {
        let table = text.parse::<Table>().unwrap_or_default();
        let names = |section: &str| {
            let entries = table.get(section).and_then(Value::as_array);
            let names = entries.into_iter().flatten();
            let names = names.filter_map(|entry| entry.get("name")?.as_str());
            names.map(str::to_owned).collect()
        };
        Self {
            sources: names("source"),
            destinations: names("destination"),
        }
    }

    /// What of this the other does not name.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        let gone = |own: &BTreeSet<String>, others| own.difference(others).cloned().collect();
        Self {
            sources: gone(&self.sources, &other.sources),
            destinations: gone(&self.destinations, &other.destinations),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_is_what_only_the_one_names() {
        let text = |names: &[&str]| {
            let all = names.iter().map(|name| {
                format!("[[source]]\nname = \"{name}\"\n[[destination]]\nname = \"to-{name}\"\n")
            });
            all.collect::<String>()
        };
        let (old, new) = (text(&["a", "b"]), text(&["b", "c"]));
        let gone = Named::in_text(&old).without(&Named::in_text(&new));
        let due = Named::in_text(&text(&["a"]));
        assert_eq!(gone, due);
        assert_eq!(gone.sources.len(), 1);
        assert_eq!(Named::in_text("no = toml = at all"), Named::default());
        assert_eq!(
            Named::in_text("source = 1\n[[destination]]\n"),
            Named::default()
        );
    }
}
