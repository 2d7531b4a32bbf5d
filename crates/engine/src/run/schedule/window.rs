//! When a user runs, and how a load changes over time.

use super::language::ScheduleSyntaxError;

/// When one user starts and when its time is over, in milliseconds from the start of its thread group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub start_ms: i64,
    /// `None` where only its iterations end it.
    pub stop_ms: Option<i64>,
}

/// Why a thread group cannot start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduleError {
    /// `ThreadGroup#scheduleThread`.
    Delay(i64),
    /// `ThreadGroup#scheduleThread`.
    Duration(i64),
    /// Its schedule cannot be read (`OpenModelThreadGroup#start`).
    Schedule(ScheduleSyntaxError),
}

impl std::fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ScheduleError::Delay(delay_s) => write!(f, "Invalid delay {delay_s}"),
            ScheduleError::Duration(duration_s) => write!(f, "Invalid duration {duration_s}"),
            ScheduleError::Schedule(error) => error.fmt(f),
        }
    }
}

/// A stretch of a load that is not made of users known beforehand.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct LevelStretch {
    pub start_ms: u64,
    pub end_ms: u64,
    /// The level at its beginning and at its end.
    pub from: f64,
    pub to: f64,
    pub unit: LevelUnit,
}

/// The unit of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LevelUnit {
    Users,
    ArrivalsPerSecond,
    RandomArrivalsPerSecond,
}
