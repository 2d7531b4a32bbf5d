//! Plans that JMeter 6 saved: their version decides by which rules they run.

use std::time::{Duration, Instant};

use crate::support::{Ran, get, group, run_plan};
use drumfire_testkit::plans;
use drumfire_testkit::server::{ReceivedRequest, ResponseStep, Server, ok, respond};

/// Runs a plan as if that version of JMeter had saved it.
fn run_of(version: &str, elements: &str) -> Ran {
    let plan = plans::plan(elements);
    let saved = plan.replace(r#"jmeter="5.6.3""#, &format!(r#"jmeter="{version}""#));
    run_plan(&saved, &[])
}

fn thread_group(body: &str) -> String {
    format!(
        r#"<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="G">{}</ThreadGroup><hashTree>{body}</hashTree>"#,
        group(1, 1, true)
    )
}

fn redirecting(request: &ReceivedRequest) -> Vec<ResponseStep> {
    let step = match request.target.as_str() {
        "/307" => respond("307 Temporary Redirect", "Location: /there\r\n", ""),
        "/308" => respond("308 Permanent Redirect", "Location: /there\r\n", ""),
        _ => ok("{}"),
    };
    vec![ResponseStep::Send(step)]
}

#[test]
fn redirects_with_307_and_308_keep_method_and_body() {
    let server = Server::start(redirecting);
    let more = r#"<boolProp name="HTTPSampler.follow_redirects">true</boolProp><boolProp name="HTTPSampler.postBodyRaw">true</boolProp>
<elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments"><elementProp name="" elementType="HTTPArgument"><stringProp name="Argument.value">body</stringProp></elementProp></collectionProp></elementProp>"#;
    let post = |path: &str| {
        let request = get("r", server.address().port(), path, more, "");
        request.replace(">GET<", ">POST<")
    };
    let body = post("/307") + &post("/308");
    let seen = |version: &str| -> (Vec<String>, Vec<String>) {
        let from = server.requests().len();
        let ran = run_of(version, &thread_group(&body));
        let codes = ran.column("responseCode");
        let codes = codes.iter().map(ToString::to_string);
        let requests = server.requests().into_iter().skip(from);
        let requests = requests.map(|request| {
            let body = String::from_utf8_lossy(&request.body).into_owned();
            format!("{} {} {body}", request.method, request.target)
        });
        (codes.collect(), requests.collect())
    };
    let (codes, requests) = seen("5.6.3");
    assert_eq!(codes, ["307", "200"]);
    assert_eq!(
        requests,
        ["POST /307 body", "POST /308 body", "GET /there "]
    );
    let (codes, requests) = seen("6.0.0");
    assert_eq!(codes, ["200", "200"]);
    assert_eq!(
        requests,
        [
            "POST /307 body",
            "POST /there body",
            "POST /308 body",
            "POST /there body"
        ]
    );
}

#[test]
fn empty_defaults_at_the_end_count() {
    let server = Server::start(redirecting);
    let extractor = r#"<JSONPostProcessor guiclass="JSONPostProcessorGui" testclass="JSONPostProcessor" testname="j">
<stringProp name="JSONPostProcessor.referenceNames">a;b</stringProp><stringProp name="JSONPostProcessor.jsonPathExprs">$.a;$.b</stringProp>
<stringProp name="JSONPostProcessor.match_numbers"></stringProp><stringProp name="JSONPostProcessor.defaultValues">x;</stringProp></JSONPostProcessor><hashTree/>"#;
    let body = get("r", server.address().port(), "/", "", extractor) + &plans::debug("${a}|${b}");
    let last = |version: &str| {
        let ran = run_of(version, &thread_group(&body));
        let labels = ran.column("label");
        labels.last().map(ToString::to_string)
    };
    assert_eq!(last("6.0.0").as_deref(), Some("x|"));
    assert_eq!(last("5.6.3").as_deref(), Some("${a}|${b}"));
}

#[test]
fn an_open_model_counts_from_the_start_of_its_group() {
    let first = r#"<TestAction guiclass="TestActionGui" testclass="TestAction" testname="pause"><intProp name="ActionProcessor.action">1</intProp>
<intProp name="ActionProcessor.target">0</intProp><stringProp name="ActionProcessor.duration">1500</stringProp></TestAction><hashTree/>"#;
    let set_up = thread_group(first).replace("ThreadGroup ", "SetupThreadGroup ");
    let set_up = set_up
        .replace("</ThreadGroup>", "</SetupThreadGroup>")
        .replace(
            r#"testclass="ThreadGroup""#,
            r#"testclass="SetupThreadGroup""#,
        );
    let open = format!(
        r#"<OpenModelThreadGroup guiclass="OpenModelThreadGroupGui" testclass="OpenModelThreadGroup" testname="open">
<stringProp name="OpenModelThreadGroup.schedule">rate(4/s) even_arrivals(1 s)</stringProp></OpenModelThreadGroup><hashTree>{}</hashTree>"#,
        plans::debug("x")
    );
    let begin = Instant::now();
    let ran = run_of("6.0.0", &(set_up + &open));
    assert_eq!(ran.rows.len(), 4);
    // Counted from the start of the run, the schedule is over when the pause ends.
    assert!(begin.elapsed() >= Duration::from_millis(2400));
}
