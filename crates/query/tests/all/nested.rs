//! Nothing that is nested ten thousand deep overflows the stack of a thread: not the text of a query, and not what it
//! searches.

#![allow(clippy::unwrap_used)]

use drumfire_query::boundary::Boundary;
use drumfire_query::css::{Document, Engine, Selector};
use drumfire_query::jmespath::{JmesPath, parse_strict};
use drumfire_query::json::{Json, jackson};
use drumfire_query::jsonpath::JsonPath;
use drumfire_query::regex::{Dialect, Pattern, RegexOptions};
use drumfire_query::resources;
use drumfire_query::xpath::{Tree, XPath};
use drumfire_query::xpath2::XPath2;

/// The stack of the threads on which the program and its language server inspect plans.
const STACK_BYTES: usize = 2 << 20;
const DEEP: usize = 10_000;

/// Runs a reader on texts that repeat `open`, then `inside`, then as many `close`.
fn all(name: &str, deepest: usize, shapes: &[(&str, &str, &str)], read: impl Fn(&str) + Sync) {
    for (open, inside, close) in shapes {
        for deep in [50, 300, deepest] {
            let texts = [
                format!("{}{inside}{}", open.repeat(deep), close.repeat(deep)),
                format!("{}{inside}", open.repeat(deep)),
            ];
            for text in texts {
                // The last line before an overflow names the reader.
                eprintln!("{name}: {open}… {deep} deep");
                let reader = std::thread::Builder::new().stack_size(STACK_BYTES);
                std::thread::scope(|scope| {
                    let running = reader.spawn_scoped(scope, || read(&text));
                    running.unwrap().join().unwrap();
                });
            }
        }
    }
}

#[test]
fn json_paths() {
    let json = Json::parse(r#"{"a":[{"b":1},[2]]}"#).unwrap();
    let shapes = [
        ("$[?(", "@.a", ")]"),
        ("$[?(@.a == ", "1", ")]"),
        ("$[?((", "@.a", "))]"),
        ("$.a[", "0", "]"),
        ("$..a", "", ""),
        ("$.a[?(!", "@.b", ")]"),
        ("$.concat(", "1", ")"),
        ("$.min($.a,", "1", ")"),
        ("$[?(@.a && ", "1", ")]"),
    ];
    all("JSONPath", DEEP, &shapes, |text| {
        if let Ok(path) = JsonPath::compile(text) {
            let _ = path.find(&json);
        }
    });
}

#[test]
fn jmes_paths() {
    let json = Json::parse(r#"{"a":[{"b":1},[2]]}"#).unwrap();
    let shapes = [
        ("(", "a", ")"),
        ("!", "a", ""),
        ("[", "a", "]"),
        ("a[?", "b", "]"),
        ("{a: ", "b", "}"),
        ("length(", "a", ")"),
        ("&", "a", ""),
        ("a.", "b", ""),
        ("a | ", "b", ""),
        ("a[0]", "", ""),
        ("a[*].", "b", ""),
        ("a || ", "b", ""),
        ("[]", "", ""),
    ];
    all("JMESPath", DEEP, &shapes, |text| {
        if let Ok(path) = JmesPath::compile(text) {
            let _ = path.search(&json);
        }
    });
}

#[test]
fn patterns() {
    let shapes = [
        ("(", "a", ")"),
        ("(?:", "a", ")*"),
        ("(?=", "a", ")"),
        ("[a[", "b", "]]"),
        ("[a&&[^", "b", "]]"),
        ("a|", "b", ""),
        ("(a|", "b", ")"),
        ("a{1,2}", "", ""),
        ("(a", "b", "){2}"),
        ("a?", "", ""),
        ("\\Q", "a", "\\E"),
    ];
    for dialect in [Dialect::Oro, Dialect::Java] {
        all("regular expression", DEEP, &shapes, |text| {
            if let Ok(pattern) = Pattern::compile(text, dialect, RegexOptions::default()) {
                let _ = pattern.captures_iter("aab").count();
            }
        });
    }
}

#[test]
fn x_paths() {
    let tree = Tree::parse_xml("<a><b/></a>", false).unwrap();
    let shapes = [
        ("(", "a", ")"),
        ("a[", "b", "]"),
        ("-", "1", ""),
        ("not(", "a", ")"),
        ("a/", "b", ""),
        ("a | ", "b", ""),
        ("a + ", "b", ""),
        ("a or ", "b", ""),
        ("//", "a", ""),
        ("for $a in ", "a", " return 1"),
        ("if (a) then ", "b", " else 1"),
        ("some $a in ", "a", " satisfies 1"),
        ("(: ", "a", " :)"),
        ("a, ", "b", ""),
        ("a = ", "b", ""),
        ("a to ", "1", ""),
    ];
    all("XPath", DEEP, &shapes, |text| {
        if let Ok(path) = XPath::compile(text) {
            let _ = path.evaluate(&tree, false);
        }
        if let Ok(path) = XPath2::compile(text, "") {
            let _ = path.evaluate(&tree, false);
        }
    });
}

#[test]
fn selectors() {
    let document = Document::parse("<a><b class=c>d</b></a>");
    let shapes = [
        (":not(", "a", ")"),
        (":has(", "a", ")"),
        (":is(", "a", ")"),
        ("a > ", "b", ""),
        ("a ", "b", ""),
        ("a, ", "b", ""),
        (".c", "", ""),
        ("[a=", "b", "]"),
        (":contains(", "d", ")"),
    ];
    all("selector", DEEP, &shapes, |text| {
        for engine in [Engine::Jsoup, Engine::Jodd] {
            if let Ok(selector) = Selector::compile(text, engine) {
                let _ = selector.select(&document, None, 10);
            }
        }
    });
}

#[test]
fn documents() {
    let shapes = [
        ("<a>", "b", "</a>"),
        ("<div><p>", "b", "</p></div>"),
        ("<table><tr><td>", "b", "</td></tr></table>"),
        ("<svg><desc>", "b", "</desc></svg>"),
        ("<b><a>", "b", "</b>"),
        ("<form><font>", "b", "</font>"),
        ("<template>", "b", "</template>"),
        ("<!-- ", "b", " -->"),
        ("<?a ", "b", "?>"),
        ("<![CDATA[", "b", "]]>"),
        ("<!DOCTYPE a [", "b", "]>"),
    ];
    let selector = Selector::compile("b a", Engine::Jsoup).unwrap();
    let path = XPath::compile("/*").unwrap();
    let second = XPath2::compile("/*", "").unwrap();
    all("document", DEEP / 5, &shapes, |text| {
        let _ = selector.select(&Document::parse(text), None, 10);
        for tree in [
            Tree::parse_xml(text, true),
            Tree::parse_saxon(text),
            Ok(Tree::parse_tolerant(text)),
        ]
        .into_iter()
        .flatten()
        {
            let _ = path.evaluate(&tree, true);
            let _ = second.evaluate(&tree, true);
        }
        let base = drumfire_java::url::Url::parse("http://h/").unwrap();
        let _ = resources::embedded(text, &base, None);
        let _ = Boundary::new("<", ">").find_iter(text).count();
    });
}

#[test]
fn json() {
    let shapes = [
        ("[", "1", "]"),
        ("{\"a\":", "1", "}"),
        ("[{\"a\":", "1", "}]"),
        ("[[],", "1", "]"),
    ];
    let path = JsonPath::compile("$..a").unwrap();
    all("JSON", DEEP, &shapes, |text| {
        if let Ok(json) = Json::parse(text) {
            let _ = path.find(&json);
            let _ = json.root().to_json();
        }
        let _ = parse_strict(text);
        let _ = jackson::fault(text);
        let _ = path.find_in_text(text);
    });
}
