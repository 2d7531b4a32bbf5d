//! A condition in JavaScript, and a JEXL script of both versions, run unless it loops.
#![no_main]

use drumfire_expr::jexl::{Dialect, Script};
use drumfire_expr::{Compiler, Properties, js_condition};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = js_condition::holds(text);
    let _ = js_condition::eval(text);
    let mut compiler = Compiler::new(Properties::new());
    compiler.define("a", "1");
    for dialect in [Dialect::Jexl2, Dialect::Jexl3] {
        if let Ok(script) = Script::compile(text, dialect) {
            // A loop may be without an end, as its author wants it.
            if !["while", "for"].iter().any(|word| text.contains(word)) {
                let _ = script.eval(compiler.scope_mut());
            }
        }
    }
});
