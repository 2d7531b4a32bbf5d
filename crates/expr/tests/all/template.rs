//! The properties of a compiled text, and the diagnostics of a wrong one.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use drumfire_expr::{Compiler, Properties, Scope, Severity, Template, TemplateError};

fn compiler() -> Compiler {
    Compiler::new(Properties::new())
}

fn fault(text: &str) -> TemplateError {
    Template::compile(text, &mut compiler()).unwrap_err()
}

fn warnings(text: &str) -> Vec<TemplateError> {
    let mut compiler = compiler();
    Template::compile(text, &mut compiler).unwrap();
    compiler.take_warnings()
}

#[test]
fn literals_are_known_without_a_user() {
    let compile = |text: &str| Template::compile(text, &mut compiler()).unwrap();
    assert_eq!(compile("a\\,b").literal(), Some("a\\,b"));
    assert_eq!(compile("a\\,${b").literal(), Some("a,b"));
    assert!(compile("").is_empty_literal());
    assert_eq!(compile("${a}").literal(), None);
    assert_eq!(compile("${a}").source(), "${a}");
    assert_eq!(Template::raw("${a}").literal(), Some("${a}"));
}

#[test]
fn a_template_lists_the_variables_and_functions_in_it() {
    let mut compiler = compiler();
    let text = "${a}${__P(${b},${__V(x_${c})})}${a}${__P(y)}";
    let template = Template::compile(text, &mut compiler).unwrap();
    let names: Vec<&str> = template
        .reads()
        .iter()
        .map(|slot| compiler.names().name(*slot))
        .collect();
    assert_eq!(names, ["a", "b", "c"]);
    let functions: Vec<&str> = template.functions().iter().map(|spec| spec.name).collect();
    assert_eq!(functions, ["__P", "__V"]);
    assert!(!template.reads_previous_response() && !template.needs_jvm());
}

#[test]
fn a_regular_expression_with_an_input_variable_needs_no_response() {
    let reads = |text: &str| {
        Template::compile(text, &mut compiler())
            .unwrap()
            .reads_previous_response()
    };
    assert!(reads("${__regexFunction(a,b)}"));
    assert!(reads("${__regexFunction(a,b,,,,,)}"));
    assert!(!reads("${__regexFunction(a,b,,,,,page)}"));
    assert!(reads("${__groovy(1)}"));
}

#[test]
fn faults_point_at_the_call() {
    let text = "x ${__P(${__Random(1)})} y";
    let fault = fault(text);
    assert_eq!(fault.code, "function-arguments");
    assert_eq!(fault.severity, Severity::Error);
    assert_eq!(&text[fault.span], "${__Random(1)}");
    assert_eq!(
        fault.help.as_deref(),
        Some("__Random(smallest number, largest number[, variable for the result])")
    );
}

#[test]
fn a_call_must_end_with_a_brace() {
    let fault = fault("${__P(a)b}");
    assert_eq!(fault.code, "function-end");
    assert_eq!(
        fault.to_string(),
        "Expected } after __P function call in ${__P(a)b}"
    );
}

#[test]
fn calls_are_nested_a_hundred_deep_at_most() {
    let nested = |deep: usize| format!("{}x{}", "${__eval(".repeat(deep), ")}".repeat(deep));
    let mut compiler = compiler();
    let template = Template::compile(&nested(100), &mut compiler).unwrap();
    assert_eq!(template.eval(compiler.scope_mut()), "x");
    for text in [nested(101), nested(50_000), "${__eval(".repeat(50_000)] {
        let fault = fault(&text);
        assert_eq!(fault.code, "function-nesting");
        assert!(text.get(fault.span).is_some());
    }
}

#[test]
fn a_text_that_evaluates_itself_stops_the_user() {
    let mut compiler = compiler();
    compiler.define("a", "${__evalVar(b)}");
    compiler.define("b", "${__V(x)}${__eval(${__evalVar(a)})}");
    let template = Template::compile("${__evalVar(a)}", &mut compiler).unwrap();
    let ended = template.try_eval(compiler.scope_mut()).unwrap_err();
    assert!(
        matches!(ended, drumfire_expr::Raised::StopThread(_)),
        "{ended}"
    );
    let fine = Template::compile("${__eval(${__V(x)})}", &mut compiler).unwrap();
    assert_eq!(fine.eval(compiler.scope_mut()), "x");
}

#[test]
fn typing_errors_are_warned_about() {
    let unknown = &warnings("a${__random(1,2)}")[0];
    assert_eq!(unknown.code, "unknown-function");
    assert_eq!(unknown.severity, Severity::Warning);
    assert_eq!(unknown.help.as_deref(), Some("did you mean __Random?"));
    assert_eq!(unknown.span, 1..17);
    assert_eq!(warnings("x ${a")[0].code, "unterminated-reference");
    assert_eq!(warnings("${a} ${__jm__Users__idx} ${b}"), []);
}

#[test]
fn variables_defined_before_the_start_are_there_at_the_start() {
    let mut compiler = compiler();
    compiler.define("host", "example.org");
    let late = Template::compile("${late}", &mut compiler).unwrap();
    compiler
        .scope_mut()
        .vars_mut()
        .set_named("late", "x".into());
    assert_eq!(late.eval(compiler.scope_mut()), "x");
    let (names, vars) = compiler.finish();
    assert_eq!(
        vars.get(names.slot("host").unwrap()).map(|v| &**v),
        Some("example.org")
    );
    assert_eq!(vars.get_named("late").map(|v| &**v), Some("x"));
}

#[test]
fn exceptions_before_the_start_are_kept() {
    let mut compiler = compiler();
    let template = Template::compile("${__intSum(1,x,y)}", &mut compiler).unwrap();
    assert_eq!(template.eval(compiler.scope_mut()), "");
    assert!(compiler.scope_mut().take_raised().is_some());
    assert!(compiler.scope_mut().take_raised().is_none());
}

#[test]
fn templates_can_be_shared_between_workers() {
    fn shared<T: Send + Sync>() {}
    shared::<Template>();
    shared::<Properties>();
    shared::<drumfire_expr::VarNames>();
}

#[test]
fn a_locale_names_months_and_days() {
    use drumfire_java::JvmDefaults;
    use drumfire_java::date::{DatePattern, Locale};
    // Noon UTC on a Wednesday, the same day almost everywhere.
    let millis = 1_720_008_000_000;
    let pattern = DatePattern::compile("EEEE d MMMM").unwrap();
    for (locale, expected) in [
        ("en_GB", "Wednesday 3 July"),
        ("fr", "mercredi 3 juillet"),
        ("de_DE", "Mittwoch 3 Juli"),
        ("es", "miércoles 3 julio"),
        ("it", "mercoledì 3 luglio"),
        ("pt-BR", "quarta-feira 3 julho"),
        ("nl", "woensdag 3 juli"),
        ("xx", "Wednesday 3 July"),
    ] {
        let text = pattern.format_millis(
            millis,
            &JvmDefaults::of_process().zone,
            &Locale::new(locale),
        );
        assert_eq!(text.as_deref(), Some(expected), "{locale}");
    }
    assert_eq!(
        pattern.format_millis(
            i64::MAX,
            &JvmDefaults::of_process().zone,
            &Locale::new("en")
        ),
        None
    );
    assert_eq!(
        DatePattern::compile("yyyy#").unwrap_err().to_string(),
        "Pattern includes reserved character: '#'"
    );
}

#[test]
fn the_span_of_a_fault_stays_within_a_text_that_breaks_off() {
    for text in [
        "${__dateTimeConvert(317${__P(\\",
        "${__Random(\\",
        "${__P(a${__Random(1\\",
    ] {
        if let Err(fault) = Template::compile(text, &mut compiler()) {
            assert!(text.get(fault.span.clone()).is_some(), "{text}: {fault:?}");
        }
    }
}
