//! What a process holds of the machine, as the kernel tells it.

pub(crate) use switchboard_tests::process::allow_handles;
use switchboard_tests::switchboard::Switchboard;

/// Resident memory in MiB.
pub(crate) fn memory(switchboard: &Switchboard) -> u64 {
    mebibytes(switchboard, "VmRSS:")
}

/// The most resident memory there ever was, in MiB.
pub(crate) fn peak(switchboard: &Switchboard) -> u64 {
    mebibytes(switchboard, "VmHWM:")
}

fn mebibytes(switchboard: &Switchboard, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", switchboard.id()));
    let status = status.expect("its status");
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.expect("its resident memory") / 1024
}

/// Open file handles.
pub(crate) fn handles(switchboard: &Switchboard) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", switchboard.id()))
        .expect("its handles")
        .count()
}
