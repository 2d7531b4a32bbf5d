//! The failures of a kind over time.

use serde::{Deserialize, Serialize};

/// Limit of the steps of a curve, beyond which steps get longer.
const MOST_STEPS: usize = 120;

/// When the failures of a kind ended: the first, the last, and how many in each step. Steps are a second long at first, and twice as
/// long whenever there would be too many, so the result does not depend on the order in which failures arrive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCurve {
    /// The end of the first, in milliseconds since the Unix epoch.
    pub first_ms: i64,
    /// The end of the last, in milliseconds since the Unix epoch.
    pub last_ms: i64,
    /// The length of a step, in seconds.
    pub step_s: i64,
    /// The number of each step since the Unix epoch, and its failures; in order.
    pub steps: Vec<(i64, u64)>,
}

impl Default for ErrorCurve {
    fn default() -> ErrorCurve {
        ErrorCurve {
            first_ms: i64::MAX,
            last_ms: i64::MIN,
            step_s: 1,
            steps: Vec::new(),
        }
    }
}

impl ErrorCurve {
    /// Whether nothing has been counted, as in run files of earlier versions.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Counts failures that ended at a time.
    pub(crate) fn add(&mut self, end_ms: i64, count: u64) {
        self.first_ms = self.first_ms.min(end_ms);
        self.last_ms = self.last_ms.max(end_ms);
        self.count(end_ms.div_euclid(1_000).div_euclid(self.step_s), count);
        self.shorten(MOST_STEPS);
    }

    /// Adds the failures of another curve.
    pub(crate) fn merge(&mut self, other: &ErrorCurve) {
        if other.is_empty() {
            return;
        }
        self.first_ms = self.first_ms.min(other.first_ms);
        self.last_ms = self.last_ms.max(other.last_ms);
        while self.step_s < other.step_s {
            self.coarsen();
        }
        for &(at, count) in &other.steps {
            self.count(at.div_euclid(self.step_s / other.step_s.max(1)), count);
        }
        self.shorten(MOST_STEPS);
    }

    /// Makes the steps longer until there are no more than `most`.
    pub fn shorten(&mut self, most: usize) {
        while self.steps.len() > most.max(2) {
            self.coarsen();
        }
    }

    /// Nearly all failures are those of the last step.
    fn count(&mut self, at: i64, count: u64) {
        let index = match self.steps.last() {
            Some(last) if last.0 <= at => self.steps.len() - usize::from(last.0 == at),
            _ => self.steps.partition_point(|step| step.0 < at),
        };
        match self.steps.get_mut(index).filter(|step| step.0 == at) {
            Some(step) => step.1 = step.1.saturating_add(count),
            None => self.steps.insert(index, (at, count)),
        }
    }

    fn coarsen(&mut self) {
        self.step_s = self.step_s.saturating_mul(2);
        for step in &mut self.steps {
            step.0 = step.0.div_euclid(2);
        }
        self.steps.dedup_by(|later, earlier| {
            let is_same = later.0 == earlier.0;
            if is_same {
                earlier.1 = earlier.1.saturating_add(later.1);
            }
            is_same
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(ends_ms: impl IntoIterator<Item = i64>) -> ErrorCurve {
        let mut curve = ErrorCurve::default();
        ends_ms.into_iter().for_each(|end_ms| curve.add(end_ms, 1));
        curve
    }

    #[test]
    fn failures_count_in_the_second_in_which_they_end() {
        let curve = curve([5_999, 5_000, 9_000, 7_500, 5_400]);
        assert_eq!((curve.first_ms, curve.last_ms), (5_000, 9_000));
        assert_eq!(curve.steps, [(5, 3), (7, 1), (9, 1)]);
    }

    #[test]
    fn a_curve_is_bounded_and_does_not_depend_on_the_order() {
        let ends = |from: i64, to: i64| (from..to).map(|second| second * 1_000);
        let all = curve(ends(0, 3_000));
        assert!(all.steps.len() <= MOST_STEPS && all.steps.len() > MOST_STEPS / 3);
        assert_eq!(all.steps.iter().map(|step| step.1).sum::<u64>(), 3_000);
        assert_eq!(curve(ends(0, 3_000).rev()), all);
        let mut merged = curve(ends(2_900, 3_000));
        merged.merge(&curve(ends(0, 2_900)));
        merged.merge(&ErrorCurve::default());
        assert_eq!(merged, all);
    }

    #[test]
    fn times_far_apart_are_counted() {
        let curve = curve((0..500).map(|at| i64::MIN / 2 + at * (i64::MAX / 500)));
        assert!(curve.steps.len() <= MOST_STEPS);
        assert_eq!(curve.steps.iter().map(|step| step.1).sum::<u64>(), 500);
    }
}
