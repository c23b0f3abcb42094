//! The tables, and how a file of an older version becomes one of this.

use rusqlite::{Connection, TransactionBehavior};
use switchboard_core::fail::{self, FailPoint};

use crate::open::StoreFault;

/// Marks a file as ours: "swbd".
const APPLICATION_ID: i32 = 0x7377_6264;

/// What makes version n of version n - 1. A released entry never changes; a new version is a new entry.
const MIGRATIONS: [&str; 4] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
];

/// Brings a file to this version, whole or not at all; a file that is not ours or newer is left as it is.
pub(crate) fn migrate(connection: &mut Connection) -> Result<(), StoreFault> {
    migrate_by(connection, &MIGRATIONS)
}

fn migrate_by(connection: &mut Connection, migrations: &[&str]) -> Result<(), StoreFault> {
    let known = i32::try_from(migrations.len()).unwrap_or(i32::MAX);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let id: i32 = transaction.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    let found: i32 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let tables: i64 =
        transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if id != APPLICATION_ID && tables > 0 {
        return Err(StoreFault::Foreign);
    }
    if found > known {
        return Err(StoreFault::Newer { found, known });
    }
    fail::reach(FailPoint::BeforeMigration);
    for migration in migrations.iter().skip(usize::try_from(found).unwrap_or(0)) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", known)?;
    fail::reach(FailPoint::InMigration);
    transaction.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::{FILE, OpenError};
    use crate::store::Store;

    fn version(connection: &Connection) -> i32 {
        connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .expect("version")
    }

    #[test]
    fn an_empty_file_gets_every_version_once() {
        let mut connection = Connection::open_in_memory().expect("open");
        migrate(&mut connection).expect("first");
        migrate(&mut connection).expect("again");
        assert_eq!(version(&connection), 4);
    }

    #[test]
    fn an_older_file_keeps_its_rows_and_a_failed_migration_changes_nothing() {
        let mut connection = Connection::open_in_memory().expect("open");
        let first = "CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (7);";
        migrate_by(&mut connection, &[first]).expect("first");
        let broken = "ALTER TABLE a ADD COLUMN y INTEGER; CREATE TABLE a (x);";
        assert!(migrate_by(&mut connection, &[first, broken]).is_err());
        assert_eq!(version(&connection), 1);
        assert!(
            connection.prepare("SELECT y FROM a").is_err(),
            "half a migration stands"
        );
        migrate_by(
            &mut connection,
            &[first, "ALTER TABLE a ADD COLUMN y INTEGER DEFAULT 1;"],
        )
        .expect("mended");
        let row: (i64, i64) = connection
            .query_row("SELECT x, y FROM a", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .expect("row");
        assert_eq!((row, version(&connection)), ((7, 1), 2));
    }

    /// All rows of a table, as text.
    fn rows_of(connection: &Connection, table: &str) -> Vec<String> {
        let sql = format!("SELECT * FROM {table}");
        let mut statement = connection.prepare(&sql).expect("a table");
        let columns = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| {
            let values = (0..columns).map(|n| row.get::<_, rusqlite::types::Value>(n));
            Ok(format!("{:?}", values.collect::<Result<Vec<_>, _>>()?))
        };
        let rows = statement.query_map([], row).expect("rows");
        rows.collect::<Result<_, _>>().expect("rows")
    }

    #[test]
    fn the_fourth_version_leaves_every_row_of_the_third_as_it_is() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let left = include_bytes!("../../../tests/data/schema-1.store");
        std::fs::write(file.path(), left).expect("what the first version left");
        let mut connection = Connection::open(file.path()).expect("open");
        migrate_by(&mut connection, &MIGRATIONS[..3]).expect("the third");
        let tables: Vec<String> = {
            let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
            let mut statement = connection.prepare(sql).expect("tables");
            let names = statement.query_map([], |row| row.get(0)).expect("names");
            names.collect::<Result<_, _>>().expect("names")
        };
        let dump = |connection: &Connection| {
            let of = |table: &String| (table.clone(), rows_of(connection, table));
            tables.iter().map(of).collect::<Vec<_>>()
        };
        let before = dump(&connection);
        let filled = before.iter().filter(|(_, rows)| !rows.is_empty());
        assert!(filled.count() >= 6, "there is something in most of them");
        migrate(&mut connection).expect("the fourth");
        assert_eq!(version(&connection), 4);
        assert_eq!(dump(&connection), before);
        let sound: String = connection
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .expect("checked");
        assert_eq!(sound, "ok");
    }

    #[test]
    fn the_fourth_version_knows_how_many_dead_letters_expired_before_it() {
        let mut connection = Connection::open_in_memory().expect("open");
        migrate_by(&mut connection, &MIGRATIONS[..3]).expect("the third");
        connection
            .execute_batch(
                "INSERT INTO total (name, label, detail, value) VALUES ('dead', 'crm', '', 5), ('dead', 'chat', '', 1);
                 INSERT INTO event (seq, id, source, sender_id, kind, received_at, expires_at, expiry_looks_at, headers, body, body_digest)
                 VALUES (1, 'evt_a', 'shop', '1', '', 0, 0, 0, x'', x'', x'');
                 INSERT INTO delivery (id, event, run, destination, action, state, due, changed_at)
                 VALUES ('dlv_a', 1, 0, 'crm', 'deliver', 3, 0, 0), ('dlv_b', 1, 0, 'chat', 'deliver', 3, 0, 0);",
            )
            .expect("filled");
        migrate(&mut connection).expect("the fourth");
        let expired = rows_of(&connection, "total");
        let expired: Vec<_> = expired
            .iter()
            .filter(|row| row.contains("expired"))
            .collect();
        assert_eq!(
            expired,
            [r#"[Text("expired"), Text("crm"), Text(""), Integer(4)]"#]
        );
    }

    #[test]
    fn a_newer_file_and_a_foreign_one_are_left_as_they_are() {
        let mut connection = Connection::open_in_memory().expect("open");
        migrate(&mut connection).expect("ours");
        connection
            .pragma_update(None, "user_version", 99)
            .expect("newer");
        assert!(matches!(
            migrate(&mut connection),
            Err(StoreFault::Newer {
                found: 99,
                known: 4
            })
        ));
        let mut foreign = Connection::open_in_memory().expect("open");
        foreign
            .execute_batch("CREATE TABLE theirs (x)")
            .expect("table");
        assert!(matches!(migrate(&mut foreign), Err(StoreFault::Foreign)));
    }

    #[test]
    fn a_folder_with_such_a_file_is_left_byte_for_byte_as_it_was() {
        let newer: fn(&mut Connection) = |connection| {
            migrate(connection).expect("ours");
            connection
                .pragma_update(None, "user_version", 99)
                .expect("newer");
        };
        let foreign: fn(&mut Connection) = |connection| {
            connection
                .execute_batch("CREATE TABLE theirs (x)")
                .expect("table");
        };
        for (name, make) in [("newer", newer), ("foreign", foreign)] {
            let folder = tempfile::tempdir().expect("a folder");
            let file = folder.path().join(FILE);
            let mut connection = Connection::open(&file).expect("open");
            make(&mut connection);
            drop(connection);
            let before = std::fs::read(&file).expect("a file");
            let error = Store::open(folder.path()).expect_err(name);
            let OpenError::Store { file: told, cause } = error else {
                panic!("{name}: {error}");
            };
            assert!(
                matches!(cause, StoreFault::Newer { .. } | StoreFault::Foreign),
                "{name}: {cause}"
            );
            assert_eq!(told, file, "it is named");
            assert!(std::fs::read(&file).expect("a file") == before, "{name}");
            let mut names: Vec<_> = std::fs::read_dir(folder.path())
                .expect("a folder")
                .map(|entry| entry.expect("an entry").file_name())
                .collect();
            names.sort();
            assert_eq!(names, ["lock", FILE], "{name}: no journal is left");
        }
    }
}
