//! The line that stands for those nobody took, in the form of all others.

use serde_json::json;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};

use crate::command::LogForm;

/// What it says.
const MESSAGE: &str = "log lines were dropped: nobody took them";

/// The line, with its end.
pub(super) fn line(form: LogForm, dropped: u64) -> String {
    let mut at = String::new();
    // Without a time it is worth telling all the same.
    let _ = SystemTime.format_time(&mut Writer::new(&mut at));
    match form {
        LogForm::Text => format!("{at}  WARN {MESSAGE} log.dropped={dropped}\n"),
        LogForm::Json => {
            let line = json!({ "timestamp": at, "level": "WARN", "message": MESSAGE, "log.dropped": dropped });
            format!("{line}\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn in_each_form_it_looks_as_every_other_line_does() {
        let text = line(LogForm::Text, 12);
        let (at, rest) = text.split_once("  ").expect("a time");
        assert!(at.starts_with("20") && at.ends_with('Z'), "{text}");
        assert_eq!(
            rest,
            "WARN log lines were dropped: nobody took them log.dropped=12\n"
        );
        let json = line(LogForm::Json, 12);
        assert_eq!(json.lines().count(), 1, "{json}");
        let json: Value = serde_json::from_str(&json).expect("JSON");
        assert!(json["timestamp"].is_string(), "{json}");
        assert_eq!(
            (&json["level"], &json["log.dropped"]),
            (&Value::from("WARN"), &Value::from(12))
        );
    }
}
