//! The files of `ci/`, as far as they run without their systems.

use std::path::{Path, PathBuf};
use std::process::Command;

use drumfire_testkit::program::{LIMIT, Workshop};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn workshop() -> Workshop {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let plan = std::fs::read(root().join("examples/api-smoke.jmx")).expect("the example is there");
    workshop.write("smoke.jmx", plan);
    workshop
}

/// Runs the step of GitHub's action with its inputs, and gives the exit code that the action ends with.
fn step(workshop: &Workshop, inputs: &[(&str, &str)]) -> String {
    for file in ["output", "summary.md"] {
        workshop.write(file, "");
    }
    let program = Path::new(env!("CARGO_BIN_EXE_drumfire"));
    let folder = program.parent().expect("it lies in a folder");
    let path = std::env::var("PATH").expect("there is a PATH");
    let status = Command::new("bash")
        .arg(root().join("ci/github/run.sh"))
        .current_dir(workshop.path("."))
        .env("PATH", format!("{}:{path}", folder.display()))
        .env("HOME", workshop.path("."))
        .env("GITHUB_OUTPUT", workshop.path("output"))
        .env("GITHUB_STEP_SUMMARY", workshop.path("summary.md"))
        .env("PLAN", "smoke.jmx")
        .env("FOLDER", workshop.path("results"))
        .env("CACHED", workshop.path("baseline/run.drumfire"))
        .envs(inputs.iter().copied())
        .status()
        .expect("bash is there");
    assert!(status.success(), "the step itself never fails: {status}");
    let output = workshop.read("output");
    let code = output
        .lines()
        .find_map(|line| line.strip_prefix("exit-code="));
    code.expect("the exit code is an output").to_owned()
}

#[test]
fn githubs_step_leaves_its_files_and_keeps_a_good_run_as_baseline() {
    let workshop = workshop();
    let inputs = [
        ("FAIL_ON", "errors > 1%\np95 > 60s"),
        ("OPTIONS", "--demo"),
        ("BASELINE", "cache"),
    ];
    assert_eq!(step(&workshop, &inputs), "0");
    for file in ["report.html", "results.jtl", "summary.json", "junit.xml"] {
        assert!(workshop.path("results").join(file).is_file(), "{file}");
    }
    let summary = workshop.read("summary.md");
    assert!(summary.contains("| List products | 1 |"), "{summary}");
    assert!(summary.contains("| ok | p95 "), "{summary}");
    assert!(workshop.path("baseline/run.drumfire").is_file());
    // The next run is compared with it; so short ones are within noise.
    assert_eq!(step(&workshop, &inputs), "0");
}

#[test]
fn githubs_step_hands_on_the_exit_code_of_a_broken_threshold() {
    let workshop = workshop();
    let inputs = [
        ("FAIL_ON", "samples < 1000"),
        ("OPTIONS", "--demo\n--users\n2"),
        ("BASELINE", "cache"),
    ];
    assert_eq!(step(&workshop, &inputs), "5");
    assert!(workshop.read("summary.md").contains("**FAILED**"));
    assert!(!workshop.path("baseline/run.drumfire").exists());
    assert!(
        workshop
            .read("results/junit.xml")
            .contains("failures=\"1\"")
    );
}

#[test]
fn annotations_are_those_of_the_system_that_the_run_is_in() {
    let words = [
        "run",
        "smoke.jmx",
        "--demo",
        "--annotations",
        "--fail-on",
        "samples < 1000",
    ];
    for (variable, line) in [
        (
            "GITHUB_ACTIONS",
            "::error title=smoke.jmx::FAILED  samples 6",
        ),
        (
            "TF_BUILD",
            "##vso[task.logissue type=error]smoke.jmx: FAILED  samples 6",
        ),
        (
            "TEAMCITY_VERSION",
            "##teamcity[testFailed name='samples < 1000' message='FAILED  samples 6",
        ),
    ] {
        let finished = workshop().variable(variable, "1").run(&words, LIMIT);
        assert_eq!(finished.code, Some(5), "{finished:?}");
        assert!(finished.out.contains(line), "{finished:?}");
    }
}

/// A row as the Performance plugin of Jenkins takes it: start in milliseconds, elapsed time, success, label.
type JenkinsRow = (i64, i64, bool, String);

/// Reads a CSV file by the plugin's rules (`JMeterCsvParser`): the first character that is no letter separates the columns,
/// `URL` or else `label` names a row, and numbers must be plain.
fn as_jenkins_reads_csv(text: &str) -> Vec<JenkinsRow> {
    let header = text.lines().next().expect("there is a header");
    let separator = header.find(|c: char| !c.is_alphabetic());
    let separator = header.as_bytes()[separator.expect("there are several columns")];
    let columns: Vec<&str> = header.split(char::from(separator)).collect();
    let column = |name: &str| {
        let found = columns.iter().position(|c| c.eq_ignore_ascii_case(name));
        found.unwrap_or_else(|| panic!("there is no column {name}: {header}"))
    };
    let named = columns
        .iter()
        .position(|column| ["url", "label"].contains(&column.to_lowercase().as_str()))
        .expect("rows have names");
    let (start, elapsed, success) = (column("timestamp"), column("elapsed"), column("success"));
    let (bytes, sent, _) = (column("bytes"), column("sentBytes"), column("responseCode"));
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .from_reader(text.as_bytes());
    let rows = reader.records().map(|row| {
        let row = row.expect("each row has all columns");
        let number = |column: usize| row[column].parse::<i64>().expect("a plain number");
        assert!(number(bytes) + number(sent) > 0, "{row:?}");
        (
            number(start),
            number(elapsed),
            row[success].eq_ignore_ascii_case("true"),
            row[named].to_owned(),
        )
    });
    rows.collect()
}

/// Reads an XML file by the plugin's rules (`JMeterParser`): the first line that is not empty begins with `<?xml `, there is no
/// document type, and the outermost `sample` and `httpSample` count.
fn as_jenkins_reads_xml(text: &str) -> Vec<JenkinsRow> {
    let first = text.lines().find(|line| !line.trim().is_empty());
    assert!(first.is_some_and(|line| line.starts_with("<?xml ")));
    // Refuses document types, as the plugin does.
    let document = roxmltree::Document::parse(text).expect("it is XML without a document type");
    let is_sample =
        |node: &roxmltree::Node<'_, '_>| matches!(node.tag_name().name(), "sample" | "httpSample");
    let outermost = document.descendants().filter(is_sample);
    let outermost = outermost.filter(|node| !node.ancestors().skip(1).any(|a| is_sample(&a)));
    let rows = outermost.map(|node| {
        let text = |name| node.attribute(name).expect("the plugin needs it");
        let number = |name| text(name).parse::<i64>().expect("a plain number");
        assert!(number("by") > 0 && !text("rc").is_empty());
        (
            number("ts"),
            number("t"),
            text("s") == "true",
            text("lb").to_owned(),
        )
    });
    rows.collect()
}

#[test]
fn both_parsers_of_jenkins_performance_plugin_read_the_rows() {
    let labels_of = |rows: Vec<JenkinsRow>| {
        let mut labels = Vec::new();
        for (start, elapsed, is_success, label) in rows {
            assert!(
                start > 1_600_000_000_000 && elapsed >= 0 && is_success,
                "{label}"
            );
            labels.push(label);
        }
        labels.sort();
        labels
    };
    let run = |options: &[&str]| {
        let workshop = workshop();
        let mut words = vec!["run", "smoke.jmx", "--demo", "-l", "results.jtl"];
        words.extend(options);
        let finished = workshop.run(&words, LIMIT);
        assert_eq!(finished.code, Some(0), "{finished:?}");
        workshop.read("results.jtl")
    };
    let csv = labels_of(as_jenkins_reads_csv(&run(&[])));
    let xml = labels_of(as_jenkins_reads_xml(&run(&[
        "-Jjmeter.save.saveservice.output_format=xml",
    ])));
    assert!(csv.len() > 3, "{csv:?}");
    assert_eq!(csv, xml);
}
