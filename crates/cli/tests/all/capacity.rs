//! `drumfire capacity`: it finds the limit of a target, and says whose limit it was.

use drumfire_testkit::plans::{debug, group, http, plan};
use drumfire_testkit::program::{LIMIT, Workshop, capacity_found};
use drumfire_testkit::server::{ResponseStep, Server, ok};

fn workshop() -> Workshop {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let place = [
        ("domain", "${__P(demo.host)}"),
        ("port", "${__P(demo.port)}"),
        ("path", "/limited?rate=80"),
    ];
    workshop.write("p.jmx", plan(&group(1, &http("limited", &place))));
    workshop
}

// The demo site makes this page 80 times a second.
#[test]
fn the_limit_of_the_demo_site_is_found_within_five_per_cent() {
    let workshop = workshop();
    let words = [
        "capacity",
        "p.jmx",
        "--until",
        "p95 > 300ms or errors > 1%",
        "--from",
        "30/s",
        "--max",
        "2000/s",
        "--users",
        "300",
        "--",
        "--demo",
        "--report",
        "r.html",
    ];
    let finished = workshop.run(&words, LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let found = capacity_found(&finished);
    assert!((76.0..=84.0).contains(&found), "{finished:?}");
    assert!(workshop.read("r.html").contains("payload"));
    let kept = workshop.run(&["runs", "list", "--json"], LIMIT);
    let kept: serde_json::Value = serde_json::from_str(&kept.out).expect("JSON");
    let file = kept[0]["file"].as_str().expect("a path").to_owned();
    let run = drumfire_report::read_input(
        std::path::Path::new(&file),
        &Default::default(),
        &mut Vec::new(),
    )
    .expect("a run file");
    let capacity = run.capacity.expect("the search's result");
    assert!(finished.out.contains(&capacity.answer), "{capacity:?}");
    assert_eq!(capacity.limits_ms, [300.0]);
    assert!(
        capacity.levels.len() > 3 && capacity.held < capacity.broken,
        "{capacity:?}"
    );
}

#[test]
fn an_address_is_searched_without_a_plan() {
    let target = Server::start(|_| vec![ResponseStep::Send(ok(""))]);
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let address = format!("http://{}/", target.address());
    let words = [
        "capacity",
        &address,
        "--until",
        "errors > 50%",
        "--from",
        "20/s",
        "--max",
        "20/s",
    ];
    let finished = workshop.run(&words, LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(finished.out.contains("holds"), "{finished:?}");
}

#[test]
fn wrong_capacity_goals_are_refused_before_the_load() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    workshop.write("p.jmx", plan(&group(1, &debug("sample"))));
    let refused = |until: &str, from: &str, max: &str| {
        let words = [
            "capacity", "p.jmx", "--until", until, "--from", from, "--max", max,
        ];
        let finished = workshop.run(&words, LIMIT);
        assert_eq!(finished.code, Some(2), "{finished:?}");
        finished.err
    };
    assert!(refused("p95 > 1s for 3s", "1", "2").contains("leave out `over` and `for`"));
    assert!(refused("p95 > 1s", "5", "2").contains("--max 2 is below --from 5"));
    assert!(refused("p95 >> 1s", "1", "2").contains("threshold `p95 >> 1s`"));
}
