//! Scripts that cost more than they need to.

use drumfire_elements::assertions::bean_shell_assertion;
use drumfire_elements::samplers::bean_shell_sampler;
use drumfire_elements::shared;

use super::references::{changes, is_call, references};
use super::sight::{AdvisedPlan, PropertyText, script};
use super::{AdvisedElement, Effect, Rule};
use crate::resolve::Element;

pub const RULES: &[Rule] = &[
    Rule {
        name: "beanshell",
        effect: Effect::Costs,
        finding: "BeanShell scripts",
        reason: "BeanShell has no compiler: each run of the script parses and interprets its text, and meanwhile the other virtual users on its core wait",
        remedy: "use JSR223 with Groovy and a cached script, which needs few changes to the text; functions such as ${__intSum()} or ${__jexl3()} need no script at all",
        find: beanshell,
    },
    Rule {
        name: "script-uncached",
        effect: Effect::Costs,
        finding: "scripts that are compiled again for each sample",
        reason: "'Cache compiled script if available' is off, and compiling costs about a thousand times what running a short script does",
        remedy: "switch 'Cache compiled script if available' on",
        find: uncached,
    },
    Rule {
        name: "script-with-references",
        effect: Effect::Costs,
        finding: "scripts with ${…} in their text",
        reason: "each new value makes a new text, which is compiled and kept as a separate class; a value that contains a quote or a line end breaks the script",
        remedy: "read the variable in the script with vars.get(\"name\"), or pass it under Parameters",
        find: with_references,
    },
];

fn beanshell<'p>(sight: &AdvisedPlan<'p>) -> Vec<AdvisedElement<'p>> {
    let mut found = Vec::new();
    for (element, texts) in sight.with_texts() {
        if is_beanshell(element) || is_jsr223_in(element, &["beanshell", "bsh"]) {
            found.push(AdvisedElement::new(element));
        } else if let Some(text) = texts.iter().find(|text| calls(&[**text], "__BeanShell(")) {
            found.push(AdvisedElement::with(element, "${__BeanShell()}").about(text.path()));
        }
    }
    found
}

fn uncached<'p>(sight: &AdvisedPlan<'p>) -> Vec<AdvisedElement<'p>> {
    sight
        .all
        .iter()
        .filter(|element| is_jsr223(element))
        .filter(|element| element.props.str(shared::script::CACHE.name) == "false")
        .filter(|element| !is_jsr223_in(element, &["beanshell", "bsh"]))
        // JSR223TestElement caches a file by its name and date, whatever the setting.
        .filter(|element| {
            script(element).is_some_and(|script| !script.is_file && !script.text.trim().is_empty())
        })
        .map(|element| AdvisedElement::new(element).about(shared::script::CACHE.name))
        .collect()
}

fn with_references<'p>(sight: &AdvisedPlan<'p>) -> Vec<AdvisedElement<'p>> {
    let mut found = Vec::new();
    for (element, texts) in sight.with_texts() {
        if let Some(script) = script(element) {
            let is_compiled = is_jsr223(element) && !script.is_file;
            if is_compiled && changes(&script.text) {
                let told = AdvisedElement::with(element, listed(&script.text));
                found.push(told.about(script.property));
            }
            continue;
        }
        let calls = texts.iter().filter(|text| text.refers);
        let calls = calls.flat_map(|text| references(text.text));
        let groovy = calls.filter(|call| call.starts_with("__groovy("));
        for call in groovy.filter(|call| changes(call)) {
            found.push(AdvisedElement::with(element, format!("${{{call}}}")));
        }
    }
    found
}

/// The first references of a script.
fn listed(text: &str) -> String {
    const MOST: usize = 3;
    let mut names: Vec<String> = Vec::new();
    for reference in references(text)
        .iter()
        .filter(|reference| changes(&format!("${{{reference}}}")))
    {
        let name = if is_call(reference) {
            format!("${{{}…}}", reference.split('(').next().unwrap_or_default())
        } else {
            format!("${{{reference}}}")
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.len() > MOST {
        let more = names.len() - MOST;
        names.truncate(MOST);
        names.push(format!("{more} more"));
    }
    names.join(", ")
}

/// Whether an element is a script whose language it names, with a cache.
fn is_jsr223(element: &Element) -> bool {
    has_script_field(element, shared::script::CACHE.name)
}

/// Whether an element is a script in BeanShell: it alone keeps its interpreter.
fn is_beanshell(element: &Element) -> bool {
    let resets = [
        shared::script::RESET.name,
        bean_shell_sampler::RESET_INTERPRETER.name,
        bean_shell_assertion::RESET_INTERPRETER.name,
    ];
    resets.iter().any(|reset| has_script_field(element, reset))
}

fn has_script_field(element: &Element, name: &str) -> bool {
    let facts = drumfire_elements::of_class(&element.class).filter(|facts| facts.is_script());
    facts.is_some_and(|facts| facts.property(name, name).is_some())
}

fn is_jsr223_in(element: &Element, languages: &[&str]) -> bool {
    is_jsr223(element) && {
        let language = element
            .props
            .str(shared::script::JSR223_LANGUAGE.name)
            .to_ascii_lowercase();
        languages.contains(&language.as_str())
    }
}

fn calls(texts: &[PropertyText], function: &str) -> bool {
    texts.iter().filter(|text| text.refers).any(|text| {
        let mut calls = references(text.text).into_iter();
        calls.any(|call| call.starts_with(function))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{element, group, rules};

    fn jsr223(language: &str, cache: &str, text: &str) -> String {
        let props = [
            ("scriptLanguage", language),
            ("cacheKey", cache),
            ("script", text),
        ];
        rules(&group(&element("JSR223Sampler", "s", &props, ""))).join("\n")
    }

    #[test]
    fn beanshell_in_all_its_places() {
        let wait = |text| {
            element(
                "ConstantTimer",
                "wait",
                &[("ConstantTimer.delay", text)],
                "",
            )
        };
        let elements = [
            element("BeanShellTimer", "old", &[("script", "1")], ""),
            wait("${__BeanShell(1)}"),
            wait("${__intSum(1,2)}"),
        ];
        assert_eq!(
            rules(&group(&elements.concat())),
            ["beanshell: old; wait (${__BeanShell()})"]
        );
        assert_eq!(jsr223("beanshell", "false", "1"), "beanshell: s");
    }

    #[test]
    fn only_a_text_that_is_not_cached_is_compiled_each_time() {
        assert_eq!(jsr223("groovy", "false", "1"), "script-uncached: s");
        assert_eq!(jsr223("groovy", "true", "1"), "");
        // Since JMeter 5 only "false" switches it off.
        assert_eq!(jsr223("groovy", "", "1"), "");
        assert_eq!(jsr223("groovy", "false", ""), "");
    }

    #[test]
    fn references_that_change_make_new_texts() {
        let found = jsr223(
            "groovy",
            "true",
            "x = '${a}${a}${__time()}${__UUID}${b}' + ${__P(n)}",
        );
        assert_eq!(
            found,
            "script-with-references: s (${a}, ${__time…}, ${__UUID…}, 1 more)"
        );
        assert_eq!(jsr223("groovy", "true", "vars.get('a') + ${__P(n)}"), "");
        let condition = |text| {
            rules(&group(&element(
                "IfController",
                "if",
                &[("IfController.condition", text)],
                "",
            )))
        };
        assert_eq!(
            condition("${__groovy(${a} > 1)}"),
            [
                "variable-never-set: if (${a})",
                "script-with-references: if (${__groovy(${a} > 1)})"
            ]
        );
        assert_eq!(condition("${__groovy(vars.get('a') == 'x')}"), [""; 0]);
    }
}
