//! Tries expressions on a stored response, with the same matchers that extractors and assertions use.

use drumfire_query::boundary::Boundary;
use drumfire_query::css::{Document, Engine, Selector};
use drumfire_query::jmespath::{JmesPath, parse_strict};
use drumfire_query::json::Json;
use drumfire_query::jsonpath::JsonPath;
use drumfire_query::regex::{Dialect, Pattern, RegexOptions};
use drumfire_query::xpath::{Tree, XPath, XPathResult};

/// The largest number of matches that is shown.
const MOST: usize = 200;

/// The kinds of expressions, as the page names them.
pub const KINDS: [&str; 6] = ["regex", "boundary", "jsonpath", "jmespath", "css", "xpath"];

/// The matches of an expression in a text, in order. A boundary is `LEFT...RIGHT`; a CSS selector may be followed by
/// `@ATTRIBUTE`.
///
/// # Errors
/// Why the expression or the text cannot be read.
pub fn find(kind: &str, expression: &str, text: &str) -> Result<Vec<String>, String> {
    match kind {
        "regex" => regex(expression, text),
        "boundary" => {
            let (left, right) = expression
                .split_once("...")
                .ok_or("Write the boundaries as LEFT...RIGHT")?;
            let boundary = Boundary::new(left, right);
            Ok(boundary
                .find_iter(text)
                .take(MOST)
                .map(str::to_owned)
                .collect())
        }
        "jsonpath" => json_path(expression, text),
        "jmespath" => {
            let path = JmesPath::compile(expression).map_err(|error| error.to_string())?;
            let json = parse_strict(text).map_err(|error| error.to_string())?;
            let hits = path.search(&json).map_err(|error| error.to_string())?;
            Ok(hits.values().into_iter().take(MOST).collect())
        }
        "css" => {
            let (selector, attribute) = match expression.rsplit_once('@') {
                Some((selector, attribute)) => (selector.trim(), Some(attribute)),
                None => (expression, None),
            };
            let selector =
                Selector::compile(selector, Engine::Jsoup).map_err(|error| error.to_string())?;
            let selected = selector.select(&Document::parse(text), attribute, MOST);
            let selected = selected.map_err(|error| error.to_string())?;
            Ok(selected
                .into_iter()
                .map(Option::unwrap_or_default)
                .collect())
        }
        "xpath" => xpath(expression, text),
        _ => Err(format!("`{kind}` is none of {}", KINDS.join(", "))),
    }
}

fn regex(expression: &str, text: &str) -> Result<Vec<String>, String> {
    let pattern = Pattern::compile(expression, Dialect::Oro, RegexOptions::default())
        .map_err(|error| error.to_string())?;
    let captures = pattern.captures_iter(text).take(MOST);
    Ok(captures
        .map(|found| {
            let groups: Vec<&str> = found.groups().map(Option::unwrap_or_default).collect();
            // Show the whole match only if the expression has no groups.
            match groups.as_slice() {
                [whole] => (*whole).to_owned(),
                [_, groups @ ..] => groups.join(" | "),
                [] => String::new(),
            }
        })
        .collect())
}

fn json_path(expression: &str, text: &str) -> Result<Vec<String>, String> {
    let path = JsonPath::compile(expression).map_err(|error| error.to_string())?;
    let json = Json::parse(text).map_err(|error| error.to_string())?;
    let hits = path.find(&json).map_err(|error| error.to_string())?;
    Ok(hits
        .iter()
        .take(MOST)
        .map(|node| node.to_java_text().into_owned())
        .collect())
}

fn xpath(expression: &str, text: &str) -> Result<Vec<String>, String> {
    let path = XPath::compile(expression).map_err(|error| error.to_string())?;
    let tree = match Tree::parse_xml(text, false) {
        Ok(tree) => tree,
        Err(_) => Tree::parse_tolerant(text),
    };
    match path
        .evaluate(&tree, true)
        .map_err(|error| error.to_string())?
    {
        XPathResult::Bool(is_true) => Ok(vec![is_true.to_string()]),
        XPathResult::Text(text) => Ok(vec![text]),
        XPathResult::Nodes(nodes) => Ok(nodes
            .into_iter()
            .take(MOST)
            .map(Option::unwrap_or_default)
            .collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_finds_with_the_matchers_of_the_run() {
        let page = r#"<html><body><a href="/x">One</a><a href="/y">Two</a></body></html>"#;
        let json = r#"{"items": [{"id": 1}, {"id": 2}]}"#;
        for (kind, expression, text, expected) in [
            ("regex", "href=\"(.+?)\"", page, &["/x", "/y"][..]),
            ("regex", "(.)x\"|O(n)e", page, &["/ | ", " | n"]),
            ("boundary", "\">...</a>", page, &["One", "Two"]),
            ("css", "a", page, &["One", "Two"]),
            ("css", "a@href", page, &["/x", "/y"]),
            ("xpath", "//a/text()", page, &["One", "Two"]),
            ("xpath", "count(//a)", page, &["2"]),
            ("jsonpath", "$.items[*].id", json, &["1", "2"]),
            ("jmespath", "items[].id", json, &["1", "2"]),
        ] {
            let found = find(kind, expression, text);
            assert_eq!(
                found.as_deref(),
                Ok(owned(expected).as_slice()),
                "{kind} {expression}"
            );
        }
        assert!(find("regex", "(", page).is_err());
        assert!(find("boundary", "a", page).is_err());
        assert!(find("jsonpath", "$[", json).is_err());
        assert!(find("sql", "a", page).is_err());
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }
}
