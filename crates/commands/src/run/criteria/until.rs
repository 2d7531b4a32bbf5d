//! Ends a run once its numbers are known exactly enough (`--until 'p95 within 2%'`).

use std::str::FromStr;
use std::time::{Duration, Instant};

use drumfire_engine::{Control, Event, Subscriber};
use drumfire_results::{Interval, Metric, PERCENTS, Recording};

use super::thresholds::LabelCondition;
use crate::refusal::UsageError;
use crate::terminal::format::{ms_with_unit, rate};

/// The time between two looks, in milliseconds. A look that takes long is followed by a pause of this many times its duration.
const LOOK_MS: i64 = 5_000;
const PAUSE: i64 = 100;
/// The run does not end earlier, in milliseconds: variances of fewer seconds are uncertain.
const EARLIEST_MS: i64 = 20_000;
/// The goals must be reached in this many looks in a row. Looking often would otherwise end a run when its numbers happen to be
/// alike.
const LOOKS: u32 = 2;
/// How long samples may take to end after the goals are reached. Then they are interrupted.
const PATIENCE: Duration = Duration::from_secs(5);

/// How exactly a number is to be known.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    /// The goal as the user wrote it.
    text: String,
    number: Metric,
    /// The label; `None` for all samples.
    label: Option<String>,
    /// The largest distance of a bound from the number, as a share of the number.
    share: f64,
}

impl FromStr for Goal {
    type Err = UsageError;

    fn from_str(text: &str) -> Result<Goal, UsageError> {
        let parsed = text.rsplit_once(" within ").and_then(|(subject, share)| {
            let (name, label) = match subject.trim().split_once(" of ") {
                Some((name, label)) => (name, Some(label.trim().to_owned())),
                None => (subject, None),
            };
            let number = Metric::named(name.trim()).filter(|number| number.has_interval())?;
            let percent: f64 = share.trim().strip_suffix('%')?.trim().parse().ok()?;
            (percent > 0.0 && percent < 100.0).then(|| Goal {
                text: text.to_owned(),
                number,
                label,
                share: percent / 100.0,
            })
        });
        parsed.ok_or_else(|| {
            let named = Metric::NAMES.iter().filter(|(_, number)| number.has_interval());
            let percents = PERCENTS.map(|percent| format!("p{percent}"));
            let names: Vec<&str> = named
                .map(|(name, _)| *name)
                .chain(percents.iter().map(String::as_str))
                .collect();
            format!(
                "write a number and its width such as `p95 within 2%` or `mean of Login within 5%`, with {}",
                names.join(", ")
            )
            .into()
        })
    }
}

impl Goal {
    /// The condition on its label.
    pub fn condition(&self) -> Option<LabelCondition<'static>> {
        let label = self.label.clone()?;
        Some(LabelCondition::on(&self.text, label))
    }

    /// The number and its interval; `None` without enough samples.
    fn estimate(&self, recording: &Recording) -> Option<(f64, Interval)> {
        let total;
        let (label, precision) = match &self.label {
            None => {
                total = recording.total();
                (&total, recording.total_precision(&total))
            }
            Some(name) => {
                let mut labels = recording.labels.iter();
                let index = labels.position(|label| label.label == *name)?;
                (&recording.labels[index], recording.precision(index))
            }
        };
        self.number.estimate(label, &precision)
    }

    /// How exactly the number is known, as a share of it.
    fn width(&self, recording: &Recording) -> Option<f64> {
        let (value, interval) = self.estimate(recording)?;
        interval.relative(value)
    }

    fn is_reached(&self, recording: &Recording) -> bool {
        self.width(recording)
            .is_some_and(|width| width <= self.share)
    }

    /// The goal and what is known at the end of a run.
    fn outcome(&self, recording: &Recording) -> String {
        let text = |value| match self.number {
            Metric::Rate => format!("{}/s", rate(value)),
            _ => ms_with_unit(value),
        };
        match self.estimate(recording) {
            None => format!("`{}`: not enough samples", self.text),
            Some((value, Interval { low, high })) => {
                let high = high.map(text).unwrap_or_else(|| "?".to_owned());
                format!("`{}`: {} ({} … {high})", self.text, text(value), text(low))
            }
        }
    }
}

/// Watches the goals of a run and ends it when all of them are reached.
#[derive(Debug)]
pub struct Until {
    goals: Vec<Goal>,
    control: Control,
    started_ms: Option<i64>,
    next_look_ms: i64,
    /// Looks in a row in which all goals were reached.
    reached: u32,
    /// When the run was told to end, until samples are interrupted.
    ended: Option<Instant>,
}

impl Until {
    /// Watches these goals.
    pub fn new(goals: Vec<Goal>, control: &Control) -> Until {
        Until {
            goals,
            control: control.clone(),
            started_ms: None,
            next_look_ms: i64::MIN,
            reached: 0,
            ended: None,
        }
    }

    fn has_reached_all(&self) -> bool {
        self.reached >= LOOKS
    }

    /// For each goal, whether the run reached it, and a line that says so.
    pub fn outcome(&self, recording: &Recording) -> Vec<(bool, String)> {
        let outcomes = self.goals.iter().map(|goal| {
            let is_reached = self.has_reached_all() || goal.is_reached(recording);
            let outcome = goal.outcome(recording);
            if is_reached {
                (true, outcome)
            } else {
                (
                    false,
                    format!("{outcome}; let the run last longer, such as with `--duration 1h`"),
                )
            }
        });
        outcomes.collect()
    }

    fn look(&mut self, now_ms: i64, recording: &Recording) {
        let started_ms = *self.started_ms.get_or_insert(now_ms);
        if now_ms < self.next_look_ms || now_ms - started_ms < EARLIEST_MS {
            return;
        }
        let start = Instant::now();
        let are_reached = self.goals.iter().all(|goal| goal.is_reached(recording));
        self.reached = if are_reached { self.reached + 1 } else { 0 };
        let took_ms = i64::try_from(start.elapsed().as_millis()).unwrap_or(i64::MAX);
        self.next_look_ms = now_ms + took_ms.saturating_mul(PAUSE).max(LOOK_MS);
        if self.has_reached_all() {
            for goal in &self.goals {
                self.control.mark(&format!("`{}` ends the run", goal.text));
            }
            self.control.shutdown_soon();
            self.ended = Some(Instant::now());
        }
    }
}

impl Subscriber for Until {
    fn receive(&mut self, event: &Event, so_far: &Recording) {
        let Event::Tick(tick) = event else {
            return;
        };
        if self.ended.is_some_and(|at| at.elapsed() >= PATIENCE) {
            self.control.stop_now();
            self.ended = None;
        }
        if !self.goals.is_empty() && !self.has_reached_all() {
            self.look(tick.at_ms, so_far);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use drumfire_engine::{Stopping, Tick};
    use drumfire_results::Sample;

    use super::*;

    fn goal(text: &str) -> Goal {
        text.parse().expect("a goal")
    }

    #[test]
    fn goals_are_written_like_thresholds() {
        let all = goal("p95 within 2%");
        assert_eq!(
            (all.number, all.label, all.share),
            (Metric::Percentile(95.0), None, 0.02)
        );
        let label = goal("mean of Log in within 2 hops within 5 %");
        assert_eq!(label.label.as_deref(), Some("Log in within 2 hops"));
        for wrong in [
            "p95",
            "p95 within",
            "p95 within 2",
            "p94 within 2%",
            "p95 within 0%",
            "p95 < 2%",
        ] {
            assert!(wrong.parse::<Goal>().is_err(), "{wrong}");
        }
    }

    /// Runs a second with ten samples between 10 and 20 ms.
    fn second(recording: &mut Recording, number: i64) {
        for place in 0..10 {
            let mut sample = Sample::new("Home".into(), "t 1-1".into());
            sample.set_ok();
            sample.start_ms = 1_000_000 + number * 1_000 + place * 90;
            sample.set_end(sample.start_ms + 10 + (number * 7 + place * 3) % 11);
            recording.add(&sample);
        }
    }

    /// The seconds after which these goals end a run, if they do within ten minutes.
    fn ended_after(goals: &[&str]) -> Option<i64> {
        let control = Control::default();
        let mut until = Until::new(goals.iter().map(|text| goal(text)).collect(), &control);
        let mut recording = Recording::default();
        for number in 0..600 {
            second(&mut recording, number);
            let tick = Tick {
                at_ms: 1_001_000 + number * 1_000,
                ..Tick::default()
            };
            until.receive(&Event::Tick(Arc::new(tick)), &recording);
            if control.state() != Stopping::No {
                assert!(
                    until
                        .outcome(&recording)
                        .iter()
                        .all(|(is_reached, _)| *is_reached)
                );
                return Some(number);
            }
        }
        None
    }

    #[test]
    fn narrower_goals_take_longer() {
        let wide = ended_after(&["mean of Home within 20%"]).expect("it is reached");
        let narrow = ended_after(&["mean within 8.5%"]).expect("it is reached");
        assert!(
            (25..=35).contains(&wide) && wide < narrow,
            "{wide} {narrow}"
        );
        assert_eq!(ended_after(&["mean within 20%", "p99.9 within 1%"]), None);
        assert_eq!(ended_after(&[]), None);
    }

    #[test]
    fn goals_that_were_not_reached_say_what_is_known() {
        let until = Until::new(
            vec![goal("p95 within 1%"), goal("p99.9 within 1%")],
            &Control::default(),
        );
        let mut recording = Recording::default();
        (0..30).for_each(|number| second(&mut recording, number));
        let outcome = until.outcome(&recording);
        let (is_reached, text) = &outcome[0];
        assert!(
            !is_reached && text.starts_with("`p95 within 1%`: 20.0 ms ("),
            "{text}"
        );
        assert!(
            text.contains(" … ") && text.contains("--duration"),
            "{text}"
        );
        assert!(
            outcome[1]
                .1
                .starts_with("`p99.9 within 1%`: not enough samples;")
        );
    }
}
