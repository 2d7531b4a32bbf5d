//! An agent's part of a run, from the manifest to the last delivery.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use drumfire_engine::{BoundPlan, EngineOptions, Fleet, Outcome, Share, Slots};
use drumfire_platform::causes::{cause, unwritable};
use tokio::runtime::Runtime;

use super::member::{AgentSeat, Member, SILENCE};
use super::outbox::Outbox;
use super::talk;
use super::{AgentOptions, AgentWork, PlanOrder};
use crate::error::{FleetError, within};
use crate::files;
use crate::keys::Signed;
use crate::link::{CALL, Link};
use crate::wire::{self, AgentEnd, Assignment, Manifest, PROTOCOL, RowHandling, Stage};

/// How long the other agents may take to become ready.
const OTHERS: Duration = Duration::from_secs(600);
/// How long an agent waits at the end for NATS to store the remaining data.
const DELIVERY: Duration = Duration::from_secs(3600);
/// How long it waits for NATS to have room.
const FULL: Duration = Duration::from_secs(10);
/// The pause before another attempt.
const AGAIN: Duration = Duration::from_secs(1);
/// How long it then waits for the coordinator to end the run. A coordinator that misses its last state finds what it delivered.
const FAREWELL: Duration = Duration::from_millis(1_000);
/// How long an agent that cannot take part repeats the reason.
const REFUSAL: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(50);

/// How an agent's part of a run ended.
pub(super) struct PartEnd {
    pub samples: u64,
    /// Whether the coordinator wants the agent to end.
    pub is_last: bool,
}

/// The parts of an agent that each run uses.
pub(super) struct PartSurroundings<'a> {
    pub options: &'a AgentOptions,
    pub work: &'a AgentWork<'a>,
    pub runtime: &'a Runtime,
    pub link: &'a Link,
}

/// Takes part in a run. Returns the number of samples.
pub(super) fn take_part(
    surroundings: &PartSurroundings<'_>,
    assignment: &Assignment,
) -> Result<PartEnd, FleetError> {
    let PartSurroundings {
        options,
        runtime,
        link,
        ..
    } = *surroundings;
    let manifest = runtime.block_on(manifest(link, &assignment.run, &options.trust))?;
    let seat = AgentSeat {
        run: assignment.run.clone(),
        index: assignment.index,
        token: assignment.token,
        // Only agents that were there at the start have a first block of shared rows.
        is_again: assignment.is_again || assignment.index as usize >= manifest.members.len(),
        agents: manifest.members.len() as u64,
        is_each: manifest.is_each,
        slots: share(&manifest, assignment.index)?.slots,
        has_joined: assignment.index as usize >= manifest.members.len(),
        streamed: manifest
            .files
            .iter()
            .filter(|file| file.is_start)
            .map(|file| file.path.clone())
            .collect(),
        folder: run_folder(options, assignment),
    };
    let member = Arc::new(Member::new(seat, link.clone(), runtime.handle().clone()));
    runtime.spawn(talk::heartbeats(link.clone(), member.clone()));
    runtime.spawn(talk::listen(link.clone(), member.clone()));
    options.leave.join(&member);
    let folder = run_folder(options, assignment);
    let part = Part {
        surroundings,
        member: &member,
        manifest: &manifest,
        rows: folder.join("rows.jtl"),
        folder,
    };
    let end = part.run();
    let patience = match &end {
        Err(error) => {
            let faults = match error {
                FleetError::Refused(faults) => faults.clone(),
                error => vec![error.to_string()],
            };
            member.say(|own| (own.stage, own.faults) = (Stage::Refused, faults));
            REFUSAL
        }
        Ok(_) => {
            member.say(|own| own.stage = Stage::Delivered);
            FAREWELL
        }
    };
    let since = Instant::now();
    while since.elapsed() < patience && !member.state().is_over {
        std::thread::sleep(LOOK);
    }
    end.map(|samples| PartEnd {
        samples,
        is_last: manifest.is_last,
    })
}

/// The folder of a plan.
fn run_folder(options: &AgentOptions, assignment: &Assignment) -> PathBuf {
    let name = format!("{}-{}", assignment.run, assignment.token);
    options.cache.join("runs").join(name)
}

async fn manifest(link: &Link, run: &str, trust: &[String]) -> Result<Manifest, FleetError> {
    let key = format!("{run}.manifest");
    let stored = within(CALL, "the manifest of the run", link.runs.get(key))
        .await?
        .ok_or_else(|| FleetError::Other("the run has no manifest".to_owned()))?;
    let wrong = |why: String| FleetError::Other(format!("the plan of run {run} is refused: {why}"));
    let signed: Signed = wire::of_json(&stored).map_err(|error| wrong(error.to_string()))?;
    let manifest = signed.open(trust).map_err(|error| wrong(error.into()))?;
    if manifest.run != run {
        return Err(wrong("it belongs to another run".to_owned()));
    }
    match manifest.protocol {
        PROTOCOL => Ok(manifest),
        other => Err(FleetError::Other(format!(
            "the coordinator speaks version {other} of the fleet's protocol, this agent version {PROTOCOL}; install the same version of drumfire on both"
        ))),
    }
}

fn share(manifest: &Manifest, index: u32) -> Result<Share, FleetError> {
    let shares = if manifest.is_each {
        Share::of_each(manifest.members.len() as u32)
    } else {
        manifest.shares()
    };
    let first = shares.first().cloned();
    let share = shares.into_iter().nth(index as usize);
    // An agent that joins later has no users until it takes some over.
    share
        .or_else(|| {
            let first = first.filter(|_| !manifest.is_each)?;
            Some(Share {
                index,
                count: first.count.max(index + 1),
                slots: Slots::new(first.slots.period(), Vec::new()),
                ..first
            })
        })
        .ok_or_else(|| FleetError::Other(format!("the run has no agent {index}")))
}

/// A part of a run with the places of its files.
struct Part<'a> {
    surroundings: &'a PartSurroundings<'a>,
    member: &'a Arc<Member>,
    manifest: &'a Manifest,
    /// The folder of the plan.
    folder: PathBuf,
    /// The file of the samples.
    rows: PathBuf,
}

impl Part<'_> {
    fn run(&self) -> Result<u64, FleetError> {
        let PartSurroundings {
            options,
            work,
            runtime,
            link,
        } = *self.surroundings;
        let (member, manifest) = (self.member, self.manifest);
        let plan = self.prepare()?;
        member.note_properties(&plan.program.settings.properties);
        wait_for_all(member)?;
        runtime.spawn(talk::send(link.clone(), member.clone()));
        runtime.spawn(talk::watch_clock(link.clone(), member.clone()));
        let mut outbox = Outbox::new(member.clone(), options.log.clone());
        let order = EngineOptions {
            fleet: Some(member.clone() as Arc<dyn Fleet>),
            clock_offset_ns: member.own().offset_ns,
            workers: options.workers,
            ..EngineOptions::default()
        };
        let outcome =
            drumfire_engine::run(Arc::new(plan), &order, &member.control, &mut [&mut outbox])
                .map_err(|error| FleetError::Refused(vec![error.to_string()]))?;
        (work.await_threads)();
        outbox.seal();
        let end = end(member, &outcome);
        let samples = end.samples;
        // Files that elements of the plan have written belong to the user, so the folder is only removed if it is empty.
        if self.deliver(end)? {
            let _ = std::fs::remove_file(&self.rows);
        }
        remove_files(manifest, &self.folder);
        Ok(samples)
    }

    /// Fetches the files, measures the clock and compiles the plan.
    fn prepare(&self) -> Result<BoundPlan, FleetError> {
        let PartSurroundings {
            options,
            work,
            runtime,
            link,
        } = *self.surroundings;
        let (member, manifest, folder) = (self.member, self.manifest, self.folder.as_path());
        let cache = options.cache.join("files");
        std::fs::create_dir_all(folder)
            .map_err(|error| FleetError::Other(unwritable(folder, &error)))?;
        runtime.block_on(files::fetch(
            link,
            &manifest.files,
            |file| wire::reader_name(&member.run, member.index, member.token, file),
            &cache,
            folder,
        ))?;
        let offset = runtime
            .block_on(talk::measure(link, &member.run))
            .ok_or_else(|| FleetError::Late {
                what: "the coordinator to say what time it is".to_owned(),
                waited: CALL,
                remedy: "check the network between the agent and NATS",
            })?;
        member.say(|own| {
            (own.stage, own.offset_ns, own.bound_ns) =
                (Stage::Compiling, offset.offset_ns, offset.bound_ns);
        });
        // Plans read and write files relative to their own folder. The agent returns from it when it restarts its process.
        let moved = std::env::set_current_dir(folder);
        moved.map_err(|error| FleetError::Other(unwritable(folder, &error)))?;
        let mut settings = manifest.settings.clone();
        settings.properties.extend_from_slice(&options.properties);
        settings.system.extend_from_slice(&options.system);
        let order = PlanOrder {
            plan: folder.join(&manifest.plan),
            settings,
            agent: options.hello.name.clone(),
            results: (manifest.rows != RowHandling::None).then(|| self.rows.clone()),
            share: share(manifest, member.index)?,
        };
        let (plan, warnings) = (work.compile)(&order).map_err(FleetError::Refused)?;
        member.say(|own| (own.stage, own.warnings) = (Stage::Ready, warnings));
        Ok(plan)
    }

    /// Sends the remaining data: the last seconds, the outcome and the rows. Returns whether the file of rows can be
    /// deleted.
    fn deliver(&self, mut end: AgentEnd) -> Result<bool, FleetError> {
        let PartSurroundings { runtime, link, .. } = *self.surroundings;
        let (member, rows) = (self.member, &self.rows);
        let deadline = Instant::now() + DELIVERY;
        while !member.spool.is_empty() && Instant::now() < deadline {
            if member.full_for() > FULL {
                break;
            }
            std::thread::sleep(LOOK);
        }
        end.has_rows = self.manifest.rows == RowHandling::Collect && rows.exists();
        // The outcome goes first, since NATS may have no room for the rows.
        let end_name = wire::end_name(&member.run, member.index, "end");
        let bytes = wire::json(&end);
        until_taken(runtime, deadline, || {
            files::put_end(link, &end_name, &bytes)
        })?;
        if !end.has_rows {
            return Ok(self.manifest.rows == RowHandling::None);
        }
        let put = until_taken(runtime, deadline, || {
            put_rows(
                link,
                wire::end_name(&member.run, member.index, "rows"),
                rows,
            )
        });
        if let Err(error) = &put {
            let fault = format!("its rows stay in {}: {error}", rows.display());
            member.say(|own| own.faults.push(fault));
        }
        Ok(put.is_ok())
    }
}

/// Waits until all agents are ready. The coordinator's first state signals that.
fn wait_for_all(member: &Member) -> Result<(), FleetError> {
    let since = Instant::now();
    while since.elapsed() < OTHERS && member.silence() < SILENCE * 2 {
        if member.is_leaving() {
            return Err(FleetError::Other(
                "it was told to end before the start".to_owned(),
            ));
        }
        let state = member.state();
        if state.is_over {
            return Err(FleetError::Other("the run was cancelled".to_owned()));
        }
        if state.revision > 0 {
            return Ok(());
        }
        std::thread::sleep(LOOK);
    }
    Err(FleetError::Late {
        what: "the coordinator to start the run".to_owned(),
        waited: since.elapsed(),
        remedy: "look at the coordinator's terminal",
    })
}

fn end(member: &Member, outcome: &Outcome) -> AgentEnd {
    let mut faults = outcome.faults.clone();
    let given_up = member.spool.given_up();
    if given_up > 0 {
        faults.push(format!(
            "messages with results that were dropped while NATS was away: {given_up}"
        ));
    }
    let total = outcome.recording.total();
    AgentEnd {
        sequence: member.own().sequence,
        samples: total.count,
        balance: outcome.balance,
        connections: outcome.connections,
        elapsed_ms: outcome.elapsed.as_millis() as u64,
        started_ms: outcome.started_ms,
        ended_ms: outcome.ended_ms,
        users: outcome.users,
        faults,
        nothing_sent: outcome.nothing_sent.clone(),
        warnings: outcome.warnings.clone(),
        stopped: outcome.stopped,
        seconds: outcome.seconds.clone(),
        stages: outcome.stages,
        verdict: outcome.verdict.clone(),
        targets: outcome.targets.clone(),
        rows: outcome.files.iter().map(|file| file.rows).sum(),
        lost_rows: outcome.files.iter().map(|file| file.lost_rows).sum(),
        has_rows: false,
    }
}

/// Retries until the deadline, or until NATS has had no room for [`FULL`].
fn until_taken<F: Future<Output = Result<(), FleetError>>>(
    runtime: &Runtime,
    deadline: Instant,
    put: impl Fn() -> F,
) -> Result<(), FleetError> {
    let mut full_since = None;
    loop {
        let error = match runtime.block_on(put()) {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        full_since = match &error {
            FleetError::Full { .. } => full_since.or_else(|| Some(Instant::now())),
            _ => None,
        };
        let is_full = full_since.is_some_and(|since| since.elapsed() > FULL);
        if is_full || Instant::now() > deadline {
            return Err(error);
        }
        std::thread::sleep(AGAIN);
    }
}

async fn put_rows(link: &Link, name: String, rows: &Path) -> Result<(), FleetError> {
    let mut file = tokio::fs::File::open(rows).await.map_err(cannot)?;
    let putting = link.ends.put(name.as_str(), &mut file);
    within(DELIVERY, "rows", putting).await.map(|_| ())
}

fn cannot(error: std::io::Error) -> FleetError {
    FleetError::Other(cause(&error))
}

/// Removes the plan's files, and folders that are empty then.
fn remove_files(manifest: &Manifest, folder: &Path) {
    let mut folders: Vec<PathBuf> = vec![folder.to_path_buf()];
    for file in &manifest.files {
        let path = folder.join(&file.path);
        let _ = std::fs::remove_file(&path);
        folders.extend(path.parent().map(Path::to_path_buf));
    }
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    for folder in folders {
        let _ = std::fs::remove_dir(folder);
    }
}
