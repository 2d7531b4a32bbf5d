//! A plan's Backend Listeners: what arrives where they send to.

use std::collections::BTreeMap;

use drumfire_commands::demo::DemoSite;
use drumfire_testkit::plans::{group, http, plan};
use drumfire_testkit::ports::free_port;
use drumfire_testkit::program::{LIMIT, Workshop};
use drumfire_testkit::server::{ReceivedRequest, ResponseStep, Server, ok, respond};

/// One server is the target and the database.
fn server() -> Server {
    Server::start(|request| {
        let answer = match request.target.as_str() {
            target if target.starts_with("/write") => respond("204 No Content", "", ""),
            "/bad" => respond("500 Out, of=order", "", "no"),
            _ => ok("yes"),
        };
        vec![ResponseStep::Send(answer)]
    })
}

fn listener(port: &str, application: &str, more: &[(&str, &str)]) -> String {
    let url = format!("http://127.0.0.1:{port}/write?db=jmeter");
    let client = "org.apache.jmeter.visualizers.backend.influxdb";
    let sender = format!("{client}.HttpMetricsSender");
    let parameters = [
        ("influxdbMetricsSender", sender.as_str()),
        ("influxdbUrl", &url),
        ("application", application),
        ("measurement", "jmeter"),
        ("samplersRegex", ".*"),
        ("percentiles", "99;95.5"),
        ("testTitle", "Shop"),
        ("TAG_env", "test 1"),
    ];
    let rows: String = parameters.iter().chain(more).map(|(name, value)| format!(r#"<elementProp name="{name}" elementType="Argument"><stringProp name="Argument.name">{name}</stringProp><stringProp name="Argument.value">{value}</stringProp></elementProp>"#)).collect();
    format!(
        r#"<BackendListener guiclass="BackendListenerGui" testclass="BackendListener" testname="live"><elementProp name="arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">{rows}</collectionProp></elementProp><stringProp name="classname">{client}.InfluxdbBackendListenerClient</stringProp></BackendListener><hashTree/>
"#
    )
}

fn transaction(name: &str, parent: bool, children: &str) -> String {
    format!(
        r#"<TransactionController guiclass="TransactionControllerGui" testclass="TransactionController" testname="{name}"><boolProp name="TransactionController.parent">{parent}</boolProp></TransactionController><hashTree>{children}</hashTree>
"#
    )
}

/// A request, with what belongs to it alone.
fn request(port: &str, name: &str, path: &str, children: &str) -> String {
    let place = [("domain", "127.0.0.1"), ("port", port), ("path", path)];
    let element = http(name, &place);
    element.replace("<hashTree/>", &format!("<hashTree>{children}</hashTree>"))
}

/// The sums of a field over all lines of an application, by the tags of the line.
fn sums(requests: &[ReceivedRequest], application: &str, field: &str) -> BTreeMap<String, f64> {
    let mut sums = BTreeMap::new();
    let head = format!("jmeter,application={application},transaction=");
    for request in requests.iter().filter(|request| request.method == "POST") {
        for line in String::from_utf8_lossy(&request.body).lines() {
            let Some((tags, fields)) = line
                .strip_prefix(&head)
                .and_then(|rest| rest.split_once(r",env=test\ 1 "))
            else {
                continue;
            };
            let (fields, at_ns) = fields.rsplit_once(' ').expect("a time");
            assert!(at_ns.ends_with("000000"), "{line}");
            let values = fields.split(',').filter_map(|value| value.split_once('='));
            for (name, value) in values {
                if name == field {
                    let value: f64 = value.parse().expect("a number");
                    *sums.entry(tags.to_owned()).or_default() += value;
                }
            }
        }
    }
    sums
}

fn expected(values: &[(&str, f64)]) -> BTreeMap<String, f64> {
    let values = values.iter();
    values
        .map(|(tags, value)| ((*tags).to_owned(), *value))
        .collect()
}

// The rule of counts and hits was recorded from JMeter 5.6.3.
#[test]
fn a_listener_sends_what_jmeters_own_would_of_its_scope() {
    let server = server();
    let port = server.address().port().to_string();
    let elements = [
        request(&port, "good", "/", &listener(&port, "one", &[])),
        request(&port, "bad, one", "/bad", ""),
        transaction("TX", true, &request(&port, "inner", "/", "")),
        transaction("TY", false, &request(&port, "inner2", "/", "")),
        listener(&port, "all", &[("influxdbToken", "secret")]),
    ];
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    workshop.write("p.jmx", plan(&group(3, &elements.concat())));
    let finished = workshop.run(&["run", "p.jmx"], LIMIT);
    assert!(!finished.err.contains("sends nothing"), "{finished:?}");
    assert!(!finished.err.contains("not delivered"), "{finished:?}");
    let requests = server.requests();
    let counts = sums(&requests, "all", "count");
    let of_all = [
        ("all,statut=all", 15.0),
        (
            r"bad\,\ one,responseCode=500,responseMessage=Out\,\ of\=order",
            3.0,
        ),
        (r"bad\,\ one,statut=all", 3.0),
        (r"bad\,\ one,statut=ko", 3.0),
        ("good,statut=all", 3.0),
        ("good,statut=ok", 3.0),
        ("inner2,statut=all", 3.0),
        ("inner2,statut=ok", 3.0),
        ("TX,statut=all", 3.0),
        ("TX,statut=ok", 3.0),
        ("TY,statut=all", 3.0),
        ("TY,statut=ok", 3.0),
    ];
    assert_eq!(counts, expected(&of_all));
    let hits = sums(&requests, "all", "hit");
    assert_eq!((hits["all,statut=all"], hits["TX,statut=ok"]), (12.0, 3.0));
    assert_eq!(hits["TY,statut=ok"], 3.0);
    let errors = sums(&requests, "all", "countError");
    assert_eq!(errors, expected(&[("all,statut=all", 3.0)]));
    let received = sums(&requests, "all", "rb");
    let parts = ["good", r"bad\,\ one", "TX", "inner2"];
    let parts = parts.map(|label| received[&format!("{label},statut=all")]);
    assert_eq!(received["all,statut=all"], parts.iter().sum::<f64>());
    let started = sums(&requests, "all", "startedT");
    assert!(started["internal"] >= 1.0, "{started:?}");
    let of_one = [
        ("all,statut=all", 3.0),
        ("good,statut=all", 3.0),
        ("good,statut=ok", 3.0),
    ];
    assert_eq!(sums(&requests, "one", "count"), expected(&of_one));
    let with_token =
        |request: &&ReceivedRequest| request.header("Authorization") == Some("Token secret");
    let told: String = requests
        .iter()
        .filter(with_token)
        .map(|request| String::from_utf8_lossy(&request.body).into_owned())
        .collect();
    let event = r#"events,application=all,title=ApacheJMeter,env=test\ 1 text="Shop "#;
    for what in ["started", "ended"] {
        assert!(told.contains(&format!("{event}{what}\" ")), "{told}");
    }
}

#[test]
fn the_raw_client_sends_a_line_for_each_sample() {
    let server = server();
    let port = server.address().port().to_string();
    let raw = listener(&port, "none", &[]).replace(
        "InfluxdbBackendListenerClient<",
        "InfluxDBRawBackendListenerClient<",
    );
    let elements = [
        request(&port, "good", "/", ""),
        request(&port, "bad, one", "/bad", ""),
        raw,
    ];
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    workshop.write("p.jmx", plan(&group(4, &elements.concat())));
    let finished = workshop.run(&["run", "p.jmx", "-l", "r.jtl"], LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let requests = server.requests();
    let posted = requests.iter().filter(|request| request.method == "POST");
    let text: String = posted
        .map(|request| String::from_utf8_lossy(&request.body).into_owned())
        .collect();
    let jtl = workshop.read("r.jtl");
    let first = jtl
        .lines()
        .nth(1)
        .and_then(|row| row.split(',').next())
        .expect("a row");
    for (start, count) in [
        (
            r"jmeter,status=ok,transaction=good,threadName=users1-1 duration=",
            4,
        ),
        (
            r"jmeter,status=ko,transaction=bad\,\ one,threadName=users1-1 duration=",
            4,
        ),
    ] {
        assert_eq!(
            text.lines().filter(|line| line.starts_with(start)).count(),
            count,
            "{text}"
        );
    }
    assert!(
        text.lines()
            .any(|line| line.ends_with(&format!(" {first}000000"))),
        "{first}: {text}"
    );
}

/// A Prometheus Listener with a counter, a histogram and a ratio.
fn prometheus() -> String {
    let class = "com.github.johrstrom.listener";
    let row = |name: &str, kind: &str, measuring: &str| {
        format!(
            r#"<elementProp name="" elementType="{class}.ListenerCollectorConfig"><stringProp name="collector.metric_name">{name}</stringProp><stringProp name="collector.type">{kind}</stringProp><collectionProp name="collector.labels"><stringProp name="1">label</stringProp><stringProp name="2">code</stringProp></collectionProp><stringProp name="collector.quantiles_or_buckets">5000,100000</stringProp><stringProp name="listener.collector.listen_to">samples</stringProp><stringProp name="listener.collector.measuring">{measuring}</stringProp></elementProp>"#
        )
    };
    let rows = [
        row("hits", "COUNTER", "CountTotal"),
        row("times", "HISTOGRAM", "ResponseTime"),
        row("went", "SUCCESS_RATIO", "SuccessRatio"),
    ];
    format!(
        r#"<{class}.PrometheusListener guiclass="g" testclass="{class}.PrometheusListener" testname="p"><collectionProp name="prometheus.collector_definitions">{}</collectionProp></{class}.PrometheusListener><hashTree/>"#,
        rows.concat()
    )
}

#[test]
fn a_prometheus_listener_shows_its_collectors() {
    let server = server();
    let port = server.address().port().to_string();
    let elements = [
        request(&port, "good", "/", ""),
        request(&port, "bad", "/bad", ""),
        prometheus(),
    ];
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    workshop.write("p.jmx", plan(&group(3, &elements.concat())));
    let metrics = free_port();
    let child = workshop.start(&[
        "run",
        "p.jmx",
        &format!("-Jprometheus.port={metrics}"),
        "-Jprometheus.delay=3",
    ]);
    let agent = ureq::Agent::new_with_defaults();
    let deadline = std::time::Instant::now() + LIMIT;
    let lines = [
        "hits{label=\"bad\",code=\"500\"} 3\n",
        "hits{label=\"good\",code=\"200\"} 3\n",
        "times_bucket{label=\"good\",code=\"200\",le=\"5000\"} 3\n",
        "went_failure{label=\"bad\",code=\"500\"} 3\n",
        "went_success{label=\"bad\",code=\"500\"} 0\n",
        "jmeter_threads{state=\"started\"} 1\n",
    ];
    loop {
        let answer = agent
            .get(format!("http://127.0.0.1:{metrics}/metrics"))
            .call();
        match answer.and_then(|mut answer| answer.body_mut().read_to_string()) {
            Ok(text) if lines.iter().all(|line| text.contains(line)) => break,
            other => assert!(std::time::Instant::now() < deadline, "{other:?}"),
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let finished = drumfire_testkit::program::finish(child, LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
}

#[test]
fn a_listener_that_cannot_be_started_is_told_and_costs_nothing() {
    let server = server();
    let port = server.address().port().to_string();
    let elements = [
        request(&port, "good", "/", ""),
        listener(&port, "all", &[]).replace(".*</stringProp>", "(</stringProp>"),
    ];
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    workshop.write("p.jmx", plan(&group(2, &elements.concat())));
    let finished = workshop.run(&["run", "p.jmx"], LIMIT);
    assert!(
        finished
            .err
            .contains("Backend Listener `live` sends nothing: "),
        "{finished:?}"
    );
    assert_eq!(server.requests().len(), 2);
}

/// The library behind outputs has no cryptography of its own: without one it would panic.
#[test]
fn an_output_over_https_checks_the_certificate() {
    let site = DemoSite::start(0, 0).expect("the site");
    let properties = site.properties();
    let value = |wanted: &str| {
        let found = properties.iter().find(|(name, _)| *name == wanted);
        found
            .map(|(_, value)| value.clone())
            .expect("the site has it")
    };
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let element = request(&value("demo.port"), "page", "/", "");
    workshop.write("p.jmx", plan(&group(1, &element)));
    let output = format!(
        "influxdb=https://127.0.0.1:{}/write?db=d",
        value("demo.https.port")
    );
    let finished = workshop.run(&["run", "p.jmx", "--out", &output], LIMIT);
    assert!(!finished.err.contains("panicked"), "{finished:?}");
    assert!(
        finished.err.contains("no trusted authority has signed"),
        "{finished:?}"
    );
}
