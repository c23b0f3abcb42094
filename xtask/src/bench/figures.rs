//! The figures: how each is measured. Floor and figure take turns, and the middle one of three rounds counts; memory and
//! the pages read are measured once.

use serde_json::Value;

use super::row::{Bound, Row};
use crate::command::Failure;
use crate::measured::{Measured, SOURCE};
use crate::process::{Process, number};
use crate::wait::{until, until_counted, until_total};

/// Rounds of what is measured over and over.
const ROUNDS: u32 = 3;
/// Paths of the sink.
const PATHS: [&str; 3] = ["/d0", "/d1", "/d2"];

/// The middle one.
pub(super) fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Runs both `ROUNDS` times, in turns; the middle of each.
fn in_turns(
    mut floor: impl FnMut() -> Result<f64, Failure>,
    mut figure: impl FnMut() -> Result<f64, Failure>,
) -> Result<(f64, f64), Failure> {
    let (mut floors, mut figures) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        floors.push(floor()?);
        figures.push(figure()?);
    }
    Ok((middle(floors), middle(figures)))
}

fn per_second(events: u32, sent: &Value) -> Result<f64, Failure> {
    Ok(f64::from(events) / number(sent, "/seconds")?)
}

fn hold_all(switchboard: &Process, paths: &[&str]) -> Result<(), Failure> {
    for n in 0..paths.len() {
        switchboard.ask(
            "POST",
            "/admin/hold",
            &format!(r#"{{"destination":"d{n}"}}"#),
        )?;
    }
    Ok(())
}

/// Events accepted per second over 64 connections, three deliveries planned for each, destinations held.
pub(super) fn accepted(measured: &Measured) -> Result<Vec<Row>, Failure> {
    const EVENTS: u32 = 20_000;
    let sink = measured.sink()?;
    let floor = || {
        let floor = measured.floor_server()?;
        per_second(EVENTS, &measured.send(&floor, "/", "e", EVENTS, &[])?)
    };
    let figure = || {
        let switchboard = measured.fresh(&sink, &PATHS)?;
        hold_all(&switchboard, &PATHS)?;
        per_second(
            EVENTS,
            &measured.send(&switchboard, SOURCE, "e", EVENTS, &[])?,
        )
    };
    let (floor, value) = in_turns(floor, figure)?;
    Ok(vec![Row {
        figure: "events accepted".to_owned(),
        value,
        unit: "/s",
        floor: Some(floor),
        bound: Bound::OfFloor(0.6),
    }])
}

/// Deliveries per second while 10,000 events wait, to one destination and to three.
pub(super) fn delivered(measured: &Measured) -> Result<Vec<Row>, Failure> {
    const EVENTS: u32 = 10_000;
    let mut rows = Vec::new();
    for paths in [PATHS.get(..1).unwrap_or_default(), &PATHS] {
        let destinations = u32::try_from(paths.len()).unwrap_or(1);
        let deliveries = EVENTS * destinations;
        let sink = measured.sink()?;
        let floor = || {
            let urls: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
            per_second(
                deliveries,
                &measured.floor_client(&sink, &urls, deliveries)?,
            )
        };
        let figure = || {
            let switchboard = measured.fresh(&sink, paths)?;
            sink.ask("POST", "/gate/shut", "")?;
            measured.send(&switchboard, SOURCE, "e", EVENTS, &[])?;
            sink.ask("POST", "/counts/clear", "")?;
            sink.ask("POST", "/gate/open", "")?;
            let counts = until_counted(&sink, deliveries)?;
            let (mut first, mut last) = (f64::MAX, 0.0_f64);
            for path in paths {
                let name = path.trim_start_matches('/');
                first = first.min(number(&counts, &format!("/~1{name}/first_ns"))?);
                last = last.max(number(&counts, &format!("/~1{name}/last_ns"))?);
            }
            Ok(f64::from(deliveries) / ((last - first) / 1e9))
        };
        let (floor, value) = in_turns(floor, figure)?;
        rows.push(Row {
            figure: format!("deliveries while 10,000 events wait, destinations: {destinations}"),
            value,
            unit: "/s",
            floor: Some(floor),
            bound: Bound::OfFloor(0.5),
        });
    }
    Ok(rows)
}

/// From the POST of an event to its arrival at the sink, at 50 events a second.
pub(super) fn latency(measured: &Measured) -> Result<Vec<Row>, Failure> {
    const EVENTS: u32 = 1_000;
    const RATE: [&str; 2] = ["--per-second", "50"];
    let sink = measured.sink()?;
    let mut values: [Vec<f64>; 4] = Default::default();
    for _ in 0..ROUNDS {
        let floor = measured.floor_server()?;
        measured.send(&floor, "/", "warm", 100, &RATE)?;
        let answered = measured.send(&floor, "/", "e", EVENTS, &RATE)?;
        drop(floor);
        let switchboard = measured.fresh(&sink, &["/d0"])?;
        measured.send(&switchboard, SOURCE, "warm", 100, &RATE)?;
        until_total(&switchboard, "delivered", 100)?;
        sink.ask("POST", "/counts/clear", "")?;
        measured.send(&switchboard, SOURCE, "e", EVENTS, &RATE)?;
        let counts = until_counted(&sink, EVENTS)?;
        let found = [
            number(&answered, "/answered/p50_ms")?,
            number(&answered, "/answered/p99_ms")?,
            number(&counts, "/~1d0/under_way/p50_ms")?,
            number(&counts, "/~1d0/under_way/p99_ms")?,
        ];
        for (values, value) in values.iter_mut().zip(found) {
            values.push(value);
        }
        sink.ask("POST", "/counts/clear", "")?;
    }
    let [floor_p50, floor_p99, p50, p99] = values.map(middle);
    let row = |percentile: &str, value, floor, most| Row {
        figure: format!("POST to arrival at 50 events/s, {percentile}"),
        value,
        unit: "ms",
        floor: Some(floor),
        bound: Bound::TimesFloor(most),
    };
    Ok(vec![
        row("p50", p50, floor_p50, 2.5),
        row("p99", p99, floor_p99, 2.0),
    ])
}

/// Processor time for 10,000 events that are accepted and delivered to one destination.
pub(super) fn cpu(measured: &Measured) -> Result<Vec<Row>, Failure> {
    const EVENTS: u32 = 20_000;
    let per_10_000 = |seconds: f64| seconds * 10_000.0 / f64::from(EVENTS);
    let sink = measured.sink()?;
    let floor = || {
        let floor = measured.floor_server()?;
        measured.send(&floor, "/", "e", EVENTS, &[])?;
        let posted = measured.floor_client(&sink, &["/d0".to_owned()], EVENTS)?;
        Ok(per_10_000(floor.cpu()? + number(&posted, "/cpu_seconds")?))
    };
    let figure = || {
        let switchboard = measured.fresh(&sink, &["/d0"])?;
        Ok(per_10_000(accept_and_deliver(
            measured,
            &switchboard,
            EVENTS,
            0,
        )?))
    };
    let (floor, value) = in_turns(floor, figure)?;
    let row = |figure: &str, bound| Row {
        figure: figure.to_owned(),
        value,
        unit: "s",
        floor: Some(floor),
        bound,
    };
    let figure = "processor time for 10,000 events, accepted and delivered";
    Ok(vec![
        row(figure, Bound::TimesFloor(1.8)),
        row("the same, absolute", Bound::AtMost(2.5)),
    ])
}

/// Has so many events accepted and delivered to the one destination of a Switchboard that has delivered `before`; the
/// processor time it took, in seconds.
fn accept_and_deliver(
    measured: &Measured,
    switchboard: &Process,
    events: u32,
    before: u32,
) -> Result<f64, Failure> {
    let start = switchboard.cpu()?;
    measured.send(switchboard, SOURCE, &format!("after-{before}"), events, &[])?;
    until_total(switchboard, "delivered", before + events)?;
    Ok(switchboard.cpu()? - start)
}

/// Resident memory at rest, and with 10,000 deliveries waiting.
pub(super) fn memory(measured: &Measured) -> Result<Vec<Row>, Failure> {
    let sink = measured.sink()?;
    let switchboard = measured.fresh(&sink, &["/d0"])?;
    let at_rest = switchboard.resident()?;
    sink.ask("POST", "/gate/shut", "")?;
    measured.send(&switchboard, SOURCE, "e", 10_000, &[])?;
    until_total(&switchboard, "waiting", 10_000)?;
    let waiting = switchboard.resident()?;
    let row = |figure: &str, value, most| Row {
        figure: figure.to_owned(),
        value,
        unit: "MB",
        floor: None,
        bound: Bound::AtMost(most),
    };
    Ok(vec![
        row("resident memory at rest", at_rest, 25.0),
        row("resident memory, 10,000 deliveries waiting", waiting, 80.0),
    ])
}

/// What a long history costs: processor time and page reads for an event with 1,000,000 events stored against 1,000.
pub(super) fn history(measured: &Measured) -> Result<Vec<Row>, Failure> {
    const EVENTS: u32 = 20_000;
    const COUNTED: u32 = 2_000;
    let sink = measured.sink()?;
    let serve = |stored: u32| {
        eprintln!("storing {stored} events");
        let data = measured.path(&format!("history-{stored}"));
        measured.seed(&data, stored)?;
        measured.switchboard(&sink, &["/d0"], &data)
    };
    let served = [(1_000, serve(1_000)?), (1_000_000, serve(1_000_000)?)];
    let mut seconds: [Vec<f64>; 2] = Default::default();
    // In turns: a shared machine is not as fast in one minute as in the next.
    for round in 0..ROUNDS {
        for ((stored, switchboard), seconds) in served.iter().zip(&mut seconds) {
            let before = stored + EVENTS * round;
            seconds.push(accept_and_deliver(measured, switchboard, EVENTS, before)?);
        }
    }
    let [short, long] = seconds.map(middle);
    let [_, (stored, switchboard)] = &served;
    let before = stored + EVENTS * ROUNDS;
    let misses = super::trace::page_reads(&measured.path("trace"), switchboard.id(), || {
        accept_and_deliver(measured, switchboard, COUNTED, before).map(drop)
    })?;
    let misses = misses / f64::from(COUNTED);
    let micros = |seconds: f64| seconds * 1e6 / f64::from(EVENTS);
    Ok(vec![
        Row {
            figure: "processor time for an event, 1,000,000 stored against 1,000".to_owned(),
            value: micros(long),
            unit: "us",
            floor: Some(micros(short)),
            bound: Bound::TimesFloor(1.25),
        },
        Row {
            figure: "pages read by SQLite for an event, 1,000,000 stored".to_owned(),
            value: misses,
            unit: "",
            floor: None,
            bound: Bound::AtMost(8.0),
        },
    ])
}

/// What a healthy destination notices of a dead one and of one that takes 2.9 s.
pub(super) fn neighbours(measured: &Measured) -> Result<Vec<Row>, Failure> {
    const EVENTS: u32 = 2_000;
    const RATE: [&str; 2] = ["--per-second", "200"];
    let sink = measured.sink()?;
    // Nothing listens on port 1.
    let with = ["/d0", "http://127.0.0.1:1/", "/slow"];
    let measure = |paths: &[&str]| {
        let switchboard = measured.fresh(&sink, paths)?;
        sink.ask("POST", "/counts/clear", "")?;
        measured.send(&switchboard, SOURCE, "e", EVENTS, &RATE)?;
        let counts = until("the healthy destination has all", || {
            let counts = sink.json("/counts")?;
            let came = number(&counts, "/~1d0/requests").unwrap_or(0.0);
            Ok((came >= f64::from(EVENTS)).then_some(counts))
        })?;
        let took = number(&counts, "/~1d0/last_ns")? - number(&counts, "/~1d0/first_ns")?;
        Ok((
            number(&counts, "/~1d0/under_way/p95_ms")?,
            f64::from(EVENTS) / (took / 1e9),
        ))
    };
    let mut values: [Vec<f64>; 4] = Default::default();
    for _ in 0..ROUNDS {
        let ((alone, rate_alone), (beside, rate_beside)) = (measure(&["/d0"])?, measure(&with)?);
        for (values, value) in values
            .iter_mut()
            .zip([alone, beside, rate_alone, rate_beside])
        {
            values.push(value);
        }
    }
    let [alone, beside, rate_alone, rate_beside] = values.map(middle);
    Ok(vec![
        Row {
            figure: "p95 of a healthy destination beside a dead and a slow one, 200 events/s"
                .to_owned(),
            value: beside,
            unit: "ms",
            floor: Some(alone),
            bound: Bound::TimesFloor(2.0),
        },
        Row {
            figure: "its deliveries".to_owned(),
            value: rate_beside,
            unit: "/s",
            floor: Some(rate_alone),
            bound: Bound::OfFloor(0.95),
        },
    ])
}
