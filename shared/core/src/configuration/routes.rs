//! Routes: what goes where.

use std::collections::BTreeSet;

use toml::Table;

use super::fields::Fields;
use super::read::{Fault, Reader};
use super::{Destination, Source};
use crate::names::{ActionName, DestinationName, Kind, SourceName};
use crate::route::{Pattern, Planned, Route};

type Sources = [(SourceName, Option<Source>)];
type Destinations = [(DestinationName, Option<Destination>)];

impl Reader<'_> {
    pub(super) fn routes(
        &mut self,
        tables: Vec<Table>,
        sources: &Sources,
        destinations: &Destinations,
        faults: &mut Vec<Fault>,
    ) -> Vec<Route> {
        let mut routes = Vec::new();
        let mut named: BTreeSet<DestinationName> = BTreeSet::new();
        for (n, table) in tables.into_iter().enumerate() {
            let place = format!("route {}", n + 1);
            let mut fields = Fields::new(place.clone(), table, faults);
            let source = from(&mut fields, sources);
            let kind = kind(&mut fields);
            let deliver = fields.tables("deliver");
            if deliver.is_empty() {
                fields.fault("deliver is missing or empty: the route leads nowhere");
            }
            fields.finish();
            let deliver: Vec<Planned> = deliver
                .into_iter()
                .filter_map(|table| {
                    let fields = Fields::new(format!("{place}, deliver"), table, faults);
                    planned(fields, destinations)
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
        self.warn_of_unnamed(destinations, &named);
        routes
    }

    fn warn_of_unnamed(&mut self, destinations: &Destinations, named: &BTreeSet<DestinationName>) {
        let unnamed = destinations
            .iter()
            .filter(|(name, _)| !named.contains(name));
        self.warnings.extend(
            unnamed.map(|(name, _)| format!("destination {:?}: no route names it", name.as_str())),
        );
    }
}

/// Whose events the route is for.
fn from(fields: &mut Fields<'_>, sources: &Sources) -> Option<Pattern<SourceName>> {
    let text = fields.required_text("source")?;
    if text == "*" {
        return Some(Pattern::Any);
    }
    let found = sources.iter().find(|(name, _)| name.as_str() == text);
    if found.is_none() {
        fields.fault(format!("there is no source named {text:?}"));
    }
    found.map(|(name, _)| Pattern::Only(name.clone()))
}

/// Which of them.
fn kind(fields: &mut Fields<'_>) -> Option<Pattern<Kind>> {
    let text = fields.required_text("kind")?;
    if text == "*" {
        return Some(Pattern::Any);
    }
    let kind = Kind::new(&text).filter(|_| !text.is_empty());
    if kind.is_none() {
        fields.fault("kind must be \"*\" or 1 to 255 bytes long");
    }
    kind.map(Pattern::Only)
}

fn planned(mut fields: Fields<'_>, destinations: &Destinations) -> Option<Planned> {
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
