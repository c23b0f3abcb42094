//! Cold starts: each function is started over and over for one invocation, in turns with the bare one. Told are the times
//! from before the start of the process to the answer, and to each thing that the function asked for on the way, and the
//! processor time that the function had used by its answer, which a busy machine does not stretch.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use crate::clock;
use crate::platform::{Beside, Destination, Function, Mark, Program, Stage};

/// Cold starts of ingress and worker.
#[derive(Args)]
pub(crate) struct ColdStart {
    /// The binary of the ingress.
    #[arg(long)]
    ingress: PathBuf,
    /// The binary of the worker.
    #[arg(long)]
    worker: PathBuf,
    /// How often each is started.
    #[arg(long)]
    starts: u32,
}

/// One start of a function.
struct Start {
    marks: Vec<Mark>,
    processor: Duration,
}

impl Start {
    /// What has come of a function that has just answered.
    fn of(stage: &Stage, function: &Function) -> io::Result<Self> {
        let processor = clock::cpu_of(function.id())?;
        let marks = stage.marks();
        Ok(Self { marks, processor })
    }
}

/// Every start of one function.
#[derive(Default)]
struct Starts(Vec<Start>);

impl ColdStart {
    pub(crate) async fn play(self) -> io::Result<()> {
        let stage = Stage::new(Beside::Healthy).await?;
        let programs = [
            Program::function(self.ingress),
            Program::function(self.worker),
        ];
        let ([ingress, worker], floor) = (&programs, Program::floor()?);
        let mut starts: [Starts; 3] = Default::default();
        let [of_floor, of_ingress, of_worker] = &mut starts;
        for n in 0..self.starts {
            let id = format!("cold-{n}");
            let running = stage.start(&floor).await?;
            running
                .invoke(Stage::posted(Destination::Measured, &id)?)
                .await?;
            of_floor.0.push(Start::of(&stage, &running)?);
            drop(running);
            let running = stage.start(ingress).await?;
            let hint = stage.accept(&running, Destination::Measured, &id).await?;
            of_ingress.0.push(Start::of(&stage, &running)?);
            drop(running);
            let running = stage.start(worker).await?;
            Stage::deal_with(&running, &[hint]).await?;
            of_worker.0.push(Start::of(&stage, &running)?);
        }
        stage.judge()?;
        let [floor, ingress, worker] = starts.map(Starts::told);
        println!(
            "{}",
            json!({ "floor": floor?, "ingress": ingress?, "worker": worker? })
        );
        Ok(())
    }
}

impl Starts {
    /// The middle of the times of each mark, in milliseconds; the last one is the answer.
    fn told(self) -> io::Result<Value> {
        let names = |start: &Start| -> Vec<String> {
            let marks = start.marks.iter();
            marks.map(|mark| mark.what.clone()).collect()
        };
        let first = self.0.first().map(names).unwrap_or_default();
        if let Some(other) = self.0.iter().map(names).find(|other| *other != first) {
            let why = format!("no two starts alike: {first:?} and {other:?}");
            return Err(io::Error::other(why));
        }
        let marks = first.iter().enumerate().map(|(n, what)| {
            let times = self
                .0
                .iter()
                .filter_map(|start| Some(start.marks.get(n)?.after));
            json!({ "what": what, "ms": middle(times.collect()) })
        });
        let marks: Vec<Value> = marks.collect();
        let answer = marks.last().and_then(|answer| answer.get("ms"));
        let processor = self.0.iter().map(|start| start.processor);
        let processor = middle(processor.collect());
        Ok(json!({ "answer_ms": answer, "processor_ms": processor, "marks": marks }))
    }
}

/// The middle one, in milliseconds.
fn middle(mut times: Vec<Duration>) -> Option<f64> {
    times.sort_unstable();
    let middle = times.get(times.len() / 2)?;
    Some(middle.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(marks: &[(&str, u64)]) -> Start {
        let mark = |(what, ms): &(&str, u64)| Mark {
            what: (*what).to_owned(),
            after: Duration::from_millis(*ms),
        };
        Start {
            marks: marks.iter().map(mark).collect(),
            processor: Duration::from_millis(7),
        }
    }

    #[test]
    fn each_mark_is_told_by_the_middle_of_its_times_and_the_answer_is_the_last() {
        let starts = [(3, 9), (1, 20), (2, 4)];
        let starts = starts.map(|(next, answer)| start(&[("next", next), ("answer", answer)]));
        let told = Starts(starts.into()).told().expect("alike");
        assert_eq!(told["marks"][0], json!({ "what": "next", "ms": 2.0 }));
        assert_eq!(
            (&told["answer_ms"], &told["processor_ms"]),
            (&json!(9.0), &json!(7.0))
        );
    }

    #[test]
    fn starts_that_ask_for_different_things_are_not_told_as_one() {
        let starts = [&[("next", 1), ("answer", 2)][..], &[("next", 1)]];
        let starts = Starts(starts.map(start).into());
        assert!(starts.told().is_err());
    }
}
