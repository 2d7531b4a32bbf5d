use super::*;
use crate::sample::Sample;

/// 200 samples of Login, from 1 to 200 ms, four of them failed, started every 100 ms; one transaction of 5 s.
fn recording() -> Recording {
    let mut recording = Recording::default();
    let mut add =
        |label: &str, transaction: bool, start_ms: i64, elapsed_ms: i64, success: bool| {
            let mut sample = Sample::new(label.into(), "t".into());
            sample.set_ok();
            sample.start_ms = 1_000 + start_ms;
            sample.set_end(1_000 + start_ms + elapsed_ms);
            sample.success = success;
            let place = recording.place(label, transaction);
            recording.labels[place].add(&sample);
        };
    for i in 0..200 {
        add("Log in", false, i * 100, i + 1, i % 50 != 0);
    }
    add("Buy", true, 0, 5_000, true);
    add("Log in", true, 0, 9_000, true);
    recording
}

fn judge(text: &str) -> String {
    let threshold: Threshold = text.parse().unwrap_or_else(|error| panic!("{error}"));
    threshold.judge(&recording()).to_string()
}

#[test]
fn each_metric_is_told_with_its_value_and_the_condition_that_fails() {
    for (text, expected) in [
        ("errors > 1%", "FAILED  errors 2 %   fails if > 1 %"),
        ("errors>3", "FAILED  errors 4   fails if > 3"),
        ("errors > 4", "ok      errors 4   fails if > 4"),
        ("errors >= 4", "FAILED  errors 4   fails if >= 4"),
        ("samples < 1", "ok      samples 200   fails if < 1"),
        ("samples <= 200", "FAILED  samples 200   fails if <= 200"),
        ("max > 0.25s", "ok      max 0.2 s   fails if > 0.25 s"),
        ("min < 2ms", "FAILED  min 1 ms   fails if < 2 ms"),
        ("mean > 100 ms", "FAILED  mean 100.5 ms   fails if > 100 ms"),
        ("p100 > 200ms", "ok      p100 200 ms   fails if > 200 ms"),
        ("max > 1us", "FAILED  max 200000 µs   fails if > 1 µs"),
        // 200 samples in 20.1 s.
        ("rate < 10/s", "FAILED  rate 9.95/s   fails if < 10/s"),
        (
            "rate < 540/min",
            "ok      rate 597.015/min   fails if < 540/min",
        ),
    ] {
        assert_eq!(judge(text), expected);
    }
}

#[test]
fn a_value_next_to_its_limit_is_not_rounded_to_it() {
    // The rate is 9.950248…
    assert_eq!(
        judge("rate < 9.9502/s"),
        "ok      rate 9.95025/s   fails if < 9.9502/s"
    );
    assert_eq!(
        judge("rate < 9.95/s"),
        "ok      rate 9.9502/s   fails if < 9.95/s"
    );
}

#[test]
fn a_rule_that_fails_good_runs_is_told_the_other_way_round() {
    for (text, expected) in [
        (
            "p95 < 300ms",
            Some("`p95 < 300ms` fails runs whose p95 is below 300 ms; write `p95 > 300ms`"),
        ),
        (
            "p95 of Log in <= 0.3s over 10s",
            Some(
                "`p95 of Log in <= 0.3s over 10s` fails runs whose p95 of Log in is below 0.3 s; write `p95 of Log in > 0.3s over 10s`",
            ),
        ),
        (
            "errors<1%",
            Some("`errors<1%` fails runs whose errors are below 1 %; write `errors>1%`"),
        ),
        (
            "rate >= 10/s",
            Some("`rate >= 10/s` fails runs whose rate is above 10/s; write `rate < 10/s`"),
        ),
        (
            "samples > 100",
            Some("`samples > 100` fails runs whose samples are above 100; write `samples < 100`"),
        ),
        ("p95 > 300ms", None),
        ("errors >= 1", None),
        ("rate < 10/s", None),
        ("samples < 1", None),
    ] {
        let threshold: Threshold = text.parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(threshold.inversion().as_deref(), expected, "{text}");
    }
}

#[test]
fn percentiles_are_within_a_thousandth() {
    for (text, is_met) in [
        ("p50 > 99ms", false),
        ("median > 101ms", true),
        ("p95 > 189ms", false),
        ("p95 > 191ms", true),
        ("p99.5 > 198ms", false),
    ] {
        let threshold: Threshold = text.parse().unwrap();
        let outcome = threshold.judge(&recording()).outcome();
        assert_eq!(outcome == ThresholdOutcome::Passed, is_met, "{text}");
    }
}

#[test]
fn a_label_narrows_the_samples() {
    for (text, expected) in [
        (
            "label:Buy max > 1s",
            "FAILED  max of Buy 5 s   fails if > 1 s",
        ),
        (
            "label:Log in max > 1s",
            "ok      max of Log in 0.2 s   fails if > 1 s",
        ),
        (
            "label:\"Log in\" samples < 201",
            "FAILED  samples of Log in 200   fails if < 201",
        ),
        (
            "max of Log in > 1s",
            "ok      max of Log in 0.2 s   fails if > 1 s",
        ),
        (
            "max of /^(Buy|Log)/ > 1s",
            "ok      max of /^(Buy|Log)/ 0.2 s   fails if > 1 s",
        ),
        (
            "max of /B.y/ > 1s",
            "FAILED  max of /B.y/ 5 s   fails if > 1 s",
        ),
        (
            "label:Logon errors > 0",
            "not judged  errors of Logon   fails if > 0   no sample has the label `Logon`",
        ),
        (
            "samples of Logon < 1",
            "FAILED  samples of Logon 0   fails if < 1",
        ),
        (
            "samples of Logon > 1",
            "not judged  samples of Logon 0   fails if > 1   no sample has the label `Logon`",
        ),
    ] {
        assert_eq!(judge(text), expected);
    }
}

#[test]
fn only_the_number_of_samples_is_known_of_a_run_without_samples() {
    let judge = |text: &str| {
        let threshold: Threshold = text.parse().unwrap_or_else(|error| panic!("{error}"));
        threshold.judge(&Recording::default()).outcome()
    };
    assert_eq!(judge("samples < 1"), ThresholdOutcome::Failed);
    for text in [
        "errors > 0",
        "errors > 1%",
        "rate < 1/s",
        "p95 > 1s",
        "samples > 5",
    ] {
        assert_eq!(judge(text), ThresholdOutcome::NotJudged, "{text}");
    }
}

#[test]
fn wrong_thresholds_are_refused_with_the_wrong_part() {
    for (text, expected) in [
        ("p95", "a comparison (<, <=, > or >=) is missing"),
        ("p95 = 3ms", "a comparison (<, <=, > or >=) is missing"),
        (
            "> 3ms",
            "the metric is missing; the metrics are errors, samples, rate, avg, mean, min, max, median and percentiles such as p50, p95 or p99.9; of streamed responses `ttft p95` and `gap p95`",
        ),
        (
            "p0 > 3ms",
            "there is no metric `p0`; the metrics are errors, samples, rate, avg, mean, min, max, median and percentiles such as p50, p95 or p99.9; of streamed responses `ttft p95` and `gap p95`",
        ),
        ("p95 >", "the limit is missing"),
        ("p95 > fast", "`fast` is not a limit: a number is expected"),
        ("p95 > -3ms", "`-3ms` is not a limit: a number is expected"),
        (
            "p95 > 300",
            "`300` is not a limit for p95, which is a time and needs its unit: us, ms, s or min",
        ),
        (
            "rate < 10",
            "`10` is not a limit for rate, which needs its unit: /s, /min or /h",
        ),
        (
            "samples < 5%",
            "`5%` is not a limit for samples, which is a count, without a unit",
        ),
        (
            "errors > 5ms",
            "`5ms` is not a limit for errors, which is a count, or a share with %",
        ),
        (
            "Login p95 > 3ms",
            "`Login` is unexpected; a label is written `label:Login`",
        ),
        (
            "label:p95 > 3ms",
            "the metric is missing after the label, as in `label:Login p95 > 300ms`",
        ),
        ("label: p95 > 3ms", "the label is empty"),
        (
            "p95 > 3ms for ever",
            "`ever` is not a time from 1s to 1h, such as 30s or 5min",
        ),
        (
            "p95 > 3ms over 2h",
            "`2h` is not a time from 1s to 1h, such as 30s or 5min",
        ),
        ("p95 of \"\" > 3ms", "the label is empty"),
    ] {
        let error = text.parse::<Threshold>().expect_err(text);
        let shown = error.to_string();
        let first = shown.lines().next().unwrap_or_default();
        assert_eq!(first, format!("threshold `{text}`: {expected}"));
    }
}

#[test]
fn verdicts_keep_text_and_unit() {
    let judged = |text: &str| {
        let threshold: Threshold = text.parse().unwrap_or_else(|error| panic!("{error}"));
        threshold.judge(&recording())
    };
    assert_eq!(judged("errors > 1%").text(), "errors > 1%");
    let value = |text: &str| judged(text).value().expect("there are samples");
    let (second, minute, hour) = (
        value("rate < 1/s"),
        value("rate < 1/min"),
        value("rate < 1/h"),
    );
    assert!(second > 0.0);
    assert!((minute / second - 60.0).abs() < 1e-9 && (hour / second - 3_600.0).abs() < 1e-6);
}

#[test]
fn the_worse_value_is_the_one_nearer_to_breaking() {
    for (text, worse, better) in [
        ("samples < 1", 1.0, 2.0),
        ("samples <= 1", 1.0, 2.0),
        ("errors > 1", 2.0, 1.0),
        ("errors >= 1", 2.0, 1.0),
    ] {
        let threshold: Threshold = text.parse().unwrap_or_else(|error| panic!("{error}"));
        assert!(threshold.is_worse(worse, better), "{text}");
        assert!(!threshold.is_worse(better, worse), "{text}");
        assert!(!threshold.is_worse(worse, worse), "{text}");
    }
}

#[test]
fn subjects_are_equal_by_their_texts() {
    let pattern = |text: &str| {
        let regex = Regex::new(text).expect("a pattern");
        Subject::Pattern(text.to_owned(), regex)
    };
    let all = [
        Subject::All,
        Subject::Label("a".to_owned()),
        Subject::Label("b".to_owned()),
        pattern("a"),
        pattern("b"),
    ];
    for (place, one) in all.iter().enumerate() {
        let equal = all.iter().map(|other| one == other);
        let own = (0..all.len()).map(|other| other == place);
        assert!(equal.eq(own), "{one:?}");
    }
}

#[test]
fn an_outcome_is_a_sentence_for_people_who_have_not_written_the_threshold() {
    for (text, expected) in [
        (
            "errors > 1%",
            "The share of failed samples went above 1 %: 2 %",
        ),
        ("errors >= 4", "The number of failed samples reached 4: 4"),
        (
            "p95 of Log in > 300ms",
            "The 95th percentile of Log in stayed below 300 ms: ",
        ),
        ("p50 > 1s", "The median stayed below 1 s: "),
        ("p91 > 1s", "The 91st percentile stayed below 1 s: "),
        ("p99.9 > 1s", "The 99.9th percentile stayed below 1 s: "),
        ("rate < 1/s", "The rate stayed above 1/s: 9.95/s"),
        ("rate < 10/s", "The rate went below 10/s: 9.95/s"),
        ("max > 200ms", "The maximum stayed at 200 ms: 200 ms"),
        (
            "p95 of nobody > 1s",
            "The 95th percentile of nobody could not be judged: no sample has the label `nobody`",
        ),
    ] {
        let threshold: Threshold = text.parse().unwrap_or_else(|error| panic!("{error}"));
        let statement = threshold.judge(&recording()).statement();
        assert!(statement.starts_with(expected), "{statement}");
    }
}

#[test]
fn times_of_streamed_responses_are_judged() {
    let mut recording = recording_of_streams();
    let judge = |text: &str, recording: &Recording| {
        let threshold: Threshold = text.parse().unwrap_or_else(|error| panic!("{error}"));
        threshold.judge(recording).to_string()
    };
    assert_eq!(
        judge("ttft p95 > 800ms", &recording),
        "FAILED  ttft p95 900 ms   fails if > 800 ms"
    );
    assert_eq!(
        judge("label:Chat ttft max > 1s", &recording),
        "ok      ttft max of Chat 0.9 s   fails if > 1 s"
    );
    assert_eq!(
        judge("gap median of Chat > 30ms", &recording),
        "ok      gap median of Chat 20 ms   fails if > 30 ms"
    );
    let missing = "no streamed response with an event has the label `Home`";
    assert!(judge("ttft p95 of Home > 1ms", &recording).ends_with(missing));
    recording.labels.retain(|label| label.stream.is_none());
    let missing = "the run has no streamed response with two events";
    assert!(judge("gap p95 > 1ms", &recording).ends_with(missing));
}

#[test]
fn streams_have_no_rates_of_their_own() {
    let refused = "ttft rate < 3/s".parse::<Threshold>().unwrap_err();
    let why = "`ttft` needs avg, min, max or a percentile, as in `ttft p95 > 300ms`";
    assert!(refused.to_string().contains(why), "{refused}");
    let statement = |text: &str| {
        let threshold: Threshold = text.parse().unwrap_or_else(|error| panic!("{error}"));
        threshold.judge(&recording_of_streams()).statement()
    };
    assert_eq!(
        statement("ttft p95 of Chat > 1000ms"),
        "The 95th percentile of the time to the first event in Chat stayed below 1000 ms: 900 ms"
    );
}

/// A streamed response, Chat, and a sample without a stream, Home.
fn recording_of_streams() -> Recording {
    let mut recording = Recording::default();
    let mut sample = Sample::new("Home".into(), "t 1-1".into());
    sample.set_ok();
    sample.start_ms = 1_000;
    sample.set_end(1_100);
    recording.add(&sample);
    let mut stream = crate::streams::StreamSample {
        first_event_us: Some(900_000),
        events: 2,
        ..Default::default()
    };
    stream.gaps.record(20_000);
    sample.label = "Chat".into();
    sample.stream = Some(Box::new(stream));
    recording.add(&sample);
    recording
}
