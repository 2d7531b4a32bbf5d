//! Thread groups of a user's own classes beside the rows and events that JMeter 5.6.3 recorded for the same plan and jar.

use super::classes::jar;
use super::own_classes::shown;
use super::{run, workshop};

const SOURCE: &str = include_str!("../../data/own_groups/Groups.java");
const NOTES: &str = include_str!("../../data/own_classes/Own.java");
const PLAN: &str = include_str!("../../data/own_groups/plan.jmx");
const ROWS: &str = include_str!("../../data/own_groups/rows.txt");
const EVENTS: &str = include_str!("../../data/own_groups/events.txt");

/// Rows of users that run side by side, one user after the other.
fn by_user(rows: &str) -> Vec<&str> {
    let mut rows: Vec<&str> = rows.lines().collect();
    rows.sort_by_key(|row| {
        let name = row.split(',').nth(3).unwrap_or_default();
        (name.starts_with("twice"), name)
    });
    rows
}

fn sorted(events: &str) -> Vec<&str> {
    let mut events: Vec<&str> = events.lines().collect();
    events.sort_unstable();
    events
}

#[test]
fn thread_groups_of_any_class_start_their_users_themselves() {
    let Some(workshop) = workshop() else { return };
    let jar = jar(
        &workshop,
        "own.jar",
        &[("Groups.java", SOURCE), ("Own.java", NOTES)],
    );
    let path = format!("-Juser.classpath={jar}");
    let finished = run(&workshop, PLAN, &[&path]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(by_user(&shown(&workshop.read("r.jtl"))), by_user(ROWS));
    assert_eq!(sorted(&workshop.read("events.txt")), sorted(EVENTS));
    assert!(
        workshop.read("run.log").contains("not today"),
        "a group that cannot start is in the log"
    );

    let checked = workshop.run(&["check", "p.jmx", &path], super::LIMIT);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    let checked = workshop.run(&["check", "p.jmx"], super::LIMIT);
    assert_ne!(checked.code, Some(0), "{checked:?}");
    assert!(checked.out.contains("a.own.Groups$InTurn"), "{checked:?}");
}

/// Its object hears of a shutdown, and the run ends with its users.
#[test]
fn a_thread_group_of_any_class_is_told_that_the_run_stops() {
    let Some(workshop) = workshop() else { return };
    let jar = jar(
        &workshop,
        "own.jar",
        &[("Groups.java", SOURCE), ("Own.java", NOTES)],
    );
    let stop = "if (ctx.threadNum == 11) ctx.engine.askThreadsToStop()";
    let group = format!(
        r#"<a.own.Groups_-InTurn guiclass="g" testclass="a.own.Groups$InTurn" testname="g"><stringProp name="ThreadGroup.on_sample_error">continue</stringProp><stringProp name="ThreadGroup.num_threads">1000000</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">2</stringProp></elementProp></a.own.Groups_-InTurn><hashTree>{}</hashTree>"#,
        super::jsr223("JSR223Sampler", "stop", stop)
    );
    let path = format!("-Juser.classpath={jar}");
    let finished = run(&workshop, &super::plan(&[group]), &[&path]);
    // The second user ends after its first sample, and no third one is started.
    assert_eq!(
        workshop.read("r.jtl").lines().count(),
        1 + 3,
        "{finished:?}"
    );
}
