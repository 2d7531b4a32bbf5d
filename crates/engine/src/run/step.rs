//! Steps of a user through its thread group.

/// Index of a controller in its thread group; 0 is the thread group's own loop controller.
pub type ControllerId = u32;
/// Index of a sampler in its thread group.
pub type SamplerId = u32;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Child {
    Sampler(SamplerId),
    Controller(ControllerId),
}

/// What a user does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    Sampler(SamplerId),
    /// A Transaction Controller that generates a parent sample: its run, in the walk's state, says which sampler or that it is done.
    Transaction(ControllerId),
    /// A Critical Section Controller whose lock another user has: get the lock, then ask again.
    Lock(ControllerId),
    /// An iteration of this controller starts, and an element that has to be waited for is told of it: wait, then ask again.
    Tell(ControllerId),
    /// No sampler is found in so many passes that JMeter's thread ends with a `StackOverflowError`.
    Overflow,
}

impl Step {
    /// Whether it is no work of the plan, but something the walk needs to go on.
    pub fn is_pause(self) -> bool {
        matches!(self, Step::Overflow | Step::Lock(_) | Step::Tell(_))
    }
}
