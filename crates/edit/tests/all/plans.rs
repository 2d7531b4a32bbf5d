//! The plans of the tests.

use std::path::{Path, PathBuf};

use drumfire_edit::Session;

/// All plans below compat/ and examples/, and below the folders that `EDIT_PLANS` names, with `:` between them.
pub fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for folder in ["compat", "examples"] {
        collect(&root.join(folder), &mut found);
    }
    for folder in std::env::var("EDIT_PLANS")
        .unwrap_or_default()
        .split(':')
        .filter(|name| !name.is_empty())
    {
        collect(Path::new(folder), &mut found);
    }
    found.sort();
    assert!(found.len() > 100, "the plans are missing");
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder can be listed") {
        let path = entry.expect("the folder can be listed").path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "jmx") {
            found.push(path);
        }
    }
}

/// A session of a plan that can be changed; `None` for files that are no plans or hold bytes that are no text.
pub fn opened(path: &Path) -> Option<Session> {
    let session = Session::open(path, None).ok()?;
    session.read_only().is_none().then_some(session)
}

/// A copy of a plan in a folder of its own.
pub fn copied(path: &Path) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("plan.jmx");
    // A copy of the file would also have its permissions.
    let bytes = std::fs::read(path).expect("the plan is read");
    std::fs::write(&copy, bytes).expect("the plan is copied");
    (folder, copy)
}

/// A plan with these elements below its one thread group.
pub fn plan(inside: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">
  <hashTree>
    <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="plan"/>
    <hashTree>
      <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="users"/>
      <hashTree>
{inside}
      </hashTree>
    </hashTree>
  </hashTree>
</jmeterTestPlan>
"#
    )
}

/// A session of a text, with its folder.
pub fn session(text: &str) -> (tempfile::TempDir, Session) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("plan.jmx");
    std::fs::write(&path, text).expect("the plan is written");
    let session = Session::open(&path, None).unwrap_or_else(|refused| panic!("{refused:?}"));
    (folder, session)
}

/// The number of the element with a name.
pub fn id(session: &Session, name: &str) -> u64 {
    let model = session.model();
    let all = 0..model.outline().entries.len();
    let at = all.into_iter().find(|at| model.node_at(*at).name == name);
    model.outline().entries[at.unwrap_or_else(|| panic!("no element {name}"))].id
}
