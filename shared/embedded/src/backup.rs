//! Copying the store to a file while a switchboard may be serving from it. The file gets its name when it is whole and
//! on disk; until then it is called `FILE.part`.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use switchboard_core::fail::{self, FailPoint};

use crate::open;

/// How often a backup looks at what stands where its part should.
const LOOKS: u32 = 100;

/// Why a backup could not be made.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// No store there.
    #[error("there is no store in {}", .0.display())]
    NoStore(PathBuf),
    /// Something is where the store should be, and cannot be looked at.
    #[error("the store {} cannot be read: {cause}", file.display())]
    Unreadable {
        /// Which.
        file: PathBuf,
        /// The system's own words.
        cause: io::Error,
    },
    /// There is such a file.
    #[error("{} exists already; a backup never replaces a file", .0.display())]
    Exists(PathBuf),
    /// The file cannot be written.
    #[error("the file {} cannot be made: {cause}", file.display())]
    File {
        /// Which.
        file: PathBuf,
        /// The system's own words.
        cause: io::Error,
    },
    /// SQLite failed.
    #[error("the store {} cannot be copied: {cause}", file.display())]
    Sqlite {
        /// The store.
        file: PathBuf,
        /// SQLite's own words.
        cause: rusqlite::Error,
    },
}

/// Copies the store in `folder` to a new `file`, whole as of one moment and on disk when this returns. The copy holds
/// your endpoint's secret and every body: it is made readable for its owner only.
pub fn backup(folder: &Path, file: &Path) -> Result<(), BackupError> {
    let database = folder.join(open::FILE);
    match database.metadata() {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(BackupError::NoStore(folder.to_owned()));
        }
        Err(cause) => {
            return Err(BackupError::Unreadable {
                file: database,
                cause,
            });
        }
    }
    let fault = |cause: io::Error| match cause.kind() {
        io::ErrorKind::AlreadyExists => BackupError::Exists(file.to_owned()),
        _ => BackupError::File {
            file: file.to_owned(),
            cause,
        },
    };
    let mut name = OsString::from(file);
    name.push(".part");
    let path = PathBuf::from(name);
    // Known before a long copy; the link below makes sure of it.
    if file.symlink_metadata().is_ok() {
        // One that died behind its link left the part under both names. What cannot be cleared away is no news here.
        drop(clear(&path));
        return Err(BackupError::Exists(file.to_owned()));
    }
    let part = start(&path).map_err(fault)?;
    fail::reach(FailPoint::BackupBegun);
    let made = copy(&database, &path).and_then(|()| {
        fail::reach(FailPoint::BackupCopied);
        name_it(&part, &path, file).map_err(fault)?;
        fail::reach(FailPoint::BackupNamed);
        Ok(())
    });
    drop(remove(&path));
    made?;
    open::sync_name(file).map_err(fault)
}

/// SQLite's journal of a part: without room on the disk it cannot remove that itself.
fn journal(part: &Path) -> PathBuf {
    let mut name = OsString::from(part);
    name.push("-journal");
    PathBuf::from(name)
}

/// Makes an empty part, private and locked while it is written. What a backup left when it died is removed.
fn start(path: &Path) -> io::Result<File> {
    // Whoever finds another's file gone from the path, or put in its place, looks again: that seldom happens twice.
    for _ in 0..LOOKS {
        clear(path)?;
        let part = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path);
        match part {
            // One that started meanwhile may take it for a dead one's before it is locked.
            Ok(part) if claim(&part, path)? => {
                remove_if_there(&journal(path))?;
                return Ok(part);
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(under_way())
}

/// Removes what a backup that died left at `path`; what a living one holds is an error, and stays.
fn clear(path: &Path) -> io::Result<()> {
    match File::open(path) {
        Ok(old) => {
            if claim(&old, path)? {
                remove(path)?;
            }
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Locks a file that was opened at `path`; whether it is still the one there. While it is, nobody else removes it.
fn claim(file: &File, path: &Path) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(under_way()),
        Err(TryLockError::Error(cause)) => return Err(cause),
    }
    let (held, there) = (file.metadata()?, path.metadata());
    match there {
        Ok(there) => Ok((held.dev(), held.ino()) == (there.dev(), there.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn under_way() -> io::Error {
    io::Error::other("another backup is making it")
}

/// Removes a part that is locked: its journal first, since behind the part another's may stand there.
fn remove(part: &Path) -> io::Result<()> {
    remove_if_there(&journal(part))?;
    remove_if_there(part)
}

fn remove_if_there(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn copy(database: &Path, path: &Path) -> Result<(), BackupError> {
    let fault = |cause| BackupError::File {
        file: path.to_owned(),
        cause,
    };
    // Whole: SQLite would take a name that begins with `file:` for a URI, and write somewhere else.
    let whole = std::path::absolute(path).map_err(fault)?;
    let name = whole
        .to_str()
        .ok_or_else(|| fault(io::Error::from(io::ErrorKind::InvalidFilename)))?;
    vacuum(database, name).map_err(|cause| of_store(database, cause))
}

/// SQLite says only that it cannot open a file; the system says why.
fn of_store(database: &Path, cause: rusqlite::Error) -> BackupError {
    let file = database.to_owned();
    if cause.sqlite_error_code() == Some(rusqlite::ErrorCode::CannotOpen)
        && let Err(cause) = File::open(database)
    {
        return BackupError::Unreadable { file, cause };
    }
    BackupError::Sqlite { file, cause }
}

fn vacuum(database: &Path, into: &str) -> Result<(), rusqlite::Error> {
    let connection = open::reading(database)?;
    connection.pragma_update(None, "query_only", false)?;
    connection.execute("VACUUM INTO ?1", [into])?;
    Ok(())
}

/// Gives a part that is whole and on disk its name. A link, unlike a renaming, takes the place of no file.
fn name_it(part: &File, path: &Path, file: &Path) -> io::Result<()> {
    part.sync_all()?;
    fs::hard_link(path, file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    fn names(folder: &Path) -> Vec<OsString> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_part_that_a_death_left_is_removed_and_only_the_copy_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("data");
        let store = Store::open(&data).expect("a store");
        fs::write(folder.path().join("copy.part"), "half a copy").expect("a part");
        backup(&data, &folder.path().join("copy")).expect("a copy");
        assert_eq!(names(folder.path()), ["copy", "data"]);
        drop(store);
        fs::copy(folder.path().join("copy"), data.join(open::FILE)).expect("restored");
        Store::open(&data).expect("the copy is a store");
    }

    #[test]
    fn a_copy_that_fails_leaves_no_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("data");
        fs::create_dir(&data).expect("a folder");
        fs::write(data.join(open::FILE), "this is no store".repeat(100)).expect("a file");
        // As SQLite leaves it where it finds no room.
        fs::write(folder.path().join("copy.part-journal"), "a journal").expect("a file");
        let error = backup(&data, &folder.path().join("copy")).expect_err("no store");
        assert!(matches!(error, BackupError::Sqlite { .. }), "{error}");
        let store = data.join(open::FILE).display().to_string();
        assert!(error.to_string().contains(&store), "{error}");
        assert_eq!(names(folder.path()), ["data"]);
    }

    #[test]
    fn a_store_that_cannot_be_looked_at_is_named_with_the_systems_words() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("data");
        // Nobody, root included, can look through a link that leads to itself.
        std::os::unix::fs::symlink("data", &data).expect("a link");
        let error = backup(&data, &folder.path().join("copy")).expect_err("unreadable");
        assert!(matches!(error, BackupError::Unreadable { .. }), "{error}");
        let store = data.join(open::FILE).display().to_string();
        assert!(error.to_string().contains(&store), "{error}");
    }

    #[test]
    fn a_part_that_a_death_behind_the_name_left_is_cleared_away_and_the_copy_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("data");
        let _store = Store::open(&data).expect("a store");
        let (file, part) = (folder.path().join("copy"), folder.path().join("copy.part"));
        backup(&data, &file).expect("a copy");
        fs::hard_link(&file, &part).expect("as the death left it");
        let whole = fs::read(&file).expect("the copy");
        let living = held(&part);
        let error = backup(&data, &file).expect_err("it is there");
        assert_eq!(names(folder.path()), ["copy", "copy.part", "data"]);
        drop(living);
        for error in [error, backup(&data, &file).expect_err("it is there")] {
            assert_eq!(
                error.to_string(),
                format!(
                    "{} exists already; a backup never replaces a file",
                    file.display()
                )
            );
        }
        assert_eq!(names(folder.path()), ["copy", "data"]);
        assert_eq!(fs::read(&file).expect("the copy"), whole);
    }

    /// The lock of a backup that lives.
    fn held(part: &Path) -> File {
        let file = File::open(part).expect("a part");
        assert!(claim(&file, part).expect("claimed"), "it is there");
        file
    }

    #[test]
    fn a_part_that_another_backup_is_writing_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("data");
        let _store = Store::open(&data).expect("a store");
        let path = folder.path().join("copy.part");
        let _part = start(&path).expect("a part");
        let error = backup(&data, &folder.path().join("copy")).expect_err("under way");
        assert!(error.to_string().contains("another backup"), "{error}");
        assert_eq!(names(folder.path()), ["copy.part", "data"]);
    }

    #[test]
    fn of_two_backups_that_find_a_dead_ones_part_the_second_leaves_the_firsts_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("copy.part");
        fs::write(&path, "half a copy").expect("a part");
        // The second has opened the dead one's part when the first makes its own in its place.
        let dead = File::open(&path).expect("the dead one's");
        let first = start(&path).expect("a part");
        assert!(!claim(&dead, &path).expect("claimed"), "it is gone");
        assert!(claim(&first, &path).expect("claimed"), "it is there");
        let error = start(&path).expect_err("under way");
        assert!(error.to_string().contains("another backup"), "{error}");
        drop(first);
        start(&path).expect("the first has died");
    }

    #[test]
    fn of_many_backups_at_once_one_has_the_part() {
        let folder = tempfile::tempdir().expect("a folder");
        for round in 0..200 {
            let path = folder.path().join(format!("copy-{round}.part"));
            fs::write(&path, "half a copy").expect("a part");
            let started: Vec<io::Result<File>> = std::thread::scope(|scope| {
                let all: Vec<_> = (0..4).map(|_| scope.spawn(|| start(&path))).collect();
                all.into_iter()
                    .map(|one| one.join().expect("it ends"))
                    .collect()
            });
            let parts: Vec<_> = started.into_iter().flatten().collect();
            let [part] = parts.as_slice() else {
                panic!("{} have it in round {round}", parts.len());
            };
            assert!(claim(part, &path).expect("claimed"), "it is there");
        }
    }

    #[test]
    fn a_journal_that_a_death_left_is_removed_and_not_taken_for_the_copys_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("data");
        let _store = Store::open(&data).expect("a store");
        let other = folder.path().join("other");
        let connection = rusqlite::Connection::open(&other).expect("a file");
        connection
            .execute_batch(
                "PRAGMA cache_size = 1; CREATE TABLE a (x); INSERT INTO a VALUES (zeroblob(100000));
                 BEGIN; UPDATE a SET x = randomblob(100000);",
            )
            .expect("begun");
        // As they lie there when a process dies in the middle of writing.
        for (from, to) in [
            ("other", "copy.part"),
            ("other-journal", "copy.part-journal"),
        ] {
            fs::copy(folder.path().join(from), folder.path().join(to)).expect("copied");
        }
        drop(connection);
        fs::remove_file(other).expect("removed");
        let part = start(&folder.path().join("copy.part")).expect("a part");
        assert_eq!(names(folder.path()), ["copy.part", "data"]);
        drop(part);
        fs::write(folder.path().join("copy.part-journal"), "a journal").expect("a file");
        backup(&data, &folder.path().join("copy")).expect("a copy");
        assert_eq!(names(folder.path()), ["copy", "data"]);
    }

    #[test]
    fn a_file_that_is_there_is_not_replaced_however_late_it_came() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, file) = (folder.path().join("copy.part"), folder.path().join("copy"));
        let part = start(&path).expect("a part");
        fs::write(&file, "mine").expect("a file");
        let error = name_it(&part, &path, &file).expect_err("it is there");
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&file).expect("text"), "mine");
    }
}
