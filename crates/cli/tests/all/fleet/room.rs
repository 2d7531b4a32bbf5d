//! NATS servers that have no room.

use drumfire_testkit::nats::{Nats, has_server};
use drumfire_testkit::program::LIMIT;

use super::stage::{group, json, plan, sample, workshop};

/// A server that may store so much.
fn limited(most: &str) -> Nats {
    Nats::start_with(|folder, port| {
        let config = folder.join("nats.conf");
        let store = folder.join("store");
        let text = format!(
            "host: 127.0.0.1\nport: {port}\njetstream {{ store_dir: {:?}, max_file_store: {most} }}\n",
            store.display().to_string()
        );
        std::fs::write(&config, text).expect("there is room");
        Some(config)
    })
}

#[test]
fn a_server_without_room_is_told_before_the_start() {
    if !has_server() {
        return;
    }
    let (nats, home) = (limited("1MB"), workshop());
    home.write(
        "plan.jmx",
        plan(&group("ThreadGroup", 1, 1, None, &sample("s"))),
    );
    let words = ["run", "plan.jmx", "--agents", "1", "--nats", &nats.url()];
    let finished = home.run(&words, LIMIT);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    for words in [
        "no room for 32 MiB of results",
        "max_file_store",
        "free some space",
    ] {
        assert!(finished.err.contains(words), "{words}: {finished:?}");
    }
}

#[test]
fn rows_that_nats_has_no_room_for_are_told_and_the_numbers_are_whole() {
    if !has_server() {
        return;
    }
    let (nats, home, place) = (limited("34MB"), workshop(), workshop());
    let url = nats.url();
    let agent = place.start(&["agent", "--nats", &url, "--name", "a", "--once"]);
    // Each row is longer than ten thousand characters.
    let body = sample(&"long".repeat(2_500));
    home.write(
        "plan.jmx",
        plan(&group("ThreadGroup", 2, 2_000, None, &body)),
    );
    let words = [
        "run",
        "plan.jmx",
        "--agents",
        "1",
        "--nats",
        &url,
        "-l",
        "rows.jtl",
        "--summary-json",
        "run.json",
    ];
    let finished = home.run(&words, LIMIT);
    let ended = drumfire_testkit::program::finish(agent, LIMIT);
    assert_eq!(finished.code, Some(1), "{}{ended:?}", finished.err);
    assert!(
        finished.err.contains("its rows stay in") && finished.err.contains("no room for rows"),
        "{}{ended:?}",
        finished.err
    );
    assert_eq!(json(&home, "run.json")["total"]["count"], 4_000);
    let kept = place.path(".cache/drumfire/runs");
    let folder = std::fs::read_dir(kept).expect("it is kept").next();
    let folder = folder.expect("of one run").expect("it can be read");
    let rows = std::fs::read_to_string(folder.path().join("rows.jtl"));
    assert_eq!(rows.expect("they are kept").lines().count(), 4_001);
}
