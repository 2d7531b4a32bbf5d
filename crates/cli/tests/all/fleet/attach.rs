//! A coordinator that is killed and another one that goes on.

use std::time::Duration;

use drumfire_testkit::nats::has_server;
use drumfire_testkit::program::{LIMIT, finish};

use super::stage::{Fleet, column, json, long_plan};

#[test]
fn another_coordinator_goes_on_and_nothing_is_missing() {
    if !has_server() {
        return;
    }
    let fleet = Fleet::of(&["a", "b"]);
    fleet.home.write("plan.jmx", long_plan(4, 15));
    let mut child = fleet.start(&["--agents", "2", "-l", "gone.jtl"]);
    fleet.until_running();
    std::thread::sleep(Duration::from_secs(3));
    let log = fleet.home.read("jmeter.log");
    let run = log
        .split("agents have begun run ")
        .nth(1)
        .expect("it is told");
    let run = run.lines().next().expect("its name").to_owned();
    let url = fleet.nats.url();
    let attach = |more: &[&str]| {
        let fixed = ["attach", &run, "--nats", &url, "--progress", "lines"];
        fleet.home.run(&[&fixed, more].concat(), LIMIT)
    };
    let refused = attach(&[]);
    assert_eq!(refused.code, Some(1), "{}", refused.out);
    assert!(
        refused.err.contains("still has a running coordinator"),
        "{}",
        refused.err
    );
    child.kill().expect("it runs");
    finish(child, LIMIT);
    std::thread::sleep(Duration::from_secs(2));
    let words = [
        "-l",
        "rows.jtl",
        "--summary-json",
        "run.json",
        "--report",
        "r.html",
    ];
    let finished = attach(&words);
    assert_eq!(finished.code, Some(0), "{}{}", finished.out, finished.err);
    // The seconds before the first coordinator's end are among them.
    let rows = column(&fleet.home, "label");
    assert_eq!(rows.len(), 4, "{rows:?}");
    let count: u32 = rows.values().sum();
    assert!(count > 450, "{rows:?}");
    assert_eq!(json(&fleet.home, "run.json")["total"]["count"], count);
    let again = attach(&["--summary-json", "again.json"]);
    assert_eq!(again.code, Some(0), "{}{}", again.out, again.err);
    assert_eq!(json(&fleet.home, "again.json")["total"]["count"], count);
}
