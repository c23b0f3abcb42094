//! Routes: what goes where.

use std::collections::BTreeSet;

use toml::Table;

use super::fields::Fields;
use super::read::{Fault, Reader};
use super::{Destination, Source};
use crate::names::{ActionName, DestinationName, Kind, SourceName};
use crate::route::{Pattern, Planned, Route};

impl Reader<'_> {
    pub(super) fn routes(
        &mut self,
        tables: Vec<Table>,
        sources: &[(SourceName, Option<Source>)],
        destinations: &[(DestinationName, Option<Destination>)],
        faults: &mut Vec<Fault>,
    ) -> Vec<Route> {
        let mut routes = Vec::new();
        let mut named: BTreeSet<DestinationName> = BTreeSet::new();
        for (n, table) in tables.into_iter().enumerate() {
            let mut fields = Fields::new(format!("route {}", n + 1), table, faults);
            let source = match fields.required_text("source").as_deref() {
                Some("*") => Some(Pattern::Any),
                Some(text) => {
                    let found = sources.iter().find(|(name, _)| name.as_str() == text);
                    if found.is_none() {
                        fields.fault(format!("there is no source named {text:?}"));
                    }
                    found.map(|(name, _)| Pattern::Only(name.clone()))
                }
                None => None,
            };
            let kind = match fields.required_text("kind").as_deref() {
                Some("*") => Some(Pattern::Any),
                Some(text) => {
                    let kind = Kind::new(text).filter(|_| !text.is_empty());
                    if kind.is_none() {
                        fields.fault("kind must be \"*\" or 1 to 255 bytes long");
                    }
                    kind.map(Pattern::Only)
                }
                None => None,
            };
            let deliver = fields.tables("deliver");
            if deliver.is_empty() {
                fields.fault("deliver is missing or empty: the route leads nowhere");
            }
            fields.finish();
            let deliver: Vec<Planned> = deliver
                .into_iter()
                .filter_map(|table| {
                    planned(
                        Fields::new(format!("route {}, deliver", n + 1), table, faults),
                        destinations,
                    )
                })
                .collect();
            named.extend(deliver.iter().map(|planned| planned.destination.clone()));
            if let (Some(source), Some(kind)) = (source, kind) {
                routes.push(Route {
                    source,
                    kind,
                    deliver,
                });
            }
        }
        for (name, _) in destinations
            .iter()
            .filter(|(name, _)| !named.contains(name))
        {
            self.warnings.push(format!(
                "destination {:?}: no route names it",
                name.as_str()
            ));
        }
        routes
    }
}

fn planned(
    mut fields: Fields<'_>,
    destinations: &[(DestinationName, Option<Destination>)],
) -> Option<Planned> {
    let to = fields.required_text("to");
    let action = match fields.text("action") {
        None => Some(ActionName::deliver()),
        Some(text) => ActionName::parse(&text)
            .map_err(|error| fields.fault(format!("action: {error}")))
            .ok(),
    };
    let destination = to.and_then(|to| {
        let found = destinations
            .iter()
            .find(|(name, _)| name.as_str() == to)
            .map(|(name, _)| name.clone());
        if found.is_none() {
            fields.fault(format!("there is no destination named {to:?}"));
        }
        found
    });
    fields.finish();
    Some(Planned {
        destination: destination?,
        action: action?,
    })
}
