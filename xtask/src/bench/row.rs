//! A measured figure: its value, its floor from the same run, and the bound it is held to.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// What a figure is held to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bound {
    /// At least this part of its floor.
    OfFloor(f64),
    /// At most so many times its floor.
    TimesFloor(f64),
    /// At most this.
    AtMost(f64),
    /// It is reported only.
    Reported,
}

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) figure: String,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    /// The least, or the most, that the same work costs without Switchboard, measured in the same run.
    pub(crate) floor: Option<f64>,
    pub(crate) bound: Bound,
}

impl Row {
    pub(crate) fn ratio(&self) -> Option<f64> {
        self.floor.map(|floor| self.value / floor)
    }

    /// Whether it keeps to its bound.
    pub(crate) fn holds(&self) -> bool {
        let ratio = self.ratio().unwrap_or(f64::NAN);
        match self.bound {
            Bound::OfFloor(least) => ratio >= least,
            Bound::TimesFloor(most) => ratio <= most,
            Bound::AtMost(most) => self.value <= most,
            Bound::Reported => true,
        }
    }

    fn bound(&self) -> String {
        match self.bound {
            Bound::OfFloor(least) => format!("at least {least} x floor"),
            Bound::TimesFloor(most) => format!("at most {most} x floor"),
            Bound::AtMost(most) => format!("at most {most}"),
            Bound::Reported => "reported".to_owned(),
        }
    }

    fn json(&self) -> Value {
        json!({
            "figure": self.figure,
            "value": self.value,
            "unit": self.unit,
            "floor": self.floor,
            "ratio": self.ratio(),
            "bound": self.bound(),
            "holds": self.holds(),
        })
    }
}

/// A number with as many digits as say something.
fn shown(number: f64) -> String {
    if number.abs() >= 100.0 {
        format!("{number:.0}")
    } else if number.abs() >= 10.0 {
        format!("{number:.1}")
    } else {
        format!("{number:.2}")
    }
}

/// All rows as JSON.
pub(crate) fn as_json(rows: &[Row]) -> String {
    Value::Array(rows.iter().map(Row::json).collect()).to_string()
}

/// All rows as a Markdown table.
pub(crate) fn as_table(rows: &[Row]) -> String {
    let mut table =
        "| figure | value | floor | ratio | bound | |\n|---|---|---|---|---|---|\n".to_owned();
    for row in rows {
        let or_none = |number: Option<f64>| number.map_or_else(|| "-".to_owned(), shown);
        let verdict = match (row.bound, row.holds()) {
            (Bound::Reported, _) => "",
            (_, true) => "holds",
            (_, false) => "does not hold",
        };
        let _ = writeln!(
            table,
            "| {} | {} {} | {} | {} | {} | {verdict} |",
            row.figure,
            shown(row.value),
            row.unit,
            or_none(row.floor),
            or_none(row.ratio()),
            row.bound(),
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(value: f64, floor: Option<f64>, bound: Bound) -> Row {
        Row {
            figure: "events".to_owned(),
            value,
            unit: "/s",
            floor,
            bound,
        }
    }

    #[test]
    fn a_figure_holds_by_its_own_floor_or_by_itself() {
        let floor = Some(100.0);
        assert!(row(60.0, floor, Bound::OfFloor(0.6)).holds());
        assert!(!row(59.0, floor, Bound::OfFloor(0.6)).holds());
        assert!(row(180.0, floor, Bound::TimesFloor(1.8)).holds());
        assert!(!row(181.0, floor, Bound::TimesFloor(1.8)).holds());
        assert!(!row(26.0, None, Bound::AtMost(25.0)).holds());
        assert!(!row(1.0, None, Bound::OfFloor(0.1)).holds(), "no floor");
        assert!(row(1.0, None, Bound::Reported).holds());
    }

    #[test]
    fn the_table_and_the_json_tell_the_same() {
        let rows = [row(59.0, Some(100.0), Bound::OfFloor(0.6))];
        assert!(as_table(&rows).ends_with(
            "| events | 59.0 /s | 100 | 0.59 | at least 0.6 x floor | does not hold |\n"
        ));
        let json: Value = serde_json::from_str(&as_json(&rows)).expect("JSON");
        assert_eq!(json[0]["ratio"], 0.59);
        assert_eq!(json[0]["holds"], false);
    }
}
