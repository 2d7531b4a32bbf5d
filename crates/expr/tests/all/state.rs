//! Functions that keep something between calls, or touch files.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::TestScope;
use drumfire_expr::{Compiler, Level, Properties, Raised, Scope, Template};

/// A plan of several properties, and users of it.
struct Plan {
    templates: Vec<Template>,
    vars: drumfire_expr::Vars,
    properties: Properties,
}

fn plan(texts: &[&str]) -> Plan {
    let properties = Properties::new();
    let mut compiler = Compiler::new(properties.clone());
    let compile = |text: &&str| Template::compile(text, &mut compiler).unwrap();
    let templates = texts.iter().map(compile).collect();
    let (_, vars) = compiler.finish();
    Plan {
        templates,
        vars,
        properties,
    }
}

impl Plan {
    fn user(&self) -> TestScope {
        TestScope::new(self.vars.clone(), self.properties.clone())
    }

    fn eval(&self, index: usize, user: &mut TestScope) -> String {
        self.templates[index].eval(user).into_string()
    }
}

/// A file that is removed at the end of the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(content: &[u8]) -> Scratch {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("drumfire-expr-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, content).unwrap();
        Scratch(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_counter_belongs_to_its_place_in_the_plan() {
    let plan = plan(&[
        "${__counter(FALSE)}",
        "${__counter(FALSE)}",
        "${__counter(TRUE)}",
    ]);
    let (mut first, mut second) = (plan.user(), plan.user());
    assert_eq!(plan.eval(0, &mut first), "1");
    assert_eq!(plan.eval(0, &mut second), "2");
    assert_eq!(plan.eval(1, &mut first), "1");
    assert_eq!(plan.eval(2, &mut first), "1");
    assert_eq!(plan.eval(2, &mut first), "2");
    assert_eq!(plan.eval(2, &mut second), "1");
}

#[test]
fn lines_of_a_file_are_shared_by_all_users_and_start_again_at_the_end() {
    let file = Scratch::new("one\r\ntwo\rthree".as_bytes());
    let plan = plan(&[&format!("${{__StringFromFile({},line)}}", file.path())]);
    let (mut first, mut second) = (plan.user(), plan.user());
    assert_eq!(plan.eval(0, &mut first), "one");
    assert_eq!(plan.eval(0, &mut second), "two");
    assert_eq!(plan.eval(0, &mut first), "three");
    assert_eq!(plan.eval(0, &mut first), "one");
    assert_eq!(first.vars.get_named("line").map(|v| &**v), Some("one"));
    assert_eq!(second.vars.get_named("line").map(|v| &**v), Some("two"));
}

#[test]
fn an_empty_file_gives_null() {
    let file = Scratch::new(b"");
    let plan = plan(&[&format!("${{__StringFromFile({},line)}}", file.path())]);
    let mut user = plan.user();
    assert_eq!(plan.eval(0, &mut user), "null");
    assert_eq!(user.vars.get_named("line"), None);
}

#[test]
fn numbered_files_end_the_user() {
    let file = Scratch::new(b"a\n");
    let format = format!("'{}'#", file.path());
    let first = format!("{}1", file.path());
    std::fs::write(&first, "x\ny\n").unwrap();
    let plan = plan(&[&format!("${{__StringFromFile({format},,1,1)}}")]);
    let mut user = plan.user();
    assert_eq!(plan.eval(0, &mut user), "x");
    assert_eq!(plan.eval(0, &mut user), "y");
    assert_eq!(plan.eval(0, &mut user), "");
    assert_eq!(
        user.raised,
        Some(Raised::StopThread("End of sequence".into()))
    );
    std::fs::remove_file(first).unwrap();
}

#[test]
fn every_user_has_its_own_row_of_a_csv_file() {
    let file = Scratch::new(b"a,1\nb,2,x\n\nnot data");
    let path = file.path();
    let read = |what: &str| format!("${{__CSVRead({path},{what})}}");
    let plan = plan(&[&read("0"), &read("1"), &read("next"), &read("2")]);
    let (mut first, mut second) = (plan.user(), plan.user());
    assert_eq!(plan.eval(0, &mut first), "a");
    assert_eq!(plan.eval(0, &mut second), "b");
    assert_eq!(plan.eval(1, &mut first), "1");
    assert_eq!(plan.eval(3, &mut second), "x");
    assert_eq!(plan.eval(3, &mut first), "");
    assert_eq!(first.messages.last().unwrap().0, Level::Warn);
    assert_eq!(plan.eval(2, &mut first), "");
    assert_eq!(plan.eval(0, &mut first), "a");
}

#[test]
fn a_csv_file_may_have_an_alias_and_lie_next_to_the_plan() {
    let file = Scratch::new(b"a,,c,\n");
    let name = file.0.file_name().unwrap().to_str().unwrap();
    let plan = plan(&[
        &format!("${{__CSVRead({name},*x)}}"),
        "${__CSVRead(*x,0)}|${__CSVRead(*x,1)}|${__CSVRead(*x,2)}|${__CSVRead(*x,3)}",
        "${__CSVRead(*y,0)}",
    ]);
    let mut user = plan.user();
    user.base_dir = std::env::temp_dir();
    assert_eq!(plan.eval(0, &mut user), "");
    assert_eq!(plan.eval(1, &mut user), "a||c|");
    assert_eq!(plan.eval(2, &mut user), "");
}

#[test]
fn a_file_is_read_in_its_encoding() {
    let file = Scratch::new(b"caf\xe9\n");
    let path = file.path();
    let plan = plan(&[
        &format!("${{__FileToString({path},ISO-8859-1,text)}}"),
        &format!("${{__FileToString({path})}}"),
        &format!("${{__FileToString({path},nope)}}"),
    ]);
    let mut user = plan.user();
    assert_eq!(plan.eval(0, &mut user), "café\n");
    assert_eq!(user.vars.get_named("text").map(|v| &**v), Some("café\n"));
    assert_eq!(plan.eval(1, &mut user), "caf\u{fffd}\n");
    assert_eq!(plan.eval(2, &mut user), "");
    assert!(matches!(user.raised, Some(Raised::Exception(_))));
}

#[test]
fn a_file_is_written_and_appended_to() {
    let file = Scratch::new(b"old");
    let path = file.path();
    let plan = plan(&[
        &format!("${{__StringToFile({path},a\\nb,false)}}"),
        &format!("${{__StringToFile( {path} ,é,,UTF-16BE)}}"),
        &format!("${{__StringToFile({path},é€,true,latin1)}}"),
    ]);
    let mut user = plan.user();
    for index in 0..3 {
        assert_eq!(plan.eval(index, &mut user), "true");
    }
    assert_eq!(std::fs::read(path).unwrap(), b"a\nb\x00\xe9\xe9?");
}

#[test]
fn numbers_are_drawn_from_the_whole_range() {
    let plan = plan(&[
        "${__Random(1,3)}",
        "${__RandomString(4,ab)}",
        "${__RandomString(5)}",
    ]);
    let mut user = plan.user();
    let drawn: std::collections::BTreeSet<_> = (0..100).map(|_| plan.eval(0, &mut user)).collect();
    assert_eq!(drawn.into_iter().collect::<Vec<_>>(), ["1", "2", "3"]);
    let text = plan.eval(1, &mut user);
    assert!(
        text.len() == 4 && text.chars().all(|c| matches!(c, 'a' | 'b')),
        "{text}"
    );
    assert_eq!(plan.eval(2, &mut user).encode_utf16().count(), 5);
}

#[test]
fn uuids_say_that_they_are_random() {
    let plan = plan(&["${__UUID}"]);
    let mut user = plan.user();
    for _ in 0..20 {
        let uuid = plan.eval(0, &mut user);
        let groups: Vec<usize> = uuid.split('-').map(str::len).collect();
        assert_eq!(groups, [8, 4, 4, 4, 12], "{uuid}");
        assert_eq!(&uuid[14..15], "4", "{uuid}");
        assert!("89ab".contains(&uuid[19..20]), "{uuid}");
    }
    assert_ne!(plan.eval(0, &mut user), plan.eval(0, &mut user));
}

#[test]
fn the_time_is_the_scopes() {
    let plan = plan(&[
        "${__time}",
        "${__time(/1000,t)}",
        "${__timeShift(,,PT1S,)}",
        "${__time(USER1)}",
    ]);
    let mut user = plan.user();
    assert_eq!(plan.eval(0, &mut user), "1720000000123");
    assert_eq!(plan.eval(1, &mut user), "1720000000");
    assert_eq!(user.vars.get_named("t").map(|v| &**v), Some("1720000000"));
    assert_eq!(plan.eval(2, &mut user), "1720000001123");
    assert_eq!(plan.eval(3, &mut user), "");
}

#[test]
fn a_format_is_read_when_the_plan_is_compiled() {
    let mut compiler = Compiler::new(Properties::new());
    compiler.define("divisor", "/1000");
    let template = Template::compile("${__time(${divisor})}", &mut compiler).unwrap();
    let (_, vars) = compiler.finish();
    let mut user = TestScope::new(vars, Properties::new());
    user.vars.set_named("divisor", "/1".into());
    assert_eq!(template.eval(&mut user), "1720000000");
}

#[test]
fn a_fraction_makes_a_date_unreadable_for_time_shift() {
    let plan = plan(&["${__timeShift(yyyy-MM-dd HH:mm:ss.SSS,2020-01-01 00:00:00.123,PT0S,)}"]);
    let mut user = plan.user();
    assert!(plan.eval(0, &mut user).starts_with("2024-07-03"));
    assert_eq!(user.messages[0].0, Level::Error);
}

#[test]
fn a_day_of_the_year_contradicts_the_defaults_of_time_shift() {
    let plan = plan(&[
        "${__timeShift(yyyy-DDD,2021-140,PT0S,)}",
        "${__timeShift(yyyy-DDD,2021-001,PT0S,)}",
    ]);
    let mut user = plan.user();
    assert_eq!(plan.eval(0, &mut user), "2024-185");
    assert_eq!(plan.eval(1, &mut user), "2021-001");
}

#[test]
fn the_log_has_the_threads_name() {
    let plan = plan(&[
        "${__log(hi,warn)}",
        "${__logn(hi,nope,why)}",
        "${__log(hi,,,note)}",
    ]);
    let mut user = plan.user();
    assert_eq!(plan.eval(0, &mut user), "hi");
    assert_eq!(plan.eval(1, &mut user), "");
    assert_eq!(plan.eval(2, &mut user), "hi");
    let expected = [
        (Level::Warn, "Thread Group 1-7  :  hi".to_owned()),
        (
            Level::Debug,
            "Thread Group 1-7  :  hi\njava.lang.Throwable: why".to_owned(),
        ),
        (Level::Info, "Thread Group 1-7 note hi".to_owned()),
    ];
    assert_eq!(user.messages, expected);
}

#[test]
fn the_names_of_the_test_are_the_scopes() {
    let plan = plan(&[
        "${__samplerName(name)}",
        "${__TestPlanName}",
        "${__machineName()}",
        "${__machineIP}",
    ]);
    let mut user = plan.user();
    user.sampler_name = Some("Login".into());
    assert_eq!(plan.eval(0, &mut user), "Login");
    assert_eq!(user.vars.get_named("name").map(|v| &**v), Some("Login"));
    assert_eq!(plan.eval(1, &mut user), "plan.jmx");
    assert!(!plan.eval(2, &mut user).is_empty());
    assert!(plan.eval(3, &mut user).parse::<std::net::IpAddr>().is_ok());
}

#[test]
fn a_regular_expression_looks_into_the_previous_response() {
    let plan = plan(&["${__regexFunction(id=(\\d+),$1$,,,none,v)}"]);
    assert!(plan.templates[0].reads_previous_response());
    let mut user = plan.user();
    assert_eq!(plan.eval(0, &mut user), "none");
    user.previous_response = Some("id=1 id=22".into());
    assert_eq!(plan.eval(0, &mut user), "1");
    assert_eq!(user.vars.get_named("v_matchNr").map(|v| &**v), Some("2"));
}

#[test]
fn scripts_are_run_by_someone_else() {
    let plan = plan(&[
        "${__groovy(1 + ${__threadNum},v)}",
        "${__javaScript(Math.abs(-1))}",
        "${__jexl3(new('x'))}",
    ]);
    assert!(plan.templates.iter().all(Template::needs_jvm));
    let mut user = plan.user();
    assert_eq!(plan.eval(0, &mut user), "Groovy");
    assert_eq!(plan.eval(1, &mut user), "JavaScript");
    assert_eq!(plan.eval(2, &mut user), "Jexl3");
    assert_eq!(user.scripts, ["1 + 7", "Math.abs(-1)", "new('x')"]);
    assert_eq!(user.vars.get_named("v").map(|v| &**v), Some("Groovy"));
}

#[test]
fn javascript_expressions_need_nobody_else() {
    let plan = plan(&[
        "${__javaScript(${__threadNum} + 1,v)}",
        r#"a${__javaScript("${__threadName}" == )}b"#,
        r#"${__javaScript(${__P(none,threadName)} == "x")}"#,
        r#"${__javaScript(vars.get("x") == "y")}"#,
    ]);
    let needed: Vec<bool> = plan.templates.iter().map(Template::needs_jvm).collect();
    assert_eq!(needed, [false, false, false, true]);
    let mut user = plan.user();
    assert_eq!(plan.eval(0, &mut user), "8");
    assert_eq!(user.vars.get_named("v").map(|v| &**v), Some("8"));
    // InvalidVariableException: the function contributes nothing.
    assert_eq!(plan.eval(1, &mut user), "ab");
    // A text that only a variable makes more than an expression is for a JavaScript engine.
    assert_eq!(plan.eval(2, &mut user), "JavaScript");
    assert_eq!(user.scripts, ["threadName == \"x\""]);
}

#[test]
fn an_exception_is_reported_and_the_text_is_empty() {
    let plan = plan(&["a${__Random(x,1)}b"]);
    let mut user = plan.user();
    assert_eq!(plan.eval(0, &mut user), "");
    assert!(
        matches!(&user.raised, Some(Raised::Exception(thrown)) if thrown.class == "java.lang.NumberFormatException")
    );
}

#[test]
fn a_property_set_by_one_user_is_seen_by_others() {
    let plan = plan(&["${__setProperty(x,${__threadNum})}", "${__P(x)}"]);
    let (mut first, mut second) = (plan.user(), plan.user());
    first.thread_name = "Group 1-3".into();
    assert_eq!(plan.eval(1, &mut second), "1");
    assert_eq!(plan.eval(0, &mut first), "");
    assert_eq!(plan.eval(1, &mut second), "3");
    assert_eq!(second.properties().get("x").as_deref(), Some("3"));
}

#[test]
fn a_property_is_looked_up_anew_where_its_name_changes() {
    let plan = plan(&["${__P(${n},${d})}"]);
    let mut user = plan.user();
    user.properties().set("x", " 1 ");
    let mut ask = |name: &str, default: &str| {
        user.vars.set_named("n", name.into());
        user.vars.set_named("d", default.into());
        plan.eval(0, &mut user)
    };
    assert_eq!(ask("x", "2"), "1");
    assert_eq!(ask("y", "2"), "2");
    assert_eq!(ask("y", "3"), "3");
}

#[test]
fn queues_are_shared_by_all_users() {
    let plan = plan(&[
        "${__fifoPut(q,${__threadNum})}",
        "${__fifoPop(q,v)}",
        "${__fifoGet(q)}",
    ]);
    let (mut first, mut second) = (plan.user(), plan.user());
    assert_eq!(plan.eval(0, &mut first), "7");
    assert_eq!(plan.eval(2, &mut second), "7");
    assert_eq!(plan.eval(1, &mut second), "7");
    assert_eq!(second.vars.get_named("v").map(|v| &**v), Some("7"));
    assert_eq!(plan.eval(1, &mut second), "null");
    assert_eq!(second.vars.get_named("v"), None);
    assert!(plan.properties.fifos().is_empty("q"));
}

#[test]
fn xpath_gives_the_nodes_of_a_file_in_turn_to_all_users() {
    let file = Scratch::new(
        b"<?xml version='1.0' encoding='ISO-8859-1'?><a><b>1\xfc</b><b><c/>x</b><b k='v'>3</b><e/></a>",
    );
    let path = file.path();
    let plan = plan(&[
        &format!("${{__XPath({path},//b)}}"),
        &format!("${{__XPath({path},//b)}}-${{__XPath({path},//b)}}"),
        &format!("${{__XPath({path},//b/@k)}}"),
    ]);
    let (mut first, mut second) = (plan.user(), plan.user());
    assert_eq!(plan.eval(0, &mut first), "1ü");
    assert_eq!(plan.eval(1, &mut second), "null-3");
    assert_eq!(plan.eval(0, &mut second), "1ü");
    assert_eq!(plan.eval(2, &mut first), "v");
    assert_eq!(plan.eval(2, &mut first), "v");
}

#[test]
fn xpath_is_empty_where_nothing_is_found_or_can_be_read() {
    let (file, bad) = (
        Scratch::new(b"<a><b>1</b></a>"),
        Scratch::new(b"<a><b></a>"),
    );
    let (path, bad) = (file.path(), bad.path());
    let texts = [
        format!("${{__XPath({path},//zz)}}"),
        format!("${{__XPath({path},count(//b))}}"),
        format!("${{__XPath({path},//[)}}"),
        format!("${{__XPath({bad},//b)}}"),
        "${__XPath(/there/is/no/such/file,//b)}".to_owned(),
    ];
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let plan = plan(&texts);
    let mut user = plan.user();
    for (index, text) in texts.iter().enumerate() {
        assert_eq!(plan.eval(index, &mut user), "", "{text}");
    }
    let last = user.messages.pop();
    assert_eq!(
        last,
        Some((Level::Error, "XPathFileContainer is null!".to_owned()))
    );
}
