//! The commands of operators: what they take.

use clap::{Args, ValueEnum};
use switchboard_core::identity::DeliveryId;
use url::Url;

use super::{DataFolder, URL};
use crate::announce::quoted;

/// How a running Switchboard is reached.
#[derive(Debug, Args)]
pub(crate) struct Reach {
    /// Where the Switchboard is
    #[arg(long, value_name = "URL", default_value = URL)]
    pub(crate) url: Url,
    /// The admin token [default: the one in DIR/admin-token]
    #[arg(
        long,
        value_name = "TOKEN",
        env = "SWITCHBOARD_ADMIN_TOKEN",
        hide_env_values = true
    )]
    pub(crate) token: Option<String>,
    #[command(flatten)]
    pub(crate) data: DataFolder,
}

impl Reach {
    /// The flags by which the next command reaches the same Switchboard; none where it does by itself.
    pub(crate) fn flags(&self) -> String {
        let url = self.url.as_str().trim_end_matches('/');
        let url = if url == URL {
            String::new()
        } else {
            format!(" --url {}", quoted(url))
        };
        url + &self.data.flag()
    }
}

/// How what is answered is printed.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Output {
    /// Print the API's answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Status {
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) reach: Reach,
}

/// Which events are meant: those to which all of it applies.
#[derive(Debug, Args)]
pub(crate) struct Narrowed {
    /// Of this source
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
    /// Of this kind
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// With this sender's id
    #[arg(long, value_name = "ID")]
    pub(crate) sender_id: Option<String>,
    /// With a delivery in this state
    #[arg(long, value_enum)]
    pub(crate) state: Option<StateName>,
    /// With a delivery to this destination; together with --state in that state
    #[arg(long, value_name = "NAME")]
    pub(crate) destination: Option<String>,
    /// Received at this moment or later, such as 2026-01-31T09:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// Received before this moment
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
}

/// Where a delivery stands.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum StateName {
    /// An attempt is still to come
    Waiting,
    /// Its destination is held
    Held,
    /// Done
    Delivered,
    /// A dead letter
    Dead,
}

impl StateName {
    /// Its name in the API.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Held => "held",
            Self::Delivered => "delivered",
            Self::Dead => "dead",
        }
    }
}

/// Which part of a list.
#[derive(Debug, Args)]
pub(crate) struct Part {
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(crate) limit: u32,
    /// Go on where the part before ended, which names this cursor
    #[arg(long, value_name = "CURSOR")]
    pub(crate) after: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Events {
    #[command(flatten)]
    pub(crate) narrowed: Narrowed,
    #[command(flatten)]
    pub(crate) part: Part,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) reach: Reach,
}

#[derive(Debug, Args)]
pub(crate) struct DeadLetters {
    /// Those of one destination
    #[arg(long, value_name = "NAME")]
    pub(crate) destination: Option<String>,
    /// Count the newest by destination and reason
    #[arg(long, conflicts_with_all = ["destination", "after"])]
    pub(crate) groups: bool,
    #[command(flatten)]
    pub(crate) part: Part,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) reach: Reach,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("which").required(true))]
pub(crate) struct Redrive {
    /// All dead letters
    #[arg(long, group = "which")]
    pub(crate) all: bool,
    /// Those of one destination
    #[arg(long, value_name = "NAME", group = "which")]
    pub(crate) destination: Option<String>,
    /// These deliveries (dlv_…)
    #[arg(value_name = "DELIVERY", group = "which", value_parser = delivery)]
    pub(crate) deliveries: Vec<DeliveryId>,
    /// How many start each second, up to 1000; 50 without it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) per_second: Option<u32>,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) reach: Reach,
}

fn delivery(text: &str) -> Result<DeliveryId, String> {
    DeliveryId::parse(text)
        .ok_or_else(|| "a delivery's id is dlv_ and 26 characters, as the page shows it".to_owned())
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("since").required(true).multiple(true).args(["from", "sender_id"]))]
pub(crate) struct Replay {
    #[command(flatten)]
    pub(crate) narrowed: Narrowed,
    /// Only what today's routes send to this destination
    #[arg(long, value_name = "NAME")]
    pub(crate) to: Option<String>,
    /// How many start each second, up to 1000; 50 without it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) per_second: Option<u32>,
    /// Go on with a replay that was cut, which names this; all else must be as it was
    #[arg(long, value_name = "PROGRESS")]
    pub(crate) progress: Option<String>,
    /// Only count what would be delivered
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) reach: Reach,
}

#[derive(Debug, Args)]
pub(crate) struct Test {
    /// The destination, or your-endpoint
    pub(crate) destination: String,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) reach: Reach,
}

#[derive(Debug, Args)]
pub(crate) struct Hold {
    /// The destination
    pub(crate) destination: String,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) reach: Reach,
}

#[derive(Debug, Args)]
pub(crate) struct Release {
    /// The destination
    pub(crate) destination: String,
    /// How many held deliveries start each second, up to 1000; 50 without it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) per_second: Option<u32>,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) reach: Reach,
}
