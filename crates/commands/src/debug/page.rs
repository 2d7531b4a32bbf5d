//! Debugs in the editor's page: the plan runs once for one user, who stands still at breakpoints.

use drumfire_edit::Refused;
use drumfire_edit::protocol::Host;
use drumfire_serve::ListenAddress;
use serde_json::json;

use crate::console::Console;
use crate::debug::arguments::DebugArguments;
use crate::demo::DemoSite;
use crate::edit::{self, PageOrder};
use crate::engine::Engine;
use crate::exit_codes::Exit;
use crate::lsp::Looker;
use crate::refusal::Refusal;
use crate::run::arguments::RunArguments;
use crate::settings::plan_file::existing_plan;

/// Serves the editor's page with a run in it until Ctrl-C. `options` are those of the run; `plain` are the same options as they are
/// without any on the command line.
pub fn serve(
    arguments: &DebugArguments,
    options: RunArguments,
    plain: RunArguments,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    refuse_without_effect(&options, plain)?;
    let plan = existing_plan(&arguments.plan)?;
    let demo = options
        .demo
        .then(|| DemoSite::start(0, 0))
        .transpose()
        .map_err(Refusal::failed)?;
    let demo_properties = demo
        .as_ref()
        .map(DemoSite::properties)
        .map(|own| own.to_vec())
        .unwrap_or_default();
    // Properties that cannot be read are refused here; the inspector would use the defaults.
    crate::settings::settings(&options.properties, &demo_properties, Some(&plan), console)?;
    let looker = Looker::with_options(*engine, options.properties, demo_properties);
    let ListenAddress(address) = arguments.ui.unwrap_or_default();
    let page = PageOrder {
        plan: &plan,
        address,
        is_opened: !arguments.no_open,
        in_app: false,
    };
    edit::serve(
        &page,
        looker,
        |host, plan, console| begin(arguments, host, plan, console),
        console,
    )
}

/// Starts the run. If the plan cannot run, the page shows why.
fn begin(
    arguments: &DebugArguments,
    host: &Host,
    plan: u64,
    console: &mut Console<'_>,
) -> Result<(), Refused> {
    host.break_before(plan, &arguments.breakpoints)?;
    let run = json!({
        "plan": plan,
        "kind": "plan",
        // Timers and Backend Listeners run, as they do with `--text`.
        "properties": {
            "testplan_validation.ignore_timers": "false",
            "testplan_validation.ignore_backends": "false",
        },
        "pace": if arguments.step { "step" } else { "run" },
        "user": arguments.user,
        "samples": arguments.samples,
    });
    if let Err(refused) = host.request("run", run) {
        console.warn(&format!("the plan did not run: {}", refused.message));
    }
    Ok(())
}

/// Refuses options that a run in the editor's page does not carry out.
fn refuse_without_effect(options: &RunArguments, plain: RunArguments) -> Result<(), Refusal> {
    let effective = RunArguments {
        demo: options.demo,
        properties: options.properties.clone(),
        load: options.load.clone(),
        skip_unsupported: options.skip_unsupported,
        tls_verify: options.tls_verify,
        offline: options.offline,
        ..plain
    };
    if *options == effective {
        return Ok(());
    }
    let why = "the page takes the options of `drumfire run` that set properties and the load, and `--demo`; add `--text` to debug with the others";
    Err(Refusal::usage(why))
}
