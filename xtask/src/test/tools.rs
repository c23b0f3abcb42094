//! The programs that the tests run beside the project's own, and the line that brings one that is missing.

use std::ffi::OsStr;
use std::path::PathBuf;

use crate::command::Failure;

/// A program that must be on `PATH`.
struct Tool {
    name: &'static str,
    brought_by: &'static str,
}

const TOOLS: [Tool; 5] = [
    // The page is looked at in a real browser.
    Tool {
        name: "chromedriver",
        brought_by: "sudo apt-get install -y chromium chromium-driver",
    },
    // What Switchboard signs is judged by the official libraries in both languages, and the page by one on npm.
    Tool {
        name: "python3",
        brought_by: "sudo apt-get install -y python3 python3-venv",
    },
    Tool {
        name: "node",
        brought_by: "sudo apt-get install -y nodejs",
    },
    Tool {
        name: "npm",
        brought_by: "sudo apt-get install -y npm",
    },
    // System calls are watched, and made to fail.
    Tool {
        name: "strace",
        brought_by: "sudo apt-get install -y strace",
    },
];

/// Where each tool is.
pub(super) fn find(path: &OsStr) -> Result<Vec<(&'static str, PathBuf)>, Failure> {
    TOOLS
        .iter()
        .map(|tool| match on_path(path, tool.name) {
            Some(place) => Ok((tool.name, place)),
            None => Err(Failure(format!(
                "{} is missing; this brings it: {}",
                tool.name, tool.brought_by
            ))),
        })
        .collect()
}

fn on_path(path: &OsStr, name: &str) -> Option<PathBuf> {
    std::env::split_paths(path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_tool_is_named_with_the_line_that_brings_it() {
        let own = std::env::current_exe().expect("a path");
        let folder = own.with_extension("tools");
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        for tool in &TOOLS {
            let Err(Failure(line)) = find(folder.as_os_str()) else {
                panic!("expected a missing {} to be a failure", tool.name);
            };
            let due = format!("{} is missing; this brings it: ", tool.name);
            let brings = line
                .strip_prefix(&due)
                .unwrap_or_else(|| panic!("found: {line}"));
            assert!(
                brings.starts_with("sudo apt-get install -y "),
                "found: {line}"
            );
            assert!(!line.contains('\n'), "expected one line, found: {line}");
            std::fs::write(folder.join(tool.name), "").expect("a file");
        }
        assert!(find(folder.as_os_str()).is_ok(), "all are there");
        std::fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn a_tool_is_found_in_the_folders_of_path() {
        let found = on_path(OsStr::new("/nowhere:src/test"), "tools.rs");
        assert_eq!(found, Some(PathBuf::from("src/test/tools.rs")));
    }
}
