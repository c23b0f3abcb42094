//! How answers are printed: as tables for a person, or as the API gave them for a program. Texts of strangers never reach a
//! terminal with anything in them that it would obey.

use serde_json::Value;
use switchboard_core::piece::Piece;

use crate::command::Output;

/// The answer as JSON, when that is wanted: in ASCII, so that no terminal obeys or turns round what stands in it.
pub(super) fn json(output: Output, answer: &Value) -> Option<String> {
    output.json.then(|| ascii(&answer.to_string()))
}

/// JSON in which everything outside visible ASCII is escaped: it stands in texts only.
fn ascii(json: &str) -> String {
    let escaped = |unit: &u16| format!("\\u{unit:04x}");
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() && !c.is_ascii_control() {
            text.push(c);
        } else {
            text.extend(c.encode_utf16(&mut [0; 2]).iter().map(escaped));
        }
    }
    text
}

/// A text of a stranger as a terminal may have it.
pub(super) fn shown(text: &str) -> String {
    Piece::clean(text.as_bytes()).as_str().to_owned()
}

/// "1 event", "3 events".
pub(super) fn many(count: u64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

/// What senders name as they like.
const NAMES: [&str; 2] = ["kind", "sender_id"];
/// Longest of these in a table, in characters, so that one does not push all others off the screen.
const LONGEST: usize = 60;

/// A stranger's name in a table: as it is where it shows itself, else as JSON with all that does not, so that no two look
/// alike; cut where it is long.
fn exact(text: &str) -> String {
    let plain = shown(text);
    let whole = if plain == text && !text.starts_with('"') {
        plain
    } else {
        ascii(&Value::from(text).to_string())
    };
    if whole.chars().count() <= LONGEST {
        return whole;
    }
    let beginning: String = whole.chars().take(LONGEST).collect();
    format!("{beginning}…")
}

/// A member of an answer as a table shows it: nothing where there is nothing.
pub(super) fn cell(of: &Value, name: &str) -> String {
    match of.get(name) {
        None | Some(Value::Null) => "-".to_owned(),
        Some(Value::String(text)) if NAMES.contains(&name) => exact(text),
        Some(Value::String(text)) => shown(text),
        Some(other) => other.to_string(),
    }
}

/// Lines whose columns stand beneath each other.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |n: usize| {
        let cells = rows.iter().filter_map(|row| row.get(n));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths);
        let cells: Vec<String> = cells
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_that_a_terminal_obeys_is_printed() {
        let hostile = "a\u{1b}[2J\u{9b}m\u{202e}b\u{7f}\nü𝄞";
        let answer = json!({ "kind": hostile });
        let printed = super::json(Output { json: true }, &answer).expect("JSON");
        assert!(
            printed
                .chars()
                .all(|c| c.is_ascii() && !c.is_ascii_control())
        );
        let read: Value = serde_json::from_str(&printed).expect("the same");
        assert_eq!(read, answer);
        let cell = cell(&answer, "kind");
        assert!(
            !cell.contains(['\u{1b}', '\u{9b}', '\u{202e}', '\n']),
            "{cell:?}"
        );
    }

    #[test]
    fn names_that_differ_do_not_look_alike_and_long_ones_are_cut() {
        let shown = |kind: &str| cell(&json!({ "kind": kind }), "kind");
        let kinds = ["x y", "x  y", " x y", "x\ty", "x\u{0}y", "größe"];
        let cells = kinds.map(shown);
        assert_eq!(
            cells,
            [
                "x y",
                r#""x  y""#,
                r#"" x y""#,
                r#""x\ty""#,
                r#""x\u0000y""#,
                "größe"
            ]
        );
        let far = format!("x{}y", " ".repeat(61));
        assert_ne!(shown(&far), "x y");
        assert_ne!(shown("\"x\\ty\""), shown("x\ty"));
        assert_eq!(shown(&"k".repeat(255)).chars().count(), LONGEST + 1);
    }

    #[test]
    fn columns_stand_beneath_each_other() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        assert_eq!(
            table(&[row(["größe", "b"]), row(["c", ""]), row(["d", "e"])]),
            "größe  b\nc\nd      e"
        );
    }
}
