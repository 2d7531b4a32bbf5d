//! Diagnostics of broken plans and property files, each with its exact text.
//!
//! Errors here stop JMeter 5.6.3 too, and warnings do not, as recorded from it. There are three exceptions: JMeter skips a
//! DOCTYPE, stops at UTF-16, and finds a stray tree or property or an empty plan only when the test starts.
//! The wording is ours.

use std::path::Path;

use drumfire_jmx::{Diagnostic, read};

/// A plan with the given text below its Test Plan, which starts on line 6.
macro_rules! below {
    ($body:literal) => {
        concat!(
            r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">
  <hashTree>
    <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Shop" enabled="true"/>
    <hashTree>
"#,
            $body,
            r#"    </hashTree>
  </hashTree>
</jmeterTestPlan>
"#
        )
    };
}

/// A plan with the given text in its Thread Group, which starts on line 7.
macro_rules! thread_group {
    ($body:literal) => {
        concat!(
            r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">
  <hashTree>
    <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Shop" enabled="true"/>
    <hashTree>
      <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Buyers" enabled="true">
"#,
            $body,
            r#"      </ThreadGroup>
      <hashTree/>
    </hashTree>
  </hashTree>
</jmeterTestPlan>
"#
        )
    };
}

mod elements;
mod properties;
mod xml;

struct Case {
    name: &'static str,
    input: &'static [u8],
    rendered: &'static str,
}

fn render(findings: &[Diagnostic]) -> String {
    let all: Vec<String> = findings
        .iter()
        .map(|finding| finding.render(false))
        .collect();
    all.join("\n\n")
}

#[test]
fn every_fault_has_its_message() {
    for case in elements::PLANS.iter().chain(xml::PLANS) {
        let (findings, warning) = match read(case.input, Path::new("plan.jmx")) {
            Ok(read) => (read.warnings, true),
            Err(findings) => (findings, false),
        };
        let rendered = render(&findings);
        assert_eq!(
            rendered, case.rendered,
            "\n--- {} gives\n{rendered}\n---",
            case.name
        );
        assert_eq!(warning, case.name.starts_with("warning"), "{}", case.name);
        assert_eq!(
            warning,
            !findings.iter().any(Diagnostic::is_error),
            "{}",
            case.name
        );
    }
}
