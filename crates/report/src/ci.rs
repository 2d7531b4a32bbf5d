//! Formats for CI systems: JUnit's XML, and lines of the log that they take as commands.

use std::fmt::Write as _;

use drumfire_results::ThresholdOutcome;

use crate::escape;
use crate::judged::ThresholdResult;

/// One case of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The subject.
    pub name: String,
    /// The outcome, in one line.
    pub told: String,
    /// How the case ended.
    pub state: CaseState,
}

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseState {
    /// It passed.
    Passed,
    /// It could not be judged, which is allowed.
    Skipped,
    /// It failed, or could not be judged.
    Failed,
}

impl Case {
    /// A threshold as a case. One that was not judged fails unless `allows_unjudged`.
    pub fn of(threshold: &ThresholdResult, allows_unjudged: bool) -> Case {
        Case {
            name: threshold.text.clone(),
            told: threshold.line(),
            state: match threshold.outcome {
                ThresholdOutcome::Passed => CaseState::Passed,
                ThresholdOutcome::NotJudged if allows_unjudged => CaseState::Skipped,
                ThresholdOutcome::NotJudged | ThresholdOutcome::Failed => CaseState::Failed,
            },
        }
    }
}

fn count(cases: &[Case], state: CaseState) -> usize {
    cases.iter().filter(|case| case.state == state).count()
}

/// A JUnit report with one suite. `seconds` is the duration of the run.
pub fn junit(suite: &str, cases: &[Case], seconds: f64) -> String {
    let failed = count(cases, CaseState::Failed);
    let skipped = count(cases, CaseState::Skipped);
    let suite = escape::xml(suite);
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{0}\" failures=\"{failed}\">\n  \
         <testsuite name=\"{suite}\" tests=\"{0}\" failures=\"{failed}\" errors=\"0\" skipped=\"{skipped}\" time=\"{seconds:.3}\">\n",
        cases.len(),
    );
    for case in cases {
        let (name, message) = (escape::xml(&case.name), escape::xml(&case.told));
        let outcome = match case.state {
            CaseState::Passed => format!("<system-out>{message}</system-out>"),
            CaseState::Skipped => format!("<skipped message=\"{message}\"/>"),
            CaseState::Failed => format!("<failure message=\"{message}\"/>"),
        };
        let _ = writeln!(
            text,
            "    <testcase classname=\"{suite}\" name=\"{name}\">{outcome}</testcase>"
        );
    }
    text.push_str("  </testsuite>\n</testsuites>\n");
    text
}

/// A CI system that takes lines of a build's log as commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CiSystem {
    /// GitHub Actions: workflow commands.
    GitHub,
    /// Azure Pipelines: logging commands.
    Azure,
    /// TeamCity: service messages.
    TeamCity,
}

impl CiSystem {
    /// The system whose environment variables are set; GitHub if no other system is detected.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> CiSystem {
        let is_set = |name| variable(name).is_some_and(|value| !value.is_empty());
        if is_set("TEAMCITY_VERSION") {
            CiSystem::TeamCity
        } else if is_set("TF_BUILD") {
            CiSystem::Azure
        } else {
            CiSystem::GitHub
        }
    }
}

/// The cases as commands for the system: an error for each case that failed, and for TeamCity a test for each case.
pub fn annotations(system: CiSystem, title: &str, cases: &[Case]) -> String {
    match system {
        CiSystem::GitHub => github(title, cases),
        CiSystem::Azure => azure(title, cases),
        CiSystem::TeamCity => teamcity(title, cases),
    }
}

fn github(title: &str, cases: &[Case]) -> String {
    let mut text = String::new();
    let title = escape::github_property(title);
    for case in cases {
        let message = escape::github(&case.told);
        let _ = match case.state {
            CaseState::Passed => continue,
            CaseState::Skipped => writeln!(text, "::warning title={title}::{message}"),
            CaseState::Failed => writeln!(text, "::error title={title}::{message}"),
        };
    }
    let passed = count(cases, CaseState::Passed);
    let _ = writeln!(
        text,
        "::notice title={title}::{passed} of {} passed",
        cases.len()
    );
    text
}

fn azure(title: &str, cases: &[Case]) -> String {
    let mut text = String::new();
    for case in cases {
        let (title, message) = (escape::azure(title), escape::azure(&case.told));
        let _ = match case.state {
            CaseState::Passed => continue,
            CaseState::Skipped => {
                writeln!(text, "##vso[task.logissue type=warning]{title}: {message}")
            }
            CaseState::Failed => {
                writeln!(text, "##vso[task.logissue type=error]{title}: {message}")
            }
        };
    }
    text
}

fn teamcity(title: &str, cases: &[Case]) -> String {
    let suite = escape::teamcity(title);
    let mut text = format!("##teamcity[testSuiteStarted name='{suite}']\n");
    for case in cases {
        let (name, message) = (escape::teamcity(&case.name), escape::teamcity(&case.told));
        let _ = writeln!(text, "##teamcity[testStarted name='{name}']");
        let _ = match case.state {
            CaseState::Passed => {
                writeln!(text, "##teamcity[testStdOut name='{name}' out='{message}']")
            }
            CaseState::Skipped => writeln!(
                text,
                "##teamcity[testIgnored name='{name}' message='{message}']"
            ),
            CaseState::Failed => writeln!(
                text,
                "##teamcity[testFailed name='{name}' message='{message}']"
            ),
        };
        let _ = writeln!(text, "##teamcity[testFinished name='{name}']");
    }
    let _ = writeln!(text, "##teamcity[testSuiteFinished name='{suite}']");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threshold(text: &str, outcome: ThresholdOutcome, sentence: &str) -> ThresholdResult {
        ThresholdResult {
            text: text.to_owned(),
            outcome,
            value: None,
            limit: 1.0,
            unit: String::new(),
            sentence: sentence.to_owned(),
            statement: String::new(),
        }
    }

    fn cases(allows_unjudged: bool) -> Vec<Case> {
        let all = [
            threshold(
                "p95 > 1s",
                ThresholdOutcome::Passed,
                "p95 0.5 s   fails if > 1 s",
            ),
            threshold(
                "label:\"a\" errors > 1%",
                ThresholdOutcome::Failed,
                "errors of a 5 %   fails if > 1 %\u{1}",
            ),
            threshold(
                "rate < 1/s over 10s",
                ThresholdOutcome::NotJudged,
                "rate   no window",
            ),
        ];
        all.iter()
            .map(|one| Case::of(one, allows_unjudged))
            .collect()
    }

    #[test]
    fn junit_has_a_case_for_every_threshold() {
        let text = junit("plan <x>", &cases(false), 1.5);
        assert!(text.contains("<testsuite name=\"plan &lt;x&gt;\" tests=\"3\" failures=\"2\" errors=\"0\" skipped=\"0\" time=\"1.500\">"), "{text}");
        assert!(
            text.contains(
                "name=\"p95 &gt; 1s\"><system-out>ok      p95 0.5 s   fails if &gt; 1 s</system-out>"
            ),
            "{text}"
        );
        assert!(text.contains("name=\"label:&quot;a&quot; errors &gt; 1%\"><failure message=\"FAILED  errors of a 5 %   fails if &gt; 1 % \"/>"), "{text}");
        assert!(
            text.contains("<failure message=\"not judged  rate   no window\"/>"),
            "{text}"
        );
    }

    #[test]
    fn a_case_that_was_not_judged_is_skipped_where_that_is_allowed() {
        let text = junit("p", &cases(true), 1.5);
        assert!(
            text.contains("failures=\"1\" errors=\"0\" skipped=\"1\""),
            "{text}"
        );
        let skipped = "<skipped message=\"not judged  rate   no window\"/>";
        assert!(text.contains(skipped), "{text}");
        let lines = |system| annotations(system, "p", &cases(true));
        let github = lines(CiSystem::GitHub);
        assert!(github.contains("::warning title=p::not judged  rate   no window\n"));
        let azure = lines(CiSystem::Azure);
        assert!(azure.contains("type=warning]p: not judged  rate   no window\n"));
        let teamcity = lines(CiSystem::TeamCity);
        assert!(teamcity.contains("testIgnored name='rate < 1/s over 10s'"));
    }

    #[test]
    fn annotations_are_githubs_commands() {
        let text = annotations(CiSystem::GitHub, "a: b, c", &cases(false));
        let expected = "::error title=a%3A b%2C c::FAILED  errors of a 5 %25   fails if > 1 %25 \n::error title=a%3A b%2C c::not judged  rate   no window\n::notice title=a%3A b%2C c::1 of 3 passed\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn annotations_are_azures_commands() {
        let text = annotations(CiSystem::Azure, "50%", &cases(false)[..2]);
        let expected = "##vso[task.logissue type=error]50%AZP25: FAILED  errors of a 5 %AZP25   fails if > 1 %AZP25 \n";
        assert_eq!(text, expected);
    }

    #[test]
    fn annotations_are_teamcitys_messages() {
        let case = Case {
            name: "p95 of [é] > 1s".to_owned(),
            told: "it's|\n2 s".to_owned(),
            state: CaseState::Failed,
        };
        let text = annotations(CiSystem::TeamCity, "shop.jmx", &[case]);
        let expected = "##teamcity[testSuiteStarted name='shop.jmx']\n\
                        ##teamcity[testStarted name='p95 of |[|0x00E9|] > 1s']\n\
                        ##teamcity[testFailed name='p95 of |[|0x00E9|] > 1s' message='it|'s|| 2 s']\n\
                        ##teamcity[testFinished name='p95 of |[|0x00E9|] > 1s']\n\
                        ##teamcity[testSuiteFinished name='shop.jmx']\n";
        assert_eq!(text, expected);
        let good = annotations(CiSystem::TeamCity, "s", &cases(false)[..1]);
        assert!(good.contains(
            "##teamcity[testStdOut name='p95 > 1s' out='ok      p95 0.5 s   fails if > 1 s']"
        ));
    }

    #[test]
    fn the_system_is_known_by_its_variables() {
        let with = |set: &'static str| {
            CiSystem::detect(move |name| (name == set).then(|| "true".to_owned()))
        };
        assert_eq!(with("TEAMCITY_VERSION"), CiSystem::TeamCity);
        assert_eq!(with("TF_BUILD"), CiSystem::Azure);
        assert_eq!(with("GITHUB_ACTIONS"), CiSystem::GitHub);
    }
}
