//! Elements of a user's own classes beside the rows and events that JMeter 5.6.3 recorded for the same plan and jar.

use super::classes::jar;
use super::{run, workshop};

const SOURCE: &str = include_str!("../../data/own_classes/Own.java");
const PLAN: &str = include_str!("../../data/own_classes/plan.jmx");
const ROWS: &str = include_str!("../../data/own_classes/rows.txt");
const EVENTS: &str = include_str!("../../data/own_classes/events.txt");

/// The columns from `label` to `success`.
pub fn shown(results: &str) -> String {
    let columns = |line: &str| {
        let line: Vec<&str> = line.split(',').skip(2).take(6).collect();
        line.join(",") + "\n"
    };
    results.lines().map(columns).collect()
}

#[test]
fn controllers_timers_assertions_and_listeners_of_any_class_run() {
    let Some(workshop) = workshop() else { return };
    let jar = jar(&workshop, "own.jar", &[("Own.java", SOURCE)]);
    let path = format!("-Juser.classpath={jar}");
    let finished = run(&workshop, PLAN, &[&path]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(shown(&workshop.read("r.jtl")), ROWS);
    assert_eq!(workshop.read("events.txt"), EVENTS);

    let checked = workshop.run(&["check", "p.jmx", &path], super::LIMIT);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    let checked = workshop.run(&["check", "p.jmx"], super::LIMIT);
    assert_ne!(checked.code, Some(0), "{checked:?}");
    assert!(checked.out.contains("a.own.Own$Twice"), "{checked:?}");
}
