//! The action of a user after a sample.

/// The action of a user after a sample (`JMeterContext.TestLogicalAction`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Action {
    #[default]
    Continue,
    NextThreadIteration,
    NextLoopIteration,
    BreakLoop,
}

/// The action of a thread group after a failed sample (`ThreadGroup.on_sample_error`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    #[default]
    Continue,
    StartNextLoop,
    StopThread,
    StopTest,
    StopTestNow,
}

/// The action of a Result Status Action Handler after a failed sample (`OnErrorTestElement`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureAction {
    StopThread,
    StopTest,
    StopTestNow,
    Go(Action),
}
