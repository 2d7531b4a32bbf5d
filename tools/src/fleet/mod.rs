//! `cargo xtask fleet`: measures the cost of distributed runs, and whether their results equal those of one
//! machine.

mod lan;
mod network;
mod rows;
mod swarm;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use drumfire_fleet::LinkOptions;
use drumfire_testkit::nats::Nats;
use drumfire_testkit::program::{LIMIT, Workshop};
use serde_json::Value;
use xtask::{cargo, root, run};

use self::swarm::Swarm;
use crate::bench::scenario::Door;
use crate::bench::server::Nginx;
use crate::faults::bench::{group, plan, request, sample, start, words_for_agents};

/// The limits for a coordinator of a thousand agents.
const MOST_CORES: f64 = 1.0;
const MOST_MIB: u64 = 512;
const SWARM: Swarm = Swarm {
    agents: 1_000,
    labels: 200,
    samples: 5,
    seconds: 20,
};
/// The users of a throughput run, and its duration.
const USERS: u32 = 128;
const SECONDS: u32 = 6;
/// How many times each kind of run is measured.
const ROUNDS: u32 = 3;
/// The agents of one machine must send at least this share of what one process sends.
const LEAST_SHARE: f64 = 0.9;
/// A part of the measurement, which runs this program.
type Part = fn(&PathBuf) -> anyhow::Result<()>;

/// Runs the parts with these names, or all.
///
/// # Errors
/// A part fails or exceeds its limits.
pub fn fleet(words: &[&str]) -> anyhow::Result<()> {
    let (mut names, mut program) = (Vec::new(), None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--program" => program = words.next().map(PathBuf::from),
            name => names.push(name),
        }
    }
    let program = match program {
        Some(program) => std::path::absolute(program)?,
        None => built()?,
    };
    if names.first() == Some(&network::INSIDE) {
        return network::inside(&program);
    }
    let parts: [(&str, Part); 3] = [
        ("agents", agents),
        ("throughput", throughput),
        ("network", network::network),
    ];
    for name in &names {
        ensure!(
            parts.iter().any(|(known, _)| known == name),
            "unknown part `{name}`; choose from agents, throughput, network"
        );
    }
    for (name, part) in parts {
        if names.is_empty() || names.contains(&name) {
            part(&program).context(name)?;
        }
    }
    Ok(())
}

/// The release build of the program.
fn built() -> anyhow::Result<PathBuf> {
    run(cargo().args(["build", "--quiet", "--release", "--package", "drumfire"]))?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(target.join("release/drumfire"))
}

/// A process's CPU time in seconds, and its peak memory in MiB.
fn used(pid: u32) -> anyhow::Result<(f64, u64)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields = stat.rsplit_once(')').context("a stat file")?.1;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|text| text.parse::<f64>().ok());
    let ticks = ticks(11).context("utime")? + ticks(12).context("stime")?;
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|line| line.split_whitespace().next());
    let kib: u64 = peak.context("VmHWM")?.parse()?;
    Ok((ticks / 100.0, kib >> 10))
}

fn total(home: &Workshop) -> anyhow::Result<Value> {
    Ok(serde_json::from_str(&home.read("run.json"))?)
}

/// Simulates a thousand agents at one coordinator.
fn agents(program: &PathBuf) -> anyhow::Result<()> {
    let nats = Nats::start();
    let home = Workshop::new(program);
    home.write("p.jmx", plan(&group("1000", 1, &sample("s"))));
    let (url, count) = (nats.url(), SWARM.agents.to_string());
    let fixed = words_for_agents(&url, &count);
    let words = ["--progress", "lines", "--run-file", "kept.run"];
    let child = start(&home, &[&fixed[..], &words].concat());
    let (coordinator, server) = (child.id()?, nats.pid()?);
    let options = LinkOptions {
        url: nats.url(),
        ..LinkOptions::default()
    };
    let (mut from, mut to) = (Vec::new(), Vec::new());
    let note = |into: &mut Vec<(f64, u64)>| {
        into.extend([coordinator, server].map(|pid| used(pid).unwrap_or_default()));
    };
    let since = std::cell::Cell::new(Instant::now());
    let lasted = std::cell::Cell::new(Duration::ZERO);
    let told = swarm::swarm(
        &options,
        SWARM,
        &mut || {
            since.set(Instant::now());
            note(&mut from);
        },
        &mut || {
            lasted.set(since.get().elapsed());
            note(&mut to);
        },
    )?;
    let finished = child.finish()?;
    ensure!(finished.code == Some(0), "{finished:?}");
    let counted = total(&home)?["total"]["count"]
        .as_u64()
        .context("a count")?;
    let seconds = lasted.get().as_secs_f64();
    let cores = |place: usize| (to[place].0 - from[place].0) / seconds;
    println!(
        "{} agents, {} labels, {} samples a second in all, {seconds:.1} s for {} s of them",
        SWARM.agents,
        SWARM.labels,
        SWARM.agents * SWARM.labels * SWARM.samples,
        SWARM.seconds
    );
    println!(
        "coordinator  {:.2} cores, {} MiB at most",
        cores(0),
        to[0].1
    );
    println!(
        "NATS         {:.2} cores, {} MiB at most",
        cores(1),
        to[1].1
    );
    println!("samples      {counted} of {told} counted");
    ensure!(counted == told, "samples are missing, or counted twice");
    ensure!(
        seconds < f64::from(SWARM.seconds) + 2.0,
        "the agents could not keep their pace"
    );
    ensure!(
        cores(0) < MOST_CORES && to[0].1 < MOST_MIB,
        "the coordinator costs too much"
    );
    Ok(())
}

/// Compares local agents with the threads of one process, against nginx on the same machine.
fn throughput(program: &PathBuf) -> anyhow::Result<()> {
    let nginx = Nginx::start(1_024)?;
    let home = Workshop::new(program);
    let inside = request(nginx.port(Door::Plain), "http", "");
    let forever = group(&USERS.to_string(), -1, &inside);
    home.write("p.jmx", plan(&forever));
    let duration = format!("{SECONDS}s");
    let measured = |more: &[&str]| -> anyhow::Result<f64> {
        let fixed = [
            "run",
            "p.jmx",
            "--duration",
            &duration,
            "--progress",
            "quiet",
            "--no-run-file",
            "--summary-json",
            "run.json",
        ];
        let finished = home.run(&[&fixed, more].concat(), LIMIT);
        ensure!(finished.code == Some(0), "{finished:?}");
        let count = total(&home)?["total"]["count"]
            .as_u64()
            .context("a count")?;
        Ok(count as f64 / f64::from(SECONDS))
    };
    let kinds = ["", "local:1", "local:2", "local:4"];
    let mut rates = [const { Vec::new() }; 4];
    // Alternate between them, so that other activity on the machine affects all of them.
    for _ in 0..ROUNDS {
        for (rates, agents) in rates.iter_mut().zip(kinds) {
            rates.push(match agents {
                "" => measured(&[])?,
                agents => measured(&["--agents", agents])?,
            });
        }
    }
    let [alone, of_agents @ ..] = &rates;
    println!("one process  {:>9.0} samples a second", median(alone));
    let mut least = f64::INFINITY;
    for (rates, agents) in of_agents.iter().zip(&kinds[1..]) {
        let shares: Vec<f64> = rates
            .iter()
            .zip(alone)
            .map(|(its, one)| its / one)
            .collect();
        let share = median(&shares);
        least = least.min(share);
        println!(
            "{agents:<11}  {:>9.0} samples a second, {:.0} % of one process",
            median(rates),
            share * 100.0
        );
    }
    ensure!(
        least >= LEAST_SHARE,
        "agents cost more than {:.0} %",
        (1.0 - LEAST_SHARE) * 100.0
    );
    Ok(())
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}
