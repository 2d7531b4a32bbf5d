//! Plan elements, one file each, and the roles they play.

mod arguments;
pub mod assertions;
pub mod config;
pub mod controllers;
pub mod java;
pub mod jdbc;
pub mod listeners;
pub mod post;
pub mod pre;
pub mod samplers;
pub mod thread_groups;
pub mod timers;

mod catalogue;
mod statics;
mod thread_end;
mod xpath2_query;

use std::pin::Pin;
use std::sync::Arc;

use drumfire_results::{AssertionResult, Sample};

pub use catalogue::{Entry, Role, Rung, UNKNOWN_CLASS, decode, entries, entry, is_thread_group};
pub use statics::Statics;

pub use arguments::Assignments;
pub use thread_end::test_failed;

use crate::elements::samplers::Sampler;
use crate::run::context::Context;
use crate::run::program::{FailureAction, Needs};
use crate::run::walk::Kind;

/// What a user does after a sample (`JMeterContext.TestLogicalAction`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Action {
    #[default]
    Continue,
    NextThreadIteration,
    NextLoopIteration,
    BreakLoop,
}

/// Runs before the sampler.
pub trait PreProcessor: Send + Sync {
    fn process(&self, cx: &mut Context);
    /// A statement for a database, which is waited for instead.
    fn statement(&self) -> Option<&jdbc::JdbcStatement> {
        None
    }
    /// Java code, when its next call may hold up the thread: then that call is made on another one.
    fn apart(&self) -> Option<&java::JavaElement> {
        None
    }
    /// A queue of which a value is waited for instead.
    fn queue(&self) -> Option<&pre::FifoPop> {
        None
    }
}

/// Runs after the sampler, before the assertions.
pub trait PostProcessor: Send + Sync {
    /// `sample` is the sampler's result, with what [`PostProcessor::needs`] asked for.
    fn process(&self, cx: &mut Context, sample: &mut Sample);
    /// A statement for a database, which is waited for instead.
    fn statement(&self) -> Option<&jdbc::JdbcStatement> {
        None
    }
    /// Java code, when its next call may hold up the thread: then that call is made on another one.
    fn apart(&self) -> Option<&java::JavaElement> {
        None
    }
    /// What it reads of a result.
    fn needs(&self) -> Needs;
}

/// Which results of a sample an element looks at (`AbstractScopedTestElement`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The main result only.
    Parent,
    /// The main result and its sub-results.
    All,
    /// The sub-results only.
    Children,
    /// A variable instead.
    Variable(String),
    /// Nothing at all: a scope JMeter does not know.
    Nothing,
}

/// Judges a sample.
pub trait Assertion: Send + Sync {
    /// May declare a failed sample good (`ResponseAssertion`); does not add its own verdict.
    fn check(&self, cx: &mut Context, sample: &mut Sample) -> AssertionResult;
    /// Java code, when its next call may hold up the thread: then that call is made on another one.
    fn apart(&self) -> Option<&java::JavaElement> {
        None
    }
    /// Whose results the assertion is applied to; `Parent` for those that have no such setting.
    fn scope(&self) -> &Scope {
        &Scope::Parent
    }
    /// The name in the XML row JMeter adds when only a sub-result failed.
    fn name(&self, cx: &mut Context) -> String;
    fn needs(&self) -> Needs;
}

/// Delays the sampler.
pub trait Timer: Send + Sync {
    /// Milliseconds to wait.
    fn delay_ms(&self, cx: &mut Context) -> i64;
    /// Java code, when its next call may hold up the thread: then that call is made on another one.
    fn apart(&self) -> Option<&java::JavaElement> {
        None
    }
    /// The wait of a timer that lets users wait for each other, after which the next timer is asked.
    fn meet<'t>(&'t self, _cx: &'t mut Context) -> Option<Pin<Box<dyn Future<Output = ()> + 't>>> {
        None
    }
    /// Whether `timer.factor` applies (`Timer#isModifiable`).
    fn is_modifiable(&self) -> bool {
        false
    }
}

/// Is told when an iteration of its nearest controller starts (`LoopIterationListener`).
pub trait IterationListener: Send + Sync {
    /// `iteration` is that controller's count (`LoopIterationEvent#getIteration`).
    fn iteration_start(&self, cx: &mut Context, iteration: i32);
    /// A data set on a server, whose next row is waited for instead.
    fn remote(&self) -> Option<&config::RedisDataSet> {
        None
    }
}

/// Is told when an iteration of the thread group starts (`TestIterationListener`).
pub trait ThreadIterationListener: Send + Sync {
    fn thread_iteration_start(&self, cx: &mut Context);
}

/// Is told of samples once they are judged (`SampleListener`), and may change them for the listeners after it.
pub trait SampleListener: Send + Sync {
    fn sample_occurred(&self, cx: &mut Context, sample: &mut Sample);
    /// Java code, when its next call may hold up the thread: then that call is made on another one.
    fn apart(&self) -> Option<&java::JavaElement> {
        None
    }
    /// What it reads of a result.
    fn needs(&self) -> Needs;
}

/// Where samples of its scope go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listener {
    /// A result file, by its number.
    Output(u16),
    /// A summariser, by its number.
    Summariser(u16),
    /// Code that is told of samples, by its number.
    Told(u16),
    /// Acts when the sample failed (`ResultAction`); the number tells its element from others.
    OnFailure(usize, FailureAction),
}

/// What one element of the plan is, once decoded. An element may play several roles.
#[derive(Default)]
pub struct Roles {
    pub controller: Option<Kind>,
    pub sampler: Option<Sampler>,
    pub pre: Option<Arc<dyn PreProcessor>>,
    pub post: Option<Arc<dyn PostProcessor>>,
    pub assertion: Option<Arc<dyn Assertion>>,
    pub timer: Option<Arc<dyn Timer>>,
    pub each_iteration: Option<Arc<dyn IterationListener>>,
    pub each_thread_iteration: Option<Arc<dyn ThreadIterationListener>>,
    pub listener: Option<Listener>,
    /// The element's place among those that Java runs.
    pub java: Option<u32>,
    /// Breaks off samples of the whole thread group.
    pub time_limit: Option<Arc<pre::SampleTimeout>>,
}

impl Roles {
    pub fn controller(kind: Kind) -> Roles {
        Roles {
            controller: Some(kind),
            ..Roles::default()
        }
    }
    pub fn sampler(sampler: Sampler) -> Roles {
        Roles {
            sampler: Some(sampler),
            ..Roles::default()
        }
    }
    pub fn pre(pre: impl PreProcessor + 'static) -> Roles {
        Roles {
            pre: Some(Arc::new(pre)),
            ..Roles::default()
        }
    }
    pub fn post(post: impl PostProcessor + 'static) -> Roles {
        Roles {
            post: Some(Arc::new(post)),
            ..Roles::default()
        }
    }
    pub fn assertion(assertion: impl Assertion + 'static) -> Roles {
        Roles {
            assertion: Some(Arc::new(assertion)),
            ..Roles::default()
        }
    }
    pub fn timer(timer: impl Timer + 'static) -> Roles {
        Roles {
            timer: Some(Arc::new(timer)),
            ..Roles::default()
        }
    }
    pub fn each_iteration(listener: impl IterationListener + 'static) -> Roles {
        Roles {
            each_iteration: Some(Arc::new(listener)),
            ..Roles::default()
        }
    }
}
