//! `drumfire attach`: continues a run on several machines whose `drumfire run` is gone.

use crate::agent::link;
use crate::console::Console;
use crate::engine::Engine;
use crate::exit_codes::Exit;
use crate::jmeter::remote;
use crate::refusal::Refusal;
use crate::run::arguments::{PlanChoice, RunArguments};
use crate::run::run;
use crate::settings::options::Change;
use crate::settings::settings;

/// Fetches the plan of the run and takes the place of its coordinator.
pub fn attach(
    mut options: RunArguments,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let settings = settings(&options.properties, &[], None, console)?;
    let fleet = &mut options.fleet;
    remote::settle(fleet, &settings)?;
    let link = link(&fleet.link, false)?;
    let run_name = fleet.attach.clone().unwrap_or_default();
    let folder = tempfile::tempdir().map_err(Refusal::failed)?;
    let plan = drumfire_fleet::fetch_plan(&link, &run_name, folder.path())
        .map_err(|error| Refusal::run_failed(error.to_string()))?;
    options.plan = Some(PlanChoice::made(plan.plan));
    let given = plan
        .given
        .into_iter()
        .map(|(name, value)| Change::Property(name, value));
    options.properties.put_first(given);
    run(options, engine, console)
}
