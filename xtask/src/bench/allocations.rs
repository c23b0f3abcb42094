//! Allocations for an accepted event and for a delivery, and where most of them are made. A build of its own counts them;
//! what start and end cost cancels out between a short run and a long one.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::row::{Bound, Row};
use crate::command::Failure;
use crate::measured::{Measured, SOURCE};
use crate::process::number;
use crate::wait::{until, until_total};

/// Events of the short run and of the long one.
const EVENTS: [u32; 2] = [500, 1_500];
/// How many places are named.
const NAMED: usize = 12;
/// The file that every allocation passes through.
const ALLOCATOR: &str = "local/src/allocator.rs";
/// Where our own files lie. Of a path only the last three parts are told.
const OWN: [&str; 6] = [
    "shared",
    "functions",
    "shared/core",
    "shared/embedded",
    "shared/web",
    "functions/local",
];

/// How often each place allocated.
type Places = BTreeMap<String, f64>;

/// Both figures; the places go to standard error.
pub(super) fn allocations(measured: &Measured) -> Result<Vec<Row>, Failure> {
    let accepted = per_event(measured, "shut")?;
    let both = per_event(measured, "open")?;
    let mut delivery = both;
    for (place, count) in &accepted {
        *delivery.entry(place.clone()).or_default() -= count;
    }
    let row = |figure: &str, places: &Places| Row {
        figure: figure.to_owned(),
        value: places.values().sum(),
        unit: "",
        floor: None,
        bound: Bound::Reported,
    };
    let rows = vec![
        row("allocations for an accepted event", &accepted),
        row("allocations for a delivery", &delivery),
    ];
    for (what, places) in [("an accepted event", &accepted), ("a delivery", &delivery)] {
        let mut most: Vec<(&String, &f64)> = places.iter().collect();
        most.sort_by(|a, b| b.1.total_cmp(a.1));
        eprintln!("most allocations for {what}:");
        for (place, count) in most.into_iter().take(NAMED) {
            eprintln!("{count:8.2}  {place}");
        }
    }
    Ok(rows)
}

/// The allocations for one event by place, with the sink's gate `open` or `shut`.
fn per_event(measured: &Measured, gate: &str) -> Result<Places, Failure> {
    let [short, long] = EVENTS;
    let (fewer, mut more) = (
        counted(measured, gate, short)?,
        counted(measured, gate, long)?,
    );
    for (place, count) in fewer {
        *more.entry(place).or_default() -= count;
    }
    for count in more.values_mut() {
        *count /= f64::from(long - short);
    }
    Ok(more)
}

/// The allocations of a run over so many events, by place.
fn counted(measured: &Measured, gate: &str, events: u32) -> Result<Places, Failure> {
    let sink = measured.sink()?;
    let switchboard = measured.fresh(&sink, &["/d0"])?;
    if gate == "shut" {
        let hold = r#"{"destination":"d0"}"#;
        switchboard.ask("POST", "/admin/hold", hold)?;
    }
    measured.send(&switchboard, SOURCE, "e", events, &[])?;
    let total = if gate == "shut" { "held" } else { "delivered" };
    until_total(&switchboard, total, events)?;
    let file = measured.path("dhat-heap.json");
    drop(std::fs::remove_file(&file));
    let pid = switchboard.id().to_string();
    let asked = Command::new("kill").args(["-TERM", &pid]).status();
    asked.map_err(|cause| Failure(format!("kill: {cause}")))?;
    until("the allocations are written", || {
        Ok(read(&file, measured.root()))
    })
}

/// What was counted, by place; `None` while it is not written whole.
fn read(file: &Path, root: &Path) -> Option<Places> {
    let counted: Value = serde_json::from_str(&std::fs::read_to_string(file).ok()?).ok()?;
    let names = counted.get("ftbl")?.as_array()?;
    let mut places = Places::new();
    for point in counted.get("pps")?.as_array()? {
        let frames = point.get("fs")?.as_array()?;
        let names = frames.iter().filter_map(|frame| {
            let index = usize::try_from(frame.as_u64()?).ok()?;
            names.get(index)?.as_str()
        });
        let place = place(names, |file| {
            OWN.iter().any(|own| root.join(own).join(file).is_file())
        });
        *places.entry(place).or_default() += number(point, "/tbk").ok()?;
    }
    Some(places)
}

/// The first of our own functions in a stack, from the inside; a library's own allocation is its last known function's.
fn place<'a>(frames: impl Iterator<Item = &'a str>, is_own: impl Fn(&str) -> bool) -> String {
    let mut last = "unknown";
    for frame in frames {
        // `0x55…: function (file:line:column)`
        let told = frame.split_once(": ").map_or(frame, |(_, rest)| rest);
        last = told;
        let file = told
            .rsplit_once(" (")
            .and_then(|(_, at)| at.split(':').next())
            .unwrap_or_default();
        if file != ALLOCATOR && is_own(file) {
            return told.to_owned();
        }
    }
    format!("a library, {last}")
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn an_allocation_belongs_to_the_first_of_our_own_functions_above_it() {
        let frames = [
            "0x1: alloc (dhat-0.3.3/src/lib.rs:1176:9)",
            "0x2: __rust_alloc (local/src/allocator.rs:10:19)",
            "0x3: with_capacity (core/src/option.rs:3:4)",
            "0x4: outgoing (core/src/forward.rs:5:6)",
            "0x5: request (core/src/attempt.rs:7:8)",
        ];
        let own = [
            "local/src/allocator.rs",
            "core/src/forward.rs",
            "core/src/attempt.rs",
        ];
        let found =
            |frames: &[&'static str]| place(frames.iter().copied(), |file| own.contains(&file));
        assert_eq!(found(&frames), "outgoing (core/src/forward.rs:5:6)");
        let beneath = frames.get(..3).expect("three");
        assert_eq!(
            found(beneath),
            "a library, with_capacity (core/src/option.rs:3:4)"
        );
    }
}
