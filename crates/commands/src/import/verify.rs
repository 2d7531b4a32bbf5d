//! Verified correlation: replays the plan twice with the program's own engine. A variable stays if its value differs
//! in both replays and the requests answer as they did in the recording.

use std::collections::HashMap;
use std::path::Path;

use drumfire_import::correlate::{Constant, Finding};
use drumfire_import::{Address, Draft};

use crate::args;
use crate::command::Command;
use crate::console::Console;
use crate::engine::Engine;
use crate::refusal::Refusal;
use crate::run;
use crate::run::arguments::PlanChoice;
use crate::terminal::style::Style;

/// The answer of a replay to one request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ReplayedAnswer {
    code: String,
    values: HashMap<String, String>,
}

/// The answers of two replays.
#[derive(Debug, Default)]
pub struct Proof {
    /// The outcome of the replays for each finding.
    findings: Vec<(Finding, ReplayState)>,
    /// Requests that answered differently: their number, the recorded code and the replayed one.
    differing: Vec<(usize, String, String)>,
}

/// The outcome of the replays for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayState {
    /// It differs, and the requests that send it answer as in the recording.
    Proved,
    /// The value changes, but a request that sends it answered otherwise than in the recording.
    Changes,
    /// The same in both replays and in the recording: no variable is needed.
    Constant,
    /// The request whose response holds it answered otherwise than in the recording.
    Unreached,
    /// The extractor found nothing.
    Missed,
}

impl Proof {
    /// The recorded values that stay constant.
    pub fn constants(&self, accept: bool) -> Vec<Constant> {
        let constants = self.findings.iter().filter(|(_, state)| match state {
            ReplayState::Constant => true,
            ReplayState::Unreached | ReplayState::Missed => !accept,
            ReplayState::Proved | ReplayState::Changes => false,
        });
        constants
            .map(|(finding, _)| Constant {
                value: finding.value.clone(),
                from: finding.from,
            })
            .collect()
    }

    /// The outcome for a finding.
    pub fn outcome(&self, finding: &Finding) -> Option<ReplayState> {
        self.findings
            .iter()
            .find(|own| own.0.value == finding.value && own.0.from == finding.from)
            .map(|(_, state)| *state)
    }

    /// The result of the replays for a finding, as the summary shows it.
    pub fn state(&self, finding: &Finding) -> &'static str {
        match self.outcome(finding) {
            Some(ReplayState::Proved) => ", proved by two replays",
            Some(ReplayState::Changes) => ", changes from replay to replay",
            Some(ReplayState::Unreached | ReplayState::Missed) => ", not proved",
            Some(ReplayState::Constant) | None => "",
        }
    }

    /// The remarks on the replays for the summary. `steps` are the labels of all requests.
    pub fn remarks(&self, steps: &[String], accept: bool) -> String {
        let mut text = String::new();
        let label = |place: &usize| steps.get(*place).map(String::as_str).unwrap_or_default();
        let end = if accept {
            ""
        } else {
            "; look at it, or keep its variable with `--accept`"
        };
        for (finding, state) in &self.findings {
            let why = match state {
                ReplayState::Proved | ReplayState::Changes => continue,
                ReplayState::Constant => {
                    "is the same in every replay and stays as it is".to_owned()
                }
                ReplayState::Unreached => format!("was not reached{end}"),
                ReplayState::Missed => format!("is not where it was in the recording{end}"),
            };
            let senders: Vec<String> = finding
                .used_in
                .iter()
                .map(|place| format!("`{}`", label(place)))
                .collect();
            text.push_str(&format!(
                "value      {} from `{}`, sent by {}, {why}\n",
                finding.variable,
                label(&finding.from),
                senders.join(", ")
            ));
        }
        for line in self.differing(steps) {
            text.push_str(&format!("differs    {line}\n"));
        }
        text
    }

    /// The requests that answered otherwise than in the recording, a line each.
    pub fn differing(&self, steps: &[String]) -> Vec<String> {
        self.differing
            .iter()
            .map(|(place, recorded, replayed)| {
                let label = steps.get(*place).map(String::as_str).unwrap_or_default();
                let answer = if replayed.is_empty() {
                    "was not sent".to_owned()
                } else {
                    format!("answered {replayed}")
                };
                format!("`{label}` {answer}, in the recording {recorded}")
            })
            .collect()
    }
}

/// Runs the program with a command line.
type RunProgram<'r> = dyn Fn(&[String]) -> Result<(), Refusal> + 'r;

/// Replays a draft twice against a server, by `run`. The files that it sends are beside `plan`.
pub fn prove(
    draft: &Draft,
    findings: &[Finding],
    server: &str,
    plan: &Path,
    run: &RunProgram<'_>,
) -> Result<Proof, Refusal> {
    let Some(server) = Address::parse(server) else {
        return Err(Refusal::usage(format!(
            "`{server}` is not an address of a server"
        )));
    };
    let mut draft = numbered(draft, &server);
    // the replayed plan is in another folder
    for (file, _) in draft.files_mut() {
        let beside = file
            .literal()
            .and_then(|file| std::path::absolute(plan.with_file_name(file)).ok());
        if let Some(beside) = beside {
            *file = beside.display().to_string().into();
        }
    }
    let first = replay(&draft, findings, run)?;
    let second = replay(&draft, findings, run)?;
    Ok(judge(&draft, findings, &first, &second))
}

/// The draft for a replay: against the given server, without pauses, and with the number of each request as its label.
fn numbered(draft: &Draft, server: &Address) -> Draft {
    let mut draft = draft.clone();
    draft.embedded = None;
    let first = draft
        .steps()
        .next()
        .map(|step| step.request.address.clone());
    for (place, step) in draft.steps_mut().enumerate() {
        step.think_ms = 0;
        step.request.name = Some(format!("step-{place}"));
        if first
            .as_ref()
            .is_some_and(|first| first.same_server(&step.request.address))
        {
            let path = step.request.address.path.clone();
            step.request.address = Address {
                path,
                ..server.clone()
            };
        }
    }
    draft
}

fn replay(
    draft: &Draft,
    findings: &[Finding],
    run: &RunProgram<'_>,
) -> Result<HashMap<usize, ReplayedAnswer>, Refusal> {
    let folder = tempfile::tempdir().map_err(Refusal::failed)?;
    let path = |name: &str| folder.path().join(name);
    std::fs::write(
        path("replay.jmx"),
        drumfire_jmx::write(&draft.tree("replay.csv")),
    )
    .map_err(Refusal::failed)?;
    if let Some(data) = draft.data_text() {
        std::fs::write(path("replay.csv"), data).map_err(Refusal::failed)?;
    }
    let variables: Vec<&str> = findings
        .iter()
        .map(|finding| finding.variable.as_str())
        .collect();
    let words = [
        "run",
        &path("replay.jmx").display().to_string(),
        "-l",
        &path("replay.jtl").display().to_string(),
        "-j",
        &path("replay.log").display().to_string(),
        "--progress",
        "quiet",
        &format!("-Jsample_variables={}", variables.join(",")),
        "-Jjmeter.save.saveservice.output_format=csv",
        "-Jjmeter.save.saveservice.print_field_names=true",
    ]
    .map(str::to_owned);
    run(&words)?;
    rows(&path("replay.jtl"))
}

/// Runs a made plan within this process.
pub fn within(words: &[String], engine: &Engine, console: &Console<'_>) -> Result<(), Refusal> {
    if let Command::Run(mut options) = args::read(words)? {
        options.plan = Some(PlanChoice::made(words[1].clone().into()));
        // the replays are not the user's runs: only a failure to run is reported
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut unseen = Console {
            out: &mut out,
            err: &mut err,
            variable: console.variable,
            style: Style::PLAIN,
            err_style: Style::PLAIN,
            is_terminal: false,
            is_optimized: true,
            err_columns: None,
        };
        run::run(options, engine, &mut unseen)?;
    }
    Ok(())
}

/// The rows of a result file by the number of their request.
fn rows(file: &Path) -> Result<HashMap<usize, ReplayedAnswer>, Refusal> {
    let failed = |_: csv::Error| Refusal::run_failed("the results of the replay cannot be read");
    let mut reader = csv::Reader::from_path(file).map_err(failed)?;
    let header = reader.headers().map_err(failed)?.clone();
    let mut rows = HashMap::new();
    for record in reader.records() {
        let record = record.map_err(failed)?;
        let fields: HashMap<String, String> = header
            .iter()
            .zip(record.iter())
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let field = |name: &str| fields.get(name).cloned().unwrap_or_default();
        let step = field("label")
            .strip_prefix("step-")
            .and_then(|place| place.parse().ok());
        if let Some(step) = step {
            let code = field("responseCode");
            rows.insert(
                step,
                ReplayedAnswer {
                    code,
                    values: fields,
                },
            );
        }
    }
    Ok(rows)
}

fn judge(
    draft: &Draft,
    findings: &[Finding],
    first: &HashMap<usize, ReplayedAnswer>,
    second: &HashMap<usize, ReplayedAnswer>,
) -> Proof {
    let mut proof = Proof::default();
    let mut recorded = Vec::new();
    for (place, step) in draft.steps().enumerate() {
        let status = step.response.as_ref().map_or(0, |response| response.status);
        recorded.push(status.to_string());
        let code = first.get(&place).map(|row| row.code.as_str()).unwrap_or("");
        if status != 0 && code != status.to_string() {
            proof
                .differing
                .push((place, status.to_string(), code.to_owned()));
        }
    }
    for finding in findings {
        let value = |rows: &HashMap<usize, ReplayedAnswer>| {
            let row = rows.get(&finding.from)?;
            let value = row.values.get(&finding.variable)?.clone();
            (!value.is_empty() && value != "NOT_FOUND").then_some(value)
        };
        let answers = |place: &usize| {
            let as_recorded = |rows: &HashMap<usize, ReplayedAnswer>| {
                let code = rows.get(place).map(|row| row.code.as_str());
                recorded
                    .get(*place)
                    .is_some_and(|recorded| code == Some(recorded))
            };
            as_recorded(first) && as_recorded(second)
        };
        let state = match (value(first), value(second)) {
            (Some(one), Some(two)) if one == two && one == finding.value => ReplayState::Constant,
            (Some(_), Some(_)) if finding.used_in.iter().all(answers) => ReplayState::Proved,
            (Some(_), Some(_)) => ReplayState::Changes,
            _ if answers(&finding.from) => ReplayState::Missed,
            _ => ReplayState::Unreached,
        };
        proof.findings.push((finding.clone(), state));
    }
    proof
}
