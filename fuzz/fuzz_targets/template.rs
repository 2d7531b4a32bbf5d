//! A text with `${…}` compiles or says why not; what only computes is evaluated as well.
#![no_main]

use drumfire_expr::{Compiler, Properties, Template};
use libfuzzer_sys::fuzz_target;

/// Functions that read or write files, run something, wait, or make texts as long as they are told to.
const NOT_EVALUATED: [&str; 12] = [
    "__BeanShell",
    "__CSVRead",
    "__FileToString",
    "__RandomString",
    "__StringFromFile",
    "__StringToFile",
    "__XPath",
    "__groovy",
    "__javaScript",
    "__jexl2",
    "__jexl3",
    "__strReplaceRegex",
];

fuzz_target!(|text: &str| {
    let mut compiler = Compiler::new(Properties::new());
    compiler.define("a", "value of a");
    compiler.define("list_1", "x");
    match Template::compile(text, &mut compiler) {
        Ok(template) => {
            let functions = template.functions();
            if !functions.iter().any(|spec| NOT_EVALUATED.contains(&spec.name)) {
                let _ = template.eval(compiler.scope_mut());
            }
        }
        Err(fault) => {
            assert!(text.get(fault.span).is_some(), "the span is within the text");
        }
    }
});
