//! A NATS server, agents, a coordinator's folder, and plans for them.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use drumfire_testkit::nats::Nats;
pub use drumfire_testkit::plans::plan;
use drumfire_testkit::program::{LIMIT, Workshop};

pub fn workshop() -> Workshop {
    Workshop::new(env!("CARGO_BIN_EXE_drumfire"))
}

/// Agents in folders of their own, and a coordinator's folder.
pub struct Fleet {
    pub nats: Nats,
    pub agents: Vec<(Workshop, Option<Child>)>,
    pub home: Workshop,
}

impl Fleet {
    pub fn of(names: &[&str]) -> Fleet {
        let nats = Nats::start();
        let start = |name: &&str| {
            let workshop = workshop();
            let label = format!("place={name}");
            let url = nats.url();
            let words = [
                "agent", "--nats", &url, "--name", name, "--label", &label, "--once",
            ];
            let child = workshop.start(&words);
            (workshop, Some(child))
        };
        let agents = names.iter().map(start).collect();
        Fleet {
            nats,
            agents,
            home: workshop(),
        }
    }

    pub fn start(&self, words: &[&str]) -> Child {
        let url = self.nats.url();
        let fixed = ["run", "plan.jmx", "--nats", &url, "--progress", "lines"];
        self.home.start(&[&fixed, words].concat())
    }

    /// Starts a run that keeps its rows and its sum, waits until it has numbers, and lets it go on for a while.
    pub fn start_counted(&self, words: &[&str], duration: Duration) -> Child {
        let kept = ["-l", "rows.jtl", "--summary-json", "run.json"];
        let run = self.start(&[words, &kept].concat());
        self.until_running();
        std::thread::sleep(duration);
        run
    }

    /// The sum of the run is that of its rows: nothing is lost or counts twice.
    pub fn assert_all_rows_count(&self) {
        let rows: u32 = column(&self.home, "label").values().sum();
        assert_eq!(json(&self.home, "run.json")["total"]["count"], rows);
    }

    pub fn signal(&self, agent: usize, signal: &str) {
        let child = self.agents[agent].1.as_ref().expect("it runs");
        let sent = Command::new("kill")
            .args([&format!("-{signal}"), &child.id().to_string()])
            .status();
        assert!(sent.expect("kill is there").success());
    }

    /// Waits until the coordinator has numbers.
    pub fn until_running(&self) {
        let deadline = Instant::now() + LIMIT;
        let log = self.home.path("jmeter.log");
        while !std::fs::read_to_string(&log).is_ok_and(|text| text.contains("agents have begun")) {
            assert!(Instant::now() < deadline, "the run begins");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for (_, child) in &mut self.agents {
            if let Some(child) = child {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

/// Starts another agent of this fleet.
pub fn start_agent(fleet: &Fleet, name: &str, more: &[&str]) -> (Workshop, Child) {
    let (place, url) = (workshop(), fleet.nats.url());
    let words = ["agent", "--nats", &url, "--name", name];
    let child = place.start(&[&words, more].concat());
    (place, child)
}

/// The lines that a program writes to its standard output, each with the moment at which it came.
pub struct Lines(Receiver<(Instant, String)>);

impl Lines {
    /// Waits for a line that contains this. Returns when it came.
    pub fn until(&self, word: &str) -> Instant {
        loop {
            let (at, line) = self.0.recv_timeout(LIMIT).expect("another line comes");
            if line.contains(word) {
                return at;
            }
        }
    }
}

/// Reads the standard output of a program on a thread.
pub fn lines(child: &mut Child) -> Lines {
    let output = child.stdout.take().expect("it is a pipe");
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // The test may have ended.
            let _ = tell.send((Instant::now(), line));
        }
    });
    Lines(told)
}

/// The verdict of a run and its reasons, each with its measurement, without those that come from a busy machine.
pub fn verdict(home: &Workshop) -> (String, Vec<(String, String)>) {
    const BUSY: [&str; 7] = [
        "CPU taken by other programs",
        "CPU kept by the hypervisor",
        "the generator used all its CPU",
        "one worker used all of its core",
        "an event loop was held up",
        "users were late for scheduled actions",
        "the clocks of the agents are uncertain",
    ];
    let verdict = &json(home, "run.json")["verdict"];
    let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
    let reasons = verdict["reasons"].as_array().expect("a list").iter();
    let reasons = reasons.map(|reason| (text(&reason["what"]), text(&reason["measured"])));
    let all: Vec<_> = reasons.collect();
    let state = text(&verdict["state"]);
    // Without a reason, the numbers are as good as they say.
    assert_eq!(all.is_empty(), state == "VALID", "{verdict:#}");
    let own = all
        .into_iter()
        .filter(|(what, _)| !BUSY.contains(&what.as_str()));
    (state, own.collect())
}

pub fn text(name: &str, value: &str) -> String {
    format!(r#"<stringProp name="{name}">{value}</stringProp>"#)
}

pub fn group(class: &str, users: u32, loops: i32, seconds: Option<u32>, body: &str) -> String {
    let duration = seconds.map(|seconds| {
        format!(
            r#"<boolProp name="ThreadGroup.scheduler">true</boolProp>{}"#,
            text("ThreadGroup.duration", &seconds.to_string())
        )
    });
    format!(
        r#"<{class} guiclass="g" testclass="{class}" testname="G">{}{}<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">{loops}</stringProp></elementProp></{class}><hashTree>{body}</hashTree>"#,
        text("ThreadGroup.num_threads", &users.to_string()),
        duration.unwrap_or_default()
    )
}

pub fn sample(label: &str) -> String {
    format!(
        r#"<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="{label}"/><hashTree/>"#
    )
}

pub fn pause(ms: u32) -> String {
    format!(
        r#"<ConstantTimer guiclass="g" testclass="ConstantTimer" testname="t"><stringProp name="ConstantTimer.delay">{ms}</stringProp></ConstantTimer><hashTree/>"#
    )
}

/// How often each value of a column occurs in a result file.
pub fn column(workshop: &Workshop, name: &str) -> BTreeMap<String, u32> {
    let mut reader = csv::Reader::from_path(workshop.path("rows.jtl")).expect("the rows are there");
    let headers = reader.headers().expect("there is a header").clone();
    let place = headers
        .iter()
        .position(|header| header == name)
        .expect("the column is there");
    let mut counts = BTreeMap::new();
    for record in reader.records() {
        let record = record.expect("the rows are whole");
        *counts.entry(record[place].to_owned()).or_insert(0) += 1;
    }
    counts
}

pub fn json(workshop: &Workshop, name: &str) -> serde_json::Value {
    serde_json::from_str(&workshop.read(name)).expect("it is JSON")
}

/// A plan of so many seconds, in which each user has a sample every tenth of one.
pub fn long_plan(users: u32, seconds: u32) -> String {
    let body = pause(100) + &sample("${__threadNum}");
    plan(&group("ThreadGroup", users, -1, Some(seconds), &body))
}
