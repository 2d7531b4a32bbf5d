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
fn each_metric_is_told_with_its_value_and_margin() {
    for (text, expected) in [
        (
            "errors > 1%",
            "not met  errors > 1%: 2%, 1% above the limit",
        ),
        ("errors>3", "not met  errors>3: 4, 1 above the limit"),
        ("errors > 4", "met      errors > 4: 4, exactly the limit"),
        ("errors >= 4", "not met  errors >= 4: 4, exactly the limit"),
        (
            "samples < 1",
            "met      samples < 1: 200, 199 above the limit",
        ),
        (
            "samples <= 200",
            "not met  samples <= 200: 200, exactly the limit",
        ),
        (
            "max > 0.25s",
            "met      max > 0.25s: 0.2 s, 0.05 s below the limit",
        ),
        (
            "min < 2ms",
            "not met  min < 2ms: 1 ms, 1 ms below the limit",
        ),
        (
            "avg > 100 ms",
            "not met  avg > 100 ms: 100.5 ms, 0.5 ms above the limit",
        ),
        (
            "p100 > 200ms",
            "met      p100 > 200ms: 200 ms, exactly the limit",
        ),
        // 200 samples in 20.1 s.
        (
            "rate < 10/s",
            "not met  rate < 10/s: 9.95/s, 0.05/s below the limit",
        ),
        (
            "rate < 540/min",
            "met      rate < 540/min: 597.015/min, 57.015/min above the limit",
        ),
    ] {
        assert_eq!(judge(text), expected);
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
        assert_eq!(threshold.judge(&recording()).is_met(), is_met, "{text}");
    }
}

#[test]
fn a_label_narrows_the_samples() {
    for (text, expected) in [
        (
            "label:Buy max > 1s",
            "not met  label:Buy max > 1s: 5 s, 4 s above the limit",
        ),
        (
            "label:Log in max > 1s",
            "met      label:Log in max > 1s: 0.2 s, 0.8 s below the limit",
        ),
        (
            "label:\"Log in\" samples < 201",
            "not met  label:\"Log in\" samples < 201: 200, 1 below the limit",
        ),
        (
            "max of Log in > 1s",
            "met      max of Log in > 1s: 0.2 s, 0.8 s below the limit",
        ),
        (
            "max of /^(Buy|Log)/ > 1s",
            "met      max of /^(Buy|Log)/ > 1s: 0.2 s, 0.8 s below the limit",
        ),
        (
            "max of /B.y/ > 1s",
            "not met  max of /B.y/ > 1s: 5 s, 4 s above the limit",
        ),
        (
            "label:Logon errors > 0",
            "not met  label:Logon errors > 0: no samples",
        ),
    ] {
        assert_eq!(judge(text), expected);
    }
}

#[test]
fn a_run_without_samples_has_counts_only() {
    let judge = |text: &str| {
        text.parse::<Threshold>()
            .unwrap()
            .judge(&Recording::default())
            .is_met()
    };
    assert!(judge("errors > 0"));
    assert!(
        !judge("samples < 1")
            && !judge("rate < 1/s")
            && !judge("errors > 1%")
            && !judge("p95 > 1s")
    );
}

#[test]
fn what_is_wrong_is_said_precisely() {
    for (text, expected) in [
        (
            "p95",
            "a comparison (<, <=, > or >=) is missing, as in 'p95 > 300ms'",
        ),
        (
            "p95 = 3ms",
            "a comparison (<, <=, > or >=) is missing, as in 'p95 > 300ms'",
        ),
        (
            "> 3ms",
            "the metric is missing; the metrics are errors, samples, rate, avg, min, max and percentiles such as p50, p95 or p99.9",
        ),
        (
            "p0 > 3ms",
            "there is no metric 'p0'; the metrics are errors, samples, rate, avg, min, max and percentiles such as p50, p95 or p99.9",
        ),
        ("p95 >", "the limit is missing"),
        ("p95 > fast", "'fast' is not a limit: a number is expected"),
        ("p95 > -3ms", "'-3ms' is not a limit: a number is expected"),
        (
            "p95 > 300",
            "'300' is not a limit for p95, which is a time and needs its unit: us, ms, s or min",
        ),
        (
            "rate < 10",
            "'10' is not a limit for rate, which needs its unit: /s, /min or /h",
        ),
        (
            "samples < 5%",
            "'5%' is not a limit for samples, which is a count, without a unit",
        ),
        (
            "errors > 5ms",
            "'5ms' is not a limit for errors, which is a count, or a share with %",
        ),
        (
            "Login p95 > 3ms",
            "'Login' is unexpected; a label is written label:Login",
        ),
        (
            "label:p95 > 3ms",
            "the metric is missing after the label, as in 'label:Login p95 > 300ms'",
        ),
        ("label: p95 > 3ms", "the label is empty"),
        (
            "p95 > 3ms for ever",
            "'ever' is not a time from 1s to 1h, such as 30s or 5min",
        ),
        (
            "p95 > 3ms over 2h",
            "'2h' is not a time from 1s to 1h, such as 30s or 5min",
        ),
        ("p95 of \"\" > 3ms", "the label is empty"),
    ] {
        let error = text.parse::<Threshold>().expect_err(text);
        assert_eq!(error.to_string(), format!("threshold '{text}': {expected}"));
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
