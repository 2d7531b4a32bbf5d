//! **Program**: what will run. Shared by all workers, never changed.

use std::path::PathBuf;
use std::sync::Arc;

use drumfire_expr::{Slot, Template, VarNames, Vars};
use drumfire_results::{OutputSet, OutputSpec};

use crate::elements::samplers::Sampler;
use crate::elements::samplers::listing::Listing;
use crate::run::action::FailureAction;
use crate::run::action::OnError;
use crate::run::java::JavaPlan;
use crate::run::roles::AssertionRole;
use crate::run::roles::ListenerRole;
use crate::run::roles::PostProcessorRole;
use crate::run::roles::PreProcessorRole;
use crate::run::roles::Preparation;
use crate::run::roles::ThreadIterationListener;
use crate::run::roles::TimeLimit;
use crate::run::roles::TimerRole;
use crate::run::schedule::Shape;
use crate::run::settings::Settings;
use crate::run::walk::{Controller, ControllerId};

/// A backend listener of a plan: what is needed to start it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackendSpec {
    /// The element's name.
    pub name: String,
    /// The simple name of the client's class.
    pub class: String,
    /// Names and values of its parameters, in their order.
    pub arguments: Vec<(String, String)>,
}

/// A compiled plan.
pub struct Program {
    /// The file's name.
    pub script: String,
    pub base_dir: PathBuf,
    pub names: Arc<VarNames>,
    /// Values of the plan's user defined variables, by name, as every user starts with them.
    pub variables: Vec<(String, String)>,
    pub groups: Vec<Group>,
    /// Result files in the order of their numbers; the command line's comes last.
    pub outputs: Vec<OutputSpec>,
    /// Names of the summarisers, in the order of their numbers.
    pub summarisers: Vec<String>,
    /// Backend listeners, in the order of their numbers.
    pub backends: Vec<BackendSpec>,
    /// One thread group after the other (`TestPlan.serialize_threadgroups`).
    pub serialized: bool,
    /// tearDown groups run after a shutdown, too (`TestPlan.tearDown_on_shutdown`).
    pub tear_down_on_shutdown: bool,
    pub state_count: u32,
    /// Slots of the variables that result files show (`sample_variables`).
    pub sample_variables: Vec<Slot>,
    /// Whether anything reads the previous sample of a user (`__regexFunction`, `__XPath` …).
    pub keeps_previous: bool,
    /// Whether anything asks for the name of the sampler at hand.
    pub reads_sampler_name: bool,
    /// What Java runs.
    pub java: JavaPlan,
    /// Work before the first user.
    pub preparations: Vec<Arc<dyn Preparation>>,
    pub settings: Arc<Settings>,
}

impl Program {
    /// The variables a new user starts with.
    pub fn initial_vars(&self) -> Vars {
        let mut vars = Vars::new(self.names.clone());
        for (name, value) in &self.variables {
            vars.set_named(name, value.as_str().into());
        }
        vars
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupKind {
    SetUp,
    Main,
    TearDown,
}

impl GroupKind {
    /// All thread groups of the kind, in a few words.
    pub fn title(self) -> &'static str {
        match self {
            GroupKind::SetUp => "setUp thread groups",
            GroupKind::Main => "thread groups",
            GroupKind::TearDown => "tearDown thread groups",
        }
    }
}

/// A thread group's settings, as they are when it starts.
#[derive(Debug)]
pub struct GroupStart {
    pub name: String,
    pub shape: Shape,
    pub on_error: OnError,
    pub same_user: bool,
}

/// Settings of a thread group that are read again when it starts.
pub trait LateSettings: Send + Sync {
    /// The settings as they are now; `None` where the group cannot be read any longer.
    fn read(&self, program: &Program) -> Option<GroupStart>;

    /// Properties with functions whose values groups that run before this one may change: names and texts.
    fn unsettled(&self) -> &[(String, String)];
}

/// A compiled thread group.
pub struct Group {
    pub kind: GroupKind,
    pub name: String,
    pub path: Vec<String>,
    pub class: &'static str,
    pub shape: Shape,
    /// Iterations per user: -1 is forever; absent when it is only known at run time.
    pub loops: Option<i32>,
    /// Between the group's name and its number in the names of threads.
    pub thread_name_suffix: &'static str,
    pub on_error: OnError,
    pub same_user: bool,
    /// Where settings above may be others when the group starts.
    pub late: Option<Box<dyn LateSettings>>,
    /// The group's own loop controller is number 0.
    pub controllers: Vec<Controller>,
    pub samplers: Vec<Package>,
    /// Assertions and listeners of each controller that is a transaction, by controller.
    pub transactions: Vec<Option<TransactionPackage>>,
    pub iteration_listeners: Vec<Arc<dyn ThreadIterationListener>>,
    /// Elements that Java runs, in the order of the tree.
    pub java: Vec<u32>,
    /// Sample Timeouts, which apply to all samplers of the group.
    pub time_limits: Vec<Arc<dyn TimeLimit>>,
}

/// A sampler and all that is in its scope (`SamplePackage`).
pub struct Package {
    pub name: Template,
    /// The sampler's class in JMeter, with its package.
    pub class: Box<str>,
    /// Its properties, where the plan has something that lists them.
    pub listing: Option<Listing>,
    pub sampler: Sampler,
    pub pre: Vec<Arc<dyn PreProcessorRole>>,
    pub timers: Vec<Arc<dyn TimerRole>>,
    pub post: Vec<Arc<dyn PostProcessorRole>>,
    pub assertions: Vec<Arc<dyn AssertionRole>>,
    pub reach: Reach,
    /// Listeners that are left when the sample is part of a transaction with a parent sample (`JMeterThread#getSampleListeners`).
    pub reach_in_transaction: Reach,
    /// Controllers from the nearest one up to the thread group's.
    pub ancestors: Vec<ControllerId>,
}

/// Where samples go.
#[derive(Clone, Default)]
pub struct Reach {
    /// Listeners with code of their own, in order.
    pub told: Vec<Told>,
    /// Result files of the listeners after them.
    pub outputs: OutputSet,
    /// Whether the plan's root listens: then the sample counts in the run's statistics.
    pub is_heard: bool,
    /// What is to be done when the sample failed, in order.
    pub on_failure: Vec<FailureAction>,
}

/// One listener with code of its own, and the result files of the listeners before it: they do not show what it changes.
#[derive(Clone)]
pub struct Told {
    pub before: OutputSet,
    pub listener: Arc<dyn ListenerRole>,
}

pub struct TransactionPackage {
    pub assertions: Vec<Arc<dyn AssertionRole>>,
    pub reach: Reach,
}
