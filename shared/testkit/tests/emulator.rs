//! The emulator is there while a test holds it, and leaves nothing behind but its log.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use switchboard_testkit::emulator::{Emulator, NoEmulator, Rights, build_folder, fresh_account};

/// How a process says where its emulator is.
const SAYS: &str = "the emulator is at ";
/// How often a condition is looked at, each time after a moment: for ten seconds.
const LOOKS: u32 = 500;
const MOMENT: Duration = Duration::from_millis(20);

fn own(rights: Rights) -> Emulator {
    let folder = build_folder().expect("a build folder");
    Emulator::start(&folder, rights).unwrap_or_else(|cause| panic!("{cause}"))
}

fn answers(address: SocketAddr) -> bool {
    TcpStream::connect(address).is_ok()
}

/// The answer to a request for tables with this key, from long ago and without a right signature.
fn tables(emulator: &Emulator, key: &str) -> String {
    let mut stream = TcpStream::connect(emulator.address()).expect("a connection");
    let address = emulator.address();
    write!(
        stream,
        "POST / HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: 2\r\n\
         content-type: application/x-amz-json-1.0\r\nx-amz-target: DynamoDB_20120810.ListTables\r\n\
         x-amz-date: 20260101T000000Z\r\nauthorization: AWS4-HMAC-SHA256 \
         Credential={key}/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00\r\n\r\n{{}}"
    )
    .expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

#[test]
fn all_tests_of_a_process_share_one() {
    let (first, second) = (Emulator::shared(), Emulator::shared());
    assert_eq!(first.url(), second.url());
    assert!(answers(first.address()), "it listens");
    println!("{SAYS}{} {}", first.address(), first.folder().display());
}

/// Runs the test above in a process of its own, which drops nothing at its end, as a killed one does not.
#[test]
fn the_shared_one_ends_with_its_process() {
    let mut process = Command::new(std::env::current_exe().expect("a path"))
        .args(["--exact", "all_tests_of_a_process_share_one", "--nocapture"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let output = BufReader::new(process.stdout.take().expect("its output"));
    let said = output
        .lines()
        .map_while(Result::ok)
        .find_map(|line| Some(line.split_once(SAYS)?.1.to_owned()))
        .expect("it says where its emulator is");
    process.kill().expect("killed");
    process.wait().expect("it ended");
    let (address, folder) = said.split_once(' ').expect("an address and a folder");
    let (address, folder): (SocketAddr, PathBuf) =
        (address.parse().expect("an address"), folder.into());
    for _ in 0..LOOKS {
        if !answers(address) && !folder.exists() {
            return;
        }
        std::thread::sleep(MOMENT);
    }
    panic!(
        "it still answers at {address}, or left {}",
        folder.display()
    );
}

#[test]
fn a_dropped_one_leaves_nothing_but_its_log() {
    let emulator = own(Rights::Open);
    let (address, folder) = (emulator.address(), emulator.folder().to_owned());
    let log = emulator.log().to_owned();
    assert!(answers(address), "it listens");
    assert!(folder.exists(), "it writes into its own folder");
    drop(emulator);
    assert!(!answers(address), "nobody listens there any more");
    assert!(!folder.exists(), "its folder is gone");
    let written = std::fs::read_to_string(log).expect("its log");
    assert!(written.contains("Running on"), "found: {written}");
}

#[test]
fn rights_count_only_where_they_are_enforced() {
    let (account, stranger) = (fresh_account(), "AKIANOBODYKNOWSIT000");
    let open = tables(Emulator::shared(), stranger);
    assert!(open.starts_with("HTTP/1.1 200"), "found: {open}");
    let enforced = own(Rights::Enforced);
    let owned = tables(&enforced, account.as_str());
    assert!(owned.starts_with("HTTP/1.1 200"), "found: {owned}");
    let refused = tables(&enforced, stranger);
    assert!(refused.starts_with("HTTP/1.1 400"), "found: {refused}");
    assert!(refused.contains("InvalidSignature"), "found: {refused}");
}

#[test]
fn a_missing_one_is_named_with_the_command_that_installs_it() {
    let missing = Emulator::start(Path::new("/nowhere"), Rights::Open).map(|_| ());
    let line =
        "there is no /nowhere/emulator/bin/ministack: run `cargo xtask test`, which installs it";
    let text = missing.as_ref().map_err(NoEmulator::to_string);
    assert_eq!(text, Err(line.to_owned()));
}

#[test]
fn one_that_ends_at_once_is_told_with_its_log() {
    let place =
        std::env::temp_dir().join(format!("switchboard-no-emulator-{}", std::process::id()));
    let bin = place.join("emulator/bin");
    std::fs::create_dir_all(&bin).expect("a folder");
    std::os::unix::fs::symlink("/bin/false", bin.join("ministack")).expect("a link");
    let ended = Emulator::start(&place, Rights::Open).map(|_| ());
    let text = ended.expect_err("nothing runs").to_string();
    let begin = "the emulator ended, exit status: 1; see ";
    assert!(text.starts_with(begin), "found: {text}");
    std::fs::remove_dir_all(&place).expect("removed");
}
