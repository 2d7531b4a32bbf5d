//! `drumfire record`: a plan of what a browser does on a site.

use std::io::BufRead as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use drumfire_import::Options;
use drumfire_recorder::Visit;

use super::import::{self, Wish};
use super::new::refuse_existing;
use crate::console::Console;
use crate::engine::Engine;
use crate::exit_codes::Exit;
use crate::options::Refusal;
use crate::{signals, whole_file};

/// The options of `record`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct RecordArguments {
    /// The first page
    pub url: String,
    /// The plan to write
    #[arg(short = 'o', long, value_name = "PLAN.jmx")]
    pub output: PathBuf,
    /// Record in a Chromium with a profile of its own; it is the only way so far
    #[arg(long)]
    pub browser: bool,
    /// The browser's program [default: the first Chromium or Chrome on the path]
    #[arg(long, value_name = "PROGRAM")]
    pub browser_path: Option<PathBuf>,
    /// Without a window: the page is opened, the scripts of --do are run, and the recording ends
    #[arg(long)]
    pub headless: bool,
    /// JavaScript to run in the page when its network has come to rest; several are run one after the other
    #[arg(long = "do", value_name = "SCRIPT")]
    pub actions: Vec<String>,
    /// Write the recording itself, too
    #[arg(long, value_name = "FILE.har")]
    pub har: Option<PathBuf>,
    /// Keep requests to this domain, too
    #[arg(long, value_name = "DOMAIN")]
    pub domain: Vec<String>,
    /// Keep requests to every domain
    #[arg(long)]
    pub all_domains: bool,
    /// Leave out the user's pauses
    #[arg(long)]
    pub no_think_time: bool,
    /// Leave all values as they were recorded
    #[arg(long)]
    pub no_correlation: bool,
    /// Replay the plan twice against the server and keep only the variables that this proves
    #[arg(long)]
    pub verify: bool,
    /// Keep variables that the replay did not prove, too
    #[arg(long, requires = "verify")]
    pub accept: bool,
    /// Overwrite files that exist
    #[arg(short = 'f', long)]
    pub force: bool,
}

/// Records until the browser is closed or Ctrl-C, then writes the plan as `import` does.
pub fn record<E: Engine>(
    arguments: &RecordArguments,
    engine: &E,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    refuse_existing(&arguments.output, arguments.force)?;
    if drumfire_import::Address::parse(&arguments.url).is_none() {
        return Err(Refusal::new(
            Exit::Usage,
            format!("`{}` is not an address of HTTP", arguments.url),
        ));
    }
    let har = listen(arguments, console)?;
    let failed = |why: String| Refusal::new(Exit::RunFailed, why);
    let bytes = har.to_string().into_bytes();
    if let Some(file) = &arguments.har {
        whole_file::write(file, &bytes).map_err(failed)?;
    }
    let options = Options {
        domains: arguments.domain.clone(),
        all_domains: arguments.all_domains,
        no_think_time: arguments.no_think_time,
        ..Options::default()
    };
    let recorded = drumfire_import::import(&[(arguments.url.clone(), bytes)], &options);
    let recorded = recorded.map_err(|error| import::refusal(&error))?;
    let wish = Wish {
        output: &arguments.output,
        correlates: !arguments.no_correlation,
        verify: arguments.verify.then_some(arguments.url.as_str()),
        accept: arguments.accept,
        force: arguments.force,
    };
    import::finish(recorded, &wish, engine, console)
}

/// Runs the browser; lines typed meanwhile name the transactions.
fn listen(
    arguments: &RecordArguments,
    console: &mut Console<'_>,
) -> Result<serde_json::Value, Refusal> {
    let failed = |why: String| Refusal::new(Exit::RunFailed, why);
    let stop = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stop);
    let listening = signals::listen(None, move |_| told.store(true, Ordering::SeqCst));
    let _listening = listening.map_err(|error| failed(error.to_string()))?;
    let (name, names) = channel();
    if !arguments.headless {
        console.line("recording  close the browser or press Ctrl-C to end; type a name and Enter to begin a transaction");
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines().map_while(Result::ok) {
                let line = line.trim().to_owned();
                if !line.is_empty() && name.send(line).is_err() {
                    return;
                }
            }
        });
    }
    let visit = Visit {
        url: arguments.url.clone(),
        browser: arguments.browser_path.clone(),
        headless: arguments.headless,
        actions: arguments.actions.clone(),
    };
    drumfire_recorder::record(&visit, &stop, &names, &mut |line| {
        console.line(&format!("  {line}"))
    })
    .map_err(failed)
}
