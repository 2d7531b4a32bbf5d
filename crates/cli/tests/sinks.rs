//! Outputs against the real programs that they are for, and the boards of `dashboards/` against what they hold then.
//!
//! `cargo xtask sinks` runs these tests. Each starts its program on ports of its own, sends one run, and compares with the
//! result file. A program that is not installed is reported and is no failure.

mod plans;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use drumfire_testkit::program::{LIMIT, Workshop, jmeter_home};
use drumfire_testkit::server::{Server, Step, ok, respond};
use plans::{http, pause, plan, users};
use serde_json::Value;

/// A program that is ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Where the shell would find a program; else says that the test is skipped.
fn installed(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).map(|folder| folder.join(program));
    let found = found.into_iter().find(|place| place.is_file());
    if found.is_none() {
        println!("SKIPPED: {program} is not installed");
    }
    found
}

fn start(command: &mut Command, folder: &Path) -> Running {
    let log = std::fs::File::create(folder.join("sink.log")).expect("there is room");
    let err = log.try_clone().expect("a file can be shared");
    let child = command.stdin(Stdio::null()).stdout(log).stderr(err).spawn();
    Running(child.expect("it is installed"))
}

/// Ports that were free a moment ago.
fn ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
    listeners.map(|listener| listener.local_addr().expect("an address").port())
}

fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(20)))
        .build();
    config.into()
}

fn get(url: &str, pairs: &[(&str, &str)]) -> String {
    let request = agent().get(url).query_pairs(pairs.iter().copied());
    let answer = request
        .call()
        .map(|mut answer| answer.body_mut().read_to_string());
    match answer {
        Ok(Ok(text)) => text,
        other => format!("{other:?}"),
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Waits until a URL answers with 2xx.
fn await_answer(url: &str, folder: &Path) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !agent()
        .get(url)
        .call()
        .is_ok_and(|answer| answer.status().is_success())
    {
        let log = std::fs::read_to_string(folder.join("sink.log")).unwrap_or_default();
        assert!(Instant::now() < deadline, "{url} does not answer: {log}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// What the result file says of a label: samples, failed ones, and the longest in milliseconds.
#[derive(Debug, Default, PartialEq)]
struct Counted {
    samples: f64,
    failed: f64,
    elapsed_ms: Vec<f64>,
}

impl Counted {
    fn percentile(&self, percent: f64) -> f64 {
        let rank = (percent / 100.0 * self.elapsed_ms.len() as f64).ceil() as usize;
        self.elapsed_ms[rank.clamp(1, self.elapsed_ms.len()) - 1]
    }
}

/// Runs a plan of some seconds against the demo site, and counts its result file.
fn run(workshop: &Workshop, out: &[&str]) -> BTreeMap<String, Counted> {
    let place = |path| {
        [
            ("domain", "${__P(demo.host)}"),
            ("port", "${__P(demo.port)}"),
            ("path", path),
        ]
    };
    let elements = [
        pause(60),
        http("Home page", &place("/slow?ms=20")),
        http("Lost, it is", &place("/nowhere")),
    ];
    workshop.write("p.jmx", plan(&users(2, 90, "", &elements.concat())));
    let mut words = vec!["run", "p.jmx", "--demo", "-l", "r.jtl", "--out-required"];
    for out in out {
        words.extend(["--out", out]);
    }
    let finished = workshop.run(&words, LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let mut reader = csv::Reader::from_path(workshop.path("r.jtl")).expect("a result file");
    let head = reader.headers().expect("a header").clone();
    let column = |name| {
        head.iter()
            .position(|known| known == name)
            .expect("a column")
    };
    let (label, elapsed, success) = (column("label"), column("elapsed"), column("success"));
    let mut counted: BTreeMap<String, Counted> = BTreeMap::new();
    for row in reader.records() {
        let row = row.expect("a row");
        let of_label = counted.entry(row[label].to_owned()).or_default();
        of_label.samples += 1.0;
        of_label.failed += f64::from(u8::from(&row[success] != "true"));
        of_label
            .elapsed_ms
            .push(row[elapsed].parse().expect("a number"));
    }
    for of_label in counted.values_mut() {
        of_label.elapsed_ms.sort_by(f64::total_cmp);
    }
    assert_eq!(counted.len(), 2, "{counted:?}");
    counted
}

/// The queries of a board: its panel, and the text under this key.
fn queries(board: &str, key: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../dashboards")
        .join(board);
    let board = json(&std::fs::read_to_string(path).expect("the board is there"));
    let panels = board["panels"].as_array().expect("panels");
    let queries = panels.iter().flat_map(|panel| {
        let targets = panel["targets"].as_array().expect("targets").iter();
        targets.map(|target| {
            let title = panel["title"].as_str().expect("a title").to_owned();
            (title, target[key].as_str().expect("a query").to_owned())
        })
    });
    let queries: Vec<_> = queries.collect();
    assert!(queries.len() > 4);
    queries
}

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

fn backend_listener(class: &str, parameters: &[(&str, &str)]) -> String {
    let rows: String = parameters
        .iter()
        .map(|(name, value)| format!(r#"<elementProp name="{name}" elementType="Argument"><stringProp name="Argument.name">{name}</stringProp><stringProp name="Argument.value">{value}</stringProp><stringProp name="Argument.metadata">=</stringProp></elementProp>"#))
        .collect();
    format!(
        r#"<BackendListener guiclass="BackendListenerGui" testclass="BackendListener" testname="live"><elementProp name="arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">{rows}</collectionProp></elementProp><stringProp name="classname">{class}</stringProp></BackendListener><hashTree/>"#
    )
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

#[test]
#[ignore = "needs prometheus: cargo xtask sinks"]
fn prometheus_has_what_the_result_file_has_and_its_board_shows_it() {
    let Some(prometheus) = installed("prometheus") else {
        return;
    };
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let folder = workshop.path("prometheus");
    std::fs::create_dir(&folder).expect("there is room");
    std::fs::write(folder.join("p.yml"), "global:\n  scrape_interval: 1s\n")
        .expect("there is room");
    let [http] = ports();
    let mut command = Command::new(prometheus);
    command
        .arg(format!("--config.file={}", folder.join("p.yml").display()))
        .arg(format!(
            "--storage.tsdb.path={}",
            folder.join("data").display()
        ))
        .arg(format!("--web.listen-address=127.0.0.1:{http}"))
        .args([
            "--web.enable-remote-write-receiver",
            "--enable-feature=native-histograms",
        ]);
    let _prometheus = start(&mut command, &folder);
    let base = format!("http://127.0.0.1:{http}");
    await_answer(&format!("{base}/-/ready"), &folder);
    let counted = run(
        &workshop,
        &[&format!("prometheus-remote-write={base}/api/v1/write")],
    );
    let query = |text: &str| json(&get(&format!("{base}/api/v1/query"), &[("query", text)]));
    let values = |text: &str| -> BTreeMap<String, f64> {
        let answer = query(text);
        let series = answer["data"]["result"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let of = |series: &Value| {
            let value = series["value"][1]
                .as_str()
                .and_then(|text| text.parse().ok());
            let label = series["metric"]["label"].as_str().unwrap_or_default();
            (label.to_owned(), value.expect("a number"))
        };
        series.iter().map(of).collect()
    };
    let samples = values("sum by (label) (drumfire_samples_total)");
    let failed = values("sum by (label) (drumfire_samples_total{result=\"failed\"})");
    let p95 = values("histogram_quantile(0.95, drumfire_response_time_seconds)");
    for (label, counted) in &counted {
        assert_eq!(
            (samples[label], failed[label]),
            (counted.samples, counted.failed),
            "{label}"
        );
        // A bucket of schema 3 is 9 % wide; result files have whole milliseconds.
        let (found_ms, exact_ms) = (p95[label] * 1000.0, counted.percentile(95.0));
        assert!(
            (found_ms - exact_ms).abs() <= exact_ms * 0.1 + 1.0,
            "{label}: {found_ms} for {exact_ms}"
        );
    }
    let now = std::time::SystemTime::now();
    let now = now
        .duration_since(std::time::UNIX_EPOCH)
        .expect("a time")
        .as_secs();
    for (title, text) in queries("prometheus.json", "expr") {
        let text = text
            .replace("$__rate_interval", "1m")
            .replace("$run", ".*")
            .replace("$label", ".*");
        let (start, end) = ((now - 600).to_string(), now.to_string());
        let pairs = [
            ("query", text.as_str()),
            ("start", &start),
            ("end", &end),
            ("step", "1"),
        ];
        let answer = json(&get(&format!("{base}/api/v1/query_range"), &pairs));
        let series = answer["data"]["result"].as_array();
        assert!(
            series.is_some_and(|series| !series.is_empty()),
            "{title}: {text}: {answer}"
        );
    }
}

struct Victoria {
    base: String,
    graphite: u16,
    _running: Running,
}

fn start_victoria(workshop: &Workshop) -> Option<Victoria> {
    let program = installed("victoria-metrics")?;
    let folder = workshop.path("victoria");
    std::fs::create_dir(&folder).expect("there is room");
    let [http, graphite] = ports();
    let mut command = Command::new(program);
    command
        .arg(format!(
            "-storageDataPath={}",
            folder.join("data").display()
        ))
        .arg(format!("-httpListenAddr=127.0.0.1:{http}"))
        .arg(format!("-graphiteListenAddr=127.0.0.1:{graphite}"))
        .arg("-search.latencyOffset=0s");
    let running = start(&mut command, &folder);
    let base = format!("http://127.0.0.1:{http}");
    await_answer(&format!("{base}/health"), &folder);
    Some(Victoria {
        base,
        graphite,
        _running: running,
    })
}

impl Victoria {
    /// The series of a selector, each with its values in the order of time.
    fn exported(&self, wanted: &str) -> Vec<Value> {
        let text = get(
            &format!("{}/api/v1/export", self.base),
            &[("match[]", wanted)],
        );
        text.lines().map(json).collect()
    }
}

/// Waits until a sink has what the result file says: it shows some seconds late what it took.
fn await_number(name: &str, expected: f64, found: impl Fn() -> f64) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while found() != expected {
        assert!(
            Instant::now() < deadline,
            "{name}: {} for {expected}",
            found()
        );
        std::thread::sleep(Duration::from_millis(300));
    }
}

fn values(series: &Value) -> Vec<f64> {
    let values = series["values"].as_array().into_iter().flatten();
    values.filter_map(Value::as_f64).collect()
}

#[test]
#[ignore = "needs victoria-metrics: cargo xtask sinks"]
fn victoria_metrics_takes_graphite_and_influxdb_lines() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let Some(victoria) = start_victoria(&workshop) else {
        return;
    };
    let (base, graphite) = (&victoria.base, victoria.graphite);
    let outs = [
        format!("graphite=127.0.0.1:{graphite}"),
        format!("influxdb={base}/write?db=jmeter"),
    ];
    let counted = run(&workshop, &[&outs[0], &outs[1]]);
    let total: f64 = counted.values().map(|counted| counted.samples).sum();
    let failed: f64 = counted.values().map(|counted| counted.failed).sum();
    let lines = [
        (r#"{__name__="drumfire.all.a.count"}"#, total),
        (
            r#"{__name__="drumfire.Home-page.ok.count"}"#,
            counted["Home page"].samples,
        ),
        (
            r#"{__name__="jmeter_count",transaction="all",statut="all"}"#,
            total,
        ),
        (
            r#"{__name__="jmeter_countError",transaction="all",statut="all"}"#,
            failed,
        ),
    ];
    for (wanted, expected) in lines {
        await_number(wanted, expected, || {
            victoria.exported(wanted).iter().flat_map(values).sum()
        });
    }
}

#[test]
#[ignore = "needs victoria-metrics of 1.92 or later: cargo xtask sinks"]
fn victoria_metrics_takes_opentelemetry() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let Some(victoria) = start_victoria(&workshop) else {
        return;
    };
    let url = format!("{}/opentelemetry/v1/metrics", victoria.base);
    let empty = agent().post(&url).send_empty().expect("an answer");
    if !empty.status().is_success() {
        println!("SKIPPED: this victoria-metrics does not take OTLP");
        return;
    }
    let counted = run(&workshop, &[&format!("otlp={url}")]);
    // Sums are of the whole run, so that the last value counts.
    let last = |wanted: &str| -> f64 {
        let series = victoria.exported(wanted);
        let lasts = series.iter().filter_map(|series| values(series).pop());
        lasts.sum()
    };
    for (label, counted) in &counted {
        for (result, expected) in [
            ("ok", counted.samples - counted.failed),
            ("failed", counted.failed),
        ] {
            let wanted =
                format!(r#"{{__name__="drumfire.samples",label="{label}",result="{result}"}}"#);
            await_number(&wanted, expected, || last(&wanted));
        }
        let buckets = format!(r#"{{__name__="drumfire.response_time_bucket",label="{label}"}}"#);
        await_number(&buckets, counted.samples, || last(&buckets));
    }
}

#[test]
#[ignore = "needs victoria-metrics: cargo xtask sinks"]
fn a_listener_of_the_influxdb2_plugin_sends_each_sample() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let Some(victoria) = start_victoria(&workshop) else {
        return;
    };
    let server = Server::start(|request| match request.target.as_str() {
        "/bad" => vec![Step::Send(respond("500 Out of order", "", "no, sorry"))],
        _ => vec![Step::Send(ok("fine"))],
    });
    let listener = backend_listener(
        "io.vincent.influxdb2.visualizer.InfluxDatabaseBackendListenerClient",
        &[
            ("runId", "R7"),
            ("influxDBURL", &victoria.base),
            ("influxDBToken", "t"),
            ("influxDBOrganization", "o"),
            ("influxDBBucket", "b"),
            ("samplersList", ".*"),
            ("useRegexForSamplerList", "true"),
            ("saveResponseBodyOfFailures", "true"),
        ],
    );
    let port = server.address().port().to_string();
    let page = |name, path| {
        http(
            name,
            &[("domain", "127.0.0.1"), ("port", &port), ("path", path)],
        )
    };
    let elements = [page("Home page", "/"), page("Bad", "/bad"), listener];
    workshop.write("p.jmx", plan(&users(2, 20, "", &elements.concat())));
    let finished = workshop.run(&["run", "p.jmx"], LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let sum = |wanted: &str| -> f64 { victoria.exported(wanted).iter().flat_map(values).sum() };
    for wanted in [
        r#"{__name__="requestsRaw_count",requestName="Home page",result="pass",errorResponseBody="noData",runId="R7"}"#,
        r#"{__name__="requestsRaw_errorCount",requestName="Bad",responseCode="500",errorResponseBody="no, sorry"}"#,
    ] {
        await_number(wanted, 40.0, || sum(wanted));
    }
    let ended = r#"{__name__="virtualUsers_finishedThreads"}"#;
    await_number(ended, 2.0, || {
        let series = victoria.exported(ended);
        series.iter().filter_map(|one| values(one).pop()).sum()
    });
}

struct Carbon {
    /// Holds `whisper/`, a file for each series.
    storage: PathBuf,
    text: u16,
    pickle: u16,
    _running: Running,
}

fn start_carbon(workshop: &Workshop) -> Option<Carbon> {
    let carbon = installed("carbon-cache.py")?;
    let folder = workshop.path("graphite");
    for part in ["conf", "storage"] {
        std::fs::create_dir_all(folder.join(part)).expect("there is room");
    }
    let [text, pickle, query] = ports();
    let config = format!(
        "[cache]\nMAX_CREATES_PER_MINUTE = inf\nMAX_UPDATES_PER_SECOND = 50000\nLINE_RECEIVER_INTERFACE = 127.0.0.1\nLINE_RECEIVER_PORT = {text}\nPICKLE_RECEIVER_INTERFACE = 127.0.0.1\nPICKLE_RECEIVER_PORT = {pickle}\nCACHE_QUERY_INTERFACE = 127.0.0.1\nCACHE_QUERY_PORT = {query}\nENABLE_LOGROTATION = False\n"
    );
    std::fs::write(folder.join("conf/carbon.conf"), config).expect("there is room");
    let schemas = "[all]\npattern = .*\nretentions = 1s:1h\n";
    std::fs::write(folder.join("conf/storage-schemas.conf"), schemas).expect("there is room");
    let own = carbon.with_file_name("python");
    let python = if own.is_file() { own } else { "python3".into() };
    let mut command = Command::new(python);
    command
        .arg(&carbon)
        .arg(format!(
            "--config={}",
            folder.join("conf/carbon.conf").display()
        ))
        .args(["--nodaemon", "start"])
        .env("GRAPHITE_ROOT", &folder)
        .env("GRAPHITE_STORAGE_DIR", folder.join("storage"));
    let running = start(&mut command, &folder);
    let deadline = Instant::now() + Duration::from_secs(60);
    while std::net::TcpStream::connect(("127.0.0.1", pickle)).is_err() {
        assert!(Instant::now() < deadline, "carbon does not listen");
        std::thread::sleep(Duration::from_millis(100));
    }
    Some(Carbon {
        storage: folder.join("storage"),
        text,
        pickle,
        _running: running,
    })
}

#[test]
#[ignore = "needs carbon-cache.py: cargo xtask sinks"]
fn carbon_takes_graphite_lines() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let Some(carbon) = start_carbon(&workshop) else {
        return;
    };
    let counted = run(&workshop, &[&format!("graphite=127.0.0.1:{}", carbon.text)]);
    let file = carbon.storage.join("whisper/drumfire/all/a/count.wsp");
    let total: f64 = counted.values().map(|counted| counted.samples).sum();
    await_number("all.a.count", total, || whisper_sum(&file));
}

#[test]
#[ignore = "needs carbon-cache.py: cargo xtask sinks"]
fn carbon_takes_a_backend_listeners_pickles() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let Some(carbon) = start_carbon(&workshop) else {
        return;
    };
    let server = Server::start(|_| vec![Step::Send(ok("fine"))]);
    let client = "org.apache.jmeter.visualizers.backend.graphite";
    let sender = format!("{client}.PickleGraphiteMetricsSender");
    let port = carbon.pickle.to_string();
    let listener = backend_listener(
        &format!("{client}.GraphiteBackendListenerClient"),
        &[
            ("graphiteMetricsSender", sender.as_str()),
            ("graphiteHost", "127.0.0.1"),
            ("graphitePort", &port),
            ("rootMetricsPrefix", "jmeter."),
            ("summaryOnly", "false"),
            ("samplersList", "Home page"),
        ],
    );
    let target = server.address().port().to_string();
    let page = http(
        "Home page",
        &[
            ("domain", "127.0.0.1"),
            ("port", target.as_str()),
            ("path", "/"),
        ],
    );
    workshop.write(
        "p.jmx",
        plan(&users(2, 20, "", &[page, pause(100), listener].concat())),
    );
    let finished = workshop.run(&["run", "p.jmx"], LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    for name in ["all", "Home page"] {
        let folder = name.replace(' ', "-");
        let file = carbon
            .storage
            .join(format!("whisper/jmeter/{folder}/a/count.wsp"));
        await_number(name, 40.0, || whisper_sum(&file));
    }
}

/// The sum of a whisper file's only archive: 16 bytes of head, 12 of each archive's, then points of 12 bytes.
fn whisper_sum(file: &Path) -> f64 {
    let bytes = std::fs::read(file).unwrap_or_default();
    let points = bytes.get(28..).unwrap_or_default().chunks_exact(12);
    points
        .filter(|point| point[..4] != [0; 4])
        .map(|point| f64::from_be_bytes(point[4..].try_into().expect("eight bytes")))
        .sum()
}

#[test]
#[ignore = "needs node and the package statsd: cargo xtask sinks"]
fn statsd_counts_what_the_result_file_has() {
    let Some(statsd) = std::env::var_os("DRUMFIRE_STATSD").map(PathBuf::from) else {
        println!("SKIPPED: DRUMFIRE_STATSD does not name the folder of npm's statsd");
        return;
    };
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let folder = workshop.path("statsd");
    std::fs::create_dir(&folder).expect("there is room");
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let udp = socket.local_addr().expect("an address").port();
    drop(socket);
    let [management] = ports();
    let config = format!(
        "{{port: {udp}, address: \"127.0.0.1\", mgmt_port: {management}, mgmt_address: \"127.0.0.1\", backends: [\"./backends/console\"], flushInterval: 500, deleteCounters: true, console: {{prettyprint: false}}}}"
    );
    std::fs::write(folder.join("config.js"), config).expect("there is room");
    let mut command = Command::new("node");
    command
        .arg(statsd.join("stats.js"))
        .arg(folder.join("config.js"))
        .current_dir(&statsd);
    let _statsd = start(&mut command, &folder);
    let deadline = Instant::now() + Duration::from_secs(60);
    while std::net::TcpStream::connect(("127.0.0.1", management)).is_err() {
        assert!(Instant::now() < deadline, "statsd does not listen");
        std::thread::sleep(Duration::from_millis(100));
    }
    let counted = run(&workshop, &[&format!("statsd=127.0.0.1:{udp}")]);
    std::thread::sleep(Duration::from_secs(2));
    let log = std::fs::read_to_string(folder.join("sink.log")).expect("a log");
    assert!(log.contains("drumfire."), "{log}");
    let total: f64 = counted.values().map(|counted| counted.samples).sum();
    // The console shows an object, a counter to a line, and its rate a second further below.
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    let mut is_counter = false;
    for line in log.lines() {
        if line.ends_with('{') {
            is_counter = line.trim() == "counters: {";
        }
        let pair = line.trim().trim_end_matches(',').split_once("': ");
        if let Some((name, value)) = pair.filter(|_| is_counter) {
            let name = name.trim_start_matches('\'').to_owned();
            *sums.entry(name).or_default() += value.parse().unwrap_or(0.0);
        }
    }
    let sum = |end: &str| -> f64 {
        let wanted = sums
            .iter()
            .filter(|(name, _)| name.starts_with("drumfire.") && name.ends_with(end));
        wanted.map(|(_, value)| value).sum()
    };
    let failed: f64 = counted.values().map(|counted| counted.failed).sum();
    assert_eq!(
        (sum(".ok"), sum(".failed")),
        (total - failed, failed),
        "{log}"
    );
}

/// ClickHouse's engine inside Python, behind the HTTP interface that the output speaks.
const CHDB_SERVER: &str = r#"
import sys, http.server
from chdb import session
db = session.Session(sys.argv[2])
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self): self.answer(b"SELECT 1")
    def do_POST(self): self.answer(self.rfile.read(int(self.headers["Content-Length"])))
    def answer(self, statement):
        try:
            status, body = 200, str(db.query(statement.decode(), "JSONCompact")).encode()
        except Exception as error:
            status, body = 500, str(error).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"#;

#[test]
#[ignore = "needs a Python with chdb: cargo xtask sinks"]
fn clickhouse_has_what_the_result_file_has_and_its_board_shows_it() {
    let Some(python) = std::env::var_os("DRUMFIRE_CHDB") else {
        println!("SKIPPED: DRUMFIRE_CHDB does not name a Python that has chdb");
        return;
    };
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let folder = workshop.path("clickhouse");
    std::fs::create_dir(&folder).expect("there is room");
    std::fs::write(folder.join("server.py"), CHDB_SERVER).expect("there is room");
    let [http] = ports();
    let mut command = Command::new(python);
    command
        .arg(folder.join("server.py"))
        .arg(http.to_string())
        .arg(folder.join("data"));
    let _clickhouse = start(&mut command, &folder);
    let base = format!("http://127.0.0.1:{http}/");
    await_answer(&base, &folder);
    let counted = run(&workshop, &[&format!("clickhouse={base}")]);
    let query = |text: &str| -> Vec<Value> {
        let answer = agent().post(&base).send(text);
        let text = answer.expect("an answer").body_mut().read_to_string();
        let answer = json(&text.expect("text"));
        answer["data"].as_array().cloned().unwrap_or_default()
    };
    let rows = query("SELECT label, sum(count), sum(failed) FROM drumfire_seconds GROUP BY label");
    let number = |value: &Value| -> f64 {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        text.parse().expect("a number")
    };
    assert_eq!(rows.len(), 2, "{rows:?}");
    for row in rows {
        let of_label = &counted[row[0].as_str().expect("a label")];
        assert_eq!(
            (number(&row[1]), number(&row[2])),
            (of_label.samples, of_label.failed)
        );
    }
    let id = query("SELECT DISTINCT run FROM drumfire_seconds");
    let id = id[0][0].as_str().expect("a run");
    for (title, text) in queries("clickhouse.json", "rawSql") {
        let text = text
            .replace("$run", id)
            .replace("$__timeFilter(time)", "time > now() - 3600");
        assert!(!query(&text).is_empty(), "{title}: {text}");
    }
}
