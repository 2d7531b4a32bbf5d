//! Which files are opened, continued, shared and ended, as `ResultCollector` does it.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use drumfire_results::{
    Columns, ExistingFile, Filter, Handover, OutputSet, OutputSpec, Recorder, ResultFolder,
    ResultWriter, RowFormat, Sample, SaveConfig, WriterReport,
};

fn place(base: &Path) -> ResultFolder {
    ResultFolder {
        base_dir: base.to_owned(),
        base_prefix: "~/".to_owned(),
        existing: ExistingFile::Append,
    }
}

fn spec(file: impl AsRef<Path>, flags: &[&'static str]) -> OutputSpec {
    let flags = flags.iter().map(|&flag| (flag, "true"));
    let config = SaveConfig::default().with_flags(flags).unwrap();
    OutputSpec {
        file_name: file.as_ref().to_str().unwrap().to_owned(),
        format: RowFormat::new(config, [].into(), "host".into()),
        filter: Filter::All,
    }
}

/// Runs a test of one sample that every output is told of.
fn run(specs: Vec<OutputSpec>, place: &ResultFolder) -> WriterReport {
    let outputs = OutputSet::new(0..specs.len() as u16, []);
    let writer = ResultWriter::open(specs, place).unwrap();
    assert_eq!(writer.problems(), [] as [String; 0]);
    let mut recorder = Recorder::new(&writer.inlet(), &Arc::new(Handover::new(0)), true);
    let mut sample = Sample::new("Java".into(), "Users 1-1".into());
    sample.success = true;
    recorder.record(&sample, &outputs);
    drop(recorder);
    writer.finish()
}

#[test]
fn two_runs_leave_what_jmeter_leaves() {
    // Recorded from a plan of one Java sampler with these listeners, run twice.
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("empty.csv"), "").unwrap();
    fs::write(at("broken.xml"), "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n<sample/>\n<sample/>\n").unwrap();
    for _ in 0..2 {
        let report = run(
            vec![
                spec(at("one.xml"), &["success", "label", "xml"]),
                spec(at("./one.xml"), &["code", "xml"]),
                spec(at("empty.csv"), &["label", "fieldNames"]),
                spec(at("new/dir/four.csv"), &["label", "fieldNames"]),
                spec(at("broken.xml"), &["label", "xml"]),
            ],
            &place(folder.path()),
        );
        assert!(
            report
                .files
                .iter()
                .all(|file| file.problem.is_none() && file.lost_rows == 0)
        );
        let rows: Vec<u64> = report.files.iter().map(|file| file.rows).collect();
        assert_eq!(rows, [2, 1, 1, 1]);
    }
    let read = |name: &str| fs::read_to_string(at(name)).unwrap();
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n";
    let pair = "<sample s=\"true\" lb=\"Java\"/>\n<sample rc=\"\"/>\n\n";
    assert_eq!(
        read("one.xml"),
        format!("{head}{pair}{pair}</testResults>\n")
    );
    assert_eq!(read("empty.csv"), "Java\nJava\n");
    assert_eq!(read("new/dir/four.csv"), "label\nJava\nJava\n");
    let one = "<sample lb=\"Java\"/>\n\n";
    assert_eq!(
        read("broken.xml"),
        format!("{head}{one}{one}</testResults>\n")
    );
}

#[test]
fn names_with_the_prefix_are_relative_to_the_plan() {
    let folder = tempfile::tempdir().unwrap();
    run(
        vec![
            spec("~/sub/a.csv", &["label"]),
            spec("~//b.csv", &["label"]),
        ],
        &place(folder.path()),
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("sub/a.csv")).unwrap(),
        "Java\n"
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("b.csv")).unwrap(),
        "Java\n"
    );
}

#[test]
fn links_to_one_file_share_it() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().join("real.csv");
    fs::write(&real, "").unwrap();
    let link = folder.path().join("link.csv");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let report = run(
        vec![spec(&real, &["label"]), spec(&link, &["label"])],
        &place(folder.path()),
    );
    assert_eq!(report.files.len(), 1);
    assert_eq!(fs::read_to_string(&real).unwrap(), "Java\nJava\n");
}

#[test]
fn deleting_starts_anew_and_a_folder_in_the_way_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.csv");
    fs::write(&file, "old\n").unwrap();
    let mut place = place(folder.path());
    place.existing = ExistingFile::Delete;
    run(vec![spec(&file, &["label", "fieldNames"])], &place);
    assert_eq!(fs::read_to_string(&file).unwrap(), "label\nJava\n");
    let error = ResultWriter::open(vec![spec(folder.path(), &["label"])], &place).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("Could not delete results file "),
        "{error}"
    );
}

#[test]
fn a_file_that_cannot_be_opened_is_told_and_the_others_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let good = folder.path().join("good.csv");
    let specs = vec![
        spec(folder.path(), &["label"]),
        spec("", &["label"]),
        spec(&good, &["label"]),
    ];
    let writer = ResultWriter::open(specs, &place(folder.path())).unwrap();
    assert_eq!(writer.problems().len(), 1);
    let problem = &writer.problems()[0];
    assert!(problem.contains("cannot be written: "), "{problem}");
    let mut recorder = Recorder::new(&writer.inlet(), &Arc::new(Handover::new(0)), true);
    recorder.record(
        &Sample::new("a".into(), "t".into()),
        &OutputSet::new(0..3, []),
    );
    drop(recorder);
    assert_eq!(writer.finish().files.len(), 1);
    assert_eq!(fs::read_to_string(&good).unwrap(), "a\n");
}

#[test]
fn a_full_disk_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let report = run(vec![spec("/dev/full", &["label"])], &place(folder.path()));
    assert_eq!((report.files[0].rows, report.files[0].lost_rows), (0, 1));
    let problem = report.gauge.problem.unwrap();
    assert_eq!(problem, "`/dev/full` cannot be written: the disk is full");
}

#[test]
fn a_file_that_vanishes_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gone/a.csv");
    let writer = ResultWriter::open(vec![spec(&file, &["label"])], &place(folder.path())).unwrap();
    fs::remove_dir_all(folder.path().join("gone")).unwrap();
    let problem = writer.finish().gauge.problem.unwrap();
    assert!(
        problem.ends_with("was removed or replaced while the test was running"),
        "{problem}"
    );
}

#[cfg(unix)]
#[test]
fn a_file_of_two_runs_is_refused_to_the_second() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.csv");
    let mut place = place(folder.path());
    let first = ResultWriter::open(vec![spec(&file, &["label"])], &place).unwrap();
    for existing in [ExistingFile::Append, ExistingFile::Delete] {
        place.existing = existing;
        let opened = ResultWriter::open(vec![spec(&file, &["label"])], &place);
        let Err(refused) = opened else {
            panic!("the first run writes it");
        };
        let told = refused.to_string();
        let expected = "a.csv` cannot be written: another run writes it";
        assert!(told.ends_with(expected), "{told}");
    }
    place.existing = ExistingFile::Share;
    ResultWriter::open(vec![spec(&file, &["label"])], &place).expect("an agent of the same run");
    let mut recorder = Recorder::new(&first.inlet(), &Arc::new(Handover::new(0)), true);
    recorder.record(
        &Sample::new("a".into(), "t".into()),
        &OutputSet::new([0], []),
    );
    drop(recorder);
    let report = first.finish();
    assert_eq!((report.files[0].rows, &report.files[0].problem), (1, &None));
    place.existing = ExistingFile::Append;
    ResultWriter::open(vec![spec(&file, &["label"])], &place).expect("the first run has ended");
}

#[test]
fn devices_are_written_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let specs = vec![spec("/dev/null", &["label", "xml"])];
    let report = run(specs, &place(folder.path()));
    assert_eq!((report.files[0].rows, &report.files[0].problem), (1, &None));
}

/// Run by the next test, in a process that may not write more than some bytes into a file.
#[test]
#[ignore = "needs a limit on the size of files"]
fn fill_the_disk() {
    let Ok(file) = std::env::var("FILE_TO_FILL") else {
        return;
    };
    let writer = ResultWriter::open(vec![spec(&file, &["label"])], &place(Path::new("/"))).unwrap();
    let mut recorder = Recorder::new(&writer.inlet(), &Arc::new(Handover::new(0)), true);
    for row in 0..9_000 {
        recorder.record(
            &Sample::new(format!("row {row:04}").into(), "t".into()),
            &OutputSet::new([0], []),
        );
        if row % 3_000 == 2_999 {
            recorder.flush_rows();
        }
    }
    drop(recorder);
    let report = writer.finish();
    assert_eq!(
        (report.files[0].rows, report.files[0].lost_rows),
        (3_000, 6_000)
    );
    let problem = report.gauge.problem.unwrap();
    assert!(problem.contains("cannot be written: "), "{problem}");
}

#[test]
fn files_on_a_full_disk_end_with_a_whole_row() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.csv");
    // Two batches of 27,000 bytes do not fit into 40 KiB.
    let script = "trap '' XFSZ; ulimit -f 40; exec \"$0\" --ignored --exact files::fill_the_disk";
    let status = std::process::Command::new("bash")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .env("FILE_TO_FILL", &file)
        .output()
        .unwrap();
    assert!(
        status.status.success(),
        "{}",
        String::from_utf8_lossy(&status.stdout)
    );
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text.lines().count(), 3_000);
    assert!(text.ends_with("row 2999\n"));
}

#[test]
fn rows_that_the_plan_spells_out_have_a_head_and_an_end_each_run() {
    // Recorded from Flexible File Writers of jmeter-plugins, run twice.
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let columns = |name: &str, overwrites| {
        let mut spec = spec(at(name), &["xml"]);
        let columns = Columns::new("sampleLabel|\\n", "head\\n", "end\\n", overwrites);
        spec.format.columns = Some(Arc::new(columns));
        spec
    };
    for _ in 0..2 {
        run(
            vec![
                columns("continued.txt", false),
                columns("replaced.txt", true),
                columns("both.txt", true),
                columns("both.txt", true),
            ],
            &ResultFolder {
                existing: ExistingFile::Delete,
                ..place(folder.path())
            },
        );
    }
    let text = |name: &str| fs::read_to_string(at(name)).unwrap();
    let once = "head\nJava\nend\n";
    assert_eq!(text("continued.txt"), once.repeat(2));
    assert_eq!(text("replaced.txt"), once);
    assert_eq!(text("both.txt"), "head\nJava\nJava\nend\n");
}
