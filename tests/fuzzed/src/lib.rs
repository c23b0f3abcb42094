//! What must hold of any input at all, one module for each thing that reads what strangers wrote. `cargo xtask fuzz`
//! looks for inputs of which it does not hold; the corpora it starts from run as a plain test of this crate.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a target tells what does not hold by panicking"
)]

pub mod address;
pub mod configuration;
pub mod door;
pub mod headers;
pub mod ingress;
pub mod operators;
pub mod piece;
pub mod places;
pub mod request;
pub mod secret;
pub mod signed;
pub mod store;
pub mod verified;

/// One thing that reads what strangers wrote.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name: that of the fuzz target and of its corpus.
    pub name: &'static str,
    /// Panics when something does not hold of the input.
    pub run: fn(&[u8]),
}

/// Every one there is.
pub const ALL: [Target; 14] = [
    Target {
        name: "address",
        run: address::spelled,
    },
    Target {
        name: "network",
        run: address::numbered,
    },
    Target {
        name: "admin",
        run: operators::admin,
    },
    Target {
        name: "configuration",
        run: configuration::read_whole,
    },
    Target {
        name: "cursors",
        run: places::cursors,
    },
    Target {
        name: "headers",
        run: headers::kept,
    },
    Target {
        name: "ingress",
        run: ingress::posted,
    },
    Target {
        name: "lists",
        run: operators::lists,
    },
    Target {
        name: "piece",
        run: piece::cleaned,
    },
    Target {
        name: "progress",
        run: places::progress,
    },
    Target {
        name: "secret",
        run: secret::pasted,
    },
    Target {
        name: "sign_in",
        run: operators::sign_in,
    },
    Target {
        name: "signed",
        run: signed::spoiled_or_not,
    },
    Target {
        name: "verified",
        run: verified::claimed,
    },
];
