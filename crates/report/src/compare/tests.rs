use super::*;
use crate::run_file::{RunVerdict, VerdictReason};
use drumfire_results::{Recording, Sample};

/// Two minutes of 50 samples a second whose times vary by a quarter. They take `factor` times as long, and some of
/// them failed.
fn run(name: &str, seed: u64, factor: f64, failed_in_a_thousand: u64) -> RunFile {
    let mut recording = Recording::default();
    let mut state = seed;
    for i in 0..6_000i64 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let noise = (state >> 40) as f64 / (1u64 << 24) as f64;
        let wave = 1.0 + 0.1 * (i as f64 / 400.0).sin();
        let mut sample = Sample::new("page".into(), "t".into());
        sample.start_ms = 1_700_000_000_000 + i * 20;
        sample.service_us = (40_000.0 * factor * wave * (0.75 + 0.5 * noise * noise)) as u64;
        sample.set_end(sample.start_ms + sample.service_us as i64 / 1000);
        sample.success = state >> 30 & 1023 >= failed_in_a_thousand;
        recording.add(&sample);
    }
    RunFile::new(name, recording)
}

fn compared(base: &RunFile, other: RunFile) -> ComparedRun {
    Comparison::of(base, &[other], CompareOptions::default())
        .others
        .remove(0)
}

fn found(run: &ComparedRun) -> Vec<(&'static str, Finding)> {
    run.total
        .differences
        .iter()
        .map(|difference| (difference.metric, difference.finding))
        .collect()
}

#[test]
fn noise_is_no_difference() {
    let base = run("a", 1, 1.0, 5);
    for seed in 2..12 {
        let other = compared(&base, run("b", seed, 1.0, 5));
        assert_eq!(other.finding, Finding::Same, "{:?}", found(&other));
    }
}

#[test]
fn a_slower_server_is_worse_and_a_faster_one_better() {
    let base = run("a", 1, 1.0, 5);
    let slower = compared(&base, run("b", 2, 1.12, 5));
    assert_eq!(slower.finding, Finding::Worse);
    let median = &slower.total.differences[0];
    assert!(
        (median.change.expect("a change") - 0.12).abs() < 0.02,
        "{median:?}"
    );
    let [low, high] = median.interval.expect("an interval");
    assert!(
        low > 0.05 && low < 0.12 && high > 0.12 && high < 0.2,
        "{median:?}"
    );
    assert_eq!(
        compared(&base, run("b", 3, 0.85, 5)).finding,
        Finding::Better
    );
}

#[test]
fn a_change_that_does_not_matter_is_none() {
    let base = run("a", 1, 1.0, 5);
    assert_eq!(compared(&base, run("b", 2, 1.03, 5)).finding, Finding::Same);
    let strict = CompareOptions {
        smallest_change: 0.01,
    };
    let all = Comparison::of(&base, &[run("b", 2, 1.08, 5)], strict);
    assert!(all.is_worse());
}

#[test]
fn failures_are_compared_as_shares() {
    let base = run("a", 1, 1.0, 5);
    let other = compared(&base, run("b", 2, 1.0, 60));
    let errors = &other.total.differences[3];
    assert_eq!((errors.metric, errors.finding), ("failed", Finding::Worse));
    assert!(
        errors.change.is_some_and(|change| change > 0.03),
        "{errors:?}"
    );
}

#[test]
fn short_runs_are_unclear_and_strange_labels_are_told() {
    let short = |name: &str, label: &str, elapsed_us| {
        let mut recording = Recording::default();
        let mut sample = Sample::new(label.into(), "t".into());
        sample.set_ok();
        sample.service_us = elapsed_us;
        recording.add(&sample);
        RunFile::new(name, recording)
    };
    let other = compared(&short("a", "x", 1_000), short("b", "x", 2_000));
    assert_eq!(other.finding, Finding::Unclear);
    assert!(other.notes.iter().any(|note| note.contains("too short")));
    let other = compared(&short("a", "x", 1_000), short("b", "y", 1_000));
    let labels: Vec<_> = other
        .labels
        .iter()
        .map(|label| (label.label.as_str(), label.finding))
        .collect();
    assert_eq!(labels, [("x", Finding::Removed), ("y", Finding::Added)]);
}

#[test]
fn runs_that_are_too_short_are_never_called_the_same() {
    let one = |name: &str, seconds: i64| {
        let mut run = run(name, 1, 1.0, 5);
        run.ended_ms = run.started_ms + seconds * 1000;
        run
    };
    let judged = |name: &str, state: &str| {
        let mut run = one(name, 120);
        run.verdict = Some(RunVerdict {
            state: state.to_owned(),
            reasons: Vec::new(),
        });
        run
    };
    let pairs = [
        (one("a", 120), one("b", 9)),
        (one("a", 9), one("b", 120)),
        (judged("a", "VALID"), judged("b", "too short to judge")),
    ];
    for (base, other) in pairs {
        let other = compared(&base, other);
        assert!(other.notes.iter().any(|note| note.contains("too short")));
        assert_eq!(other.finding, Finding::Unclear);
        let labels = other.labels.iter().chain([&other.total]);
        for label in labels {
            assert_eq!(label.finding, Finding::Unclear);
            assert!(
                found(&other)
                    .iter()
                    .all(|(_, finding)| *finding != Finding::Same)
            );
        }
    }
    let long = compared(&judged("a", "VALID"), judged("b", "VALID"));
    assert_eq!(long.finding, Finding::Same);
}

#[test]
fn a_run_without_samples_is_never_called_the_same() {
    let empty = |name: &str| {
        let mut run = RunFile::new(name, Recording::default());
        (run.started_ms, run.ended_ms) = (0, 60_000);
        run
    };
    let full = run("a", 1, 1.0, 0);
    for (base, other) in [
        (full.clone(), empty("b")),
        (empty("b"), full),
        (empty("a"), empty("b")),
    ] {
        let other = compared(&base, other);
        assert_eq!(other.finding, Finding::Unclear);
        assert_eq!(
            other.sentence,
            "There is nothing to compare: a run has no sample"
        );
        assert!(other.notes.contains(&"b has no sample.".to_owned()));
    }
}

#[test]
fn it_is_told_in_words() {
    let all = Comparison::of(
        &run("a", 1, 1.0, 5),
        &[run("b", 2, 1.5, 5)],
        CompareOptions::default(),
    );
    let text = all.text(&|_, text| text.to_owned());
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("b against a: worse"));
    let sentence = lines.next().unwrap_or_default();
    assert!(
        sentence.starts_with("  p99 of page went from ")
            && sentence.ends_with(" ms: slower, beyond noise"),
        "{text}"
    );
    assert_eq!(
        lines.next(),
        Some("  All samples: worse, 6,000 and 6,000 samples")
    );
    let mut refused = all.clone();
    refused.others[0].refusals = vec!["the load differs".to_owned()];
    refused.refuse();
    assert!(refused.is_refused() && !refused.is_worse());
    assert_eq!(
        refused.text(&|_, text| text.to_owned()),
        "b against a: not compared\n  These runs must not be compared\n  because the load differs\n"
    );
    let markdown = all.markdown();
    assert!(
        markdown.contains("| All samples | **worse** | 6000 → 6000 | **"),
        "{markdown}"
    );
    assert!(
        all.html()
            .contains("<title>Compared with a – Drumfire</title>")
    );
}

#[test]
fn the_verdicts_of_both_runs_and_their_loads_stand_in_the_comparison() {
    let mut base = run("a", 1, 1.0, 5);
    let mut other = run("b", 2, 1.0, 5);
    let verdict = |state: &str, reasons| {
        Some(RunVerdict {
            state: state.to_owned(),
            reasons,
        })
    };
    base.verdict = verdict("VALID", Vec::new());
    let reason = VerdictReason {
        what: "the generator used all its CPU".to_owned(),
        measured: "1.98 of 2 cores".to_owned(),
        remedy: String::new(),
        spans_ms: vec![(0, 1)],
    };
    other.verdict = verdict("DEGRADED", vec![reason]);
    for (run, users) in [(&mut base, 5), (&mut other, 6)] {
        let mut sample = Sample::new("page".into(), "t".into());
        (sample.start_ms, sample.all_threads) = (1_700_000_000_000, users);
        run.recording.add(&sample);
    }
    let all = Comparison::of(&base, &[other], CompareOptions::default());
    let note = "The verdict of b is DEGRADED: the generator used all its CPU.";
    let notes = &all.others[0].notes;
    assert!(notes.iter().any(|told| told == note), "{notes:?}");
    assert!(notes.contains(&"The load is not the same: at most 5 and 6 users.".to_owned()));
    let text = all.text(&|_, text| text.to_owned());
    assert!(
        text.contains("\n  verdicts: a VALID, b DEGRADED\n"),
        "{text}"
    );
    assert!(all.markdown().contains("\nverdicts: a VALID, b DEGRADED\n"));
}

/// Labels that differ only by chance, over two minutes at two samples a second each.
fn many(name: &str, seed: u64) -> RunFile {
    let mut recording = Recording::default();
    let mut state = seed;
    for i in 0..8_000i64 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let noise = (state >> 40) as f64 / (1u64 << 24) as f64;
        let mut sample = Sample::new(format!("page {}", i % 30).into(), "t".into());
        sample.start_ms = 1_700_000_000_000 + i * 15;
        // A long tail, like that of real servers.
        sample.service_us = (5_000.0 / (1.02 - noise)) as u64;
        sample.set_end(sample.start_ms + sample.service_us as i64 / 1000);
        sample.success = state >> 30 & 1023 >= 10;
        recording.add(&sample);
    }
    RunFile::new(name, recording)
}

#[test]
fn luck_among_many_labels_is_not_taken_for_a_difference() {
    let base = many("a", 1);
    for seed in 2..12 {
        let other = compared(&base, many("b", seed));
        let finding = other.finding;
        assert!(
            matches!(finding, Finding::Same | Finding::Unclear),
            "{seed}: {finding:?}"
        );
    }
}

#[test]
fn many_tests_share_one_bound() {
    // 0.001 is below 0.01/3, 0.004 below 0.01/2, 0.02 above 0.01.
    assert_eq!(bound(vec![0.02, 0.001, 0.004]), 0.004);
    // 0.004 is above 0.01/3, so the values after it do not count either.
    assert_eq!(bound(vec![0.004, 0.006, 0.009]), 0.0);
    assert_eq!(bound(Vec::new()), 0.0);
}
