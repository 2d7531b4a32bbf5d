//! `drumfire record`: makes a plan of what a browser does on a site.

pub mod arguments;
pub mod certificate;
pub mod sources;

use std::path::Path;

use drumfire_import::like::Recorder;
use drumfire_import::{Address, Draft, ImportOptions};
use drumfire_jmx::Tree;

use crate::console::Console;
use crate::engine::Engine;
use crate::exit_codes::Exit;
use crate::import::{self, WantedPlan};
use crate::new::refuse_existing;
use crate::refusal::Refusal;
use crate::whole_file;

use arguments::RecordArguments;

/// Records until the browser is closed or Ctrl-C. Then writes the plan as `import` does.
pub fn record(
    arguments: &RecordArguments,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    if let Some(wish) = arguments.ca {
        return certificate::certificate(wish, console);
    }
    let Some(output) = &arguments.output else {
        return Err(Refusal::usage(
            "there is no plan to write: name it with `-o PLAN.jmx`".to_owned(),
        ));
    };
    refuse_existing(output, arguments.force)?;
    if let Some(url) = &arguments.url
        && Address::parse(url).is_none()
    {
        return Err(Refusal::usage(format!("`{url}` is not an address of HTTP")));
    }
    let plan = match &arguments.like {
        Some(file) => Some(model(file, console)?),
        None => None,
    };
    let recorder = plan.as_ref().map(|(_, recorder)| recorder);
    let recorded = sources::recorded(arguments, recorder, console)?;
    let bytes = recorded.har.to_string().into_bytes();
    if let Some(file) = &arguments.har {
        whole_file::write(file, &bytes)?;
    }
    let options = ImportOptions {
        domains: arguments.domain.clone(),
        all_domains: arguments.all_domains,
        keep_cookies: arguments.cookies,
        no_think_time: arguments.no_think_time,
        ..ImportOptions::default()
    };
    let options = match recorder {
        Some(recorder) => {
            let mut warnings = Vec::new();
            let options = recorder.options(options, &mut warnings);
            warnings.iter().for_each(|warning| console.warn(warning));
            options
        }
        None => options,
    };
    let mut draft = drumfire_import::import(&[(recorded.name, bytes)], &options)
        .map_err(|error| import::refusal(&error))?;
    for (host, count) in recorded.unread {
        let reason = format!("connections to {host}, which were not decrypted");
        draft.left_out.insert(reason, count);
    }
    let server = server(arguments, &draft);
    let other = import::other_user(arguments.other_user.as_deref(), &draft, &options)?;
    let wish = WantedPlan {
        output,
        correlates: !arguments.no_correlation,
        verify: server.as_deref().filter(|_| arguments.verify),
        accept: arguments.accept,
        force: arguments.force,
        like: plan.as_ref().map(|(tree, recorder)| (tree, recorder)),
        other,
    };
    import::finish(draft, &wish, engine, console)
}

/// The plan and its recorder to record like.
fn model(file: &Path, console: &Console<'_>) -> Result<(Tree, Recorder), Refusal> {
    let read = drumfire_jmx::read_file(file);
    let tree = read.map_err(|faults| console.refusal_of(&faults))?.tree;
    match Recorder::find(&tree) {
        Some(recorder) => Ok((tree, recorder)),
        None => Err(Refusal::new(
            Exit::PlanRefused,
            format!(
                "`{}` has no HTTP(S) Test Script Recorder: leave out `--like`",
                file.display()
            ),
        )),
    }
}

/// The server for replays: that of the URL, or else that of the first request.
fn server(arguments: &RecordArguments, draft: &Draft) -> Option<String> {
    arguments.url.clone().or_else(|| first_server(draft))
}

/// The server of the first request.
pub fn first_server(draft: &Draft) -> Option<String> {
    let address = &draft.steps().next()?.request.address;
    let port = match address.port.template().as_str() {
        "" => String::new(),
        port => format!(":{port}"),
    };
    let (scheme, host) = (address.scheme.template(), address.host.template());
    Some(format!("{scheme}://{host}{port}/"))
}
