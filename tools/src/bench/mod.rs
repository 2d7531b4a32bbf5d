//! `cargo xtask bench`: measures the cost of a sample, alternating with other programs so that all of them run under
//! the same conditions.

mod aim;
mod bars;
mod curve;
mod kept;
mod made;
mod page;
mod pages;
mod paper;
mod peers;
mod profiles;
pub mod readings;
pub mod scenario;
pub mod server;
mod services;
mod table;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

pub use peers::LoadTester;
use peers::Peers;
use scenario::Scenario;
use server::Nginx;
use services::Services;
use table::TableRow;

/// The longest round, which bounds the duration of a benchmark whatever its options are.
const MAX_SECONDS: u32 = 60;
const MAX_ROUNDS: u32 = 20;
const LEAST_CONNECTIONS: u32 = 4096;

#[derive(Debug)]
struct BenchOptions {
    /// Scenario names; empty for all.
    scenarios: Vec<String>,
    /// The programs to compare with ours; empty for all.
    only: Vec<String>,
    rounds: u32,
    seconds: u32,
    /// A program that is already built.
    program: Option<PathBuf>,
    /// Where the output is stored; `None` for a new folder in `benches/runs/`.
    out: Option<PathBuf>,
}

/// Runs the benchmark, prints the results, and stores the output in `benches/runs/<date>/` or in the folder of `--out`.
pub fn bench(words: &[&str]) -> anyhow::Result<()> {
    if words == ["--page"] {
        return page::write(&xtask::root());
    }
    let options = options(words)?;
    let scenarios = chosen(&options)?;
    let program = match &options.program {
        Some(program) => program.clone(),
        None => packaged_program()?,
    };
    let peers = Peers::find(program);
    let connections = scenarios
        .iter()
        .flat_map(|s| &s.entries)
        .filter(|entry| entry.connects)
        .map(|entry| entry.users)
        .max();
    // An open model needs a connection for each request in progress.
    let connections = connections.unwrap_or(0).max(LEAST_CONNECTIONS);
    allow_files()?;
    let servers = Servers {
        nginx: Nginx::start(connections)?,
        services: Services::default(),
    };
    let folder = options.out.clone().unwrap_or_else(run_folder);
    std::fs::create_dir_all(&folder)?;
    let mut report = format!(
        "{}\nnot installed: {}\n\n",
        surroundings(&options),
        peers.missing().join(" ")
    );
    print!("{report}");
    for scenario in &scenarios {
        report.push_str(&run(scenario, &options, &peers, &servers, &folder)?);
        std::fs::write(folder.join("report.txt"), &report)?;
    }
    println!("raw output: {}", folder.display());
    Ok(())
}

/// The servers under load.
struct Servers {
    nginx: Nginx,
    services: Services,
}

/// Runs all rounds of a scenario and returns its table. A program that fails is reported and excluded from the
/// remaining rounds.
fn run(
    scenario: &Scenario,
    options: &BenchOptions,
    peers: &Peers,
    servers: &Servers,
    folder: &Path,
) -> anyhow::Result<String> {
    let server = &servers.nginx;
    let mut rows = rows(scenario, options, peers);
    let seconds = options
        .seconds
        .max(scenario.least_seconds)
        .min(scenario.most_seconds);
    for made in scenario.entries.iter().filter_map(|entry| entry.made) {
        made.write(server.folder())?;
    }
    let mut failures = String::new();
    println!("{}", scenario.name);
    for number in 1..=options.rounds {
        rows.retain_mut(|row| {
            let work = folder.join("work");
            let done = std::fs::create_dir_all(&work)
                .map_err(anyhow::Error::from)
                .and_then(|()| peers.run(row.entry, servers, seconds, &work));
            let kept = match done {
                Ok(round) => {
                    print!("{}", table::round(number, row.entry, &round));
                    keep_said(&round.said, scenario, row.entry, number, folder);
                    row.rounds.push(round);
                    true
                }
                Err(error) => {
                    let line = format!("{} left out: {error:#}\n", table::label(row.entry));
                    print!("{line}");
                    failures.push_str(&line);
                    false
                }
            };
            let _ = std::fs::remove_dir_all(&work);
            kept
        });
    }
    match scenario.axis {
        Some(axis) => curve::draw(scenario.name, axis, &rows, folder)?,
        None => bars::draw(scenario.name, &rows, folder)?,
    }
    let text = format!("{}{failures}", table::render(scenario, &rows));
    print!("\n{text}");
    Ok(text)
}

/// The programs of a scenario that are selected and installed.
fn rows<'s>(scenario: &'s Scenario, options: &BenchOptions, peers: &Peers) -> Vec<TableRow<'s>> {
    let entries = scenario.entries.iter().filter(|entry| {
        let name = entry.program.name();
        let is_chosen = options.only.is_empty()
            || name == "drumfire"
            || options.only.iter().any(|only| only == name);
        is_chosen && peers.has(entry.program)
    });
    let rows = entries.map(|entry| TableRow {
        entry,
        rounds: Vec::new(),
    });
    rows.collect()
}

/// How much of a program's output is stored.
const KEPT_BYTES: usize = 128 << 10;

/// Stores the end of a program's output for closer inspection. The report already has the numbers.
fn keep_said(
    said: &str,
    scenario: &Scenario,
    entry: &scenario::Contender,
    number: u32,
    folder: &Path,
) {
    let (name, case) = (entry.program.name(), file_part(&entry.case));
    let file = format!("{}-{case}{name}-{number}.txt", scenario.name);
    let end = said.ceil_char_boundary(said.len().saturating_sub(KEPT_BYTES));
    let said = said[end..].replace(&format!("{}/", xtask::root().display()), "");
    let _ = std::fs::write(folder.join(file), said);
}

fn file_part(case: &str) -> String {
    let letters = case
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '_' });
    let name: String = letters.collect();
    if name.is_empty() { name } else { name + "-" }
}

/// Whether a name selects a scenario; `growth` selects all whose names begin with `growth-`.
fn is_named(scenario: &Scenario, name: &str) -> bool {
    scenario
        .name
        .strip_prefix(name)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('-') && name == "growth")
}

fn chosen(options: &BenchOptions) -> anyhow::Result<Vec<Scenario>> {
    let mut all = scenario::all();
    for name in &options.scenarios {
        if !all.iter().any(|scenario| is_named(scenario, name)) {
            let names: Vec<&str> = all.iter().map(|scenario| scenario.name).collect();
            bail!("there is no scenario {name}; there are {}", names.join(" "));
        }
    }
    if !options.scenarios.is_empty() {
        all.retain(|scenario| {
            let mut names = options.scenarios.iter();
            names.any(|name| is_named(scenario, name))
        });
    } else {
        all.retain(|scenario| !scenario.on_request);
    }
    Ok(all)
}

fn options(words: &[&str]) -> anyhow::Result<BenchOptions> {
    let mut options = BenchOptions {
        scenarios: Vec::new(),
        only: Vec::new(),
        rounds: 5,
        seconds: 5,
        program: None,
        out: None,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if !word.starts_with("--") {
            options.scenarios.push((*word).to_owned());
            continue;
        }
        let value = words
            .next()
            .with_context(|| format!("{word} needs a value"))?;
        let number = |most: u32| -> anyhow::Result<u32> {
            let number = value.parse::<u32>().with_context(|| (*value).to_owned())?;
            Ok(number.clamp(1, most))
        };
        match *word {
            "--rounds" => options.rounds = number(MAX_ROUNDS)?,
            "--seconds" => options.seconds = number(MAX_SECONDS)?,
            "--only" => options.only = value.split(',').map(str::to_owned).collect(),
            "--program" => options.program = Some(std::path::absolute(value)?),
            "--out" => options.out = Some(std::path::absolute(value)?),
            other => bail!("bench has no option {other}"),
        }
    }
    Ok(options)
}

/// Raises this process's limit of open files to the hard limit. Child processes inherit it.
fn allow_files() -> anyhow::Result<()> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).context("limit of open files (ulimit -n)")
}

fn run_folder() -> PathBuf {
    let now = jiff::Zoned::now().strftime("%Y-%m-%dT%H%M%S").to_string();
    xtask::root().join("benches/runs").join(now)
}

/// Builds the program with the profile of the packages and returns its path.
fn packaged_program() -> anyhow::Result<PathBuf> {
    let build = [
        "build",
        "--profile",
        "dist",
        "--quiet",
        "--package",
        "drumfire",
    ];
    xtask::run(xtask::cargo().args(build))?;
    Ok(xtask::target().join("dist/drumfire"))
}

fn surroundings(options: &BenchOptions) -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map(|model| model.trim_start_matches([' ', '\t', ':']))
        .unwrap_or("unknown CPU");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let rounds = match options.rounds {
        1 => "1 round".to_owned(),
        more => format!("{more} rounds"),
    };
    format!(
        "nginx on loopback, 510-byte page, {rounds} of {} s; {cores} cores, {model}\n\
         CPU and memory are the whole process's, with its start; JMeter's and Gatling's fall as runs get longer",
        options.seconds
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_bounded() {
        let words = [
            "keepalive",
            "--rounds",
            "900",
            "--seconds",
            "2",
            "--only",
            "wrk,oha",
        ];
        let options = options(&words).expect("options");
        assert_eq!((options.rounds, options.seconds), (20, 2));
        assert_eq!((options.scenarios.len(), options.only.len()), (1, 2));
        assert_eq!(chosen(&options).expect("it is known").len(), 1);
        let growth = super::options(&["growth"]).expect("options");
        assert_eq!(chosen(&growth).expect("it is known").len(), 12);
        assert!(super::options(&["--rounds"]).is_err());
        assert!(super::options(&["--fast", "1"]).is_err());
    }

    #[test]
    fn an_unknown_scenario_is_told_with_those_there_are() {
        let options = options(&["keepalife"]).expect("options");
        let error = chosen(&options).err().expect("there is none").to_string();
        assert!(error.contains("keepalive extract"), "{error}");
    }
}
