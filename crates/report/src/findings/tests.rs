//! Staged runs whose truth is known: what happens in them must be found, and nothing in runs in which nothing happens.

use drumfire_results::{Recording, Sample};

use super::*;
use crate::run_file::{RunVerdict, VerdictReason};

const START_MS: i64 = 1_772_359_200_000;

/// Numbers that look random and are always the same.
struct Noise(u64);

impl Noise {
    /// From 0 to 1.
    fn even(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// With mean 0 and deviation 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.even()).sum::<f64>() - 6.0
    }
}

type Of<T> = Box<dyn Fn(usize, f64) -> T>;

/// A run to stage. Functions get the label's number and the second of the run.
struct Stage {
    seconds: usize,
    labels: usize,
    /// Samples a second of all labels together.
    rate: Box<dyn Fn(f64) -> f64>,
    users: Box<dyn Fn(f64) -> u32>,
    /// The deviation of the logarithm of times.
    sigma: f64,
    /// By how much times are multiplied, and the share of samples for which they are.
    factor: Of<(f64, f64)>,
    /// The share of samples that fail, and their code.
    errors: Of<(f64, &'static str)>,
    /// The deviation of a slow change that all times share.
    restless: f64,
}

impl Default for Stage {
    fn default() -> Stage {
        Stage {
            seconds: 300,
            labels: 3,
            rate: Box::new(|_| 40.0),
            users: Box::new(|_| 20),
            sigma: 0.5,
            factor: Box::new(|_, _| (1.0, 1.0)),
            errors: Box::new(|_, _| (0.0, "")),
            restless: 0.0,
        }
    }
}

impl Stage {
    fn run(&self, seed: u64) -> RunFile {
        let mut noise = Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut recording = Recording::default();
        let mut level = 0.0_f64;
        for second in 0..self.seconds {
            let at = second as f64;
            level = 0.95 * level + self.restless * 0.31 * noise.normal();
            let count = (self.rate)(at) + noise.even();
            for turn in 0..count as usize {
                let label = (noise.even() * self.labels as f64) as usize;
                let (factor, share) = (self.factor)(label, at);
                let factor = if noise.even() < share { factor } else { 1.0 };
                let usual_ms = 20.0 * (label + 1) as f64;
                let ms = usual_ms * factor * (self.sigma * noise.normal() + level).exp();
                let mut sample = Sample::new(name(label).into(), "t".into());
                sample.set_ok();
                sample.service_us = (ms * 1000.0) as u64;
                let end_ms =
                    START_MS + second as i64 * 1000 + (turn as f64 * 1000.0 / count) as i64;
                sample.start_ms = end_ms - ms as i64;
                sample.set_end(end_ms);
                sample.all_threads = (self.users)(at);
                let (failing, code) = (self.errors)(label, at);
                if noise.even() < failing {
                    sample.success = false;
                    sample.code = code.into();
                    sample.message = "refused".into();
                }
                recording.add(&sample);
            }
        }
        let mut run = RunFile::new("staged.jmx", recording);
        run.started_ms = START_MS;
        run.ended_ms = START_MS + self.seconds as i64 * 1000;
        run
    }
}

fn name(label: usize) -> String {
    format!("label {label}")
}

/// What happens in a staged run: the rule, the label if it is only one, and the seconds from which and to which.
type Truth = (Kind, Option<usize>, Option<(i64, i64)>);

fn is_found(findings: &[Finding], (kind, label, span_s): &Truth) -> bool {
    findings.iter().any(|finding| {
        let is_label = match label {
            Some(label) => finding.label == Some((name(*label), false)),
            None => finding.label.is_none(),
        };
        let is_span = span_s.is_none_or(|(from_s, to_s)| {
            let (from_ms, to_ms) = finding.span_ms.unwrap_or((i64::MIN, i64::MAX));
            let (from, to) = (START_MS + from_s * 1000, START_MS + to_s * 1000);
            let common = to_ms.min(to) - from_ms.max(from);
            let all = to_ms.max(to).saturating_sub(from_ms.min(from));
            common as f64 >= all as f64 * 0.6
        });
        finding.kind == *kind && is_label && is_span
    })
}

fn slow(only: Option<usize>, factor: f64, from: f64, to: f64) -> Stage {
    Stage {
        factor: Box::new(move |label, at| {
            let is_slow = (from..to).contains(&at) && only.is_none_or(|only| only == label);
            (if is_slow { factor } else { 1.0 }, 1.0)
        }),
        ..Stage::default()
    }
}

/// A closed loop of users who think for a second, against a target that answers at most `capacity` requests a second.
fn saturated(capacity: f64, most_users: f64, seconds: usize) -> Stage {
    let users = move |at: f64| 4.0 + (most_users - 4.0) * at / seconds as f64;
    Stage {
        seconds,
        labels: 1,
        rate: Box::new(move |at| (users(at) / 1.02).min(capacity)),
        users: Box::new(move |at| users(at) as u32),
        factor: Box::new(move |_, at| (((users(at) / capacity - 1.0) / 0.02).max(1.0), 1.0)),
        ..Stage::default()
    }
}

fn failing(only: Option<usize>, share: f64, from: f64, to: f64) -> Stage {
    Stage {
        errors: Box::new(move |label, at| {
            let fails = (from..to).contains(&at) && only.is_none_or(|only| only == label);
            (if fails { share } else { 0.0 }, "503")
        }),
        ..Stage::default()
    }
}

fn drifting(rise: f64, seconds: usize) -> Stage {
    Stage {
        seconds,
        factor: Box::new(move |_, at| (rise.powf(at / seconds as f64), 1.0)),
        ..Stage::default()
    }
}

/// Pulses of this length, a period apart.
fn pulsing(period: f64, length: f64, factor: f64) -> Stage {
    Stage {
        factor: Box::new(move |_, at| (if at % period < length { factor } else { 1.0 }, 1.0)),
        ..Stage::default()
    }
}

fn swinging(period: f64, height: f64) -> Stage {
    let swing = move |at: f64| (height * (at / period * std::f64::consts::TAU).sin()).exp();
    Stage {
        factor: Box::new(move |_, at| (swing(at), 1.0)),
        ..Stage::default()
    }
}

#[allow(clippy::too_many_lines, reason = "a table of thirty rows")]
fn eventful() -> Vec<(Stage, Truth)> {
    let tail = Stage {
        factor: Box::new(|label, at| {
            let is_slow = (100.0..160.0).contains(&at) && label == 1;
            (if is_slow { 8.0 } else { 1.0 }, 0.3)
        }),
        ..Stage::default()
    };
    let long = Stage {
        seconds: 7_200,
        rate: Box::new(|_| 5.0),
        ..slow(Some(0), 3.0, 3_000.0, 3_900.0)
    };
    let spiked = Stage {
        users: Box::new(|at| if (120.0..150.0).contains(&at) { 90 } else { 20 }),
        ..slow(None, 4.0, 120.0, 150.0)
    };
    vec![
        (
            slow(Some(1), 6.0, 60.0, 120.0),
            (Kind::Slow, Some(1), Some((60, 120))),
        ),
        (
            slow(Some(0), 2.0, 30.0, 60.0),
            (Kind::Slow, Some(0), Some((30, 60))),
        ),
        (
            slow(Some(2), 2.5, 150.0, 210.0),
            (Kind::Slow, Some(2), Some((150, 210))),
        ),
        (
            slow(Some(0), 10.0, 200.0, 215.0),
            (Kind::Slow, Some(0), Some((200, 215))),
        ),
        (
            slow(Some(1), 3.0, 0.0, 40.0),
            (Kind::Slow, Some(1), Some((0, 40))),
        ),
        (
            slow(Some(2), 4.0, 250.0, 290.0),
            (Kind::Slow, Some(2), Some((250, 290))),
        ),
        (
            slow(None, 3.0, 100.0, 140.0),
            (Kind::Slow, None, Some((100, 140))),
        ),
        (
            slow(None, 2.0, 50.0, 150.0),
            (Kind::Slow, None, Some((50, 150))),
        ),
        (
            slow(None, 8.0, 270.0, 285.0),
            (Kind::Slow, None, Some((270, 285))),
        ),
        (
            slow(None, 2.5, 180.0, 300.0),
            (Kind::Slow, None, Some((180, 300))),
        ),
        (
            slow(Some(1), 2.0, 120.0, 300.0),
            (Kind::Slow, Some(1), Some((120, 300))),
        ),
        (tail, (Kind::Slow, Some(1), Some((100, 160)))),
        (long, (Kind::Slow, Some(0), Some((3_000, 3_900)))),
        (spiked, (Kind::Slow, None, Some((120, 150)))),
        (
            saturated(50.0, 120.0, 300),
            (Kind::Knee, None, Some((120, 300))),
        ),
        (
            saturated(30.0, 90.0, 600),
            (Kind::Knee, None, Some((195, 600))),
        ),
        (
            saturated(80.0, 160.0, 400),
            (Kind::Knee, None, Some((200, 400))),
        ),
        (
            saturated(100.0, 150.0, 300),
            (Kind::Knee, None, Some((200, 300))),
        ),
        (
            failing(None, 0.2, 150.0, 300.0),
            (Kind::Errors, None, Some((150, 300))),
        ),
        (
            failing(None, 0.05, 60.0, 120.0),
            (Kind::Errors, None, Some((60, 120))),
        ),
        (
            failing(Some(1), 0.5, 200.0, 260.0),
            (Kind::Errors, Some(1), Some((200, 260))),
        ),
        (
            failing(Some(2), 0.05, 0.0, 300.0),
            (Kind::Errors, Some(2), None),
        ),
        (failing(None, 0.03, 0.0, 300.0), (Kind::Errors, None, None)),
        (drifting(1.4, 600), (Kind::Drift, None, None)),
        (drifting(1.8, 600), (Kind::Drift, None, None)),
        (drifting(3.0, 300), (Kind::Drift, None, None)),
        (swinging(25.0, 0.4), (Kind::Waves, None, None)),
        (swinging(40.0, 0.3), (Kind::Waves, None, None)),
        (pulsing(25.0, 3.0, 4.0), (Kind::Waves, None, None)),
        (pulsing(30.0, 2.0, 6.0), (Kind::Waves, None, None)),
    ]
}

fn healthy() -> Vec<Stage> {
    let ramp = |most: f64, seconds: f64| Stage {
        seconds: seconds as usize,
        rate: Box::new(move |at| 4.0 + most * at / seconds),
        users: Box::new(move |at| 2 + (most * at / seconds) as u32),
        ..Stage::default()
    };
    let mut all = Vec::new();
    for labels in [1, 3, 8, 20] {
        for sigma in [0.2, 0.6, 1.1] {
            all.push(Stage {
                labels,
                sigma,
                ..Stage::default()
            });
        }
    }
    all.extend([ramp(60.0, 300.0), ramp(200.0, 120.0), ramp(20.0, 600.0)]);
    for restless in [0.05, 0.08, 0.1] {
        all.push(Stage {
            restless,
            ..Stage::default()
        });
        all.push(Stage {
            restless,
            seconds: 600,
            labels: 1,
            ..Stage::default()
        });
    }
    for rate in [0.5, 2.0, 8.0] {
        all.push(Stage {
            rate: Box::new(move |_| rate),
            ..Stage::default()
        });
    }
    all.push(Stage {
        errors: Box::new(|_, _| (0.001, "500")),
        ..Stage::default()
    });
    all.push(Stage {
        errors: Box::new(|_, _| (0.004, "500")),
        labels: 1,
        ..Stage::default()
    });
    all.push(Stage {
        seconds: 20,
        ..Stage::default()
    });
    all.push(Stage {
        seconds: 7_200,
        rate: Box::new(|_| 4.0),
        ..Stage::default()
    });
    let steps = |at: f64| 10.0 + 10.0 * (at / 60.0).floor();
    all.push(Stage {
        rate: Box::new(steps),
        users: Box::new(move |at| steps(at) as u32),
        ..Stage::default()
    });
    all.push(Stage {
        rate: Box::new(|at| if at % 30.0 < 10.0 { 80.0 } else { 20.0 }),
        users: Box::new(|at| if at % 30.0 < 10.0 { 40 } else { 10 }),
        ..Stage::default()
    });
    all
}

#[test]
fn each_event_of_a_run_is_a_finding() {
    let all = eventful();
    let mut missed = Vec::new();
    for (seed, (stage, truth)) in (1..).zip(&all) {
        let found = findings(&stage.run(seed));
        if !is_found(&found, truth) {
            missed.push(format!("{seed}: {truth:?}: {found:#?}"));
        }
    }
    assert_eq!(all.len(), 30);
    println!("{} of 30 are found; missed: {missed:#?}", 30 - missed.len());
    assert!(missed.len() <= 3, "{}", missed.join("\n"));
}

#[test]
fn nothing_is_found_where_nothing_happens() {
    let all = healthy();
    assert_eq!(all.len(), 30);
    for (seed, stage) in (101..).zip(&all) {
        let found = findings(&stage.run(seed));
        assert_eq!(found, [], "run {seed}");
    }
}

#[test]
fn a_finding_says_who_when_and_by_how_much() {
    let found = findings(&slow(Some(1), 6.0, 60.0, 120.0).run(1));
    let text = &found[0].text;
    assert!(
        text.starts_with("label 1 was ") && text.ends_with(" times slower from 1:00 to 2:00"),
        "{text}"
    );
    let found = findings(&failing(None, 0.2, 150.0, 300.0).run(2));
    assert_eq!(found[0].text, "503 from 2:30 on at 20 users, in all labels");
    assert!(
        found[0].evidence.contains("% of the samples then"),
        "{}",
        found[0].evidence
    );
}

#[test]
fn a_warm_up_is_named_and_told_once() {
    for (seed, (seconds, until, factor)) in (1..).zip([
        (300, 12.0, 2.5),
        (120, 10.0, 2.0),
        (600, 45.0, 3.0),
        (60, 5.0, 4.0),
    ]) {
        let stage = Stage {
            seconds,
            ..slow(None, factor, 0.0, until)
        };
        let found = findings(&stage.run(seed));
        let [finding] = &found[..] else {
            panic!("{seed}: {found:#?}")
        };
        assert_eq!(finding.kind, Kind::Warmup);
        let (from_ms, to_ms) = finding.span_ms.expect("a period");
        assert!((from_ms - START_MS).abs() < 1_000, "{from_ms}");
        let off_ms = to_ms - START_MS - (until * 1000.0) as i64;
        assert!(off_ms.abs() <= 6_000, "{off_ms} {finding:?}");
        assert!(finding.text.contains(" slower: p95 "), "{}", finding.text);
    }
    // A cache that fills: times fall to the usual ones.
    let falling = Stage {
        factor: Box::new(|_, at| (1.0 + 4.0 * (-at / 10.0).exp(), 1.0)),
        ..Stage::default()
    };
    assert_eq!(findings(&falling.run(9))[0].kind, Kind::Warmup);
    // One slow label of three, and a load that falls: neither is a warm-up.
    let busy = Stage {
        users: Box::new(|at| if at < 20.0 { 90 } else { 20 }),
        ..slow(None, 3.0, 0.0, 20.0)
    };
    for stage in [slow(Some(1), 3.0, 0.0, 40.0), busy] {
        let found = findings(&stage.run(3));
        assert!(
            found.iter().all(|finding| finding.kind == Kind::Slow),
            "{found:#?}"
        );
    }
}

#[test]
fn the_generators_own_part_is_told_first_if_it_spoils_the_run() {
    let mut run = slow(Some(1), 6.0, 60.0, 120.0).run(1);
    run.verdict = Some(RunVerdict {
        state: "INVALID".to_owned(),
        reasons: vec![VerdictReason {
            what: "the generator used all its CPU".to_owned(),
            measured: "2.0 of 2 cores".to_owned(),
            remedy: String::new(),
            spans_ms: vec![(START_MS + 60_000, START_MS + 120_000)],
        }],
    });
    let found = findings(&run);
    assert_eq!(found[0].kind, Kind::Generator);
    assert_eq!(
        found[0].text,
        "The load generator itself distorted numbers from 1:00 to 2:00: the generator used all its CPU"
    );
}

#[test]
fn a_change_against_the_baseline_is_told() {
    let mut run = Stage::default().run(1);
    run.baseline = Some(crate::run_file::BaselineChange {
        name: "baseline old.drumfire".to_owned(),
        sentence: "p95 of label 1: 40 % slower, beyond noise".to_owned(),
        is_worse: true,
    });
    let found = findings(&run);
    assert_eq!((found.len(), found[0].kind), (1, Kind::Baseline));
    assert_eq!(found[0].evidence, "compared with baseline old.drumfire");
}
