//! InfluxDB, by our output and by a plan's own listener.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use drumfire_testkit::program::{LIMIT, Workshop, jmeter_home};
use drumfire_testkit::server::{ResponseStep, Server, ok, respond};
use serde_json::Value;

use super::stage::{
    Counted, Running, agent, await_answer, backend_listener, get, installed, json, ports, queries,
    run, start,
};
use drumfire_testkit::plans::{debug, http, pause, plan, users};

/// InfluxDB with these databases, and its address.
fn start_influx(influxd: &Path, workshop: &Workshop, databases: &[&str]) -> (Running, String) {
    let folder = workshop.path("influx");
    std::fs::create_dir(&folder).expect("there is room");
    let [http, rpc, udp] = ports();
    let place = |name: &str| folder.join(name).display().to_string();
    let config = format!(
        "reporting-disabled = true\nbind-address = \"127.0.0.1:{rpc}\"\n[meta]\ndir = \"{}\"\n[data]\ndir = \"{}\"\nwal-dir = \"{}\"\n[http]\nbind-address = \"127.0.0.1:{http}\"\n[[udp]]\nenabled = true\nbind-address = \"127.0.0.1:{udp}\"\ndatabase = \"jmeter\"\n",
        place("meta"),
        place("data"),
        place("wal")
    );
    std::fs::write(folder.join("influx.conf"), config).expect("there is room");
    let influx = start(
        Command::new(influxd)
            .arg("-config")
            .arg(folder.join("influx.conf")),
        &folder,
    );
    let base = format!("http://127.0.0.1:{http}");
    await_answer(&format!("{base}/ping"), &folder);
    for database in databases {
        let statement = format!("CREATE DATABASE {database}");
        let created = agent()
            .post(format!("{base}/query"))
            .send_form([("q", statement.as_str())]);
        assert!(created.expect("an answer").status().is_success());
    }
    (influx, base)
}

#[test]
#[ignore = "needs influxd: cargo xtask sinks"]
fn influxdb_has_what_the_result_file_has_and_its_board_shows_it() {
    let Some(influxd) = installed("influxd") else {
        return;
    };
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let (_influx, base) = start_influx(&influxd, &workshop, &["jmeter"]);
    let counted = run(&workshop, &[&format!("influxdb={base}/write?db=jmeter")]);
    let query = |text: &str| {
        json(&get(
            &format!("{base}/query"),
            &[("db", "jmeter"), ("q", text)],
        ))
    };
    let sum = |field: &str, status: &str| -> BTreeMap<String, f64> {
        let answer = query(&format!(
            "SELECT sum(\"{field}\") FROM \"jmeter\" WHERE \"statut\" = '{status}' AND \"transaction\" != 'all' GROUP BY \"transaction\""
        ));
        let series = answer["results"][0]["series"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let of = |series: &Value| {
            let label = series["tags"]["transaction"]
                .as_str()
                .expect("a tag")
                .to_owned();
            (label, series["values"][0][1].as_f64().expect("a number"))
        };
        series.iter().map(of).collect()
    };
    let of_file = |of: fn(&Counted) -> f64| -> BTreeMap<String, f64> {
        let counted = counted
            .iter()
            .map(|(label, counted)| (label.clone(), of(counted)));
        counted.filter(|(_, value)| *value > 0.0).collect()
    };
    assert_eq!(sum("count", "all"), of_file(|counted| counted.samples));
    assert_eq!(sum("count", "ko"), of_file(|counted| counted.failed));
    for (title, text) in queries("influxdb.json", "query") {
        let text = text
            .replace("$timeFilter", "time > now() - 1h")
            .replace("$__interval", "5s")
            .replace("$application", "drumfire")
            .replace("$transaction", ".*");
        let answer = query(&text);
        assert!(
            answer["results"][0]["series"].is_array(),
            "{title}: {text}: {answer}"
        );
    }
}

/// JMeter's Backend Listener that sends to the database of the property `db`.
fn listener() -> String {
    let client = "org.apache.jmeter.visualizers.backend.influxdb";
    let sender = format!("{client}.HttpMetricsSender");
    let parameters = [
        ("influxdbMetricsSender", sender.as_str()),
        ("influxdbUrl", "${__P(influx)}/write?db=${__P(db)}"),
        ("application", "my shop"),
        ("measurement", "jmeter"),
        ("summaryOnly", "false"),
        ("samplersRegex", ".*"),
        ("percentiles", "99;95.5;90"),
        ("testTitle", "Shop"),
        ("TAG_env", "pr od,x"),
    ];
    backend_listener(
        &format!("{client}.InfluxdbBackendListenerClient"),
        &parameters,
    )
}

/// A plan with a listener that sends to the database of the property `db`.
fn listened_plan(server: &Server) -> String {
    let port = server.address().port().to_string();
    let at = |path| {
        [
            ("domain", "127.0.0.1"),
            ("port", port.as_str()),
            ("path", path),
        ]
    };
    let transaction = |name: &str, parent: bool, children: String| {
        format!(
            r#"<TransactionController guiclass="TransactionControllerGui" testclass="TransactionController" testname="{name}"><boolProp name="TransactionController.parent">{parent}</boolProp></TransactionController><hashTree>{children}</hashTree>"#
        )
    };
    let elements = [
        http("Home page.v1", &at("/")),
        http("bad, one=x", &at("/bad")),
        transaction("TX", true, http("inner", &at("/"))),
        transaction("TY", false, http("inner2", &at("/"))),
        pause(100),
        listener(),
    ];
    plan(&users(2, 8, "", &elements.concat()))
}

/// Runs a plan here and in JMeter; the databases are `df` and `jm`.
fn run_both(workshop: &Workshop, home: &Path, base: &str, plan: &str, more: &[&str]) {
    workshop.write("p.jmx", plan);
    let influx = format!("-Jinflux={base}");
    let mut words = vec!["run", "p.jmx", &influx, "-Jdb=df"];
    words.extend(more);
    let finished = workshop.run(&words, LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(!finished.err.contains("not delivered"), "{finished:?}");
    let jmeter = Command::new(home.join("bin/jmeter"))
        .args(["-n", "-t", "p.jmx", "-Jdb=jm", &influx])
        .args(more)
        .current_dir(workshop.path(""))
        .output()
        .expect("JMeter is there");
    assert!(jmeter.status.success(), "{jmeter:?}");
}

fn ask(base: &str, database: &str, text: &str) -> Value {
    let pairs = [("db", database), ("q", text)];
    json(&get(&format!("{base}/query"), &pairs))
}

/// The first row of each series without its time, by the tags of the series.
fn rows(base: &str, database: &str, text: &str) -> BTreeMap<String, Value> {
    let answer = ask(base, database, text);
    let series = answer["results"][0]["series"].as_array();
    let of = |series: &Value| {
        let row = series["values"][0].as_array().expect("a row");
        (series["tags"].to_string(), row[1..].to_vec().into())
    };
    series.into_iter().flatten().map(of).collect()
}

#[test]
#[ignore = "needs influxd and JMeter: cargo xtask sinks"]
fn a_backend_listener_gives_influxdb_what_jmeters_own_gives_it() {
    let (Some(influxd), Some(home)) = (installed("influxd"), jmeter_home()) else {
        return;
    };
    let server = Server::start(|request| {
        let answer = match request.target.as_str() {
            "/bad" => respond("500 Out of order", "", "no"),
            _ => ok("yes"),
        };
        vec![ResponseStep::Send(answer)]
    });
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let (_influx, base) = start_influx(&influxd, &workshop, &["jm", "df"]);
    run_both(&workshop, &home, &base, &listened_plan(&server), &[]);
    let of = |database: &str| -> BTreeMap<String, Value> {
        let sums = "SELECT sum(\"count\"), sum(\"countError\"), sum(\"hit\"), sum(\"rb\") FROM \"jmeter\" GROUP BY *";
        let mut found = rows(&base, database, sums);
        for what in ["SHOW FIELD KEYS", "SHOW TAG KEYS"] {
            let answer = ask(&base, database, what);
            found.insert(what.to_owned(), answer["results"][0]["series"].clone());
        }
        found
    };
    let (jmeters, own) = (of("jm"), of("df"));
    assert!(jmeters.len() > 12, "{jmeters:#?}");
    assert_eq!(own, jmeters);
}

/// Each label has 150 samples, which say themselves how long they took, so that both programs measure the same times; all are sent
/// at the end. The times of the last 100 are other than those of all.
#[test]
#[ignore = "needs influxd and JMeter: cargo xtask sinks"]
fn times_of_the_last_samples_are_those_of_jmeter() {
    let (Some(influxd), Some(home)) = (installed("influxd"), jmeter_home()) else {
        return;
    };
    let lasting = |label: &str, script: &str| {
        let script = script.replace('&', "&amp;").replace('<', "&lt;");
        let script = format!(
            r#"<hashTree><JSR223PostProcessor guiclass="TestBeanGUI" testclass="JSR223PostProcessor" testname="s"><stringProp name="scriptLanguage">groovy</stringProp><stringProp name="cacheKey">true</stringProp><stringProp name="script">{script}</stringProp></JSR223PostProcessor><hashTree/></hashTree>"#
        );
        debug(label).replace("<hashTree/>", &script)
    };
    let count = "int n = vars.getIteration();";
    let elements = [
        lasting(
            "even",
            &format!("{count} prev.setEndTime(prev.getStartTime() + n * 37 % 1009)"),
        ),
        lasting(
            "mixed",
            &format!(
                "{count} prev.setEndTime(prev.getStartTime() + n * n % 503); if (n % 4 == 0) {{ prev.setSuccessful(false); prev.setResponseCode('503') }}"
            ),
        ),
        listener(),
    ];
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let (_influx, base) = start_influx(&influxd, &workshop, &["jm", "df"]);
    let plan = plan(&users(1, 150, "", &elements.concat()));
    let more = [
        "-Jbackend_metrics_window_mode=fixed",
        "-Jbackend_influxdb.send_interval=600",
    ];
    run_both(&workshop, &home, &base, &plan, &more);
    let fields = "SELECT last(\"avg\"), \"min\", \"max\", \"pct99.0\", \"pct95.5\", \"pct90.0\" FROM \"jmeter\" GROUP BY *";
    let (jmeters, own) = (rows(&base, "jm", fields), rows(&base, "df", fields));
    assert!(jmeters.len() > 4, "{jmeters:#?}");
    assert_eq!(own, jmeters);
}
