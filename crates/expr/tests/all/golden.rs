//! Texts and what JMeter made of them, as `golden/Record.java` recorded it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support::TestScope;
use drumfire_expr::{Compiler, Properties, Raised, Scope, Template};

/// The variables that the recorder defines.
const VARIABLES: [(&str, &str); 10] = [
    ("a", "1"),
    ("b", "two"),
    ("name", "a"),
    ("empty", ""),
    ("a b", "spaced"),
    ("text", "${a}-\\,-${b}"),
    ("html", "<p class=\"x\">café & 'co'</p>"),
    ("list_1", "one"),
    ("list_2", "two"),
    ("page", "<a href='x1'>1</a><a href='y22'>2</a><b>3</b>"),
];

fn check(recorded: &str) {
    let properties = Properties::new();
    properties.set("greeting", " hello ");
    properties.set("number", "42");
    let mut wrong = Vec::new();
    let lines = recorded
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with("//"));
    for line in lines {
        let text = line.split('\t').next().unwrap();
        let ours = result(text, &properties);
        if ours != line {
            wrong.push(format!("JMeter: {line}\nours:   {ours}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The line that the recorder would write.
fn result(shown: &str, properties: &Properties) -> String {
    let text = shown.replace('␤', "\n").replace('␉', "\t");
    let mut compiler = Compiler::new(properties.clone());
    for (name, value) in VARIABLES {
        compiler.define(name, value);
    }
    let template = match Template::compile(&text, &mut compiler) {
        Ok(template) => template,
        Err(fault) => return escaped(shown, &format!("!invalid {}", fault.message)),
    };
    let (_, vars) = compiler.finish();
    let mut scope = TestScope::new(vars, properties.clone());
    let mut result = match template.try_eval(&mut scope) {
        Ok(value) if template.literal().is_some() && template.literal() == Some(&text) => {
            format!("= {value}")
        }
        Ok(value) => value.into_string(),
        Err(Raised::Exception(thrown)) => format!("!exception {}", thrown.class),
        Err(other) => format!("{other:?}"),
    };
    result = escaped(shown, &result);
    let mut set: Vec<_> = scope
        .vars()
        .iter()
        .filter(|(name, _)| name.starts_with('v'))
        .collect();
    set.sort();
    for (name, value) in set {
        result += &format!("\t{name}={value}");
    }
    result
}

fn escaped(shown: &str, result: &str) -> String {
    format!("{shown}\t{}", result.replace('\n', "␤").replace('\t', "␉"))
}

#[test]
fn templates_evaluate_as_in_jmeter() {
    check(include_str!("../golden/templates.tsv"));
}

#[test]
fn random_templates_evaluate_as_in_jmeter() {
    check(include_str!("../golden/templates_random.tsv"));
}

#[test]
fn odd_arguments_are_taken_as_in_jmeter() {
    check(include_str!("../golden/arguments.tsv"));
}

#[test]
fn functions_of_plugins_evaluate_as_in_jmeter() {
    check(include_str!("../golden/plugins.tsv"));
}

/// The dates were recorded in Paris, so this test runs itself again with that time zone.
#[test]
fn dates_are_read_and_written_as_in_jmeter() {
    const HERE: &str = "DRUMFIRE_TEST_IN_PARIS";
    if std::env::var_os(HERE).is_some() {
        check(include_str!("../golden/dates.tsv"));
        return check(include_str!("../golden/dates_random.tsv"));
    }
    let again = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "golden::dates_are_read_and_written_as_in_jmeter",
            "--nocapture",
        ])
        .env(HERE, "1")
        .env("TZ", "Europe/Paris")
        .env("LC_ALL", "C")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&again.stderr);
    assert!(again.status.success(), "{said}");
    let told = String::from_utf8_lossy(&again.stdout);
    assert!(told.contains("1 passed"), "the test did not run: {told}");
}
