//! Every element in odd shapes: properties that are missing, doubled, of another kind or full of nonsense, elements in the
//! wrong place, includes in circles. No command that reads a plan may panic on one or take long.
//!
//! `MUTATIONS=40` makes 40 plans of each class instead of one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use drumfire_commands::console::Console;
use drumfire_commands::dispatch;
use drumfire_commands::engine::{Engine, JavaBridge};
use drumfire_commands::terminal::style::Style;
use drumfire_elements::{ElementFacts, FileUse, Kind, Property, Role, Saved, all};
use drumfire_testkit::mutation::{Random, rounds};
use drumfire_testkit::plans::{debug, plan};
use serde_json::json;

use crate::lsp::Client;

/// How long a command may take: much longer where the compiler did not optimize, and other tests run beside it.
const LIMIT: Duration = Duration::from_secs(if cfg!(debug_assertions) { 60 } else { 5 });

/// Values that are seldom right.
const VALUES: [&str; 34] = [
    "",
    " ",
    "0",
    "-1",
    "9223372036854775808",
    "-99999999999999999999",
    "1e400",
    "NaN",
    "Infinity",
    "0x10",
    "1.5",
    "true",
    "yes",
    "${",
    "${}",
    "${__",
    "${__P(",
    "${__P(a,${b}",
    "}}${a}",
    "$",
    "\\",
    "${__time(",
    "${__groovy(1/0)}",
    "${x${y${z}}}",
    "p.jmx",
    "q.jmx",
    "&#0;",
    "&#1;&#27;[2J",
    "&#xd800;",
    "\u{202e}ünïcödé\u{1f600}",
    "a,b,,c",
    "http://[::1",
    "&lt;x&gt;",
    "*",
];

/// The XML of a property, as JMeter would save it.
fn written(property: &Property, value: &str, saved: Saved) -> String {
    let name = property.name;
    let tag = match saved {
        Saved::StringProp => "stringProp",
        Saved::BoolProp => "boolProp",
        Saved::IntProp => "intProp",
        Saved::LongProp => "longProp",
        Saved::FloatProp => {
            return format!(
                "<FloatProperty><name>{name}</name><value>{value}</value></FloatProperty>"
            );
        }
        Saved::DoubleProp => {
            return format!("<doubleProp><name>{name}</name><value>{value}</value></doubleProp>");
        }
        Saved::CollectionProp => {
            let inner = match property.kind {
                Kind::Items(item) => {
                    let fields: String = item.fields.iter().map(usual).collect();
                    format!(
                        r#"<elementProp name="{value}" elementType="{}">{fields}</elementProp>"#,
                        item.class
                    )
                }
                Kind::Rows(columns) => {
                    let cells: String = columns
                        .iter()
                        .map(|_| format!(r#"<stringProp name="1">{value}</stringProp>"#))
                        .collect();
                    format!(r#"<collectionProp name="1">{cells}</collectionProp>"#)
                }
                _ => format!(r#"<stringProp name="1">{value}</stringProp>"#),
            };
            return format!(r#"<collectionProp name="{name}">{inner}</collectionProp>"#);
        }
        Saved::ElementProp => {
            let (class, fields) = match property.kind {
                Kind::Element(item) => (
                    item.class,
                    item.fields.iter().map(usual).collect::<String>(),
                ),
                _ => ("Arguments", String::new()),
            };
            return format!(
                r#"<elementProp name="{name}" elementType="{class}">{fields}</elementProp>"#
            );
        }
        Saved::ObjProp => {
            return format!(
                r#"<objProp><name>{name}</name><value class="x">{value}</value></objProp>"#
            );
        }
    };
    format!(r#"<{tag} name="{name}">{value}</{tag}>"#)
}

fn usual(property: &Property) -> String {
    let value = match property.default {
        "" => "a",
        value => value,
    };
    let value = value.replace('&', "&amp;").replace('<', "&lt;");
    written(property, &value, property.saved)
}

/// An odd form of a property; several, or none.
fn odd(property: &Property, random: &mut Random) -> String {
    const FORMS: [Saved; 9] = [
        Saved::StringProp,
        Saved::BoolProp,
        Saved::IntProp,
        Saved::LongProp,
        Saved::FloatProp,
        Saved::DoubleProp,
        Saved::CollectionProp,
        Saved::ElementProp,
        Saved::ObjProp,
    ];
    let value = match property.kind {
        Kind::File(FileUse::Plan) => ["p.jmx", "q.jmx"][random.below(2)],
        _ => VALUES[random.below(VALUES.len())],
    };
    match random.below(10) {
        0 => String::new(),
        1 => written(property, value, property.saved) + &usual(property),
        2..=4 => written(property, value, FORMS[random.below(FORMS.len())]),
        5 => format!(r#"<collectionProp name="{}"/>"#, property.name),
        6 => {
            let (open, close) = (r#"<collectionProp name="">"#, "</collectionProp>");
            let depth = 1 + random.below(60);
            format!(
                r#"<collectionProp name="{}">{}x{}</collectionProp>"#,
                property.name,
                open.repeat(depth),
                close.repeat(depth)
            )
        }
        7 => written(
            property,
            &"${__P(a,".repeat(1 + random.below(300)),
            property.saved,
        ),
        _ => written(property, value, property.saved),
    }
}

/// The element with some properties in odd forms, and what stands below it.
fn element(facts: &ElementFacts, below: &str, random: &mut Random) -> String {
    let properties: Vec<&Property> = facts.properties().collect();
    let often = 1 + random.below(4);
    let mut inside: Vec<String> = properties
        .iter()
        .map(|property| match random.below(often) {
            0 => odd(property, random),
            _ => usual(property),
        })
        .collect();
    if random.below(4) == 0 && !inside.is_empty() {
        let doubled = inside[random.below(inside.len())].clone();
        inside.insert(random.below(inside.len()), doubled);
    }
    let class = facts.class;
    let name = match random.below(4) {
        0 => VALUES[random.below(VALUES.len())].replace('"', ""),
        _ => facts.name.to_owned(),
    };
    let gui = match random.below(6) {
        0 => "",
        1 => "HttpTestSampleGui",
        _ => facts.guis().next().unwrap_or_default(),
    };
    let enabled = ["true", "true", "true", "false", "${__P(e,true)}", ""][random.below(6)];
    let tree = match random.below(8) {
        0 => String::new(),
        1 => "<hashTree/><hashTree/>".to_owned(),
        _ => format!("<hashTree>{below}</hashTree>"),
    };
    format!(
        r#"<{class} guiclass="{gui}" testclass="{class}" testname="{name}" enabled="{enabled}">{}</{class}>{tree}
"#,
        inside.concat()
    )
}

/// A plan around an odd element, which may stand where it does not belong.
fn odd_plan(facts: &ElementFacts, random: &mut Random) -> String {
    let others: Vec<&ElementFacts> = all().collect();
    let mut below = match random.below(3) {
        0 => element(others[random.below(others.len())], "", random),
        1 => debug("d"),
        _ => String::new(),
    };
    for _ in 0..[0, 0, 0, 40][random.below(4)] {
        below = element(facts, &below, random);
    }
    let own = element(facts, &below, random);
    let group =
        |inside: &str| drumfire_testkit::plans::group(1, &[inside, &debug("after")].concat());
    let is_top = matches!(
        facts.role,
        Role::ThreadGroup | Role::Fragment | Role::NonTest
    );
    match (random.below(8), is_top) {
        (0, _) => plan(&own),
        (1, _) => {
            format!(r#"<jmeterTestPlan version="1.2"><hashTree>{own}</hashTree></jmeterTestPlan>"#)
        }
        (_, true) => plan(&[own, group("")].concat()),
        (_, false) => plan(&group(&own)),
    }
}

/// Carries out a command in this process.
fn carry_out(words: &[String]) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut console = Console {
        out: &mut out,
        err: &mut err,
        variable: &|_| None,
        style: Style::PLAIN,
        err_style: Style::PLAIN,
        is_terminal: false,
        is_optimized: true,
        err_columns: None,
    };
    dispatch::execute(
        words,
        &Engine {
            java: JavaBridge::NONE,
        },
        &mut console,
    );
}

/// Every command that reads a plan, on `p.jmx`, which the last ones change.
fn commands(folder: &Path) -> Vec<Vec<String>> {
    let file = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let (odd, good) = (file("p.jmx"), file("good.jmx"));
    let words: &[&[&str]] = &[
        &["check", &odd, "--verbose"],
        &["check", &odd, "--json"],
        &["plan", &odd, "--agents", "3"],
        &["doctor", &odd],
        &["show", &odd],
        &["diff", &odd, &good],
        &["diff", &good, &odd],
        &["merge-plan", &good, &odd, &good],
        &["import", &odd, "-o", &file("imported.jmx")],
        &["fmt", "--check", &odd],
        &["rename", "var", &odd, "a", "b"],
        &["rename", "element", &odd, "after", "b"],
        &["set", &odd, "*>enabled=false"],
        &["fmt", &odd],
    ];
    let owned = |words: &&[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    words.iter().map(owned).collect()
}

/// Carries out all commands on a plan; says which one panicked or did not end.
fn try_all(folder: &Path, text: &str) -> Result<(), String> {
    std::fs::write(folder.join("p.jmx"), text).expect("a plan can be written");
    let commands = commands(folder);
    let (ended, endings) = channel();
    let worker = std::thread::Builder::new()
        .stack_size(8 << 20)
        .spawn(move || {
            for words in commands {
                let done = catch_unwind(AssertUnwindSafe(|| carry_out(&words)));
                if ended.send((words, done.is_ok())).is_err() {
                    return;
                }
            }
        });
    let worker = worker.expect("a thread");
    let mut last = vec!["nothing".to_owned()];
    loop {
        match endings.recv_timeout(LIMIT) {
            Ok((words, true)) => last = words,
            Ok((words, false)) => return Err(format!("{words:?} panicked")),
            Err(RecvTimeoutError::Timeout) => {
                return Err(format!("the command after {last:?} does not end"));
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    worker.join().map_err(|_| "a thread panicked".to_owned())
}

/// An editor in a folder with a plan that includes `p.jmx`.
fn started_editor(include: &str) -> Client {
    let editor = Client::start();
    std::fs::write(editor.path("q.jmx"), include).expect("a plan can be written");
    editor
}

/// Asks everything about a plan; says which question was not answered. The plan has one name in all rounds, since each question
/// reads all plans of the folder.
fn ask_all(editor: &mut Client, text: &str) -> Result<(), String> {
    editor.open("p.jmx", text);
    let document = json!({ "uri": editor.uri("p.jmx") });
    let line = text.lines().count().saturating_sub(3);
    let place = json!({ "line": line, "character": 40 });
    for question in ["documentSymbol", "hover", "completion", "definition"] {
        let about = json!({ "textDocument": document, "position": place });
        let answer = editor.answer_within(LIMIT, &format!("textDocument/{question}"), about);
        match answer {
            Ok(answer) if answer.get("error").is_none() => {}
            answer => return Err(format!("the editor's {question}: {answer:?}")),
        }
    }
    editor.tell("textDocument/didClose", json!({ "textDocument": document }));
    Ok(())
}

#[test]
fn no_element_in_an_odd_shape_stops_a_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let good = plan(&drumfire_testkit::plans::group(1, &debug("d")));
    std::fs::write(folder.join("good.jmx"), &good).expect("a plan can be written");
    let include = r#"<IncludeController guiclass="IncludeControllerGui" testclass="IncludeController" testname="i"><stringProp name="IncludeController.includepath">p.jmx</stringProp></IncludeController><hashTree/>"#;
    let include = plan(include);
    std::fs::write(folder.join("q.jmx"), &include).expect("a plan can be written");
    let mut editor = started_editor(&include);
    let mut random = Random::default();
    let mut faults = Vec::new();
    for facts in all() {
        for round in 0..rounds(1) {
            let text = odd_plan(facts, &mut random);
            if let Err(fault) = try_all(folder, &text) {
                faults.push(format!("{} {round}: {fault}\n{text}", facts.class));
            }
            if let Err(fault) = ask_all(&mut editor, &text) {
                faults.push(format!("{} {round}: {fault}\n{text}", facts.class));
                editor = started_editor(&include);
            }
        }
    }
    assert!(
        faults.is_empty(),
        "{} faults\n{}",
        faults.len(),
        faults.join("\n\n")
    );
}
