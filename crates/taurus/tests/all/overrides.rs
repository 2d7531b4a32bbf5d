//! Changes of the command line, executions of other tools, and options of JMeter's command line.

use std::path::PathBuf;

use drumfire_taurus::{TaurusError, Test, load};

fn loaded(config: &str, changes: &[&str]) -> Result<Test, TaurusError> {
    let folder = tempfile::tempdir().expect("a folder");
    let file: PathBuf = folder.path().join("test.yml");
    std::fs::write(&file, config).expect("there is room");
    let changes: Vec<String> = changes.iter().map(|change| (*change).to_owned()).collect();
    load(&file, &changes)
}

const SCENARIO: &str = "scenarios: {s: {requests: [http://localhost/]}}";

/// The users and the ramp-up of the first group.
fn load_of(test: &Test) -> (String, String) {
    let props = &test.tree.roots[0].children[0].props;
    let text = |names: [&str; 2]| {
        let found = names.iter().find(|name| props.has(name));
        found.map_or_else(String::new, |name| props.str(name).into_owned())
    };
    (
        text(["TargetLevel", "ThreadGroup.num_threads"]),
        text(["RampUp", "ThreadGroup.ramp_time"]),
    )
}

#[test]
fn a_single_execution_may_be_a_table() {
    let config = format!("execution: {{scenario: s, iterations: 3, concurrency: 2}}\n{SCENARIO}");
    for change in [
        "execution.concurrency=7",
        "execution.0.concurrency=7",
        "execution.*concurrency=7",
    ] {
        let test = loaded(&config, &[change]).unwrap_or_else(|fault| panic!("{change}: {fault}"));
        assert_eq!(load_of(&test).0, "7", "{change}");
    }
    let more = loaded(&config, &["execution.-1.scenario=s"]).expect("two executions");
    let executions = more.effective["execution"].as_array().map(Vec::len);
    assert_eq!(executions, Some(2));
}

#[test]
fn executions_of_other_tools_are_named_with_the_words_that_leave_them_out() {
    let config = format!(
        "settings: {{env: {{tool: locust}}}}\nexecution:\n- {{scenario: s, executor: '${{tool}}'}}\n- {{scenario: s, concurrency: 4, iterations: 1}}\n- {{scenario: s, executor: selenium, runner: pytest}}\n{SCENARIO}"
    );
    let fault = loaded(&config, &[]).expect_err("other tools");
    assert_eq!(
        fault.message,
        "execution 1 is for the executor `locust`, execution 3 is for the executor `selenium`"
    );
    let hint = fault.hint.expect("a remedy");
    let words = hint.split('`').nth(3).expect("the words");
    assert_eq!(words, "-o '^execution.2=' -o '^execution.0='");
    let changes: Vec<&str> = words
        .split('\'')
        .filter(|word| word.starts_with('^'))
        .collect();
    let test = loaded(&config, &changes).expect("the rest is for JMeter");
    assert_eq!(load_of(&test).0, "4");
    let same =
        loaded(&config, &["execution.^2=x", "^execution.0=x"]).expect("the rest is for JMeter");
    assert_eq!(load_of(&same).0, "4");
}

#[test]
fn the_command_line_of_the_module_counts() {
    let config = format!(
        "execution: [{{scenario: s}}]\nmodules: {{jmeter: {{cmdline: \"-Jusers=5 -Dx.y=z -q 'my file' -n\", properties: {{users: 1}}}}}}\n{SCENARIO}"
    );
    let test = loaded(&config, &[]).expect("a test");
    assert_eq!(test.options, ["-Jusers=5", "-Dx.y=z", "-qmy file"]);
    assert_eq!(
        test.notes,
        ["`-n` of `modules.jmeter.cmdline` has no effect here"]
    );
}
