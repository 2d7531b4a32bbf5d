//! Every public method of the objects that scripts are given, beside what JMeter 5.6.3 gave for the same script.

use super::{run, workshop};

const PLAN: &str = include_str!("../../data/java_objects/plan.jmx");
const SCRIPT: &str = include_str!("../../data/java_objects/objects.groovy");
const GIVEN: &str = include_str!("../../data/java_objects/objects.txt");
const PAGE: &str = include_str!("../../../../../docs/scripts.md");

#[test]
fn every_method_gives_what_jmeter_gives() {
    let Some(workshop) = workshop() else { return };
    workshop.write("objects.groovy", SCRIPT);
    let finished = run(&workshop, PLAN, &["-Jgiven=here"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let told = workshop.read("objects.txt");
    let differing: Vec<(&str, &str)> = GIVEN
        .lines()
        .zip(told.lines())
        .filter(|(jmeter, this)| jmeter != this)
        .collect();
    assert!(differing.is_empty(), "{differing:#?}");
    assert_eq!(GIVEN.lines().count(), told.lines().count());
}

#[test]
fn the_page_names_every_method() {
    let methods = |line: &'static str| {
        let name = line.split(" = ").next().unwrap_or_default();
        name.rsplit('.').next().unwrap_or_default()
    };
    let missing: Vec<&str> = GIVEN
        .lines()
        .map(methods)
        .filter(|name| !name.contains(' ') && *name != "properties")
        .filter(|name| !PAGE.contains(&format!("`{name}`")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
