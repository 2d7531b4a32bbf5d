//! Prometheus: a scrape and remote write.

use std::collections::BTreeMap;
use std::process::Command;

use drumfire_testkit::program::Workshop;
use serde_json::Value;

use super::stage::{await_answer, get, installed, json, ports, queries, run, start};

#[test]
#[ignore = "needs prometheus: cargo xtask sinks"]
fn prometheus_has_what_the_result_file_has_and_its_board_shows_it() {
    let Some(prometheus) = installed("prometheus") else {
        return;
    };
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let folder = workshop.path("prometheus");
    std::fs::create_dir(&folder).expect("there is room");
    std::fs::write(folder.join("p.yml"), "global:\n  scrape_interval: 1s\n")
        .expect("there is room");
    let [http] = ports();
    let mut command = Command::new(prometheus);
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
    let _prometheus = start(&mut command, &folder);
    let base = format!("http://127.0.0.1:{http}");
    await_answer(&format!("{base}/-/ready"), &folder);
    let counted = run(
        &workshop,
        &[&format!("prometheus-remote-write={base}/api/v1/write")],
    );
    let query = |text: &str| json(&get(&format!("{base}/api/v1/query"), &[("query", text)]));
    let values = |text: &str| -> BTreeMap<String, f64> {
        let answer = query(text);
        let series = answer["data"]["result"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let of = |series: &Value| {
            let value = series["value"][1]
                .as_str()
                .and_then(|text| text.parse().ok());
            let label = series["metric"]["label"].as_str().unwrap_or_default();
            (label.to_owned(), value.expect("a number"))
        };
        series.iter().map(of).collect()
    };
    let samples = values("sum by (label) (drumfire_samples_total)");
    let failed = values("sum by (label) (drumfire_samples_total{result=\"failed\"})");
    let p95 = values("histogram_quantile(0.95, drumfire_response_time_seconds)");
    for (label, counted) in &counted {
        assert_eq!(
            (samples[label], failed[label]),
            (counted.samples, counted.failed),
            "{label}"
        );
        // A bucket of schema 3 is 9 % wide; result files have whole milliseconds.
        let (found_ms, exact_ms) = (p95[label] * 1000.0, counted.percentile(95.0));
        assert!(
            (found_ms - exact_ms).abs() <= exact_ms * 0.1 + 1.0,
            "{label}: {found_ms} for {exact_ms}"
        );
    }
    let now = std::time::SystemTime::now();
    let now = now
        .duration_since(std::time::UNIX_EPOCH)
        .expect("a time")
        .as_secs();
    for (title, text) in queries("prometheus.json", "expr") {
        let text = text
            .replace("$__rate_interval", "1m")
            .replace("$run", ".*")
            .replace("$label", ".*");
        let (start, end) = ((now - 600).to_string(), now.to_string());
        let pairs = [
            ("query", text.as_str()),
            ("start", &start),
            ("end", &end),
            ("step", "1"),
        ];
        let answer = json(&get(&format!("{base}/api/v1/query_range"), &pairs));
        let series = answer["data"]["result"].as_array();
        assert!(
            series.is_some_and(|series| !series.is_empty()),
            "{title}: {text}: {answer}"
        );
    }
}
