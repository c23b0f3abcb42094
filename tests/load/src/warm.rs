//! Warm invocations: the processor time that one takes of a function that runs already. It is what is paid for.

use std::io;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::clock;
use crate::platform::{Beside, Destination, Function, Program, Stage};

/// Hints of a batch.
const HINTS: u32 = 10;
/// Invocations before the first that counts.
const BEFORE: u32 = 50;

/// Warm invocations of ingress and worker.
#[derive(Args)]
pub(crate) struct Warm {
    /// The binary of the ingress.
    #[arg(long)]
    ingress: PathBuf,
    /// The binary of the worker.
    #[arg(long)]
    worker: PathBuf,
    /// How often each is invoked.
    #[arg(long)]
    invocations: u32,
}

impl Warm {
    pub(crate) async fn play(self) -> io::Result<()> {
        let stage = Stage::new(Beside::Healthy).await?;
        let floor = stage.start(&Program::floor()?).await?;
        let ingress = stage.start(&Program::function(self.ingress)).await?;
        let worker = stage.start(&Program::function(self.worker)).await?;
        let count = self.invocations;
        let event = Stage::posted(Destination::Measured, "warm")?;
        let of_floor = taken(&floor, count, async |_| {
            floor.invoke(event.clone()).await.map(drop)
        });
        let of_floor = of_floor.await?;
        let of_ingress = taken(&ingress, count, async |n| {
            let id = format!("warm-{n}");
            let accepted = stage.accept(&ingress, Destination::Measured, &id).await;
            accepted.map(drop)
        });
        let of_ingress = of_ingress.await?;
        let mut hints = Vec::new();
        for n in 0..HINTS {
            let id = format!("batch-{n}");
            hints.push(stage.accept(&ingress, Destination::Measured, &id).await?);
        }
        let of_worker = taken(&worker, count, async |_| {
            Stage::deal_with(&worker, &hints).await
        });
        let of_worker = of_worker.await?;
        stage.judge()?;
        println!(
            "{}",
            json!({ "floor_us": of_floor, "ingress_us": of_ingress, "worker_us": of_worker })
        );
        Ok(())
    }
}

/// The processor time that an invocation takes of a function, in microseconds.
async fn taken(
    function: &Function,
    count: u32,
    invoke: impl AsyncFn(u32) -> io::Result<()>,
) -> io::Result<f64> {
    for n in 0..BEFORE {
        invoke(n).await?;
    }
    let before = clock::cpu_of(function.id())?;
    for n in 0..count {
        invoke(n).await?;
    }
    let taken = clock::cpu_of(function.id())?.saturating_sub(before);
    Ok(taken.as_secs_f64() * 1e6 / f64::from(count.max(1)))
}
