//! `drumfire agent` waits for work at a NATS server; `drumfire agents` lists the waiting agents.

pub mod arguments;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use drumfire_expr::Random;
use drumfire_fleet::{
    AgentOptions, FleetError, Hello, Leave, NATS_VARIABLE, PROTOCOL, WaitingRun, agent_name,
    is_public_key, is_token,
};
use drumfire_jmx::PropertyTable;
use drumfire_platform::causes::cause;
use drumfire_platform::ports::{PORT, bad_port};
use drumfire_platform::processes::replace_by;
use drumfire_sinks::{AgentMetrics, MetricsServer, MetricsText, agent_text};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::agent::arguments::{AgentArguments, AgentsArguments};
use crate::console::Console;
use crate::engine::{Engine, serve};
use crate::exit_codes::Exit;
use crate::fleet::arguments::LinkOptions;
use crate::jmeter::remote;
use crate::log;
use crate::refusal::Refusal;
use crate::settings::authorities::TLS_CA;
use crate::settings::options::{Change, PropertyOptions};
use crate::settings::properties::RunProperties;
use crate::signals::{self, Heard, Listening};
use crate::terminal::escape;
use crate::terminal::format::count;

use crate::doctor::machine_ceilings;
use crate::settings::settings;

/// The environment variable with the number of a pod of an Indexed Job.
const JOB_INDEX: &str = "JOB_COMPLETION_INDEX";
/// The agent's description of itself, in its environment once it has reached its server.
const CONNECTED: &str = "DRUMFIRE_AGENT_CONNECTED";
/// How long users may take to finish their samples when the agent is told to end. `docker stop` kills it after 10 s, and it still
/// has to deliver its results.
const GRACE: Duration = Duration::from_secs(5);
/// Properties with the path of a file, and those with a list of paths.
const PATHS: [&str; 7] = [
    "javax.net.ssl.keyStore",
    "javax.net.ssl.trustStore",
    "java.security.auth.login.config",
    "java.security.krb5.conf",
    "jsr223.init.file",
    "beanshell.init.file",
    TLS_CA,
];
const PATH_LISTS: [&str; 3] = ["user.classpath", "search_paths", "plugin_dependency_paths"];
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
    let started_in = std::env::current_dir().unwrap_or_default();
    let mut order = order.clone();
    let settings = settings(&order.properties, &[], None, console)?;
    remote::settle_server(&mut order, &settings);
    order.locate(&started_in);
    let order = &order;
    let (properties, system) = own_properties(&order.properties, &settings, &started_in);
    let cache = order
        .cache
        .clone()
        .unwrap_or_else(|| default_cache(console));
    let options = AgentOptions {
        link: link(&order.link, order.is_jmeter)?,
        hello: hello(order, engine)?,
        properties,
        system,
        trust: trusted(&order.trust)?,
        workers: order.workers,
        log: Arc::default(),
        cache: started_in.join(cache),
        leave: Leave::default(),
    };
    let (signal, _listening) = listen(order, &options.leave)?;
    let _metrics = serve_metrics(order, &options)?;
    log::start_queue(options.log.clone());
    if order.tied {
        std::thread::spawn(end_with_input);
    }
    let mut has_connected = std::env::var_os(CONNECTED).is_some();
    let served = serve(engine, &options, &mut |line| {
        has_connected = true;
        console.line(line);
    });
    options.leave.end();
    if let Some(signal) = signal.get() {
        return Ok(Exit::by_signal(signal));
    }
    let again = || again(&started_in, &options.hello);
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

/// Serves the agent's numbers, if the command line asks for that.
fn serve_metrics(
    order: &AgentArguments,
    options: &AgentOptions,
) -> Result<Option<MetricsServer>, Refusal> {
    let Some(address) = order.metrics else {
        return Ok(None);
    };
    let (name, leave) = (options.hello.name.clone(), options.leave.clone());
    let text: MetricsText = Arc::new(move |is_open_metrics| {
        let standing = leave.standing();
        let state = match (&standing.run, leave.is_asked()) {
            (_, true) => "leaving",
            (Some(_), false) => "running",
            (None, false) => "idle",
        };
        let agent = AgentMetrics {
            name: name.clone(),
            state: state.to_owned(),
            users: standing.users,
            samples: standing.samples,
            undelivered: Some(standing.undelivered),
        };
        agent_text(&agent, is_open_metrics)
    });
    match MetricsServer::listen(address, text) {
        Ok(server) => Ok(Some(server)),
        Err(error) => {
            let message = format!("`--metrics {address}`: {}", cause(&error));
            Err(Refusal::run_failed(message).hint("name a free port of this machine"))
        }
    }
}

/// Listens for signals, which end the agent: at once while it waits for work, and otherwise when it has delivered its results.
/// Returns where the first signal's name will be.
fn listen(
    order: &AgentArguments,
    leave: &Leave,
) -> Result<(Arc<OnceLock<&'static str>>, Listening), Refusal> {
    let first = Arc::new(OnceLock::new());
    let grace = order.grace.map(Duration::from_millis).unwrap_or(GRACE);
    let (name_cell, leave) = (first.clone(), leave.clone());
    let listening = signals::listen(Some(grace), move |heard| match heard {
        Heard::Signal(1, name) => {
            let _ = name_cell.set(name);
            tracing::warn!("{name}: the agent hands its part over and ends");
            if !leave.ask() {
                std::process::exit(i32::from(Exit::by_signal(name).code()));
            }
        }
        Heard::Signal(..) | Heard::GraceOver => leave.hurry(),
    })
    .map_err(|error| {
        let message = format!("signals cannot be handled: {}", cause(&error));
        Refusal::run_failed(message)
    })?;
    Ok((first, listening))
}

/// JMeter and system properties that the agent's own command line sets, itself or by files that it names. They override those of
/// runs. Relative paths in them are meant from the folder in which the agent was started.
#[expect(clippy::type_complexity, reason = "two lists of names and values")]
fn own_properties(
    given: &PropertyOptions,
    settings: &RunProperties,
    started_in: &Path,
) -> (Vec<(String, String)>, Vec<(String, String)>) {
    let (mut properties, mut system) = (Vec::new(), Vec::new());
    for change in given.all_changes() {
        // `settings` has read the files, so they can be read.
        let names = |file: &Path| {
            let table = drumfire_jmx::load(file).unwrap_or_default();
            table.into_iter().map(|(name, _)| name).collect()
        };
        match change {
            Change::Property(name, _) => properties.push(name),
            Change::System(name, _) => system.push(name),
            Change::File(file) => properties.extend::<Vec<String>>(names(&file)),
            Change::SystemFile(file) => system.extend::<Vec<String>>(names(&file)),
        }
    }
    let values = |names: Vec<String>, table: &PropertyTable| {
        names
            .into_iter()
            .filter_map(|name| {
                let value = located(&name, table.get(&name)?, started_in);
                Some((name, value))
            })
            .collect()
    };
    (
        values(properties, &settings.properties),
        values(system, &settings.system),
    )
}

/// The value of a property. Relative paths in a property of paths become absolute, if they exist.
fn located(name: &str, value: &str, started_in: &Path) -> String {
    let absolute = |path: &str| {
        let there = started_in.join(path);
        let is_found = !path.is_empty() && there.exists();
        is_found.then(|| there.to_string_lossy().into_owned())
    };
    let all = |separators: &[char]| {
        let parts = value.split_inclusive(separators).map(|part| {
            let path = part.trim_end_matches(separators);
            let separator = &part[path.len()..];
            absolute(path).map_or_else(|| part.to_owned(), |path| path + separator)
        });
        parts.collect::<String>()
    };
    match name {
        _ if PATHS.contains(&name) => absolute(value).unwrap_or_else(|| value.to_owned()),
        _ if PATH_LISTS.contains(&name) && cfg!(windows) => all(&[';']),
        _ if PATH_LISTS.contains(&name) => all(&[';', ':']),
        _ => value.to_owned(),
    }
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
            let refusal = Refusal::usage(format!("`--trust {text}`: {why}"));
            refusal.hint("name the `trust.pub` of `drumfire fleet init`")
        };
        let text_of_file = std::fs::read_to_string(text).map_err(|error| wrong(&cause(&error)))?;
        let before = keys.len();
        keys.extend(
            text_of_file
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

/// Restarts the agent's process for the next run, in the folder in which it was started: Java can be started only once per
/// process, and nothing of the last run remains.
fn again(started_in: &Path, hello: &Hello) -> Refusal {
    match std::env::current_exe() {
        // It returns only if it fails.
        Ok(program) => cannot_start_again(replace_by(
            Command::new(program)
                .args(std::env::args_os().skip(1))
                .current_dir(started_in)
                .env(CONNECTED, serde_json::to_string(hello).unwrap_or_default()),
        )),
        Err(error) => cannot_start_again(error),
    }
}

/// The refusal if the agent cannot start again.
fn cannot_start_again(error: std::io::Error) -> Refusal {
    Refusal::run_failed(format!("the agent cannot start again: {}", cause(&error)))
}

/// Ends this process when its standard input is closed.
fn end_with_input() {
    let mut rest = Vec::new();
    let _ = std::io::stdin().read_to_end(&mut rest);
    std::process::exit(Exit::RunFailed.code().into());
}

fn refusal(error: &FleetError) -> Refusal {
    Refusal::run_failed(error.to_string())
}

/// The options, checked for an address.
pub fn link(link: &LinkOptions, is_jmeter: bool) -> Result<drumfire_fleet::LinkOptions, Refusal> {
    let link = link.to_link();
    let option = if is_jmeter {
        "-Jdrumfire.nats="
    } else {
        "--nats "
    };
    if link.url.is_empty() {
        let why = "agents are reached over a NATS server, and none is named";
        return Err(Refusal::usage(why).hint(format!(
            "add `{option}nats://HOST:4222`, or set {NATS_VARIABLE}"
        )));
    }
    if let Some(port) = link.url.split(',').find_map(bad_port) {
        return Err(Refusal::usage(format!("`{port}` is not a port")).hint(PORT));
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
        return Err(Refusal::usage(message));
    }
    let mut labels = BTreeMap::new();
    for label in &order.label {
        let Some((name, value)) = label.split_once('=') else {
            let message = format!("`--label {label}` has no value; write `--label name=value`");
            return Err(Refusal::usage(message));
        };
        labels.insert(name.to_owned(), value.to_owned());
    }
    // Measuring the machine takes seconds, so the agent does that once.
    let stored_hello = std::env::var(CONNECTED)
        .ok()
        .and_then(|hello| serde_json::from_str::<Hello>(&hello).ok());
    let machine = stored_hello.unwrap_or_else(|| Hello {
        memory_mib: crate::run::run_file::memory_mib().unwrap_or(0),
        ceilings: machine_ceilings()
            .into_iter()
            .map(|ceiling| (ceiling.of.to_owned(), ceiling.most))
            .collect(),
        java: (engine.java.version)(),
        instance: Random::from_entropy().next_u64(),
        ..Hello::default()
    });
    Ok(Hello {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        name,
        labels,
        weight: order.weight,
        cores: drumfire_platform::processes::cores() as u32,
        open_files: drumfire_health::raise_open_files().unwrap_or(0),
        host,
        addresses: addresses(),
        run: None,
        is_settled: false,
        ..machine
    })
}

/// The addresses of this machine, except loopback.
fn addresses() -> Vec<IpAddr> {
    let interfaces = if_addrs::get_if_addrs().unwrap_or_default();
    let addresses = interfaces.iter().map(if_addrs::Interface::ip);
    addresses.filter(|address| !address.is_loopback()).collect()
}

/// The folder `drumfire` in the user's cache folder.
fn default_cache(console: &Console<'_>) -> PathBuf {
    let variable = |name: &str| (console.variable)(name).filter(|value| !value.is_empty());
    let cache = variable("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(variable("HOME")?).join(".cache")));
    cache.unwrap_or_else(std::env::temp_dir).join("drumfire")
}

/// Lists the agents at the NATS server, and the runs that wait for agents.
pub fn agents(order: &AgentsArguments, console: &mut Console<'_>) -> Result<Exit, Refusal> {
    let listing = drumfire_fleet::agents(&link(&order.link, false)?, ANSWERS);
    let (agents, runs) = listing.map_err(|error| refusal(&error))?;
    if order.json {
        let listed: Vec<Value> = agents.iter().map(|hello| listed(hello, &runs)).collect();
        console.print(&format!("{:#}\n", Value::from(listed)));
        return Ok(Exit::Ok);
    }
    if agents.is_empty() {
        console.line("no agent answers; start one with `drumfire agent --nats URL`");
    } else {
        list(&agents, console);
    }
    for run in &runs {
        console.line(&escape::line(&waiting(run, &agents)));
    }
    Ok(Exit::Ok)
}

/// An agent as JSON, with the runs that wait for it.
fn listed(hello: &Hello, runs: &[WaitingRun]) -> Value {
    let mut value = serde_json::to_value(hello).unwrap_or_default();
    let waiting = runs.iter().filter(|run| run.selection.covers(hello)).map(|run| {
        json!({"plan": run.plan, "host": run.host, "agents": run.selection.to_string(), "since_ms": run.since_ms})
    });
    value["waiting"] = waiting.collect();
    value
}

/// Which agents a run waits for, and since when.
fn waiting(run: &WaitingRun, agents: &[Hello]) -> String {
    let since_s = (Timestamp::now().as_millisecond() - run.since_ms).max(0) / 1000;
    let busy: Vec<String> = agents
        .iter()
        .filter(|hello| run.selection.covers(hello))
        .filter(|hello| hello.run.is_some())
        .map(|hello| format!("`{}`", hello.name))
        .collect();
    let busy = if busy.is_empty() {
        String::new()
    } else {
        format!("; busy: {}", busy.join(", "))
    };
    format!(
        "{} on {} waits for `--agents {}`, for {since_s} s{busy}",
        run.plan, run.host, run.selection
    )
}

fn list(agents: &[Hello], console: &mut Console<'_>) {
    let mut rows = vec![
        [
            "agent",
            "run",
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
    rows.extend(agents.iter().map(row));
    for line in table(&rows) {
        console.line(&line);
    }
}

/// The lowest of an agent's ceilings whose name begins with `of`.
fn ceiling(hello: &Hello, of: &str) -> String {
    let matching = hello
        .ceilings
        .iter()
        .filter(|(name, _)| name.starts_with(of));
    let least = matching.map(|(_, most)| *most).min();
    least.map(count).unwrap_or_else(|| "unknown".to_owned())
}

fn row(hello: &Hello) -> [String; 12] {
    let labels: Vec<String> = hello
        .labels
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let cells = [
        hello.name.clone(),
        hello.run.clone().unwrap_or_else(|| "idle".to_owned()),
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

/// Columns are at most this wide, and longer cells push the rest of their line to the right.
const WIDEST_COLUMN: usize = 200;

/// Aligns cells in columns.
pub(super) fn table<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0).min(WIDEST_COLUMN)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    rows.iter()
        .map(|row| {
            let cells = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell:width$}"));
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        })
        .collect()
}
