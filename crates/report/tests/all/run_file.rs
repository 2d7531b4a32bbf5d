//! Run files: what is written is read, merging adds exactly, and long runs stay small.

use std::fs::File;
use std::path::Path;

use drumfire_report::jtl::JtlOptions;
use drumfire_report::{Mark, PlanIdentity, RunFile, RunVerdict, read_input};
use drumfire_results::{Recording, Sample};

fn sample(label: &str, start_ms: i64, elapsed_us: u64) -> Sample {
    let mut sample = Sample::new(label.into(), "t".into());
    sample.set_ok();
    sample.start_ms = start_ms;
    sample.set_end(start_ms + elapsed_us as i64 / 1000);
    sample.service_us = elapsed_us;
    sample.bytes = 500;
    sample.all_threads = 3;
    sample
}

fn recording(samples: impl Iterator<Item = (&'static str, i64, u64)>) -> Recording {
    let mut recording = Recording::default();
    for (label, start_ms, elapsed_us) in samples {
        let mut one = sample(label, 1_700_000_000_000 + start_ms, elapsed_us);
        one.success = elapsed_us % 7 != 0;
        recording.add(&one);
    }
    recording
}

fn written_and_read(run: &RunFile) -> RunFile {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.drumfire");
    run.write(File::create(&path).expect("a file"))
        .expect("it can be written");
    read_input(&path, &JtlOptions::default(), &mut Vec::new()).expect("it can be read")
}

#[test]
fn run_files_read_back_as_they_were_written() {
    let mut run = RunFile::new(
        "shop.jmx",
        recording((0..500).map(|i| (["a", "b"][i as usize % 2], i * 37, 900 + i as u64 * 13))),
    );
    run.plan = Some(PlanIdentity {
        path: "shop.jmx".to_owned(),
        sha256: "00".to_owned(),
    });
    run.environment
        .push(("processors".to_owned(), "2".to_owned()));
    run.verdict = Some(RunVerdict {
        state: "VALID".to_owned(),
        reasons: Vec::new(),
    });
    run.marks.push(Mark {
        at_ms: 5,
        text: "server restarted".to_owned(),
    });
    let again = written_and_read(&run);
    assert_eq!(again.recording.rows(), run.recording.rows());
    assert_eq!(again.recording.errors.list(), run.recording.errors.list());
    assert!(again.recording.timeline.total() == run.recording.timeline.total());
    assert_eq!(
        (again.plan, again.marks, again.verdict),
        (run.plan, run.marks, run.verdict)
    );
}

#[test]
fn merging_is_the_same_as_one_run() {
    let times = |i: i64| 1_000 + (i as u64 * 7919) % 90_000;
    let half = |odd: i64| {
        recording(
            (0..2_000)
                .filter(move |i| i % 2 == odd)
                .map(move |i| ("a", i * 11, times(i))),
        )
    };
    let whole = recording((0..2_000).map(|i| ("a", i * 11, times(i))));
    let mut merged = RunFile::new("one", half(0));
    merged.merge(&[written_and_read(&RunFile::new("two", half(1)))]);
    assert_eq!(merged.recording.rows(), whole.rows());
    assert!(merged.recording.timeline.total() == whole.timeline.total());
    assert_eq!(merged.name, "one + two");
}

#[test]
fn a_run_file_of_a_later_version_or_a_damaged_one_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.drumfire");
    let mut text =
        serde_json::to_string(&RunFile::new("x", Recording::default())).expect("it can be written");
    let read = |path: &Path| {
        read_input(path, &JtlOptions::default(), &mut Vec::new())
            .expect_err("it is refused")
            .to_string()
    };
    text = text.replace("\"version\":1", "\"version\":9");
    std::fs::write(&path, &text).expect("a file");
    assert!(read(&path).contains("has version 9"), "{}", read(&path));
    std::fs::write(&path, &text[..text.len() / 2]).expect("a file");
    assert!(read(&path).contains("is damaged"), "{}", read(&path));
}
