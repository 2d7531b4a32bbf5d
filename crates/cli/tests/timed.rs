//! The plans in `compat/timed/` against what real JMeter 5.6.3 measured for them (`cargo xtask record`): time, concurrency and
//! which row went to which user.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use drumfire_testkit::compat;
use drumfire_testkit::compat::timed::TimedCase;
use drumfire_testkit::program::{Workshop, jmeter_home};

/// Cases of which Java runs a part have names that begin so.
const NEEDS_JAVA: &str = "scripts-";
/// Cases under way at once. They mostly wait.
const AT_ONCE: usize = 6;
/// How often a case is tried before it counts as different; the last time alone, so that a busy machine is no difference.
const TRIES: usize = 3;
/// The tests of other crates may run at the same time.
const LIMIT: Duration = Duration::from_secs(120);

fn all() -> Vec<TimedCase> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../compat/timed");
    let folders = compat::cases(&folder).expect("the cases");
    let read = |folder: &PathBuf| TimedCase::read(folder).unwrap_or_else(|error| panic!("{error}"));
    folders.iter().map(read).collect()
}

/// The measures in which a run differs from JMeter's.
fn differences(case: &TimedCase, home: Option<&Path>) -> Vec<String> {
    let recorded = case.recorded().expect("the case is recorded");
    let mut workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    // Java's class archive is made once.
    workshop = workshop.variable("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    if let Some(home) = home {
        workshop = workshop.variable("JMETER_HOME", &home.to_string_lossy());
    }
    let folder = workshop.path("");
    let rehearsal = case.rehearse(&folder).expect("files can be copied");
    let words = rehearsal.words(&folder);
    let child = workshop.start(&words.iter().map(String::as_str).collect::<Vec<_>>());
    match rehearsal.attend(child, &folder, LIMIT) {
        Ok(run) => case.differences(&recorded, &case.measure(&run)),
        Err(said) => vec![said],
    }
}

/// Whether a case can be run on this machine; else says so.
fn can_run(case: &TimedCase, home: Option<&Path>) -> bool {
    let needs_java = case.name().starts_with(NEEDS_JAVA);
    let can = match home {
        Some(home) => !needs_java || case.can_run_in(home),
        None => !needs_java,
    };
    if !can {
        println!(
            "skipped: {} needs Java, or jars that are missing",
            case.name()
        );
    }
    can
}

/// The cases that differ, each with how.
fn differing<'a>(
    cases: &[&'a TimedCase],
    at_once: usize,
    home: Option<&Path>,
) -> Vec<(&'a TimedCase, Vec<String>)> {
    let queue: Mutex<VecDeque<&TimedCase>> = Mutex::new(cases.iter().copied().collect());
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().expect("no case panics").pop_front();
                    let Some(case) = next else { return };
                    let told = differences(case, home);
                    if !told.is_empty() {
                        found.lock().expect("no case panics").push((case, told));
                    }
                }
            });
        }
    });
    found.into_inner().expect("no case panics")
}

#[test]
fn every_timed_case_measures_what_jmeter_measured() {
    let home = jmeter_home();
    let home = home.as_deref();
    let cases = all();
    let only = std::env::var("TIMED_CASE").unwrap_or_default();
    let mut left: Vec<&TimedCase> = cases
        .iter()
        .filter(|case| case.name().starts_with(&only) && can_run(case, home))
        .collect();
    let mut told = Vec::new();
    for attempt in 1..=TRIES {
        let at_once = if attempt == TRIES { 1 } else { AT_ONCE };
        let found = differing(&left, at_once, home);
        left = found.iter().map(|(case, _)| *case).collect();
        told = found;
    }
    let told: Vec<String> = told
        .iter()
        .map(|(case, differences)| format!("{}: {}", case.name(), differences.join("\n  ")))
        .collect();
    assert!(told.is_empty(), "{}", told.join("\n"));
}

#[test]
fn jmeter_agrees_with_itself() {
    let cases = all();
    for case in &cases {
        let recorded = case.recorded().expect("the case is recorded");
        let runs: Vec<usize> = recorded.values().map(Vec::len).collect();
        assert!(
            runs.iter().all(|runs| *runs == 3),
            "{}: {runs:?}",
            case.name()
        );
        let unsteady = case.unsteady(&recorded);
        assert!(unsteady.is_empty(), "{}: {unsteady:?}", case.name());
    }
    assert!(cases.len() >= 60, "only {} timed cases", cases.len());
}
