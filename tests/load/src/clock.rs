//! The one place where the present comes from. Processes compare moments, so it is the machine's wall clock.

use std::io;
use std::time::{Duration, Instant, SystemTime};

/// Nanoseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "this is the clock file")]
pub(crate) fn now_ns() -> u64 {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// A stopwatch, started now.
#[expect(clippy::disallowed_methods, reason = "this is the clock file")]
pub(crate) fn started() -> Instant {
    Instant::now()
}

/// Waits for a moment of a rate that was planned before.
pub(crate) async fn at(start: Instant, after: Duration) {
    tokio::time::sleep_until(tokio::time::Instant::from_std(start) + after).await;
}

/// The processor time that this process has used so far, in seconds, of user and system together.
pub(crate) fn own_cpu() -> io::Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = |n: usize| fields.split_whitespace().nth(n)?.parse::<f64>().ok();
    match (ticks(11), ticks(12)) {
        (Some(user), Some(system)) => Ok((user + system) / 100.0),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// The processor time that the threads of a process have used so far, to the nanosecond: what a start takes is less than
/// a tick of what is counted for the whole process.
pub(crate) fn cpu_of(process: u32) -> io::Result<Duration> {
    let mut all = Duration::ZERO;
    for thread in std::fs::read_dir(format!("/proc/{process}/task"))? {
        let counted = std::fs::read_to_string(thread?.path().join("schedstat"))?;
        let used = counted.split_whitespace().next();
        let used = used.and_then(|used| used.parse().ok());
        all += Duration::from_nanos(used.ok_or(io::ErrorKind::InvalidData)?);
    }
    Ok(all)
}
