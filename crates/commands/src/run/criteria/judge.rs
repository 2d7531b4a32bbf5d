//! The judge of a run beside its thresholds. It receives the numbers while the run goes on and may end it.

use std::collections::BTreeMap;

use drumfire_report::ThresholdResult;
use drumfire_results::{Increment, LabelIncrement, Recording, ThresholdOutcome};
use drumfire_taurus::{Criteria, Criterion, Numbers, Subject, code_fits};

use crate::engine::{Control, Event, Subscriber};
use crate::run::criteria::thresholds::LabelCondition;

/// Judges a run by the criteria of Taurus's `passfail`.
pub struct PassFail {
    criteria: Criteria,
    control: Option<Control>,
    /// Seconds that may still receive late samples.
    open: BTreeMap<i64, Increment>,
    whole: Increment,
}

impl PassFail {
    /// A judge that has not seen any sample yet.
    pub fn new(criteria: Criteria) -> PassFail {
        PassFail {
            criteria,
            control: None,
            open: BTreeMap::new(),
            whole: Increment::of_second(0),
        }
    }

    /// Called when the run is about to start.
    pub fn begin(&mut self, control: &Control) {
        self.control = Some(control.clone());
    }

    /// How each criterion ended.
    pub fn end(&mut self) -> Vec<ThresholdResult> {
        self.close_before(i64::MAX);
        self.criteria.end(&JudgedSpan(&self.whole));
        self.criteria.all.iter().map(result).collect()
    }

    /// Criteria that fail good runs, each with the way to write it the other way round.
    pub fn inversions(&self) -> Vec<String> {
        let criteria = self.criteria.all.iter();
        criteria.filter_map(Criterion::inversion).collect()
    }

    /// The criteria that name a label.
    pub fn conditions(&self) -> Vec<LabelCondition<'static>> {
        let criteria = self.criteria.all.iter();
        let named = criteria.filter(|criterion| !criterion.label().is_empty());
        named
            .map(|criterion| LabelCondition::on(&criterion.shown, criterion.label().to_owned()))
            .collect()
    }

    /// Judges all seconds before this one. Samples may be recorded up to a second late.
    fn close_before(&mut self, second: i64) {
        while let Some(entry) = self.open.first_entry()
            && *entry.key() < second
        {
            let (second, increment) = entry.remove_entry();
            let met = self.criteria.second(second, &JudgedSpan(&increment));
            if let Some(control) = &self.control
                && met.iter().any(|criterion| criterion.stops)
            {
                control.shutdown();
            }
            self.whole.merge(increment);
        }
    }
}

fn result(criterion: &Criterion) -> ThresholdResult {
    ThresholdResult {
        text: criterion.shown.clone(),
        outcome: if criterion.is_met && criterion.fails {
            ThresholdOutcome::Failed
        } else if criterion.is_met || criterion.is_judged() {
            ThresholdOutcome::Passed
        } else {
            ThresholdOutcome::NotJudged
        },
        value: criterion.value(),
        limit: criterion.limit(),
        unit: criterion.unit().to_owned(),
        sentence: criterion.sentence(),
        statement: String::new(),
    }
}

impl Subscriber for PassFail {
    fn receive(&mut self, event: &Event, _: &Recording) {
        if let Event::Increment(increment) = event {
            let second = increment.from_ms.div_euclid(1000);
            let open = self.open.entry(second);
            open.or_insert_with(|| Increment::of_second(second))
                .merge((**increment).clone());
            self.close_before(second - 1);
        }
    }
}

/// The numbers of a stretch of time.
struct JudgedSpan<'i>(&'i Increment);

impl JudgedSpan<'_> {
    fn label(&self, label: &str) -> Option<LabelIncrement> {
        let mut all = LabelIncrement::new(label.to_owned(), false);
        let mut has_label = false;
        for one in self
            .0
            .labels
            .iter()
            .filter(|one| label.is_empty() || one.label == label)
        {
            all.absorb(one.clone());
            has_label = true;
        }
        has_label.then_some(all)
    }
}

impl Numbers for JudgedSpan<'_> {
    fn of(&self, label: &str, subject: &Subject) -> Option<f64> {
        const SECOND_US: f64 = 1_000_000.0;
        let all = self.label(label)?;
        let elapsed = all.elapsed();
        Some(match subject {
            Subject::ResponseTime => elapsed.mean() / SECOND_US,
            Subject::Latency => all.latency.mean() / SECOND_US,
            Subject::ConnectTime => all.connect.mean() / SECOND_US,
            Subject::Percentile(level) => elapsed.percentile(*level) / SECOND_US,
            Subject::Deviation => {
                let mean = elapsed.mean();
                let squares = elapsed.histogram();
                let sum: f64 = squares
                    .buckets()
                    .map(|(value, count)| (value as f64 - mean).powi(2) * count as f64)
                    .sum();
                (sum / elapsed.count().max(1) as f64).sqrt() / SECOND_US
            }
            Subject::Users => self.0.active.mean(),
            Subject::Hits => all.count as f64,
            Subject::Bytes => all.bytes as f64,
            Subject::Successes => all.count.saturating_sub(all.errors) as f64,
            Subject::Failures => all.errors as f64,
            Subject::Code(pattern) => {
                let codes = self.0.codes.iter();
                let fitting = codes.filter(|(code, _)| code_fits(pattern, code));
                fitting.map(|(_, count)| *count as f64).sum()
            }
        })
    }
}
