//! StatsD.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use drumfire_testkit::program::Workshop;

use super::stage::{ports, run, start};

#[test]
#[ignore = "needs node and the package statsd: cargo xtask sinks"]
fn statsd_counts_what_the_result_file_has() {
    let Some(statsd) = std::env::var_os("DRUMFIRE_STATSD").map(PathBuf::from) else {
        println!("SKIPPED: DRUMFIRE_STATSD does not name the folder of npm's statsd");
        return;
    };
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let folder = workshop.path("statsd");
    std::fs::create_dir(&folder).expect("there is room");
    let [udp, management] = ports();
    let config = format!(
        "{{port: {udp}, address: \"127.0.0.1\", mgmt_port: {management}, mgmt_address: \"127.0.0.1\", backends: [\"./backends/console\"], flushInterval: 500, deleteCounters: true, console: {{prettyprint: false}}}}"
    );
    std::fs::write(folder.join("config.js"), config).expect("there is room");
    let mut command = Command::new("node");
    command
        .arg(statsd.join("stats.js"))
        .arg(folder.join("config.js"))
        .current_dir(&statsd);
    let _statsd = start(&mut command, &folder);
    let deadline = Instant::now() + Duration::from_secs(60);
    while std::net::TcpStream::connect(("127.0.0.1", management)).is_err() {
        assert!(Instant::now() < deadline, "statsd does not listen");
        std::thread::sleep(Duration::from_millis(100));
    }
    let counted = run(&workshop, &[&format!("statsd=127.0.0.1:{udp}")]);
    std::thread::sleep(Duration::from_secs(2));
    let log = std::fs::read_to_string(folder.join("sink.log")).expect("a log");
    assert!(log.contains("drumfire."), "{log}");
    let total: f64 = counted.values().map(|counted| counted.samples).sum();
    // The console shows an object, a counter to a line, and its rate a second further below.
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    let mut is_counter = false;
    for line in log.lines() {
        if line.ends_with('{') {
            is_counter = line.trim() == "counters: {";
        }
        let pair = line.trim().trim_end_matches(',').split_once("': ");
        if let Some((name, value)) = pair.filter(|_| is_counter) {
            let name = name.trim_start_matches('\'').to_owned();
            *sums.entry(name).or_default() += value.parse().unwrap_or(0.0);
        }
    }
    let sum = |end: &str| -> f64 {
        let wanted = sums
            .iter()
            .filter(|(name, _)| name.starts_with("drumfire.") && name.ends_with(end));
        wanted.map(|(_, value)| value).sum()
    };
    let failed: f64 = counted.values().map(|counted| counted.failed).sum();
    assert_eq!(
        (sum(".ok"), sum(".failed")),
        (total - failed, failed),
        "{log}"
    );
}
