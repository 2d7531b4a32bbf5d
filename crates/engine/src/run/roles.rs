//! The roles of elements in a run.
//!
//! The run calls an element by its role and gets an [`Act`]: the turn is done, or there is a future to wait for. Most
//! elements never wait. They implement the plain trait of their role ([`PreProcessor`], [`Assertion`] …), which gives
//! them the role.

use std::pin::Pin;

use drumfire_expr::{Scope, Template};
use drumfire_results::{AssertionResult, Sample};

use crate::run::context::Context;
use crate::run::java::plan::Ask;
use crate::run::java::visit::ControllerChildren;
use crate::run::needs::Needs;
use crate::run::view::{
    AssertionView, ListenerView, PostProcessorView, PreProcessorView, TimerView,
};

/// The turn of an element: done, or a future to wait for.
#[must_use]
pub enum Act<'a, T = ()> {
    Done(T),
    Wait(Pin<Box<dyn Future<Output = T> + 'a>>),
}

impl<'a, T> Act<'a, T> {
    pub fn wait(work: impl Future<Output = T> + 'a) -> Act<'a, T> {
        Act::Wait(Box::pin(work))
    }

    /// Waits where there is something to wait for.
    pub async fn finish(self) -> T {
        match self {
            Act::Done(outcome) => outcome,
            Act::Wait(work) => work.await,
        }
    }
}

/// Drives a controller from outside of the walk.
pub trait Driver: Send + Sync {
    /// Asks the controller, and returns its answer. An exception ends the user, and the answer then is `NOTHING`.
    fn ask(&self, cx: &mut Context, below: &mut dyn ControllerChildren, ask: Ask) -> i32;
}

/// Runs before the sampler; also provides a row when an iteration of its nearest controller starts. The user waits for it.
pub trait PreProcessorRole: Send + Sync {
    fn turn<'a>(&'a self, cx: &'a mut PreProcessorView) -> Act<'a>;
}

/// A pre-processor that never waits.
pub trait PreProcessor: Send + Sync {
    fn process(&self, cx: &mut PreProcessorView);
}

impl<T: PreProcessor> PreProcessorRole for T {
    fn turn<'a>(&'a self, cx: &'a mut PreProcessorView) -> Act<'a> {
        self.process(cx);
        Act::Done(())
    }
}

/// Runs after the sampler, before the assertions.
pub trait PostProcessorRole: Send + Sync {
    /// `sample` is the sampler's result, with the parts that [`PostProcessorRole::reads`] names.
    fn turn<'a>(&'a self, cx: &'a mut PostProcessorView, sample: &'a mut Sample) -> Act<'a>;
    /// The parts of a result that it reads.
    fn reads(&self) -> Needs;
}

/// A post-processor that never waits.
pub trait PostProcessor: Send + Sync {
    /// `sample` is the sampler's result, with the parts that [`PostProcessor::needs`] names.
    fn process(&self, cx: &mut PostProcessorView, sample: &mut Sample);
    /// The parts of a result that it reads.
    fn needs(&self) -> Needs;
}

impl<T: PostProcessor> PostProcessorRole for T {
    fn turn<'a>(&'a self, cx: &'a mut PostProcessorView, sample: &'a mut Sample) -> Act<'a> {
        self.process(cx, sample);
        Act::Done(())
    }

    fn reads(&self) -> Needs {
        self.needs()
    }
}

/// The results of a sample that an element reads (`AbstractScopedTestElement`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultScope {
    /// The main result only.
    Parent,
    /// The main result and its sub-results.
    All,
    /// The sub-results only.
    Children,
    /// A variable instead.
    Variable,
    /// Nothing at all: a scope JMeter does not know.
    Nothing,
}

/// Judges a sample.
pub trait AssertionRole: Send + Sync {
    /// May declare a failed sample good (`ResponseAssertion`); does not add its own verdict.
    fn turn<'a>(
        &'a self,
        cx: &'a mut AssertionView,
        sample: &'a mut Sample,
    ) -> Act<'a, AssertionResult>;
    /// The results that it judges; `Parent` for assertions that have no such setting.
    fn applies_to(&self, _cx: &mut AssertionView) -> ResultScope {
        ResultScope::Parent
    }
    /// The name in the XML row JMeter adds when only a sub-result failed.
    fn row_name(&self) -> &Template;
    /// The parts of a result that it reads: the body, for most.
    fn reads(&self) -> Needs {
        Needs::BODY
    }
}

/// An assertion that never waits.
pub trait Assertion: Send + Sync {
    /// May declare a failed sample good (`ResponseAssertion`); does not add its own verdict.
    fn check(&self, cx: &mut AssertionView, sample: &mut Sample) -> AssertionResult;
    /// The results that it judges; `Parent` for assertions that have no such setting.
    fn scope(&self, _cx: &mut AssertionView) -> ResultScope {
        ResultScope::Parent
    }
    /// The name in the XML row JMeter adds when only a sub-result failed.
    fn name(&self) -> &Template;
    /// The parts of a result that it reads: the body, for most.
    fn needs(&self) -> Needs {
        Needs::BODY
    }
}

impl<T: Assertion> AssertionRole for T {
    fn turn<'a>(
        &'a self,
        cx: &'a mut AssertionView,
        sample: &'a mut Sample,
    ) -> Act<'a, AssertionResult> {
        Act::Done(self.check(cx, sample))
    }

    fn applies_to(&self, cx: &mut AssertionView) -> ResultScope {
        self.scope(cx)
    }

    fn row_name(&self) -> &Template {
        self.name()
    }

    fn reads(&self) -> Needs {
        self.needs()
    }
}

/// Delays the sampler.
pub trait TimerRole: Send + Sync {
    /// Milliseconds to wait before the sampler. Timers that synchronize users wait in this call instead.
    fn turn<'a>(&'a self, cx: &'a mut TimerView) -> Act<'a, i64>;
    /// Whether `timer.factor` applies (`Timer#isModifiable`).
    fn has_factor(&self) -> bool {
        false
    }
}

/// A timer that computes its delay at once, of what texts and functions see of a user.
pub trait Timer: Send + Sync {
    /// Milliseconds to wait.
    fn delay_ms(&self, cx: &mut dyn Scope) -> i64;
    /// Whether `timer.factor` applies (`Timer#isModifiable`).
    fn is_modifiable(&self) -> bool {
        false
    }
}

impl<T: Timer> TimerRole for T {
    fn turn<'a>(&'a self, cx: &'a mut TimerView) -> Act<'a, i64> {
        Act::Done(self.delay_ms(cx))
    }

    fn has_factor(&self) -> bool {
        self.is_modifiable()
    }
}

/// Is notified when an iteration of its nearest controller starts (`LoopIterationListener`).
pub trait IterationListener: Send + Sync {
    /// `iteration` is that controller's count (`LoopIterationEvent#getIteration`).
    fn iteration_start(&self, cx: &mut PreProcessorView, iteration: i32);
}

/// Is notified when an iteration of the thread group starts (`TestIterationListener`).
pub trait ThreadIterationListener: Send + Sync {
    fn thread_iteration_start(&self, cx: &mut Context);
}

/// Work before the first user, on the first worker.
pub trait Preparation: Send + Sync {
    fn prepare(&self) -> Pin<Box<dyn Future<Output = ()> + '_>>;
}

/// Receives samples once assertions have judged them, and may change them for the listeners after it (`SampleListener`).
pub trait ListenerRole: Send + Sync {
    fn turn<'a>(&'a self, cx: &'a mut ListenerView, sample: &'a mut Sample) -> Act<'a>;
    /// Receives the sample of a transaction that ends within the walk, where a user cannot wait.
    fn at_once(&self, cx: &mut ListenerView, sample: &mut Sample);
    /// The parts of a result that it reads.
    fn reads(&self) -> Needs;
}

/// A listener that never waits.
pub trait SampleListener: Send + Sync {
    fn sample_occurred(&self, cx: &mut ListenerView, sample: &mut Sample);
    /// The parts of a result that it reads.
    fn needs(&self) -> Needs;
}

impl<T: SampleListener> ListenerRole for T {
    fn turn<'a>(&'a self, cx: &'a mut ListenerView, sample: &'a mut Sample) -> Act<'a> {
        self.sample_occurred(cx, sample);
        Act::Done(())
    }

    fn at_once(&self, cx: &mut ListenerView, sample: &mut Sample) {
        self.sample_occurred(cx, sample);
    }

    fn reads(&self) -> Needs {
        self.needs()
    }
}
