//! Expressions and what JMeter made of them, as `golden/RecordJexl.java` recorded it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support::TestScope;
use drumfire_expr::{Compiler, Properties, Scope, Template};

/// Expressions that are left to a JVM, which gives JMeter's own answer.
const ELSEWHERE: [&str; 5] = ["\"x\".nosuch()", "foo(1)", "\"a\".b", "@foo", "#"];

/// The function's result, or `!` if the variable for the result is not set.
fn eval(function: &str, expression: &str) -> String {
    let escaped = expression
        .replace('\\', "\\\\")
        .replace(',', "\\,")
        .replace('$', "\\$");
    let properties = Properties::new();
    properties.set("number", "42");
    let mut compiler = Compiler::new(properties.clone());
    compiler.define("a", "1");
    compiler.define("b", "two");
    compiler.define("v", "");
    // The braces of a block would end a function's argument, so the text comes from a variable.
    compiler.define("expression", expression);
    let template = if expression.contains(['{', '}', '(', ')']) {
        format!("${{{function}(${{expression}},v)}}")
    } else {
        format!("${{{function}({escaped},v)}}")
    };
    let template = Template::compile(&template, &mut compiler).unwrap();
    let (_, mut vars) = compiler.finish();
    vars.remove_named("v");
    let mut scope = TestScope::new(vars, properties);
    let result = template.try_eval(&mut scope).unwrap().into_string();
    let elsewhere = !scope.scripts.is_empty();
    assert_eq!(elsewhere, ELSEWHERE.contains(&expression), "{expression}");
    match scope.vars().get_named("v") {
        Some(_) => result,
        None => "!".to_owned(),
    }
}

#[test]
fn expressions_evaluate_as_in_jmeter() {
    check(include_str!("../golden/jexl.tsv"));
}

#[test]
fn random_expressions_evaluate_as_in_jmeter() {
    check(include_str!("../golden/jexl_random.tsv"));
}

fn check(recorded: &str) {
    let mut wrong = Vec::new();
    for line in recorded
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with("//"))
    {
        let expression = line.split('\t').next().unwrap();
        let ours = format!(
            "{expression}\t{}\t{}",
            eval("__jexl3", expression),
            eval("__jexl2", expression)
        );
        if ours != line && !ELSEWHERE.contains(&expression) {
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
