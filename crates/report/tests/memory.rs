//! A long run with many labels, by a clock that is driven by hand: its memory while it is recorded, and the page of it.

use std::fs::File;

use drumfire_report::{Apdex, RunFile, report_html};
use drumfire_results::{Recording, Sample};

const MIB: u64 = 1 << 20;

#[test]
fn twelve_hours_of_500_labels_stay_small() {
    let labels: Vec<String> = (0..500).map(|i| format!("GET /some/path/{i}")).collect();
    let mut recording = None;
    let info = allocation_counter::measure(|| recording = Some(record(&labels)));
    assert!(info.bytes_max < 64 * MIB, "{} MiB", info.bytes_max / MIB);

    let run = RunFile::new("long.jmx", recording.expect("it was recorded"));
    let page = report_html(&run, &Apdex::default(), &|_, _| false);
    assert!((page.len() as u64) < 5 * MIB, "{} bytes", page.len());
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("long.drumfire");
    run.write(File::create(&path).expect("a file"))
        .expect("it can be written");
    let size = path.metadata().expect("it is there").len();
    assert!(size < 32 * MIB, "{size} bytes");
}

/// A sample of every label every 40 seconds, whose times wander widely enough to fill many buckets.
fn record(labels: &[String]) -> Recording {
    let mut recording = Recording::default();
    let mut noise = 1u64;
    for second in (0..12 * 3600).step_by(40) {
        for label in labels {
            noise = noise
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let mut sample = Sample::new(label.as_str().into(), "t".into());
            sample.set_ok();
            sample.start_ms = 1_700_000_000_000 + second * 1000;
            sample.service_us = 1_000 << (noise >> 61) | noise >> 50;
            sample.set_end(sample.start_ms + sample.service_us as i64 / 1000);
            recording.add(&sample);
        }
    }
    recording
}
