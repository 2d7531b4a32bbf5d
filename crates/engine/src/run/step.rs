//! Steps of a user through its thread group.

/// Index of a controller in its thread group; 0 is the thread group's own loop controller.
pub type ControllerId = u32;
/// Index of a sampler in its thread group.
pub type SamplerId = u32;

/// The bits of a step's number that say which sampler or controller it is.
const CODE_BITS: u32 = 28;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Child {
    Sampler(SamplerId),
    Controller(ControllerId),
}

/// The user's next action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    Sampler(SamplerId),
    /// A Transaction Controller that generates a parent sample. Its run, in the walk's state, says which sampler is next, or
    /// that the transaction is done.
    Transaction(ControllerId),
    /// A Critical Section Controller whose lock another user holds: take the lock, then ask again.
    Lock(ControllerId),
    /// An iteration of this controller starts, and a data source must provide a row first: wait for it, then ask again.
    Tell(ControllerId),
    /// No sampler was found in as many passes as end JMeter's thread with a `StackOverflowError`.
    Overflow,
}

impl Step {
    /// The number by which Java code names the step; it is never negative.
    pub fn code(self) -> i32 {
        let (kind, id) = match self {
            Step::Sampler(id) => (0, id),
            Step::Transaction(id) => (1, id),
            Step::Lock(id) => (2, id),
            Step::Tell(id) => (3, id),
            Step::Overflow => (4, 0),
        };
        (kind << CODE_BITS) | id as i32
    }

    /// The step of that number.
    pub fn of_code(code: i32) -> Option<Step> {
        let id = (code & ((1 << CODE_BITS) - 1)) as u32;
        match code >> CODE_BITS {
            0 => Some(Step::Sampler(id)),
            1 => Some(Step::Transaction(id)),
            2 => Some(Step::Lock(id)),
            3 => Some(Step::Tell(id)),
            4 => Some(Step::Overflow),
            _ => None,
        }
    }

    /// Whether this is not work of the plan, but something that the walk needs before it can go on.
    pub fn is_pause(self) -> bool {
        matches!(self, Step::Overflow | Step::Lock(_) | Step::Tell(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_step_gives_it_back() {
        let steps = [
            Step::Sampler(0),
            Step::Sampler(70_000),
            Step::Transaction(3),
            Step::Lock(1),
            Step::Tell(9),
            Step::Overflow,
        ];
        for step in steps {
            assert!(step.code() >= 0);
            assert_eq!(Step::of_code(step.code()), Some(step));
        }
        assert_eq!(Step::of_code(-1), None);
    }
}
