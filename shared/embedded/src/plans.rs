//! How SQLite means to find what a statement asks for: tests hold it against going through a whole table.

use crate::store::Store;

/// The lines of a statement's plan.
pub(crate) async fn plan(store: &Store, sql: &str) -> Vec<String> {
    // Nothing is bound to parameters here, so values take their place.
    let sql = sql.replace("?1", "'[]'");
    let sql = (2..7).fold(sql, |sql, n| sql.replace(&format!("?{n}"), "9"));
    store
        .read("explaining", move |connection| {
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
            let lines = statement.query_map([], |row| row.get::<_, String>(3))?;
            Ok(lines.collect::<Result<Vec<_>, _>>()?)
        })
        .await
        .expect("a plan")
}
