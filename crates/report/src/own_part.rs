//! How much of a run's times passed in the generator itself, in a sentence.

use std::fmt::Write as _;

use drumfire_platform::words::ms;
use drumfire_results::{LabelStatistics, Recording};

/// A label is named if the generator has at least this share of its 99th percentile, and this many milliseconds.
const SHARE: f64 = 0.1;
const NOTICED_MS: f64 = 1.0;

/// The part of the 99th percentile that passed in the generator, of the run and of the label where it is largest. `None` if the
/// kernel's stamps do not tell.
pub fn own_part(recording: &Recording) -> Option<String> {
    let total = recording.total();
    let mut text = format!("of p99 {}", part(&total)?);
    let noticed = recording.labels.iter().filter(|label| {
        let (own_ms, p99_ms) = (own_p99_ms(label), label.service.percentile_ms(99.0));
        own_ms >= NOTICED_MS && own_ms >= SHARE * p99_ms
    });
    if let Some(label) = noticed.max_by(|a, b| own_p99_ms(a).total_cmp(&own_p99_ms(b)))
        && let Some(part) = part(label)
        && label.count < total.count
    {
        let _ = write!(text, ", of p99 of {} {part}", label.label);
    }
    text.push_str(" passed in the generator");
    Some(text)
}

/// The 99th percentile of the generator's own part, in ms.
fn own_p99_ms(label: &LabelStatistics) -> f64 {
    label.own_ms(99.0).unwrap_or(0.0)
}

/// `(41.2 ms) 0.21 ms`.
fn part(label: &LabelStatistics) -> Option<String> {
    let p99_ms = label.service.percentile_ms(99.0);
    Some(format!(
        "({} ms) {} ms",
        ms(p99_ms),
        ms(label.own_ms(99.0)?)
    ))
}

#[cfg(test)]
mod tests {
    use drumfire_results::Sample;

    use super::*;

    /// So many samples give a 99th percentile.
    const ENOUGH: usize = 300;

    fn recording(times: &[(&str, u64, Option<u64>)]) -> Recording {
        let mut recording = Recording::default();
        for (label, service_us, own_us) in times {
            let mut sample = Sample::new((*label).into(), "t".into());
            sample.set_ok();
            sample.service_us = *service_us;
            sample.own_us = *own_us;
            for _ in 0..ENOUGH {
                recording.add(&sample);
            }
        }
        recording
    }

    #[test]
    fn the_run_and_the_label_with_the_largest_part_are_named() {
        let quick = ("Home", 10_000, Some(100));
        let slow = ("Checkout", 41_000, Some(11_000));
        let told = |times: &[_]| own_part(&recording(times));
        assert_eq!(
            told(&[quick, quick]).as_deref(),
            Some("of p99 (10.0 ms) 0.100 ms passed in the generator")
        );
        assert_eq!(
            told(&[quick, slow]).as_deref(),
            Some(
                "of p99 (41.0 ms) 11.0 ms, of p99 of Checkout (41.0 ms) 11.0 ms passed in the generator"
            )
        );
        assert_eq!(told(&[("Script", 10_000, None)]), None);
    }
}
