//! Weighted Switch Controller of jmeter-plugins: one child each time, so that shares of runs come close to weights.

use drumfire_expr::Template;

use super::{Child, ControllerId, Extra, Flow, Kind, Step, Walker};
use crate::run::context::Context;
use crate::run::controllers::Weights;
use crate::run::thread_end::test_failed;

/// One user's choices.
#[derive(Default)]
pub struct Weighing {
    chosen: Option<u32>,
    /// How many calls of the pass at hand began when there was a choice already.
    calls_after_choice: u32,
    counts: Vec<i64>,
    total: i64,
    /// The shares, where all names and weights are spelled out, with the number of children they are for.
    shares: Option<(usize, Vec<f64>)>,
}

/// `Double.MIN_VALUE`: what a share must lag behind by to be chosen.
const LEAST_LAG: f64 = 5e-324;

impl Walker<'_> {
    /// `WeightedSwitchController#next`. Once the chosen child has given its last sampler, the next child is asked
    /// already, and what it gives is thrown away. `GenericController#next` begins anew after a child that had nothing to
    /// give, which here is another call of `WeightedSwitchController#next` inside the first.
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
                    test_failed(self.cx, &reason);
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

    /// The use of the step that was found, by the call after the choice.
    fn keep_to_choice(&mut self, id: ControllerId, step: Option<Step>) -> Option<Step> {
        let current = self.state(id).current;
        if step.is_some()
            && self.weighing(id).chosen == Some(current)
            && !self.is_transaction(id, current)
        {
            return step;
        }
        self.unchoose(id);
        for index in 0..self.child_count(id) {
            let Child::Controller(child) = self.child(id, index) else {
                continue;
            };
            if self.is_closed_parent_transaction(child) {
                // TransactionController#triggerEndOfLoop
                test_failed(
                    self.cx,
                    "java.lang.NullPointerException: transactionSampler",
                );
                return None;
            }
            self.trigger_end_of_loop(child);
        }
        None
    }

    fn is_closed_parent_transaction(&mut self, id: ControllerId) -> bool {
        let kind = &self.journey.controllers[id as usize].kind;
        matches!(kind, Kind::Transaction { parent: true, .. })
            && !matches!(self.state(id).extra, Extra::Parent(_))
    }

    fn weighing(&mut self, id: ControllerId) -> &mut Weighing {
        match &mut self.state(id).extra {
            Extra::Weighted(weighing) => weighing,
            _ => unreachable!("a Weighted Switch Controller has this state from the beginning"),
        }
    }

    fn is_transaction(&self, id: ControllerId, index: u32) -> bool {
        match self.child(id, index as usize) {
            Child::Controller(child) => matches!(
                self.journey.controllers[child as usize].kind,
                Kind::Transaction { .. }
            ),
            Child::Sampler(_) => false,
        }
    }

    /// `reset`, which goes on to Weighted Switch Controllers right below.
    fn unchoose(&mut self, id: ControllerId) {
        self.weighing(id).chosen = None;
        for index in 0..self.child_count(id) {
            if let Child::Controller(child) = self.child(id, index)
                && matches!(
                    self.journey.controllers[child as usize].kind,
                    Kind::Weighted(_)
                )
            {
                self.unchoose(child);
            }
        }
    }

    /// `choose`: the child whose share of the runs lags most behind its weight, or else the one with the greatest weight.
    /// The chosen number is one of the rows that name a child; with it the children are counted, whatever their names.
    ///
    /// # Errors
    /// With the exception that ends the user: a weight that is no number, or none above 0.
    fn choose(&mut self, id: ControllerId, weights: &Weights) -> Result<(), String> {
        let children = self.child_count(id);
        let (shares, are_constant) = match self.weighing(id).shares.take() {
            Some((of, shares)) if of == children => (shares, true),
            _ => self.shares(id, weights)?,
        };
        let weighing = self.weighing(id);
        if weighing.total == 0 {
            weighing.counts = vec![0; shares.len()];
        }
        let (counts, total) = (&weighing.counts, weighing.total);
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
        let count = weighing.counts.get_mut(index);
        *count.ok_or("there are more weights than at first")? += 1;
        weighing.total += 1;
        weighing.chosen = Some(index as u32);
        weighing.shares = are_constant.then_some((children, shares));
        self.state(id).current = index as u32;
        Ok(())
    }

    /// The weights as shares of their sum, of the rows that name a child, and whether they are always the same.
    fn shares(&mut self, id: ControllerId, weights: &Weights) -> Result<(Vec<f64>, bool), String> {
        let journey = self.journey;
        let children = self.child_count(id);
        let mut are_constant = true;
        let mut text = |template: &Template, cx: &mut Context| {
            are_constant &= template.literal().is_some();
            template.eval(cx).into_string()
        };
        let names: Vec<String> = (0..children)
            .map(|index| match self.child(id, index) {
                Child::Sampler(sampler) => &journey.samplers[sampler as usize].name,
                Child::Controller(child) => &journey.controllers[child as usize].name,
            })
            .collect::<Vec<&Template>>()
            .into_iter()
            .map(|name| text(name, self.cx))
            .collect();
        let mut shares = Vec::new();
        let mut sum: i64 = 0;
        for row in &weights.rows {
            let is_enabled = match children {
                0 => row.enabled,
                _ => names.contains(&text(&row.child, self.cx)),
            };
            if !is_enabled {
                continue;
            }
            let weight = text(&row.weight, self.cx);
            let weight: i64 = weight.parse().map_err(|_| {
                format!("java.lang.NumberFormatException: For input string: \"{weight}\"")
            })?;
            sum = sum.wrapping_add(weight);
            shares.push(weight as f64);
        }
        shares.iter_mut().for_each(|share| *share /= sum as f64);
        Ok((shares, are_constant))
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
