//! The program of a plan's users: controllers, samplers, and the elements in their scope. Shared by all workers, never
//! changed.

use std::sync::Arc;

use drumfire_expr::Template;
use drumfire_results::OutputSet;

use crate::run::action::FailureAction;
use crate::run::controllers::Controller;
use crate::run::debug::ElementPlace;
use crate::run::program::Program;
use crate::run::roles::{
    AssertionRole, ListenerRole, PostProcessorRole, PreProcessor, PreProcessorRole, Preparation,
    ThreadIterationListener, TimerRole,
};
use crate::run::sampler::{Sampler, Samplers, SeenSampler};
use crate::run::step::{ControllerId, SamplerId};

/// A plan that can be run.
pub struct BoundPlan {
    pub program: Arc<Program>,
    /// One for each of the program's thread groups.
    pub journeys: Vec<Journey>,
    /// Work before the first user.
    pub preparations: Vec<Arc<dyn Preparation>>,
}

/// The program of each user of a thread group: its controllers and samplers.
pub struct Journey {
    /// The group's own loop controller is number 0.
    pub controllers: Vec<Controller>,
    pub samplers: Vec<Package>,
    /// Assertions and listeners of each controller that is a transaction, by controller.
    pub transactions: Vec<Option<TransactionPackage>>,
    pub iteration_listeners: Vec<Arc<dyn ThreadIterationListener>>,
    /// Elements that Java runs, in the order of the tree.
    pub java: Vec<u32>,
    /// Sample Timeouts, which apply to all samplers of the group.
    pub time_limits: Vec<Arc<dyn PreProcessor>>,
}

/// A sampler and all that is in its scope (`SamplePackage`).
pub struct Package {
    pub name: Template,
    /// The sampler's class in JMeter, with its package.
    pub class: Box<str>,
    /// Its place in the plan, for a debugger.
    pub place: Option<Box<ElementPlace>>,
    /// Its properties, if an element of the plan lists them.
    pub listing: Vec<(String, Template)>,
    pub sampler: Sampled,
    pub pre: Vec<Arc<dyn PreProcessorRole>>,
    pub timers: Vec<Arc<dyn TimerRole>>,
    /// Their names, in the same order.
    pub timer_names: Box<[Arc<str>]>,
    pub post: Vec<Arc<dyn PostProcessorRole>>,
    pub assertions: Vec<Arc<dyn AssertionRole>>,
    pub reach: SampleTargets,
    /// The targets if the sample is part of a transaction with a parent sample (`JMeterThread#getSampleListeners`).
    pub reach_in_transaction: SampleTargets,
    /// Controllers from the nearest one up to the thread group's.
    pub ancestors: Vec<ControllerId>,
}

/// The source of a package's samples.
pub enum Sampled {
    Element(Box<dyn Sampler>),
    Parallel(Parallel),
}

/// A Parallel Controller (`com.blazemeter.jmeter.controller.ParallelSampler`), which runs its children all at once.
pub struct Parallel {
    /// A loop of one iteration around each child.
    pub branches: Vec<ControllerId>,
    /// One sample contains those of the children, which then have no rows of their own.
    pub generates_parent: bool,
    /// How many children may run at the same time.
    pub limit: usize,
}

impl Sampled {
    /// The element, unless it is a Parallel Controller.
    pub fn element(&self) -> Option<&dyn Sampler> {
        match self {
            Sampled::Element(sampler) => Some(&**sampler),
            Sampled::Parallel(_) => None,
        }
    }
}

impl Samplers for Arc<BoundPlan> {
    fn find(&self, group: usize, sampler: SamplerId) -> Option<SeenSampler<'_>> {
        let package = self.journeys.get(group)?.samplers.get(sampler as usize)?;
        Some(SeenSampler {
            class: &package.class,
            name: &package.name,
            sampler: package.sampler.element(),
            listing: &package.listing,
        })
    }
}

/// Where samples go.
#[derive(Clone, Default)]
pub struct SampleTargets {
    /// Listeners that run code for each sample, in order.
    pub told: Vec<ToldListener>,
    /// Result files of the listeners after them.
    pub outputs: OutputSet,
    /// Whether the plan's root listens: then the sample counts in the run's statistics.
    pub is_heard: bool,
    /// The actions after a failed sample, in order.
    pub on_failure: Vec<FailureAction>,
}

/// A listener that runs code for each sample, and the result files of the listeners before it, which do not show its changes.
#[derive(Clone)]
pub struct ToldListener {
    pub before: OutputSet,
    pub listener: Arc<dyn ListenerRole>,
}

pub struct TransactionPackage {
    pub assertions: Vec<Arc<dyn AssertionRole>>,
    pub reach: SampleTargets,
}
