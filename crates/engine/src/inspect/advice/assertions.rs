//! Response Assertions that any response passes, or none.

use drumfire_elements::assertions::response_assertion;
use drumfire_jmx::Value;

use super::sight::AdvisedPlan;
use super::{AdvisedElement, Effect, Rule};
use crate::resolve::Element;

pub const RULES: &[Rule] = &[
    Rule {
        name: "assertion-matches-anything",
        effect: Effect::Misleads,
        finding: "Response Assertions that any response passes",
        reason: "every text matches the pattern, so the assertion looks like a check but checks nothing",
        remedy: "test for a text that only the correct response contains, or remove the assertion",
        find,
    },
    Rule {
        name: "assertion-without-patterns",
        effect: Effect::Misleads,
        finding: "Response Assertions that no response passes",
        reason: "one of the patterns must match, and there is none",
        remedy: "add the patterns, or remove the assertion",
        find: find_impossible,
    },
];

const MATCHES: i32 = 1;
const CONTAINS: i32 = 2;
const NOT: i32 = 4;
const SUBSTRING: i32 = 16;
const OR: i32 = 32;
const PATTERNS: &str = response_assertion::PATTERNS.name;
const NO_PATTERN: &str = "it has no pattern to test";

fn find<'p>(sight: &AdvisedPlan<'p>) -> Vec<AdvisedElement<'p>> {
    sight
        .of(&[response_assertion::CLASS])
        .filter_map(|element| {
            Some(AdvisedElement::with(element, vacuous(element)?).about(PATTERNS))
        })
        .collect()
}

/// With `or`, an assertion without patterns fails (`ResponseAssertion#evaluateResponse`).
fn find_impossible<'p>(sight: &AdvisedPlan<'p>) -> Vec<AdvisedElement<'p>> {
    let assertions = sight.of(&[response_assertion::CLASS]);
    assertions
        .filter(|element| kind_of(element) & OR != 0 && patterns(element).is_empty())
        .map(|element| AdvisedElement::with(element, NO_PATTERN).about(PATTERNS))
        .collect()
}

fn kind_of(element: &Element) -> i32 {
    let kind = response_assertion::TEST_TYPE.name;
    element.props.int(kind, CONTAINS)
}

fn patterns(element: &Element) -> Vec<&str> {
    let texts = element
        .props
        .list(response_assertion::PATTERNS.name)
        .iter()
        .filter_map(|prop| match &prop.value {
            Value::Str(text) => Some(text.as_str()),
            _ => None,
        });
    texts.collect()
}

/// Why any response passes, if it does.
fn vacuous(element: &Element) -> Option<String> {
    let (kind, texts) = (kind_of(element), patterns(element));
    if texts.is_empty() {
        return (kind & OR == 0).then(|| NO_PATTERN.to_owned());
    }
    if kind & NOT != 0 {
        return None;
    }
    let matches_all = |text: &&str| is_in_every_text(text, kind);
    let is_vacuous = if kind & OR != 0 {
        texts.iter().any(matches_all)
    } else {
        texts.iter().all(matches_all)
    };
    is_vacuous.then(|| format!("'{}'", texts.join("', '")))
}

fn is_in_every_text(pattern: &str, kind: i32) -> bool {
    let flags = ["(?s)", "(?m)", "(?i)", "(?sm)", "(?ms)", "(?si)", "(?is)"];
    let bare = flags
        .iter()
        .find_map(|flag| pattern.strip_prefix(flag))
        .unwrap_or(pattern);
    if kind & CONTAINS != 0 {
        matches!(
            bare,
            "" | ".*" | ".*?" | "(.*)" | "(.*?)" | "[\\s\\S]*" | "^.*" | "^"
        )
    } else if kind & MATCHES != 0 {
        // A dot does not match a line end, so '.*' alone does not match every text.
        matches!(bare, "[\\s\\S]*") || (pattern.starts_with("(?s") && matches!(bare, ".*" | "(.*)"))
    } else {
        kind & SUBSTRING != 0 && pattern.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{element, group, rules};

    fn assertion(kind: &str, patterns: &[&str]) -> Vec<String> {
        let texts: String = patterns
            .iter()
            .map(|text| format!(r#"<stringProp name="1">{text}</stringProp>"#))
            .collect();
        let list = format!(
            r#"<collectionProp name="Asserion.test_strings">{texts}</collectionProp></ResponseAssertion>"#
        );
        let props = [("Assertion.test_type", kind)];
        let xml = element("ResponseAssertion", "a", &props, "").replacen(
            "</ResponseAssertion>",
            &list,
            1,
        );
        rules(&group(&xml))
    }

    #[test]
    fn patterns_that_are_in_every_text() {
        for (kind, pattern) in [
            ("2", ".*"),
            ("2", ""),
            ("2", "(?s).*"),
            ("16", ""),
            ("1", "(?s).*"),
        ] {
            let found = assertion(kind, &[pattern]);
            assert_eq!(
                found,
                [format!("assertion-matches-anything: a ('{pattern}')")]
            );
        }
        assert_eq!(
            assertion("2", &[]),
            ["assertion-matches-anything: a (it has no pattern to test)"]
        );
        for kind in ["34", "38"] {
            assert_eq!(
                assertion(kind, &[]),
                ["assertion-without-patterns: a (it has no pattern to test)"]
            );
        }
        assert_eq!(assertion("6", &[]).len(), 1, "it passes, too");
        assert_eq!(
            assertion("34", &["yes", ".*"]).len(),
            1,
            "one of them is enough"
        );
    }

    #[test]
    fn patterns_that_some_texts_lack() {
        for (kind, pattern) in [
            ("2", "yes"),
            ("2", ".+"),
            ("1", ".*"),
            ("6", ".*"),
            ("8", ""),
            ("16", "x"),
            ("2", "^$"),
        ] {
            assert_eq!(assertion(kind, &[pattern]), [""; 0], "{kind} {pattern}");
        }
        assert_eq!(assertion("2", &["yes", ".*"]), [""; 0]);
    }
}
