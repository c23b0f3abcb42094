//! The list of all checks, from which a backend makes its tests.

/// Makes a test of every check, on the fixture that the expression makes anew for each of them:
/// `switchboard_testkit::conformance!(Embedded::new());` in a file of the backend's `tests` folder.
/// The caller's crate needs tokio with its macros and its runtime of many threads.
#[macro_export]
macro_rules! conformance {
    ($fixture:expr) => {
        $crate::conformance! { @tests $fixture,
            ledger_accept: [
                an_event_is_new_once_and_a_repeat_from_then_on,
                a_repeat_with_another_body_is_told_and_the_first_stays,
                fifty_at_once_are_one_new_event_and_forty_nine_repeats,
                fifty_different_events_at_once_are_all_new,
                every_delivery_of_the_plan_waits_for_its_own_due_time,
                a_long_plan_is_stored_whole,
                an_event_that_no_route_names_is_stored_and_counted_unrouted,
                a_copy_to_your_endpoint_is_no_route,
                a_repeat_does_not_change_the_plan,
                a_repeat_moves_no_delivery,
                the_same_id_of_another_source_or_scope_is_another_event,
                different_ids_with_the_same_body_are_different_events,
                ids_that_differ_only_in_separators_never_meet,
            ],
            ledger_bytes: [
                bodies_come_back_byte_for_byte,
                kinds_come_back_byte_for_byte,
                senders_ids_and_their_scopes_come_back_byte_for_byte,
                headers_come_back_byte_for_byte_and_in_order,
                every_attempt_carries_what_the_first_did,
            ],
            ledger_begin: [
                a_due_delivery_may_be_attempted,
                before_its_due_time_it_is_later,
                a_hint_for_another_due_time_is_dropped,
                a_hint_for_an_unknown_delivery_is_dropped,
                a_hint_for_a_delivery_that_does_not_wait_is_dropped,
                numbers_run_on_over_failures_and_old_hints_are_dropped,
                after_a_redrive_numbers_run_on_and_the_round_begins_anew,
                after_a_release_numbers_and_round_run_on,
                beginning_changes_nothing,
            ],
            ledger_record: [
                a_failure_waits_for_its_due_time,
                a_success_is_delivered,
                the_last_failure_of_a_round_makes_a_dead_letter,
                the_same_attempt_recorded_again_is_stale,
                a_failure_of_an_older_attempt_is_stale,
                of_twenty_records_at_once_one_is_the_first,
                the_last_twelve_attempts_are_kept,
                an_attempt_under_way_while_its_delivery_was_held_is_kept,
                one_delivery_moves_alone,
            ],
            ledger_delivered: [
                a_late_success_takes_no_new_number_and_both_are_in_the_log,
                a_success_of_an_older_attempt_counts_too,
                a_success_wins_over_every_other_state,
                nothing_moves_a_delivered_one_back,
                failures_and_successes_at_once_end_delivered,
            ],
            ledger_redrive: [
                redriving_all_moves_every_dead_letter_and_nothing_else,
                redriving_a_destination_moves_only_its_dead_letters,
                redriving_a_list_moves_what_of_it_is_dead,
                redriven_deliveries_are_spread_over_time,
                a_redrive_moves_at_most_its_limit_and_says_what_is_left,
                a_redrive_made_twice_is_made_once,
                redrives_at_once_move_each_dead_letter_once,
                each_redrive_gives_six_further_attempts_under_the_same_key,
                a_buried_delivery_can_be_redriven,
            ],
            ledger_hold: [
                what_is_due_of_a_held_destination_is_held,
                what_comes_for_a_held_destination_is_not_attempted_and_waits_for_the_release,
                shelving_moves_at_most_its_limit_and_says_what_is_left,
                a_release_keeps_the_round_and_the_log,
                a_release_moves_only_what_is_held_of_its_destination,
                a_release_is_as_fast_as_was_asked_for_in_every_step,
                a_release_that_was_cut_goes_on_as_fast_as_was_asked_for,
                a_release_goes_on_behind_what_an_earlier_one_put_back,
                nothing_is_put_back_of_a_destination_that_is_held_again,
                recovery_releases_what_is_held_of_destinations_not_held_now,
                recovery_goes_in_steps_of_at_most_its_limit,
                recovery_of_nothing_changes_nothing,
            ],
            ledger_bury: [
                what_is_open_becomes_dead_with_its_reason_and_no_attempt,
                every_reason_is_kept_and_told,
                only_what_is_open_of_that_destination_is_buried,
                copies_are_not_buried_once_your_endpoint_is_set_again,
                an_attempt_under_way_when_its_delivery_is_buried_is_kept,
                the_last_attempt_of_the_round_before_a_redrive_does_not_end_the_new_one,
                burying_moves_at_most_its_limit_and_says_what_is_left,
            ],
            ledger_replay: [
                a_replay_gives_new_deliveries_by_its_own_plan,
                a_run_that_is_stored_changes_nothing,
                an_unknown_event_cannot_be_replayed,
                every_run_has_its_own_deliveries,
                of_many_runs_the_newest_deliveries_are_shown_and_all_are_counted,
                the_same_run_at_once_is_stored_once,
                an_event_that_no_route_named_can_be_replayed,
                a_run_may_have_any_number_and_several_are_stored_at_once,
            ],
            ledger_life: [
                an_event_past_its_life_counts_as_not_stored,
                the_event_that_took_its_place_is_the_one_repeated,
                repeats_do_not_lengthen_a_life,
                a_dead_letter_keeps_its_event_ninety_days_more,
                whether_expiry_came_by_makes_no_difference,
                an_event_that_expiry_removed_is_new_when_it_comes_again,
            ],
            ledger_expire: [
                a_delivered_event_goes_at_the_end_of_its_life_and_not_before,
                an_event_that_no_route_names_goes_too,
                an_event_with_a_waiting_delivery_stays_until_that_is_done,
                dead_letters_keep_their_event_ninety_days_more,
                held_deliveries_keep_their_event_as_long_as_they_are_held,
                expiry_goes_in_steps_of_at_most_its_limit,
                events_that_stay_do_not_stand_in_the_way_of_those_that_go,
                expiry_takes_nothing_off_the_totals,
            ],
            ledger_stopped: [
                an_accept_given_up_and_called_again_stores_once,
                a_record_given_up_and_called_again_is_kept_once,
                a_requeue_given_up_and_called_again_loses_nothing,
                shelving_and_recovery_given_up_and_called_again_lose_nothing,
                a_burial_given_up_and_called_again_buries_once,
                a_replay_given_up_and_called_again_is_stored_once,
                expiry_given_up_and_called_again_takes_only_what_may_go,
                a_change_given_up_and_called_again_is_made_once,
                a_note_given_up_breaks_nothing,
            ],
            model: [
                the_first_random_walk_agrees_with_the_model,
                the_second_random_walk_agrees_with_the_model,
                the_third_random_walk_agrees_with_the_model,
            ],
            journal: [
                refused_requests_are_counted_with_and_without_a_listing,
                refusals_are_listed_in_full_and_newest_first,
                a_flood_of_refusals_is_counted_exactly_and_listed_in_bounds,
                a_flood_of_declined_is_counted_exactly_and_listed_in_bounds,
                declined_requests_are_counted_by_source_and_cause,
                declined_requests_are_listed_apart_and_newest_first,
                notes_at_once_are_all_counted,
            ],
            alerts: [
                nothing_stands_and_nothing_is_kept_at_first,
                what_was_not_attempted_waits_since_it_was_due,
                what_was_attempted_waits_since_its_event_was_received,
                a_redriven_one_waits_since_it_was_due_and_is_told_of,
                a_replayed_one_waits_since_it_was_due_like_one_that_is_redriven,
                dead_letters_are_counted_while_they_are_kept,
                what_is_held_does_not_wait,
                what_is_kept_of_an_alert_survives_and_is_replaced_whole,
            ],
            settings: [
                nothing_is_set_at_first,
                every_change_stands_as_the_core_says,
                every_change_survives_reopening,
                the_same_change_twice_is_the_change_once,
                changes_made_at_once_all_stand,
                of_two_fresh_secrets_at_once_one_stands,
                more_sign_outs_than_are_kept_all_stand,
                a_change_moves_no_delivery,
            ],
            views_events: [
                events_are_listed_newest_first,
                a_row_tells_what_its_event_is,
                events_are_found_by_source_and_by_senders_id,
                a_search_takes_every_character_as_itself,
                a_search_for_much_too_much_finds_nothing,
                an_unknown_event_has_no_view,
                an_event_is_seen_whole_with_its_deliveries,
                an_event_comes_back_as_it_was_stored,
                dead_letters_are_listed_newest_first,
            ],
            replays: [
                each_event_that_is_found_gets_one_further_run,
                a_replay_of_many_takes_calls_and_leaves_out_what_comes_meanwhile,
            ],
            views_search: [
                events_are_found_by_kind_byte_for_byte,
                events_are_found_by_state_and_destination,
                what_a_replay_planned_is_found_too,
                events_are_found_by_time,
                all_of_a_search_has_to_apply,
                a_page_says_how_far_it_looked,
                a_search_that_no_index_answers_looks_at_so_many_for_a_page,
            ],
            views_dead: [
                dead_letters_are_listed_by_destination,
                dead_letters_are_grouped_by_destination_and_reason,
            ],
            views_recent: [
                a_backend_that_holds_nothing_had_a_quiet_hour,
                each_minute_has_what_happened_in_it,
                an_attempt_belongs_to_the_minute_in_which_it_ended,
                what_is_more_than_an_hour_ago_or_to_come_is_not_counted,
                a_destinations_attempts_and_answer_times_are_its_own,
                an_attempt_that_is_recorded_twice_counts_once,
                the_last_failure_is_told_however_long_ago,
                when_something_last_came_from_a_source_is_told,
                the_oldest_that_waits_is_told_where_it_is_known,
                the_hour_survives_reopening,
            ],
            views_pages: [
                pages_of_events_stay_whole_while_new_ones_come_in,
                pages_of_a_search_stay_whole_while_new_ones_come_in,
                pages_of_what_no_index_finds_stay_whole_while_new_ones_come_in,
                pages_of_a_span_of_time_stay_whole_while_new_ones_come_in,
                pages_of_one_destinations_dead_letters_stay_whole_while_new_ones_come_in,
                pages_of_dead_letters_stay_whole_while_new_ones_come_in,
                pages_of_refusals_stay_whole_while_new_ones_come_in,
                pages_of_declined_stay_whole_while_new_ones_come_in,
                a_list_is_the_same_in_pages_of_any_size,
                a_list_of_nothing_is_one_page,
                a_cursor_of_no_page_does_no_harm,
                behind_a_cursor_that_cannot_be_read_there_is_nothing,
            ],
            views_overview: [
                a_backend_that_holds_nothing_counts_nothing,
                the_totals_are_counted_by_source_and_destination,
                the_same_destination_for_two_actions_counts_twice,
                a_store_that_can_take_events_is_ready,
            ],
            reopening: [
                every_event_and_delivery_is_still_there,
                the_totals_are_still_the_same,
                the_journal_is_still_listed,
                what_waited_goes_on_where_it_was,
                a_repeat_is_still_one_and_a_run_still_stored,
                lives_end_when_they_would_have,
                what_is_held_can_still_be_released_and_recovered,
            ],
        }
    };
    (@tests $fixture:expr, $($module:ident: [$($check:ident,)*],)*) => {
        $(
            mod $module {
                use super::*;

                $(
                    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
                    async fn $check() {
                        $crate::suite::$module::$check($fixture).await;
                    }
                )*
            }
        )*
    };
}

/// The same for what keeps a deployed Switchboard's configuration:
/// `switchboard_testkit::configuration_conformance!(Kept::new());`
#[macro_export]
macro_rules! configuration_conformance {
    ($fixture:expr) => {
        $crate::conformance! { @tests $fixture,
            configuration: [
                nothing_stands_before_the_first,
                the_first_is_1_and_each_replacement_is_one_more,
                what_stands_comes_back_byte_for_byte,
                what_stands_survives_reopening,
                another_version_than_the_one_seen_replaces_nothing,
                the_same_call_twice_is_once,
                a_call_made_again_after_another_replaced_it_changes_nothing,
                of_several_at_once_one_replaces_and_the_others_are_told,
                the_same_call_several_times_at_once_is_once,
            ],
        }
    };
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_check_is_in_the_list() {
        let list = include_str!("list.rs");
        let modules = [
            include_str!("ledger_accept.rs"),
            include_str!("ledger_bytes.rs"),
            include_str!("ledger_begin.rs"),
            include_str!("ledger_record.rs"),
            include_str!("ledger_delivered.rs"),
            include_str!("ledger_redrive.rs"),
            include_str!("ledger_hold.rs"),
            include_str!("ledger_bury.rs"),
            include_str!("ledger_replay.rs"),
            include_str!("ledger_life.rs"),
            include_str!("ledger_expire.rs"),
            include_str!("ledger_stopped.rs"),
            include_str!("model/mod.rs"),
            include_str!("journal.rs"),
            include_str!("alerts.rs"),
            include_str!("settings.rs"),
            include_str!("views_events.rs"),
            include_str!("views_search.rs"),
            include_str!("replays.rs"),
            include_str!("views_dead.rs"),
            include_str!("views_recent.rs"),
            include_str!("views_pages.rs"),
            include_str!("views_overview.rs"),
            include_str!("reopening.rs"),
            include_str!("configuration.rs"),
        ];
        for line in modules.iter().flat_map(|module| module.lines()) {
            let Some(rest) = line.strip_prefix("pub async fn ") else {
                continue;
            };
            let name = rest.split('<').next().expect("a name");
            assert!(list.contains(&format!(" {name},\n")), "{name} is not run");
        }
        for line in include_str!("mod.rs").lines() {
            let module = line
                .strip_prefix("pub mod ")
                .and_then(|rest| rest.strip_suffix(';'));
            for module in module.into_iter().filter(|module| *module != "fixture") {
                assert!(
                    list.contains(&format!(" {module}: [\n")),
                    "{module} is not run"
                );
            }
        }
    }
}
