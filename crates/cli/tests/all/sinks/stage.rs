//! A run, the programs that it is sent to, and questions to them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use drumfire_testkit::ports::free_port;
use drumfire_testkit::program::{LIMIT, Workshop};
use serde_json::Value;

use drumfire_testkit::plans::{http, pause, plan, users};

/// A program that is ended with the test.
pub struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Where the shell would find a program; else says that the test is skipped.
pub fn installed(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).map(|folder| folder.join(program));
    let found = found.into_iter().find(|place| place.is_file());
    if found.is_none() {
        println!("SKIPPED: {program} is not installed");
    }
    found
}

pub fn start(command: &mut Command, folder: &Path) -> Running {
    let log = std::fs::File::create(folder.join("sink.log")).expect("there is room");
    let err = log.try_clone().expect("a file can be shared");
    let child = command.stdin(Stdio::null()).stdout(log).stderr(err).spawn();
    Running(child.expect("it is installed"))
}

/// Ports that were free a moment ago.
pub fn ports<const N: usize>() -> [u16; N] {
    [(); N].map(|()| free_port())
}

pub fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(20)))
        .build();
    config.into()
}

pub fn get(url: &str, pairs: &[(&str, &str)]) -> String {
    let request = agent().get(url).query_pairs(pairs.iter().copied());
    let answer = request
        .call()
        .map(|mut answer| answer.body_mut().read_to_string());
    match answer {
        Ok(Ok(text)) => text,
        other => format!("{other:?}"),
    }
}

pub fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Waits until a URL answers with 2xx.
pub fn await_answer(url: &str, folder: &Path) {
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

/// The result file's numbers of a label: samples, failed ones, and the longest in milliseconds.
#[derive(Debug, Default, PartialEq)]
pub struct Counted {
    pub samples: f64,
    pub failed: f64,
    pub elapsed_ms: Vec<f64>,
}

impl Counted {
    pub fn percentile(&self, percent: f64) -> f64 {
        let rank = (percent / 100.0 * self.elapsed_ms.len() as f64).ceil() as usize;
        self.elapsed_ms[rank.clamp(1, self.elapsed_ms.len()) - 1]
    }
}

/// Runs a plan of some seconds against the demo site, and counts its result file.
pub fn run(workshop: &Workshop, out: &[&str]) -> BTreeMap<String, Counted> {
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
pub fn queries(board: &str, key: &str) -> Vec<(String, String)> {
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

pub fn backend_listener(class: &str, parameters: &[(&str, &str)]) -> String {
    let rows: String = parameters
        .iter()
        .map(|(name, value)| format!(r#"<elementProp name="{name}" elementType="Argument"><stringProp name="Argument.name">{name}</stringProp><stringProp name="Argument.value">{value}</stringProp><stringProp name="Argument.metadata">=</stringProp></elementProp>"#))
        .collect();
    format!(
        r#"<BackendListener guiclass="BackendListenerGui" testclass="BackendListener" testname="live"><elementProp name="arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">{rows}</collectionProp></elementProp><stringProp name="classname">{class}</stringProp></BackendListener><hashTree/>"#
    )
}

/// Waits until a sink has what the result file says: it shows some seconds late what it took.
pub fn await_number(name: &str, expected: f64, found: impl Fn() -> f64) {
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

pub fn values(series: &Value) -> Vec<f64> {
    let values = series["values"].as_array().into_iter().flatten();
    values.filter_map(Value::as_f64).collect()
}
