//! Variables that are read but never set, and extractors whose variables are never read.

use std::collections::{BTreeSet, HashMap};

use super::references::{Words, between_variables, is_call, references, variables};
use super::sight::{AdvisedPlan, PropertyText, SCRIPT_TEXTS, script};
use super::{AdvisedElement, Effect, Rule};
use crate::resolve::Element;

pub const RULES: &[Rule] = &[
    Rule {
        name: "variable-never-set",
        effect: Effect::Misleads,
        finding: "variables that are read and never set",
        reason: "nothing in the plan sets them, so ${name} is sent as it is written",
        remedy: "check the spelling; set it in User Defined Variables, a CSV Data Set or an extractor; for a property write ${__P(name)}",
        find: never_set,
    },
    Rule {
        name: "extractor-unread",
        effect: Effect::Costs,
        finding: "extractors whose result nothing reads",
        reason: "each sample keeps and searches the whole response for nothing",
        remedy: "disable the extractor, or check the spelling where its variable should be read",
        find: unread,
    },
];

/// Elements whose texts name variables only by `${…}`.
const PLAIN_TEXTS: &[&str] = &[
    "HTTPSamplerProxy",
    "HeaderManager",
    "ResponseAssertion",
    "ConfigTestElement",
    "ThreadGroup",
    "IfController",
    "WhileController",
    "LoopController",
    "TransactionController",
    "GenericController",
    "ConstantTimer",
    "ConstantThroughputTimer",
];

/// Prefixes of the variables that JMeter itself sets.
const OWN: &[&str] = &["START.", "TESTSTART.", "JMeterThread.", "__jm", "COOKIE_"];

fn never_set<'p>(sight: &AdvisedPlan<'p>) -> Vec<AdvisedElement<'p>> {
    if sight
        .with_texts()
        .any(|(element, texts)| sets_anything(element, texts, sight))
    {
        return Vec::new();
    }
    let set = set_texts(sight);
    let mut known: HashMap<&str, bool> = HashMap::new();
    let mut found = Vec::new();
    for (element, texts) in sight.with_texts() {
        // The run does not use the Test Plan's name.
        let own = (element.class != "TestPlan").then_some(&*element.name);
        // `${name}` in a script may be a variable of its own language.
        let texts = texts.iter().filter(|text| text.refers);
        let texts = texts.filter(|text| !SCRIPT_TEXTS.contains(&text.name));
        let read = own.into_iter().chain(texts.map(|text| text.text));
        let mut missing = BTreeSet::new();
        for name in read.flat_map(variables) {
            let is_known = known.entry(name).or_insert_with(|| {
                OWN.iter().any(|own| name.starts_with(own)) || is_set(name, &set)
            });
            if !*is_known {
                missing.insert(name);
            }
        }
        if !missing.is_empty() {
            let names: Vec<String> = missing.iter().map(|name| format!("${{{name}}}")).collect();
            found.push(AdvisedElement::with(element, names.join(", ")));
        }
    }
    found
}

/// Whether an element may set variables whose names cannot be known here.
fn sets_anything(element: &Element, texts: &[PropertyText], sight: &AdvisedPlan) -> bool {
    if let Some(script) = script(element) {
        return script.is_file || has_computed_name(&script.text, &["put", "putObject"]);
    }
    match element.class.as_str() {
        // Without names here, the first line of the file has them.
        "CSVDataSet" => sight
            .known(&element.props, "variableNames")
            .is_none_or(|names| names.trim().is_empty()),
        "RegExUserParameters" | "JavaSampler" => true,
        // Variables whose names are computed at run time.
        class => {
            let names_one = |name: &str| name == "VAR" || name.to_ascii_lowercase().contains("ref");
            let mut computed = texts.iter().filter(|text| text.refers);
            computed.any(|text| names_one(text.name)) || crate::elements::entry(class).is_none()
        }
    }
}

/// Whether a script may use variables other than by literal names in these calls.
fn has_computed_name(script: &str, calls: &[&str]) -> bool {
    let mut rest = script;
    while let Some(at) = rest.find("vars") {
        let before = rest[..at].chars().next_back();
        rest = &rest[at + "vars".len()..];
        if before.is_some_and(|sign| sign.is_alphanumeric() || sign == '_' || sign == '.') {
            continue;
        }
        let Some(call) = rest.trim_start().strip_prefix('.') else {
            return true;
        };
        let name: String = call
            .chars()
            .take_while(|sign| sign.is_alphanumeric())
            .collect();
        let known = ["get", "put", "getObject", "putObject", "remove"];
        if !known.contains(&name.as_str()) {
            return true;
        }
        if calls.contains(&name.as_str()) && !is_literal(&call[name.len()..]) {
            return true;
        }
    }
    script.contains("getVariables(") || script.contains("setVariables(")
}

/// Whether the first argument of a call is a plain string literal. `arguments` starts at the parenthesis.
fn is_literal(arguments: &str) -> bool {
    let Some(text) = arguments
        .trim_start()
        .strip_prefix('(')
        .map(str::trim_start)
    else {
        return false;
    };
    let Some(quote) = text
        .chars()
        .next()
        .filter(|sign| matches!(sign, '"' | '\''))
    else {
        return false;
    };
    let Some(end) = text[1..].find(quote) else {
        return false;
    };
    let after = text[1 + end + 1..].trim_start();
    !text[1..=end].contains('$') && after.starts_with([',', ')'])
}

/// All texts that may name a variable which an element sets.
fn set_texts<'s>(sight: &'s AdvisedPlan<'_>) -> Words<'s> {
    let mut found = Words::default();
    for (element, texts) in sight.with_texts() {
        let is_plain = PLAIN_TEXTS.contains(&element.class.as_str());
        for text in texts {
            match (is_plain, text.refers) {
                (true, false) => {}
                (true, true) => {
                    let calls = references(text.text).into_iter();
                    let calls = calls.filter(|call| is_call(call));
                    found.extend(calls.flat_map(between_variables));
                }
                (false, false) => found.add(text.text),
                (false, true) => found.extend(between_variables(text.text)),
            }
        }
    }
    found.extend(sight.sample_variables());
    found
}

/// Whether a text in `set` names the variable, or the one that it is a part of (`name_1`, `name_matchNr`, `name_1_g1`).
fn is_set(name: &str, set: &Words) -> bool {
    let mut base = name.trim();
    loop {
        if set.have(base) {
            return true;
        }
        let shorter = match base.rsplit_once('_') {
            Some((shorter, part)) if is_part(part) => shorter,
            _ => base.trim_end_matches(|sign: char| sign.is_ascii_digit()),
        };
        if shorter == base || shorter.is_empty() {
            return false;
        }
        base = shorter;
    }
}

/// Whether this is an ending that extractors append to a variable's name.
fn is_part(part: &str) -> bool {
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    matches!(part, "matchNr" | "ALL" | "#")
        || is_number(part)
        || part.strip_prefix('g').is_some_and(is_number)
}

/// Extractors and the property with the names of their variables.
const EXTRACTORS: &[(&str, &str)] = &[
    ("RegexExtractor", "RegexExtractor.refname"),
    ("BoundaryExtractor", "BoundaryExtractor.refname"),
    ("HtmlExtractor", "HtmlExtractor.refname"),
    ("JSONPostProcessor", "JSONPostProcessor.referenceNames"),
    ("JMESPathExtractor", "JMESExtractor.referenceName"),
    ("XPathExtractor", "XPathExtractor.refname"),
    ("XPath2Extractor", "XPathExtractor2.refname"),
];

fn names_property(class: &str) -> Option<&'static str> {
    let known = EXTRACTORS.iter().find(|(known, _)| *known == class);
    known.map(|(_, property)| *property)
}

fn unread<'p>(sight: &AdvisedPlan<'p>) -> Vec<AdvisedElement<'p>> {
    if sight
        .with_texts()
        .any(|(element, texts)| reads_anything(element, texts))
    {
        return Vec::new();
    }
    let read = read_texts(sight);
    let mut found = Vec::new();
    for element in &sight.all {
        let Some(property) = names_property(&element.class) else {
            continue;
        };
        let names = element.props.str(property);
        let is_unread = |name: &&str| !read.mention(name);
        let mut all = names
            .split(';')
            .map(str::trim)
            .filter(|name| !name.is_empty());
        if names.contains("${")
            || names.trim().is_empty()
            || !all.clone().all(|name| is_unread(&name))
        {
            continue;
        }
        found.push(AdvisedElement::with(
            element,
            all.next().unwrap_or_default(),
        ));
    }
    found
}

/// Whether an element may read variables whose names cannot be known here.
fn reads_anything(element: &Element, texts: &[PropertyText]) -> bool {
    if let Some(script) = script(element) {
        return script.is_file || has_computed_name(&script.text, &["get", "getObject"]);
    }
    if matches!(
        element.class.as_str(),
        "DebugSampler" | "DebugPostProcessor" | "JavaSampler"
    ) || crate::elements::entry(&element.class).is_none()
    {
        return true;
    }
    let computes = |text: &str| {
        let calls = ["__V(${", "__evalVar(${", "__eval("];
        calls.iter().any(|call| text.contains(call))
    };
    let mut texts = texts.iter().filter(|text| text.refers);
    texts.any(|text| computes(text.text))
}

/// Properties of `PLAIN_TEXTS` elements that may name variables without `${…}`, such as an If Controller's JavaScript condition.
const NAMING: &[&str] = &["Scope.variable", "IfController.condition"];

/// All texts that may name a variable which an element reads.
fn read_texts<'s>(sight: &'s AdvisedPlan<'_>) -> Words<'s> {
    let mut found = Words::default();
    for (element, texts) in sight.with_texts() {
        let own = names_property(&element.class);
        let is_plain = PLAIN_TEXTS.contains(&element.class.as_str());
        found.add(&element.name);
        for text in texts.iter().filter(|text| own != Some(text.name)) {
            match is_plain && !NAMING.contains(&text.name) {
                true if text.refers => found.extend(references(text.text)),
                true => {}
                false => found.add(text.text),
            }
        }
    }
    found.extend(sight.sample_variables());
    found
}

#[cfg(test)]
mod tests {
    use super::super::tests::{element, group, http, rules, rules_with};
    use super::*;

    fn reading(text: &str) -> String {
        http(&[("HTTPSampler.path", text)], "")
    }

    fn regex(name: &str) -> String {
        element(
            "RegexExtractor",
            "x",
            &[("RegexExtractor.refname", name)],
            "",
        )
    }

    #[test]
    fn what_nothing_sets_is_named() {
        assert_eq!(
            rules(&group(&reading("/${a}/${b}/${a}"))),
            ["variable-never-set: request (${a}, ${b})"]
        );
        assert_eq!(
            rules(&group(&reading("/${START.MS}/${__P(a)}/${__jm__L__idx}"))),
            [""; 0]
        );
        let comment = http(&[("TestPlan.comments", "sends ${a}")], "");
        assert_eq!(rules(&group(&comment)), [""; 0]);
        // A name that is also a parameter's is not set by that.
        let form = element(
            "HeaderManager",
            "h",
            &[("Header.name", "a"), ("Header.value", "${a}")],
            "",
        );
        assert_eq!(rules(&group(&form)).len(), 1);
    }

    #[test]
    fn parts_of_what_is_extracted_are_set() {
        let plan = [regex("a"), reading("${a}${a_matchNr}${a_1}${a_2_g1}")].concat();
        assert_eq!(rules(&group(&plan)), [""; 0]);
        let data = element(
            "CSVDataSet",
            "csv",
            &[("variableNames", "user,pass"), ("filename", "f.csv")],
            "",
        );
        assert_eq!(
            rules(&group(&[data, reading("${user}${pass}")].concat())),
            [""; 0]
        );
        let random = reading("${__Random(1,9,dice)}${dice}");
        assert_eq!(rules(&group(&random)), [""; 0]);
    }

    #[test]
    fn who_may_set_anything_keeps_the_rule_silent() {
        let script = |text| element("JSR223Sampler", "s", &[("script", text)], "");
        let with = |setter: String| rules(&group(&[setter, reading("${a}")].concat())).len();
        assert_eq!(with(script("vars.put('b', '1')")), 1);
        assert_eq!(with(script("vars.put('a', '1')")), 0);
        assert_eq!(with(script("vars.put(name, '1')")), 0);
        assert_eq!(with(script("vars.put('a' + 1, '1')")), 0);
        assert_eq!(with(script("fill(vars)")), 0);
        assert_eq!(
            with(element("CSVDataSet", "csv", &[("filename", "f.csv")], "")),
            0
        );
        // A variable of the script's own.
        assert_eq!(
            rules(&group(&script("def b = 1; log.info(\"${b}\")"))),
            ["script-with-references: s (${b})"]
        );
    }

    #[test]
    fn an_extractor_that_nobody_reads() {
        assert_eq!(
            rules(&group(&regex("token"))),
            ["extractor-unread: x (token)"]
        );
        let reader = |text| rules(&group(&[regex("token"), reading(text)].concat()));
        assert_eq!(reader("/${token}"), [""; 0]);
        assert_eq!(reader("/${__V(token_${__threadNum})}"), [""; 0]);
        assert_eq!(reader("/token"), ["extractor-unread: x (token)"]);
        let loop_over = element(
            "ForeachController",
            "each",
            &[("ForeachController.inputVal", "token")],
            "",
        );
        assert_eq!(
            rules(&group(&[regex("token"), loop_over].concat())),
            [""; 0]
        );
        let debug = element("DebugSampler", "debug", &[], "");
        assert_eq!(rules(&group(&[regex("token"), debug].concat())), [""; 0]);
        assert_eq!(
            rules_with(&[("sample_variables", "token")], &group(&regex("token"))),
            [""; 0]
        );
    }

    #[test]
    fn names_that_scripts_spell_out() {
        assert!(!has_computed_name(
            "vars.get(\"a\"); vars.put( 'b' , x)",
            &["get", "put"]
        ));
        assert!(has_computed_name("vars.get(\"a\" + i)", &["get"]));
        assert!(has_computed_name("for (e in vars.entrySet()) {}", &["get"]));
        assert!(!has_computed_name(
            "myvars.size(); other.vars = 1",
            &["get"]
        ));
    }
}
