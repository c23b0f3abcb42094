//! The one table: its key, its indexes, what else of it is fixed. The template that deploys it says the same.

use crate::item::delivery::ROW;
use crate::item::event::HEAD;
use crate::item::names;

/// The partition key and the sort key of the table, both texts.
pub const KEY: Key = Key {
    partition: names::PARTITION,
    sort: Some(names::SORT),
};
/// When an item has expired, in seconds since 1970: some time after it the table removes the item.
pub const TTL: &str = names::TTL;

/// Names of attributes that are texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// What an item is found by, with the sort key.
    pub partition: &'static str,
    /// What items of a partition are in order of.
    pub sort: Option<&'static str>,
}

/// What of an item stands in an index beside the keys of the table and of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Projection {
    /// Nothing.
    Keys,
    /// These attributes.
    Only(&'static [&'static str]),
}

/// An index over the whole table: the items that have all attributes of its key are in it, some time after they are
/// written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index {
    /// Its name.
    pub name: &'static str,
    /// Its key.
    pub key: Key,
    /// What of an item stands in it.
    pub projection: Projection,
}

const fn key([partition, sort]: [&'static str; 2]) -> Key {
    Key {
        partition,
        sort: Some(sort),
    }
}

/// Events by source and the time they were received.
pub const RECENT: Index = Index {
    name: "recent",
    key: key(names::RECENT),
    projection: Projection::Only(&HEAD),
};

/// Events whose sender's id is unique only within a scope, by that id; all others are found by their own id.
pub const SCOPED: Index = Index {
    name: "scoped",
    key: key([names::SCOPED, names::RECENT[1]]),
    projection: Projection::Keys,
};

/// What the keeper is to look at, by when: waiting deliveries that have a record, and dead letters that owe a ticket.
pub const WAITING: Index = Index {
    name: "waiting",
    key: key(names::WAITING),
    projection: Projection::Only(&[
        names::VERSION,
        names::TOKEN,
        names::LIFE,
        names::DESTINATION,
        names::ACTION,
        names::RUN,
        names::DUE,
        names::LOOK,
        names::LOOKS,
    ]),
};

/// Waiting deliveries that have a record, held and dead ones, by destination and time.
pub const OPEN: Index = Index {
    name: "open",
    key: key(names::OPEN),
    projection: Projection::Only(&ROW),
};

/// Dead deliveries by their id.
pub const DEAD: Index = Index {
    name: "dead",
    key: Key {
        partition: names::DEAD,
        sort: None,
    },
    projection: Projection::Keys,
};

/// All indexes.
pub const INDEXES: [Index; 5] = [RECENT, SCOPED, WAITING, OPEN, DEAD];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_index_holds_more_attributes_than_the_service_takes() {
        let mut all = 0;
        for index in INDEXES {
            if let Projection::Only(attributes) = index.projection {
                assert!(attributes.len() <= 20, "{}", index.name);
                all += attributes.len();
            }
        }
        assert!(all <= 100, "{all}");
    }
}
