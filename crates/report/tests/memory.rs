//! A long run with many labels, by a clock that is driven by hand: its memory while it is recorded, and the page of it.

use std::fs::File;
use std::io;

use drumfire_report::{Apdex, RunFile, RunStream, begun, report_html};
use drumfire_results::{Collector, Increment, Recording, Sample};

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
    let written = allocation_counter::measure(|| run.write(io::sink()).expect("it takes all"));
    assert!(written.bytes_max < MIB, "{} bytes", written.bytes_max);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("long.drumfire");
    run.write(File::create(&path).expect("a file"))
        .expect("it can be written");
    let size = path.metadata().expect("it is there").len();
    assert!(size < 32 * MIB, "{size} bytes");
}

#[test]
fn the_stream_of_a_run_holds_no_numbers() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.drumfire");
    let file = File::create(&path).expect("a file");
    let mut stream = RunStream::begin(&path, file, begun("p.jmx", 0)).expect("it begins");
    let kept = allocation_counter::measure(|| {
        for second in 0..600 {
            stream.add(&increment(second)).expect("it is written");
        }
    });
    assert!(kept.bytes_current < 1_024, "{} bytes", kept.bytes_current);
}

/// A second in which each of fifty labels has a sample.
fn increment(second: i64) -> Increment {
    let mut collector = Collector::default();
    for label in 0..50 {
        let mut sample = Sample::new(format!("GET /{label}").into(), "t".into());
        sample.set_ok();
        sample.start_ms = second * 1_000;
        sample.service_us = (second * label) as u64;
        sample.set_end(second * 1_000 + label);
        collector.record(&sample);
    }
    collector.take_all().remove(0)
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
