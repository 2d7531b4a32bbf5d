//! Many samples on their way through recorders, queue and writer.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use drumfire_results::{
    ExistingFile, Filter, Handover, OutputSet, OutputSpec, Recorder, Recording, ResultFolder,
    ResultWriter, RowFormat, Sample, SaveConfig, SummaryDelta, TRANSACTION_MESSAGE_PREFIX, Written,
};

fn place() -> ResultFolder {
    ResultFolder {
        base_dir: "/".into(),
        base_prefix: "~/".to_owned(),
        existing: ExistingFile::Append,
    }
}

fn spec(file: &Path, filter: Filter) -> OutputSpec {
    let flags = [("label", "true"), ("threadName", "true")];
    OutputSpec {
        file_name: file.to_str().unwrap().to_owned(),
        format: RowFormat::new(
            SaveConfig::default().with_flags(flags).unwrap(),
            [].into(),
            "host".into(),
        ),
        filter,
    }
}

fn sample(label: &str, thread: &str, success: bool) -> Sample {
    let mut sample = Sample::new(label.into(), thread.into());
    sample.success = success;
    sample.start_ms = 1_000;
    sample.set_end(1_010);
    sample
}

#[test]
fn filters_choose_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let [all, good, bad] = ["all", "good", "bad"].map(|name| folder.path().join(name));
    let specs = vec![
        spec(&all, Filter::new(true, true)),
        spec(&good, Filter::new(false, true)),
        spec(&bad, Filter::new(true, false)),
    ];
    let writer = ResultWriter::open(specs, &place()).unwrap();
    let mut recorder = Recorder::new(&writer.inlet(), &Arc::new(Handover::new(0)), true);
    let outputs = OutputSet::new(0..3, []);
    recorder.record(&sample("a", "t", true), &outputs);
    recorder.record(&sample("b", "t", false), &outputs);
    let mut ignored = sample("c", "t", true);
    ignored.ignore = true;
    recorder.record(&ignored, &outputs);
    drop(recorder);
    writer.finish();
    assert_eq!(fs::read_to_string(all).unwrap(), "a,t\nb,t\n");
    assert_eq!(fs::read_to_string(good).unwrap(), "a,t\n");
    assert_eq!(fs::read_to_string(bad).unwrap(), "b,t\n");
}

#[test]
fn listeners_with_the_same_name_write_a_sample_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.csv");
    let specs = vec![
        spec(&file, Filter::Errors),
        spec(&file, Filter::All),
        spec(&file, Filter::All),
    ];
    let writer = ResultWriter::open(specs, &place()).unwrap();
    let mut recorder = Recorder::new(&writer.inlet(), &Arc::new(Handover::new(0)), true);
    recorder.record(&sample("a", "t", false), &OutputSet::new([0, 1, 2], []));
    recorder.record(&sample("b", "t", true), &OutputSet::new([0, 1, 2], []));
    recorder.record(&sample("c", "t", true), &OutputSet::new([0], []));
    recorder.record(&sample("d", "t", true), &OutputSet::new([2], []));
    drop(recorder);
    assert_eq!(writer.finish().files[0].rows, 3);
    assert_eq!(fs::read_to_string(&file).unwrap(), "a,t\nb,t\nd,t\n");
}

/// JMeter passes a transaction that a loop inside left early to its listeners at once, and again at its end.
#[test]
fn a_sample_that_comes_again_counts_once_and_has_one_row_in_each_file() {
    let folder = tempfile::tempdir().unwrap();
    let [all, bad] = ["all", "bad"].map(|name| folder.path().join(name));
    let specs = vec![spec(&all, Filter::All), spec(&bad, Filter::Errors)];
    let writer = ResultWriter::open(specs, &place()).unwrap();
    let handover = Arc::new(Handover::new(1));
    let mut recorder = Recorder::new(&writer.inlet(), &handover, true);
    let outputs = OutputSet::new([0, 1], [0]);
    let mut twice = sample("a", "t", true);
    recorder.record(&twice, &outputs);
    twice.success = false;
    recorder.record(&twice, &outputs);
    recorder.flush_all();
    let delivery = handover.take();
    assert_eq!(delivery.seconds[0].totals(), (1, 0));
    let mut expected = SummaryDelta::EMPTY;
    expected.add(&sample("a", "t", true));
    expected.add(&twice);
    assert_eq!(delivery.summaries[0], expected);
    drop(recorder);
    writer.finish();
    assert_eq!(fs::read_to_string(all).unwrap(), "a,t\n");
    assert_eq!(fs::read_to_string(bad).unwrap(), "a,t\n");
}

#[test]
fn no_row_is_lost_and_each_threads_rows_stay_in_order() {
    const WORKERS: usize = 3;
    const ROWS: usize = 20_000;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.csv");
    // A limit below one buffer makes the workers wait for the writer now and then.
    let writer =
        ResultWriter::open_with_limit(vec![spec(&file, Filter::All)], &place(), 50_000).unwrap();
    let handovers: Vec<_> = (0..WORKERS).map(|_| Arc::new(Handover::new(1))).collect();
    std::thread::scope(|scope| {
        for (worker, handover) in handovers.iter().enumerate() {
            let writer = &writer;
            scope.spawn(move || {
                let mut recorder = Recorder::new(&writer.inlet(), handover, true);
                let outputs = OutputSet::new([0], [0]);
                for row in 0..ROWS {
                    recorder.record(
                        &sample(&format!("{}", row % 7), &format!("{worker}-{row}"), true),
                        &outputs,
                    );
                    if row % 500 == 0 {
                        recorder.flush(1_000);
                    }
                }
            });
        }
    });
    let report = writer.finish();
    assert_eq!(report.files[0].rows, (WORKERS * ROWS) as u64);
    assert_eq!(report.gauge.backlog_bytes, 0);
    assert!(report.gauge.peak_backlog_bytes > 0);
    let text = fs::read_to_string(&file).unwrap();
    let mut next = [0; WORKERS];
    for line in text.lines() {
        let (_, thread) = line.split_once(',').unwrap();
        let (worker, row) = thread.split_once('-').unwrap();
        let worker: usize = worker.parse().unwrap();
        assert_eq!(row.parse::<usize>().unwrap(), next[worker]);
        next[worker] += 1;
    }
    assert_eq!(next, [ROWS; WORKERS]);
    let mut recording = Recording::default();
    for handover in &handovers {
        let delivery = handover.take();
        assert!(!delivery.summaries[0].is_empty());
        assert!(handover.take().summaries[0].is_empty());
        delivery
            .seconds
            .iter()
            .for_each(|second| recording.absorb(second));
        let counted = handover.counts(|counts| counts.iter().map(|label| label.count).sum::<u64>());
        assert_eq!(counted, ROWS as u64);
    }
    assert_eq!(recording.labels.len(), 7);
    assert_eq!(recording.total().count, (WORKERS * ROWS) as u64);
}

#[test]
fn rows_reach_the_disk_on_a_flush_and_with_autoflush_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let [slow, quick] = ["slow", "quick"].map(|name| folder.path().join(name));
    let mut specs = vec![spec(&slow, Filter::All), spec(&quick, Filter::All)];
    specs[1].format.config.autoflush = true;
    let writer = ResultWriter::open(specs, &place()).unwrap();
    let mut recorder = Recorder::new(&writer.inlet(), &Arc::new(Handover::new(0)), true);
    recorder.record(&sample("a", "t", true), &OutputSet::new([0, 1], []));
    let wait_for = |file: &Path| {
        for _ in 0..500 {
            if fs::metadata(file).unwrap().len() > 0 {
                return true;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        false
    };
    assert!(wait_for(&quick));
    assert_eq!(fs::metadata(&slow).unwrap().len(), 0);
    recorder.flush_rows();
    assert!(wait_for(&slow));
}

#[test]
fn a_dropped_writer_leaves_a_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.xml");
    let mut one = spec(&file, Filter::All);
    one.format.config.xml = true;
    let writer = ResultWriter::open(vec![one], &place()).unwrap();
    let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
        let writer = writer;
        let mut recorder = Recorder::new(&writer.inlet(), &Arc::new(Handover::new(0)), true);
        recorder.record(&sample("a", "t", true), &OutputSet::new([0], []));
        std::panic::resume_unwind(Box::new("a worker panics"));
    }));
    assert!(unwound.is_err());
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text.ends_with("<sample lb=\"a\" tn=\"t\"/>\n\n</testResults>\n"),
        "{text}"
    );
}

#[test]
fn rows_after_the_end_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let writer = ResultWriter::open(
        vec![spec(&folder.path().join("a.csv"), Filter::All)],
        &place(),
    )
    .unwrap();
    let mut recorder = Recorder::new(&writer.inlet(), &Arc::new(Handover::new(0)), true);
    let report = writer.finish();
    assert_eq!(report.gauge.problem, None);
    recorder.record(&sample("a", "t", true), &OutputSet::new([0], []));
    // The writer has gone; this must neither wait nor fail.
    drop(recorder);
}

#[test]
fn summarisers_leave_transactions_out_unless_told_otherwise() {
    let writer = ResultWriter::open(Vec::new(), &place()).unwrap();
    let mut transaction = sample("tx", "t", true);
    transaction.message =
        format!("{TRANSACTION_MESSAGE_PREFIX}1, number of failing samples : 0").into();
    for (ignore_transactions, ignored) in [(true, true), (false, false)] {
        let handover = Arc::new(Handover::new(2));
        let mut recorder = Recorder::new(&writer.inlet(), &handover, ignore_transactions);
        transaction.written = Written::default();
        recorder.record(&transaction, &OutputSet::new([], [0, 1]));
        recorder.record(&sample("a", "t", true), &OutputSet::new([], [1]));
        recorder.flush_all();
        let delivery = handover.take();
        assert_eq!(delivery.summaries[0].is_empty(), ignored);
        let mut expected = SummaryDelta::EMPTY;
        expected.add(&sample("a", "t", true));
        if !ignored {
            expected.add(&transaction);
        }
        assert_eq!(delivery.summaries[1], expected);
        assert_eq!(delivery.seconds[0].totals(), (1, 0));
        assert_eq!(delivery.seconds[0].labels.len(), 2);
    }
}

#[test]
fn a_backend_listener_hears_results_as_they_are_told() {
    let writer = ResultWriter::open(Vec::new(), &place()).unwrap();
    let handover = Arc::new(Handover::new(0).with_backends(2));
    let mut recorder = Recorder::new(&writer.inlet(), &handover, true);
    let mut alone = sample("tx", "t", false);
    alone.message = format!("{TRANSACTION_MESSAGE_PREFIX}1, number of failing samples : 1").into();
    let mut parent = alone.clone();
    parent.label = "parent".into();
    parent.children = vec![sample("child", "t", true), sample("child", "t", false)];
    let outputs = OutputSet::new([], []).with_backends([1]);
    recorder.record(&alone, &outputs);
    recorder.record(&parent, &outputs);
    recorder.record(&sample("a", "t", true), &OutputSet::default());
    recorder.write(&sample("inner", "t", true), &outputs);
    recorder.flush(1_500);
    let heard = handover.take().heard;
    assert!(heard[0].is_empty());
    let labels = heard[1].labels.iter();
    let labels: Vec<_> = labels
        .map(|label| (label.label.as_str(), label.transaction, label.hits))
        .collect();
    let expected = [("inner", false, 1), ("parent", false, 2), ("tx", true, 1)];
    assert_eq!(labels, expected);
    let errors = heard[1].errors.iter();
    let errors: Vec<_> = errors.map(|error| (&*error.label, error.count)).collect();
    assert_eq!(errors, [("parent", 1), ("tx", 1)]);
    assert_eq!(heard[1].active.samples, 3);
    recorder.flush_all();
    assert!(handover.take().heard[1].is_empty());
}

#[test]
fn failures_are_kept_for_showing() {
    let writer = ResultWriter::open(Vec::new(), &place()).unwrap();
    let handover = Arc::new(Handover::new(0));
    let mut recorder = Recorder::new(&writer.inlet(), &handover, true);
    for number in 0..30 {
        let mut failed = sample("a", "t", false);
        failed.code = "503".into();
        failed.message = format!("busy {number}").into();
        recorder.record(&failed, &OutputSet::default());
        recorder.flush(1_000);
    }
    let delivery = handover.take();
    let recent = delivery.recent_errors;
    assert_eq!(recent.len(), 20);
    assert_eq!(
        (recent[19].code.as_str(), recent[19].message.as_str()),
        ("503", "busy 29")
    );
    assert_eq!(delivery.loose.errors.len(), 30);
}

#[test]
fn a_label_is_one_however_it_is_shared() {
    let writer = ResultWriter::open(Vec::new(), &place()).unwrap();
    let handover = Arc::new(Handover::new(0));
    let mut recorder = Recorder::new(&writer.inlet(), &handover, true);
    let shared: Rc<str> = "a".into();
    for label in [Rc::clone(&shared), shared, "a".into()] {
        let mut one = sample("", "t", true);
        one.label = label;
        recorder.record(&one, &OutputSet::default());
    }
    recorder.flush(2_000);
    recorder.record(&sample("a", "t", true), &OutputSet::default());
    recorder.flush_all();
    let mut recording = Recording::default();
    for second in handover.take().seconds {
        recording.absorb(&second);
    }
    let rows = recording.rows();
    assert_eq!(
        (rows.len(), rows[0].count, rows[1].label.as_str()),
        (2, 4, "TOTAL")
    );
}
