//! Variables that are read but never set, and extractors whose variables are never read.

use std::collections::{BTreeSet, HashMap};

use drumfire_elements::other::test_plan;
use drumfire_elements::samplers::java_request;
use drumfire_elements::{Access, Kind, Language, May, Property};

use super::references::{Words, between_variables, is_call, references, variables};
use super::sight::{AdvisedPlan, PropertyText, script};
use super::{AdvisedElement, Effect, Rule};
use crate::elements::samplers::java_sampler;
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
        let own = (element.class != test_plan::CLASS).then_some(&*element.name);
        // `${name}` in a script may be a variable of its own language.
        let texts = texts.iter().filter(|text| text.refers).filter(|text| {
            let facts = text.facts(&element.class);
            !facts.is_some_and(|facts| matches!(facts.kind, Kind::Script))
        });
        let own = own.map(|name| (None, name));
        let read = own
            .into_iter()
            .chain(texts.map(|text| (Some(text.path()), text.text)));
        let mut missing = BTreeSet::new();
        let mut property = None;
        for (place, name) in
            read.flat_map(|(place, text)| variables(text).map(move |name| (place, name)))
        {
            let is_known = known.entry(name).or_insert_with(|| {
                OWN.iter().any(|own| name.starts_with(own)) || is_set(name, &set)
            });
            if !*is_known {
                missing.insert(name);
                property = property.or(place);
            }
        }
        if !missing.is_empty() {
            let names: Vec<String> = missing.iter().map(|name| format!("${{{name}}}")).collect();
            let told = AdvisedElement::with(element, names.join(", "));
            found.push(match property {
                Some(property) => told.about(property),
                None => told,
            });
        }
    }
    found
}

/// Whether an element may set variables whose names cannot be known here.
fn sets_anything(element: &Element, texts: &[PropertyText], sight: &AdvisedPlan) -> bool {
    if let Some(script) = script(element) {
        return script.is_file || has_computed_name(&script.text, &["put", "putObject"]);
    }
    let Some(facts) = drumfire_elements::of_class(&element.class) else {
        return true;
    };
    if facts.may.contains(&May::SetAnyVariable) && !is_native(element) {
        return true;
    }
    // Without names here, the first line of the file has them.
    if facts.data_file().is_some() {
        let mut names = facts.set_names().map(|property| property.name);
        return names.all(|name| {
            let names = sight.known(&element.props, name);
            names.is_none_or(|names| names.trim().is_empty())
        });
    }
    // Variables whose names are computed at run time.
    let mut computed = texts.iter().filter(|text| text.refers);
    computed.any(|text| sets_names(text, element))
}

/// Whether a text is a list of variables that the element sets.
fn sets_names(text: &PropertyText, element: &Element) -> bool {
    let names = text.facts(&element.class).and_then(|facts| facts.names);
    names.is_some_and(|names| names.access == Access::Sets)
}

/// Whether an element whose class may do anything is one that does nothing of the kind.
fn is_native(element: &Element) -> bool {
    element.class == java_request::CLASS && java_sampler::is_native(&element.props)
}

/// Whether a text may name variables without `${…}`: it lists names, it is code, or nothing is known about it.
fn may_name(text: &PropertyText, element: &Element) -> bool {
    text.facts(&element.class).is_none_or(|facts| {
        facts.names.is_some()
            || matches!(facts.kind, Kind::Script | Kind::Code(Language::Condition))
    })
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
        for text in texts {
            match (may_name(text, element), text.refers) {
                (false, false) => {}
                (false, true) => {
                    let calls = references(text.text)
                        .into_iter()
                        .filter(|call| is_call(call));
                    found.extend(calls.flat_map(between_variables));
                }
                (true, false) => found.add(text.text),
                (true, true) => found.extend(between_variables(text.text)),
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
    matches!(part, "matchNr" | "ALL" | "#")
        || is_number(part)
        || part.strip_prefix('g').is_some_and(is_number)
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The property with the names of an extractor's variables; `None` for other elements.
fn extracted_names(class: &str) -> Option<&'static Property> {
    let facts = drumfire_elements::of_class(class).filter(|facts| facts.is_extractor())?;
    facts.set_names().next()
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
        let Some(property) = extracted_names(&element.class) else {
            continue;
        };
        let names = element.props.str(property.name);
        let is_unread = |name: &&str| !read.mention(name);
        let separator = property.names.and_then(|names| names.separator);
        let mut all = names
            .split(|sign| Some(sign) == separator)
            .map(str::trim)
            .filter(|name| !name.is_empty());
        if names.contains("${")
            || names.trim().is_empty()
            || !all.clone().all(|name| is_unread(&name))
        {
            continue;
        }
        let told = AdvisedElement::with(element, all.next().unwrap_or_default());
        found.push(told.about(property.name));
    }
    found
}

/// Whether an element may read variables whose names cannot be known here.
fn reads_anything(element: &Element, texts: &[PropertyText]) -> bool {
    if let Some(script) = script(element) {
        return script.is_file || has_computed_name(&script.text, &["get", "getObject"]);
    }
    let facts = drumfire_elements::of_class(&element.class);
    if facts.is_none_or(|facts| facts.may.contains(&May::ReadAnyVariable)) && !is_native(element) {
        return true;
    }
    let mut texts = texts.iter().filter(|text| text.refers);
    texts.any(|text| computes(text.text))
}

fn computes(text: &str) -> bool {
    let calls = ["__V(${", "__evalVar(${", "__eval("];
    calls.iter().any(|call| text.contains(call))
}

/// All texts that may name a variable which an element reads.
fn read_texts<'s>(sight: &'s AdvisedPlan<'_>) -> Words<'s> {
    let mut found = Words::default();
    for (element, texts) in sight.with_texts() {
        let own = extracted_names(&element.class).map(|property| property.name);
        found.add(&element.name);
        for text in texts.iter().filter(|text| own != Some(text.name)) {
            match may_name(text, element) {
                true => found.add(text.text),
                false if text.refers => found.extend(references(text.text)),
                false => {}
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
    fn columns_that_the_first_line_of_a_random_csv_names_are_set() {
        let class = "com.blazemeter.jmeter.RandomCSVDataSetConfig";
        let data = |names: &str| {
            let props = [("filename", "f.csv"), ("variableNames", names)];
            rules(&group(
                &[element(class, "csv", &props, ""), reading("${user}")].concat(),
            ))
        };
        assert_eq!(data(""), [""; 0]);
        assert_eq!(data("user"), [""; 0]);
        assert_eq!(data("other"), ["variable-never-set: request (${user})"]);
    }

    #[test]
    fn every_element_that_sets_variables_is_known_to() {
        for (class, property) in [
            ("kg.apc.jmeter.modifiers.FifoPopPreProcessor", "Variable"),
            ("kg.apc.jmeter.config.redis.RedisDataSet", "variableNames"),
            ("ResultSaver", "FileSaver.variablename"),
        ] {
            let with = |name: &str| {
                let setter = element(class, "setter", &[(property, name)], "");
                rules(&group(&[setter, reading("${a}")].concat()))
            };
            assert_eq!(with("a"), [""; 0], "{class}");
            assert_eq!(with("b"), ["variable-never-set: request (${a})"], "{class}");
            assert_eq!(with("${name}"), [""; 0], "{class}");
        }
        // The code of a response that is asserted names no variable.
        let assertion = element(
            "DurationAssertion",
            "d",
            &[("DurationAssertion.duration", "a")],
            "",
        );
        assert_eq!(
            rules(&group(&[assertion, reading("${a}")].concat())),
            ["variable-never-set: request (${a})"]
        );
    }

    #[test]
    fn the_plugins_json_extractor_that_nobody_reads() {
        let class = "com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor";
        let extractor = element(class, "x", &[("VAR", "token"), ("JSONPATH", "$.t")], "");
        assert_eq!(rules(&group(&extractor)), ["extractor-unread: x (token)"]);
        let read = [extractor, reading("/${token}")].concat();
        assert_eq!(rules(&group(&read)), [""; 0]);
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
