//! Prometheus: a scrape and remote write.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use drumfire_testkit::program::Workshop;
use serde_json::Value;

use super::stage::{
    Counted, Running, await_answer, get, installed, json, ports, queries, run, start,
};

/// A Prometheus that also scrapes a port, and its address. `None` if there is none.
fn prometheus(workshop: &Workshop, scraped: u16) -> Option<(Running, String)> {
    let program = installed("prometheus")?;
    let folder = workshop.path("prometheus");
    std::fs::create_dir(&folder).expect("there is room");
    let settings = format!(
        "global:\n  scrape_interval: 1s\nscrape_configs:\n  - job_name: drumfire\n    static_configs:\n      - targets: ['127.0.0.1:{scraped}']\n"
    );
    std::fs::write(folder.join("p.yml"), settings).expect("there is room");
    let [http] = ports();
    let mut command = Command::new(program);
    command
        .arg(format!("--config.file={}", folder.join("p.yml").display()))
        .arg(format!(
            "--storage.tsdb.path={}",
            folder.join("data").display()
        ))
        .arg(format!("--web.listen-address=127.0.0.1:{http}"))
        .args([
            "--web.enable-remote-write-receiver",
            "--enable-feature=native-histograms",
        ]);
    let running = start(&mut command, &folder);
    let base = format!("http://127.0.0.1:{http}");
    await_answer(&format!("{base}/-/ready"), Path::new(&folder));
    Some((running, base))
}

/// The last values of a query over the last ten minutes, by label.
fn values(base: &str, query: &str) -> BTreeMap<String, f64> {
    let now = std::time::SystemTime::now();
    let now = now.duration_since(std::time::UNIX_EPOCH);
    let now = now.expect("a time").as_secs();
    // The last values have the time of the run's end, which is later than the second that has just begun.
    let (start, end) = ((now - 600).to_string(), (now + 10).to_string());
    let pairs = [
        ("query", query),
        ("start", &start),
        ("end", &end),
        ("step", "1"),
    ];
    let answer = json(&get(&format!("{base}/api/v1/query_range"), &pairs));
    let series = answer["data"]["result"]
        .as_array()
        .unwrap_or_else(|| panic!("{query}: {answer}"));
    let of = |series: &Value| {
        let points = series["values"].as_array().into_iter().flatten();
        let mut numbers = points.filter_map(|point| point[1].as_str()?.parse::<f64>().ok());
        let last = numbers.rfind(|number| !number.is_nan());
        let label = series["metric"]["label"].as_str().unwrap_or_default();
        Some((label.to_owned(), last?))
    };
    series.iter().filter_map(of).collect()
}

/// Every query of the board has numbers.
fn the_board_is_filled(base: &str) {
    for (title, text) in queries("prometheus.json", "expr") {
        let text = text
            .replace("$__rate_interval", "1m")
            .replace("$run", ".*")
            .replace("$label", ".*");
        let found = values(base, &text);
        assert!(!found.is_empty(), "{title}: {text}");
    }
}

/// The sink has the numbers of the result file.
fn has_the_numbers(base: &str, counted: &BTreeMap<String, Counted>, p95: &str, width: f64) {
    let samples = values(base, "sum by (label) (drumfire_samples_total)");
    let failed = values(
        base,
        "sum by (label) (drumfire_samples_total{result=\"failed\"})",
    );
    let p95 = values(base, p95);
    for (label, counted) in counted {
        assert_eq!(
            (samples[label], failed[label]),
            (counted.samples, counted.failed),
            "{label}"
        );
        // Result files have whole milliseconds.
        let (found_ms, exact_ms) = (p95[label] * 1000.0, counted.percentile(95.0));
        assert!(
            (found_ms - exact_ms).abs() <= exact_ms * width + 1.0,
            "{label}: {found_ms} for {exact_ms}"
        );
    }
}

#[test]
#[ignore = "needs prometheus: cargo xtask sinks"]
fn prometheus_has_what_remote_write_sends_and_its_board_shows_it() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let [unused] = ports();
    let Some((_prometheus, base)) = prometheus(&workshop, unused) else {
        return;
    };
    let counted = run(
        &workshop,
        &[&format!("prometheus-remote-write={base}/api/v1/write")],
    );
    // A bucket of schema 3 is 9 % wide.
    let p95 = "histogram_quantile(0.95, drumfire_response_time_seconds)";
    has_the_numbers(&base, &counted, p95, 0.1);
    the_board_is_filled(&base);
}

#[test]
#[ignore = "needs prometheus: cargo xtask sinks"]
fn prometheus_has_what_it_scrapes_and_its_board_shows_it() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let [scraped] = ports();
    let Some((_prometheus, base)) = prometheus(&workshop, scraped) else {
        return;
    };
    run(&workshop, &[&format!("prometheus=127.0.0.1:{scraped}")]);
    // The last scrape is up to a second before the end of the run, so the verdict, which is known then, may be missing.
    for (title, text) in queries("prometheus.json", "expr") {
        let text = text
            .replace("$__rate_interval", "5s")
            .replace("$run", ".*")
            .replace("$label", ".*");
        let found = values(&base, &text);
        assert!(!found.is_empty() || title == "Verdict", "{title}: {text}");
    }
}
