//! Runs eight agents on their own network, each with its own address and a link to NATS with 20 ms of delay. Checks that
//! they start at the same instant, read each shared row once, follow the plan's rates, and add up to the numbers of one
//! machine.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use drumfire_testkit::nats::Nats;
use drumfire_testkit::program::{LIMIT, Workshop};
use drumfire_testkit::server::{ResponseStep, Server, ok};
use drumfire_testkit::slow_link::{LinkQuality, SlowLink};

use super::lan::Lan;
use super::rows::{RowsByLabel, compare};
use crate::faults::bench::{Running, group, pause, plan};

/// The argument with which this program calls itself in a namespace.
pub const INSIDE: &str = "network-inside";

const AGENTS: usize = 8;
const DELAY: Duration = Duration::from_millis(20);
/// How many starts are measured, each with a first sample from every agent.
const STARTS: usize = 13;
/// 99 % of the agents' first samples must reach the target within this time after the first one of their start.
const MOST_SKEW_MS: f64 = 5.0;
const ROWS: usize = 100_000;
/// The largest allowed difference between the totals of agents and of one machine, as a share.
const MOST_DIFFERENCE: f64 = 0.01;
/// Scheduled arrivals may differ from those of one machine by at most this much, so that each second has the right rate.
const MOST_LATE_MS: i64 = 500;
/// The open groups of the mixed plan: their labels, and the expected number of arrivals.
const OPEN: [(&str, usize); 3] = [("even", 1_000), ("random", 1_000), ("arrivals", 500)];

/// Measures in a private network namespace. Without the permission to create one, it measures on loopback, where separate
/// ports stand for the machines.
pub fn network(program: &PathBuf) -> anyhow::Result<()> {
    let own = ["--map-root-user", "--net"];
    let tried = Command::new("unshare")
        .args(own)
        .args(["ip", "link", "show", "lo"])
        .output();
    let why = match tried {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Some(error.to_string()),
    };
    if let Some(why) = why {
        println!(
            "network      no namespaces here ({why}): ports of the loopback stand for machines"
        );
        return measure(program, &Lan::loopback(AGENTS));
    }
    let mut command = Command::new("unshare");
    command.args(own).arg(std::env::current_exe()?);
    command.args(["fleet", INSIDE, "--program"]).arg(program);
    xtask::run(&mut command)
}

/// Runs the measurements in a namespace that nothing else uses.
pub fn inside(program: &Path) -> anyhow::Result<()> {
    measure(program, &Lan::start(AGENTS)?)
}

fn measure(program: &Path, lan: &Lan) -> anyhow::Result<()> {
    let fleet = Fleet::start(program, lan)?;
    let skew = starts(&fleet)?;
    rows_once(&fleet)?;
    mixed(&fleet)?;
    ensure!(
        skew <= MOST_SKEW_MS,
        "the agents did not start at one instant"
    );
    Ok(())
}

/// Requests in the order in which they reached the target.
type Seen = Arc<Mutex<Vec<(Instant, String)>>>;

/// A NATS server with keys, waiting agents behind slow links, and a target.
struct Fleet<'p> {
    program: &'p Path,
    _nats: Nats,
    url: String,
    keys: Workshop,
    _ways: Vec<SlowLink>,
    _agents: Vec<(Workshop, Running)>,
    target: Server,
    seen: Seen,
}

impl<'p> Fleet<'p> {
    fn start(program: &'p Path, lan: &Lan) -> anyhow::Result<Fleet<'p>> {
        let keys = Workshop::new(program);
        let host = lan.host.to_string();
        let names: Vec<String> = (0..AGENTS).map(|number| format!("a{number}")).collect();
        let nats = Nats::start_with(|_, port| {
            let port = port.to_string();
            let mut words = vec!["fleet", "init", "keys", "--port", &port, "--host", &host];
            names
                .iter()
                .for_each(|name| words.extend(["--agent", name]));
            let made = keys.run(&words, LIMIT);
            assert_eq!(made.code, Some(0), "{made:?}");
            if lan.host.is_loopback() {
                let config = keys.read("keys/nats.conf");
                keys.write("keys/nats.conf", format!("host: 127.0.0.1\n{config}"));
            }
            Some(keys.path("keys/nats.conf"))
        });
        let seen = Seen::default();
        let noted = seen.clone();
        let target = Server::start_at(lan.host, move |request| {
            let request = (Instant::now(), request.target.clone());
            noted
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(request);
            vec![ResponseStep::Send(ok(""))]
        });
        let (mut ways, mut agents) = (Vec::new(), Vec::new());
        for (number, name) in names.iter().enumerate() {
            let way = SlowLink::at(lan.host, nats.port)?;
            way.set(LinkQuality {
                delay: DELAY,
                ..LinkQuality::default()
            });
            let url = format!("tls://{}", SocketAddr::new(lan.host, way.port()));
            let creds = format!("keys/agents/{name}.creds");
            let files = [&creds, "keys/server.pem", "keys/trust.pub"].map(|file| keys.path(file));
            let files = files.each_ref().map(|file| file.to_string_lossy());
            let words = [
                "agent",
                "--nats",
                &url,
                "--name",
                name,
                "--nats-creds",
                &files[0],
                "--nats-ca",
                &files[1],
                "--trust",
                &files[2],
            ];
            agents.push(lan.start_on(number, program, &words)?);
            ways.push(way);
        }
        Ok(Fleet {
            program,
            url: format!("tls://{}", SocketAddr::new(lan.host, nats.port)),
            _nats: nats,
            keys,
            _ways: ways,
            _agents: agents,
            target,
            seen,
        })
    }

    /// Runs a plan on all agents, with collected rows and a run file; returns the coordinator's folder.
    fn run(&self, plan: &str, data: Option<&str>) -> anyhow::Result<Workshop> {
        let files = ["server.pem", "coordinator.creds", "coordinator.key"]
            .map(|file| self.keys.path(&format!("keys/{file}")));
        let files = files.each_ref().map(|file| file.to_string_lossy());
        let count = AGENTS.to_string();
        let words = [
            "--agents",
            &count,
            "--nats",
            &self.url,
            "--nats-ca",
            &files[0],
            "--nats-creds",
            &files[1],
            "--sign",
            &files[2],
        ];
        self.run_with(plan, data, &words)
    }

    fn run_with(&self, plan: &str, data: Option<&str>, words: &[&str]) -> anyhow::Result<Workshop> {
        let home = Workshop::new(self.program);
        home.write("p.jmx", plan);
        if let Some(data) = data {
            home.write("rows.csv", data);
        }
        self.take_seen();
        let fixed = [
            "run",
            "p.jmx",
            "--progress",
            "quiet",
            "-l",
            "rows.jtl",
            "--run-file",
            "live.run",
            "-Jsample_variables=row",
        ];
        let finished = home.run(&[&fixed, words].concat(), LIMIT);
        ensure!(finished.code == Some(0), "{finished:?}");
        Ok(home)
    }

    fn take_seen(&self) -> Vec<(Instant, String)> {
        std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A request to the target.
    fn request(&self, name: &str, path: &str) -> String {
        let address = self.target.address();
        format!(
            r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="{name}"><stringProp name="HTTPSampler.domain">{}</stringProp><stringProp name="HTTPSampler.port">{}</stringProp><stringProp name="HTTPSampler.protocol">http</stringProp><stringProp name="HTTPSampler.path">{path}</stringProp><stringProp name="HTTPSampler.method">GET</stringProp><boolProp name="HTTPSampler.use_keepalive">true</boolProp></HTTPSamplerProxy><hashTree/>"#,
            address.ip(),
            address.port()
        )
    }
}

/// Starts a plan repeatedly. Returns the time in milliseconds within which 99 % of the first samples follow the earliest
/// one of their start.
fn starts(fleet: &Fleet) -> anyhow::Result<f64> {
    let first = fleet.request("first", "/first/${__P(agent.index)}");
    let once = plan(&group(&AGENTS.to_string(), 1, &first));
    let mut after_ms = Vec::new();
    for _ in 0..STARTS {
        fleet.run(&once, None)?;
        let seen = fleet.take_seen();
        let agents: HashSet<&str> = seen.iter().map(|(_, path)| path.as_str()).collect();
        ensure!(
            agents.len() == AGENTS && seen.len() == AGENTS,
            "{} agents have sent {} samples",
            agents.len(),
            seen.len()
        );
        let earliest = seen.iter().map(|(at, _)| *at).min().context("a sample")?;
        let after = |at: &Instant| (*at - earliest).as_secs_f64() * 1e3;
        let latest = seen.iter().map(|(at, _)| after(at)).fold(0.0, f64::max);
        if latest > MOST_SKEW_MS {
            tell_late(&seen, after);
        }
        after_ms.extend(seen.iter().map(|(at, _)| after(at)));
    }
    after_ms.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| after_ms[((after_ms.len() - 1) as f64 * share) as usize];
    println!(
        "start        {} first samples of {STARTS} starts reach the target after the first of their start by {:.1} ms (50 %), {:.1} ms (99 %), {:.1} ms (all); the way to NATS takes {} ms",
        after_ms.len(),
        at(0.5),
        at(0.99),
        at(1.0),
        DELAY.as_millis()
    );
    Ok(at(0.99))
}

/// Prints when each agent started and the verdict, for a start that was not simultaneous.
fn tell_late(seen: &[(Instant, String)], after: impl Fn(&Instant) -> f64) {
    let agents: Vec<String> = seen
        .iter()
        .map(|(at, path)| format!("{path} {:.1} ms", after(at)))
        .collect();
    println!("late         {}", agents.join(", "));
}

/// Reads a shared file on all agents. Each row must reach the target once, and the report must equal that of the rows.
fn rows_once(fleet: &Fleet) -> anyhow::Result<()> {
    let data = r#"<CSVDataSet guiclass="TestBeanGUI" testclass="CSVDataSet" testname="rows"><stringProp name="filename">rows.csv</stringProp><stringProp name="variableNames">row</stringProp><boolProp name="recycle">false</boolProp><boolProp name="stopThread">true</boolProp></CSVDataSet><hashTree/>"#;
    let inside = data.to_owned() + &pause(2) + &fleet.request("row", "/row/${row}");
    let users = (AGENTS * 4).to_string();
    let rows: String = (0..ROWS).map(|row| format!("{row}\n")).collect();
    let home = fleet.run(&plan(&group(&users, -1, &inside)), Some(&rows))?;
    let mut arrived: HashMap<String, u32> = HashMap::new();
    for (_, path) in fleet.take_seen() {
        *arrived.entry(path).or_default() += 1;
    }
    let twice = arrived.values().filter(|count| **count > 1).count();
    let known = (0..ROWS)
        .filter(|row| arrived.contains_key(&format!("/row/{row}")))
        .count();
    println!("rows         {known} of {ROWS} reached the target, {twice} of them more than once");
    ensure!(
        known == ROWS && twice == 0 && arrived.len() == ROWS,
        "rows are missing, or used twice"
    );
    let collected = RowsByLabel::read(&home.read("rows.jtl"))?;
    let told: HashSet<&str> = collected
        .of("row")
        .iter()
        .map(|row| row.variable.as_str())
        .collect();
    ensure!(
        told.len() == ROWS && collected.of("row").len() == ROWS,
        "{} rows are collected, {} of them different",
        collected.of("row").len(),
        told.len()
    );
    same_report(&home)
}

/// Compares the report of the run file with the report of the collected rows.
fn same_report(home: &Workshop) -> anyhow::Result<()> {
    for (from, to) in [("live.run", "live"), ("rows.jtl", "pooled")] {
        let made = home.run(&["report", from, "-o", to], LIMIT);
        ensure!(made.code == Some(0), "{made:?}");
    }
    let [live, pooled] =
        ["live", "pooled"].map(|from| home.read(&format!("{from}/statistics.json")));
    let equal = compare(&live, &pooled)?;
    println!("report       {equal} numbers are those of the report from the pooled rows");
    Ok(())
}

/// Runs closed and open groups on one machine and on all agents, and compares the totals of each label.
fn mixed(fleet: &Fleet) -> anyhow::Result<()> {
    let plan = mixed_plan(fleet);
    let alone = fleet.run_with(&plan, None, &[])?;
    let alone = RowsByLabel::read(&alone.read("rows.jtl"))?;
    let home = fleet.run(&plan, None)?;
    let together = RowsByLabel::read(&home.read("rows.jtl"))?;
    let [one, all] = [&alone, &together].map(|rows| rows.of("closed").len());
    println!("closed       {one} samples on one machine, {all} on {AGENTS} agents");
    let difference = (one as f64 - all as f64).abs() / one as f64;
    ensure!(
        difference <= MOST_DIFFERENCE,
        "totals differ by {:.1} %",
        difference * 100.0
    );
    for (label, planned) in OPEN {
        let [one, all] = [&alone, &together].map(|rows| rows.starts_ms(label));
        ensure!(
            one.len() == planned && all.len() == planned,
            "{label}: {planned} arrivals are planned; one machine has {}, {AGENTS} agents have {}",
            one.len(),
            all.len()
        );
        // Random schedules use the same seed in both runs.
        let apart = one.iter().zip(&all).map(|(one, all)| (one - all).abs());
        let apart_ms = apart.max().unwrap_or(0);
        println!(
            "{label:<12} {planned} arrivals on one machine and on {AGENTS} agents, each within {apart_ms} ms of the same one"
        );
        ensure!(apart_ms <= MOST_LATE_MS, "{label}: arrivals are late");
    }
    same_report(&home)
}

/// Fifteen seconds of users with think time, and ten of two open models and an arrivals group.
fn mixed_plan(fleet: &Fleet) -> String {
    // Each user completes fifteen iterations even if each of them is 40 ms late.
    let closed = pause(960) + &fleet.request("closed", "/closed");
    let closed = group("64", -1, &closed).replace(
        "</ThreadGroup>",
        r#"<boolProp name="ThreadGroup.scheduler">true</boolProp><stringProp name="ThreadGroup.duration">15</stringProp></ThreadGroup>"#,
    );
    let open = |label: &str, kind: &str| {
        format!(
            r#"<OpenModelThreadGroup guiclass="OpenModelThreadGroupGui" testclass="OpenModelThreadGroup" testname="{label}"><stringProp name="OpenModelThreadGroup.schedule">rate(100/sec) {kind}_arrivals(10 sec) rate(100/sec) pause(1 sec)</stringProp><longProp name="OpenModelThreadGroup.random_seed">7</longProp><elementProp name="ThreadGroup.main_controller" elementType="OpenModelThreadGroupController"/></OpenModelThreadGroup><hashTree>{}</hashTree>"#,
            fleet.request(label, "/open")
        )
    };
    let class = "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup";
    let arrivals = format!(
        r#"<{class} guiclass="ArrivalsThreadGroupGui" testclass="{class}" testname="arrivals"><elementProp name="ThreadGroup.main_controller" elementType="com.blazemeter.jmeter.control.VirtualUserController"/><stringProp name="TargetLevel">50</stringProp><stringProp name="RampUp">0</stringProp><stringProp name="Hold">10</stringProp><stringProp name="Unit">S</stringProp></{class}><hashTree>{}</hashTree>"#,
        fleet.request("arrivals", "/arrivals")
    );
    plan(
        &[
            closed,
            open("even", "even"),
            open("random", "random"),
            arrivals,
        ]
        .concat(),
    )
}
