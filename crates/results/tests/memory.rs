//! The numbers of a run take memory by labels, not by samples and hardly by time.

#![allow(clippy::unwrap_used)]

use drumfire_results::{Collector, Increment, Recording, Sample};

const LABELS: u64 = 40;
/// Of these, half are steps, which all labels together bound.
const MOST_BYTES_A_LABEL: i64 = 96 << 10;

/// One second of samples whose times are spread from a tenth of a millisecond to seconds, as those of a busy target.
fn second(random: &mut u64) -> Increment {
    let mut collector = Collector::default();
    let labels: Vec<_> = (0..LABELS)
        .map(|label| format!("label {label}").into())
        .collect();
    for place in 0..LABELS * 60 {
        let mut sample = Sample::new(
            std::rc::Rc::clone(&labels[(place % LABELS) as usize]),
            "t 1-1".into(),
        );
        sample.set_ok();
        sample.start_ms = 500;
        sample.set_end(600);
        sample.delay_us = Some(10);
        // The mean of two spreads is likeliest in the middle.
        let mut step = || {
            *random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (*random >> 40) as f64 / (1u64 << 24) as f64
        };
        let magnitude = step() + step();
        sample.service_us = (100.0 * 10f64.powf(magnitude * 2.2)) as u64;
        collector.record(&sample);
    }
    collector.take_all().remove(0)
}

#[test]
fn an_hour_at_hundreds_of_labels_is_bounded() {
    let mut random = 7;
    let seconds: Vec<Increment> = (0..6).map(|_| second(&mut random)).collect();
    let mut recording = Recording::default();
    let mut told = Vec::new();
    let mut all = 0;
    let mut most = 0;
    for at_s in (0..3_600).step_by(20) {
        let grown = allocation_counter::measure(|| {
            let mut increment = seconds[at_s % seconds.len()].clone();
            increment.from_ms = at_s as i64 * 1_000;
            increment.to_ms = increment.from_ms + 1_000;
            recording.absorb(&increment);
        });
        all += grown.bytes_current;
        most = most.max(all);
        if [40, 120, 600, 1800, 3580].contains(&at_s) {
            told.push((at_s, all / LABELS as i64));
        }
    }
    let most = most / LABELS as i64;
    println!("{told:?} bytes a label, {most} at the most");
    assert!(most < MOST_BYTES_A_LABEL, "{told:?}");
}
