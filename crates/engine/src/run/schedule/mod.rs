//! Stop 4, **schedule**: when the users of a thread group start and stop, as pure data. Each way of giving users has its
//! rules in a file of its own; `elements/thread_groups` reads the settings of each class from the plan.

mod arrivals;
mod concurrency;
pub mod language;
mod open_model;
mod ramp;
mod window;

pub use arrivals::{Arrivals, Rate};
pub use concurrency::{Concurrency, Level};
pub use open_model::OpenModel;
pub use ramp::Ramp;
pub use window::{LevelStretch, LevelUnit, ScheduleError, Window};

/// The shape of a thread group's load: how its users start and stop.
#[derive(Debug)]
pub enum Shape {
    /// A number of users, started evenly over a ramp-up (`ThreadGroup`).
    Ramp(Ramp),
    /// Each user in a window of its own (Stepping and Ultimate Thread Group).
    Windows(Box<[Window]>),
    /// As many concurrent users as a level says (Concurrency Thread Group).
    Concurrency(Box<Concurrency>),
    /// Iterations at a rate, by users that wait for the next arrival in between (Arrivals Thread Groups).
    Arrivals(Box<Arrivals>),
    /// Users at a rate, for one iteration each (Open Model Thread Group).
    Open(Box<OpenModel>),
    /// Users that the group's Java object starts when it decides to. `users` is their number in the settings.
    Java { users: u32 },
}

impl Shape {
    /// How many users the group has. Where that is not known beforehand, how many the plan says it may have.
    pub fn users(&self) -> u32 {
        match self {
            Shape::Ramp(ramp) => ramp.users(),
            Shape::Windows(windows) => windows.len() as u32,
            Shape::Concurrency(concurrency) => concurrency.users(),
            Shape::Arrivals(arrivals) => arrivals.users(),
            Shape::Open(open) => open.users(),
            Shape::Java { users } => *users,
        }
    }

    /// # Errors
    /// When JMeter does not start the group.
    pub fn check(&self) -> Result<(), ScheduleError> {
        match self {
            Shape::Ramp(ramp) => ramp.check(),
            Shape::Open(open) => open.check(),
            Shape::Windows(_) | Shape::Concurrency(_) | Shape::Arrivals(_) | Shape::Java { .. } => {
                Ok(())
            }
        }
    }

    /// The windows of all users, where they are known beforehand.
    pub fn windows(&self) -> Option<Vec<Window>> {
        match self {
            Shape::Ramp(ramp) => Some(ramp.windows().collect()),
            Shape::Windows(windows) => Some(windows.to_vec()),
            Shape::Concurrency(_) | Shape::Arrivals(_) | Shape::Open(_) | Shape::Java { .. } => {
                None
            }
        }
    }

    /// The load over time, where the windows of users are not known beforehand.
    pub fn stretches(&self) -> Vec<LevelStretch> {
        match self {
            Shape::Ramp(_) | Shape::Windows(_) | Shape::Java { .. } => Vec::new(),
            Shape::Concurrency(concurrency) => concurrency.stretches(),
            Shape::Arrivals(arrivals) => arrivals.stretches(),
            Shape::Open(open) => open.stretches(),
        }
    }

    /// When the group's time is over, in milliseconds from its start; `None` where iterations end it.
    pub fn end_ms(&self) -> Option<i64> {
        match self {
            Shape::Ramp(ramp) => ramp.windows().next()?.stop_ms,
            Shape::Windows(windows) => windows
                .iter()
                .try_fold(0, |end_ms, window| Some(window.stop_ms?.max(end_ms))),
            Shape::Java { .. } => None,
            Shape::Concurrency(_) | Shape::Arrivals(_) | Shape::Open(_) => {
                self.stretches().last().map(|last| last.end_ms as i64)
            }
        }
    }
}
