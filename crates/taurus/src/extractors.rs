//! Extractors, assertions and scripts of a request.

use drumfire_elements::assertions::{json_path_assertion, response_assertion, xpath_assertion};
use drumfire_elements::post::{
    boundary_extractor, css_extractor, json_extractor, jsr223_post_processor, regex_extractor,
    xpath_extractor,
};
use drumfire_elements::pre::jsr223_pre_processor;
use drumfire_elements::shared::scope;
use drumfire_jmx::{Node, Prop, Value};

use crate::error::TaurusError;
use crate::files::Files;
use crate::value::{Table, as_table, flag, is_true, list, table, text, text_or};

/// The assertions, extractors and scripts of a request, in this order.
pub(crate) fn of_request(request: &Table, files: &Files) -> Result<Vec<Node>, TaurusError> {
    let mut all = assertions(request)?;
    extractors(request, &mut all)?;
    scripts(request, files, &mut all)?;
    Ok(all)
}

fn entries(request: &Table, key: &str, short: &str) -> Vec<(String, Table)> {
    let all = table(request, key).into_iter().flatten();
    all.map(|(name, config)| (name.clone(), as_table(config, short)))
        .collect()
}

fn needed(config: &Table, key: &str, place: &str) -> Result<String, TaurusError> {
    config.get(key).map(text).ok_or_else(|| {
        TaurusError::new(format!("{place} lacks `{key}`")).hint(format!("write `{key}: …` there"))
    })
}

type Extractor = fn(&str, &Table) -> Result<Node, TaurusError>;

/// The kinds of extractors: their key, the main option, and the function that builds their element.
const EXTRACTORS: [(&str, &str, Extractor); 5] = [
    ("extract-boundary", "left", boundary_extractor),
    ("extract-regexp", "regexp", regexp_extractor),
    ("extract-jsonpath", "jsonpath", json_extractor),
    ("extract-css-jquery", "expression", css_extractor),
    ("extract-xpath", "xpath", xpath_extractor),
];

fn extractors(request: &Table, all: &mut Vec<Node>) -> Result<(), TaurusError> {
    for (key, short, extractor) in EXTRACTORS {
        for (name, config) in entries(request, key, short) {
            all.push(extractor(&name, &config)?);
        }
    }
    Ok(())
}

fn boundary_extractor(name: &str, config: &Table) -> Result<Node, TaurusError> {
    use boundary_extractor::*;

    let extractor = format!("the boundary extractor `{name}`");
    let node = named(CLASS, "BoundaryExtractorGui", name)
        .with(
            FIELD.name,
            boundary_subject(&text_or(config, "subject", "body")),
        )
        .with(NAME.name, name)
        .with(LEFT.name, needed(config, "left", &extractor)?)
        .with(RIGHT.name, needed(config, "right", &extractor)?)
        .with(
            regex_extractor::DEFAULT.name,
            text_or(config, "default", "NOT_FOUND"),
        )
        .with(
            regex_extractor::MATCH_NUMBER.name,
            text_or(config, "match-no", "1"),
        );
    Ok(scoped(node, config))
}

fn regexp_extractor(name: &str, config: &Table) -> Result<Node, TaurusError> {
    use regex_extractor::*;

    let extractor = format!("the regexp extractor `{name}`");
    let template = match config.get("template") {
        None => "$1$".to_owned(),
        Some(serde_json::Value::Number(number)) => format!("${number}$"),
        Some(other) => text(other),
    };
    let subject = match text_or(config, "subject", "body")
        .to_ascii_lowercase()
        .as_str()
    {
        "headers" => "true",
        "http-code" => "code",
        "url" => "URL",
        _ => "body",
    };
    let node = named(CLASS, "RegexExtractorGui", name)
        .with(FIELD.name, subject)
        .with(NAME.name, name)
        .with(REGEX.name, needed(config, "regexp", &extractor)?)
        .with(TEMPLATE.name, template)
        .with(DEFAULT.name, text_or(config, "default", "NOT_FOUND"))
        .with(MATCH_NUMBER.name, text_or(config, "match-no", "1"));
    Ok(scoped(node, config))
}

fn css_extractor(name: &str, config: &Table) -> Result<Node, TaurusError> {
    use css_extractor::*;

    let extractor = format!("the CSS extractor `{name}`");
    let node = named(CLASS, "HtmlExtractorGui", name)
        .with(NAME.name, name)
        .with(SELECTOR.name, needed(config, "expression", &extractor)?)
        .with(ATTRIBUTE.name, text_or(config, "attribute", ""))
        .with(MATCH_NUMBER.name, text_or(config, "match-no", "0"))
        .with(DEFAULT.name, text_or(config, "default", "NOT_FOUND"));
    Ok(scoped(node, config))
}

fn xpath_extractor(name: &str, config: &Table) -> Result<Node, TaurusError> {
    use xpath_extractor::*;

    let extractor = format!("the XPath extractor `{name}`");
    let node = named(CLASS, "XPathExtractorGui", name)
        .with(NAME.name, name)
        .with(QUERY.name, needed(config, "xpath", &extractor)?)
        .with(DEFAULT.name, text_or(config, "default", "NOT_FOUND"))
        .with(VALIDATE.name, flag(config, "validate-xml", false))
        .with(
            IGNORE_WHITESPACE.name,
            flag(config, "ignore-whitespace", true),
        )
        .with(MATCH_NUMBER.name, text_or(config, "match-no", "-1"))
        .with(NAMESPACES.name, flag(config, "use-namespaces", false))
        .with(TOLERANT.name, flag(config, "use-tolerant-parser", false));
    Ok(scoped(node, config))
}

fn json_extractor(name: &str, config: &Table) -> Result<Node, TaurusError> {
    use json_extractor::*;

    let extractor = format!("the JSONPath extractor `{name}`");
    let mut node = named(CLASS, "JSONPostProcessorGui", name)
        .with(NAMES.name, name)
        .with(PATHS.name, needed(config, "jsonpath", &extractor)?)
        // 0 chooses a random match.
        .with(MATCH_NUMBERS.name, text_or(config, "match-no", "0"));
    let default = text_or(config, "default", "NOT_FOUND");
    if !default.is_empty() {
        node = node.with(DEFAULTS.name, default);
    }
    node = scoped(node, config);
    if flag(config, "concat", false) {
        node = node.with(COMPUTE_CONCAT.name, true);
    }
    Ok(node)
}

fn named(class: &str, gui: &str, variable: &str) -> Node {
    Node::new(class, gui, &format!("Get {variable}"))
}

fn scoped(node: Node, config: &Table) -> Node {
    let scope = text_or(config, "scope", "");
    if !is_true(config.get("scope")) {
        return node;
    }
    let of_variable = scope == "variable";
    let node = node.with(scope::SAMPLE.name, scope);
    if of_variable {
        node.with(
            scope::VARIABLE.name,
            text_or(config, "from-variable", "None"),
        )
    } else {
        node
    }
}

fn boundary_subject(subject: &str) -> &'static str {
    match subject {
        "body-unescaped" => "unescaped",
        "body-as-document" => "as_document",
        "response-headers" => "true",
        "request-headers" => "request_headers",
        "url" => "URL",
        "code" => "code",
        "message" => "message",
        _ => "false",
    }
}

fn assertions(request: &Table) -> Result<Vec<Node>, TaurusError> {
    let mut all = Vec::new();
    for assertion in list(request, "assert") {
        all.push(response_assertion(&as_table(assertion, "contains"))?);
    }
    for assertion in list(request, "assert-jsonpath") {
        all.push(json_assertion(&as_table(assertion, "jsonpath"))?);
    }
    for assertion in list(request, "assert-xpath") {
        all.push(xpath_assertion(&as_table(assertion, "xpath"))?);
    }
    Ok(all)
}

fn json_assertion(config: &Table) -> Result<Node, TaurusError> {
    use json_path_assertion::*;

    let path = needed(config, "jsonpath", "an entry of `assert-jsonpath`")?;
    Ok(Node::new(CLASS, FACTS.gui, "JSon path assertion")
        .with(PATH.name, path)
        .with(EXPECTED_VALUE.name, text_or(config, "expected-value", ""))
        .with(COMPARES.name, flag(config, "validate", false))
        .with(EXPECT_NULL.name, flag(config, "expect-null", false))
        .with(INVERT.name, flag(config, "invert", false))
        .with(IS_REGEX.name, flag(config, "regexp", true)))
}

fn xpath_assertion(config: &Table) -> Result<Node, TaurusError> {
    use xpath_assertion::*;

    let query = needed(config, "xpath", "an entry of `assert-xpath`")?;
    let ignores = flag(config, "ignore-whitespace", true);
    let tolerant = flag(config, "use-tolerant-parser", false);
    Ok(FACTS
        .node("XPath Assertion")
        .with(QUERY.name, query)
        .with(VALIDATE.name, flag(config, "validate-xml", false))
        .with(IGNORE_WHITESPACE.name, ignores)
        .with(TOLERANT.name, tolerant)
        .with(INVERT.name, flag(config, "invert", false)))
}

fn response_assertion(config: &Table) -> Result<Node, TaurusError> {
    use response_assertion::*;

    let texts: Vec<String> = list(config, "contains").into_iter().map(text).collect();
    if !config.contains_key("contains") {
        return Err(TaurusError::new("an entry of `assert` lacks `contains`")
            .hint("write `contains: [text]`"));
    }
    let is_inverted = flag(config, "not", false);
    let field = match text_or(config, "subject", "body").as_str() {
        "headers" => "Assertion.response_headers",
        "http-code" => "Assertion.response_code",
        _ => "Assertion.response_data",
    };
    let kind = match (flag(config, "regexp", true), is_inverted) {
        (true, false) => 2,
        (true, true) => 6,
        (false, false) => 16,
        (false, true) => 20,
    };
    let quoted: Vec<String> = texts.iter().map(|text| format!("\"{text}\"")).collect();
    let verb = if is_inverted { "hasn't" } else { "has" };
    let name = format!("Assert {verb} [{}]", quoted.join(", "));
    let strings: Vec<Prop> = texts.into_iter().map(|text| Prop::new("", text)).collect();
    Ok(FACTS
        .node(&name)
        .with(FIELD.name, field)
        .with(TEST_TYPE.name, kind.to_string())
        .with(IGNORE_STATUS.name, flag(config, "assume-success", false))
        .with(PATTERNS.name, Value::List(strings)))
}

/// JSR223 elements of a request, an action or a scenario.
pub(crate) fn scripts(of: &Table, files: &Files, all: &mut Vec<Node>) -> Result<(), TaurusError> {
    for script in list(of, "jsr223") {
        let config = as_table(script, "script-text");
        let file = text_or(&config, "script-file", "");
        let content = text_or(&config, "script-text", "");
        if file.is_empty() && content.is_empty() {
            let fault = TaurusError::new("a `jsr223` has neither script-file nor script-text");
            return Err(fault.hint("write one of them"));
        }
        let file = if file.is_empty() {
            file
        } else {
            existing(&file, files)?
        };
        let class = match text_or(&config, "execute", "after").as_str() {
            "before" => jsr223_pre_processor::CLASS,
            _ => jsr223_post_processor::CLASS,
        };
        all.push(
            Node::new(class, "TestBeanGUI", class)
                .with("filename", file)
                .with("script", content)
                .with("parameters", text_or(&config, "parameters", ""))
                .with("scriptLanguage", text_or(&config, "language", "groovy"))
                .with(
                    "cacheKey",
                    text_or(&config, "compile-cache", "true").to_lowercase(),
                ),
        );
    }
    Ok(())
}

/// The absolute path of a file that the plan will read.
pub(crate) fn existing(name: &str, files: &Files) -> Result<String, TaurusError> {
    if crate::value::has_variable(name) {
        return Ok(name.to_owned());
    }
    let path = files.find(name);
    if path.is_file() {
        Ok(path.to_string_lossy().into_owned())
    } else {
        Err(files.missing(name))
    }
}
