#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| switchboard_fuzzed::configuration::read_whole(input));
