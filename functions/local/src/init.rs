//! `init`: a configuration of one's own to start from.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use rand::{Rng, RngExt};
use switchboard_core::endpoint::fresh_secret;

use crate::announce::quoted;
use crate::end::{Failed, say};

const CONFIGURATION: &str = include_str!("init/switchboard.toml");

/// Writes a commented configuration with one source, one destination and a fresh secret. Overwrites nothing.
pub(crate) fn init(folder: &Path, program: &str, rng: &mut dyn Rng) -> Result<(), Failed> {
    let secret = fresh_secret(&rng.random()).ok_or_else(|| Failed::new("no secret"))?;
    let secrets = folder.join("secrets");
    let made = |what: &Path, error: std::io::Error| {
        Failed::new(format_args!("{} cannot be made: {error}", what.display()))
    };
    let file = folder.join("switchboard.toml");
    if file.exists() {
        return Err(Failed::new(format_args!(
            "{} exists already; give another folder: switchboard init FOLDER",
            file.display()
        )));
    }
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&secrets)
        .map_err(|error| made(&secrets, error))?;
    let own = secrets.join("my-app");
    match write(&own, secret.expose(), 0o600) {
        // Of a run that did not get to its end, or the user's own: kept as it is.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            say(&format!("kept: {}, which was there already", own.display()));
        }
        written => written.map_err(|error| made(&own, error))?,
    }
    // A secret must not get into a repository by a careless `git add`.
    let ignored = secrets.join(".gitignore");
    match write(&ignored, "*\n", 0o644) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        written => written.map_err(|error| made(&ignored, error))?,
    }
    write(&file, CONFIGURATION, 0o644).map_err(|error| made(&file, error))?;
    say(&format!(
        "written: {} and {}",
        file.display(),
        own.display()
    ));
    let data = quoted(&folder.join("data").display().to_string());
    let (program, file) = (quoted(program), quoted(&file.display().to_string()));
    say("run it, with sample receivers to deliver to:");
    say(&format!(
        "  {program} serve --config {file} --data {data} --receivers 127.0.0.1:3001"
    ));
    say("send it a first event, in another terminal:");
    say(&format!(
        "  {program} send my-app something.happened --config {file}"
    ));
    Ok(())
}

fn write(path: &Path, text: &str, mode: u32) -> std::io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
