#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| switchboard_fuzzed::operators::sign_in(input));
