//! Plans that are good XML and yet wrong: what is said of each, and whether it runs.

use drumfire_testkit::program::{LIMIT, Workshop};

const SAMPLER: &str =
    r#"<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="d"/><hashTree/>"#;

fn strings(properties: &[(&str, &str)]) -> String {
    let one =
        |(name, value): &(&str, &str)| format!(r#"<stringProp name="{name}">{value}</stringProp>"#);
    properties.iter().map(one).collect()
}

fn element(class: &str, name: &str, properties: &[(&str, &str)]) -> String {
    let gui = match class {
        "CSVDataSet" => "TestBeanGUI",
        _ => "Gui",
    };
    let properties = strings(properties);
    format!(
        r#"<{class} guiclass="{gui}" testclass="{class}" testname="{name}">{properties}</{class}><hashTree/>"#
    )
}

fn module(path: &[&str]) -> String {
    let path: String = path
        .iter()
        .map(|part| format!(r#"<stringProp name="n">{part}</stringProp>"#))
        .collect();
    format!(
        r#"<ModuleController guiclass="ModuleControllerGui" testclass="ModuleController" testname="m"><collectionProp name="ModuleController.node_path">{path}</collectionProp></ModuleController><hashTree/>"#
    )
}

/// A plan with a thread group of one user that has these properties and elements.
fn plan(group: &[(&str, &str)], loops: &str, elements: &str) -> String {
    let mut all = vec![
        ("ThreadGroup.num_threads", "1"),
        ("ThreadGroup.ramp_time", "0"),
    ];
    all.retain(|(name, _)| group.iter().all(|(other, _)| other != name));
    all.extend(group);
    let group = strings(&all);
    drumfire_testkit::plans::plan(&format!(
        r#"
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="G">{group}<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">{loops}</stringProp></elementProp></ThreadGroup><hashTree>
{elements}</hashTree>"#
    ))
}

/// The messages must not depend on the Java of the machine, and files may be missing as in JMeter.
const AS_JMETER: &str = "-Jdrumfire.missing_files=jmeter";
const NO_JAVA: &str = "-Jdrumfire.jvm.home=nowhere";

/// Runs a plan; gives the exit code, how many samples there were, the messages' first lines, and what the log says is wrong.
fn run(plan: &str) -> (i32, usize, Vec<String>) {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    workshop.write("p.jmx", plan);
    workshop.write("notes.txt", "hello");
    let words = [
        "-n", "-t", "p.jmx", "-l", "r.csv", "-j", "log", NO_JAVA, AS_JMETER,
    ];
    let finished = workshop.run(&words, LIMIT);
    let folder = workshop.path("");
    let folder = folder.to_string_lossy();
    let messages = finished
        .err
        .lines()
        .filter(|line| line.starts_with("error") || line.starts_with("warning"));
    let mut told: Vec<String> = messages.map(|line| line.replace(&*folder, "")).collect();
    told.iter_mut().for_each(|line| {
        line.truncate(line.find("; install Java").unwrap_or(line.len()));
    });
    let log = std::fs::read_to_string(workshop.path("log")).unwrap_or_default();
    let wrong = log.lines().filter_map(|line| line.split_once(" ERROR "));
    let wrong = wrong
        .map(|(_, what)| what)
        .filter(|what| !what.contains("d.c.") && !what.contains("error["));
    told.extend(wrong.map(|what| {
        format!(
            "log: {}",
            what.split_once(": ").map_or(what, |(_, what)| what)
        )
    }));
    let rows = std::fs::read_to_string(workshop.path("r.csv")).unwrap_or_default();
    (
        finished.code.unwrap_or(-1),
        rows.lines().count().saturating_sub(1),
        told,
    )
}

#[test]
fn plans_that_cannot_run_are_refused_with_the_reason() {
    let include = |file: &str| {
        element(
            "IncludeController",
            "inc",
            &[("IncludeController.includepath", file)],
        )
    };
    let listener = r#"<ResultCollector guiclass="g" testclass="ResultCollector" testname="w"><objProp><name>saveConfig</name><value class="SampleSaveConfiguration"><delimiter>ab</delimiter></value></objProp><stringProp name="filename">a.csv</stringProp></ResultCollector><hashTree/>"#;
    let controller = format!(
        r#"<GenericController guiclass="LogicControllerGui" testclass="GenericController" testname="c"/><hashTree>{}</hashTree>"#,
        module(&["Test Plan", "plan", "G", "c"])
    );
    for (elements, expected) in [
        (
            listener.to_owned(),
            "error[save-configuration]: listener 'w' cannot be read: Delimiter 'ab' must be of length 1.",
        ),
        (
            include("gone.jmx"),
            "error[include-failed]: cannot include 'gone.jmx': `gone.jmx` does not exist",
        ),
        (
            include("notes.txt"),
            r#"error[include-failed]: cannot include 'notes.txt': a JMeter plan starts with <?xml, this file with "hello""#,
        ),
        (
            module(&[]),
            "error[module-target-missing]: Module Controller 'm' has no selected controller: nothing is at ''",
        ),
        (
            module(&["Test Plan", "plan", "Gone"]),
            "error[module-target-missing]: Module Controller 'm' has no selected controller: nothing is at 'Test Plan > plan > Gone'",
        ),
        (
            controller,
            "error[module-recursion]: Module Controller 'm' includes itself",
        ),
        (
            element("com.example.Thing", "t", &[]),
            "error[element-not-built]: com.example.Thing 't' cannot be run: it is a plugin's element, which needs its Java class: drumfire.jvm.home=nowhere has no lib/server/libjvm",
        ),
    ] {
        assert_eq!(
            run(&plan(&[], "1", &elements)),
            (3, 0, vec![expected.to_owned()]),
            "{elements}"
        );
    }
}

/// Properties of the group, loops, elements, how many samples there are, and what is said.
type Case<'c> = (
    &'c [(&'c str, &'c str)],
    &'c str,
    &'c str,
    usize,
    Option<&'c str>,
);

/// As in JMeter, these plans run, and their log says what is wrong.
#[test]
fn broken_plans_that_jmeter_runs_run() {
    let csv = element(
        "CSVDataSet",
        "users",
        &[("filename", "users.csv"), ("variableNames", "u")],
    ) + SAMPLER;
    let regex = element(
        "RegexExtractor",
        "r",
        &[
            ("RegexExtractor.refname", "x"),
            ("RegexExtractor.regex", "(a"),
        ],
    ) + SAMPLER;
    let itself = element(
        "IncludeController",
        "inc",
        &[("IncludeController.includepath", "p.jmx")],
    ) + SAMPLER;
    let timer = element("ConstantTimer", "t", &[("ConstantTimer.delay", "soon")]) + SAMPLER;
    let long = [
        ("ThreadGroup.scheduler", "true"),
        ("ThreadGroup.duration", "long"),
    ];
    let none: &[(&str, &str)] = &[];
    let cases: [Case<'_>; 8] = [
        (
            none,
            "1",
            &csv,
            0,
            Some(
                "log: Test failed! G 1-1: java.lang.IllegalArgumentException: File users.csv must exist and be readable",
            ),
        ),
        (
            none,
            "1",
            &regex,
            1,
            Some(
                "warning[expression-malformed]: '(a' in 'r' is malformed: org.apache.oro.text.MalformedCachePatternException: Invalid expression: (a",
            ),
        ),
        (
            none,
            "1",
            &itself,
            1,
            Some(
                "warning[include-without-fragment]: 'p.jmx' has no Test Fragment: nothing is included",
            ),
        ),
        (none, "1", &timer, 1, None),
        (
            none,
            "x",
            SAMPLER,
            0,
            Some(
                "warning[bad-number]: the number of loops of 'G' is `x`, which is not a whole number; JMeter reads it as 0",
            ),
        ),
        (
            &[("ThreadGroup.num_threads", "many")],
            "1",
            SAMPLER,
            0,
            Some(
                "warning[bad-number]: the number of users of 'G' is `many`, which is not a whole number; JMeter reads it as 0",
            ),
        ),
        (
            &[("ThreadGroup.num_threads", "-1")],
            "1",
            SAMPLER,
            0,
            Some(
                "warning[bad-number]: the number of users of 'G' is `-1`, which is below the minimum; JMeter reads it as -1",
            ),
        ),
        (
            &long,
            "1",
            SAMPLER,
            0,
            Some(
                "log: Error occurred starting thread group :G, error message:Invalid duration 0 set in Thread Group:G",
            ),
        ),
    ];
    for (group, loops, elements, samples, expected) in cases {
        let (code, found, told) = run(&plan(group, loops, elements));
        let end = if samples == 0 { 8 } else { 0 };
        assert_eq!((code, found), (end, samples), "{elements}: {told:?}");
        match expected {
            Some(expected) => assert!(
                told.iter().any(|line| line == expected),
                "{elements}: {told:?}"
            ),
            None => assert!(told.is_empty(), "{elements}: {told:?}"),
        }
    }
}
