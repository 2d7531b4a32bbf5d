//! `drumfire run` and JMeter's `-n -t`: the run from its start to its exit code.
//!
//! [`prepare`] refuses a run that cannot work before anything is sent. [`attend`] runs the plan and passes its events to all
//! subscribers. [`conclude`] writes and judges the numbers.

pub mod arguments;
pub mod attach;
mod conclude;
pub mod criteria;
mod ending;
mod load_options;
mod messages;
mod monitors;
pub mod outputs;
mod prepare;
pub mod recent;
mod repeat;
mod report;
pub mod run_file;
pub mod run_url;
mod screen;
pub mod taurus;
mod trace_options;

use std::cell::RefCell;
use std::rc::Rc;

use drumfire_fleet::AgentOutcome;
use drumfire_java::JvmDefaults;
use drumfire_report::Capacity;

use crate::console::Console;
use crate::engine::{CompiledPlan, Control, Debugging, Engine, Outcome, Subscriber};
use crate::exit_codes::Exit;
use crate::fleet;
use crate::jmeter::remote;
use crate::refusal::Refusal;
use crate::run::arguments::RunArguments;
use crate::run::criteria::judge::PassFail;
use crate::run::criteria::thresholds::LabelCondition;
use conclude::{Attended, conclude};
pub use prepare::{FAIL_ON, thresholds};
use prepare::{Prepared, prepare, start_log};
use screen::Screen;

/// The property that decides whether the report stores the first failed request and response of each kind.
const KEEP_FAILURES: &str = "drumfire.keep_failures";

/// The note of a run by a program whose own CPU time may be what limits the load.
const UNOPTIMIZED: &str =
    "this is an unoptimized build; for real loads use one made with `--release`";

/// Runs a plan.
pub fn run(
    options: RunArguments,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    if let Some(times) = options.repeat.filter(|times| *times > 1) {
        return repeat::run(&options, times, engine, console);
    }
    let company = RunParticipants {
        capacity: None,
        control: &Control::default(),
        follower: None,
        debugging: Debugging::default(),
        judge: None,
        conditions: Vec::new(),
    };
    follow(options, engine, console, company)
}

/// The participants of a run beside the command line.
pub(super) struct RunParticipants<'c> {
    /// Receives the result of a search for the target's capacity.
    pub capacity: Option<Rc<RefCell<Option<Capacity>>>>,
    /// Steers the run.
    pub control: &'c Control,
    /// Receives its events.
    pub follower: Option<&'c mut dyn Subscriber>,
    /// Follows its users step by step.
    pub debugging: Debugging,
    /// Judges it in addition to its thresholds.
    pub judge: Option<&'c mut PassFail>,
    /// Conditions beside its thresholds that name labels of the plan.
    pub conditions: Vec<LabelCondition<'c>>,
}

/// Runs a plan with these participants.
pub(super) fn follow(
    options: RunArguments,
    engine: &Engine,
    console: &mut Console<'_>,
    company: RunParticipants<'_>,
) -> Result<Exit, Refusal> {
    let log = start_log(
        &options.log,
        &JvmDefaults::of_process().zone.rules().clone(),
        console,
    )?;
    if !console.is_optimized {
        console.note(UNOPTIMIZED);
    }
    for note in &options.notes {
        console.warn(note);
    }
    let RunParticipants {
        capacity,
        control,
        follower,
        debugging,
        mut judge,
        conditions,
    } = company;
    let (mut prepared, program) =
        prepare(options, debugging, conditions, engine, control, console)?;
    let mut attended = attend(
        &mut prepared,
        program,
        engine,
        control,
        follower,
        &mut judge,
        console,
    );
    attended.capacity = capacity.and_then(|found| found.take());
    conclude(prepared, attended, log, judge, engine, console)
}

/// Runs the plan and passes its events to all subscribers.
fn attend(
    prepared: &mut Prepared,
    program: CompiledPlan,
    engine: &Engine,
    control: &Control,
    follower: Option<&mut dyn Subscriber>,
    judge: &mut Option<&mut PassFail>,
    console: &mut Console<'_>,
) -> Attended {
    let Prepared { brief, listening } = prepared;
    let mut screen = Screen::new(
        brief.fingerprint.shown(),
        brief.options.progress,
        JvmDefaults::of_process().zone.rules().clone(),
        console,
    );
    screen.is_of_url = brief.options.is_of_url();
    screen.summary_lines = program.summary_lines();
    screen.remote_hosts = remote::hosts(&brief.options.fleet);
    screen.start(&brief.settings, control);
    let mut subscribers: Vec<&mut dyn Subscriber> = vec![&mut screen];
    if let Some(kept_run) = &mut listening.kept {
        subscribers.push(kept_run);
    }
    if let Some(ui) = &mut listening.ui {
        subscribers.push(ui);
    }
    subscribers.push(&mut listening.guards);
    subscribers.push(&mut listening.until);
    if let Some(follower) = follower {
        subscribers.push(follower);
    }
    if let Some(judge) = judge {
        judge.begin(control);
        subscribers.push(&mut **judge);
    }
    subscribers.push(&mut listening.exports);
    let mut agents: Vec<AgentOutcome> = Vec::new();
    let outcome: anyhow::Result<Outcome> = match &brief.fleet {
        Some(order) => fleet::run(order, control, &mut subscribers).map(|fleet| {
            agents = fleet.agents;
            fleet.outcome
        }),
        None => engine
            .run(program, &brief.order, control, &mut subscribers)
            .map_err(anyhow::Error::new),
    };
    if outcome.is_ok() {
        screen.tidying_up();
    }
    let stopped = screen.end();
    Attended {
        outcome,
        agents,
        stopped,
        capacity: None,
    }
}
