//! The plans in `compat/` against what real JMeter 5.6.3 wrote for them (`cargo xtask record`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use drumfire_testkit::compat::{self, Servers};
use drumfire_testkit::program::{LIMIT, Workshop, jmeter_home};

/// Cases of which Java runs a part have names that begin so.
const NEEDS_JAVA: &str = "scripts-";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../compat")
}

/// Case and what differs.
fn known_gaps() -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(folder().join("known_gaps.toml")).expect("the list of gaps");
    toml::from_str(&text).expect("the list of gaps is `case = \"what differs\"`")
}

/// The first difference between the rows and files of this program and those of JMeter.
pub fn difference(case: &Path, home: Option<&Path>, servers: &Servers) -> Option<String> {
    let mut workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    // Java's class archive is made once.
    workshop = workshop.variable("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    if let Some(home) = home {
        workshop = workshop.variable("JMETER_HOME", &home.to_string_lossy());
    }
    let folder = workshop.path("");
    compat::lay_out(case, &folder).expect("files can be copied");
    let words = servers.words(&folder);
    let finished = workshop.run(&words.iter().map(String::as_str).collect::<Vec<_>>(), LIMIT);
    if finished.code != Some(0) {
        return Some(format!(
            "exit code {:?}: {}{}",
            finished.code, finished.out, finished.err
        ));
    }
    // Each sample that users began is recorded or skipped, whatever the plan does.
    if finished.out.contains("the samples do not add up") {
        return Some(finished.out);
    }
    let found = compat::rows(&workshop.read(compat::RESULTS), servers).expect("results are CSV");
    let recorded = std::fs::read_to_string(case.join("expected.csv")).expect("the recording");
    let expected = compat::read(&recorded).expect("the recording is CSV");
    assert!(
        !expected.is_empty(),
        "{}: nothing was recorded",
        case.display()
    );
    compat::difference(&expected, &found).or_else(|| {
        let files = compat::written(case, &folder, servers).expect("files can be read");
        let expected = compat::expected_files(case).expect("files can be read");
        compat::file_difference(&expected, &files)
    })
}

#[test]
fn every_case_writes_what_jmeter_wrote() {
    let gaps = known_gaps();
    let cases = compat::cases(&folder()).expect("the cases");
    let mut wrong = Vec::new();
    let mut names = Vec::new();
    let home = jmeter_home();
    let only = std::env::var("COMPAT_CASE").unwrap_or_default();
    for case in &cases {
        let name = case
            .file_name()
            .expect("a case has a name")
            .to_string_lossy()
            .into_owned();
        names.push(name.clone());
        if !name.starts_with(&only) {
            continue;
        }
        println!("{name}");
        if home.is_none() && name.starts_with(NEEDS_JAVA) {
            println!("{name} needs Java");
            continue;
        }
        let Some(servers) = Servers::start(case).expect("the servers start") else {
            continue;
        };
        let differs = difference(case, home.as_deref(), &servers);
        match (differs, gaps.get(&name)) {
            (Some(difference), None) => wrong.push(format!("{name}: {difference}")),
            (None, Some(gap)) => {
                wrong.push(format!("{name} passes; take it off known_gaps.toml: {gap}"))
            }
            _ => {}
        }
    }
    for gap in gaps.keys().filter(|gap| !names.contains(gap)) {
        wrong.push(format!("known_gaps.toml lists {gap}, which is no case"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases.len() >= 10, "only {} cases", cases.len());
}
