//! What the page's scripts decide, told by their own code in Node: bodies set out, times, addresses, what is asked of the
//! server and how often, and how a destination does.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/status/page");
const STORIES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scripts");

/// The page's scripts where Node takes them for modules, which the folder they live in does not tell it.
fn scripts(story: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("page-{story}"));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("package.json"), r#"{"type":"module"}"#).expect("written");
    for entry in std::fs::read_dir(PAGE).expect("the page") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|end| end == "js") {
            let name = path.file_name().expect("a name");
            std::fs::copy(&path, folder.join(name)).expect("copied");
        }
    }
    folder
}

/// Tells the story in `FILE.mjs`; it ends well when all of it holds.
fn tell(file: &str, story: &str, zone: &str) {
    let ended = Command::new("node")
        .arg(Path::new(STORIES).join(format!("{file}.mjs")))
        .arg(scripts(&format!("{file}-{story}")))
        .arg(story)
        .env("TZ", zone)
        .output()
        .expect("node; this brings it: sudo apt-get install -y nodejs");
    let complaint = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{complaint}");
    let said = String::from_utf8_lossy(&ended.stdout);
    assert_eq!(said.trim(), format!("{story}: told"));
}

#[test]
fn a_json_body_is_set_out_with_every_value_as_it_came() {
    tell("printing", "values", "UTC");
}

#[test]
fn what_is_no_json_is_not_taken_for_it() {
    tell("printing", "others", "UTC");
}

#[test]
fn of_a_long_body_only_the_beginning_is_set_out() {
    tell("printing", "long", "UTC");
}

#[test]
fn bytes_are_shown_in_hex_and_told_from_text() {
    tell("printing", "bytes", "UTC");
}

#[test]
fn times_stand_in_the_viewers_zone_with_their_distance_to_utc() {
    for zone in [
        "Pacific/Kiritimati",
        "Pacific/Pago_Pago",
        "Europe/Berlin",
        "Asia/Kathmandu",
    ] {
        tell("time", "zones", zone);
    }
}

#[test]
fn ages_follow_the_servers_clock_and_not_the_viewers() {
    tell("time", "ages", "Asia/Kathmandu");
}

#[test]
fn an_address_leads_to_what_it_was_made_of() {
    tell("places", "there and back", "UTC");
}

#[test]
fn what_did_not_change_is_asked_for_by_its_etag() {
    tell("server", "unchanged", "UTC");
}

#[test]
fn a_change_carries_the_header_that_no_other_page_can_send() {
    tell("server", "changes", "UTC");
}

#[test]
fn a_failure_is_told_by_the_detail_of_its_problem() {
    tell("server", "problems", "UTC");
}

#[test]
fn lists_are_read_when_what_they_hang_on_moved_and_now_and_then() {
    tell("lists", "due", "UTC");
}

#[test]
fn a_destination_is_failing_late_held_fine_or_quiet() {
    tell("condition", "words", "UTC");
}

#[test]
fn a_success_rate_is_never_whole_while_anything_failed() {
    tell("condition", "rates", "UTC");
}

#[test]
fn the_drawn_switchboard_holds_every_route_and_your_endpoint() {
    tell("switchboard", "plan", "UTC");
}

#[test]
fn what_a_text_hides_is_made_visible_and_long_ones_are_cut() {
    tell("text", "hidden", "UTC");
}

#[test]
fn the_line_that_checks_a_captured_request_names_what_the_scheme_signs_with() {
    tell("refused", "line", "UTC");
}

#[test]
fn a_redrive_in_calls_ends_when_what_was_there_at_first_has_moved() {
    tell("redrive", "calls", "UTC");
}

#[test]
fn a_replay_that_is_cut_goes_on_as_the_same_one() {
    tell("replay", "cut anywhere", "UTC");
}

#[test]
fn a_count_says_until_when_it_counted() {
    tell("replay", "counted", "UTC");
}

#[test]
fn what_was_cut_goes_on_from_its_panel_at_the_same_pace() {
    tell("progress", "cut", "UTC");
}

#[test]
fn what_was_stopped_goes_on_at_the_same_pace() {
    tell("progress", "stopped", "UTC");
}

#[test]
fn the_page_is_kept_only_for_what_can_go_on() {
    tell("progress", "refused", "UTC");
}

#[test]
fn a_release_is_asked_for_once() {
    tell("replay", "release", "UTC");
}

#[test]
fn named_dead_letters_go_in_calls_that_the_server_takes() {
    tell("redrive", "named", "UTC");
}
