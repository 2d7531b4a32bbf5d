//! Parallel Controllers: rows as jmeter-parallel 0.12 writes them in JMeter 5.6.3.

use std::sync::{Arc, Barrier};

use crate::support::{Ran, get, group, run_group};
use drumfire_testkit::server::{ResponseStep, Server, ok, respond};

fn element(class: &str, name: &str, properties: &str, children: &str) -> String {
    format!(
        r#"<{class} guiclass="g" testclass="{class}" testname="{name}">{properties}</{class}><hashTree>{children}</hashTree>"#
    )
}

fn flag(name: &str, value: bool) -> String {
    format!(r#"<boolProp name="{name}">{value}</boolProp>"#)
}

fn text(name: &str, value: &str) -> String {
    format!(r#"<stringProp name="{name}">{value}</stringProp>"#)
}

fn parallel(name: &str, parent: bool, limit: u32, children: &str) -> String {
    let properties = flag("PARENT_SAMPLE", parent)
        + &flag("LIMIT_MAX_THREAD_NUMBER", limit > 0)
        + &format!(r#"<intProp name="MAX_THREAD_NUMBER">{limit}</intProp>"#);
    element(
        "com.blazemeter.jmeter.controller.ParallelSampler",
        name,
        &properties,
        children,
    )
}

/// Dummy Samplers of these names; those that begin with `!` fail.
fn dummies(names: &str) -> String {
    let dummy = |name: &str| {
        let properties = flag("SUCCESFULL", !name.starts_with('!'))
            + &text("RESPONSE_CODE", "200")
            + &text("RESPONSE_DATA", "body");
        element("kg.apc.jmeter.samplers.DummySampler", name, &properties, "")
    };
    names.split(' ').map(dummy).collect()
}

fn simple(name: &str, children: &str) -> String {
    element("GenericController", name, "", children)
}

fn transaction(name: &str, parent: bool, children: &str) -> String {
    let properties = flag("TransactionController.parent", parent)
        + &flag("TransactionController.includeTimers", false);
    element("TransactionController", name, &properties, children)
}

fn action(number: u32) -> String {
    let properties = format!(r#"<intProp name="ActionProcessor.action">{number}</intProp>"#);
    element("TestAction", "act", &properties, "")
}

fn set(name: &str, value: &str) -> String {
    let properties = format!(
        r#"<elementProp name="SetVariablesAction" elementType="Arguments"><collectionProp name="Arguments.arguments"><elementProp name="{name}" elementType="Argument">{}{}</elementProp></collectionProp></elementProp>"#,
        text("Argument.name", name),
        text("Argument.value", value)
    );
    element(
        "kg.apc.jmeter.control.sampler.SetVariablesAction",
        "set",
        &properties,
        "",
    )
}

/// Two iterations of one user, or one if `on_error` is not given.
fn ran(on_error: Option<&str>, body: &str) -> Ran {
    let loops = if on_error.is_some() { 2 } else { 1 };
    let group = group(1, loops, true)
        + &text(
            "ThreadGroup.on_sample_error",
            on_error.unwrap_or("continue"),
        );
    run_group(
        &group,
        body,
        &[("jmeter.save.saveservice.subresults", "true")],
    )
}

fn labels(on_error: &str, body: &str) -> String {
    ran(Some(on_error), body).column("label").join(" ")
}

/// Thread, label, success, bytes and users of each row.
fn rows(body: &str) -> Vec<String> {
    let rows = ran(None, body).rows;
    let columns = [
        "threadName",
        "label",
        "success",
        "bytes",
        "grpThreads",
        "allThreads",
    ];
    rows.iter()
        .map(|row| columns.map(|column| row[column].as_str()).join("|"))
        .collect()
}

#[test]
fn children_run_at_once() {
    let both = Arc::new(Barrier::new(2));
    let server = Server::start(move |_| {
        both.wait(); // answers only when both have asked
        vec![ResponseStep::Send(ok("x"))]
    });
    let port = server.address().port();
    let children = get("a", port, "/a", "", "") + &get("b", port, "/b", "", "");
    let ran = ran(None, &parallel("par", false, 0, &children));
    assert_eq!(ran.column("responseCode"), ["200", "200"]);
    assert_eq!(ran.column("threadName"), ["parallel par", "parallel par"]);
}

#[test]
fn rows_are_of_the_controllers_threads() {
    assert_eq!(
        rows(&(parallel("par", false, 1, &dummies("a b")) + &dummies("z"))),
        [
            "parallel par|a|true|4|1|1",
            "parallel par|b|true|4|1|1",
            "G 1-1|z|true|4|1|1"
        ]
    );
    let names = dummies("${__threadNum}_${__threadGroupName}");
    assert_eq!(
        rows(&parallel("par", false, 0, &names)),
        ["parallel par|parallel par_|true|4|1|1"]
    );
}

#[test]
fn a_parent_sample_holds_those_of_the_children() {
    let children = dummies("a !b") + &simple("c", &dummies("c1"));
    assert_eq!(
        rows(&parallel("par", true, 1, &children)),
        [
            "G 1-1|par|false|12|1|1",
            "G 1-1|a|true|4|1|1",
            "G 1-1|!b|false|4|1|1",
            "G 1-1|c1|true|4|1|1"
        ]
    );
    assert_eq!(
        rows(&parallel("par", true, 0, "")),
        ["G 1-1|par|true|0|1|1"]
    );
    assert_eq!(
        rows(&(parallel("par", false, 0, "") + &dummies("z"))),
        ["G 1-1|z|true|4|1|1"]
    );
}

#[test]
fn transactions_below_and_above() {
    // Samples of a transaction with a parent sample are told of alone, too; one without is not told of.
    let children =
        transaction("u", true, &dummies("d e")) + &transaction("t", false, &dummies("a b"));
    assert_eq!(
        rows(&parallel("par", true, 1, &children)),
        [
            "G 1-1|par|true|24|1|1",
            "G 1-1|d|true|4|1|1",
            "G 1-1|e|true|4|1|1",
            "G 1-1|u|true|8|1|1",
            "G 1-1|d|true|4|1|1",
            "G 1-1|e|true|4|1|1",
            "G 1-1|a|true|4|1|1",
            "G 1-1|b|true|4|1|1"
        ]
    );
    assert_eq!(
        rows(&transaction(
            "t",
            true,
            &parallel("par", false, 1, &dummies("a b"))
        )),
        [
            "parallel par|a|true|4|1|1",
            "parallel par|b|true|4|1|1",
            "G 1-1|t|true|0|1|1"
        ]
    );
    let around = transaction("u", false, &parallel("par", false, 1, &dummies("a !b")));
    let ran = ran(None, &around);
    let last = &ran.rows[2];
    assert_eq!(
        (
            last["threadName"].as_str(),
            last["success"].as_str(),
            last["bytes"].as_str()
        ),
        ("parallel par", "false", "8")
    );
    assert_eq!(
        last["responseMessage"],
        "Number of samples in transaction : 1, number of failing samples : 1"
    );
}

#[test]
fn a_failed_child_matters_only_if_it_was_the_last() {
    let plan =
        |names: &str, parent: bool| parallel("p", parent, 1, &dummies(names)) + &dummies("z");
    assert_eq!(
        labels("startnextloop", &plan("!a b", false)),
        "!a b z !a b z"
    );
    assert_eq!(labels("startnextloop", &plan("b !a", false)), "b !a b !a");
    assert_eq!(labels("stopthread", &plan("b !a", false)), "b !a z b !a z");
    assert_eq!(
        labels("startnextloop", &plan("!a b", true)),
        "p !a b p !a b"
    );
    assert_eq!(labels("stopthread", &plan("!a b", true)), "p !a b");
}

#[test]
fn controllers_below_begin_anew_and_hear_no_iterations() {
    let throughput = element(
        "ThroughputController",
        "t",
        r#"<intProp name="ThroughputController.style">0</intProp><intProp name="ThroughputController.maxThroughput">5</intProp>"#,
        &dummies("never"),
    );
    let once = element("OnceOnlyController", "o", "", &dummies("o"));
    let body = parallel("p", false, 1, &(throughput + &once));
    assert_eq!(labels("continue", &body), "o o");
}

#[test]
fn variables_are_those_of_all_children() {
    let children = simple("c", &(dummies("c1") + &set("v", "1"))) + &dummies("e_${v}");
    let body = parallel("p", false, 1, &children) + &dummies("z_${v}");
    assert_eq!(labels("continue", &body), "c1 e_1 z_1 c1 e_1 z_1");
}

#[test]
fn error_actions_end_the_child_or_its_user() {
    let plan = |number: u32| {
        let children =
            simple("c", &(dummies("c1") + &action(number) + &dummies("c2"))) + &dummies("b");
        parallel("p", false, 1, &children) + &dummies("z")
    };
    assert_eq!(labels("continue", &plan(0)), "c1 b");
    assert_eq!(labels("continue", &plan(3)), "c1 b c1 b");
    assert_eq!(labels("continue", &plan(4)), "c1 b z c1 b z");
    assert_eq!(labels("continue", &plan(5)), "c1 b z c1 b z");
}

#[test]
fn one_within_another_does_not_run() {
    let inner = parallel("in", true, 0, &dummies("i"));
    let body = parallel("p", false, 1, &(dummies("a") + &inner)) + &dummies("z");
    assert_eq!(labels("continue", &body), "a z a z");
}

#[test]
fn children_share_connections_cookies_and_are_kept_apart_by_locks() {
    let server = Server::start(|request| {
        let body = request.header("Cookie").unwrap_or("none");
        let answer = match request.target.as_str() {
            "/set" => respond("200 OK", "Set-Cookie: k=v; Path=/\r\n", body),
            _ => ok(body),
        };
        vec![ResponseStep::Send(answer)]
    });
    let port = server.address().port();
    let manager = element("CookieManager", "m", "", "").replace("\"g\"", "\"CookiePanel\""); // JMeter asks for it
    let locked = |name: &str| {
        element(
            "CriticalSectionController",
            "l",
            &text("CriticalSectionController.lockName", "one"),
            &dummies(name),
        )
    };
    let children = get("a", port, "/set", "", "") + &locked("l1") + &locked("l2");
    let body = manager + &parallel("p", false, 0, &children) + &get("z", port, "/see", "", "");
    let ran = ran(Some("continue"), &body);
    assert_eq!(ran.rows.len(), 8);
    let requests = server.requests();
    let cookies: Vec<_> = requests.iter().map(|seen| seen.header("Cookie")).collect();
    assert_eq!(cookies, [None, Some("k=v"), Some("k=v"), Some("k=v")]);
    assert_eq!(server.connections(), 1);
}
