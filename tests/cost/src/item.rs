//! Bytes of an item as DynamoDB bills them, by its guide ("Item sizes and formats"): names and values as UTF-8; a number takes
//! about a byte for two of its digits and one more, zeros before and behind aside; a list or map three bytes and one for
//! each element. The emulator is not asked: it counts texts of JSON.

use data_encoding::BASE64;
use serde_json::{Map, Value};

/// An item in DynamoDB's JSON: each value is an object with its type as the only name.
pub type Item = Map<String, Value>;

/// Of a whole item.
pub fn bytes(item: &Item) -> usize {
    item.iter()
        .map(|(name, value)| name.len() + of_value(value))
        .sum()
}

fn of_value(value: &Value) -> usize {
    let typed = value.as_object().and_then(|typed| typed.iter().next());
    let (kind, held) = typed.expect("a value with its type");
    let text = |held: &Value| held.as_str().expect("a text").to_owned();
    let list = |held: &Value| held.as_array().expect("a list").clone();
    let binary = |text: &str| BASE64.decode(text.as_bytes()).expect("base64").len();
    match kind.as_str() {
        "S" => text(held).len(),
        "N" => of_number(&text(held)),
        "B" => binary(&text(held)),
        "BOOL" | "NULL" => 1,
        "SS" => list(held).iter().map(|one| text(one).len()).sum(),
        "NS" => list(held).iter().map(|one| of_number(&text(one))).sum(),
        "BS" => list(held).iter().map(|one| binary(&text(one))).sum(),
        "L" => {
            3 + list(held)
                .iter()
                .map(|one| 1 + of_value(one))
                .sum::<usize>()
        }
        "M" => {
            let held = held.as_object().expect("a map");
            3 + held.len() + bytes(held)
        }
        other => panic!("no type of a value: {other}"),
    }
}

/// A negative number takes a byte more.
fn of_number(text: &str) -> usize {
    let (text, sign) = match text.strip_prefix('-') {
        Some(text) => (text, 1),
        None => (text, 0),
    };
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_matches('0').len();
    digits.div_ceil(2) + 1 + sign
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(value: &Value) -> usize {
        bytes(value.as_object().expect("an item"))
    }

    #[test]
    fn names_and_texts_are_utf_8_and_bytes_are_what_base64_stands_for() {
        assert_eq!(of(&json!({})), 0);
        assert_eq!(of(&json!({ "pk": { "S": "evt" } })), 5);
        assert_eq!(of(&json!({ "ü": { "S": "煎茶" } })), 8);
        assert_eq!(of(&json!({ "b": { "B": "AAECAw==" } })), 5);
    }

    #[test]
    fn a_number_takes_a_byte_for_two_digits_and_one_more() {
        for (number, due) in [
            ("0", 1),
            ("7", 2),
            ("100", 2),
            ("1764446400250", 7),
            ("-15", 3),
            ("0.0025", 2),
            ("12e20", 2),
        ] {
            assert_eq!(of_number(number), due, "{number}");
        }
    }

    #[test]
    fn what_holds_others_takes_three_bytes_and_one_for_each() {
        assert_eq!(of(&json!({ "l": { "L": [{ "BOOL": true }] } })), 1 + 3 + 2);
        assert_eq!(
            of(&json!({ "m": { "M": { "a": { "S": "bc" } } } })),
            1 + 3 + 1 + 3
        );
        assert_eq!(of(&json!({ "s": { "SS": ["a", "bcd"] } })), 1 + 4);
    }
}
