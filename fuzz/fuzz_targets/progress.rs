#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| switchboard_fuzzed::places::progress(input));
