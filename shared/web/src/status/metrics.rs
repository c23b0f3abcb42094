//! `GET /metrics`: the totals in Prometheus' text form, version 0.0.4.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use switchboard_core::alert::{Record, Trouble};
use switchboard_core::delivery::State as DeliveryState;
use switchboard_core::names::{DestinationName, SourceName};
use switchboard_core::ports::Backend;
use switchboard_core::views::{DestinationTotals, SourceTotals};

use super::Status;
use super::access::Reader;
use super::answer::Failure;
use super::overview::{self, Standing};

/// A metric of each source: name, what it counts, and which of the source's numbers it is.
type OfSource = (&'static str, &'static str, fn(&SourceTotals) -> u64);

const OF_SOURCES: [OfSource; 5] = [
    ("events", "Events stored.", |of| of.stored),
    ("repeats", "Events that were stored already.", |of| {
        of.repeats
    }),
    (
        "repeats_with_other_body",
        "Repeats that carried another body than the first.",
        |of| of.repeats_with_other_body,
    ),
    ("refused", "Requests whose signature did not hold.", |of| {
        of.refused
    }),
    ("unrouted", "Stored events that no route named.", |of| {
        of.unrouted
    }),
];

/// `GET /metrics`
pub(super) async fn metrics<B: Backend>(
    _: Reader,
    State(status): State<Arc<Status<B>>>,
) -> Result<Response, Failure> {
    let answer = overview::standing(&status).await?;
    let mut text = text(&answer);
    if status.configuration.alert_url.is_some() {
        let mut kept = status
            .backend
            .alerts()
            .await
            .map_err(|error| Failure::store("read the alerts", &error))?;
        // Of a destination that nothing is wrong with nothing is kept: it is shown all the same, as 0.
        for destination in answer.overview.destinations.keys() {
            kept.entry(destination.clone()).or_default();
        }
        alerts(&mut text, &kept);
    }
    Ok((
        [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")],
        text.0,
    )
        .into_response())
}

fn text(answer: &Standing) -> Text {
    let mut text = Text(String::new());
    let overview = &answer.overview;
    for (name, help, number) in OF_SOURCES {
        let name = format!("switchboard_{name}_total");
        text.family(&name, "counter", help);
        for (source, of) in &overview.sources {
            text.sample(&name, &[("source", source.as_str())], number(of));
        }
    }
    let name = "switchboard_declined_total";
    text.family(name, "counter", "Requests answered 400, 404, 413 or 503.");
    for of in &overview.declined {
        let source = of.source.as_ref().map(SourceName::as_str);
        let labels = [
            ("source", source.unwrap_or_default()),
            ("status", &of.status.to_string()),
            ("cause", &of.cause),
        ];
        text.sample(name, &labels, of.count);
    }
    let name = "switchboard_deliveries";
    text.family(name, "gauge", "Deliveries by where they stand.");
    for (destination, of) in &overview.destinations {
        for state in DeliveryState::ALL {
            let labels = [
                ("destination", destination.as_str()),
                ("state", state.as_str()),
            ];
            text.sample(name, &labels, in_state(of, state));
        }
    }
    let name = "switchboard_dead_letters_expired_total";
    text.family(
        name,
        "counter",
        "Dead letters that nobody redrove while they were kept; they are among the dead deliveries still.",
    );
    for (destination, of) in &overview.destinations {
        text.sample(name, &[("destination", destination.as_str())], of.expired);
    }
    let name = "switchboard_destination_held";
    text.family(name, "gauge", "1 while an operator holds the destination.");
    for destination in overview.destinations.keys() {
        let held = u64::from(answer.held.contains(destination));
        text.sample(name, &[("destination", destination.as_str())], held);
    }
    text
}

/// What is raised, and what of it is not told yet.
fn alerts(text: &mut Text, kept: &BTreeMap<DestinationName, Record>) {
    let name = "switchboard_alerts_pending";
    text.family(name, "gauge", "Alerts that alert_url has not taken yet.");
    let pending: usize = kept.values().map(|record| record.pending().len()).sum();
    text.sample(name, &[], u64::try_from(pending).unwrap_or(u64::MAX));
    let name = "switchboard_alert_raised";
    text.family(
        name,
        "gauge",
        "1 while this is wrong with the destination, else 0.",
    );
    for (destination, record) in kept {
        for trouble in Trouble::ALL {
            let labels = [
                ("destination", destination.as_str()),
                ("alert", trouble.as_str()),
            ];
            let raised = record.raised.contains_key(&trouble);
            text.sample(name, &labels, u64::from(raised));
        }
    }
}

fn in_state(of: &DestinationTotals, state: DeliveryState) -> u64 {
    match state {
        DeliveryState::Waiting => of.waiting,
        DeliveryState::Held => of.held,
        DeliveryState::Delivered => of.delivered,
        DeliveryState::Dead => of.dead,
    }
}

/// Metrics as they are written. Writing into a text cannot fail.
struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: u64) {
        let labels: Vec<String> = labels
            .iter()
            .map(|(label, value)| format!("{label}=\"{}\"", escaped(value)))
            .collect();
        let labels = match labels.join(",") {
            none if none.is_empty() => none,
            labels => format!("{{{labels}}}"),
        };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }
}

/// A label's value: the three characters that could end it, or its line, are escaped.
fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
