//! Percentiles are those of all samples of a run, to three digits: compared with the sorted times of every row.

use std::path::Path;

use drumfire_report::jtl::{self, JtlOptions};
use drumfire_report::{RunFile, statistics_json};
use serde_json::Value;

/// The value of Commons Math's `Percentile` for sorted values, which JMeter's dashboard uses.
fn exact(sorted: &[u64], percent: f64) -> f64 {
    let position = percent * (sorted.len() as f64 + 1.0) / 100.0;
    let at = |rank: f64| sorted[(rank.max(1.0) as usize).min(sorted.len()) - 1] as f64;
    let floor = position.floor();
    at(floor) + (position - floor) * (at(floor + 1.0) - at(floor))
}

fn statistics(times_ms: &[u64]) -> Value {
    let rows = times_ms.iter().enumerate();
    let rows = rows.map(|(i, ms)| format!("{},{ms},a,true\n", 1_700_000_000_000 + i as u64));
    let text = "timeStamp,elapsed,label,success\n".to_owned() + &rows.collect::<String>();
    let jtl = jtl::read(
        Path::new("run.jtl"),
        text.as_bytes(),
        &JtlOptions::default(),
    );
    let run = RunFile::of_result_file(Path::new("run.jtl"), jtl.expect("it is good").recording);
    serde_json::from_str(&statistics_json(&run, [Some(90.0), Some(95.0), Some(99.9)]))
        .expect("it is JSON")
}

fn assert_exact(times_ms: &[u64], what: &str) {
    let found = &statistics(times_ms)["a"];
    let mut sorted = times_ms.to_vec();
    sorted.sort_unstable();
    for (field, percent) in [
        ("medianResTime", 50.0),
        ("pct1ResTime", 90.0),
        ("pct2ResTime", 95.0),
        ("pct3ResTime", 99.9),
    ] {
        let (found, exact) = (
            found[field].as_f64().expect("a number"),
            exact(&sorted, percent),
        );
        assert!(
            (found - exact).abs() <= exact * 0.001,
            "{what}, {field}: {found} is not {exact}"
        );
    }
    let mean = sorted.iter().sum::<u64>() as f64 / sorted.len() as f64;
    let found_mean = found["meanResTime"].as_f64().expect("a number");
    assert!(
        (found_mean - mean).abs() < 1e-6 * mean,
        "{what}: {found_mean} is not {mean}"
    );
    assert_eq!(found["minResTime"], sorted[0] as f64);
    assert_eq!(found["maxResTime"], sorted[sorted.len() - 1] as f64);
}

fn noise(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    }
}

/// JMeter's dashboard keeps the last 20,000 times of a label: of this run it shows the second half alone.
#[test]
fn a_step_after_twenty_thousand_samples_is_seen_as_a_whole() {
    let mut next = noise(1);
    let times: Vec<u64> = (0..40_000)
        .map(|i| 40 + next() % 30 + if i < 20_000 { 0 } else { 5_000 })
        .collect();
    assert_exact(&times, "a step");
    let reversed: Vec<u64> = times.iter().rev().copied().collect();
    assert_exact(&reversed, "a step down");
    let median = statistics(&times)["a"]["medianResTime"].as_f64();
    assert!(median.is_some_and(|ms| ms < 5_040.0), "{median:?}");
}

#[test]
fn shapes_that_are_hard_for_sketches() {
    let mut next = noise(2);
    let mut times =
        |of: &dyn Fn(u64, u64) -> u64| -> Vec<u64> { (0..12_000).map(|i| of(i, next())).collect() };
    let shapes: [(&str, Vec<u64>); 6] = [
        (
            "two modes far apart",
            times(&|i, n| {
                if i % 20 == 0 {
                    60_000 + n % 9_000
                } else {
                    1 + n % 3
                }
            }),
        ),
        ("sorted", times(&|i, _| 1 + i)),
        ("backwards", times(&|i, _| 12_000 - i)),
        ("all the same", times(&|_, _| 777)),
        ("powers", times(&|_, n| 1 << (n % 20))),
        (
            "one in a thousand",
            times(&|i, n| {
                if i % 1_000 == 0 {
                    3_600_000
                } else {
                    10 + n % 5
                }
            }),
        ),
    ];
    for (what, times) in shapes {
        assert_exact(&times, what);
    }
}
