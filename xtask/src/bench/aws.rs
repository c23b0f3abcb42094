//! The figures of the functions on AWS: how big they are, how long a cold start takes, what a warm invocation costs, and
//! what a healthy destination notices of a dead one. The platform and the services are played on loopback and answer at
//! once: what is measured is the functions, and what AWS itself takes comes on top.

use serde_json::Value;

use super::Group;
use super::figures::middle;
use super::row::{Bound, Row};
use crate::command::Failure;
use crate::measured::Measured;
use crate::process::number;

/// Each is a package `switchboard-NAME` with a binary `NAME`.
pub(super) const FUNCTIONS: [&str; 4] = ["ingress", "worker", "status", "keeper"];

pub(super) const GROUPS: [Group; 4] = [
    Group {
        name: "size",
        measure: size,
    },
    Group {
        name: "cold-start",
        measure: cold_start,
    },
    Group {
        name: "warm",
        measure: warm,
    },
    Group {
        name: "isolation",
        measure: isolation,
    },
];

/// The package of each function, in MB.
fn size(measured: &Measured) -> Result<Vec<Row>, Failure> {
    let row = |function: &&str| {
        let package = measured.package(function)?;
        Ok(Row {
            figure: format!("package of {function}"),
            value: number(&package, "/package_bytes")? / 1e6,
            unit: "MB",
            floor: None,
            bound: Bound::AtMost(5.0),
        })
    };
    FUNCTIONS.iter().map(row).collect()
}

/// From before the start of a function's process to its first answer; where that time goes is told on standard error.
fn cold_start(measured: &Measured) -> Result<Vec<Row>, Failure> {
    const STARTS: &str = "20";
    let found = measured.functions("cold-start", &["--starts", STARTS])?;
    let mut rows = Vec::new();
    for function in ["ingress", "worker"] {
        eprintln!("cold start of {function}: {}", way(&found, function)?);
        let row = |figure: String, time: &str, bound| {
            Ok(Row {
                figure,
                value: number(&found, &format!("/{function}/{time}"))?,
                unit: "ms",
                floor: Some(number(&found, &format!("/floor/{time}"))?),
                bound,
            })
        };
        let figure = format!("cold start of {function}, to its first answer");
        rows.push(row(figure, "answer_ms", Bound::AtMost(40.0))?);
        let figure = format!("processor time of a cold start of {function}");
        rows.push(row(figure, "processor_ms", Bound::Reported)?);
    }
    Ok(rows)
}

/// When everything came that a function asked for, its answer included.
fn way(found: &Value, function: &str) -> Result<String, Failure> {
    let marks = found.pointer(&format!("/{function}/marks"));
    let marks = marks.and_then(Value::as_array);
    let marks = marks.ok_or_else(|| Failure(format!("nothing is told of {function}")))?;
    let way = marks.iter().map(|mark| {
        let what = mark.get("what").and_then(Value::as_str).unwrap_or_default();
        Ok(format!("{what} {:.1} ms", number(mark, "/ms")?))
    });
    let way: Vec<String> = way.collect::<Result<_, Failure>>()?;
    Ok(way.join(", "))
}

/// The processor time of a warm invocation, which is most of what is paid for.
fn warm(measured: &Measured) -> Result<Vec<Row>, Failure> {
    const INVOCATIONS: &str = "2000";
    let found = measured.functions("warm", &["--invocations", INVOCATIONS])?;
    let floor = number(&found, "/floor_us")?;
    let row = |figure: &str, pointer| {
        Ok(Row {
            figure: figure.to_owned(),
            value: number(&found, pointer)?,
            unit: "us",
            floor: Some(floor),
            bound: Bound::Reported,
        })
    };
    Ok(vec![
        row(
            "processor time to accept an event, 1 delivery",
            "/ingress_us",
        )?,
        row("processor time for a batch of 10 deliveries", "/worker_us")?,
    ])
}

/// From the offer of a hint to its arrival at a healthy destination, while the other half of each batch is for another
/// healthy one, or for a dead one. A dead destination takes its time limit, so ten processes bear a little over three batches
/// a second.
fn isolation(measured: &Measured) -> Result<Vec<Row>, Failure> {
    const ROUNDS: u32 = 3;
    const ARGUMENTS: [&str; 6] = ["--per-second", "3", "--batches", "60", "--before", "15"];
    let measure = |beside: &str| {
        let arguments = [&ARGUMENTS[..], &["--beside", beside]].concat();
        let found = measured.functions("isolation", &arguments)?;
        eprintln!("beside one that is {beside}: {found}");
        number(&found, "/under_way/p95_ms")
    };
    let mut values: [Vec<f64>; 3] = Default::default();
    for _ in 0..ROUNDS {
        let found = [
            measure("healthy")?,
            measure("silent")?,
            measure("refusing")?,
        ];
        for (values, value) in values.iter_mut().zip(found) {
            values.push(value);
        }
    }
    let [healthy, silent, refusing] = values.map(middle);
    let row = |beside: &str, value| Row {
        figure: format!("p95 from hint to arrival beside a destination that {beside}"),
        value,
        unit: "ms",
        floor: Some(healthy),
        bound: Bound::TimesFloor(2.0),
    };
    Ok(vec![
        row("never answers", silent),
        row("refuses connections", refusing),
    ])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_way_to_the_answer_is_told_in_its_order() {
        let marks = json!([{ "what": "next", "ms": 3.04 }, { "what": "answer", "ms": 9.0 }]);
        let found = json!({ "worker": { "marks": marks } });
        let told = way(&found, "worker").expect("told");
        assert_eq!(told, "next 3.0 ms, answer 9.0 ms");
        assert!(way(&found, "ingress").is_err());
    }
}
