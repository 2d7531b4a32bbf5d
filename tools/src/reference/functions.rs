//! Generates the page of functions from the function table.

use std::fmt::Write as _;

use drumfire_expr::{FunctionOrigin, FunctionRung, FunctionSpec, functions};

const HEAD: &str = "\
# Functions

<!-- Made by `cargo xtask gen` from crates/expr/src/functions/table.rs. -->

A function is written `${__name(first,second)}` wherever a plan has a text; a comma in an argument is written `\\,`. Arguments
in brackets may be left out. 'Variable for the result' is the name of a variable that gets the result, too.

Functions are evaluated whenever the text that holds them is read, as in JMeter with `function.cache.per.iteration=false`,
its default.
";

/// Generates the page.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    for (title, origin) in [
        ("JMeter's own", FunctionOrigin::Core),
        ("Of plugins", FunctionOrigin::Plugin),
    ] {
        let _ = write!(page, "\n## {title}\n");
        if origin == FunctionOrigin::Plugin {
            page.push_str("\nThey need no plugin here.\n");
        }
        let mut all: Vec<_> = functions()
            .iter()
            .filter(|spec| spec.origin == origin)
            .collect();
        all.sort_by_key(|spec| spec.name.to_lowercase());
        all.iter().for_each(|spec| section(spec, &mut page));
    }
    page
}

fn section(spec: &FunctionSpec, page: &mut String) {
    let _ = write!(page, "\n### {}\n\n{}\n", spec.name, spec.doc);
    let usage = spec.usage();
    let usage = usage.strip_suffix("()").unwrap_or(&usage);
    let more = if spec.max.is_none() {
        " The last argument may be repeated."
    } else {
        ""
    };
    let _ = write!(page, "\n`${{{usage}}}`{more}\n");
    if spec.rung() == FunctionRung::Jvm {
        page.push_str("\nNeeds a JVM.\n");
    }
    if !spec.differs.is_empty() {
        let _ = write!(page, "\nDifferent from JMeter: {}\n", spec.differs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_shown_with_its_arguments() {
        let page = page();
        assert!(page.contains(
            "### __P\n\nA property's value, or the default, or 1.\n\n`${__P(name of the property[, default value])}`\n"
        ));
        assert!(page.contains("`${__threadNum}`\n"));
    }
}
