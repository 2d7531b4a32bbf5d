//! Extractors, assertions and scripts of a request.

use drumfire_jmx::{Node, Prop, Value};

use crate::fault::Fault;
use crate::files::Files;
use crate::value::{Table, as_table, flag, is_true, list, table, text, text_or};

/// The assertions, extractors and scripts of a request, in this order.
pub(crate) fn of_request(request: &Table, files: &Files) -> Result<Vec<Node>, Fault> {
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

fn needed(config: &Table, key: &str, place: &str) -> Result<String, Fault> {
    config.get(key).map(text).ok_or_else(|| {
        Fault::new(format!("{place} lacks `{key}`")).hint(format!("Write `{key}: …` there"))
    })
}

type Extractor = fn(&str, &Table) -> Result<Node, Fault>;

/// The kinds of extractors: their key, the main option, and the function that builds their element.
const EXTRACTORS: [(&str, &str, Extractor); 5] = [
    ("extract-boundary", "left", boundary_extractor),
    ("extract-regexp", "regexp", regexp_extractor),
    ("extract-jsonpath", "jsonpath", json_extractor),
    ("extract-css-jquery", "expression", css_extractor),
    ("extract-xpath", "xpath", xpath_extractor),
];

fn extractors(request: &Table, all: &mut Vec<Node>) -> Result<(), Fault> {
    for (key, short, extractor) in EXTRACTORS {
        for (name, config) in entries(request, key, short) {
            all.push(extractor(&name, &config)?);
        }
    }
    Ok(())
}

fn boundary_extractor(name: &str, config: &Table) -> Result<Node, Fault> {
    let place = format!("the boundary extractor `{name}`");
    let node = named("BoundaryExtractor", "BoundaryExtractorGui", name)
        .with(
            "BoundaryExtractor.useHeaders",
            boundary_subject(&text_or(config, "subject", "body")),
        )
        .with("BoundaryExtractor.refname", name)
        .with(
            "BoundaryExtractor.lboundary",
            needed(config, "left", &place)?,
        )
        .with(
            "BoundaryExtractor.rboundary",
            needed(config, "right", &place)?,
        )
        .with(
            "RegexExtractor.default",
            text_or(config, "default", "NOT_FOUND"),
        )
        .with(
            "RegexExtractor.match_number",
            text_or(config, "match-no", "1"),
        );
    Ok(scoped(node, config))
}

fn regexp_extractor(name: &str, config: &Table) -> Result<Node, Fault> {
    let place = format!("the regexp extractor `{name}`");
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
    let node = named("RegexExtractor", "RegexExtractorGui", name)
        .with("RegexExtractor.useHeaders", subject)
        .with("RegexExtractor.refname", name)
        .with("RegexExtractor.regex", needed(config, "regexp", &place)?)
        .with("RegexExtractor.template", template)
        .with(
            "RegexExtractor.default",
            text_or(config, "default", "NOT_FOUND"),
        )
        .with(
            "RegexExtractor.match_number",
            text_or(config, "match-no", "1"),
        );
    Ok(scoped(node, config))
}

fn css_extractor(name: &str, config: &Table) -> Result<Node, Fault> {
    let place = format!("the CSS extractor `{name}`");
    let node = named("HtmlExtractor", "HtmlExtractorGui", name)
        .with("HtmlExtractor.refname", name)
        .with("HtmlExtractor.expr", needed(config, "expression", &place)?)
        .with("HtmlExtractor.attribute", text_or(config, "attribute", ""))
        .with(
            "HtmlExtractor.match_number",
            text_or(config, "match-no", "0"),
        )
        .with(
            "HtmlExtractor.default",
            text_or(config, "default", "NOT_FOUND"),
        );
    Ok(scoped(node, config))
}

fn xpath_extractor(name: &str, config: &Table) -> Result<Node, Fault> {
    let place = format!("the XPath extractor `{name}`");
    let node = named("XPathExtractor", "XPathExtractorGui", name)
        .with("XPathExtractor.refname", name)
        .with(
            "XPathExtractor.xpathQuery",
            needed(config, "xpath", &place)?,
        )
        .with(
            "XPathExtractor.default",
            text_or(config, "default", "NOT_FOUND"),
        )
        .with(
            "XPathExtractor.validate",
            flag(config, "validate-xml", false),
        )
        .with(
            "XPathExtractor.whitespace",
            flag(config, "ignore-whitespace", true),
        )
        .with(
            "XPathExtractor.matchNumber",
            text_or(config, "match-no", "-1"),
        )
        .with(
            "XPathExtractor.namespace",
            flag(config, "use-namespaces", false),
        )
        .with(
            "XPathExtractor.tolerant",
            flag(config, "use-tolerant-parser", false),
        );
    Ok(scoped(node, config))
}

fn json_extractor(name: &str, config: &Table) -> Result<Node, Fault> {
    let place = format!("the JSONPath extractor `{name}`");
    let mut node = named("JSONPostProcessor", "JSONPostProcessorGui", name)
        .with("JSONPostProcessor.referenceNames", name)
        .with(
            "JSONPostProcessor.jsonPathExprs",
            needed(config, "jsonpath", &place)?,
        )
        // 0 chooses a random match.
        .with(
            "JSONPostProcessor.match_numbers",
            text_or(config, "match-no", "0"),
        );
    let default = text_or(config, "default", "NOT_FOUND");
    if !default.is_empty() {
        node = node.with("JSONPostProcessor.defaultValues", default);
    }
    node = scoped(node, config);
    if flag(config, "concat", false) {
        node = node.with("JSONPostProcessor.compute_concat", true);
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
    let node = node.with("Sample.scope", scope);
    match of_variable {
        true => node.with("Scope.variable", text_or(config, "from-variable", "None")),
        false => node,
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

fn assertions(request: &Table) -> Result<Vec<Node>, Fault> {
    let mut all = Vec::new();
    for assertion in list(request, "assert") {
        all.push(response_assertion(&as_table(assertion, "contains"))?);
    }
    const JSON: &str = "com.atlantbh.jmeter.plugins.jsonutils.jsonpathassertion";
    for assertion in list(request, "assert-jsonpath") {
        let config = as_table(assertion, "jsonpath");
        let node = Node::new(
            &format!("{JSON}.JSONPathAssertion"),
            &format!("{JSON}.gui.JSONPathAssertionGui"),
            "JSon path assertion",
        );
        all.push(
            node.with(
                "JSON_PATH",
                needed(&config, "jsonpath", "an entry of `assert-jsonpath`")?,
            )
            .with("EXPECTED_VALUE", text_or(&config, "expected-value", ""))
            .with("JSONVALIDATION", flag(&config, "validate", false))
            .with("EXPECT_NULL", flag(&config, "expect-null", false))
            .with("INVERT", flag(&config, "invert", false))
            .with("ISREGEX", flag(&config, "regexp", true)),
        );
    }
    for assertion in list(request, "assert-xpath") {
        let config = as_table(assertion, "xpath");
        all.push(
            Node::new("XPathAssertion", "XPathAssertionGui", "XPath Assertion")
                .with(
                    "XPath.xpath",
                    needed(&config, "xpath", "an entry of `assert-xpath`")?,
                )
                .with("XPath.validate", flag(&config, "validate-xml", false))
                .with("XPath.whitespace", flag(&config, "ignore-whitespace", true))
                .with(
                    "XPath.tolerant",
                    flag(&config, "use-tolerant-parser", false),
                )
                .with("XPath.negate", flag(&config, "invert", false)),
        );
    }
    Ok(all)
}

fn response_assertion(config: &Table) -> Result<Node, Fault> {
    let texts: Vec<String> = list(config, "contains").into_iter().map(text).collect();
    if !config.contains_key("contains") {
        return Err(
            Fault::new("an entry of `assert` lacks `contains`").hint("Write `contains: [text]`")
        );
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
    Ok(Node::new("ResponseAssertion", "AssertionGui", &name)
        .with("Assertion.test_field", field)
        .with("Assertion.test_type", kind.to_string())
        .with(
            "Assertion.assume_success",
            flag(config, "assume-success", false),
        )
        .with("Asserion.test_strings", Value::List(strings)))
}

/// JSR223 elements of a request, an action or a scenario.
pub(crate) fn scripts(of: &Table, files: &Files, all: &mut Vec<Node>) -> Result<(), Fault> {
    for script in list(of, "jsr223") {
        let config = as_table(script, "script-text");
        let file = text_or(&config, "script-file", "");
        let content = text_or(&config, "script-text", "");
        if file.is_empty() && content.is_empty() {
            let fault = Fault::new("a `jsr223` has neither script-file nor script-text");
            return Err(fault.hint("Write one of them"));
        }
        let file = match file.is_empty() {
            true => file,
            false => existing(&file, files)?,
        };
        let class = match text_or(&config, "execute", "after").as_str() {
            "before" => "JSR223PreProcessor",
            _ => "JSR223PostProcessor",
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
pub(crate) fn existing(name: &str, files: &Files) -> Result<String, Fault> {
    if crate::value::has_variable(name) {
        return Ok(name.to_owned());
    }
    let path = files.find(name);
    match path.is_file() {
        true => Ok(path.to_string_lossy().into_owned()),
        false => Err(Fault::new(format!("there is no file `{name}`"))
            .hint("Look for it in the folder of the configuration")),
    }
}
