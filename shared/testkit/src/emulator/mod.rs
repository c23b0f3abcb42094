//! The AWS emulator that tests run against: started on a loopback port, and ended when it is dropped or its process dies.
//! `cargo xtask test` installs it under the build folder.

mod account;
mod ready;

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

pub use account::{Account, fresh_account};
use ready::Ready;

/// Where it is installed, below the build folder.
const PROGRAM: &str = "emulator/bin/ministack";
/// Where its logs go, below the build folder.
const LOGS: &str = "emulator-logs";
/// Ends it, and removes its folder, as soon as the pipe to it is closed.
const HOLD: &str = include_str!("hold.sh");
/// A port that was free a moment ago may be taken by now: so often another one is looked for.
const STARTS: u32 = 3;

/// Why there is no emulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoEmulator(String);

impl std::fmt::Display for NoEmulator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoEmulator {}

/// Whether it asks what a caller may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// Everyone may do everything.
    Open,
    /// Signatures and policies count, a function's role among them. An account's own key may do everything.
    Enforced,
}

/// A running emulator.
#[derive(Debug)]
pub struct Emulator {
    holder: Child,
    held: Option<ChildStdin>,
    address: SocketAddr,
    folder: PathBuf,
    log: PathBuf,
}

impl Emulator {
    /// The one that all tests of a process share, with open rights; it ends with the process. Started by the first call.
    ///
    /// # Panics
    ///
    /// When there is none: the text says what to do.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Result<Emulator, NoEmulator>> = OnceLock::new();
        let start = || {
            let folder = build_folder().map_err(|cause| NoEmulator(cause.to_string()))?;
            Self::start(&folder, Rights::Open)
        };
        match SHARED.get_or_init(start) {
            Ok(emulator) => emulator,
            #[expect(clippy::panic, reason = "a test fails by panicking")]
            Err(cause) => panic!("{cause}"),
        }
    }

    /// Starts one that is installed in this build folder, and waits until it answers.
    pub fn start(build_folder: &Path, rights: Rights) -> Result<Self, NoEmulator> {
        let program = build_folder.join(PROGRAM);
        if !program.exists() {
            let program = program.display();
            let line = format!("there is no {program}: run `cargo xtask test`, which installs it");
            return Err(NoEmulator(line));
        }
        let mut last = String::new();
        for _ in 0..STARTS {
            let mut emulator = Self::spawn(&program, &build_folder.join(LOGS), rights)
                .map_err(|cause| NoEmulator(format!("{}: {cause}", program.display())))?;
            let log = emulator.log.display();
            match ready::wait(emulator.address, &emulator.folder, &mut emulator.holder) {
                Ready::Yes => return Ok(emulator),
                Ready::Silent => last = format!("the emulator does not answer; see {log}"),
                Ready::Ended(how) => last = format!("the emulator ended, {how}; see {log}"),
            }
        }
        Err(NoEmulator(last))
    }

    fn spawn(program: &Path, logs: &Path, rights: Rights) -> io::Result<Self> {
        let address = free()?;
        let folder = std::env::temp_dir().join(format!("switchboard-emulator-{}", address.port()));
        fs::create_dir_all(&folder)?;
        let log = log(logs)?;
        File::create(&log)?;
        let log_file = File::options().append(true).open(&log)?;
        let mut holder = Command::new("sh")
            .args(["-c", HOLD, "emulator"])
            .arg(&folder)
            .args(settings(address, &folder, rights))
            .arg(program)
            // An interrupt from a terminal must not end the holder before it has cleaned up.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(log_file.try_clone()?)
            .stderr(log_file)
            .spawn()?;
        Ok(Self {
            held: holder.stdin.take(),
            holder,
            address,
            folder,
            log,
        })
    }

    /// Where it listens, as an endpoint URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it and the functions in it leave files; gone with it.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What it and the functions in it wrote; it stays.
    pub fn log(&self) -> &Path {
        &self.log
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        drop(self.held.take());
        drop(self.holder.wait());
    }
}

/// Its whole environment beside PATH, HOME and TMPDIR: a developer's own AWS settings reach neither it nor its functions.
fn settings(address: SocketAddr, folder: &Path, rights: Rights) -> Vec<String> {
    let auth = match rights {
        Rights::Open => false,
        Rights::Enforced => true,
    };
    let folder = folder.display();
    vec![
        // It would listen on every interface.
        format!("BIND_HOST={}", address.ip()),
        format!("GATEWAY_PORT={}", address.port()),
        // Its functions find it by this.
        format!("AWS_ENDPOINT_URL=http://{address}"),
        "AWS_EC2_METADATA_DISABLED=true".to_owned(),
        // Functions are processes of this machine, not containers.
        "LAMBDA_EXECUTOR=local".to_owned(),
        // A port more, for devices.
        "IOT_MTLS_ENABLED=0".to_owned(),
        format!("STATE_DIR={folder}/state"),
        format!("S3_DATA_DIR={folder}/s3"),
        format!("AUTH={auth}"),
    ]
}

/// A port that nobody listens on now.
fn free() -> io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
}

/// A log file of its own, named after the program that runs: the next run of that program writes over it.
fn log(logs: &Path) -> io::Result<PathBuf> {
    static STARTED: AtomicU32 = AtomicU32::new(0);
    fs::create_dir_all(logs)?;
    let program = std::env::current_exe()?;
    let program = program.file_stem().unwrap_or_default().to_string_lossy();
    // Cargo adds a hash to the name of a test program.
    let name = program.split('-').next().unwrap_or_default();
    let number = STARTED.fetch_add(1, Ordering::Relaxed);
    Ok(logs.join(format!("{name}-{number}.log")))
}

/// The build folder that a test program was built in: `<build folder>/<profile>/deps/<program>`.
pub fn build_folder() -> io::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let folder = own.ancestors().nth(3).map(Path::to_owned);
    folder.ok_or_else(|| io::Error::other("the program stands in no build folder"))
}
