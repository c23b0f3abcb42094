//! Power loss: no answer 200 leaves before a sync of the log that began after everything of its transaction was written,
//! as a trace of the system calls shows.

use switchboard_tests::setting::sender;
use switchboard_tests::strace::{Call, Strace, calls};
use switchboard_tests::switchboard::{self, Switchboard};
use switchboard_tests::wait;
use tokio::task::JoinSet;

use crate::book::Manner;
use crate::story::Scene;

/// Senders at once, so that some transactions hold several events, and events of each.
const SENDERS: usize = 4;
const EVENTS: usize = 8;
/// What may send an answer, and what may read a request.
const ANSWERS: [&str; 4] = ["write", "writev", "sendto", "sendmsg"];
const READS: [&str; 4] = ["read", "readv", "recvfrom", "recvmsg"];

/// An event that was answered 200.
struct Answered {
    sender_id: String,
    event: String,
}

/// Bytes 4 to 8 of a frame's header are above nothing in the last frame of a transaction only.
fn is_last_header(call: &Call) -> bool {
    let bytes = call.bytes();
    bytes.len() == 24 && bytes[4..8] != [0; 4]
}

/// Says what is wrong when an answer does not wait for the disk.
fn judge(calls: &[Call], answered: &Answered) -> Result<(), String> {
    let Answered { sender_id, event } = answered;
    let after = |line: usize| calls.iter().filter(move |call| call.begun > line);
    let in_log = |call: &&Call| call.arguments.contains("switchboard.sqlite-wal>");
    let came = calls
        .iter()
        .find(|call| READS.contains(&call.name.as_str()) && call.has(sender_id))
        .ok_or("the request never came")?;
    let is_write = |call: &&Call| call.name == "pwrite64" && in_log(call);
    let page = after(came.ended)
        .filter(is_write)
        .find(|call| call.has(sender_id))
        .ok_or("the event was never written to the log")?;
    // A frame is its header and then its page.
    let writes: Vec<&Call> = calls.iter().filter(is_write).collect();
    let of_page = writes
        .iter()
        .position(|call| call.begun == page.begun)
        .ok_or("no page")?;
    let last = (of_page.saturating_sub(1)..writes.len())
        .find(|&at| is_last_header(writes[at]))
        .and_then(|at| writes.get(at + 1))
        .ok_or("its transaction was never whole")?;
    let sync = after(last.ended)
        .filter(|call| matches!(call.name.as_str(), "fsync" | "fdatasync") && in_log(call))
        .find(|call| call.result == "0")
        .ok_or("the log was never synced")?;
    let answer = calls
        .iter()
        .find(|call| {
            ANSWERS.contains(&call.name.as_str()) && call.has("HTTP/1.1 200") && call.has(event)
        })
        .ok_or("the answer never left")?;
    if sync.ended < answer.begun {
        Ok(())
    } else {
        Err(format!(
            "it was answered at {} and synced at {}",
            answer.begun, sync.ended
        ))
    }
}

#[tokio::test]
async fn no_200_leaves_before_its_transaction_is_synced() {
    let scene = Scene::new(Manner::Well).await;
    let switchboard = Switchboard::start(scene.start.clone()).await;
    let trace = switchboard.folder().join("trace");
    let which = [
        "-e",
        "trace=pwrite64,fsync,fdatasync,read,readv,recvfrom,recvmsg,write,writev,sendto,sendmsg",
    ];
    let strace = Strace::attach(switchboard.id(), &trace, &which).await;
    let mut sending = JoinSet::new();
    for number in 0..SENDERS {
        let shop = sender(&switchboard, "shop");
        sending.spawn(async move {
            let mut answered = Vec::new();
            for nth in 0..EVENTS {
                let sender_id = format!("power-{number}-{nth}-");
                let answer = shop.send(&sender_id, "orders/create", "{}").await;
                assert_eq!(answer.body["status"], "accepted");
                let event = answer.event();
                answered.push(Answered { sender_id, event });
            }
            answered
        });
    }
    let answered: Vec<Answered> = sending.join_all().await.into_iter().flatten().collect();
    let calls = strace.detach().await;
    assert_eq!(answered.len(), SENDERS * EVENTS);
    let judged = answered.iter().filter_map(|answered| {
        let why = judge(&calls, answered).err()?;
        Some(format!("{}: {why}", answered.sender_id))
    });
    let broken: Vec<String> = judged.collect();
    assert!(
        broken.is_empty(),
        "answered 200 before it was on disk: {broken:#?}"
    );
}

#[tokio::test]
async fn a_new_folder_has_its_name_on_disk_before_anything_is_served() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("a path");
    let own = switchboard::command(&root);
    let mut command = tokio::process::Command::new("strace");
    command
        // The process itself is the child here, and strace beside it ends with it.
        .args(["-D", "-f", "-y", "-o", "trace"])
        .args(["-e", "trace=mkdir,fsync,listen"])
        .arg(switchboard::binary())
        .args(["serve", "--listen", "127.0.0.1:0", "--receivers", "off"])
        .args(["--data", "new/newer/data"])
        .current_dir(&root)
        .envs(
            own.as_std()
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .kill_on_drop(true);
    let mut running = command.spawn().expect("strace");
    let (seen, listens) = wait::until("it listens", async || {
        let seen = calls(&std::fs::read_to_string(root.join("trace")).ok()?);
        let listens = seen.iter().find(|call| call.name == "listen")?.begun;
        Some((seen, listens))
    })
    .await;
    running.kill().await.expect("it is killed");
    for name in ["new", "new/newer", "new/newer/data"] {
        let made = seen.iter().rfind(|call| {
            call.name == "mkdir"
                && call.arguments.starts_with(&format!("\"{name}\""))
                && call.result == "0"
        });
        let made = made.unwrap_or_else(|| panic!("{name} is made"));
        let above = root
            .join(name)
            .parent()
            .expect("a folder")
            .display()
            .to_string();
        let synced = seen.iter().any(|call| {
            call.name == "fsync"
                && call.arguments.contains(&format!("<{above}>"))
                && made.ended < call.begun
                && call.ended < listens
        });
        assert!(synced, "the name of {name} is not on disk");
    }
}
