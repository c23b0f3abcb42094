//! What the tool is told by the environment it was started in.

use std::ffi::OsString;
use std::path::PathBuf;

/// Who waits for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A developer: warnings are shown.
    Desk,
    /// Continuous integration (`CI` is set): warnings are failures, and `Cargo.lock` must be up to date.
    Ci,
}

/// The environment, read once.
#[derive(Debug)]
pub(crate) struct Environment {
    /// The root of the workspace.
    pub(crate) root: PathBuf,
    /// Where cargo builds, if not in the workspace's own `target`.
    pub(crate) target: Option<PathBuf>,
    /// The cargo that started the tool.
    pub(crate) cargo: OsString,
    /// `PATH`.
    pub(crate) path: OsString,
    /// Who waits.
    pub(crate) place: Place,
    /// The variables that `cargo run` set for this tool alone. A cargo started from here must not see them: build
    /// scripts that watch them would run again each time.
    pub(crate) own: Vec<OsString>,
}

/// How the names of the variables that `cargo run` sets for the program it runs begin.
const OWN: [&str; 4] = [
    "CARGO_MANIFEST_",
    "CARGO_PKG_",
    "CARGO_PRIMARY_",
    "CARGO_BIN_",
];

impl Environment {
    /// The environment that these variables make.
    pub(crate) fn of(variables: impl Iterator<Item = (OsString, OsString)>) -> Self {
        let mut environment = Self {
            root: PathBuf::from("."),
            target: None,
            cargo: "cargo".into(),
            path: OsString::new(),
            place: Place::Desk,
            own: Vec::new(),
        };
        for (name, value) in variables {
            match name.to_str() {
                Some("CARGO_MANIFEST_DIR") => environment.root = PathBuf::from(value).join(".."),
                Some("CARGO_TARGET_DIR") => environment.target = Some(PathBuf::from(value)),
                Some("CARGO") => environment.cargo = value,
                Some("PATH") => environment.path = value,
                Some("CI") if !value.is_empty() => environment.place = Place::Ci,
                Some(_) | None => {}
            }
            let text = name.to_string_lossy();
            if OWN.iter().any(|begin| text.starts_with(begin)) {
                environment.own.push(name);
            }
        }
        environment
    }

    /// The folder that cargo builds in.
    pub(crate) fn build_folder(&self) -> PathBuf {
        match &self.target {
            Some(folder) => self.root.join(folder),
            None => self.root.join("target"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Environment {
        let pairs = variables
            .iter()
            .map(|(name, value)| (OsString::from(name), OsString::from(value)));
        Environment::of(pairs)
    }

    #[test]
    fn ci_counts_only_when_it_says_something() {
        assert_eq!(of(&[]).place, Place::Desk);
        assert_eq!(of(&[("CI", "")]).place, Place::Desk);
        assert_eq!(of(&[("CI", "1")]).place, Place::Ci);
    }

    #[test]
    fn what_cargo_set_for_the_tool_alone_is_told_from_what_the_developer_set() {
        let environment = of(&[
            ("CARGO_PKG_NAME", "xtask"),
            ("CARGO_MANIFEST_DIR", "/project/xtask"),
            ("CARGO_TARGET_DIR", "/elsewhere"),
            ("CARGO_HOME", "/home"),
        ]);
        assert_eq!(environment.own, ["CARGO_PKG_NAME", "CARGO_MANIFEST_DIR"]);
        assert_eq!(environment.root, PathBuf::from("/project/xtask/.."));
        assert_eq!(environment.build_folder(), PathBuf::from("/elsewhere"));
    }

    #[test]
    fn cargo_builds_within_the_workspace_unless_it_is_told_where() {
        let environment = of(&[("CARGO_MANIFEST_DIR", "/project/xtask")]);
        let folder = environment.build_folder();
        assert_eq!(folder, PathBuf::from("/project/xtask/../target"));
    }
}
