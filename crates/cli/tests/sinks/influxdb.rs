//! InfluxDB, by our output and by a plan's own listener.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use drumfire_testkit::program::{LIMIT, Workshop, jmeter_home};
use drumfire_testkit::server::{Server, Step, ok, respond};
use serde_json::Value;

use crate::plans::{http, pause, plan, users};
use crate::stage::{
    Counted, Running, agent, await_answer, backend_listener, get, installed, json, ports, queries,
    run, start,
};

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

/// A plan with JMeter's Backend Listener that sends to the database of the property `db`.
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
    let listener = backend_listener(
        &format!("{client}.InfluxdbBackendListenerClient"),
        &parameters,
    );
    let elements = [
        http("Home page.v1", &at("/")),
        http("bad, one=x", &at("/bad")),
        transaction("TX", true, http("inner", &at("/"))),
        transaction("TY", false, http("inner2", &at("/"))),
        pause(100),
        listener,
    ];
    plan(&users(2, 8, "", &elements.concat()))
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
        vec![Step::Send(answer)]
    });
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let (_influx, base) = start_influx(&influxd, &workshop, &["jm", "df"]);
    workshop.write("p.jmx", listened_plan(&server));
    let influx = format!("-Jinflux={base}");
    let finished = workshop.run(&["run", "p.jmx", &influx, "-Jdb=df"], LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let words = ["-n", "-t", "p.jmx", "-Jdb=jm", &influx];
    let jmeter = Command::new(home.join("bin/jmeter"))
        .args(words)
        .current_dir(workshop.path(""))
        .output()
        .expect("JMeter is there");
    assert!(jmeter.status.success(), "{jmeter:?}");
    let query = |database: &str, text: &str| {
        json(&get(
            &format!("{base}/query"),
            &[("db", database), ("q", text)],
        ))
    };
    let of = |database: &str| -> BTreeMap<String, Value> {
        let mut found = BTreeMap::new();
        let sums = "SELECT sum(\"count\"), sum(\"countError\"), sum(\"hit\"), sum(\"rb\") FROM \"jmeter\" GROUP BY *";
        let answer = query(database, sums);
        for series in answer["results"][0]["series"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let row = series["values"][0].as_array().expect("a row");
            found.insert(series["tags"].to_string(), row[1..].to_vec().into());
        }
        for what in ["SHOW FIELD KEYS", "SHOW TAG KEYS"] {
            found.insert(
                what.to_owned(),
                query(database, what)["results"][0]["series"].clone(),
            );
        }
        found
    };
    let (jmeters, own) = (of("jm"), of("df"));
    assert!(jmeters.len() > 12, "{jmeters:#?}");
    assert_eq!(own, jmeters);
}
