//! `drumfire attach`: continues a run on several machines whose `drumfire run` is gone.

use super::agent::link;
use super::inputs::settings;
use super::run::run;
use crate::console::Console;
use crate::engine::Engine;
use crate::exit_codes::Exit;
use crate::jmeter::remote;
use crate::options::{Change, PlanChoice, Refusal, RunOptions};

/// Fetches the plan of the run and takes the place of its coordinator.
pub fn attach<E: Engine>(
    mut options: RunOptions,
    engine: &E,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let failed = |why: String| Refusal::new(Exit::RunFailed, why);
    let settings = settings(&options.properties, &[], None, console)?;
    let fleet = options.fleet.as_mut();
    let Some(fleet) = fleet else {
        return Err(failed("there is no run to continue".to_owned()));
    };
    remote::settle(fleet, &settings)?;
    let link = link(&fleet.link, false)?;
    let run_name = fleet.attach.clone().unwrap_or_default();
    let folder = tempfile::tempdir().map_err(Refusal::failed)?;
    let plan = drumfire_fleet::fetch_plan(&link, &run_name, folder.path());
    let plan = plan.map_err(|error| failed(error.to_string()))?;
    options.plan = PlanChoice::made(plan.plan);
    let given = plan.given.into_iter();
    let given = given.map(|(name, value)| Change::Property(name, value));
    options.properties.changes.splice(0..0, given);
    run(options, engine, console)
}
