//! `drumfire agent` waits for work at a NATS server; `drumfire agents` lists the waiting agents.

pub mod arguments;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use drumfire_fleet::{
    AgentOptions, FleetError, Hello, NATS_VARIABLE, PROTOCOL, agent_name, is_public_key, is_token,
};
use drumfire_platform::causes::cause;
use drumfire_platform::ports::{PORT, bad_port};
use drumfire_platform::processes::replace_by;

use crate::agent::arguments::{AgentArguments, AgentsArguments};
use crate::console::Console;
use crate::engine::{Engine, serve};
use crate::exit_codes::Exit;
use crate::fleet::arguments::LinkOptions;
use crate::jmeter::remote;
use crate::log;
use crate::refusal::Refusal;
use crate::settings::options::{Change, PropertyOptions};
use crate::settings::properties::RunProperties;
use crate::terminal::escape;
use crate::terminal::format::count;

use crate::doctor::machine_ceilings;
use crate::settings::settings;

/// The environment variable with the number of a pod of an Indexed Job.
const JOB_INDEX: &str = "JOB_COMPLETION_INDEX";
/// Set in the environment of an agent that has reached its server before.
const CONNECTED: &str = "DRUMFIRE_AGENT_CONNECTED";
/// The pause before such an agent connects again.
const AGAIN: Duration = Duration::from_secs(2);
/// How long agents have to answer.
const ANSWERS: Duration = Duration::from_secs(1);

/// Waits for runs and takes part in them.
pub fn agent(
    order: &AgentArguments,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let mut order = order.clone();
    let settings = settings(&order.properties, &[], None, console)?;
    remote::settle_server(&mut order, &settings);
    let order = &order;
    let (properties, system) = own_properties(&order.properties, &settings);
    let options = AgentOptions {
        link: link(&order.link, order.is_jmeter)?,
        hello: hello(order, engine)?,
        properties,
        system,
        trust: trusted(&order.trust)?,
        workers: order.workers,
        log: Arc::default(),
        cache: order
            .cache
            .clone()
            .unwrap_or_else(|| default_cache(console)),
    };
    log::start_queue(options.log.clone());
    if order.tied {
        std::thread::spawn(end_with_input);
    }
    let mut has_connected = std::env::var_os(CONNECTED).is_some();
    let served = serve(engine, &options, &mut |line| {
        has_connected = true;
        console.line(line);
    });
    match served {
        Err(error @ FleetError::Unfit(_)) => Err(refusal(&error)),
        Err(error @ FleetError::Nats { .. }) if !has_connected => Err(refusal(&error)),
        Err(error) if order.is_once() => Err(refusal(&error)),
        Ok(served) if order.is_once() || served.is_last => Ok(Exit::Ok),
        // The server was reachable before, so it is restarting or the connection is down.
        Err(error @ FleetError::Nats { .. }) => {
            console.warn(&format!("{error}; trying again"));
            std::thread::sleep(AGAIN);
            Err(again())
        }
        // The plan was refused or the run failed. The coordinator tells the user, and the agent waits for the next run.
        Ok(_) | Err(_) => Err(again()),
    }
}

/// JMeter and system properties that the agent's own command line sets. They override those of runs.
#[expect(clippy::type_complexity, reason = "two lists of names and values")]
fn own_properties(
    given: &PropertyOptions,
    settings: &RunProperties,
) -> (Vec<(String, String)>, Vec<(String, String)>) {
    let value_of = |name: &String| Some((name.clone(), settings.properties.get(name)?.to_owned()));
    let properties = settings.given.iter().filter_map(value_of).collect();
    let changes = given.all_changes().into_iter();
    let system = changes.filter_map(|change| match change {
        Change::System(name, value) => Some((name, value)),
        _ => None,
    });
    (properties, system.collect())
}

/// The public keys among these texts, and those in the files that other texts name.
fn trusted(texts: &[String]) -> Result<Vec<String>, Refusal> {
    let mut keys = Vec::new();
    for text in texts {
        if is_public_key(text) {
            keys.push(text.clone());
            continue;
        }
        let wrong = |why: &str| {
            let refusal = Refusal::new(Exit::Usage, format!("`--trust {text}`: {why}"));
            refusal.hint("name the `trust.pub` of `drumfire fleet init`")
        };
        let found = std::fs::read_to_string(text).map_err(|error| wrong(&cause(&error)))?;
        let before = keys.len();
        keys.extend(
            found
                .split_whitespace()
                .filter(|word| is_public_key(word))
                .map(str::to_owned),
        );
        if keys.len() == before {
            return Err(wrong("there is no public key in it"));
        }
    }
    Ok(keys)
}

/// Restarts the agent's process for the next run: Java can be started only once per process, and nothing of the last run
/// remains.
fn again() -> Refusal {
    let cannot = |error: std::io::Error| {
        Refusal::new(
            Exit::RunFailed,
            format!("the agent cannot start again: {}", cause(&error)),
        )
    };
    match std::env::current_exe() {
        // It returns only if it fails.
        Ok(program) => cannot(replace_by(
            Command::new(program)
                .args(std::env::args_os().skip(1))
                .env(CONNECTED, "1"),
        )),
        Err(error) => cannot(error),
    }
}

/// Ends this process when its standard input is closed.
fn end_with_input() {
    let mut rest = Vec::new();
    let _ = std::io::stdin().read_to_end(&mut rest);
    std::process::exit(Exit::RunFailed.code().into());
}

fn refusal(error: &FleetError) -> Refusal {
    Refusal::new(Exit::RunFailed, error.to_string())
}

/// The options, checked for an address.
pub fn link(link: &LinkOptions, is_jmeter: bool) -> Result<drumfire_fleet::LinkOptions, Refusal> {
    let link = link.to_link();
    let option = match is_jmeter {
        true => "-Jdrumfire.nats=",
        false => "--nats ",
    };
    if link.url.is_empty() {
        let why = "agents are reached over a NATS server, and none is named";
        return Err(Refusal::new(Exit::Usage, why).hint(format!(
            "add `{option}nats://HOST:4222`, or set {NATS_VARIABLE}"
        )));
    }
    if let Some(port) = link.url.split(',').find_map(bad_port) {
        return Err(Refusal::new(Exit::Usage, format!("`{port}` is not a port")).hint(PORT));
    }
    Ok(link)
}

fn hello(order: &AgentArguments, engine: &Engine) -> Result<Hello, Refusal> {
    let host = gethostname::gethostname().to_string_lossy().into_owned();
    let name = order
        .name
        .clone()
        .unwrap_or_else(|| format!("{}-{}", agent_name(&host), std::process::id()));
    // An Indexed Job numbers its pods. A pod that replaces another gets the same number.
    let name = match std::env::var(JOB_INDEX) {
        Ok(index) => format!("{}-{index}", order.name.as_deref().unwrap_or("agent")),
        Err(_) => name,
    };
    if !is_token(&name) {
        let message =
            format!("`{name}` is not a valid agent name; use letters, digits, `-` and `_`");
        return Err(Refusal::new(Exit::Usage, message));
    }
    let mut labels = BTreeMap::new();
    for label in &order.label {
        let Some((name, value)) = label.split_once('=') else {
            let message = format!("`--label {label}` has no value; write `--label name=value`");
            return Err(Refusal::new(Exit::Usage, message));
        };
        labels.insert(name.to_owned(), value.to_owned());
    }
    Ok(Hello {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        name,
        labels,
        weight: order.weight,
        cores: std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
        memory_mib: crate::run::run_file::memory_mib().unwrap_or(0),
        open_files: drumfire_health::raise_open_files().unwrap_or(0),
        ceilings: machine_ceilings()
            .into_iter()
            .map(|ceiling| (ceiling.of.to_owned(), ceiling.most))
            .collect(),
        host,
        addresses: addresses(),
        java: (engine.java.version)(),
        run: None,
    })
}

/// The addresses of this machine, except loopback.
fn addresses() -> Vec<IpAddr> {
    let found = if_addrs::get_if_addrs().unwrap_or_default();
    let addresses = found.iter().map(if_addrs::Interface::ip);
    addresses.filter(|address| !address.is_loopback()).collect()
}

/// The folder `drumfire` in the user's cache folder.
fn default_cache(console: &Console<'_>) -> PathBuf {
    let variable = |name: &str| (console.variable)(name).filter(|value| !value.is_empty());
    let of_home = || Some(PathBuf::from(variable("HOME")?).join(".cache"));
    let cache = variable("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(of_home);
    cache.unwrap_or_else(std::env::temp_dir).join("drumfire")
}

/// Lists the agents at the NATS server.
pub fn agents(order: &AgentsArguments, console: &mut Console<'_>) -> Result<Exit, Refusal> {
    let found = drumfire_fleet::agents(&link(&order.link, false)?, ANSWERS);
    let found = found.map_err(|error| refusal(&error))?;
    if order.json {
        let value = serde_json::to_value(&found)
            .map_err(|error| Refusal::new(Exit::RunFailed, error.to_string()))?;
        console.print(&format!("{value:#}\n"));
        return Ok(Exit::Ok);
    }
    if found.is_empty() {
        console.line("no idle agent answers; start one with `drumfire agent --nats URL`");
        return Ok(Exit::Ok);
    }
    let mut rows = vec![
        [
            "agent",
            "host",
            "cores",
            "memory",
            "users",
            "connections",
            "samples/s",
            "weight",
            "Java",
            "version",
            "labels",
        ]
        .map(str::to_owned),
    ];
    rows.extend(found.iter().map(row));
    for line in table(&rows) {
        console.line(&line);
    }
    Ok(Exit::Ok)
}

/// The lowest of an agent's ceilings whose name begins with `of`.
fn ceiling(hello: &Hello, of: &str) -> String {
    let known = hello
        .ceilings
        .iter()
        .filter(|(name, _)| name.starts_with(of));
    let least = known.map(|(_, most)| *most).min();
    least.map_or_else(|| "unknown".to_owned(), count)
}

fn row(hello: &Hello) -> [String; 11] {
    let labels: Vec<String> = hello
        .labels
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let cells = [
        hello.name.clone(),
        hello.host.clone(),
        hello.cores.to_string(),
        format!("{} MiB", hello.memory_mib),
        ceiling(hello, "users"),
        ceiling(hello, "connections, by open files"),
        ceiling(hello, "samples a second"),
        hello.weight.to_string(),
        hello.java.clone().unwrap_or_else(|| "none".to_owned()),
        hello.version.clone(),
        labels.join(" "),
    ];
    cells.map(|cell| escape::line(&cell).into_owned())
}

/// Aligns cells in columns.
pub(super) fn table<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |row: &[String; N]| {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}
