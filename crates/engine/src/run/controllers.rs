//! The controllers of a thread group, as all its users share them. How a user walks through them is in `walk/`.

use std::sync::Arc;

use drumfire_expr::{Slot, Template};

use crate::run::assignments::Assignments;
use crate::run::property::{Flag, WholeNumber};
use crate::run::roles::{Driver, IterationListener, PreProcessorRole};
use crate::run::step::{Child, ControllerId};

/// One controller of a compiled thread group.
pub struct Controller {
    pub name: Template,
    pub kind: ControllerKind,
    /// The controller above; `None` for the thread group's own.
    pub parent: Option<ControllerId>,
    pub children: Box<[Child]>,
    /// The listeners to notify when an iteration of this controller starts, in their order.
    pub listeners: Vec<Hook>,
    /// The slot of the variable `__jm__<name>__idx` (`IteratingController#updateIterationIndex`).
    pub index_variable: Option<Slot>,
}

#[derive(Clone)]
pub enum Hook {
    /// The thread's own listener: a new iteration of the thread group starts (`JMeterThread.IterationListener`).
    Thread,
    Controller(ControllerId),
    Element(Arc<dyn IterationListener>),
    /// A data source. The walk pauses until it has provided the next row.
    Rows(Arc<dyn PreProcessorRole>),
}

pub enum ControllerKind {
    Simple,
    Loop {
        loops: Template,
        forever: bool,
    },
    While {
        condition: Template,
    },
    If {
        condition: Template,
        every_child: Flag,
        /// Otherwise the condition is JavaScript.
        is_expression: Flag,
    },
    OnceOnly,
    Transaction {
        parent: bool,
        include_timers: bool,
    },
    ForEach(Box<ForEach>),
    Interleave {
        whole_children: bool,
        across_threads: bool,
        random: bool,
    },
    RandomOrder,
    Switch {
        value: Template,
    },
    Weighted(Weights),
    Throughput(Box<Throughput>),
    Runtime {
        seconds: Template,
    },
    Critical {
        lock: Template,
    },
    /// Sets variables whenever it is asked for the next sampler.
    Parameterized(Box<Assignments>),
    /// Drives the users of Concurrency and Arrivals Thread Groups.
    VirtualUser(Box<VirtualUser>),
    /// Drives the users of an Open Model Thread Group (`OpenModelThreadGroupController`).
    OneIteration,
    /// A Java object decides which child is next.
    Driven(JavaController),
}

/// A controller of a class that the engine does not know.
#[derive(Clone)]
pub struct JavaController {
    pub driver: Arc<dyn Driver>,
    /// It is an `IteratingController`, which a user may break or start anew.
    pub iterates: bool,
    /// It is notified when the controller above it starts an iteration.
    pub listens: bool,
}

/// `VirtualUserController` of the dynamic thread groups.
pub struct VirtualUser {
    /// Iterations per user; 0 is no limit.
    pub iterations: Template,
    /// Each iteration is an arrival, after which the user waits for the next one.
    pub arrives: bool,
}

pub struct ForEach {
    pub input: Template,
    pub output: Template,
    pub start: Option<Template>,
    pub end: Option<Template>,
    pub separator: &'static str,
}

pub struct Throughput {
    /// 0 is a number of executions, 1 a percentage.
    pub style: WholeNumber,
    pub per_thread: Flag,
    pub max: Template,
    pub share: Template,
    /// Executions and iterations of all threads together: (executions, iterations).
    pub shared: std::sync::Mutex<(i32, i32)>,
}

/// The table of a Weighted Switch Controller.
pub struct Weights {
    /// The weights of the rows that are enabled.
    pub enabled: Vec<Template>,
    /// `IsRandomChoice`.
    pub is_random: bool,
}

impl Controller {
    /// Whether this is a Transaction Controller whose time includes timers and processing.
    pub fn includes_timers(&self) -> bool {
        matches!(
            self.kind,
            ControllerKind::Transaction {
                include_timers: true,
                ..
            }
        )
    }
}
