//! Units of on-demand requests, by DynamoDB's guide ("Read and write operations", "Provisioned throughput considerations for
//! Global Secondary Indexes"). All units of the report are computed here from the items as they were and are; what the emulator
//! reports stands beside them for comparison only, since it counts reads wrongly and failed conditions not at all.

use switchboard_aws::schema::{INDEXES, Index, KEY, Key, Projection};

use crate::item::{Item, bytes};

/// Bytes that each item takes beside its own in the table, and again in each index it is in. Storage only.
const BESIDE: usize = 100;

/// What a write came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Write units of the table.
    pub table: usize,
    /// Write units of its indexes.
    pub indexes: usize,
}

/// An item before and after a request; `None` where there is none.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// As it was.
    pub before: Option<Item>,
    /// As it is.
    pub after: Option<Item>,
}

/// Each kilobyte that was begun.
fn kilobytes(bytes: usize) -> usize {
    bytes.div_ceil(1024).max(1)
}

impl Change {
    /// Units of a write that was made: of the larger of both items, and what follows from it in the indexes.
    pub fn written(&self) -> Written {
        Written {
            table: self.asked(),
            indexes: INDEXES.iter().map(|index| self.in_index(index)).sum(),
        }
    }

    /// Units of a write whose condition did not hold: those of the item that is there, one at least.
    pub fn refused(&self) -> Written {
        Written {
            table: self.asked(),
            indexes: 0,
        }
    }

    fn asked(&self) -> usize {
        let of = |item: &Option<Item>| item.as_ref().map(bytes).unwrap_or_default();
        kilobytes(of(&self.before).max(of(&self.after)))
    }

    /// An entry that comes or goes is a write, one whose key changes is two, one of which nothing changes is none.
    fn in_index(&self, index: &Index) -> usize {
        let entry = |item: &Option<Item>| item.as_ref().and_then(|item| entry(index, item));
        let units = |entry: &Item| kilobytes(bytes(entry));
        match (entry(&self.before), entry(&self.after)) {
            (None, None) => 0,
            (Some(only), None) | (None, Some(only)) => units(&only),
            (Some(before), Some(after)) if before == after => 0,
            (Some(before), Some(after)) => {
                let is_same = |name: &str| before.get(name) == after.get(name);
                if names(index.key).all(is_same) {
                    units(&before).max(units(&after))
                } else {
                    units(&before) + units(&after)
                }
            }
        }
    }

    /// Bytes of the record in the table's stream; `None` where nothing changed, which it has no record of.
    pub fn streamed(&self) -> Option<usize> {
        let of = |item: &Option<Item>| item.as_ref().map(bytes).unwrap_or_default();
        (self.before != self.after).then(|| of(&self.before) + of(&self.after))
    }

    /// By how much storage grew, its overhead included.
    pub fn grown(&self) -> i64 {
        let stored = |item: &Option<Item>| {
            let Some(item) = item else { return 0 };
            let entries = INDEXES.iter().filter_map(|index| entry(index, item));
            let entries: usize = entries.map(|entry| bytes(&entry) + BESIDE).sum();
            i64::try_from(bytes(item) + BESIDE + entries).expect("a small number")
        };
        stored(&self.after) - stored(&self.before)
    }
}

/// What of an item stands in an index; `None` where it has not all of the index's key.
fn entry(index: &Index, item: &Item) -> Option<Item> {
    if !names(index.key).all(|name| item.contains_key(name)) {
        return None;
    }
    let more: &[&str] = match index.projection {
        Projection::Keys => &[],
        Projection::Only(attributes) => attributes,
    };
    let kept = |name: &&String| {
        let name = name.as_str();
        names(index.key).any(|key| key == name)
            || names(KEY).any(|key| key == name)
            || more.contains(&name)
    };
    Some(
        item.iter()
            .filter(|(name, _)| kept(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    )
}

fn names(key: Key) -> impl Iterator<Item = &'static str> {
    std::iter::once(key.partition).chain(key.sort)
}

/// How a read was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Strongly consistent.
    Consistent,
    /// Eventually consistent: half the price.
    Eventual,
}

/// Read units of so many bytes of items, those included that were passed over: each four kilobytes that were begun, one at
/// least also where nothing is found.
pub fn read(bytes: usize, reading: Reading) -> f64 {
    let begun = u32::try_from(bytes.div_ceil(4096).max(1)).expect("a small number");
    match reading {
        Reading::Consistent => f64::from(begun),
        Reading::Eventual => f64::from(begun) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn item(value: &serde_json::Value) -> Option<Item> {
        value.as_object().cloned()
    }

    fn waiting(look: &str, more: usize) -> Option<Item> {
        item(&json!({
            "pk": { "S": "E#1" }, "sk": { "S": "D#1" }, "log": { "S": "x".repeat(more) },
            "g3": { "S": "0" }, "g3s": { "S": look }, "due": { "N": "1" },
        }))
    }

    #[test]
    fn a_write_pays_for_the_larger_item_by_begun_kilobytes() {
        let of = |before, after| Change { before, after }.written().table;
        let sized = |length: usize| item(&json!({ "pk": { "S": "x".repeat(length - 2) } }));
        assert_eq!(of(None, sized(1024)), 1);
        assert_eq!(of(None, sized(1025)), 2);
        assert_eq!(of(sized(3000), sized(10)), 3);
        assert_eq!(of(None, None), 1);
    }

    #[test]
    fn an_index_pays_where_its_entry_changes_and_twice_where_its_key_does() {
        let of = |before, after| Change { before, after }.written().indexes;
        let delivered = || item(&json!({ "pk": { "S": "E#1" }, "sk": { "S": "D#1" } }));
        assert_eq!(of(None, delivered()), 0, "in no index");
        assert_eq!(of(None, waiting("1", 0)), 1);
        assert_eq!(of(waiting("1", 0), waiting("1", 5000)), 0, "not projected");
        assert_eq!(of(waiting("1", 0), waiting("2", 0)), 2);
        assert_eq!(of(waiting("1", 0), delivered()), 1);
        let mut other = waiting("1", 0);
        other.as_mut().expect("an item")["due"] = json!({ "N": "2" });
        assert_eq!(of(waiting("1", 0), other), 1);
    }

    #[test]
    fn a_refused_write_pays_for_the_item_that_is_there_and_no_index() {
        let change = Change {
            before: waiting("1", 1500),
            after: waiting("1", 1500),
        };
        let due = Written {
            table: 2,
            indexes: 0,
        };
        assert_eq!(change.refused(), due);
    }

    #[test]
    fn a_record_of_the_stream_holds_both_items_and_there_is_none_where_nothing_changed() {
        let sized = |length: usize| item(&json!({ "pk": { "S": "x".repeat(length - 2) } }));
        let streamed = |before, after| Change { before, after }.streamed();
        assert_eq!(streamed(None, sized(10)), Some(10));
        assert_eq!(streamed(sized(10), sized(30)), Some(40));
        assert_eq!(streamed(sized(10), sized(10)), None);
    }

    #[test]
    fn storage_counts_a_hundred_bytes_for_each_item_and_each_of_its_entries() {
        let plain = item(&json!({ "pk": { "S": "12345678" } }));
        let change = |before, after| Change { before, after };
        assert_eq!(change(None, plain.clone()).grown(), 110);
        assert_eq!(change(plain.clone(), plain.clone()).grown(), 0);
        assert_eq!(change(plain, None).grown(), -110);
        let entry = 2 + 3 + 2 + 3 + 2 + 1 + 3 + 1 + 3 + 2;
        let whole = entry + 3;
        assert_eq!(change(None, waiting("1", 0)).grown(), whole + entry + 200);
    }

    #[test]
    fn a_read_pays_by_begun_four_kilobytes_and_half_where_it_may_be_late() {
        assert!((read(0, Reading::Consistent) - 1.0).abs() < f64::EPSILON);
        assert!((read(4096, Reading::Eventual) - 0.5).abs() < f64::EPSILON);
        assert!((read(4097, Reading::Consistent) - 2.0).abs() < f64::EPSILON);
    }
}
