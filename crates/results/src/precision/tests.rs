use super::*;
use crate::timeline::TimelineSample;

/// A run with these times in each second, in microseconds.
fn run(seconds: usize, times: impl Fn(usize) -> Vec<u64>) -> Recording {
    let mut recording = Recording::default();
    let label = recording.place("a", false);
    for second in 0..seconds {
        for service_us in times(second) {
            let end_ms = second as i64 * 1_000 + 500;
            let statistics = &mut recording.labels[label];
            statistics.count += 1;
            statistics.service.record(service_us);
            statistics.first_start_ms = 0;
            statistics.last_end_ms = seconds as i64 * 1_000;
            recording.timeline.add(&TimelineSample {
                label,
                count: 1,
                end_ms,
                service_us,
                ..TimelineSample::default()
            });
        }
    }
    recording
}

fn percentile(recording: &Recording, percent: f64) -> Option<Interval> {
    recording.precision(0).percentile_ms(percent)
}

#[test]
fn short_runs_have_no_intervals() {
    let times = |_| vec![5_000; 20];
    assert_eq!(run(7, times).precision(0), Precision::default());
    assert!(percentile(&run(8, times), 50.0).is_some());
    assert_eq!(
        Recording::default().total_precision(&Recording::default().total()),
        Precision::default()
    );
}

/// Numbers that look random.
fn scrambled(number: usize) -> u64 {
    let number = number as u64 + 1;
    (number * number).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
}

/// In one run every sample has a time of its own, in the other all samples of a second have the same.
#[test]
fn seconds_that_differ_make_intervals_wider() {
    let time = |number| 10_000 + scrambled(number) % 90_000;
    let mixed = run(400, |second| {
        (0..20).map(|place| time(second * 20 + place)).collect()
    });
    let changing = run(400, |second| vec![time(second); 20]);
    let width = |recording| {
        let interval = percentile(&recording, 50.0).expect("enough samples");
        interval.high.expect("enough samples beyond") - interval.low
    };
    let (mixed, changing) = (width(mixed), width(changing));
    assert!(changing > 3.0 * mixed, "{mixed} {changing}");
}

#[test]
fn the_resolution_of_the_histogram_belongs_to_the_interval() {
    let precise = run(60, |_| vec![1_000_001; 20]);
    let interval = percentile(&precise, 95.0).expect("enough samples");
    assert_eq!(
        interval,
        Interval {
            low: 1_000.001,
            high: Some(1_000.001)
        }
    );
    let spread = run(60, |_| vec![1_000_001, 1_000_200, 2_000_000]);
    let interval = percentile(&spread, 50.0).expect("enough samples");
    assert!(
        interval.low <= 1_000.001 && interval.high >= Some(1_000.2),
        "{interval:?}"
    );
    // JMeter's clock may have cut off up to a millisecond at either end.
    let whole = run(60, |_| vec![5_000; 20]);
    let interval = percentile(&whole, 95.0).expect("enough samples");
    assert_eq!(
        interval,
        Interval {
            low: 4.0,
            high: Some(6.0)
        }
    );
}

#[test]
fn high_percentiles_need_samples_beyond_them() {
    let few = run(20, |_| (0..10).map(|place| 10_000 + 317 * place).collect());
    assert!(suffices_for(200, 99.0) && !suffices_for(200, 99.9));
    assert!(suffices_for(1_000, 99.9) && !suffices_for(999, 99.9));
    let precision = few.precision(0);
    let high = |percent| {
        precision
            .percentile_ms(percent)
            .expect("a lower bound")
            .high
    };
    assert!(high(95.0).is_some());
    assert_eq!(high(99.9), None);
}

#[test]
fn two_samples_tell_no_percentile() {
    let rare = run(20, |second| {
        vec![10_000 * second as u64; usize::from(second % 19 == 0)]
    });
    assert_eq!(percentile(&rare, 50.0), None);
    let few = run(8, |second| vec![10_000 + 777 * second as u64]);
    let precision = few.precision(0);
    assert_eq!(
        precision
            .percentile_ms(99.0)
            .and_then(|interval| interval.high),
        None
    );
}

#[test]
fn a_steady_rate_is_known_to_one_sample() {
    let steady = run(60, |_| vec![5_000; 20])
        .precision(0)
        .rate_per_s
        .expect("a rate");
    let high = steady.high.expect("rates have both bounds");
    assert!(steady.low > 19.9 && high < 20.1, "{steady:?}");
    let changing = run(60, |second| vec![5_000; 10 + 20 * (second / 10 % 2)]);
    let changing = changing.precision(0).rate_per_s.expect("a rate");
    assert!(
        changing.low < 18.0 && changing.high > Some(22.0),
        "{changing:?}"
    );
}

#[test]
fn no_failure_does_not_mean_that_none_can_happen() {
    let failed = run(60, |_| vec![5_000; 5])
        .precision(0)
        .failed_percent
        .expect("a share");
    assert_eq!(failed.low, 0.0);
    let high = failed.high.expect("shares have both bounds");
    assert!((1.0..3.0).contains(&high), "{high}");
}

#[test]
fn years_between_two_parts_of_a_run_cost_nothing() {
    let mut parts = run(60, |_| vec![5_000, 6_000, 7_001]);
    let mut later = parts.clone();
    later.labels[0].last_end_ms += i64::from(u32::MAX) * 1_000;
    parts.timeline.add(&TimelineSample {
        count: 1,
        end_ms: i64::from(u32::MAX) * 1_000,
        ..TimelineSample::default()
    });
    parts.labels[0].service.record(0);
    let precision = parts.precision(0);
    assert_eq!(precision.rate_per_s, None);
    assert!(precision.percentile_ms(50.0).is_some());
}

/// 500 labels over 8 hours take as much time as these cells do; prints it.
#[test]
fn many_labels_and_hours() {
    let mut recording = Recording::default();
    for label in 0..500 {
        let label = recording.place(&label.to_string(), false);
        for step in 0..480 {
            for sample in 0..12 {
                let service_us = 50_000 + (step * 7_919 + sample * 104_729) % 60_000;
                recording.labels[label].service.record(service_us);
                recording.timeline.add(&TimelineSample {
                    label,
                    count: 1,
                    end_ms: step as i64 * 60_000,
                    service_us,
                    ..TimelineSample::default()
                });
            }
        }
    }
    let start = std::time::Instant::now();
    let known = (0..500)
        .filter(|label| recording.precision(*label).mean_ms.is_some())
        .count();
    println!("the intervals of 500 labels took {:?}", start.elapsed());
    assert_eq!(known, 500);
}
