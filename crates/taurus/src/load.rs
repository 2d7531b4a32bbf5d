//! The load of an execution.

use crate::amount::{Amount, number, time};
use crate::error::TaurusError;
use crate::value::{Table, is_true};

/// The load as the configuration defines it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Load {
    /// The number of users; `None` if the configuration does not set it.
    pub concurrency: Option<Amount>,
    pub ramp_up: Option<Amount>,
    /// Whether the configuration sets a ramp-up other than 0.
    pub has_ramp_up: bool,
    pub hold: Amount,
    /// 0 means unlimited.
    pub iterations: Amount,
    /// Whether the configuration sets iterations.
    pub has_iterations: bool,
    pub has_concurrency: bool,
    pub throughput: Option<Amount>,
    pub steps: Option<Amount>,
    /// Ramp-up and hold in seconds; 1 if one of them is an expression.
    pub duration: f64,
}

impl Load {
    /// Reads the load of an execution for a run on this machine.
    pub fn of(execution: &Table) -> Result<Load, TaurusError> {
        let local = |key: &str| match execution.get(key) {
            Some(serde_json::Value::Object(by_place)) => by_place.get("local"),
            other => other,
        };
        let raw = |key: &str| execution.get(key);
        let ramp_up = time(raw("ramp-up"), "ramp-up")?;
        let hold = time(raw("hold-for"), "hold-for")?.unwrap_or(Amount::Number(0.0));
        let is_set = |amount: &Option<Amount>| amount.as_ref().is_some_and(Amount::is_set);
        let duration = match (is_set(&ramp_up), hold.is_set()) {
            (_, false) => ramp_up
                .clone()
                .map(|time| time.number().unwrap_or(1.0))
                .unwrap_or(0.0),
            (false, true) => hold.number().unwrap_or(1.0),
            (true, true) => match (ramp_up.as_ref().and_then(Amount::number), hold.number()) {
                (Some(ramp_up), Some(hold)) => ramp_up + hold,
                _ => 1.0,
            },
        };
        let iterations = number(raw("iterations"), "iterations", true)?;
        let iterations = iterations
            .filter(Amount::is_set)
            .unwrap_or(if duration == 0.0 {
                Amount::Number(1.0)
            } else {
                Amount::Number(0.0)
            });
        Ok(Load {
            concurrency: number(local("concurrency"), "concurrency", true)?,
            has_ramp_up: is_true(raw("ramp-up")),
            ramp_up,
            hold,
            iterations,
            has_iterations: is_true(raw("iterations")),
            has_concurrency: is_true(local("concurrency")),
            throughput: number(local("throughput"), "throughput", false)?,
            steps: number(raw("steps"), "steps", true)?,
            duration,
        })
    }

    /// Whether the thread groups keep the load of the plan.
    pub fn is_absent(&self) -> bool {
        !self.has_iterations && !self.has_concurrency && self.duration == 0.0
    }
}
