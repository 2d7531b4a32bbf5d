//! Backend Listeners whose client only Java has, beside what JMeter 5.6.3 gave the same client for the same plan.

use super::classes::jar;
use super::{count, run, workshop};

const SOURCE: &str = include_str!("../../data/backend_client/Client.java");
const PLAN: &str = include_str!("../../data/backend_client/plan.jmx");

#[test]
fn clients_are_given_the_samples_and_parameters_that_jmeter_gives() {
    let Some(workshop) = workshop() else { return };
    let jar = jar(&workshop, "own.jar", &[("Client.java", SOURCE)]);
    let path = format!("-Juser.classpath={jar}");
    let finished = run(&workshop, PLAN, &[&path]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let recorded = [
        ("all.txt", include_str!("../../data/backend_client/all.txt")),
        (
            "chosen.txt",
            include_str!("../../data/backend_client/chosen.txt"),
        ),
        ("one.txt", include_str!("../../data/backend_client/one.txt")),
    ];
    for (file, text) in recorded {
        assert_eq!(workshop.read(file), text, "{file}");
    }

    let checked = workshop.run(&["check", "p.jmx", &path], super::LIMIT);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    let how = "jvm      BackendListener  p > chosen";
    assert!(checked.out.contains(how), "{checked:?}");
    assert!(checked.out.contains("a.backend.Client$Choosing"));
    let checked = workshop.run(&["check", "p.jmx"], super::LIMIT);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    let how = "no jar on the class path contains its class";
    assert!(checked.out.contains(how), "{checked:?}");
}

/// The plan with another client for the listener `chosen`, with room for two samples.
fn with_client(class: &str) -> String {
    let plan = PLAN.replace("Client$Choosing", class);
    plan.replace(r#""QUEUE_SIZE">100"#, r#""QUEUE_SIZE">2"#)
}

#[test]
fn a_client_that_hangs_or_fails_makes_no_user_wait() {
    let Some(workshop) = workshop() else { return };
    let jar = jar(&workshop, "own.jar", &[("Client.java", SOURCE)]);
    let path = format!("-Juser.classpath={jar}");
    // Two listeners with one name are two.
    let plan = with_client("Client$Hanging").replace(r#"testname="of one""#, r#"testname="all""#);
    let finished = run(&workshop, &plan, &[&path]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(count(&workshop, "apart"), 2);
    let all = include_str!("../../data/backend_client/all.txt");
    assert_eq!(workshop.read("all.txt"), all);
    let one = include_str!("../../data/backend_client/one.txt");
    assert_eq!(workshop.read("one.txt"), one);
    let said = "Backend Listener chosen: 12 of 12 samples were not sent: handleSampleResults did not end within 10 s";
    assert!(finished.err.contains(said), "{finished:?}");

    let finished = run(&workshop, &with_client("Client$Failing"), &[&path]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let said = "handleSampleResults failed: java.lang.IllegalStateException: refused";
    assert!(finished.err.contains(said), "{finished:?}");
}

/// JMeter does not start either.
#[test]
fn a_client_that_cannot_be_set_up_is_said_before_the_first_sample() {
    let Some(workshop) = workshop() else { return };
    let jar = jar(&workshop, "own.jar", &[("Client.java", SOURCE)]);
    let plan = PLAN.replacen(">empty<", ">fail<", 2);
    let finished = run(&workshop, &plan, &[&format!("-Juser.classpath={jar}")]);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    let said = "setupTest of a.backend.Client failed: java.io.IOException: no ";
    assert!(finished.err.contains(said), "{finished:?}");
    assert_eq!(count(&workshop, "one"), 0);
}
