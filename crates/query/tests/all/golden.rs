//! Answers recorded from the libraries that JMeter 5.6.3 ships, run on Java 17: each line of `tests/golden/*.txt` is a question
//! and, behind `=> `, what the library said. `␤ ␍ ␉` stand for line ends and tabs.

use drumfire_java::url::Url;
use drumfire_query::css::{Document, Engine, Selector};
use drumfire_query::jmespath::{JmesPath, parse_strict};
use drumfire_query::json::Json;
use drumfire_query::jsonpath::JsonPath;
use drumfire_query::regex::{Dialect, Pattern, RegexOptions};
use drumfire_query::resources::{css_urls, embedded};
use drumfire_query::xpath::{Tree, XPath};
use drumfire_query::xpath2::XPath2;

fn decode(text: &str) -> String {
    text.replace('␤', "\n")
        .replace('␍', "\r")
        .replace('␉', "\t")
}

/// Checks every line and reports all that differ.
fn check(golden: &str, separator: &str, answer: impl Fn(&str) -> String) {
    let mut wrong = Vec::new();
    for line in golden.lines() {
        let (question, wanted) = line
            .split_once(separator)
            .expect("a question and an answer");
        let found = answer(question);
        if found != wanted {
            wrong.push(format!(
                "{question}\n    wanted {wanted}\n    found  {found}"
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} differ:\n{}",
        wrong.len(),
        golden.lines().count(),
        wrong.join("\n")
    );
}

fn matches(question: &str, dialect: Dialect) -> String {
    let (pattern, text) = question.split_once('\t').expect("a pattern and a text");
    let (pattern_text, text) = (pattern.replace('␤', "\n"), decode(text));
    let pattern = match Pattern::compile(&pattern_text, dialect, RegexOptions::default()) {
        Ok(pattern) => pattern,
        Err(error) => {
            let text = error.exception_text(&pattern_text, dialect);
            let shown = match dialect {
                Dialect::Oro => error.message,
                Dialect::Java => text
                    .split(": ")
                    .nth(1)
                    .unwrap_or("")
                    .lines()
                    .next()
                    .unwrap_or("")
                    .to_owned(),
            };
            return format!("ERR {shown}");
        }
    };
    let quoted = |group: Option<&str>| {
        group.map_or("NULL".to_owned(), |text| {
            format!(
                "\"{}\"",
                text.replace('\\', "\\\\")
                    .replace('"', "\\\"")
                    .replace('\n', "\\n")
            )
        })
    };
    let mut out = format!(
        "full={} has={}",
        pattern.full_match(&text),
        pattern.is_match(&text)
    );
    for captures in pattern.captures_iter(&text).take(20) {
        let groups: Vec<String> = captures.groups().map(quoted).collect();
        assert_eq!(captures.len(), pattern.group_count() + 1);
        out.push_str(&format!(
            " [{}]",
            groups.join("|").replace('\r', "␍").replace('\t', "␉")
        ));
    }
    out
}

#[test]
fn regex_oro() {
    check(
        include_str!("../golden/regex_oro.txt"),
        "\t=> ",
        |question| matches(question, Dialect::Oro),
    );
}

#[test]
fn regex_java() {
    check(
        include_str!("../golden/regex_java.txt"),
        "\t=> ",
        |question| matches(question, Dialect::Java),
    );
}

/// The list of the JSON Extractor behind `F`, the text of the JSON assertion behind `R`, failures behind `E`.
fn json_answer(path: &str, body: &str) -> String {
    let path = match JsonPath::compile(path) {
        Ok(path) => path,
        Err(error) => return format!("E {error}  ##  E {error}"),
    };
    let json = match Json::parse(body) {
        Ok(json) => json,
        Err(error) => return format!("E {error}  ##  E {error}"),
    };
    let found = path.find(&json).map(|nodes| {
        let texts: Vec<String> = nodes
            .iter()
            .map(|node| {
                node.to_text()
                    .map_or("null".to_owned(), |text| text.into_owned())
            })
            .collect();
        format!("F[{}]", texts.join(", "))
    });
    // The search without parsing finds the same as the parser.
    if let Some(value) = path.find_in_text(body) {
        let text = value.to_text();
        let text = text.map_or("null".to_owned(), |text| text.into_owned());
        assert_eq!(found, Ok(format!("F[{text}]")), "{body}");
    }
    let read = path
        .read(&json)
        .map(|node| format!("R {}", node.to_assertion_text()));
    let shown = |result: Result<String, _>| {
        result.unwrap_or_else(|error: drumfire_query::jsonpath::Error| format!("E {error}"))
    };
    format!("{}  ##  {}", shown(found), shown(read))
}

#[test]
fn json_path() {
    let bodies: Vec<&str> = include_str!("../golden/json_docs.txt").lines().collect();
    check(
        include_str!("../golden/jsonpath.txt"),
        "\t=> ",
        |question| {
            let (path, body) = question
                .split_once('\t')
                .expect("a path and the number of a body");
            let body: usize = body.parse().expect("the number of a body");
            json_answer(path, bodies[body]).replace('\n', "␤")
        },
    );
}

#[test]
fn jmespath() {
    let bodies: Vec<&str> = include_str!("../golden/jmespath_docs.txt")
        .lines()
        .collect();
    check(
        include_str!("../golden/jmespath.txt"),
        "\t=> ",
        |question| {
            let (body, path) = question
                .split_once('\t')
                .expect("the number of a body and a path");
            let body: usize = body.parse().expect("the number of a body");
            let found = || {
                let path = JmesPath::compile(path).ok()?;
                let json = parse_strict(bodies[body]).ok()?;
                let found = path.search(&json).ok()?;
                let values = || format!("[{}]", found.values().join(", "));
                Some(if found.is_null() {
                    "NULL".to_owned()
                } else {
                    values()
                })
            };
            found().unwrap_or("!".to_owned())
        },
    );
}

#[test]
fn xpath() {
    let bodies: Vec<&str> = include_str!("../golden/xpath_docs.txt")
        .split("=====\n")
        .collect();
    check(include_str!("../golden/xpath.txt"), "\t=>", |question| {
        let columns: Vec<&str> = question.split('\t').collect();
        let body = bodies[columns[2].parse::<usize>().expect("the number of a body")];
        let answer = || {
            let tree = match columns[0] {
                "tidy" => Tree::parse_tolerant(body),
                mode => Tree::parse_xml(body, mode == "ns")?,
            };
            XPath::compile(columns[3])?.evaluate(&tree, columns[1] == "f")
        };
        let text = match answer() {
            Ok(answer) => answer
                .into_values()
                .iter()
                .map(|value| format!(" [{}]", value.as_deref().unwrap_or("null")))
                .collect(),
            Err(error) => format!(" ! {error}"),
        };
        text.replace('\n', "␤")
    });
}

/// Xalan's messages about expressions that it evaluates on `<r><a k='1'>t</a><a/><n>3</n></r>`.
#[test]
fn faults_of_xpath() {
    let tree = Tree::parse_xml("<r><a k='1'>t</a><a/><n>3</n></r>", false).expect("it is XML");
    check(include_str!("../golden/xalan.txt"), "\t=> ", |question| {
        let answer = XPath::compile(question).and_then(|path| path.evaluate(&tree, false));
        answer.map_or_else(|error| error.message, |_| "OK".to_owned())
    });
}

#[test]
fn xpath2() {
    saxon(include_str!("../golden/xpath2.txt"));
}

#[test]
fn grammar_of_xpath2() {
    saxon(include_str!("../golden/xpath2_grammar.txt"));
}

/// Saxon's answers; where the second column has a `!`, any fault will do.
fn saxon(golden: &str) {
    let bodies: Vec<&str> = include_str!("../golden/xpath2_docs.txt")
        .split("=====\n")
        .collect();
    check(golden, "\t=>", |question| {
        let columns: Vec<&str> = question.split('\t').collect();
        let body = bodies[columns[0].parse::<usize>().expect("the number of a body")];
        let answer = || {
            let path = XPath2::compile(columns[3], &columns[2].replace('|', "\n"));
            let path = path.map_err(|fault| fault.to_string())?;
            let tree = Tree::parse_saxon(body).map_err(|error| error.message)?;
            let found = path.evaluate(&tree, columns[1].contains('f'));
            found.map_err(|error| error.message)
        };
        let text: String = match answer() {
            Ok(values) => values.iter().map(|value| format!(" [{value}]")).collect(),
            Err(_) if columns[1].contains('!') => " !".to_owned(),
            Err(error) => format!(" ! {error}"),
        };
        text.replace('\n', "␤")
    });
}

#[test]
fn faults_of_xml() {
    check(
        include_str!("../golden/xml_faults.txt"),
        "\t=> ",
        |question| {
            let text = question
                .replace("\\n", "\n")
                .replace("\\u0001", "\u{1}")
                .replace("\\uFFFE", "\u{FFFE}");
            match Tree::parse_xml(&text, false) {
                Ok(_) => "OK".to_owned(),
                Err(error) => error.message,
            }
        },
    );
}

/// What Saxon says about documents that are not well-formed, with the places.
#[test]
fn places_of_faults_of_xml() {
    check(
        include_str!("../golden/xml_places.txt"),
        "\t=> ",
        |question| {
            let text = unescaped(question);
            match Tree::parse_saxon(&text) {
                Ok(_) => "OK".to_owned(),
                Err(error) => error.message,
            }
        },
    );
}

fn unescaped(question: &str) -> String {
    let text = question.replace("\\n", "\n").replace("\\r", "\r");
    let text = text.replace("\\t", "\t").replace("\\u0001", "\u{1}");
    text.replace("\\uFFFE", "\u{FFFE}")
}

/// The text of a document and its attributes, as Xerces and Saxon read documents with declarations of their own.
#[test]
fn entities_of_xml() {
    check(
        include_str!("../golden/xml_entities.txt"),
        "\t=> ",
        |question| {
            let (parser, text) = question.split_once('\t').expect("two columns");
            let text = unescaped(text);
            let answer = || {
                if parser == "saxon" {
                    let path = XPath2::compile("string-join((string(/), //@*), '|')", "");
                    let tree = Tree::parse_saxon(&text)?;
                    return path.expect("it is a path").evaluate(&tree, false);
                }
                let tree = Tree::parse_xml(&text, false)?;
                let mut values = Vec::new();
                for path in ["string(/)", "//@*"] {
                    let found = XPath::compile(path)?.evaluate(&tree, false)?;
                    values.extend(found.into_values().into_iter().flatten());
                }
                Ok(vec![values.join("|")])
            };
            match answer() {
                Ok(values) => values[0].replace('\n', "\\n"),
                Err(error) => format!("! {}", error.message),
            }
        },
    );
}

/// A few bytes of entities may stand for gigabytes.
#[test]
fn entities_add_no_more_than_allowed() {
    let mut text = "<!DOCTYPE r [<!ENTITY e0 \"0123456789\">".to_owned();
    for level in 1..10 {
        let inner = format!("&e{};", level - 1).repeat(10);
        text.push_str(&format!("<!ENTITY e{level} \"{inner}\">"));
    }
    for last in [3, 9] {
        let bomb = format!("{text}]><r>&e{last};</r>");
        match Tree::parse_xml(&bomb, false) {
            Ok(_) => assert_eq!(last, 3),
            Err(error) => {
                assert_eq!(last, 9);
                assert!(error.message.contains("\"100000\""), "{}", error.message);
            }
        }
    }
    let long = "x".repeat(1 << 20);
    let text = format!(
        "<!DOCTYPE r [<!ENTITY e \"{long}\">]><r>{}</r>",
        "&e;".repeat(40)
    );
    let error = Tree::parse_saxon(&text).expect_err("it is too long");
    assert!(
        error
            .message
            .ends_with("drumfire.xml.max_entity_bytes allows"),
        "{}",
        error.message
    );
}

#[test]
fn external_entities_are_not_read() {
    let text = "<!DOCTYPE r SYSTEM 'http://127.0.0.1:1/x.dtd' [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><r a='1'>[&x;&y;]</r>";
    let tree =
        Tree::parse_xml(text, false).expect("references to what is elsewhere stand for nothing");
    let found = XPath::compile("/r").and_then(|path| path.evaluate(&tree, false));
    assert_eq!(
        found.expect("it is found").into_values(),
        [Some("[]".to_owned())]
    );
    let refused = Tree::parse_saxon(text).expect_err("Saxon would read it");
    assert!(
        refused
            .message
            .contains("The external entity \"x\" is not read")
    );
}

#[test]
fn css_selectors() {
    let pages: Vec<Document> = include_str!("../golden/css_pages.txt")
        .split("=====\n")
        .map(Document::parse)
        .collect();
    check(include_str!("../golden/css.txt"), "\t=>", |question| {
        let columns: Vec<&str> = question.split('\t').collect();
        let engine = if columns[0] == "jodd" {
            Engine::Jodd
        } else {
            Engine::Jsoup
        };
        let page: usize = columns[1].parse().expect("the number of a page");
        match Selector::compile(columns[3], engine) {
            Ok(selector) => {
                let values = selector
                    .select(&pages[page], Some(columns[2]), usize::MAX)
                    .expect("a small result");
                values
                    .iter()
                    .map(|value| format!(" [{}]", value.as_deref().unwrap_or("null")))
                    .collect::<String>()
            }
            Err(_) => " !".to_owned(),
        }
        .replace('\n', "␤")
    });
}

#[test]
fn page_resources() {
    let base = Url::parse("http://h/a/b.html").expect("a URL");
    check(
        include_str!("../golden/resources.txt"),
        "\t=>",
        |question| {
            let (user_agent, text) = question.split_once('\t').expect("a browser and a page");
            let text = decode(text);
            let urls = match user_agent {
                "css" => css_urls(&text, &base),
                _ => embedded(&text, &base, Some(user_agent)),
            };
            match urls {
                Ok(urls) => urls.iter().map(|url| format!(" {url}")).collect(),
                Err(error) => format!(" ! {error}"),
            }
        },
    );
}

#[test]
fn compiled_things_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Pattern>();
    shared::<JsonPath>();
    shared::<Selector>();
    shared::<JmesPath>();
    shared::<XPath>();
    shared::<drumfire_query::boundary::Boundary>();
}

/// Found by fuzzing.
#[test]
fn a_function_of_a_scan_alone_fails_as_in_jayway() {
    let json = Json::parse("{\"a\":[3,4]}").expect("it is JSON");
    for path in ["$..max($.a[0],$.a[1],2)", "$..length()"] {
        let path = JsonPath::compile(path).expect("a path");
        let error = path.read(&json).expect_err("there is nothing to scan for");
        assert_eq!(error.message, "Current path token is a leaf");
    }
}

/// Found by fuzzing: Jayway starts anew at the beginning of such a path, for ever.
#[test]
fn a_path_without_an_end_is_refused_where_jayways_stack_overflows() {
    let endless = "['].sort_by(@', TTTT&[1";
    let long = "$".to_owned() + &".a".repeat(5_000);
    for path in [endless, long.as_str()] {
        let error = JsonPath::compile(path).expect_err("it has no end");
        assert_eq!(error.message, "java.lang.StackOverflowError");
    }
    assert!(JsonPath::compile(&("$".to_owned() + &".a".repeat(249))).is_ok());
}
