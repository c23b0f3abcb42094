//! Loading the configuration: the built-in sample or a file, with its secrets from the environment and from files.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use switchboard_core::configuration::{self, Configuration, Fault, Origin, Source};
use switchboard_core::secret::{Reference, Secret, SecretName, SecretReader};

use crate::announce::quoted;
use crate::command::ConfigurationFile;
use crate::end::{Failed, complain};

/// The sample that is used without a file.
const SAMPLE: &str = include_str!("../../../switchboard.toml");
/// Where the sample's destinations are unless the receivers listen elsewhere.
const SAMPLE_RECEIVERS: &str = "127.0.0.1:3001";

/// The environment, read once.
#[derive(Debug)]
pub(crate) struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    pub(crate) fn read() -> Self {
        Self(std::env::vars_os().collect())
    }

    /// The value of a variable, where it is text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0
            .get(&OsString::from(name))
            .and_then(|value| value.to_str())
    }
}

/// Finds secrets in the environment and in files beside the configuration.
struct Secrets<'a> {
    environment: &'a Environment,
    folder: PathBuf,
}

impl SecretReader for Secrets<'_> {
    fn read(&self, reference: &Reference) -> Result<String, String> {
        match reference {
            Reference::Environment(name) => {
                let value = self
                    .environment
                    .0
                    .get(&OsString::from(name))
                    .ok_or("the variable is not set")?;
                value
                    .clone()
                    .into_string()
                    .map_err(|_| "the variable is not text".to_owned())
            }
            Reference::File(path) => {
                std::fs::read_to_string(self.folder.join(path)).map_err(|error| error.to_string())
            }
            Reference::Sample(text) => Ok(text.clone()),
            Reference::Secret(_) => Err("it is a deployed Switchboard's".to_owned()),
        }
    }
}

/// The secret that a flag refers to.
pub(crate) fn secret(reference: &str, environment: &Environment) -> Result<Secret, Failed> {
    let unusable = |why: &str| Failed::configuration(format_args!("--secret {why}"));
    let reference = Reference::parse(reference)
        .filter(|found| matches!(found, Reference::Environment(_) | Reference::File(_)))
        .ok_or_else(|| unusable("is env:NAME or file:PATH, never the value"))?;
    let reader = Secrets {
        environment,
        folder: PathBuf::new(),
    };
    let text = reader
        .read(&reference)
        .map_err(|why| unusable(&format!("{reference}: {why}")))?;
    Secret::new(&text).ok_or_else(|| unusable(&format!("{reference} is empty")))
}

/// The flag by which the next command finds the same configuration.
pub(crate) fn flag(file: &ConfigurationFile) -> String {
    file.file.as_ref().map_or_else(String::new, |file| {
        format!(" --config {}", quoted(&file.display().to_string()))
    })
}

/// Where a configuration comes from, without loading it.
pub(crate) fn origin(file: &ConfigurationFile) -> Origin {
    if file.file.is_some() {
        Origin::File
    } else {
        Origin::BuiltIn
    }
}

/// Loads the configuration, and says what is unwise about it. The built-in sample's destinations are at `receivers`.
pub(crate) fn load(
    file: &ConfigurationFile,
    environment: &Environment,
    receivers: Option<SocketAddr>,
) -> Result<Configuration, Failed> {
    let read = read(file, environment, receivers)?;
    for warning in read.warnings {
        complain(&format!("switchboard: warning: {warning}"));
    }
    Ok(read.configuration)
}

/// [`load`], with what is unwise left to the caller to say.
pub(crate) fn read(
    file: &ConfigurationFile,
    environment: &Environment,
    receivers: Option<SocketAddr>,
) -> Result<configuration::Read, Failed> {
    let (text, origin, folder) = if let Some(path) = &file.file {
        (
            text(path)?,
            Origin::File,
            path.parent().map(Path::to_owned).unwrap_or_default(),
        )
    } else {
        let at = receivers.map_or_else(
            || SAMPLE_RECEIVERS.to_owned(),
            |address| address.to_string(),
        );
        (
            SAMPLE.replace(SAMPLE_RECEIVERS, &at),
            Origin::BuiltIn,
            PathBuf::new(),
        )
    };
    let read = configuration::read(
        &text,
        origin,
        &Secrets {
            environment,
            folder,
        },
    );
    read.map_err(|faults| unusable(&faults))
}

/// A configuration for a deployed Switchboard: its text, and every secret that it names. All else about it is checked.
pub(crate) fn deployed(path: &Path) -> Result<(String, BTreeSet<SecretName>), Failed> {
    let text = text(path)?;
    let checked = configuration::check_deployed(&text);
    if !checked.faults.is_empty() {
        return Err(unusable(&checked.faults));
    }
    for warning in checked.warnings {
        complain(&format!("switchboard: warning: {warning}"));
    }
    Ok((text, checked.secrets))
}

fn text(path: &Path) -> Result<String, Failed> {
    std::fs::read_to_string(path).map_err(|error| {
        let path = path.display();
        Failed::configuration(format_args!(
            "the configuration {path} cannot be read: {error}"
        ))
    })
}

fn unusable(faults: &[Fault]) -> Failed {
    Failed::Configuration(faults.iter().map(ToString::to_string).collect())
}

/// The source of that name, or which ones there are.
pub(crate) fn source<'a>(
    configuration: &'a Configuration,
    name: &str,
) -> Result<&'a Source, Failed> {
    configuration
        .sources
        .iter()
        .find(|source| source.name.as_str() == name)
        .ok_or_else(|| {
            let known: Vec<&str> = configuration
                .sources
                .iter()
                .map(|source| source.name.as_str())
                .collect();
            Failed::configuration(format_args!(
                "there is no source named {name:?}; there are {}",
                known.join(", ")
            ))
        })
}
