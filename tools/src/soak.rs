//! `cargo xtask soak`: a long run with everything that holds memory, descriptors or threads. These must not grow, and every sample
//! must be accounted for.

use std::fmt;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use drumfire_testkit::program::{Workshop, jmeter_home};
use drumfire_testkit::server::{ResponseStep, Server, respond};

use crate::faults::bench::{group, pause, plan, sample, start};
use crate::faults::built;
use crate::faults::scripts::groovy;

/// The number of labels.
const LABELS: usize = 200;
/// The number of users that take samples, and the pause before each sample.
const USERS: &str = "20";
const PAUSE_MS: u32 = 20;
/// The number of open pages.
const FOLLOWERS: usize = 2;
/// How much more the last third of the run may have than the second one.
const MEMORY_BYTES: u64 = 16 << 20;
const DESCRIPTORS: u64 = 8;
const THREADS: u64 = 8;

/// The memory, descriptors and threads of the process at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Held {
    memory_bytes: u64,
    descriptors: u64,
    threads: u64,
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let memory = self.memory_bytes >> 20;
        let (descriptors, threads) = (self.descriptors, self.threads);
        write!(
            f,
            "{memory} MiB, {descriptors} descriptors, {threads} threads"
        )
    }
}

impl Held {
    /// Reads it from `/proc`; `None` once the process has ended.
    fn of(id: u32) -> Option<Held> {
        let process = format!("/proc/{id}");
        let status = std::fs::read_to_string(format!("{process}/status")).ok()?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        let descriptors = std::fs::read_dir(format!("{process}/fd")).ok()?.count();
        Some(Held {
            memory_bytes: field("VmRSS:")? << 10,
            descriptors: descriptors as u64,
            threads: field("Threads:")?,
        })
    }

    /// The most of each.
    fn most(all: &[Held]) -> Held {
        all.iter().fold(Held::default(), |most, held| Held {
            memory_bytes: most.memory_bytes.max(held.memory_bytes),
            descriptors: most.descriptors.max(held.descriptors),
            threads: most.threads.max(held.threads),
        })
    }
}

/// Runs for this many seconds.
///
/// # Errors
/// Something grows, a sample is not accounted for, or the run fails.
pub fn soak(seconds: &str, program: Option<&Path>) -> anyhow::Result<()> {
    let seconds: u64 = seconds.parse().context("the time is in seconds")?;
    ensure!(seconds >= 30, "a soak of less than 30 s shows nothing");
    let program = program.map_or_else(built, |program| Ok(std::path::absolute(program)?))?;
    let home = jmeter_home();
    let mut workshop = Workshop::new(program);
    if let Some(home) = &home {
        workshop = workshop.variable("JMETER_HOME", &home.to_string_lossy());
    }
    workshop.write("p.jmx", soak_plan(seconds, home.is_some()));
    let outputs = Outputs::start()?;
    let mut words = [
        "run p.jmx -l r.csv --report p.html --run-file r.drumfire --junit j.xml --markdown m.md",
        "--summary-json s.json --progress quiet --out-required --ui 127.0.0.1:0",
    ]
    .join(" ")
    .split(' ')
    .map(str::to_owned)
    .collect::<Vec<_>>();
    for out in &outputs.places {
        words.extend(["--out".to_owned(), out.clone()]);
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut child = start(&workshop, &words);
    let mut told = BufReader::new(child.output()?);
    let mut line = String::new();
    told.read_line(&mut line)?;
    let page = line
        .split("http://")
        .nth(1)
        .with_context(|| format!("no page in `{line}`"))?;
    for _ in 0..FOLLOWERS {
        follow(page.trim())?;
    }
    std::thread::spawn(move || std::io::copy(&mut told, &mut std::io::sink()));
    let since = Instant::now();
    let mut held = Vec::new();
    while !child.has_ended()? && since.elapsed().as_secs() < seconds + 60 {
        held.extend(Held::of(child.id()?));
        if held.len() % 60 == 1 {
            println!(
                "{:>6} s  {}",
                since.elapsed().as_secs(),
                Held::most(&held[held.len() - 1..])
            );
        }
        std::thread::sleep(Duration::from_secs(1));
    }
    let finished = child.finish()?;
    ensure!(finished.code == Some(0), "the run failed: {finished:?}");
    is_flat(&held)?;
    are_counted(&workshop)
}

/// Users that take samples of many labels; if there is Java, one that runs a script.
fn soak_plan(seconds: u64, has_java: bool) -> String {
    let label = format!("label ${{__Random(1,{LABELS})}}");
    let mut groups = group(USERS, -1, &[pause(PAUSE_MS), sample(&label)].concat());
    if has_java {
        let script = groovy("script", "vars.put('n', String.valueOf(System.nanoTime()))");
        groups.push_str(&group("2", -1, &[pause(PAUSE_MS), script].concat()));
    }
    let scheduled = format!(
        r#"<boolProp name="ThreadGroup.scheduler">true</boolProp><stringProp name="ThreadGroup.duration">{seconds}</stringProp></ThreadGroup>"#
    );
    plan(&groups.replace("</ThreadGroup>", &scheduled))
}

/// Destinations that take everything.
struct Outputs {
    places: Vec<String>,
    /// Serves while it lives.
    _http: Server,
}

impl Outputs {
    fn start() -> anyhow::Result<Outputs> {
        let http = Server::start(|_| vec![ResponseStep::Send(respond("204 No Content", "", ""))]);
        let graphite = TcpListener::bind("127.0.0.1:0")?;
        let statsd = UdpSocket::bind("127.0.0.1:0")?;
        let web = http.address();
        let places = vec![
            format!("influxdb=http://{web}/write?db=soak"),
            format!("otlp=http://{web}/v1/metrics"),
            format!("clickhouse=http://{web}/"),
            format!("prometheus-remote-write=http://{web}/api/v1/write"),
            "prometheus=127.0.0.1:0".to_owned(),
            format!("graphite={}", graphite.local_addr()?),
            format!("statsd={}", statsd.local_addr()?),
            "json=o.json".to_owned(),
        ];
        std::thread::spawn(move || {
            for stream in graphite.incoming().flatten() {
                std::thread::spawn(move || {
                    let mut stream = stream;
                    std::io::copy(&mut stream, &mut std::io::sink())
                });
            }
        });
        std::thread::spawn(move || while statsd.recv(&mut [0; 65_536]).is_ok() {});
        Ok(Outputs {
            places,
            _http: http,
        })
    }
}

/// Reads the events of the page at `HOST/?QUERY` until it ends.
fn follow(page: &str) -> anyhow::Result<()> {
    let (host, query) = page.split_once("/?").context("the page has a token")?;
    let mut stream = TcpStream::connect(host)?;
    write!(
        stream,
        "GET /api/events?{query} HTTP/1.1\r\nHost: {host}\r\n\r\n"
    )?;
    let mut status = [0; 12];
    stream.read_exact(&mut status)?;
    ensure!(status.ends_with(b" 200"), "the page does not answer");
    std::thread::spawn(move || std::io::copy(&mut stream, &mut std::io::sink()));
    Ok(())
}

/// Checks that the last third holds no more than the second.
fn is_flat(held: &[Held]) -> anyhow::Result<()> {
    // The last second may already show the end.
    let third = held.len().saturating_sub(1) / 3;
    ensure!(third > 0, "too few moments: {}", held.len());
    let [then, now] = [1, 2].map(|part| Held::most(&held[part * third..(part + 1) * third]));
    println!("second third  {then}\nlast third    {now}");
    let grown = now.memory_bytes > then.memory_bytes + MEMORY_BYTES
        || now.descriptors > then.descriptors + DESCRIPTORS
        || now.threads > then.threads + THREADS;
    if grown {
        bail!("the process grows: {then}, then {now}")
    } else {
        Ok(())
    }
}

/// Checks that the summary and the rows have the same samples, and that each output has something.
fn are_counted(workshop: &Workshop) -> anyhow::Result<()> {
    let summary: serde_json::Value = serde_json::from_str(&workshop.read("s.json"))?;
    let counted = summary["total"]["count"].as_u64().context("a count")?;
    let rows = std::fs::File::open(workshop.path("r.csv"))?;
    let rows = BufReader::new(rows).lines().count() as u64 - 1;
    println!("{counted} samples are counted, {rows} rows are written");
    ensure!(
        counted == rows && rows > 0,
        "{counted} samples, but {rows} rows"
    );
    for file in ["p.html", "r.drumfire", "j.xml", "m.md", "o.json"] {
        let bytes = std::fs::metadata(workshop.path(file)).map_or(0, |file| file.len());
        ensure!(bytes > 0, "`{file}` is empty");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growing_figures_are_reported() {
        let held = |mib: u64, descriptors| Held {
            memory_bytes: mib << 20,
            descriptors,
            threads: 9,
        };
        let flat: Vec<_> = (0..90).map(|second| held(60 + second % 7, 40)).collect();
        is_flat(&flat).expect("it is flat");
        let leaking: Vec<_> = (0..90).map(|second| held(60 + second, 40)).collect();
        assert!(is_flat(&leaking).is_err());
        let files: Vec<_> = (0..90).map(|second| held(60, 40 + second)).collect();
        assert!(is_flat(&files).is_err());
        assert!(is_flat(&flat[..2]).is_err());
    }
}
