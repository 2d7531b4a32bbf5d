//! Any pattern on any text, by the rules of both engines: the first line is the pattern, the rest the text.
#![no_main]

use drumfire_query::regex::{Dialect, Pattern, RegexOptions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    let (pattern, text) = input.split_once('\n').unwrap_or((input, "some text 123"));
    for dialect in [Dialect::Oro, Dialect::Java] {
        match Pattern::compile(pattern, dialect, RegexOptions::default()) {
            Ok(compiled) => {
                let found = compiled.captures_iter(text).count();
                assert!(
                    found == 0 || compiled.is_match(text),
                    "what is found matches"
                );
                let _ = compiled.full_match(text);
            }
            Err(error) => {
                let _ = error.exception_text(pattern, dialect);
            }
        }
    }
});
