//! The alarms: each tells of one thing that somebody has to look at, and tells it where a parameter says.

use serde_json::{Value, json};

use super::{FUNCTIONS, attribute, named, parameter, properties, reference};

const ALARM: &str = "AWS::CloudWatch::Alarm";

/// What an alarm looks at, and when it goes off.
struct Due {
    name: String,
    metric: (&'static str, &'static str),
    of: (&'static str, Value),
    statistic: &'static str,
    /// Minutes of one each that it looks at, and the number that is compared.
    minutes: u64,
    threshold: u64,
}

fn queue(name: &str, metric: &'static str, queue: &str, minutes: u64, threshold: u64) -> Due {
    Due {
        name: name.to_owned(),
        metric: ("AWS/SQS", metric),
        of: ("QueueName", attribute(queue, "QueueName")),
        statistic: "Maximum",
        minutes,
        threshold,
    }
}

fn function(function: &str, what: &'static str) -> Due {
    Due {
        name: format!("{function}{what}Alarm"),
        metric: ("AWS/Lambda", what),
        of: ("FunctionName", reference(function)),
        statistic: "Sum",
        minutes: 3,
        threshold: 0,
    }
}

/// All alarms that go off above a number; silence is good news for each of them.
fn above() -> Vec<Due> {
    let visible = "ApproximateNumberOfMessagesVisible";
    let mut due = vec![
        queue("DeadLetterAlarm", visible, "DeadLetters", 1, 0),
        queue("ReturnedAlarm", visible, "Returned", 10, 0),
        queue(
            "OldestAlarm",
            "ApproximateAgeOfOldestMessage",
            "Deliveries",
            3,
            600,
        ),
        Due {
            name: "ServerErrorsAlarm".to_owned(),
            metric: ("AWS/ApiGateway", "5xx"),
            of: ("ApiId", reference("Api")),
            statistic: "Sum",
            minutes: 3,
            threshold: 0,
        },
    ];
    for name in FUNCTIONS {
        due.extend([function(name, "Errors"), function(name, "Throttles")]);
    }
    due
}

#[test]
fn there_is_an_alarm_for_each_thing_that_somebody_has_to_look_at() {
    for due in above() {
        let alarm = properties(&due.name, ALARM);
        let name = due.name;
        assert_eq!(alarm["Namespace"], due.metric.0, "{name}");
        assert_eq!(alarm["MetricName"], due.metric.1, "{name}");
        let of = json!([{ "Name": due.of.0, "Value": due.of.1 }]);
        assert_eq!(alarm["Dimensions"], of, "{name}");
        assert_eq!(alarm["Statistic"], due.statistic, "{name}");
        assert_eq!(alarm["Period"], 60, "{name}");
        assert_eq!(alarm["EvaluationPeriods"], due.minutes, "{name}");
        assert_eq!(alarm["Threshold"], due.threshold, "{name}");
        assert_eq!(
            alarm["ComparisonOperator"], "GreaterThanThreshold",
            "{name}"
        );
        assert_eq!(alarm["TreatMissingData"], "notBreaching", "{name}");
    }
}

/// A function that is not called tells nothing: here silence is the bad news.
#[test]
fn the_keeper_not_running_is_an_alarm() {
    let alarm = properties("KeeperMissingAlarm", ALARM);
    assert_eq!(alarm["Namespace"], "AWS/Lambda");
    assert_eq!(alarm["MetricName"], "Invocations");
    let of = json!([{ "Name": "FunctionName", "Value": reference("Keeper") }]);
    assert_eq!(alarm["Dimensions"], of);
    assert_eq!(alarm["Statistic"], "Sum");
    assert_eq!(
        (&alarm["Period"], &alarm["EvaluationPeriods"]),
        (&json!(60), &json!(5))
    );
    assert_eq!(alarm["ComparisonOperator"], "LessThanThreshold");
    assert_eq!(alarm["Threshold"], 1);
    assert_eq!(alarm["TreatMissingData"], "breaching");
}

/// The keeper says in its log how far the totals are behind; the stream forgets after a day.
#[test]
fn the_totals_falling_behind_is_an_alarm() {
    let filter = properties("Behind", "AWS::Logs::MetricFilter");
    assert_eq!(filter["LogGroupName"], reference("KeeperLog"));
    assert_eq!(filter["FilterPattern"], "{ $.message = \"kept\" }");
    let metric = &filter["MetricTransformations"][0];
    assert_eq!(metric["MetricValue"], "$.totals_behind_s");
    let alarm = properties("TotalsBehindAlarm", ALARM);
    assert_eq!(alarm["Namespace"], metric["MetricNamespace"]);
    assert_eq!(alarm["MetricName"], metric["MetricName"]);
    assert_eq!(alarm["Dimensions"], json!([]));
    assert_eq!(alarm["ComparisonOperator"], "GreaterThanThreshold");
    let threshold = alarm["Threshold"].as_u64().expect("seconds");
    assert!(threshold < 24 * 60 * 60, "told too late: {threshold} s");
}

#[test]
fn every_alarm_is_described_and_told_to_the_topic_of_a_parameter() {
    assert_eq!(parameter("AlarmTopic")["Default"], "");
    let told = json!({ "Fn::If": ["HasAlarmTopic", [reference("AlarmTopic")], []] });
    let alarms = named(ALARM);
    for name in &alarms {
        let alarm = properties(name, ALARM);
        assert_eq!(alarm["AlarmActions"], told, "{name}");
        assert_eq!(alarm["OKActions"], told, "{name}");
        assert!(alarm["AlarmDescription"].is_string(), "{name}");
    }
    // Each of them is looked at by a test above.
    assert_eq!(alarms.len(), above().len() + 2, "found: {alarms:?}");
}
