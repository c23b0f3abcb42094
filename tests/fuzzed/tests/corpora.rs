//! Every input that `cargo xtask fuzz` starts from, among them every one that once broke something, and a bounded
//! number of changed ones, drawn from a fixed seed.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use switchboard_fuzzed::{ALL, Target};

/// Changed inputs that each target is run with.
const CHANGED: usize = 3000;
/// Longest input, in bytes.
const LONGEST: usize = 8192;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn corpus(target: &Target) -> Vec<(String, Vec<u8>)> {
    let folder = fuzz().join("corpus").join(target.name);
    let mut inputs: Vec<_> = std::fs::read_dir(&folder)
        .expect("a corpus")
        .map(|entry| entry.expect("a file"))
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, std::fs::read(entry.path()).expect("an input"))
        })
        .collect();
    inputs.sort();
    inputs
}

#[test]
fn every_target_has_a_corpus_a_program_and_a_line_in_the_manifest() {
    let names: BTreeSet<String> = ALL.iter().map(|target| target.name.to_owned()).collect();
    assert_eq!(names.len(), ALL.len());
    let listed = |folder: &str| -> BTreeSet<String> {
        std::fs::read_dir(fuzz().join(folder))
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
            .collect()
    };
    assert_eq!(listed("corpus"), names);
    assert_eq!(listed("fuzz_targets"), names);
    let manifest = std::fs::read_to_string(fuzz().join("Cargo.toml")).expect("a manifest");
    for name in &names {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
    }
}

#[test]
fn what_must_hold_holds_of_every_input_in_the_corpora() {
    for target in &ALL {
        let inputs = corpus(target);
        assert!(
            (3..=60).contains(&inputs.len()),
            "{}: a few dozen",
            target.name
        );
        for (name, input) in inputs {
            run(target, &name, &input);
        }
    }
}

#[test]
fn what_must_hold_holds_of_changed_inputs_too() {
    for target in &ALL {
        let inputs = corpus(target);
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        for _ in 0..CHANGED {
            let (name, input) = inputs.choose(&mut rng).expect("an input");
            let (_, other) = inputs.choose(&mut rng).expect("an input");
            run(target, name, &changed(input, other, &mut rng));
        }
    }
}

fn run(target: &Target, name: &str, input: &[u8]) {
    let ended = std::panic::catch_unwind(|| (target.run)(input));
    let text = String::from_utf8_lossy(input);
    assert!(
        ended.is_ok(),
        "{} on {name}: {input:?}\n{text}",
        target.name
    );
}

/// An input with some of it written over, left out, doubled, or taken from another.
fn changed(input: &[u8], other: &[u8], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..rng.random_range(1..=4) {
        let at = rng.random_range(0..=bytes.len());
        let end = rng.random_range(at..=bytes.len()).min(at + 40);
        match rng.random_range(0..6) {
            0 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << rng.random_range(0..8);
                }
            }
            1 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = rng.random();
                }
            }
            2 => drop(bytes.drain(at..end)),
            3 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            4 => {
                let from = rng.random_range(0..=other.len());
                let to = rng.random_range(from..=other.len());
                bytes.splice(at..end, other[from..to].iter().copied());
            }
            _ => bytes.insert(at, *b"\0\t\r\n :;,=%/@.#\xff".choose(rng).expect("one")),
        }
    }
    bytes.truncate(LONGEST);
    bytes
}
