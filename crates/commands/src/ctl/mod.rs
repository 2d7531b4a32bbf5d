//! `drumfire ctl`: queries and steers a run that has a page (`run --ui`).

pub mod arguments;

use std::fmt::Write as _;
use std::time::Duration;

use drumfire_platform::message_error;
use drumfire_serve::{Order, RunPhase, Status};
use ureq::Agent;
use ureq::http::StatusCode;

use crate::console::Console;
use crate::ctl::arguments::{CtlArguments, CtlVerb};
use crate::exit_codes::Exit;
use crate::refusal::Refusal;
use crate::run::recent;

/// How long a run may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The hint after refusals that did not come from a run.
const HINT: &str = "hint: start one with `drumfire run plan.jmx --ui`\n";

/// Carries out a command of `drumfire ctl`.
pub fn ctl(arguments: &CtlArguments, console: &mut Console<'_>) -> Result<Exit, Refusal> {
    let page = match &arguments.ui {
        Some(url) => ControlClient::parse(url)?,
        None => only_run(console)?,
    };
    match &arguments.verb {
        CtlVerb::Order(order) => {
            page.give(order)?;
            console.line(&format!("accepted: {}", order_text(order)));
        }
        CtlVerb::Status { json } => {
            let status = page.status().map_err(|why| page.silent(why.as_ref()))?;
            if *json {
                let text = serde_json::to_string_pretty(&status)
                    .expect("numbers and texts can be written");
                console.print(&format!("{text}\n"));
            } else {
                console.print(&rendered(&status));
            }
        }
    }
    Ok(Exit::Ok)
}

fn order_text(order: &Order) -> String {
    match order {
        Order::Users { group, users, .. } => format!("users of `{group}` set to {users}"),
        Order::Rate { factor } => format!("rate factor set to {factor}"),
        Order::Set { name, .. } => format!("property `{name}` set"),
        other => other.name().to_owned(),
    }
}

/// The page of a run.
struct ControlClient {
    /// `http://HOST:PORT`
    place: String,
    token: String,
    agent: Agent,
}

message_error! {
    /// Why a run does not do or answer what it is asked.
    struct ControlFailure;
}

impl ControlClient {
    fn parse(url: &str) -> Result<ControlClient, Refusal> {
        let parts = url
            .split_once("/?token=")
            .filter(|(place, token)| place.starts_with("http://") && !token.is_empty());
        let Some((address, token)) = parts else {
            let message = format!("`{url}` is not the address of a run's page");
            let hint = "write it as the run printed it, such as `http://127.0.0.1:9280/?token=…`";
            return Err(Refusal::usage(message).hint(hint));
        };
        let agent = Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .http_status_as_error(false)
            // A run on this machine is contacted directly.
            .proxy(None)
            .build();
        Ok(ControlClient {
            place: address.to_owned(),
            token: token.to_owned(),
            agent: agent.into(),
        })
    }

    fn status(&self) -> Result<Status, ControlFailure> {
        let request = self.agent.get(format!("{}/api/status", self.place));
        let mut answer = request
            .header("Authorization", format!("Bearer {}", self.token))
            .call()
            .map_err(|error| drumfire_authorities::told(&error))?;
        let text = answer
            .body_mut()
            .read_to_string()
            .map_err(|error| drumfire_authorities::told(&error))?;
        match answer.status() {
            StatusCode::OK => {
                serde_json::from_str(&text).map_err(|_| "the answer is not that of a run".into())
            }
            status => Err(failure(status, &text)),
        }
    }

    fn give(&self, order: &Order) -> Result<(), Refusal> {
        let request = self
            .agent
            .post(format!("{}/api/{}", self.place, order.name()))
            .header("Authorization", format!("Bearer {}", self.token))
            .header("Content-Type", "application/json");
        let mut answer = request
            .send(order.body())
            .map_err(|error| self.silent(&drumfire_authorities::told(&error)))?;
        let text = answer.body_mut().read_to_string().unwrap_or_default();
        match answer.status() {
            StatusCode::OK => Ok(()),
            status => Err(Refusal::run_failed(failure(status, &text))),
        }
    }

    fn silent(&self, why: &str) -> Refusal {
        let message = format!("no run answers at {}: {why}", self.place);
        let mut refusal = Refusal::run_failed(message);
        refusal.err.push_str(HINT);
        refusal
    }
}

/// The page's error message for a refused order.
fn failure(status: StatusCode, text: &str) -> ControlFailure {
    let value: Option<serde_json::Value> = serde_json::from_str(text).ok();
    let why = value.as_ref().and_then(|value| value["error"].as_str());
    why.map(ControlFailure::from)
        .unwrap_or_else(|| status.to_string().into())
}

/// Finds the only run of this user on this machine, and removes the entries of runs that do not
/// answer.
fn only_run(console: &Console<'_>) -> Result<ControlClient, Refusal> {
    let host = gethostname::gethostname().to_string_lossy().into_owned();
    let runs = recent::runs_folder(console.variable)
        .map(|folder| drumfire_serve::runs(&folder, &host))
        .unwrap_or_default();
    let mut answering = Vec::new();
    for (run, file) in runs {
        let Ok(page) = ControlClient::parse(&run.url) else {
            continue;
        };
        match page.status() {
            Ok(_) => answering.push((run, page)),
            Err(_) => drop(std::fs::remove_file(file)),
        }
    }
    match answering.len() {
        1 => Ok(answering.remove(0).1),
        0 => {
            let mut refusal =
                Refusal::run_failed("no run with a page is under way on this machine");
            refusal.err.push_str(HINT);
            Err(refusal)
        }
        count => {
            let mut message = format!("{count} runs are under way; choose one with --ui URL");
            for (run, _) in &answering {
                let _ = write!(message, "\n  {}  {}", run.name, run.url);
            }
            Err(Refusal::usage(message))
        }
    }
}

fn rendered(status: &Status) -> String {
    let standing = &status.standing;
    let phase = match standing.phase {
        RunPhase::Starting => "starting",
        RunPhase::Running => "running",
        RunPhase::Paused => "paused",
        RunPhase::Stopping => "stopping",
        RunPhase::Ended => "ended",
    };
    let seconds = standing.elapsed_ms / 1000;
    let share = status.errors as f64 * 100.0 / status.samples.max(1) as f64;
    let mut text = format!(
        "{}  {phase}, {:02}:{:02}:{:02}\n",
        status.name,
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    );
    let _ = writeln!(
        text,
        "samples  {} ({} failed, {share:.2} %), {:.0}/s",
        status.samples, status.errors, status.rate_per_s
    );
    let _ = writeln!(
        text,
        "times    median {:.1} ms, 95th {:.1} ms, 99th {:.1} ms",
        status.p50_ms, status.p95_ms, status.p99_ms
    );
    let _ = writeln!(
        text,
        "users    {} active, {} started, {} finished",
        standing.active, standing.started, standing.finished
    );
    for group in &status.groups {
        let _ = writeln!(text, "  {}: {}", group.name, group.active);
    }
    if standing.rate != 1.0 {
        let _ = writeln!(text, "rate     {} times the plan's", standing.rate);
    }
    if let Some(verdict) = &status.verdict {
        let _ = writeln!(text, "verdict  {verdict} so far");
    }
    text
}
