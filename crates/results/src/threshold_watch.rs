//! Thresholds that are checked every second: `p95 of checkout > 300ms for 30s`, `errors > 10% over 10s`.
//!
//! `over` is the window from whose samples a value is computed; the default is one second. `for` is how long the value must
//! stay beyond its limit without a break. Only whole seconds count: the first and last second of a run are ignored.

use std::collections::VecDeque;

use crate::distribution::Distribution;
use crate::increment::{Increment, LabelIncrement};
use crate::statistics::{LabelStatistics, Recording};
use crate::thresholds::{MeasuredTimes, Threshold, Verdict, WindowOutcome};

/// How long after its end a second counts as complete, since workers hand over with a delay.
const GRACE_MS: i64 = 500;

/// The samples of a second that match a threshold.
#[derive(Debug, Default)]
struct Second {
    count: u64,
    errors: u64,
    /// The times that the threshold's metric is taken of.
    times: Distribution,
}

impl Second {
    fn add(&mut self, label: &LabelIncrement, times: MeasuredTimes) {
        self.count += label.count;
        self.errors += label.errors;
        times.merge(&mut self.times, label);
    }
}

/// A threshold and its state.
#[derive(Debug)]
pub struct ThresholdWatch {
    threshold: Threshold,
    /// The seconds of the current window, without gaps; the first of them has the number `first`.
    seconds: VecDeque<Second>,
    first: i64,
    /// The first second that was not judged yet; `None` before the first increment.
    next: Option<i64>,
    /// The first whole second of the run.
    begin: i64,
    /// Number of consecutive seconds in which the value was beyond its limit.
    lasted_s: u32,
    /// The samples of the whole run, for a threshold without a window.
    so_far: LabelStatistics,
    outcome: WindowOutcome,
}

impl ThresholdWatch {
    /// Starts watching a threshold.
    pub fn new(threshold: Threshold) -> ThresholdWatch {
        ThresholdWatch {
            threshold,
            seconds: VecDeque::new(),
            first: 0,
            next: None,
            begin: 0,
            lasted_s: 0,
            so_far: LabelStatistics::new(String::new(), false),
            outcome: WindowOutcome::default(),
        }
    }

    /// The threshold.
    pub fn threshold(&self) -> &Threshold {
        &self.threshold
    }

    /// Adds the increment of a second.
    pub fn add(&mut self, increment: &Increment) {
        let number = increment.from_ms.div_euclid(1_000);
        if self.next.is_none() {
            self.begin = number + 1;
            self.first = self.begin;
            self.next = Some(self.begin);
        }
        let matching = |transaction: bool| {
            let labels = increment.labels.iter();
            let kind = labels.filter(move |label| label.transaction == transaction);
            kind.filter(|label| self.threshold.is_about(&label.label))
        };
        // If samplers and transaction controllers share the label, the samplers count.
        let has_samplers = matching(false).next().is_some() || self.threshold.is_about_all();
        let matched: Vec<&LabelIncrement> = matching(!has_samplers).collect();
        self.outcome.has_samples |= matched.iter().any(|label| label.count > 0);
        if !self.threshold.is_windowed() {
            matched.iter().for_each(|label| self.so_far.absorb(label));
            return;
        }
        // A sample that ended before the current window is too late to count.
        let Ok(index) = usize::try_from(number - self.first) else {
            return;
        };
        while self.seconds.len() <= index {
            self.seconds.push_back(Second::default());
        }
        for label in matched {
            self.seconds[index].add(label, self.threshold.times());
        }
    }

    /// Judges the seconds that are complete at `now_ms`, in milliseconds since the Unix epoch. Returns true when that breaks
    /// the threshold for the first time.
    pub fn advance(&mut self, now_ms: i64) -> bool {
        self.judge_before((now_ms - GRACE_MS).div_euclid(1_000))
    }

    /// Judges all whole seconds of a run that ended at `ended_ms` and whose increments have all been added.
    pub fn finish(&mut self, ended_ms: i64) {
        self.judge_before(ended_ms.div_euclid(1_000));
    }

    fn judge_before(&mut self, end: i64) -> bool {
        if self.outcome.broken_ms.is_some() {
            return false;
        }
        let Some(mut number) = self.next else {
            return false;
        };
        while number < end {
            if self.judge_second(number) {
                return true;
            }
            number += 1;
            self.next = Some(number);
        }
        false
    }

    fn judge_second(&mut self, number: i64) -> bool {
        let value = if self.threshold.is_windowed() {
            self.value_over_window(number)
        } else {
            self.threshold.value_of(&self.so_far)
        };
        let Some(value) = value else {
            // A second without samples has no times to judge.
            return false;
        };
        self.outcome.judged_s = self.outcome.judged_s.saturating_add(1);
        if !self.threshold.is_beyond(value) {
            self.lasted_s = 0;
            self.note_worst(value);
            return false;
        }
        self.lasted_s += 1;
        self.note_worst(value);
        if self.lasted_s < self.threshold.lasting_s().unwrap_or(1) {
            return false;
        }
        self.outcome.value = Some(value);
        self.outcome.broken_ms = Some((number + 1) * 1_000);
        true
    }

    /// The value of the window that ends with a second; `None` if the run is too short or no sample ended.
    fn value_over_window(&mut self, number: i64) -> Option<f64> {
        let length = i64::from(self.threshold.window_s().unwrap_or(1));
        let from = number + 1 - length;
        while self.first < from && self.first < number {
            self.seconds.pop_front();
            self.first += 1;
        }
        if from < self.begin {
            return None;
        }
        self.outcome.windows = self.outcome.windows.saturating_add(1);
        let mut all = Second::default();
        let places = (from - self.first).max(0) as usize..(number + 1 - self.first).max(0) as usize;
        for second in places.filter_map(|place| self.seconds.get(place)) {
            all.count += second.count;
            all.errors += second.errors;
            all.times.merge(&second.times);
        }
        self.threshold
            .value_in(all.count, all.errors, &all.times, length)
    }

    fn note_worst(&mut self, value: f64) {
        let worst = self.outcome.value.get_or_insert(value);
        if self.threshold.is_worse(value, *worst) {
            *worst = value;
        }
    }

    /// The verdict so far; `recording` is the sum of all increments. A threshold that was broken stays broken.
    pub fn verdict(&self, recording: &Recording) -> Verdict {
        if self.threshold.is_windowed() || self.outcome.broken_ms.is_some() {
            Verdict::of_windows(&self.threshold, self.outcome)
        } else {
            self.threshold.judge(recording)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::Collector;
    use crate::sample::Sample;
    use crate::thresholds::ThresholdOutcome;

    /// A second with `count` samples of 100 ms, the first `failed` of them failed, and one label's with `slow_ms`.
    fn second(number: i64, count: i64, failed: i64, slow_ms: i64) -> Increment {
        let mut collector = Collector::default();
        let mut add = |label: &str, elapsed_ms: i64, success: bool| {
            let mut sample = Sample::new(label.into(), "t 1-1".into());
            sample.set_ok();
            sample.start_ms = number * 1_000 + 500 - elapsed_ms;
            sample.set_end(number * 1_000 + 500);
            sample.success = success;
            collector.record(&sample);
        };
        for place in 0..count {
            add("Home", 100, place >= failed);
        }
        if slow_ms > 0 {
            add("check out", slow_ms, true);
        }
        let mut all = collector.take_all();
        if all.is_empty() {
            return Increment::of_second(number);
        }
        all.remove(0)
    }

    /// The second that broke the threshold, counting from 100.
    fn broken(text: &str, seconds: &[(i64, i64, i64)]) -> Option<i64> {
        let mut watch = ThresholdWatch::new(text.parse().unwrap_or_else(|error| panic!("{error}")));
        for (number, &(count, failed, slow_ms)) in (100..).zip(seconds) {
            watch.add(&second(number, count, failed, slow_ms));
            // The increment of a second comes a little after its end.
            if watch.advance((number + 1) * 1_000 + GRACE_MS) {
                return Some(number);
            }
        }
        let outcome = watch.verdict(&Recording::default()).outcome();
        assert_eq!(outcome, ThresholdOutcome::Passed);
        None
    }

    #[test]
    fn a_value_must_last() {
        let slow = (10, 0, 400);
        let quick = (10, 0, 200);
        let text = "p95 of check out > 300ms for 3s";
        // The first second is not whole.
        assert_eq!(broken(text, &[slow, slow, slow, slow, slow]), Some(103));
        assert_eq!(broken(text, &[quick, slow, slow, quick, slow, slow]), None);
        // A second without samples neither continues nor interrupts the streak.
        let silent = (0, 0, 0);
        let with_gap = [quick, slow, slow, silent, silent, slow];
        assert_eq!(broken(text, &with_gap), Some(105));
        assert_eq!(
            broken("p95 of /^check/ > 300ms for 2s", &[slow; 4]),
            Some(102)
        );
    }

    #[test]
    fn a_window_is_whole_before_it_counts() {
        let bad = (10, 5, 0);
        let good = (10, 0, 0);
        let text = "errors > 10% over 3s";
        assert_eq!(broken(text, &[bad; 6]), Some(103));
        // 5 of the 30 samples in the window are more than a tenth.
        assert_eq!(broken(text, &[good, good, good, good, bad]), Some(104));
        assert_eq!(
            broken("errors > 17% over 3s", &[good, good, good, good, bad]),
            None
        );
        assert_eq!(
            broken("rate < 9/s over 2s", &[(1, 0, 0), good, good, good]),
            None
        );
        assert_eq!(
            broken("rate < 9/s over 2s", &[good, good, (0, 0, 0), good]),
            Some(102)
        );
        assert_eq!(
            broken("rate < 9/s over 2s for 2s", &[good, good, (0, 0, 0), good]),
            Some(103)
        );
    }

    #[test]
    fn without_a_window_the_whole_run_up_to_now_counts() {
        let mut watch = ThresholdWatch::new("errors > 12".parse().expect("a threshold"));
        let told: Vec<bool> = (100..105)
            .map(|number| {
                watch.add(&second(number, 10, 4, 0));
                watch.advance((number + 1) * 1_000 + GRACE_MS)
            })
            .collect();
        assert_eq!(told, [false, false, false, true, false]);
    }

    #[test]
    fn an_outcome_is_told_with_its_moment() {
        let told = |text: &str, failed: i64| {
            let mut watch = ThresholdWatch::new(text.parse().expect("a threshold"));
            for number in 100..106 {
                watch.add(&second(number, 10, failed, 0));
                watch.advance((number + 1) * 1_000 + GRACE_MS);
            }
            watch.verdict(&Recording::default()).to_string()
        };
        let text = "errors > 10% over 2s";
        assert_eq!(
            told(text, 3),
            "FAILED  errors 30 %   fails if > 10 % over 2 s"
        );
        assert_eq!(
            told(text, 1),
            "ok      errors 10 % at worst   fails if > 10 % over 2 s"
        );
    }

    #[test]
    fn a_threshold_whose_window_was_never_whole_is_not_judged() {
        for (text, expected) in [
            (
                "errors > 1 over 60s",
                "not judged  errors   fails if > 1 over 60 s   it needs 60 whole seconds; the run ended before that",
            ),
            (
                "errors > 1 for 60s",
                "not judged  errors   fails if > 1 for 60 s   it needs 60 whole seconds; the run had 5 s",
            ),
            (
                "max of nobody > 1ms over 2s",
                "not judged  max of nobody   fails if > 1 ms over 2 s   no sample has the label `nobody`",
            ),
            (
                "max of /^no/ > 1ms over 2s",
                "not judged  max of /^no/   fails if > 1 ms over 2 s   no sample has a label like `/^no/`",
            ),
        ] {
            let mut watch = ThresholdWatch::new(text.parse().expect("a threshold"));
            for number in 100..106 {
                watch.add(&second(number, 10, 0, 0));
                watch.advance((number + 1) * 1_000 + GRACE_MS);
            }
            assert_eq!(watch.verdict(&Recording::default()).to_string(), expected);
        }
        let quiet = ThresholdWatch::new("p95 > 1us over 10s".parse().expect("a threshold"));
        assert_eq!(
            quiet.verdict(&Recording::default()).to_string(),
            "not judged  p95   fails if > 1 µs over 10 s   the run has no sample"
        );
    }

    #[test]
    fn a_run_as_long_as_a_window_is_judged_to_its_last_whole_second() {
        let mut watch = ThresholdWatch::new("p95 > 1us over 2s".parse().expect("a threshold"));
        for number in 100..103 {
            watch.add(&second(number, 10, 0, 0));
        }
        watch.advance(103_010);
        assert_eq!(
            watch.verdict(&Recording::default()).outcome(),
            ThresholdOutcome::NotJudged
        );
        watch.finish(103_010);
        assert_eq!(
            watch.verdict(&Recording::default()).outcome(),
            ThresholdOutcome::Failed
        );
    }

    #[test]
    fn a_threshold_that_was_broken_stays_broken_when_the_value_recovers() {
        let mut watch = ThresholdWatch::new("errors > 30%".parse().expect("a threshold"));
        let mut recording = Recording::default();
        for (number, failed) in [(100, 5), (101, 0), (102, 0)] {
            let second = second(number, 10, failed, 0);
            recording.absorb(&second);
            watch.add(&second);
            watch.advance((number + 1) * 1_000 + GRACE_MS + 1_000);
        }
        assert_eq!(
            watch.verdict(&recording).outcome(),
            ThresholdOutcome::Failed
        );
    }

    #[test]
    fn a_watch_takes_no_more_memory_than_its_window() {
        let mut watch = ThresholdWatch::new("p95 > 300ms over 10s".parse().expect("a threshold"));
        for number in 0..10_000 {
            watch.add(&second(number, 1, 0, 0));
            watch.advance((number + 1) * 1_000 + GRACE_MS);
        }
        assert!(watch.seconds.len() <= 12, "{}", watch.seconds.len());
    }
}
