//! `drumfire capacity`: finds the highest rate that a target holds.

pub mod arguments;
mod search;

use crate::terminal::format::counted;
use std::io;

use drumfire_results::Threshold;

use crate::capacity::arguments::CapacityArguments;
use crate::capacity::search::{Goal, Search};
use crate::command::Command;
use crate::console::Console;
use crate::engine::{Control, Debugging, Engine};
use crate::exit_codes::Exit;
use crate::refusal::{Refusal, UsageError};
use crate::run::arguments::{PlanChoice, Progress};
use crate::run::criteria::thresholds::{LabelCondition, warn_of_inversions};
use crate::run::run_url;
use crate::run::{self, RunParticipants};
use crate::settings::options::Change;

/// The upper limit of the run's duration. The run ends earlier, with the search.
const LONGEST_S: u32 = 24 * 3_600;

/// Runs the plan at one rate after another.
pub fn capacity(
    arguments: &CapacityArguments,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let goal = goal(arguments)?;
    let made = run_url::plan_of(&arguments.plan.to_string_lossy())?;
    let plan = made
        .as_ref()
        .map(|(_, plan)| plan)
        .unwrap_or(&arguments.plan);
    let mut words = vec!["run".to_owned(), plan.display().to_string()];
    let is_insecure = |word: &String| made.is_some() && run_url::is_insecure(word);
    let others = arguments.options.iter().filter(|word| !is_insecure(word));
    words.extend(others.cloned());
    let Command::Run(mut options) = crate::args::read(&words)? else {
        return Err(Refusal::usage(
            "options behind `--` are those of `drumfire run`".to_owned(),
        ));
    };
    if made.is_some() {
        options.plan = Some(PlanChoice::of_url(plan.clone()));
        options.log.file.clear();
        run_url::verify(&mut options, arguments.options.iter().any(is_insecure));
    }
    let load = [
        ("drumfire.load.users", goal.users.to_string()),
        ("drumfire.load.arrivals", goal.max.to_string()),
        ("drumfire.load.duration", LONGEST_S.to_string()),
    ]
    .map(|(name, value)| Change::Property(name.to_owned(), value));
    options.properties.changes.extend(load);
    options.progress = Progress::Quiet;
    warn_of_inversions(&goal.conditions, console);
    console.line(&format!(
        "searching from {}/s to {}/s with {}, until {}",
        goal.from,
        goal.max,
        counted(goal.users.into(), "user"),
        arguments.until
    ));
    let conditions = goal.conditions.clone();
    let control = Control::default();
    let mut search = Search::new(goal, control.clone(), Box::new(io::stdout()));
    let company = RunParticipants {
        capacity: Some(search.found()),
        control: &control,
        follower: Some(&mut search),
        debugging: Debugging::default(),
        judge: None,
        conditions: conditions.iter().filter_map(LabelCondition::of).collect(),
    };
    let exit = run::follow(options, engine, console, company)?;
    console.print(&search.rendered());
    Ok(match search.capacity() {
        Some(_) => exit,
        None if exit == Exit::Ok => Exit::ThresholdsNotMet,
        None => exit,
    })
}

fn goal(arguments: &CapacityArguments) -> Result<Goal, UsageError> {
    let conditions = arguments
        .until
        .split(" or ")
        .map(str::parse)
        .collect::<Result<Vec<Threshold>, _>>()
        .map_err(|error| error.to_string())?;
    if let Some(windowed) = conditions.iter().find(|one| one.is_windowed()) {
        return Err(format!(
            "threshold `{}`: each level is judged as a whole; leave out `over` and `for`",
            windowed.text()
        )
        .into());
    }
    let CapacityArguments {
        from, max, step, ..
    } = *arguments;
    if max < from {
        return Err(format!("--max {max} is below --from {from}").into());
    }
    if !(1.1..=10.0).contains(&step) {
        return Err(format!("--step {step}: give a factor from 1.1 to 10").into());
    }
    Ok(Goal {
        conditions,
        from,
        max,
        step,
        users: arguments.users,
    })
}
