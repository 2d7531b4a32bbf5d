//! `drumfire edit`: edits plans in the browser, or for a program over standard input and output.

pub mod arguments;
mod bodies;
mod browser;
mod clipboard;
mod evaluate;
mod load;
mod propose;
mod record;
mod run;
mod templates;

use std::collections::BTreeMap;
use std::io::{self, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use drumfire_edit::protocol::record_messages::RecordOffer;
use drumfire_edit::protocol::template_messages::TemplateEntry;
use drumfire_edit::protocol::{Host, stdio};
use drumfire_edit::refused::FILE;
use drumfire_edit::{
    Inspection, Journals, LoadListener, PartListener, PartOrder, Program, ProposedExtractor,
    RecordListener, RecordOrder, Refused, Rung, RunningLoad, RunningPart, RunningRecording,
    StoredResponse, TemplateMade, Trial, TrialOrder,
};
use drumfire_jmx::{Node, ShownValue, Tree};
use drumfire_platform::causes::cause;
use drumfire_serve::{Answerer, EDIT_PAGE, EDITOR_PING, EditorServer, ListenAddress};

use crate::console::Console;
use crate::edit::arguments::EditArguments;
use crate::engine::{self, Engine};
use crate::exit_codes::Exit;
use crate::git;
use crate::lsp::{self, Looker};
use crate::refusal::Refusal;
use crate::show::secrets;
use crate::signals;

/// The folder of the journals, in the user's state folder.
pub const JOURNALS: &str = "edit";
/// The folder of the bodies of runs, in that of the journals.
const BODIES: &str = "runs";
/// How often the command checks whether it was interrupted.
const PAUSE: Duration = Duration::from_millis(100);

/// Edits plans until Ctrl-C, or until the input ends.
pub fn edit(
    arguments: &EditArguments,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let looker = Looker::new(*engine);
    if arguments.stdio {
        let state = state(console);
        let program = Arc::new(EditorProgram::new(looker, state.as_deref()));
        let host = Host::new(program, state.map(Journals::new), Vec::new());
        stdio(&host, BufReader::new(io::stdin()), io::stdout()).map_err(Refusal::failed)?;
        return Ok(Exit::Ok);
    }
    let page = PageOrder {
        plan: arguments.plan.as_deref().unwrap_or(Path::new("")),
        address: SocketAddr::from(([127, 0, 0, 1], arguments.port.unwrap_or(0))),
        is_opened: !arguments.no_open,
        in_app: arguments.app,
    };
    serve(&page, looker, |_, _, _| Ok(()), console)
}

/// The folder of the journals, if the user has a state folder.
fn state(console: &Console<'_>) -> Option<PathBuf> {
    drumfire_platform::state_folder(console.variable).map(|folder| folder.join(JOURNALS))
}

/// The order to serve the editor's page.
pub struct PageOrder<'a> {
    /// The plan that it shows.
    pub plan: &'a Path,
    /// Where it listens; port 0 takes a free one.
    pub address: SocketAddr,
    /// Whether a terminal's user gets a browser with it.
    pub is_opened: bool,
    /// Whether the browser is a Chromium window of its own.
    pub in_app: bool,
}

/// Serves the editor's page until Ctrl-C. `begin` gets the number of the plan before the URL is printed.
pub fn serve(
    page: &PageOrder<'_>,
    looker: Looker,
    begin: impl FnOnce(&Host, u64, &mut Console<'_>) -> Result<(), Refused>,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let state = state(console);
    let program = Arc::new(EditorProgram::new(looker, state.as_deref()));
    let journals = state.clone().map(Journals::new);
    let host = Arc::new(Host::new(program, journals, vec![folder_of(page.plan)]));
    let plan = host.open(page.plan).map_err(refusal)?;
    let asked = host.clone();
    let answerer: Answerer = Arc::new(move |message| asked.answer(message));
    let PageOrder { address, .. } = *page;
    let name = gethostname::gethostname().to_string_lossy().into_owned();
    let server = EditorServer::start(ListenAddress(address), name, answerer).map_err(|error| {
        Refusal::run_failed(format!("the page at `{address}`: {}", cause(&error)))
    })?;
    let notify = server.notifier();
    host.listen(Box::new(move |method, parameters| {
        notify(method, parameters);
        true
    }));
    begin(&host, plan, console).map_err(refusal)?;
    console.line(&format!("editor  {}", server.url()));
    let opened = (page.is_opened && console.is_terminal).then(|| {
        let folder = state.unwrap_or_else(std::env::temp_dir);
        browser::open(server.url(), &folder, page.in_app)
    });
    match opened {
        Some(Err(why)) => console.warn(&format!("{why}; open the URL above")),
        _ => console.line("Ctrl-C ends the editor; unsaved changes are there again the next time"),
    }
    wait(&server);
    // The server's threads hold the host.
    host.end();
    Ok(Exit::Ok)
}

/// The folder that the plan may be opened from: its own, which holds what it includes.
fn folder_of(plan: &Path) -> PathBuf {
    let whole = std::fs::canonicalize(plan).unwrap_or_else(|_| plan.to_owned());
    whole.parent().map(Path::to_owned).unwrap_or_default()
}

fn refusal(refused: Refused) -> Refusal {
    let refusal = Refusal::run_failed(refused.message);
    match refused.hint {
        Some(hint) => refusal.hint(hint),
        None => refusal,
    }
}

/// Waits until Ctrl-C, and tells idle pages that the program is there.
fn wait(server: &EditorServer) {
    let is_over = Arc::new(AtomicBool::new(false));
    let is_interrupted = is_over.clone();
    let listening = signals::listen(None, move |_| is_interrupted.store(true, Ordering::Relaxed));
    if listening.is_err() {
        return;
    }
    let notify = server.notifier();
    let mut pinged = Instant::now();
    while !is_over.load(Ordering::Relaxed) {
        std::thread::sleep(PAUSE);
        if pinged.elapsed() >= EDITOR_PING {
            notify("ping", "{}");
            pinged = Instant::now();
        }
    }
}

/// The engine and the importers, for the sessions.
pub struct EditorProgram {
    looker: Looker,
    /// Where the bodies of runs go.
    bodies: PathBuf,
    trials: evaluate::Trials,
}

impl EditorProgram {
    /// The program. Bodies of runs go to a folder in `state`, or for temporary files; those that killed
    /// programs left there are removed.
    pub fn new(looker: Looker, state: Option<&Path>) -> EditorProgram {
        let temporary = std::env::temp_dir();
        let bodies = state.unwrap_or(&temporary).join(BODIES);
        bodies::remove_left(&bodies);
        EditorProgram {
            looker,
            bodies,
            trials: evaluate::Trials::default(),
        }
    }
}

impl Program for EditorProgram {
    fn inspect(&self, plan: &Path, tree: &Tree) -> Inspection {
        let mut glance = self.looker.glance(plan, tree, true);
        let rungs = std::mem::take(&mut glance.rungs);
        Inspection {
            rungs: rungs.iter().map(rung).collect(),
            ..lsp::inspection(glance)
        }
    }

    fn import(&self, text: &str) -> Result<Vec<Node>, Refused> {
        clipboard::elements(text)
    }

    fn committed(&self, plan: &Path) -> Option<Vec<u8>> {
        git::committed(plan)
    }

    fn staged(&self, plan: &Path) -> Option<Vec<u8>> {
        git::staged(plan)
    }

    fn ancestor(&self, plan: &Path) -> Option<Vec<u8>> {
        git::ancestor(plan)
    }

    fn stage(&self, plan: &Path, bytes: &[u8]) -> Result<(), Refused> {
        git::stage(plan, bytes).map_err(|why| {
            Refused::new(
                FILE,
                format!("git does not stage `{}`: {why}", plan.display()),
            )
        })
    }

    fn shown(&self) -> ShownValue {
        secrets::masked
    }

    fn page(&self) -> &str {
        EDIT_PAGE
    }

    fn property(&self, plan: &Path, name: &str) -> Option<String> {
        let settings = self.looker.settings(plan);
        settings.properties.get(name).map(str::to_owned)
    }

    fn forms(&self, classes: &[&str]) -> Option<String> {
        // Without Java, an element has the general form.
        (self.looker.engine().java.forms)(classes).ok().flatten()
    }

    fn propose(
        &self,
        text: &str,
        at: Option<usize>,
        response: &StoredResponse,
        all: &[StoredResponse],
    ) -> Vec<ProposedExtractor> {
        propose::proposals(text, at, response, all)
    }

    fn templates(&self, folder: &Path) -> Vec<TemplateEntry> {
        templates::entries(&self.looker.settings(folder))
    }

    fn template(
        &self,
        folder: &Path,
        name: &str,
        data_file: &str,
        values: &BTreeMap<String, String>,
    ) -> Result<TemplateMade, Refused> {
        templates::made(&self.looker.settings(folder), name, data_file, values)
    }

    fn evaluate(&self, order: TrialOrder) -> Trial {
        let settings = self.looker.settings(&order.plan);
        self.trials.evaluate(&settings, order)
    }

    fn load(&self, plan: &Path, listener: LoadListener) -> Result<Arc<dyn RunningLoad>, Refused> {
        load::start(plan, listener)
    }

    fn record_settings(&self, tree: &Tree) -> RecordOffer {
        record::offer(tree)
    }

    fn record(
        &self,
        order: RecordOrder,
        listener: RecordListener,
    ) -> Result<Arc<dyn RunningRecording>, Refused> {
        record::start(order, listener)
    }

    fn run(
        &self,
        order: PartOrder,
        listener: PartListener,
    ) -> Result<Arc<dyn RunningPart>, Refused> {
        let settings = self.looker.settings(&order.plan);
        run::start(
            self.looker.engine(),
            settings,
            &self.bodies,
            order,
            listener,
        )
    }
}

fn rung(rung: &engine::Rung) -> Rung {
    match rung {
        engine::Rung::Native => Rung::Native,
        engine::Rung::Jvm => Rung::Java,
        engine::Rung::Skipped => Rung::Skipped,
        engine::Rung::Refused => Rung::Refused,
    }
}
