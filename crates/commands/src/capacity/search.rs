//! The search for the highest rate that breaks no condition: steps upwards, then bisection.
//!
//! Iterations arrive at the highest rate, and the control lets only a share of them through. At each level the load first
//! settles. The level is then measured until the first and the second half of the measurement agree. If arrivals find no free
//! user although no condition is broken, the limit is the generator or the number of its users.

use crate::terminal::escape;
use crate::terminal::format::counted;
use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;
use std::sync::Arc;

use drumfire_engine::{Control, Event, Subscriber};
use drumfire_health::{Failures, Grade, Machine, Second, judge};
use drumfire_platform::progress::Work;
use drumfire_report::{Capacity, CapacityLevel};
use drumfire_results::{Increment, Recording, Threshold, ThresholdOutcome, Verdict};

/// How long the load settles at a new level, in seconds.
const SETTLE_S: u32 = 2;
/// How long a level is measured at least and at most, in seconds.
const MEASURE_S: (u32, u32) = (6, 30);
/// How long the target may take to recover from a level that it did not hold, in seconds.
const RECOVER_S: u32 = 20;
/// With fewer samples than this, a level is measured for its full time before the search concludes anything.
const FEWEST_SAMPLES: u64 = 100;
/// The share of arrivals that must find a free user. Below it, the level's rate was not reached.
const REACHED: f64 = 0.95;
/// The search ends when the lowest level that breaks is within this factor of the highest that holds.
const NEAR: f64 = 1.03;

/// The word that the result begins with on the terminal.
const ANSWER: &str = "capacity";

/// The goal of the search: its conditions, its rates and the number of users.
#[derive(Clone, Debug)]
pub struct Goal {
    /// A level holds if none of them is true.
    pub conditions: Vec<Threshold>,
    /// The first level, in iterations a second.
    pub from: f64,
    /// The highest level.
    pub max: f64,
    /// The factor from one level to the next, while levels hold.
    pub step: f64,
    /// The number of users that run at the same time.
    pub users: u32,
}

/// The outcome of a level.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// The rate that was asked for, in iterations a second.
    pub rate: f64,
    /// The rate that was reached, in samples a second.
    pub reached: f64,
    /// The outcome, from which the search chooses its next step.
    pub outcome: LevelOutcome,
    /// The measured value of each condition.
    pub values: Vec<String>,
    /// Median and 95th percentile in milliseconds, and failed samples in per cent; `None` without samples.
    pub measured: Option<[f64; 3]>,
    /// From when to when it was measured, in milliseconds since the Unix epoch.
    pub span_ms: (i64, i64),
}

/// How a level ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelOutcome {
    /// No condition was true.
    Held,
    /// A condition was true.
    Broken,
    /// A condition was true, and the generator had no time of its own.
    BrokenByGenerator,
    /// The rate was not reached, since all users waited for answers.
    TooFewUsers,
    /// The rate was not reached, since the generator had no time of its own.
    GeneratorLimit,
    /// A condition could not be judged, since nothing was measured.
    NotJudged,
}

/// The state of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SearchPhase {
    /// Seconds left until the measurement begins.
    Settling(u32),
    Measuring,
    /// Seconds left for the target to recover from a level that broke a condition.
    Recovering(u32),
    Done,
}

/// The search. It listens to the run whose rate it steers.
pub struct Search {
    goal: Goal,
    control: Control,
    machine: Machine,
    phase: SearchPhase,
    /// The current level, in iterations a second.
    rate: f64,
    highest_held: Option<f64>,
    lowest_broken: Option<f64>,
    measured: Vec<Arc<Increment>>,
    /// Start of the last second, in milliseconds since the Unix epoch.
    last_ms: i64,
    seconds: Vec<Second>,
    /// The outcome of each level, in their order.
    levels: Vec<Level>,
    /// The condition that the last level could not judge.
    unjudged: Option<String>,
    /// The result so far, for the report.
    found: Rc<RefCell<Option<Capacity>>>,
    out: Box<dyn Write>,
    /// Shows on a terminal which level is measured.
    progress: Option<Work>,
}

impl Search {
    /// Begins at the goal's first level, the rate at which the run was started. Prints its lines to `out`.
    pub fn new(goal: Goal, control: Control, out: Box<dyn Write>) -> Search {
        let mut search = Search {
            rate: goal.from,
            goal,
            control,
            machine: Machine::default(),
            phase: SearchPhase::Settling(SETTLE_S + 1),
            highest_held: None,
            lowest_broken: None,
            measured: Vec::new(),
            last_ms: i64::MIN,
            seconds: Vec::new(),
            levels: Vec::new(),
            unjudged: None,
            found: Rc::default(),
            out,
            progress: None,
        };
        search.set_rate(search.rate);
        search.progress = Some(search.measuring());
        search
    }

    /// The highest rate that held, in iterations a second.
    pub fn capacity(&self) -> Option<f64> {
        self.highest_held
    }

    /// Where the search writes what it has found, for the report of its run.
    pub fn found(&self) -> Rc<RefCell<Option<Capacity>>> {
        self.found.clone()
    }

    fn note_found(&self) {
        let levels = self.levels.iter().map(|level| CapacityLevel {
            rate: level.rate,
            reached: level.reached,
            holds: level.outcome == LevelOutcome::Held,
            outcome: level.outcome.title().trim().to_owned(),
            values: level.values.clone(),
            measured: level.measured,
            span_ms: level.span_ms,
        });
        let conclusion = self.conclusion();
        let conditions = &self.goal.conditions;
        let texts: Vec<&str> = conditions.iter().map(Threshold::text).collect();
        *self.found.borrow_mut() = Some(Capacity {
            answer: conclusion
                .strip_prefix(ANSWER)
                .unwrap_or(&conclusion)
                .trim()
                .to_owned(),
            until: texts.join(" or "),
            limits_ms: conditions
                .iter()
                .filter_map(Threshold::time_limit_ms)
                .collect(),
            held: self.highest_held,
            broken: self.lowest_broken,
            levels: levels.collect(),
        });
    }

    /// Handles a finished second, or late samples of an earlier one.
    fn second(&mut self, increment: &Arc<Increment>) {
        if self.last_ms >= increment.from_ms {
            let mut measured = self.measured.iter_mut();
            if let Some(same) = measured.find(|known| known.from_ms == increment.from_ms) {
                Arc::make_mut(same).merge((**increment).clone());
            }
            return;
        }
        self.last_ms = increment.from_ms;
        match self.phase {
            SearchPhase::Done => {}
            SearchPhase::Settling(left) => {
                self.phase = match left {
                    0 | 1 => SearchPhase::Measuring,
                    _ => SearchPhase::Settling(left - 1),
                };
                self.measured.clear();
                self.seconds.clear();
            }
            SearchPhase::Recovering(left) => {
                self.measured = vec![increment.clone()];
                let is_well = self.broken(0, 1).is_none() && increment.totals().0 > 0;
                if is_well || left == 0 {
                    self.go_to_next();
                } else {
                    self.phase = SearchPhase::Recovering(left - 1);
                }
            }
            SearchPhase::Measuring => {
                self.measured.push(increment.clone());
                if self.is_settled() {
                    self.conclude();
                }
            }
        }
    }

    /// Whether the measurement suffices for a conclusion.
    fn is_settled(&self) -> bool {
        let length = self.measured.len();
        let (least, most) = MEASURE_S;
        if length >= most as usize {
            return true;
        }
        if length < least as usize || self.samples() < FEWEST_SAMPLES {
            return false;
        }
        let half = length / 2;
        let is_broken = self.broken(0, length).is_some();
        let halves = [self.broken(0, half), self.broken(half, length)];
        let agree = halves.iter().all(|half| half.is_some() == is_broken);
        agree && (is_broken || self.sent_share() >= REACHED)
    }

    fn samples(&self) -> u64 {
        let seconds = self.measured.iter();
        seconds.map(|second| second.totals().0).sum()
    }

    /// The share of arrivals that found a user.
    fn sent_share(&self) -> f64 {
        let sum = |of: fn(&Second) -> u64| self.seconds.iter().map(of).sum::<u64>() as f64;
        let due = sum(|second| second.arrivals.due);
        let left_out = sum(|second| second.arrivals.left_out);
        1.0 - left_out / due.max(1.0)
    }

    /// The rate that was reached, in samples a second.
    fn reached(&self) -> f64 {
        self.samples() as f64 / self.measured.len().max(1) as f64
    }

    /// The first condition that is broken in this range of the measured seconds.
    fn broken(&self, from: usize, to: usize) -> Option<&Threshold> {
        let recording = self.recording(from, to);
        let mut conditions = self.goal.conditions.iter();
        conditions
            .find(|condition| condition.judge(&recording).outcome() == ThresholdOutcome::Failed)
    }

    fn recording(&self, from: usize, to: usize) -> Recording {
        let mut recording = Recording::default();
        for second in &self.measured[from..to] {
            recording.absorb(second);
        }
        recording
    }

    fn conclude(&mut self) {
        let recording = self.recording(0, self.measured.len());
        let conditions = self.goal.conditions.iter();
        let verdicts: Vec<Verdict> = conditions.map(|one| one.judge(&recording)).collect();
        let worst = verdicts.iter().map(Verdict::outcome).max();
        let values = verdicts.iter().map(Verdict::measurement).collect();
        let reached = self.reached();
        let is_exhausted = self.generator_is_exhausted();
        let outcome = match (worst, self.sent_share() < REACHED, is_exhausted) {
            (Some(ThresholdOutcome::Failed), _, false) => LevelOutcome::Broken,
            (Some(ThresholdOutcome::Failed), _, true) => LevelOutcome::BrokenByGenerator,
            (_, true, true) => LevelOutcome::GeneratorLimit,
            (_, true, false) => LevelOutcome::TooFewUsers,
            (Some(ThresholdOutcome::NotJudged), false, _) => LevelOutcome::NotJudged,
            (Some(ThresholdOutcome::Passed) | None, false, _) => LevelOutcome::Held,
        };
        self.unjudged = verdicts
            .iter()
            .find(|verdict| verdict.outcome() == ThresholdOutcome::NotJudged)
            .map(Verdict::to_string);
        self.levels.push(Level {
            rate: self.rate,
            reached,
            outcome,
            values,
            measured: measured(&recording),
            span_ms: (
                self.measured.first().map_or(0, |first| first.from_ms),
                self.measured.last().map(|last| last.to_ms).unwrap_or(0),
            ),
        });
        self.tell_level();
        self.choose(outcome);
        self.note_found();
    }

    /// The next step after a level with this outcome.
    fn choose(&mut self, outcome: LevelOutcome) {
        match outcome {
            LevelOutcome::Held => {
                self.highest_held = Some(self.rate);
                self.go_to_next();
            }
            LevelOutcome::Broken | LevelOutcome::BrokenByGenerator => {
                self.lowest_broken = Some(self.rate);
                self.recover();
            }
            LevelOutcome::TooFewUsers | LevelOutcome::GeneratorLimit | LevelOutcome::NotJudged => {
                self.end()
            }
        }
    }

    /// Whether the verdict on these seconds blames the generator.
    fn generator_is_exhausted(&self) -> bool {
        let failures = Failures {
            samples: self.samples(),
            ..Failures::default()
        };
        judge(&self.seconds, &failures, &self.machine.limits()).grade == Grade::Invalid
    }

    fn measuring(&self) -> Work {
        Work::begin(format!("measuring {}/s", rounded(self.rate)))
    }

    fn recover(&mut self) {
        self.progress = Some(Work::begin("waiting for the target to recover"));
        let low = self.highest_held.unwrap_or(self.goal.from) / 2.0;
        self.set_rate(low);
        self.phase = SearchPhase::Recovering(RECOVER_S);
    }

    /// Goes upwards while every level has held, then between the highest that held and the lowest that broke.
    fn go_to_next(&mut self) {
        let next = match (self.highest_held, self.lowest_broken) {
            (Some(held), None) if held >= self.goal.max => None,
            (Some(held), None) => Some((held * self.goal.step).min(self.goal.max)),
            (Some(held), Some(broken)) if broken / held > NEAR => Some((held * broken).sqrt()),
            // Not even the first level held: is there a lower one that does?
            (None, Some(broken)) if broken > self.goal.from / 64.0 => Some(broken / 2.0),
            _ => None,
        };
        match next {
            Some(rate) => {
                self.rate = rate;
                self.set_rate(rate);
                self.phase = SearchPhase::Settling(SETTLE_S);
                self.progress = Some(self.measuring());
            }
            None => self.end(),
        }
    }

    fn set_rate(&self, rate: f64) {
        let set = self.control.set_rate(rate / self.goal.max);
        set.expect("no level is above the highest");
    }

    fn end(&mut self) {
        self.progress = None;
        self.phase = SearchPhase::Done;
        self.control.shutdown_soon();
    }

    fn tell_level(&mut self) {
        // The line takes the place of the progress.
        self.progress = None;
        let Some(level) = self.levels.last() else {
            return;
        };
        let line = format!(
            "{:>9}/s  {:>9} samples/s  {}  {}",
            rounded(level.rate),
            rounded(level.reached),
            level.outcome.title(),
            level.values.join(", ")
        );
        self.control.mark(&format!(
            "{}/s {}",
            rounded(level.rate),
            level.outcome.title().trim()
        ));
        // The search goes on if the reader of its output has gone away.
        let _ = writeln!(self.out, "{}", escape::line(&line));
        let _ = self.out.flush();
    }

    /// The result in a few lines, with a drawing of the levels.
    pub fn rendered(&self) -> String {
        let mut text = String::from("\n");
        let most = self
            .levels
            .iter()
            .map(|level| level.rate)
            .fold(1.0, f64::max);
        let mut levels: Vec<&Level> = self.levels.iter().collect();
        levels.sort_by(|a, b| a.rate.total_cmp(&b.rate));
        for level in levels {
            let width = (level.rate / most * 48.0).round().max(1.0) as usize;
            let sign = if level.outcome == LevelOutcome::Held {
                "█"
            } else {
                "░"
            };
            text.push_str(&format!(
                "{:>9}/s  {}  {}\n",
                rounded(level.rate),
                sign.repeat(width),
                level.outcome.title().trim()
            ));
        }
        text.push_str(&format!("\n{}\n", self.conclusion()));
        text
    }

    fn conclusion(&self) -> String {
        let last = self.levels.last().map(|level| level.outcome);
        let texts: Vec<&str> = self.goal.conditions.iter().map(Threshold::text).collect();
        let until = texts.join(" or ");
        let held = self.highest_held.map(rounded);
        match (held, self.lowest_broken, last) {
            (_, _, None) => {
                "capacity  unknown: the run ended before the first level was measured".to_owned()
            }
            (Some(held), _, Some(LevelOutcome::TooFewUsers)) => format!(
                "capacity  at least {held}/s: more than {} would be needed for more; raise --users",
                counted(self.goal.users.into(), "user")
            ),
            (Some(held), _, Some(LevelOutcome::GeneratorLimit)) => format!(
                "capacity  at least {held}/s: the generator was the limit, not the target; run it on a machine of its own or on more cores"
            ),
            (held, _, Some(LevelOutcome::NotJudged)) => {
                let capacity = held
                    .map(|held| format!("at least {held}/s"))
                    .unwrap_or_else(|| "unknown".to_owned());
                let unjudged = self.unjudged.as_deref().unwrap_or_default();
                format!("capacity  {capacity}: {unjudged}")
            }
            (None, _, Some(LevelOutcome::TooFewUsers)) => format!(
                "capacity  unknown: {} cannot send {}/s; raise --users",
                counted(self.goal.users.into(), "user"),
                rounded(self.rate)
            ),
            (None, _, Some(LevelOutcome::GeneratorLimit)) => {
                "capacity  unknown: the generator was the limit, not the target".to_owned()
            }
            (Some(held), Some(broken), _) => {
                let caveat = self.levels.iter().any(|level| {
                    level.outcome == LevelOutcome::BrokenByGenerator
                        && (level.rate - broken).abs() < f64::EPSILON
                });
                let caveat = if caveat {
                    "; the generator itself was short of time there, so the target may hold more"
                } else {
                    ""
                };
                format!(
                    "capacity  {held}/s; at {}/s {until}{caveat}",
                    rounded(broken)
                )
            }
            (Some(held), None, _) => {
                format!("capacity  at least {held}/s, the highest level: raise --max")
            }
            (None, _, _) => format!(
                "capacity  below {}/s: {until} at every level",
                rounded(self.rate)
            ),
        }
    }
}

/// Median and 95th percentile in milliseconds, and failed samples in per cent.
fn measured(recording: &Recording) -> Option<[f64; 3]> {
    let total = recording.total();
    let [median, p95] = [50.0, 95.0].map(|percent| total.service.percentile_ms(percent));
    (total.count > 0).then(|| [median, p95, total.row().error_percent])
}

impl LevelOutcome {
    /// The outcome in a few words, padded to equal length.
    fn title(self) -> &'static str {
        match self {
            LevelOutcome::Held => "holds           ",
            LevelOutcome::Broken => "does not hold   ",
            LevelOutcome::BrokenByGenerator => "generator limit ",
            LevelOutcome::TooFewUsers => "too few users   ",
            LevelOutcome::GeneratorLimit => "generator limit ",
            LevelOutcome::NotJudged => "not judged      ",
        }
    }
}

/// Formats with three digits, or with all digits before the decimal point.
fn rounded(value: f64) -> String {
    let digits = match value.abs() {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{value:.digits$}")
}

impl Subscriber for Search {
    fn receive(&mut self, event: &Event, _: &Recording) {
        match event {
            Event::Increment(increment) => self.second(increment),
            Event::Tick(tick) => self
                .seconds
                .extend(tick.second.iter().map(|second| (**second).clone())),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use drumfire_engine::Tick;
    use drumfire_health::Arrivals;
    use drumfire_results::{Collector, Sample};

    use super::*;

    fn goal(from: f64, max: f64) -> Goal {
        Goal {
            conditions: vec!["p95 > 300ms".parse().expect("a threshold")],
            from,
            max,
            step: 2.0,
            users: 50,
        }
    }

    /// A second of a target that answers in 10 ms up to its limit, and in one second beyond it.
    fn answered(number: i64, rate: f64, limit: f64) -> Arc<Increment> {
        let elapsed_ms = if rate > limit { 1_000 } else { 10 };
        let mut collector = Collector::default();
        for _ in 0..rate.round() as u64 {
            let mut sample = Sample::new("Home".into(), "t 1-1".into());
            sample.set_ok();
            sample.start_ms = number * 1_000 + 900 - elapsed_ms;
            sample.set_end(number * 1_000 + 900);
            collector.record(&sample);
        }
        Arc::new(collector.take_all().pop().unwrap_or_default())
    }

    /// Searches with such a target; `most` is the highest rate that the generator can send.
    fn search(from: f64, max: f64, limit: f64, most: f64) -> Search {
        let mut search = Search::new(
            goal(from, max),
            Control::default(),
            Box::new(std::io::sink()),
        );
        for number in 1_000..4_000 {
            if search.phase == SearchPhase::Done {
                break;
            }
            let asked = max * search.control.rate();
            let second = answered(number, asked.min(most), limit);
            let health = Second {
                from_ms: 0,
                to_ms: 1_000,
                arrivals: Arrivals {
                    due: asked.round() as u64,
                    left_out: (asked - most).max(0.0) as u64,
                },
                ..Second::default()
            };
            let tick = Tick {
                second: Some(Arc::new(health)),
                ..Tick::default()
            };
            let nothing = Recording::default();
            search.receive(&Event::Tick(Arc::new(tick)), &nothing);
            search.receive(&Event::Increment(second), &nothing);
        }
        assert_eq!(search.phase, SearchPhase::Done);
        assert!(search.control.stopping());
        search
    }

    #[test]
    fn the_limit_is_found_within_five_per_cent() {
        for limit in [57.0, 100.0, 333.0, 780.0] {
            let search = search(20.0, 1_000.0, limit, 1e9);
            let capacity = search.capacity().expect("a level held");
            assert!(
                (capacity / limit - 1.0).abs() < 0.05,
                "{capacity} for {limit}"
            );
            let found = search.found.borrow().clone().expect("levels were measured");
            assert_eq!(format!("capacity  {}", found.answer), search.conclusion());
            assert_eq!((found.held, found.limits_ms), (Some(capacity), vec![300.0]));
            let held = found.levels.iter().filter(|level| level.holds);
            assert!(held.clone().all(|level| level.rate <= limit));
            assert_eq!(
                held.count(),
                found
                    .levels
                    .iter()
                    .filter(|level| level.measured.is_some_and(|[_, p95, _]| p95 < 300.0))
                    .count()
            );
            let spans = found.levels.iter().map(|level| level.span_ms);
            assert!(spans.clone().is_sorted() && spans.clone().all(|(from, to)| to > from));
        }
    }

    #[test]
    fn a_condition_that_no_sample_is_about_ends_the_search_unjudged() {
        let mut goal = goal(20.0, 1_000.0);
        goal.conditions = vec!["p95 of Pay > 300ms".parse().expect("a threshold")];
        let mut search = Search::new(goal, Control::default(), Box::new(std::io::sink()));
        for number in 1_000..1_100 {
            let second = answered(number, 20.0, 1e9);
            search.receive(&Event::Increment(second), &Recording::default());
        }
        assert_eq!(search.capacity(), None);
        assert_eq!(
            search.conclusion(),
            "capacity  unknown: not judged  p95 of Pay   fails if > 300 ms   no sample has the label `Pay`"
        );
    }

    #[test]
    fn other_limits_than_the_targets_are_told() {
        let told = |search: Search| search.conclusion();
        let least = told(search(20.0, 100.0, 1e9, 1e9));
        assert_eq!(
            least,
            "capacity  at least 100/s, the highest level: raise --max"
        );
        let few = told(search(20.0, 500.0, 1e9, 130.0));
        assert_eq!(
            few,
            "capacity  at least 80.0/s: more than 50 users would be needed for more; raise --users"
        );
        let lower = search(100.0, 500.0, 30.0, 1e9);
        assert!((lower.capacity().expect("a lower level") / 30.0 - 1.0).abs() < 0.05);
        let never = told(search(100.0, 500.0, 0.0, 1e9));
        assert!(never.starts_with("capacity  below "), "{never}");
    }
}
