//! Weighted Switch Controller of jmeter-plugins: runs one child each time, chosen so that the shares of runs approach the
//! weights, or at random.

use super::{Child, ControllerId, ControllerKind, Extra, Flow, Step, Walker};
use crate::base::exception_text::ExceptionText;
use crate::run::controllers::Weights;
use crate::run::thread_end::test_failed;

/// One user's choices.
#[derive(Default)]
pub struct SwitchWeights {
    chosen: Option<u32>,
    /// How many calls of the current pass began after the choice was made.
    calls_after_choice: u32,
    counts: Vec<i64>,
    total: i64,
    /// The shares, if all weights are constant.
    shares: Option<Vec<f64>>,
}

/// `Double.MIN_VALUE`: a share must lag behind by more than this to be chosen.
const LEAST_LAG: f64 = 5e-324;

impl Walker<'_> {
    /// `WeightedSwitchController#next`. After the chosen child's last sampler, JMeter already asks the next child and discards
    /// its answer. After a child that had no step to give, `GenericController#next` calls `next` again, which here is a call
    /// of `WeightedSwitchController#next` inside the first one.
    pub(super) fn pass_weighted(
        &mut self,
        id: ControllerId,
        weights: &Weights,
        resumes: bool,
    ) -> Flow {
        let mut enters = !resumes;
        let mut step = loop {
            if enters {
                if self.weighing(id).chosen.is_some() {
                    self.weighing(id).calls_after_choice += 1;
                } else if let Err(reason) = self.choose(id, weights) {
                    test_failed(self.cx, reason.as_ref());
                    return Flow::Give(None);
                }
            }
            match self.generic(id) {
                Flow::Give(step) => break step,
                Flow::Again => enters = true,
            }
        };
        if step.is_some_and(Step::is_pause) {
            return Flow::Give(step);
        }
        for _ in 0..std::mem::take(&mut self.weighing(id).calls_after_choice) {
            step = self.keep_to_choice(id, step);
        }
        Flow::Give(step)
    }

    /// Returns the step only if it comes from the chosen child, as a call after the choice does. Otherwise drops the choice.
    fn keep_to_choice(&mut self, id: ControllerId, step: Option<Step>) -> Option<Step> {
        let current = self.state(id).current;
        if step.is_some() && self.weighing(id).chosen == Some(current) {
            return step;
        }
        self.unchoose(id);
        self.reset_children(id);
        None
    }

    fn reset_children(&mut self, id: ControllerId) {
        for index in 0..self.child_count(id) {
            if let Child::Controller(child) = self.child(id, index) {
                self.reset_child(child);
            }
        }
    }

    /// Resets a child (`resetController`). If it is a transaction that began only because it was asked, it must leave no row.
    fn reset_child(&mut self, id: ControllerId) {
        match self.journey.controllers[id as usize].kind {
            ControllerKind::Transaction { parent: true, .. } => return self.reinitialize(id),
            ControllerKind::Transaction { parent: false, .. } => self.forget_independent(id),
            _ => self.reset_children(id),
        }
        self.trigger_end_of_loop(id);
    }

    fn weighing(&mut self, id: ControllerId) -> &mut SwitchWeights {
        match &mut self.state(id).extra {
            Extra::Weighted(weighing) => weighing,
            _ => unreachable!("a Weighted Switch Controller has this state from the beginning"),
        }
    }

    /// Drops the choice (`reset`), also in Weighted Switch Controllers directly below.
    fn unchoose(&mut self, id: ControllerId) {
        self.weighing(id).chosen = None;
        for index in 0..self.child_count(id) {
            if let Child::Controller(child) = self.child(id, index)
                && matches!(
                    self.journey.controllers[child as usize].kind,
                    ControllerKind::Weighted(_)
                )
            {
                self.unchoose(child);
            }
        }
    }

    /// Chooses a child (`choose`). JMeter chooses among the enabled rows, but uses the row's index as that of a child,
    /// whatever the names are.
    ///
    /// # Errors
    /// With the exception that ends the user: a weight that is no number, or none above 0.
    fn choose(&mut self, id: ControllerId, weights: &Weights) -> Result<(), ExceptionText> {
        let (shares, are_constant) = match self.weighing(id).shares.take() {
            Some(shares) => (shares, true),
            None => self.shares(weights)?,
        };
        let index = if weights.is_random {
            self.at_random(&shares)
        } else {
            self.weighing(id).least_served(&shares)?
        };
        let weighing = self.weighing(id);
        weighing.chosen = Some(index as u32);
        weighing.shares = are_constant.then_some(shares);
        self.state(id).current = index as u32;
        Ok(())
    }

    /// A random index, weighted by the shares (`getRandomIndex`).
    fn at_random(&mut self, shares: &[f64]) -> usize {
        let sum: f64 = shares.iter().sum();
        let mut left = self.cx.random().unit() * sum;
        let found = shares.iter().position(|share| {
            left -= share;
            left <= 0.0
        });
        found.unwrap_or(0)
    }

    /// The weights of the enabled rows as shares of their sum, and whether they are always the same.
    fn shares(&mut self, weights: &Weights) -> Result<(Vec<f64>, bool), ExceptionText> {
        let mut are_constant = true;
        let mut shares = Vec::new();
        let mut sum: i64 = 0;
        for template in &weights.enabled {
            are_constant &= template.literal().is_some();
            let text = template.eval(self.cx).into_string();
            let weight: i64 = text.parse().map_err(|_| {
                format!("java.lang.NumberFormatException: For input string: \"{text}\"")
            })?;
            sum = sum.wrapping_add(weight);
            shares.push(weight as f64);
        }
        shares.iter_mut().for_each(|share| *share /= sum as f64);
        Ok((shares, are_constant))
    }
}

impl SwitchWeights {
    /// `getIndex`: the child whose share of the runs lags most behind its weight, or else the one with the greatest weight.
    fn least_served(&mut self, shares: &[f64]) -> Result<usize, ExceptionText> {
        if self.total == 0 {
            self.counts = vec![0; shares.len()];
        }
        let (counts, total) = (&self.counts, self.total);
        let lag = |index: usize| {
            let run = counts.get(index).copied().unwrap_or_default();
            let done = if total > 0 {
                run as f64 / total as f64
            } else {
                0.0
            };
            shares[index] - done
        };
        let index = greatest(shares.len(), lag)
            .or_else(|| greatest(shares.len(), |index| shares[index]))
            .ok_or("no weight is above 0")?;
        let count = self.counts.get_mut(index);
        *count.ok_or("there are more weights than at first")? += 1;
        self.total += 1;
        Ok(index)
    }
}

/// The first of the greatest values above [`LEAST_LAG`].
fn greatest(count: usize, value: impl Fn(usize) -> f64) -> Option<usize> {
    let mut found = None;
    let mut most = LEAST_LAG;
    for index in 0..count {
        if value(index) > most {
            most = value(index);
            found = Some(index);
        }
    }
    found
}
