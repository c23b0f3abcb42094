//! The command line: what can be asked for, and what each flag means.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use switchboard_core::scheme::{self, Scheme};
use url::Url;

use crate::announce::quoted;

mod operator;

pub(crate) use operator::{
    DeadLetters, Events, Hold, Narrowed, Output, Reach, Redrive, Release, Replay, StateName,
    Status, Test,
};

/// Where a Switchboard is unless it is said.
const URL: &str = "http://127.0.0.1:3000";
/// Where the state lies unless it is said.
const DATA: &str = "data";

/// Switchboard receives webhooks, proves who sent them, keeps each event once, and delivers it to every destination until
/// it has been applied once.
#[derive(Debug, Parser)]
#[command(name = "switchboard", version, long_about = None, args_conflicts_with_subcommands = true)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) serve: Serve,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run everything: ingress, deliveries, page, API (what happens without a command, too)
    Serve(Serve),
    /// Write a commented configuration of your own, with a fresh secret, to start from
    Init(Init),
    /// Check a configuration and name everything that is wrong with it
    Check(Check),
    /// Post a correctly signed sample event to a source, as its sender would
    Send(Send),
    /// Check a captured request against a source and say why it is accepted or refused
    Verify(Verify),
    /// Show the totals, the last hour, and how each destination does
    Status(Status),
    /// List events, newest first
    Events(Events),
    /// List dead letters, newest first, or how many there are of each reason
    DeadLetters(DeadLetters),
    /// Send dead letters again: 6 more attempts each, under the same key
    Redrive(Redrive),
    /// Deliver stored events once more, by the routes of today, as new deliveries with new keys
    Replay(Replay),
    /// Make one attempt at a destination, marked as a test: it is in no list and in no total
    Test(Test),
    /// Hold a destination: its deliveries wait, none is lost
    Hold(Hold),
    /// Release a held destination, spread over time
    Release(Release),
    /// Set, clear or rotate your endpoint, which gets a signed copy of every event
    Endpoint(Endpoint),
    /// Send a configuration to a deployed Switchboard, which checks it whole and uses it from then on
    Apply(Apply),
    /// Copy the store to a file, also while serving
    Backup(Backup),
    /// Run only the sample receivers
    Receivers(Receivers),
}

/// Which configuration counts.
#[derive(Clone, Debug, Args)]
pub(crate) struct ConfigurationFile {
    /// The configuration; without it the built-in sample
    #[arg(long = "config", value_name = "FILE", env = "SWITCHBOARD_CONFIG")]
    pub(crate) file: Option<PathBuf>,
}

/// Where the state lies.
#[derive(Clone, Debug, Args)]
pub(crate) struct DataFolder {
    /// The folder that holds the store and the admin token
    #[arg(
        long = "data",
        value_name = "DIR",
        env = "SWITCHBOARD_DATA",
        default_value = DATA
    )]
    pub(crate) folder: PathBuf,
}

impl DataFolder {
    /// The flag by which the next command finds the same folder; none where it does by itself.
    pub(crate) fn flag(&self) -> String {
        if self.folder == Path::new(DATA) {
            return String::new();
        }
        format!(" --data {}", quoted(&self.folder.display().to_string()))
    }
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) configuration: ConfigurationFile,
    #[command(flatten)]
    pub(crate) data: DataFolder,
    /// The address to listen on
    #[arg(
        long,
        value_name = "ADDR",
        env = "SWITCHBOARD_LISTEN",
        default_value = "127.0.0.1:3000",
        value_parser = address
    )]
    pub(crate) listen: SocketAddr,
    /// Where the sample receivers listen, or off [default: 127.0.0.1:3001 with the built-in sample, else off]
    #[arg(long, value_name = "ADDR|off")]
    pub(crate) receivers: Option<ReceiversAddress>,
    /// How the log is written
    #[arg(long, value_name = "FORM", value_enum, default_value_t = LogForm::Text)]
    pub(crate) log: LogForm,
}

/// An address to listen on. Names are not resolved: which of a name's addresses was meant would be a guess.
fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse()
        .map_err(|_| "ADDR is HOST:PORT such as 127.0.0.1:3000, HOST an IP address".to_owned())
}

/// Where the sample receivers listen, if they do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ReceiversAddress {
    Off,
    At(SocketAddr),
}

impl std::str::FromStr for ReceiversAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "off" {
            return Ok(Self::Off);
        }
        text.parse().map(Self::At).map_err(|_| {
            "ADDR is HOST:PORT such as 127.0.0.1:3001, HOST an IP address; or off".to_owned()
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogForm {
    /// For a person
    Text,
    /// One JSON object a line
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Where to write switchboard.toml and secrets/
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) configuration: ConfigurationFile,
    /// Check it for a deployed Switchboard: all but the secrets, which only that can read
    #[arg(long, requires = "file")]
    pub(crate) deployed: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Apply {
    /// The configuration; its secrets are references secret:NAME
    #[arg(long = "config", value_name = "FILE", env = "SWITCHBOARD_CONFIG")]
    pub(crate) file: PathBuf,
    /// Where the deployed Switchboard is
    #[arg(long, value_name = "URL")]
    pub(crate) url: Url,
    /// The admin token of the deployed Switchboard
    #[arg(
        long,
        value_name = "TOKEN",
        env = "SWITCHBOARD_ADMIN_TOKEN",
        hide_env_values = true
    )]
    pub(crate) token: Option<String>,
    /// Only show what would change, line by line; the Switchboard is not asked what it says of it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Also where a source or a destination goes away by it
    #[arg(long)]
    pub(crate) yes: bool,
    /// Only over this version, which you have seen; 0 for none. Without it over the one that stands now
    #[arg(long, value_name = "VERSION")]
    pub(crate) over: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct Send {
    /// The source to post to, such as shop
    pub(crate) source: String,
    /// The kind of event, such as orders/create
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) kind: String,
    /// Send this body instead of a sample; for stripe its own id and type count, for standard-webhooks its own type
    #[arg(long, value_name = "FILE")]
    pub(crate) body: Option<PathBuf>,
    /// Sign by this scheme with --secret; no configuration is read then
    #[arg(long, requires = "secret", value_parser = scheme)]
    pub(crate) scheme: Option<&'static Scheme>,
    /// The source's secret: env and its variable, or file and its path, with a colon between
    #[arg(long, requires = "scheme", value_name = "REFERENCE")]
    pub(crate) secret: Option<String>,
    #[command(flatten)]
    pub(crate) configuration: ConfigurationFile,
    /// Where the Switchboard is
    #[arg(long, value_name = "URL", default_value = URL)]
    pub(crate) url: Url,
}

fn scheme(name: &str) -> Result<&'static Scheme, String> {
    let known = || {
        let names: Vec<&str> = scheme::ALL.iter().map(|scheme| scheme.name).collect();
        format!("there are {}", names.join(", "))
    };
    Scheme::named(name).ok_or_else(known)
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    #[command(flatten)]
    pub(crate) configuration: ConfigurationFile,
    /// The source it was posted to
    #[arg(long)]
    pub(crate) source: String,
    /// A header of the request, as 'Name: value'; once for each
    #[arg(long = "header", value_name = "'NAME: VALUE'")]
    pub(crate) headers: Vec<String>,
    /// A file with the raw body
    #[arg(long, value_name = "FILE")]
    pub(crate) body: PathBuf,
    /// Judge the signed time as of this moment, in seconds since 1970 [default: now]
    #[arg(long, value_name = "UNIX")]
    pub(crate) at: Option<i64>,
}

#[derive(Debug, Args)]
pub(crate) struct Endpoint {
    #[command(subcommand)]
    pub(crate) change: EndpointChange,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EndpointChange {
    /// Set its address; prints its signing secret the first time
    Set {
        /// Where the copies go
        address: String,
        #[command(flatten)]
        reach: Reach,
    },
    /// Clear its address and secret; copies still open become dead letters
    Clear {
        #[command(flatten)]
        reach: Reach,
    },
    /// Give it a new secret and print that; the old one signs beside it for 24 hours
    Rotate {
        #[command(flatten)]
        reach: Reach,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// The new file
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) data: DataFolder,
}

#[derive(Debug, Args)]
pub(crate) struct Receivers {
    /// The address to listen on
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:3001", value_parser = address)]
    pub(crate) listen: SocketAddr,
    #[command(flatten)]
    pub(crate) data: DataFolder,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn without_a_command_everything_is_served() {
        let line = CommandLine::parse_from([
            "switchboard",
            "--listen",
            "127.0.0.1:0",
            "--receivers",
            "off",
        ]);
        assert!(line.command.is_none());
        assert!(matches!(line.serve.receivers, Some(ReceiversAddress::Off)));
    }
}
