//! Redis Data Sets with a server, as jmeter-plugins-redis 0.2 and 0.7 take rows in JMeter 5.6.3.

use crate::support::{group, run_group};
use drumfire_testkit::databases::Redis;

const CLASS: &str = "kg.apc.jmeter.config.redis.RedisDataSet";

fn text(name: &str, value: &str) -> String {
    format!(r#"<stringProp name="{name}">{value}</stringProp>"#)
}

/// A data set: key, names and delimiter, then what the version of the plugin has.
fn data_set(server: &Redis, key: &str, names: &str, delimiter: &str, more: &str) -> String {
    let port = server.port.to_string();
    let settings = [
        ("host", "127.0.0.1"),
        ("port", &port),
        ("timeout", ""),
        ("password", "pw"),
        ("redisKey", key),
        ("variableNames", names),
        ("delimiter", delimiter),
    ];
    let settings: String = settings
        .iter()
        .map(|(name, value)| text(name, value))
        .collect();
    format!(
        r#"<{CLASS} guiclass="TestBeanGUI" testclass="{CLASS}" testname="r">{settings}{more}</{CLASS}><hashTree/>"#
    )
}

fn of_type(is_set: bool, recycles: bool) -> String {
    format!(
        r#"<intProp name="redisDataType">{}</intProp><boolProp name="recycleDataOnUse">{recycles}</boolProp>"#,
        i32::from(is_set)
    )
}

fn mode(mode: i32) -> String {
    format!(r#"<intProp name="getMode">{mode}</intProp>"#)
}

fn debug(name: &str) -> String {
    format!(
        r#"<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="{name}"/><hashTree/>"#
    )
}

/// Labels of at most so many iterations.
fn labels(body: &str, loops: u32) -> Vec<String> {
    let ran = run_group(&group(1, loops, true), body, &[]);
    ran.column("label").into_iter().map(str::to_owned).collect()
}

fn fill(server: &Redis, command: &str, key: &str, rows: &[&str]) {
    server.command(0, &[&[command, key], rows].concat());
}

#[test]
fn rows_are_taken_as_the_plugin_takes_them() {
    let Some(server) = Redis::start() else {
        return;
    };
    values(&server);
    modes(&server);
    ends(&server);
    waits_in_transactions(&server);
    users_share_the_rows(&server);
}

fn values(server: &Redis) {
    fill(server, "RPUSH", "l", &["x,y,z,w", ",1", "2,,3", "", "q,"]);
    let seen = debug("${a}/${b}/${c}");
    let body = data_set(server, "l", "a,,b,c", ",", &mode(0)) + &seen;
    assert_eq!(labels(&body, 8), ["x/y/z", "/1/z", "2//3", "2//3", "q//3"]);
    fill(server, "RPUSH", "k", &["a\\tb", "c\td"]);
    let body = data_set(server, "k", "a", "\\t", &of_type(false, false)) + &seen;
    assert_eq!(labels(&body, 8), ["a/${b}/${c}", "c\td/${b}/${c}"]);
    fill(server, "RPUSH", "k", &["p q  ü"]);
    let body = data_set(server, "k", "a,b, c,c", " ", &of_type(false, false)) + &seen;
    assert_eq!(labels(&body, 8), ["p/q/ü"]);
    fill(server, "RPUSH", "k", &["a,b"]);
    let body = data_set(server, "k", "a", "", &of_type(false, false)) + &seen;
    assert_eq!(labels(&body, 8), ["a,b/${b}/${c}"]);
}

fn modes(server: &Redis) {
    let labels = |key: &str, more: &str| {
        labels(&(data_set(server, key, "a", ",", more) + &debug("${a}")), 4)
    };
    fill(server, "RPUSH", "turn", &["1", "2", "3"]);
    assert_eq!(labels("turn", &of_type(false, true)), ["3", "2", "1", "3"]);
    let legacy = of_type(false, true) + &text("plugins.redis.legacy", "true");
    fill(server, "RPUSH", "push", &["1", "2", "3"]);
    assert_eq!(labels("push", &legacy), ["1", "2", "3", "1"]);
    fill(server, "SADD", "set", &["only"]);
    assert_eq!(labels("set", &of_type(true, true)), ["only"; 4]);
    assert_eq!(labels("set", &mode(1)), ["only"; 4]);
    let legacy = of_type(true, true) + &text("plugins.redis.legacy", "true");
    assert_eq!(labels("set", &legacy), ["only"; 4]);
    assert_eq!(labels("set", &of_type(true, false)), ["only"]);
    // Properties that are not there are 0 and false.
    fill(server, "RPUSH", "plain", &["1", "2"]);
    assert_eq!(labels("plain", ""), ["1", "2"]);
    let ordered = of_type(false, false) + r#"<stringProp name="database">3</stringProp>"#;
    server.command(3, &["RPUSH", "third", "in3"]);
    assert_eq!(labels("third", &ordered), ["in3"]);
}

fn ends(server: &Redis) {
    let seen =
        |key: &str, more: &str| labels(&(data_set(server, key, "a", ",", more) + &debug("s")), 2);
    assert!(seen("none", &mode(0)).is_empty());
    server.command(0, &["SET", "text", "v"]);
    assert!(seen("text", &of_type(false, false)).is_empty());
    fill(server, "RPUSH", "left", &["1"]);
    assert!(seen("left", &text("port", "1")).is_empty());
    assert!(seen("left", &text("password", "wrong")).is_empty());
    assert_eq!(seen("left", &text("password", "pw")), ["s"]);
}

/// A transaction has its name before the row is there, and goes on once it is.
fn waits_in_transactions(server: &Redis) {
    for is_parent in [true, false] {
        fill(server, "RPUSH", "t", &["t1", "t2"]);
        let data_set = data_set(server, "t", "a", ",", &mode(0));
        let body = format!(
            r#"<TransactionController guiclass="g" testclass="TransactionController" testname="T ${{a}}"><boolProp name="TransactionController.parent">{is_parent}</boolProp></TransactionController><hashTree>{data_set}{}</hashTree>"#,
            debug("s ${a}")
        );
        let expected: &[&str] = if is_parent {
            &["T ${a}", "T t1"]
        } else {
            &["s t1", "T ${a}", "s t2", "T t1"]
        };
        assert_eq!(labels(&body, 2), expected);
    }
}

fn users_share_the_rows(server: &Redis) {
    let rows: Vec<String> = (0..200).map(|row| row.to_string()).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    fill(server, "RPUSH", "many", &rows);
    let body = data_set(server, "many", "a", ",", &mode(0)) + &debug("${a}");
    let ran = run_group(&group(10, 50, true), &body, &[]);
    let mut seen = ran.column("label");
    seen.sort_by_key(|label| label.parse::<u32>().expect("a number"));
    assert_eq!(seen, rows);
}
