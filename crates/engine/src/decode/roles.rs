//! The roles that one element of the plan plays.

use std::sync::Arc;

use crate::run::action::FailureAction;
use crate::run::controllers::{ControllerKind, Hook};
use crate::run::roles::{
    AssertionRole, IterationListener, PostProcessorRole, PreProcessor, PreProcessorRole,
    ThreadIterationListener, TimerRole,
};

/// Where a listener sends the samples in its scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listener {
    /// A result file, by its index.
    Output(u16),
    /// A summariser, by its index.
    Summariser(u16),
    /// A backend listener, by its index, and the index of the code that passes it each sample, if it needs every sample.
    Backend(u16, Option<u16>),
    /// Code that receives samples, by its index.
    Told(u16),
    /// Acts when the sample failed (`ResultAction`); the number identifies its element.
    OnFailure(usize, FailureAction),
}

/// A decoded element. It may play several roles.
#[derive(Default)]
pub struct Roles {
    pub controller: Option<ControllerKind>,
    pub pre: Option<Arc<dyn PreProcessorRole>>,
    pub post: Option<Arc<dyn PostProcessorRole>>,
    pub assertion: Option<Arc<dyn AssertionRole>>,
    pub timer: Option<Arc<dyn TimerRole>>,
    pub each_iteration: Option<Hook>,
    pub each_thread_iteration: Option<Arc<dyn ThreadIterationListener>>,
    pub listener: Option<Listener>,
    /// The element's index among those that Java runs.
    pub java: Option<u32>,
    /// Why the element's own Java class runs it with these settings; absent if it does not.
    pub foreign: Option<&'static str>,
    /// Sets the limit of each sample of the whole thread group.
    pub time_limit: Option<Arc<dyn PreProcessor>>,
}

impl Roles {
    /// An element that its own Java class has to run, for this reason.
    pub fn foreign(why: &'static str) -> Roles {
        Roles {
            foreign: Some(why),
            ..Roles::default()
        }
    }

    pub fn controller(kind: ControllerKind) -> Roles {
        Roles {
            controller: Some(kind),
            ..Roles::default()
        }
    }
    pub fn pre(pre: impl PreProcessorRole + 'static) -> Roles {
        Roles {
            pre: Some(Arc::new(pre)),
            ..Roles::default()
        }
    }
    pub fn post(post: impl PostProcessorRole + 'static) -> Roles {
        Roles {
            post: Some(Arc::new(post)),
            ..Roles::default()
        }
    }
    pub fn assertion(assertion: impl AssertionRole + 'static) -> Roles {
        Roles {
            assertion: Some(Arc::new(assertion)),
            ..Roles::default()
        }
    }
    pub fn timer(timer: impl TimerRole + 'static) -> Roles {
        Roles {
            timer: Some(Arc::new(timer)),
            ..Roles::default()
        }
    }
    pub fn each_iteration(listener: impl IterationListener + 'static) -> Roles {
        Roles {
            each_iteration: Some(Hook::Element(Arc::new(listener))),
            ..Roles::default()
        }
    }
    pub fn rows(source: impl PreProcessorRole + 'static) -> Roles {
        Roles {
            each_iteration: Some(Hook::Rows(Arc::new(source))),
            ..Roles::default()
        }
    }
}
