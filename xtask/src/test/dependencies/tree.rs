//! Asking `cargo tree` what each crate of the workspace depends on.

use crate::command::{Cargo, Failure};
use crate::environment::{Environment, Place};

/// A crate of the workspace, with what `cargo tree` says of it.
#[derive(Debug)]
pub(crate) struct Member {
    pub(super) name: String,
    pub(super) folder: String,
    /// Its tree without what only tests need.
    pub(super) tree: Vec<Node>,
    /// What only its tests depend on.
    pub(super) dev: Vec<Node>,
}

/// One line of a tree: a crate, and how many steps it is from the root.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) depth: usize,
    pub(super) name: String,
}

/// Asks `cargo tree` for every crate of the workspace.
pub(crate) fn members(environment: &Environment) -> Result<Vec<Member>, Failure> {
    let tree = |arguments: &[&str]| {
        let mut all = vec!["tree"];
        all.extend(arguments);
        match environment.place {
            Place::Desk => {}
            Place::Ci => all.push("--locked"),
        }
        Cargo::with(environment, &all).read()
    };
    println!("$ cargo tree, twice for each crate of the workspace");
    let root = std::fs::canonicalize(&environment.root)
        .map_err(|cause| Failure(format!("finding the root of the workspace: {cause}")))?;
    let listing = tree(&["--workspace", "--depth", "0", "--prefix", "none"])?;
    let form = [
        "--all-features",
        "--target",
        "all",
        "--prefix",
        "depth",
        "--format",
        " {p}",
    ];
    let mut members = Vec::new();
    for line in listing.lines().filter(|line| !line.trim().is_empty()) {
        let Some((name, folder)) = listed(line, &root.to_string_lossy()) else {
            return Err(Failure(format!(
                "cargo tree wrote a line unlike any: {line}"
            )));
        };
        let own = [&["--package", name, "--edges", "no-dev"][..], &form].concat();
        let dev = [
            &["--package", name, "--edges", "dev", "--depth", "1"][..],
            &form,
        ]
        .concat();
        members.push(Member {
            name: name.to_owned(),
            folder: folder.to_owned(),
            tree: nodes(&tree(&own)?),
            dev: nodes(&tree(&dev)?),
        });
    }
    Ok(members)
}

/// Name and folder in a line such as `switchboard-core v0.1.0 (/project/shared/core)`.
fn listed<'a>(line: &'a str, root: &str) -> Option<(&'a str, &'a str)> {
    let (name, rest) = line.split_once(' ')?;
    let (_, place) = rest.split_once(" (")?;
    let place = place.trim_end_matches(" (*)").strip_suffix(')')?;
    let folder = place.strip_prefix(root)?.trim_start_matches('/');
    Some((name, folder))
}

/// The lines of a tree, such as `2 digest v0.11.3 (*)`.
pub(super) fn nodes(tree: &str) -> Vec<Node> {
    tree.lines()
        .filter_map(|line| {
            let (depth, rest) = line.split_once(' ')?;
            Some(Node {
                depth: depth.parse().ok()?,
                name: rest.split(' ').next()?.to_owned(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_listing_gives_name_and_folder() {
        let line = "switchboard-core v0.1.0 (/home/a (b)/project/shared/core)";
        assert_eq!(
            listed(line, "/home/a (b)/project"),
            Some(("switchboard-core", "shared/core"))
        );
        assert_eq!(listed("serde v1.0.0", "/project"), None);
    }

    #[test]
    fn a_tree_is_read_line_by_line() {
        let read = nodes(
            "0 switchboard-core v0.1.0 (/project/shared/core)\n1 serde_derive v1.0.0 (proc-macro)\n2 syn v2.0.0 (*)\n",
        );
        let read: Vec<_> = read
            .iter()
            .map(|node| (node.depth, node.name.as_str()))
            .collect();
        assert_eq!(
            read,
            [(0, "switchboard-core"), (1, "serde_derive"), (2, "syn")]
        );
    }
}
