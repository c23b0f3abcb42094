//! The one table: its key, its indexes, what else of it is fixed. The template that deploys it says the same.

/// The partition key and the sort key of the table, both texts.
pub const KEY: Key = Key {
    partition: "pk",
    sort: "sk",
};
/// When an item has expired, in seconds since 1970: some time after it the table removes the item.
pub const TTL: &str = "ttl";

/// Names of two attributes that are texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// What an item is found by, with the sort key.
    pub partition: &'static str,
    /// What items of a partition are in order of.
    pub sort: &'static str,
}

/// What of an item stands in an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Projection {
    /// All of it.
    All,
    /// The keys of the table and of the index.
    Keys,
}

/// An index over the whole table: the items that have both attributes of its key are in it, some time after they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index {
    /// Its name.
    pub name: &'static str,
    /// Its key.
    pub key: Key,
    /// What of an item stands in it.
    pub projection: Projection,
}

/// Events by the time they were received.
pub const RECENT: Index = Index {
    name: "recent",
    key: Key {
        partition: "g1",
        sort: "g1s",
    },
    projection: Projection::All,
};

/// Deliveries that wait, by the time to look for them.
pub const WAITING: Index = Index {
    name: "waiting",
    key: Key {
        partition: "g2",
        sort: "g2s",
    },
    projection: Projection::Keys,
};

/// Dead and held deliveries, by destination and time.
pub const OPEN: Index = Index {
    name: "open",
    key: Key {
        partition: "g3",
        sort: "g3s",
    },
    projection: Projection::All,
};

/// All indexes.
pub const INDEXES: [Index; 3] = [RECENT, WAITING, OPEN];
