//! The elements and scripts of a plan that Java runs.

use std::path::PathBuf;

use drumfire_expr::Template;

use crate::run::action::OnError;

/// The role in which an element is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JavaRole {
    PreProcessor,
    Sampler,
    PostProcessor,
    Assertion,
    Timer,
    Listener,
}

/// One call of an element.
#[derive(Clone, Copy, Debug)]
pub struct JavaCall {
    /// The element's place in [`JavaPlan::elements`].
    pub element: u32,
    pub role: JavaRole,
    /// Whether it may read the result at hand, the previous result or the sampler.
    pub wants_result: bool,
    /// Whether the host is to report if the call has waited, which costs a microsecond (`Visit::has_waited`).
    pub watches_waits: bool,
}

/// Something that happens to a user's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JavaEvent {
    /// `ThreadListener#threadStarted`.
    ThreadStarted,
    /// `ThreadListener#threadFinished`.
    ThreadFinished,
    /// `TestIterationListener#testIterationStart`, with the iteration from 1.
    ThreadIteration(u32),
    /// `LoopIterationListener#iterationStart`, with the controller's count.
    LoopIteration(i32),
}

/// A question to a controller (`Controller`, `IteratingController`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// `next`: the number of a step (`Step::code`), or [`NOTHING`].
    Next,
    /// `initialize`.
    Initialize,
    /// `isDone`: 1 if it is.
    IsDone,
    /// `triggerEndOfLoop`.
    EndOfLoop,
    /// `LoopIterationListener#iterationStart`, with the count of the controller above, which is a Loop Controller or not.
    Iteration { count: i32, of_loop: bool },
    /// `startNextLoop`.
    StartNextLoop,
    /// `breakLoop`.
    BreakLoop,
}

/// A user that the Java object of a thread group starts.
pub struct JavaUser {
    pub thread_name: String,
    /// From 0.
    pub number: u32,
    /// When its time is over, in milliseconds since the epoch.
    pub end_ms: Option<i64>,
    pub on_error: OnError,
    pub same_user: bool,
    /// Dropped when the user has ended.
    pub ended: Box<dyn Send>,
}

/// The answer to [`Ask::Next`] that there is nothing left.
pub const NOTHING: i32 = -1;

/// The parts of a plan that Java runs.
#[derive(Default)]
pub struct JavaPlan {
    pub elements: Vec<JavaSource>,
    /// The thread groups without their children, in their order, for scripts that read them.
    pub groups: Vec<drumfire_jmx::Element>,
    /// Texts of those elements that have variables or functions in them.
    pub templates: Vec<Template>,
    /// A function or a condition has a script in it.
    pub has_scripts: bool,
    /// One of these scripts may block or run for long. Functions run on their user's worker, so the run starts more workers.
    pub has_blocking_functions: bool,
    /// `TestPlan.user_define_classpath`.
    pub classpath: Vec<PathBuf>,
}

impl JavaPlan {
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty() && !self.has_scripts
    }
}

/// One element.
pub struct JavaSource {
    /// The element's id in the tree.
    pub id: usize,
    pub class: String,
    pub name: String,
    /// As a plan file has it, with [`TEMPLATE_MARK`] and a number in the place of each text in [`JavaPlan::templates`].
    pub element: drumfire_jmx::Element,
    /// The elements that are merged into it if it is a sampler, by their places, the nearest first.
    pub configs: Vec<u32>,
}

/// Precedes the number of a template.
pub const TEMPLATE_MARK: char = '\u{E0D7}';

/// The roles that a class can have in a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassRoles {
    pub sampler: bool,
    pub config: bool,
    pub pre: bool,
    pub post: bool,
    pub assertion: bool,
    pub timer: bool,
    pub listener: bool,
    pub controller: bool,
    pub thread_group: bool,
    /// It writes results as `ResultCollector` does.
    pub result_collector: bool,
    /// It is notified of iterations of its controller.
    pub iterations: bool,
    /// It is an `IteratingController`.
    pub iterating: bool,
    /// It is no element, but a `BackendListenerClient`.
    pub backend_client: bool,
    /// It is a thread group whose own methods choose the next sampler.
    pub walks_itself: bool,
}
