//! What a user does after a sample.

/// What a user does after a sample (`JMeterContext.TestLogicalAction`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Action {
    #[default]
    Continue,
    NextThreadIteration,
    NextLoopIteration,
    BreakLoop,
}

/// What a thread group does after a failed sample (`ThreadGroup.on_sample_error`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    #[default]
    Continue,
    StartNextLoop,
    StopThread,
    StopTest,
    StopTestNow,
}

/// What a Result Status Action Handler does after a failed sample (`OnErrorTestElement`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureAction {
    StopThread,
    StopTest,
    StopTestNow,
    Go(Action),
}
