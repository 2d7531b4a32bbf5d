//! `drumfire import`: makes plans from recordings, API descriptions, cURL commands and access logs.

pub mod arguments;
#[cfg(feature = "grpc")]
mod protos;
pub mod uploads;
pub mod verify;

use std::io::Read as _;
use std::path::Path;

use drumfire_import::correlate::{Finding, correlate, counterparts};
use drumfire_import::like::Recorder;
use drumfire_import::{Draft, Format, ImportError, ImportOptions};
use drumfire_jmx::Tree;
use drumfire_platform::causes::unreadable;
use drumfire_platform::progress::Work;
use drumfire_platform::spelling::absent;

use crate::console::Console;
use crate::engine::Engine;
use crate::exit_codes::Exit;
use crate::new::{base_name, data_file, refuse_existing};
use crate::refusal::Refusal;
use crate::settings::options::PropertyOptions;
use crate::settings::settings;
use crate::terminal::format::counted;
use crate::whole_file;
use arguments::ImportArguments;
use uploads::Uploads;
use verify::Proof;

/// Imports the files into one plan. If the plan does not pass `check`, the command leaves no file
/// behind.
pub fn import(
    arguments: &ImportArguments,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    refuse_existing(&arguments.output, arguments.force)?;
    #[cfg(feature = "grpc")]
    if let Some(file) = protos::asked(&arguments.files) {
        return protos::import(file, arguments, engine, console);
    }
    let files = arguments
        .files
        .iter()
        .map(|file| read(file))
        .collect::<Result<Vec<_>, _>>()?;
    let options = ImportOptions {
        format: arguments.from.as_deref().and_then(Format::from_name),
        domains: arguments.domain.clone(),
        all_domains: arguments.all_domains,
        keep_static: arguments.keep_static,
        keep_cookies: arguments.cookies,
        no_think_time: arguments.no_think_time,
        server: arguments.server.clone(),
        read: Some(read_file),
        ..ImportOptions::default()
    };
    let progress = Work::begin("reading requests");
    let recorded = drumfire_import::import(&files, &options).map_err(|error| refusal(&error))?;
    let other = other_user(arguments.other_user.as_deref(), &recorded, &options)?;
    drop(progress);
    let wish = WantedPlan {
        output: &arguments.output,
        correlates: !arguments.no_correlation,
        verify: arguments.verify.as_deref(),
        accept: arguments.accept,
        force: arguments.force,
        like: None,
        other,
    };
    finish(recorded, &wish, engine, console)
}

/// The plan to make of a recording.
pub(super) struct WantedPlan<'a> {
    pub output: &'a Path,
    pub correlates: bool,
    pub verify: Option<&'a str>,
    pub accept: bool,
    pub force: bool,
    /// The plan to copy, and its recorder.
    pub like: Option<(&'a Tree, &'a Recorder)>,
    /// A recording of the same visit by another user.
    pub other: Option<Draft>,
}

/// Reads the recording of another user. It must share requests with the first.
pub(super) fn other_user(
    file: Option<&Path>,
    first: &Draft,
    options: &ImportOptions,
) -> Result<Option<Draft>, Refusal> {
    let Some(file) = file else { return Ok(None) };
    let other =
        drumfire_import::import(&[read(file)?], options).map_err(|error| refusal(&error))?;
    if counterparts(first, &other) == 0 {
        let message = format!(
            "`{}` is another visit: the two recordings share no request",
            file.display()
        );
        let error = ImportError::new(message).hint("record the same steps as both users");
        return Err(refusal(&error));
    }
    Ok(Some(other))
}

/// Finds the variables of a recording, verifies them if asked to, writes the plan and prints a summary
/// of it.
pub(super) fn finish(
    mut recorded: Draft,
    wish: &WantedPlan<'_>,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let uploads = Uploads::put(&mut recorded, wish.output)?;
    let finished = finish_with(&uploads, recorded, wish, engine, console);
    if finished.is_err() {
        uploads.remove();
    }
    finished
}

fn finish_with(
    uploads: &Uploads,
    recorded: Draft,
    wish: &WantedPlan<'_>,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    // A copy has the bodies of all responses.
    let original = wish.verify.map(|_| recorded.clone());
    let mut draft = recorded;
    let mut findings = Vec::new();
    let mut proof = None;
    if wish.correlates && !draft.data.is_used_once {
        let progress = Work::begin("finding values that change");
        findings = correlate(&mut draft, wish.other.as_ref(), &[]);
        drop(progress);
        if let Some(server) = wish.verify {
            let progress = Work::begin(format!("running the plan against {server}"));
            let proved = verify::prove(&draft, &findings, server, wish.output, &|words| {
                verify::within(words, engine, console)
            })?;
            drop(progress);
            let constants = proved.constants(wish.accept);
            if let (Some(original), false) = (original, constants.is_empty()) {
                draft = original;
                findings = correlate(&mut draft, wish.other.as_ref(), &constants);
            }
            proof = Some(proved);
        }
    }
    draft.is_kept = wish.like.is_none();
    write(&draft, wish, engine, console)?;
    console.print(&summary(
        &draft,
        &findings,
        proof.as_ref(),
        wish.accept,
        uploads,
        wish.output,
    ));
    for warning in draft.warnings.iter().take(MOST_LINES) {
        console.warn(warning);
    }
    if let Some(more) = draft
        .warnings
        .len()
        .checked_sub(MOST_LINES)
        .filter(|more| *more > 0)
    {
        let warnings = counted(more as u64, "more warning");
        console.warn(&format!("{warnings}: read the comments of the Test Plan"));
    }
    Ok(Exit::Ok)
}

/// How many variables and warnings the summary lists. The plan has all of them.
const MOST_LINES: usize = 20;

pub(super) fn refusal(error: &ImportError) -> Refusal {
    let refusal = Refusal::new(Exit::PlanRefused, error.message.as_str());
    match &error.hint {
        Some(hint) => refusal.hint(hint),
        None => refusal,
    }
}

/// Reads a file that a description refers to.
fn read_file(path: &Path) -> std::io::Result<Vec<u8>> {
    drumfire_platform::files::read_regular(path)
}

fn read(file: &Path) -> Result<(String, Vec<u8>), Refusal> {
    let name = file.display().to_string();
    let read = match name.as_str() {
        "-" => {
            let mut bytes = Vec::new();
            std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
        }
        _ => drumfire_platform::files::read_named(file),
    };
    match read {
        Ok(bytes) => Ok((name, bytes)),
        Err(error) => {
            let remedy = match name.contains("://") {
                true => "Fetch it first, and name the file".to_owned(),
                false if error.kind() == std::io::ErrorKind::NotFound => absent(file),
                false => "Name an existing file that you may read".to_owned(),
            };
            let error = ImportError::new(unreadable(file, &error));
            Err(refusal(&error.hint(remedy)))
        }
    }
}

fn write(
    draft: &Draft,
    wish: &WantedPlan<'_>,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<(), Refusal> {
    let data = data_file(wish.output);
    let text = draft.data_text();
    if text.is_some() {
        refuse_existing(&data, wish.force)?;
    }
    let data_name = base_name(&data);
    let tree = match wish.like {
        Some((plan, recorder)) => recorder
            .placed(plan, draft, &data_name)
            .map_err(|error| refusal(&error))?,
        None => draft.tree(&data_name),
    };
    let plan = drumfire_jmx::write(&tree);
    drop(tree);
    if let Some(text) = &text {
        whole_file::write(&data, text.as_bytes())?;
    }
    let written = write_checked(plan, wish.output, engine, console);
    if written.is_err() && text.is_some() {
        let _ = std::fs::remove_file(&data);
    }
    written
}

/// Writes a plan, and removes it if it cannot be run.
fn write_checked(
    plan: String,
    output: &Path,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<(), Refusal> {
    whole_file::write(output, plan.as_bytes())?;
    // The survey reads the plan again.
    drop(plan);
    let mut settings = settings(&PropertyOptions::default(), &[], Some(output), console)?;
    // a path that contains a variable is known only during the run
    settings.properties.set("drumfire.missing_files", "jmeter");
    let faults = match engine.survey(output, &settings) {
        Ok(survey) if survey.runs => return Ok(()),
        Ok(survey) => survey.findings,
        Err(faults) => faults,
    };
    let _ = std::fs::remove_file(output);
    Err(console.refusal_of(&faults))
}

fn summary(
    draft: &Draft,
    findings: &[Finding],
    proof: Option<&Proof>,
    is_accepted: bool,
    uploads: &Uploads,
    output: &Path,
) -> String {
    let steps: Vec<String> = draft.steps().map(|step| step.request.label()).collect();
    let named = draft
        .transactions
        .iter()
        .filter(|one| one.name.is_some())
        .count();
    let mut text = format!(
        "wrote      {}: {}",
        output.display(),
        counted(steps.len() as u64, "request")
    );
    if named > 0 {
        text.push_str(&format!(" in {}", counted(named as u64, "transaction")));
    }
    text.push('\n');
    if draft.data_text().is_some() {
        let data = data_file(output);
        text.push_str(&format!(
            "wrote      {}: {}\n",
            data.display(),
            draft.data.names.join(", ")
        ));
    }
    text.push_str(&uploads.lines());
    for finding in findings.iter().take(MOST_LINES) {
        let from = steps.get(finding.from).map(String::as_str).unwrap_or("");
        let used = counted(finding.used_in.len() as u64, "request");
        let confirmed = if finding.is_confirmed {
            ", confirmed by the other user"
        } else {
            ""
        };
        let state = proof.map(|proof| proof.state(finding)).unwrap_or_default();
        text.push_str(&format!(
            "variable   {}  from `{from}`, sent by {used}{confirmed}{state}\n",
            finding.variable
        ));
    }
    if let Some(more) = findings
        .len()
        .checked_sub(MOST_LINES)
        .filter(|more| *more > 0)
    {
        text.push_str(&format!("variable   {more} more\n"));
    }
    if let Some(proof) = proof {
        text.push_str(&proof.remarks(&steps, is_accepted));
    }
    for line in draft.left_out_lines() {
        text.push_str(&format!("left out   {line}\n"));
    }
    text.push_str(&format!("try        drumfire run {}\n", output.display()));
    text
}
