//! `apply`: a configuration is checked here without its secrets, compared with what stands, and sent to be used.

use std::collections::BTreeSet;
use std::path::Path;

use http::{Method, StatusCode};
use serde_json::{Value, json};
use similar::TextDiff;
use switchboard_core::configuration::Named;
use switchboard_core::secret::Secret;

use crate::ask::{Place, answer, field, refused};
use crate::command::Apply;
use crate::configure;
use crate::end::{Failed, complain, say};

const PATH: &str = "/admin/configuration";

/// What stands at the Switchboard.
struct Stands {
    text: String,
    /// 0 before the first was applied.
    version: u64,
}

/// Sends the configuration, unless it stands already, and shows what changes. What takes a source or a destination away is
/// sent only where that was said to be meant.
///
/// When the answer is lost it may stand or not: the same command again finds it, or sends it once more.
pub(crate) async fn apply(command: Apply) -> Result<(), Failed> {
    let (text, _) = configure::deployed(&command.file)?;
    let token = command.token.as_deref().and_then(Secret::new);
    let token = token.ok_or_else(|| {
        Failed::new("no admin token: give --token or SWITCHBOARD_ADMIN_TOKEN, the token of the deployed Switchboard")
    })?;
    let stands = stands(&command, &token).await?;
    if let Some(over) = command.over.filter(|over| *over != stands.version) {
        return Err(Failed::new(format_args!(
            "{}, and not version {over}: look at it with --dry-run",
            named(stands.version)
        )));
    }
    if stands.version > 0 && stands.text == text {
        say(&format!(
            "nothing changed: version {} is this very text",
            stands.version
        ));
        return Ok(());
    }
    if command.dry_run {
        say(&format!("{}; this would change:", named(stands.version)));
        say(difference(&stands, &text, &command.file).trim_end());
        return Ok(());
    }
    if stands.version > 0 {
        say(&format!("{}; this changes:", named(stands.version)));
        say(difference(&stands, &text, &command.file).trim_end());
    }
    match going(&stands.text, &text) {
        Some(what) if !command.yes => Err(Failed::new(format_args!(
            "nothing was applied: {what}; say --yes if that is meant"
        ))),
        Some(_) | None => send(&command, &token, &stands, &text).await,
    }
}

/// What goes with the text that stands, and what that means; `None` where nothing does.
fn going(stands: &str, text: &str) -> Option<String> {
    let gone = Named::in_text(stands).without(&Named::in_text(text));
    let list = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(", ");
    let sources = (!gone.sources.is_empty()).then(|| {
        let names = list(&gone.sources);
        format!("it takes away the sources {names}, whose senders are answered 404 then")
    });
    let destinations = (!gone.destinations.is_empty()).then(|| {
        let names = list(&gone.destinations);
        format!("it takes away the destinations {names}, whose open deliveries become dead letters")
    });
    let both: Vec<String> = sources.into_iter().chain(destinations).collect();
    (!both.is_empty()).then(|| plain(&both.join(", and ")))
}

/// Reads what stands.
async fn stands(command: &Apply, token: &Secret) -> Result<Stands, Failed> {
    let (status, value) = answer(
        &command.url,
        token,
        Place::Deployed,
        Method::GET,
        PATH,
        None,
    )
    .await?;
    if status != StatusCode::OK {
        return Err(refused(status, &value));
    }
    // Both are null before the first.
    let version = field(&value, "version", number)?;
    let text = field(&value, "configuration", text_or_null)?;
    Ok(Stands { text, version })
}

fn number(value: &Value) -> Option<u64> {
    if value.is_null() {
        return Some(0);
    }
    value.as_u64().filter(|number| *number > 0)
}

fn text_or_null(value: &Value) -> Option<String> {
    if value.is_null() {
        return Some(String::new());
    }
    value.as_str().map(str::to_owned)
}

async fn send(command: &Apply, token: &Secret, stands: &Stands, text: &str) -> Result<(), Failed> {
    let seen = (stands.version > 0).then_some(stands.version);
    let body = json!({ "configuration": text, "version": seen });
    let (status, value) = answer(
        &command.url,
        token,
        Place::Deployed,
        Method::PUT,
        PATH,
        Some(body),
    )
    .await?;
    match status {
        StatusCode::OK => {
            let version = field(&value, "version", Value::as_u64)?;
            for warning in lines(&value, "warnings") {
                complain(&format!("switchboard: warning: {warning}"));
            }
            say(&format!(
                "version {version} is applied; it counts everywhere within seconds"
            ));
            Ok(())
        }
        StatusCode::BAD_REQUEST => Err(match lines(&value, "faults") {
            faults if faults.is_empty() => refused(status, &value),
            faults => Failed::Refused(faults),
        }),
        StatusCode::CONFLICT => {
            let version = value.get("version").and_then(number).unwrap_or_default();
            Err(Failed::new(format_args!(
                "{} now, applied by somebody else meanwhile: look at it with --dry-run",
                named(version)
            )))
        }
        status => Err(refused(status, &value)),
    }
}

/// The lines of a list in an answer, as a terminal may show them.
fn lines(answer: &Value, name: &str) -> Vec<String> {
    let lines = answer.get(name).and_then(Value::as_array);
    let lines = lines.into_iter().flatten().filter_map(Value::as_str);
    lines.map(plain).collect()
}

fn named(version: u64) -> String {
    if version == 0 {
        "no configuration stands".to_owned()
    } else {
        format!("version {version} stands")
    }
}

/// What would change, line by line.
fn difference(stands: &Stands, text: &str, file: &Path) -> String {
    let old = if stands.version == 0 {
        "nothing".to_owned()
    } else {
        format!("version {}", stands.version)
    };
    let difference = TextDiff::from_lines(stands.text.as_str(), text);
    let file = file.display().to_string();
    plain(&difference.unified_diff().header(&old, &file).to_string())
}

/// A text without what would move a terminal's cursor or colours.
fn plain(text: &str) -> String {
    let shown = |c: char| {
        if c.is_control() && !matches!(c, '\n' | '\t') {
            char::REPLACEMENT_CHARACTER
        } else {
            c
        }
    };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_shows_the_lines_that_go_and_come_with_those_around_them() {
        let stands = Stands {
            text: "a\nb\nc\nd\ne\nf\ng\nh\ni\n".to_owned(),
            version: 4,
        };
        let shown = difference(
            &stands,
            "a\nb\nc\nd\nE\u{1b}[31m\nf\ng\nh\ni\n",
            Path::new("new.toml"),
        );
        assert_eq!(
            shown,
            "--- version 4\n+++ new.toml\n@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E\u{fffd}[31m\n f\n g\n h\n"
        );
    }

    #[test]
    fn before_the_first_every_line_comes() {
        let stands = Stands {
            text: String::new(),
            version: 0,
        };
        let shown = difference(&stands, "a\nb\n", Path::new("new.toml"));
        assert_eq!(
            shown,
            "--- nothing\n+++ new.toml\n@@ -0,0 +1,2 @@\n+a\n+b\n"
        );
    }
}
