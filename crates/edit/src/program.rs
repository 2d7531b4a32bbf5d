//! The questions of a session that the command line answers, which has the engine and the importers.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use drumfire_jmx::{Diagnostic, Node, ShownValue, Tree};

use crate::protocol::methods::{RunGo, RunSampleDetail, RunTest};
use crate::protocol::record_messages::{RecordOffer, RecordRow, RecordSettings};
use crate::protocol::template_messages::TemplateEntry;
use crate::protocol::types::{RunDetail, RunHalt, RunOutcome, RunSample};
use crate::refused::Refused;
use crate::tree::Id;

/// Findings in a plan beyond its syntax.
#[derive(Debug, Default)]
pub struct Inspection {
    /// Errors and warnings, with their positions.
    pub findings: Vec<Diagnostic>,
    /// Advice, one entry for each element.
    pub advice: Vec<Hint>,
    /// How each element runs, in the order of the file; empty if that was not asked for.
    pub rungs: Vec<Rung>,
}

/// How an element runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rung {
    /// Drumfire runs it.
    Native,
    /// Its own Java class runs it.
    Java,
    /// It is not run, which changes nothing.
    Skipped,
    /// It keeps the plan from running.
    Refused,
}

/// Advice about an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// A stable name to search for, such as `xpath-tolerant`.
    pub rule: String,
    /// The finding, its reason and the remedy.
    pub message: String,
    /// The line of the element's start tag, from 1.
    pub line: usize,
    /// The names from the Test Plan down to the element.
    pub path: Vec<String>,
    /// The property that decides it, if it is one.
    pub property: Option<String>,
}

/// The order to run a part of a plan.
#[derive(Debug, Clone)]
pub struct PartOrder {
    /// The file of the plan, whose folder holds the files that it names.
    pub plan: PathBuf,
    /// The part.
    pub tree: Tree,
    /// The number of the element that begins at each offset of the part's text.
    pub ids: HashMap<usize, Id>,
    /// The numbers of the users of each thread group that run.
    pub users: RangeInclusive<u32>,
    /// The run ends after this many samples, if that is fewer than the program keeps.
    pub samples: Option<usize>,
    /// The iterations of each thread group.
    pub iterations: u32,
    /// Variables that users have when their first element has its turn.
    pub variables: BTreeMap<String, String>,
    /// Properties of this run.
    pub properties: BTreeMap<String, String>,
    /// How far users go before they stand still for the first time: `run`, `step` or `sample`. `None` for a run in which they never do.
    pub pace: Option<String>,
    /// The elements before which users stand still.
    pub breakpoints: BTreeSet<Id>,
}

/// The plan or the elements that a template made.
#[derive(Debug)]
pub struct TemplateMade {
    /// The text of the plan.
    pub plan: String,
    /// The text of the elements that go into a plan, if the template is a part.
    pub part: Option<String>,
    /// The content of the data file beside the plan.
    pub data: Option<&'static str>,
}

/// The order to evaluate a text without a run.
#[derive(Debug, Clone, Default)]
pub struct TrialOrder {
    /// The file of the plan, whose properties and folder apply.
    pub plan: PathBuf,
    /// The name of the element in whose field the text is.
    pub element: String,
    /// The name of its thread group; empty outside of all.
    pub group: String,
    /// The text.
    pub text: String,
    /// How often it is evaluated.
    pub times: usize,
    /// The variables of a run.
    pub variables: BTreeMap<String, String>,
    /// The names and texts that elements give variables at the start, in the order of the elements. A text sees the variables of
    /// elements before its own. Those of a run replace them all.
    pub at_start: Vec<Vec<(String, String)>>,
    /// Variables whose values are returned besides those that the text refers to.
    pub named: Vec<String>,
}

/// A text that was evaluated without a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// The values, or why there are none.
    pub outcome: Result<Vec<String>, String>,
    /// Whether there are none because the text is wrong, whatever the variables hold.
    pub is_wrong: bool,
    /// The variables that the text refers to; `None` for those that are not set.
    pub variables: BTreeMap<String, Option<String>>,
}

/// A response of a sample.
#[derive(Debug, Clone, Default)]
pub struct StoredResponse {
    /// The run.
    pub run: u64,
    /// The number of the sample.
    pub number: usize,
    /// The status line and the header fields, a line each.
    pub headers: String,
    /// `Content-Type`.
    pub content_type: String,
    /// The body as text.
    pub body: String,
}

/// An extractor that yields a text of a response.
pub struct ProposedExtractor {
    /// Its kind.
    pub kind: String,
    /// The expression.
    pub expression: String,
    /// Which of the texts that it finds it yields, from 1.
    pub number: usize,
    /// How many texts it finds.
    pub matches: usize,
    /// The time of the search, in microseconds.
    pub cost_us: u64,
    /// A name for its variable.
    pub name: String,
    /// The texts that it yields, one for each of the responses.
    pub values: Vec<Option<String>>,
    /// Makes its element for a variable.
    pub element: Box<dyn Fn(&str) -> Node>,
}

/// A message of a running part.
#[derive(Debug, Clone)]
pub enum PartEvent {
    /// A sample is complete.
    Sample(RunSample),
    /// A user stands still, or goes on.
    Halted(Option<RunHalt>),
    /// The run is over.
    Ended(RunOutcome),
}

/// Receives what a running part tells.
pub type PartListener = Box<dyn Fn(PartEvent) + Send + Sync>;

/// A part of a plan that runs, or has run.
pub trait RunningPart: Send + Sync {
    /// Ends the run.
    fn stop(&self);

    /// Whether the run is over.
    fn is_over(&self) -> bool;

    /// A sample with everything that is known of it, and a window of its body.
    ///
    /// # Errors
    /// There is no such sample, or its body cannot be read.
    fn sample(&self, asked: &RunSampleDetail) -> Result<RunDetail, Refused>;

    /// The numbers of the samples whose request or response has a text, in any case.
    fn search(&self, text: &str) -> Vec<usize>;

    /// Lets a user go on that stands still.
    ///
    /// # Errors
    /// There is no such pace.
    fn go(&self, order: RunGo) -> Result<(), Refused>;

    /// Replaces the elements before which users stand still.
    fn break_at(&self, elements: BTreeSet<Id>);

    /// The response of a sample.
    ///
    /// # Errors
    /// There is no such sample, or its body cannot be read.
    fn response(&self, number: usize) -> Result<StoredResponse, Refused>;

    /// The texts that an expression finds in the body of a sample.
    ///
    /// # Errors
    /// There is no such sample, or the expression cannot be read.
    fn test(&self, asked: &RunTest) -> Result<Vec<String>, Refused>;
}

/// Called once a run with load is over and its page closed, with the error that ended it if there was one.
pub type LoadListener = Box<dyn Fn(Option<String>) + Send + Sync>;

/// A plan that runs with its load, in a process of its own.
pub trait RunningLoad: Send + Sync {
    /// The URL of its live page.
    fn url(&self) -> &str;

    /// Ends the run and closes the page.
    fn stop(&self);

    /// Whether the run is over and the page closed.
    fn is_over(&self) -> bool;
}

/// The order to record a visit.
#[derive(Debug, Clone)]
pub struct RecordOrder {
    /// The file of the plan.
    pub plan: PathBuf,
    /// The plan.
    pub tree: Tree,
    /// Whether a browser is recorded, instead of what comes through a proxy.
    pub in_browser: bool,
    /// The first page.
    pub url: Option<String>,
    /// Whether the browser has no window.
    pub headless: bool,
    /// Scripts that run in the page.
    pub scripts: Vec<String>,
    /// The settings.
    pub settings: RecordSettings,
}

/// A message of a recording.
#[derive(Debug, Clone)]
pub enum RecordEvent {
    /// A request is new, or more is known of it.
    Row(RecordRow),
    /// A transaction of this name began.
    Named(String),
    /// The recording was paused, or goes on.
    Paused(bool),
    /// Something happened that is not a request.
    Note(String),
    /// The recording is over, with the error that ended it if there was one.
    Ended(Option<String>),
}

/// Receives what a recording tells.
pub type RecordListener = Box<dyn Fn(RecordEvent) + Send + Sync>;

/// A value that a response of a recording holds and a later request sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedVariable {
    /// A name for its variable.
    pub variable: String,
    /// The value.
    pub value: String,
    /// The kind of the extractor.
    pub kind: String,
    /// The expression.
    pub expression: String,
    /// Which of the texts that it finds it yields, from 1.
    pub found: usize,
    /// How many texts it finds.
    pub matches: usize,
    /// The request whose response holds the value, among those that were inserted.
    pub from: usize,
    /// The requests that send it.
    pub used_in: Vec<usize>,
    /// The kind of its proof, as [`RecordProposal`](crate::protocol::record_messages::RecordProposal) names it.
    pub proof: String,
}

/// A recording as elements of a plan.
#[derive(Debug, Clone, Default)]
pub struct RecordedElements {
    /// The elements.
    pub nodes: Vec<Node>,
    /// Why requests were left out, by their numbers.
    pub omitted: BTreeMap<usize, String>,
    /// The same, a line for each reason.
    pub left_out: Vec<String>,
    /// Remarks about what could not be carried over.
    pub notes: Vec<String>,
    /// Values that may become variables.
    pub proposals: Vec<ProposedVariable>,
}

/// A visit that is being recorded, or was.
pub trait RunningRecording: Send + Sync {
    /// The address of the proxy; `None` for a browser.
    fn address(&self) -> Option<String>;

    /// The certificate for HTTPS, and whether it is new; `None` if nothing is decrypted.
    fn certificate(&self) -> Option<(String, bool)>;

    /// Leaves requests out from now on, or records again.
    fn pause(&self, paused: bool);

    /// Begins a transaction of a name.
    fn name(&self, name: &str);

    /// Ends the recording soon.
    fn stop(&self);

    /// The requests of a recording that is over, as elements for the end of an element of a plan, which is found by its indices
    /// among siblings. Variables get names that are not `taken`.
    ///
    /// # Errors
    /// The recording cannot be read, or a file that it sends cannot be written.
    fn elements(
        &self,
        tree: &Tree,
        way: &[usize],
        taken: Vec<String>,
    ) -> Result<RecordedElements, Refused>;

    /// The samplers of those elements, with variables in the places of the values of some proposals, which are given by their number
    /// and a name.
    ///
    /// # Errors
    /// A value cannot become a variable while the others stay.
    fn samplers(&self, variables: &[(usize, String)]) -> Result<Vec<Node>, Refused>;

    /// Tries the proposals against the server, or against the recording of another user, given as HAR. Returns all proposals, with new ones at the
    /// end, and remarks. Takes as long as two visits.
    ///
    /// # Errors
    /// The visit cannot be replayed, or the other recording is of another visit.
    fn verify(&self, with: Option<String>)
    -> Result<(Vec<ProposedVariable>, Vec<String>), Refused>;

    /// Ends [`RunningRecording::verify`] soon.
    fn give_up(&self);

    /// The recording as HAR, once it is over.
    fn har(&self) -> Option<String>;
}

/// The program around the sessions.
pub trait Program: Send + Sync {
    /// The findings of a plan whose text may not be saved yet.
    fn inspect(&self, plan: &Path, tree: &Tree) -> Inspection;

    /// The elements of a text that is no plan: a cURL command, an entry of a recording, a request as it is sent, an API
    /// description.
    ///
    /// # Errors
    /// No importer reads the text.
    fn import(&self, text: &str) -> Result<Vec<Node>, Refused>;

    /// The plan as the last commit of its repository has it; `None` if there is no repository, or the commit lacks the plan.
    fn committed(&self, plan: &Path) -> Option<Vec<u8>>;

    /// The plan as git's index has it, in the form of the working file; `None` if git does not know the plan.
    fn staged(&self, plan: &Path) -> Option<Vec<u8>>;

    /// The common version of a plan with a merge conflict; `None` if git knows of none.
    fn ancestor(&self, plan: &Path) -> Option<Vec<u8>>;

    /// Writes a version of the plan to git's index. The working file stays as it is.
    ///
    /// # Errors
    /// git refuses it.
    fn stage(&self, plan: &Path, bytes: &[u8]) -> Result<(), Refused>;

    /// How values are shown beside those of other versions, with secrets masked.
    fn shown(&self) -> ShownValue;

    /// The page of the editor.
    fn page(&self) -> &str;

    /// A property that the runs of a plan have.
    fn property(&self, plan: &Path, name: &str) -> Option<String>;

    /// The forms of these classes by jars of the user, as `drumfire-jvm` writes them; `None` if no jar has one of them. Takes
    /// seconds.
    fn forms(&self, classes: &[&str]) -> Option<String>;

    /// The extractors that yield a text of a response, with the texts that they yield from all responses of its sampler. `at` is where the
    /// text stands in the body, in bytes, if it was chosen there.
    fn propose(
        &self,
        text: &str,
        at: Option<usize>,
        response: &StoredResponse,
        all: &[StoredResponse],
    ) -> Vec<ProposedExtractor>;

    /// The templates that new plans of a folder can be made from.
    fn templates(&self, folder: &Path) -> Vec<TemplateEntry>;

    /// Makes a plan from a template. `data_file` is the name of the data file beside it.
    ///
    /// # Errors
    /// There is no such template or parameter, or the file of a template of the user cannot be used.
    fn template(
        &self,
        folder: &Path,
        name: &str,
        data_file: &str,
        values: &BTreeMap<String, String>,
    ) -> Result<TemplateMade, Refused>;

    /// Evaluates a text several times for one user, unless that would have an effect or needs Java.
    fn evaluate(&self, order: TrialOrder) -> Trial;

    /// Runs a saved plan with its load.
    ///
    /// # Errors
    /// The plan cannot run.
    fn load(&self, plan: &Path, listener: LoadListener) -> Result<Arc<dyn RunningLoad>, Refused>;

    /// The settings with which a recording into a plan begins.
    fn record_settings(&self, tree: &Tree) -> RecordOffer;

    /// Records a visit.
    ///
    /// # Errors
    /// The proxy cannot listen, or there is no browser.
    fn record(
        &self,
        order: RecordOrder,
        listener: RecordListener,
    ) -> Result<Arc<dyn RunningRecording>, Refused>;

    /// Runs a part of a plan.
    ///
    /// # Errors
    /// The part cannot run.
    fn run(
        &self,
        order: PartOrder,
        listener: PartListener,
    ) -> Result<Arc<dyn RunningPart>, Refused>;
}
