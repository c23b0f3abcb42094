//! What is raised of a destination, what of it is told, and in which order.

use super::*;

const AFTER: Duration = Duration::from_mins(10);

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_seconds(seconds)
}

fn well() -> Standing {
    Standing::well(DestinationName::parse("chat").expect("a name"))
}

fn dead(count: u32) -> Standing {
    Standing {
        dead_letters: count,
        ..well()
    }
}

fn waiting(since: i64) -> Standing {
    Standing {
        waiting: 1,
        waiting_since: Some(at(since)),
        ..well()
    }
}

fn on_hold(standing: Standing) -> Standing {
    Standing {
        is_on_hold: true,
        ..standing
    }
}

/// A round at `now`: what is told in it, each taken at once.
fn round(record: &mut Record, standing: &Standing, now: i64) -> Vec<&'static str> {
    *record = record.clone().judged(standing, at(now), AFTER);
    let mut told = Vec::new();
    while let Some(alert) = record.pending().first().copied() {
        *record = record.clone().begun(alert).told(alert);
        told.push(alert.kind());
    }
    told
}

/// A round at `now` in which the first that is to be told does not arrive for sure.
fn failing_round(record: &mut Record, standing: &Standing, now: i64) -> Option<&'static str> {
    *record = record.clone().judged(standing, at(now), AFTER);
    let alert = record.pending().first().copied()?;
    *record = record.clone().begun(alert);
    Some(alert.kind())
}

#[test]
fn each_trouble_is_told_once_until_all_is_well() {
    let redriven = Standing {
        has_redriven: true,
        ..waiting(2000)
    };
    let both = Standing {
        dead_letters: 1,
        ..waiting(0)
    };
    let table: [(&str, Standing, i64, &[&str]); 14] = [
        ("nothing was ever wrong", well(), 0, &[]),
        ("something waits", waiting(0), 600, &[]),
        ("it waits too long", waiting(0), 601, &["waiting-too-long"]),
        ("it waits on", waiting(0), 900, &[]),
        ("its first dead letter", both, 901, &["dead-letter"]),
        ("more of them", dead(7), 902, &[]),
        ("all redriven", redriven.clone(), 2001, &[]),
        ("one died again", dead(1), 2002, &[]),
        ("redriven once more", redriven, 2003, &[]),
        ("delivered", well(), 2004, &["recovered"]),
        ("still well", waiting(2004), 2005, &[]),
        ("a dead letter again", dead(1), 3000, &["dead-letter"]),
        ("it expired", well(), 9000, &["recovered"]),
        ("still well", well(), 9001, &[]),
    ];
    let mut record = Record::default();
    for (what, standing, now, expected) in table {
        assert_eq!(round(&mut record, &standing, now), expected, "{what}");
    }
    assert_eq!(record, Record::default(), "nothing has to be kept");
}

#[test]
fn a_backlog_that_moves_around_the_limit_is_told_once() {
    let mut record = Record::default();
    assert_eq!(round(&mut record, &waiting(0), 601), ["waiting-too-long"]);
    for now in [700, 900, 800, 910] {
        assert_eq!(round(&mut record, &waiting(now - 599), now), [""; 0]);
        assert_eq!(round(&mut record, &waiting(now - 601), now), [""; 0]);
    }
    assert_eq!(round(&mut record, &waiting(700), 1000), ["recovered"]);
}

#[test]
fn a_moment_ahead_is_no_waiting() {
    let mut record = Record::default();
    assert_eq!(round(&mut record, &waiting(9999), 0), [""; 0]);
}

#[test]
fn what_waited_while_its_destination_was_held_did_not_wait_too_long() {
    let mut record = Record::default();
    assert_eq!(round(&mut record, &on_hold(waiting(0)), 5000), [""; 0]);
    assert_eq!(record.hold, Hold::Now);
    assert_eq!(round(&mut record, &waiting(0), 6000), [""; 0], "released");
    assert_eq!(round(&mut record, &waiting(0), 6600), [""; 0]);
    assert_eq!(round(&mut record, &waiting(0), 6601), ["waiting-too-long"]);
    assert_eq!(round(&mut record, &well(), 6602), ["recovered"]);
    assert_eq!(record, Record::default(), "the hold is forgotten");
}

#[test]
fn a_held_destination_gets_dead_letters_and_does_not_recover() {
    let mut record = Record::default();
    assert_eq!(round(&mut record, &on_hold(dead(1)), 1), ["dead-letter"]);
    assert_eq!(round(&mut record, &on_hold(well()), 2), [""; 0]);
    assert_eq!(round(&mut record, &well(), 3), ["recovered"]);
}

#[test]
fn what_was_never_begun_to_be_told_and_is_over_is_not_told() {
    let mut record = Record::default().judged(&dead(1), at(1), AFTER);
    assert!(record.pending().first().copied().is_some());
    assert_eq!(round(&mut record, &well(), 2), [""; 0]);
    assert_eq!(record, Record::default());
}

#[test]
fn of_what_may_have_arrived_the_end_is_told_and_the_rest_is_dropped() {
    let mut record = Record::default();
    assert_eq!(failing_round(&mut record, &dead(1), 1), Some("dead-letter"));
    assert_eq!(
        failing_round(&mut record, &dead(2), 2),
        Some("dead-letter"),
        "the same again until it is taken"
    );
    assert_eq!(round(&mut record, &well(), 3), ["recovered"]);
    assert_eq!(round(&mut record, &well(), 4), [""; 0]);
}

#[test]
fn a_trouble_that_comes_back_before_its_end_was_told_is_no_news() {
    let mut record = Record::default();
    assert_eq!(round(&mut record, &dead(1), 1), ["dead-letter"]);
    record = record.judged(&well(), at(2), AFTER);
    assert!(matches!(
        record.pending().first().copied(),
        Some(Alert::Recovered(_))
    ));
    assert_eq!(round(&mut record, &dead(1), 3), [""; 0]);
    assert_eq!(round(&mut record, &well(), 4), ["recovered"]);
}

#[test]
fn a_trouble_that_comes_back_when_its_end_may_have_arrived_is_told_again() {
    let mut record = Record::default();
    assert_eq!(round(&mut record, &dead(1), 1), ["dead-letter"]);
    assert_eq!(failing_round(&mut record, &well(), 2), Some("recovered"));
    assert_eq!(round(&mut record, &dead(1), 3), ["dead-letter"]);
}

#[test]
fn an_alert_keeps_its_id_and_says_what_is_wrong_in_a_sentence() {
    let standing = Standing {
        dead_letters: 1000,
        held: 2,
        ..waiting(0)
    };
    let mut record = Record::default().judged(&standing, at(700), AFTER);
    let mut messages = Vec::new();
    for now in [700, 760] {
        let alert = record.pending().first().copied().expect("an alert");
        let message = Message::new(alert, &standing, at(now), AFTER);
        messages.push(serde_json::to_value(&message).expect("JSON"));
        record = record.begun(alert);
    }
    assert_eq!(messages[0]["id"], messages[1]["id"]);
    let id = messages[1]["id"].as_str().expect("an id").to_owned();
    assert!(id.starts_with("alr_") && id.len() == 30, "{id}");
    assert_eq!(
        messages[1],
        serde_json::json!({
            "version": 1, "alert": "dead-letter", "id": id, "destination": "chat",
            "at": "1970-01-01T00:12:40.000Z", "raised_at": "1970-01-01T00:11:40.000Z", "recovered_at": null,
            "dead_letters": 1000, "waiting": 1, "held": 2, "oldest_waiting_s": 760,
            "text": "chat has a dead letter: no attempt is left, and it waits to be sent again (at least 1000 dead, 1 waiting, 2 held).",
        })
    );
    let later = Alert::Raised(Trouble::DeadLetter, at(701));
    let later = serde_json::to_value(later.id(&standing.destination)).expect("JSON");
    assert_ne!(later, messages[0]["id"], "another time is another alert");
    let dead = record.pending().first().copied().expect("an alert");
    let late = record
        .told(dead)
        .pending()
        .first()
        .copied()
        .expect("the other");
    let text = serde_json::to_value(Message::new(late, &standing, at(700), AFTER)).expect("JSON");
    assert_eq!(
        text["text"],
        "chat is behind: its oldest waiting delivery waits for 11m 40s, over the limit of 10m (at least 1000 dead, 1 waiting, 2 held)."
    );
    assert_ne!(text["id"], messages[0]["id"], "each alert has its own id");
}
