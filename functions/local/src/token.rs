//! The admin token: given, or made once and kept in the data folder.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use data_encoding::HEXLOWER;
use rand::{Rng, RngExt};
use switchboard_core::fail::{self, FailPoint};
use switchboard_core::secret::Secret;

use crate::end::Failed;

const FILE: &str = "admin-token";
/// The token while it is being written.
const PART: &str = "admin-token.part";
/// Tokens shorter than this, in characters, are warned of.
const SHORTEST_SAFE: usize = 16;

/// The token in the data folder, made if there is none.
pub(crate) fn of_folder(folder: &Path, rng: &mut dyn Rng) -> Result<Secret, Failed> {
    if let Some(kept) = kept(folder)? {
        return Ok(kept);
    }
    let fresh = HEXLOWER.encode(&rng.random::<[u8; 32]>());
    let (path, part) = (folder.join(FILE), folder.join(PART));
    write(&part, fresh.as_bytes())
        // Whole or not at all: half a token would count as the token ever after.
        .and_then(|()| {
            fail::reach(FailPoint::TokenWritten);
            std::fs::rename(&part, &path)
        })
        .map_err(|error| {
            Failed::new(format_args!(
                "{} cannot be written: {error}",
                path.display()
            ))
        })?;
    Secret::new(&fresh).ok_or_else(|| Failed::new("no token"))
}

/// The token that was given, if one was; a short one is warned of.
pub(crate) fn given(text: Option<&str>) -> Result<Option<Secret>, Failed> {
    let Some(token) = text.and_then(Secret::new) else {
        return Ok(None);
    };
    if !token.expose().is_ascii() {
        return Err(Failed::configuration(
            "SWITCHBOARD_ADMIN_TOKEN must be text of ASCII",
        ));
    }
    if token.expose().len() < SHORTEST_SAFE {
        tracing::warn!(
            "SWITCHBOARD_ADMIN_TOKEN is shorter than {SHORTEST_SAFE} characters and can be guessed"
        );
    }
    Ok(Some(token))
}

/// The token that was given, else the one in the data folder.
pub(crate) fn of_client(given: Option<&str>, folder: &Path) -> Result<Secret, Failed> {
    if let Some(given) = given.and_then(Secret::new) {
        return Ok(given);
    }
    kept(folder)?.ok_or_else(|| {
        Failed::new(format_args!(
            "no admin token: give --token or SWITCHBOARD_ADMIN_TOKEN, or --data with the folder of the Switchboard (looked in {})",
            folder.display()
        ))
    })
}

/// The token in the data folder; an empty file counts as none.
fn kept(folder: &Path) -> Result<Option<Secret>, Failed> {
    let path = folder.join(FILE);
    let mut text = String::new();
    match OpenOptions::new()
        .read(true)
        .open(&path)
        .and_then(|mut file| file.read_to_string(&mut text))
    {
        Ok(_) => Ok(Secret::new(&text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failed::new(format_args!(
            "{} cannot be read: {error}",
            path.display()
        ))),
    }
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
