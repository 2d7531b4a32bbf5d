//! **Program**: the facts of a plan that are known before it runs, except its elements, which are in
//! [`journey`](super::journey). Shared by all workers, never changed.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use drumfire_expr::{Slot, VarNames, Vars};
use drumfire_results::{CollectorSet, OutputSpec, SampleQueue};

use crate::run::action::OnError;
use crate::run::fleet::MoveKind;
use crate::run::java::plan::JavaPlan;
use crate::run::schedule::Shape;
use crate::run::settings::RunSettings;
use crate::run::slots::OpenSlot;

/// The data needed to start a backend listener of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackendSpec {
    /// The element's name.
    pub name: String,
    /// The simple name of the client's class.
    pub class: String,
    /// Names and values of its parameters, in their order.
    pub arguments: Vec<(String, String)>,
    /// The samples of its scope, if it needs each of them.
    pub samples: Option<SampleQueue>,
}

/// Metrics of the target that an element of the plan asks for beside the load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MonitorSpec {
    /// A ServerAgent.
    Agent {
        /// Its host.
        host: String,
        /// Its port, as the plan has it.
        port: String,
    },
    /// Numbers that commands print on another machine.
    Ssh(Box<SshMonitorSpec>),
}

/// A row of an SSHMon Samples Collector.
#[derive(Clone, PartialEq, Eq)]
pub struct SshMonitorSpec {
    /// The name of the curve.
    pub label: String,
    /// The machine.
    pub host: String,
    /// The port of its SSH server.
    pub port: u16,
    /// The user's name there; empty for the one in the SSH configuration.
    pub user: String,
    /// A private key as PEM, or empty.
    pub private_key: String,
    /// The user's password, or that of the key; may be empty.
    pub password: String,
    /// The command, which prints one number.
    pub command: String,
    /// The curve shows differences between successive numbers.
    pub is_delta: bool,
    /// How connections are made.
    pub settings: SshSettings,
}

impl std::fmt::Debug for SshMonitorSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Without its secrets.
        write!(f, "{} on {}@{}", self.label, self.user, self.host)
    }
}

/// The properties `jmeter.sshmon.*`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SshSettings {
    /// Milliseconds between two numbers.
    pub interval_ms: u64,
    /// Milliseconds that a command may take.
    pub command_timeout_ms: u64,
    /// A file of host keys. Without it, the keys of hosts are not checked.
    pub known_hosts: Option<PathBuf>,
    /// A configuration for SSH, such as one with jump hosts.
    pub config: Option<PathBuf>,
    /// The password of the keys that the configuration names.
    pub identity_password: String,
    /// The language whose numbers the commands print, such as `de`.
    pub language: String,
}

/// The facts of a compiled plan.
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
    /// The collectors of Prometheus Listeners.
    pub collectors: Vec<Arc<Mutex<CollectorSet>>>,
    /// Metrics of the target, each once.
    pub monitors: Vec<MonitorSpec>,
    /// One thread group after the other (`TestPlan.serialize_threadgroups`).
    pub serialized: bool,
    /// tearDown groups run after a shutdown, too (`TestPlan.tearDown_on_shutdown`).
    pub tear_down_on_shutdown: bool,
    pub state_count: u32,
    /// Slots of the variables that result files show (`sample_variables`).
    pub sample_variables: Vec<Slot>,
    /// Whether anything reads the previous sample of a user (`__regexFunction`, `__XPath` …).
    pub keeps_previous: bool,
    /// Whether the plan has throughput timers.
    pub has_rates: bool,
    /// JMeter 6 saved the plan: schedules of arrivals start with their thread group instead of the run.
    pub follows_jmeter6: bool,
    /// Whether users wait for each other in the middle of functions.
    pub waits_in_functions: bool,
    /// The parts that Java runs.
    pub java: JavaPlan,
    pub settings: Arc<RunSettings>,
    /// Opens the slot of a run in which samplers store their shared state.
    pub open_slot: OpenSlot,
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

    /// Names and texts of properties with functions whose values may change while earlier groups run.
    fn unsettled(&self) -> &[(String, String)];
}

/// A thread group, without the controllers and samplers of its users.
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
    /// Its index among the elements that Java runs, if its Java object starts the users.
    pub java: Option<u32>,
    /// Set if settings above may differ when the group starts.
    pub late: Option<Box<dyn LateSettings>>,
    /// Whether there is an enabled sampler in it.
    pub has_samplers: bool,
}

impl Group {
    /// Whether users that have begun go on, with the same number, on another machine: those that have a time, and those that have
    /// a number of loops only if they would end here.
    pub fn moves_users(&self, kind: MoveKind) -> bool {
        let is_gone = matches!(kind, MoveKind::Leave | MoveKind::Inherit);
        self.kind == GroupKind::Main
            && (is_gone || self.loops == Some(-1))
            && matches!(self.shape, Shape::Ramp(_) | Shape::Windows(_))
    }
}
