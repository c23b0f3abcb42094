//! Routes: which destinations an event of a source and kind is delivered to, and the plan that is frozen with it.

use serde::Serialize;

use crate::names::{ActionName, DestinationName, Kind, SourceName};

/// What a route is written for: one name, or every one (`*`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern<T> {
    /// `*`
    Any,
    /// Exactly this one, upper and lower case told apart.
    Only(T),
}

impl<T: PartialEq> Pattern<T> {
    /// Whether `value` is meant.
    pub fn matches(&self, value: &T) -> bool {
        match self {
            Self::Any => true,
            Self::Only(only) => only == value,
        }
    }
}

impl<T: Serialize> Serialize for Pattern<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Any => serializer.serialize_str("*"),
            Self::Only(only) => only.serialize(serializer),
        }
    }
}

/// A destination and what it is asked to do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Planned {
    /// Who gets the event.
    #[serde(rename = "to")]
    pub destination: DestinationName,
    /// What for.
    pub action: ActionName,
}

/// Source and kind -> destinations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Route {
    /// The source meant.
    pub source: Pattern<SourceName>,
    /// The kind meant.
    pub kind: Pattern<Kind>,
    /// Where its events go.
    pub deliver: Vec<Planned>,
}

/// The deliveries of one run of an event: each (destination, action) once, in the routes' order.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Plan(Vec<Planned>);

impl Plan {
    /// The plan that `routes` make for an event of `source` and `kind`: all matching routes count.
    pub fn of(routes: &[Route], source: &SourceName, kind: &Kind) -> Self {
        let mut plan = Self::default();
        for route in routes
            .iter()
            .filter(|route| route.source.matches(source) && route.kind.matches(kind))
        {
            for planned in &route.deliver {
                plan.add(planned.clone());
            }
        }
        plan
    }

    /// Adds a delivery, unless the plan has it already.
    pub fn add(&mut self, planned: Planned) {
        if !self.0.contains(&planned) {
            self.0.push(planned);
        }
    }

    /// The planned deliveries.
    pub fn deliveries(&self) -> &[Planned] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(to: &str, action: &str) -> Planned {
        Planned {
            destination: DestinationName::parse(to).expect("name"),
            action: ActionName::parse(action).expect("name"),
        }
    }

    fn route(source: &str, kind: &str, deliver: &[Planned]) -> Route {
        Route {
            source: if source == "*" {
                Pattern::Any
            } else {
                Pattern::Only(SourceName::parse(source).expect("name"))
            },
            kind: if kind == "*" {
                Pattern::Any
            } else {
                Pattern::Only(Kind::new(kind).expect("kind"))
            },
            deliver: deliver.to_vec(),
        }
    }

    fn plan(routes: &[Route], source: &str, kind: &str) -> Vec<Planned> {
        let (source, kind) = (
            SourceName::parse(source).expect("name"),
            Kind::new(kind).expect("kind"),
        );
        Plan::of(routes, &source, &kind).deliveries().to_vec()
    }

    #[test]
    fn all_matching_routes_count_and_the_same_delivery_once() {
        let routes = [
            route(
                "shop",
                "orders/create",
                &[planned("accounting", "invoice"), planned("chat", "line")],
            ),
            route("*", "*", &[planned("chat", "line"), planned("chat", "log")]),
            route("code", "push", &[planned("crm", "x")]),
        ];
        let expected = [
            planned("accounting", "invoice"),
            planned("chat", "line"),
            planned("chat", "log"),
        ];
        assert_eq!(plan(&routes, "shop", "orders/create"), expected);
    }

    #[test]
    fn a_kind_matches_exactly_and_an_empty_one_only_by_the_star() {
        let routes = [
            route("shop", "orders/create", &[planned("a", "x")]),
            route("shop", "*", &[planned("b", "x")]),
        ];
        for other in ["Orders/Create", " orders/create", "orders/create ", ""] {
            assert_eq!(
                plan(&routes, "shop", other),
                [planned("b", "x")],
                "{other:?}"
            );
        }
    }
}
