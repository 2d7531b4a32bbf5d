//! Thread groups: their order, what they do after a failed sample, and how they end. The expected values were seen in
//! JMeter 5.6.3.

use std::time::{Duration, Instant};

use crate::support::{Ran, get, group, run_group, run_plan};
use drumfire_testkit::server::{ResponseStep, Server, ok, respond};

fn answer(request: &drumfire_testkit::server::ReceivedRequest) -> Vec<ResponseStep> {
    vec![ResponseStep::Send(if request.target == "/bad" {
        respond("500 Oops", "", "")
    } else {
        ok("")
    })]
}

/// Two iterations of a good, a bad and another good request.
fn after_a_failure(action: &str) -> Ran {
    let server = Server::start(answer);
    let port = server.address().port();
    let body = get("first", port, "/", "", "")
        + &get("bad", port, "/bad", "", "")
        + &get("last", port, "/", "", "");
    let settings = group(1, 2, true)
        + &format!(r#"<stringProp name="ThreadGroup.on_sample_error">{action}</stringProp>"#);
    run_group(&settings, &body, &[])
}

#[test]
fn a_failed_sample_ends_what_the_group_says() {
    assert_eq!(
        after_a_failure("continue").column("label"),
        ["first", "bad", "last", "first", "bad", "last"]
    );
    assert_eq!(after_a_failure("continue").users, 1);
    assert_eq!(
        after_a_failure("startnextloop").column("label"),
        ["first", "bad", "first", "bad"]
    );
    assert_eq!(
        after_a_failure("stopthread").column("label"),
        ["first", "bad"]
    );
    assert_eq!(
        after_a_failure("stoptest").column("label"),
        ["first", "bad"]
    );
    assert_eq!(
        after_a_failure("stoptestnow").column("label"),
        ["first", "bad"]
    );
}

fn groups(plan: &str, names: &[(&str, &str)], body: impl Fn(&str) -> String) -> String {
    let mut groups = String::new();
    for (class, name) in names {
        groups += &format!(
            r#"<{class} guiclass="x" testclass="{class}" testname="{name}">{}</{class}><hashTree>{}</hashTree>"#,
            group(1, 1, true),
            body(name)
        );
    }
    format!(
        r#"<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree><TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="p">{plan}</TestPlan><hashTree>{groups}</hashTree></hashTree></jmeterTestPlan>"#
    )
}

#[test]
fn set_up_comes_first_and_tear_down_last_whatever_their_place() {
    let server = Server::start(answer);
    let port = server.address().port();
    let names = [
        ("PostThreadGroup", "down"),
        ("ThreadGroup", "main"),
        ("SetupThreadGroup", "up"),
    ];
    let ran = run_plan(
        &groups("", &names, |name| get(name, port, "/", "", "")),
        &[],
    );
    assert_eq!(ran.column("threadName"), ["up 1-1", "main 1-1", "down 1-1"]);
}

#[test]
fn tear_down_runs_after_a_stop_only_if_the_plan_says_so() {
    let server = Server::start(answer);
    let port = server.address().port();
    let stop = r#"<TestAction guiclass="TestActionGui" testclass="TestAction" testname="stop"><intProp name="ActionProcessor.action">0</intProp><intProp name="ActionProcessor.target">2</intProp></TestAction><hashTree/>"#;
    let names = [("ThreadGroup", "main"), ("PostThreadGroup", "down")];
    let body = |name: &str| get(name, port, "/", "", "") + if name == "main" { stop } else { "" };
    let tear_down = r#"<boolProp name="TestPlan.tearDown_on_shutdown">true</boolProp>"#;
    assert_eq!(
        run_plan(&groups("", &names, body), &[]).column("label"),
        ["main"]
    );
    assert_eq!(
        run_plan(&groups(tear_down, &names, body), &[]).column("label"),
        ["main", "down"]
    );
}

#[test]
fn serial_groups_wait_for_each_other() {
    let server = Server::start(|request| {
        let pause = if request.target == "/one" { 150 } else { 0 };
        vec![
            ResponseStep::Pause(Duration::from_millis(pause)),
            ResponseStep::Send(ok("")),
        ]
    });
    let port = server.address().port();
    let names = [("ThreadGroup", "one"), ("ThreadGroup", "two")];
    let body = |name: &str| get(name, port, &format!("/{name}"), "", "");
    let serial = r#"<boolProp name="TestPlan.serialize_threadgroups">true</boolProp>"#;
    assert_eq!(
        run_plan(&groups(serial, &names, body), &[]).column("label"),
        ["one", "two"]
    );
    assert_eq!(
        run_plan(&groups("", &names, body), &[]).column("label"),
        ["two", "one"]
    );
}

#[test]
fn the_duration_ends_an_endless_loop() {
    let server = Server::start(answer);
    let settings = group(2, 1, true).replace(
        r#"<stringProp name="LoopController.loops">1<"#,
        r#"<stringProp name="LoopController.loops">-1<"#,
    ) + r#"<boolProp name="ThreadGroup.scheduler">true</boolProp><stringProp name="ThreadGroup.duration">1</stringProp><stringProp name="ThreadGroup.delay"></stringProp>"#;
    let began = Instant::now();
    let ran = run_group(
        &settings,
        &get("a", server.address().port(), "/", "", ""),
        &[],
    );
    assert!(ran.rows.len() > 2);
    assert!((Duration::from_millis(900)..Duration::from_secs(10)).contains(&began.elapsed()));
}

#[test]
fn a_loop_that_finds_no_sampler_leaves_others_their_turn() {
    let server = Server::start(answer);
    let port = server.address().port();
    let never = r#"<WhileController guiclass="WhileControllerGui" testclass="WhileController" testname="w"><stringProp name="WhileController.condition">true</stringProp></WhileController><hashTree>
<IfController guiclass="IfControllerPanel" testclass="IfController" testname="i"><stringProp name="IfController.condition">false</stringProp><boolProp name="IfController.useExpression">true</boolProp></IfController><hashTree>GET</hashTree></hashTree>"#;
    let names = [("ThreadGroup", "stuck"), ("ThreadGroup", "other")];
    let stop = r#"<TestAction guiclass="TestActionGui" testclass="TestAction" testname="stop"><intProp name="ActionProcessor.action">0</intProp><intProp name="ActionProcessor.target">2</intProp></TestAction><hashTree/>"#;
    let body = |name: &str| match name {
        "stuck" => never.replace("GET", &get("never", port, "/", "", "")),
        _ => get("other", port, "/", "", "") + stop,
    };
    assert_eq!(
        run_plan(&groups("", &names, body), &[]).column("label"),
        ["other"]
    );
}

#[test]
fn an_assertion_that_throws_fails_its_sample() {
    let java = |name: &str, size: &str| {
        format!(
            r#"<JavaSampler guiclass="JavaTestSamplerGui" testclass="JavaSampler" testname="{name}"><elementProp name="arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">
<elementProp name="Sleep_Time" elementType="Argument"><stringProp name="Argument.name">Sleep_Time</stringProp><stringProp name="Argument.value">0</stringProp></elementProp></collectionProp></elementProp>
<stringProp name="classname">org.apache.jmeter.protocol.java.test.JavaTest</stringProp></JavaSampler><hashTree>
<SizeAssertion guiclass="SizeAssertionGui" testclass="SizeAssertion" testname="size"><stringProp name="Assertion.test_field">SizeAssertion.response_data</stringProp>
<stringProp name="SizeAssertion.size">{size}</stringProp><intProp name="SizeAssertion.operator">1</intProp></SizeAssertion><hashTree/></hashTree>"#
        )
    };
    let ran = run_group(&group(1, 1, true), &(java("a", "x") + &java("b", "0")), &[]);
    assert_eq!(ran.column("label"), ["a", "b"]);
    assert_eq!(ran.column("success"), ["false", "true"]);
    assert_eq!(
        ran.column("failureMessage"),
        [
            "java.lang.NumberFormatException: For input string: \"x\"",
            ""
        ]
    );
}

#[test]
fn more_matches_than_the_limit_fail_the_sample_and_name_it() {
    let server = Server::start(|_| vec![ResponseStep::Send(ok("aaaa"))]);
    let regex = |number: &str| {
        format!(
            r#"<RegexExtractor guiclass="RegexExtractorGui" testclass="RegexExtractor" testname="r"><stringProp name="RegexExtractor.refname">v</stringProp><stringProp name="RegexExtractor.regex">a</stringProp><stringProp name="RegexExtractor.template">$0$</stringProp><stringProp name="RegexExtractor.match_number">{number}</stringProp></RegexExtractor><hashTree/>"#
        )
    };
    let boundary = r#"<BoundaryExtractor guiclass="BoundaryExtractorGui" testclass="BoundaryExtractor" testname="b"><stringProp name="BoundaryExtractor.refname">w</stringProp><stringProp name="BoundaryExtractor.lboundary">a</stringProp><stringProp name="BoundaryExtractor.rboundary">a</stringProp><stringProp name="BoundaryExtractor.match_number">-1</stringProp></BoundaryExtractor><hashTree/>"#;
    let port = server.address().port();
    let body = [&regex("-1"), boundary, &regex("2")].map(|below| get("s", port, "/", "", below));
    let rows = |most: &str| {
        let ran = run_group(
            &group(1, 1, true),
            &body.concat(),
            &[("drumfire.max_matches", most)],
        );
        let successes = ran.column("success");
        let messages = ran.column("responseMessage");
        let named = messages
            .iter()
            .map(|message| message.contains("drumfire.max_matches"));
        let rows = successes.iter().zip(named);
        rows.map(|(success, named)| (success.to_string(), named))
            .collect::<Vec<_>>()
    };
    let (good, bad) = (("true".to_owned(), false), ("false".to_owned(), true));
    assert_eq!(rows("4"), [good.clone(), good.clone(), good.clone()]);
    assert_eq!(rows("1"), [bad.clone(), bad, good]);
}
