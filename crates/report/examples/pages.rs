//! Writes the pages that the browser's tests open, into the folder that is named: a run with everything in it, one from a
//! result file, ten minutes, eight hours, twelve hours of 500 labels, an empty one, one of a single sample, one in which all samples
//! failed, one in which errors spread, one in which some samples have a schedule, a search for a capacity, comparisons, and a trend.
//! Nothing in them is left to chance. A second argument is the number of rows of the eight hours.

use std::fs;
use std::path::{Path, PathBuf};

use drumfire_report::{
    Apdex, Capacity, CapacityLevel, CompareOptions, Comparison, DataFile, HealthGroup, HealthLine,
    Mark, PlanIdentity, RunAgent, RunFile, RunOutcome, RunVerdict, ThresholdResult, TimeUse,
    TimedPart, TrendPoint, VerdictReason, report_html, trend_html,
};
use drumfire_results::{
    AssertionResult, Connections, Recording, Sample, SampleTrace, ThresholdOutcome, TraceId,
    TraceLimits,
};

/// 2026-03-01 10:00:00 UTC.
const START_MS: i64 = 1_772_359_200_000;

/// The run whose samples have traces.
const TRACED: &str = "traced.jmx";

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from("."), PathBuf::from);
    fs::create_dir_all(&folder)?;
    let whole = shop("checkout.jmx", 1.0, 300);
    let slower = changed(shop("checkout.jmx, next", 1.25, 300));
    put(&folder, "whole.html", &whole)?;
    let mut traced = shop(TRACED, 1.0, 60);
    let link = "https://traces.example/{trace_id}";
    traced
        .properties
        .push(("-Jdrumfire.trace.link".to_owned(), link.to_owned()));
    put(&folder, "traced.html", &traced)?;
    put(&folder, "ten.html", &shop("checkout.jmx", 1.0, 600))?;
    let rows = std::env::args().nth(2).and_then(|rows| rows.parse().ok());
    put(
        &folder,
        "eight-hours.html",
        &eight_hours(rows.unwrap_or(150_000)),
    )?;
    put(&folder, "capacity.html", &searched(shop("p.jmx", 1.0, 60)))?;
    let rows = RunFile::of_result_file(Path::new("results.jtl"), shop("", 1.0, 20).recording);
    put(&folder, "results.html", &rows)?;
    put(&folder, "long.html", &RunFile::new("long.jmx", long()))?;
    put(
        &folder,
        "empty.html",
        &RunFile::new("empty.jmx", Recording::default()),
    )?;
    for (name, samples) in [
        ("one", vec![plain("GET /", 300, 40, true)]),
        (
            "failed",
            (0..500).map(|i| plain("GET /", i * 20, 9, false)).collect(),
        ),
        ("mixed", mixed()),
        ("errors", spreading()),
    ] {
        let mut recording = Recording::default();
        samples.iter().for_each(|sample| recording.add(sample));
        let run = described_as(RunFile::new(format!("{name}.jmx"), recording));
        put(&folder, &format!("{name}.html"), &run)?;
    }
    for (name, base, other) in [
        ("comparison", whole, slower),
        (
            "long-labels",
            described_as(long_labels(20)),
            described_as(long_labels(30)),
        ),
    ] {
        let comparison = Comparison::of(&base, &[other], CompareOptions::default());
        fs::write(folder.join(format!("{name}.html")), comparison.html())?;
    }
    fs::write(
        folder.join("trend.html"),
        trend_html("checkout.jmx", &trend()),
    )
}

/// The same shop on another day: another target, plan, data and number of users.
fn changed(mut run: RunFile) -> RunFile {
    run.targets = vec!["stage.example:443".to_owned()];
    if let Some(plan) = &mut run.plan {
        plan.sha256.replace_range(..1, "0");
    }
    run.properties[0].1 = "31".to_owned();
    (run.data[0].bytes, run.data[0].sha256) =
        (900, Some("591785b794601e212b260e25925636fd".to_owned()));
    run
}

/// Labels as scripts generate them, with addresses in them.
fn long_labels(elapsed_ms: i64) -> RunFile {
    let mut recording = Recording::default();
    for i in 0..600 {
        let label = format!(
            "GET /catalogue/search?query={}&page={}",
            "a-very-long-word".repeat(12),
            i % 3
        );
        recording.add(&plain(&label, i * 100, elapsed_ms, true));
    }
    RunFile::new("long.jmx", recording)
}

/// 503 of three labels from 0:20 to 0:59, and 404 of one of them from 0:40 to 0:49.
fn spreading() -> Vec<Sample> {
    let mut samples = Vec::new();
    for second in 0..90i64 {
        for (place, label) in ["GET /a", "GET /b", "GET /c"].into_iter().enumerate() {
            let at_ms = second * 1000 + place as i64 * 10;
            samples.push(plain(label, at_ms, 5, !(20..60).contains(&second)));
            samples.push(plain(label, at_ms + 500, 5, true));
        }
        for part in 0..6 * i64::from((40..50).contains(&second)) {
            let mut missing = plain("GET /b", second * 1000 + 600 + part, 5, false);
            (missing.code, missing.message) = ("404".into(), "Not Found".into());
            samples.push(missing);
        }
    }
    samples
}

/// Eight hours of 40 labels.
fn eight_hours(rows: i64) -> RunFile {
    let mut noise = Noise(11);
    let mut recording = Recording::default();
    let labels: Vec<String> = (0..40).map(|i| format!("GET /page/{i}")).collect();
    let length_ms = 8 * 3_600_000;
    for row in 0..rows {
        let place = (noise.next() * 40.0) as usize % 40;
        let elapsed_ms = (place as f64 + 5.0) * (0.5 + noise.next()) * (0.5 + noise.next());
        let mut sample = plain(
            &labels[place],
            row * length_ms / rows,
            elapsed_ms as i64,
            noise.next() > 0.001,
        );
        sample.service_us = (elapsed_ms * 1000.0) as u64;
        (sample.bytes, sample.sent_bytes) = (4_000, 350);
        recording.add(&sample);
    }
    described_as(RunFile::new("soak.jmx", recording))
}

/// A run that was a search for the target's capacity.
fn searched(mut run: RunFile) -> RunFile {
    let levels = [50.0, 100.0, 200.0, 141.0, 168.0, 158.0];
    let levels = levels.into_iter().enumerate().map(|(place, rate)| {
        let holds = rate < 160.0;
        let from_ms = START_MS + place as i64 * 10_000;
        CapacityLevel {
            rate,
            reached: f64::min(rate, 161.0),
            holds,
            outcome: if holds { "holds" } else { "does not hold" }.to_owned(),
            values: vec![format!("p95 {}", if holds { "4 ms" } else { "1960 ms" })],
            measured: Some(if holds {
                [2.0, 4.0 + rate / 50.0, 0.0]
            } else {
                [900.0, 1_960.0, 0.5]
            }),
            span_ms: (from_ms + 2_000, from_ms + 8_000),
        }
    });
    run.capacity = Some(Capacity {
        answer: "158/s; at 162/s p95 > 300ms".to_owned(),
        until: "p95 > 300ms".to_owned(),
        limits_ms: vec![300.0],
        held: Some(158.0),
        broken: Some(162.0),
        levels: levels.collect(),
    });
    run
}

/// Twelve runs, two of them with fewer users, that get slower.
fn trend() -> Vec<TrendPoint> {
    let point = |run: usize| {
        let slow = 1.0 + run as f64 / 20.0;
        let users = if run % 5 == 3 { 20 } else { 100 };
        let is_over = slow * 70.0 > 100.0;
        TrendPoint {
            number: 12 - run,
            when: format!("2026-03-{:02} 10:00:00", run + 1),
            samples: 12_000,
            errors_percent: if run == 7 { 1.4 } else { 0.1 },
            rate: f64::from(users) * 2.0,
            percentiles_ms: [30.0 * slow, 70.0 * slow, 120.0 * slow],
            verdict: match run {
                4 => "DEGRADED",
                8 => "INVALID",
                _ => "VALID",
            }
            .to_owned(),
            users,
            outcome: Some(if is_over {
                RunOutcome::Failed
            } else {
                RunOutcome::Passed
            }),
            limits_ms: vec![("p95 > 100ms".to_owned(), 100.0)],
            labels: vec![
                ("GET /search".to_owned(), 80.0 * slow),
                ("POST /order".to_owned(), 140.0),
            ],
        }
    };
    (0..12).map(point).collect()
}

fn put(folder: &Path, name: &str, run: &RunFile) -> std::io::Result<()> {
    let page = report_html(run, &Apdex::default(), &|_, _| false);
    fs::write(folder.join(name), page)
}

/// A sample that starts this long after the start.
fn plain(label: &str, at_ms: i64, elapsed_ms: i64, success: bool) -> Sample {
    let mut sample = Sample::new(label.into(), "t 1-1".into());
    sample.set_ok();
    sample.success = success;
    if !success {
        (sample.code, sample.message) = ("503".into(), "Service Unavailable".into());
    }
    sample.start_ms = START_MS + at_ms;
    sample.service_us = elapsed_ms as u64 * 1000;
    sample.set_end(sample.start_ms + elapsed_ms);
    sample.all_threads = 3;
    sample
}

/// Ten seconds, with a fifth of an eleventh, of a fast label with a schedule and a slow one without.
fn mixed() -> Vec<Sample> {
    let at = (0..510).map(|i| i * 20);
    at.flat_map(|at_ms| {
        let mut fast = plain("Scheduled", at_ms, 10, true);
        fast.delay_us = Some(2_000);
        [fast, plain("Other", at_ms, 100, true)]
    })
    .collect()
}

/// A run on a machine, without anything else.
fn described_as(mut run: RunFile) -> RunFile {
    run.environment = vec![("host".to_owned(), "load-1".to_owned())];
    run
}

/// Numbers that look random and are always the same.
struct Noise(u64);

impl Noise {
    /// From 0 to 1.
    fn next(&mut self) -> f64 {
        let step = 6_364_136_223_846_793_005u64;
        self.0 = self
            .0
            .wrapping_mul(step)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }
}

/// A shop under a rate that grows; at two thirds its database gets slow, and some orders fail.
fn shop(name: &str, factor: f64, seconds: i64) -> RunFile {
    let labels = [
        ("GET /", 20.0),
        ("GET /search", 90.0),
        ("GET /product/{id}", 45.0),
        ("POST /basket", 60.0),
        ("POST /order", 180.0),
    ];
    let mut noise = Noise(7);
    let mut recording = Recording::default();
    for second in 0..seconds {
        let rate = 10 + second / 6;
        let slow = if (200..240).contains(&second) {
            4.0
        } else {
            1.0
        };
        for place in 0..rate {
            let (label, mean_ms) = labels[(noise.next() * 5.0) as usize % 5];
            let tail = if noise.next() > 0.97 { 5.0 } else { 1.0 };
            let elapsed_ms = mean_ms * factor * slow * tail * (0.5 + noise.next());
            let mut sample = Sample::new(label.into(), format!("Shoppers 1-{place}").into());
            sample.set_ok();
            sample.start_ms = START_MS + second * 1000 + place * 1000 / rate;
            sample.service_us = (elapsed_ms * 1000.0) as u64;
            sample.set_end(sample.start_ms + elapsed_ms as i64);
            sample.phases.wait_us = (elapsed_ms * 700.0) as u64;
            if noise.next() > 0.9 {
                sample.phases.add([300, 900, 2_600, 0].into());
            }
            let delay_us = (noise.next() * 900.0 * slow) as u64;
            // A result file, which has no name here, does not know it.
            sample.delay_us = (!name.is_empty()).then_some(delay_us);
            (sample.bytes, sample.sent_bytes) = (4_000, 350);
            sample.all_threads = (rate / 2) as u32;
            if slow > 1.0 && label == "POST /order" {
                fail(&mut sample, noise.next());
            }
            if name == TRACED {
                sample.trace = Some(Box::new(trace(&sample)));
            }
            recording.add(&sample);
            sample.trace = None;
            if label == "POST /order" {
                recording.add(&transaction(&sample));
            }
        }
    }
    let run = RunFile::new(name, recording);
    described(run, seconds)
}

/// A trace whose server names half of the wait.
fn trace(sample: &Sample) -> SampleTrace {
    let id = TraceId(sample.start_ms as u128);
    let mut trace = SampleTrace::new(Some(id), true, TraceLimits::DEFAULT);
    let server_us = sample.phases.wait_us / 2;
    trace.server_us = Some(server_us);
    trace.add_metric("total", server_us);
    trace.add_metric("db", server_us / 3);
    trace
}

fn fail(sample: &mut Sample, luck: f64) {
    sample.success = false;
    sample.url = Some("http://127.0.0.1/order".into());
    sample.method = Some("POST".into());
    sample.request_headers = Some("Content-Type: application/json".into());
    sample.query_string = Some("{\"basket\":7}".into());
    sample.response_headers = Some("HTTP/1.1 503 Service Unavailable".into());
    sample.response_data = Some(b"<p>out of connections</p>".as_slice().into());
    if luck > 0.3 {
        (sample.code, sample.message) = ("503".into(), "Service Unavailable".into());
        return;
    }
    sample.assertions.push(AssertionResult {
        name: Some("has a number".into()),
        failure: true,
        message: Some("Test failed: text expected to contain /order-\\d+/".into()),
        ..AssertionResult::default()
    });
}

fn transaction(inner: &Sample) -> Sample {
    let mut sample = inner.clone();
    sample.label = "Check out".into();
    sample.message = "Number of samples in transaction : 1, number of failing samples : 0".into();
    sample.code = "200".into();
    sample.assertions.clear();
    sample
}

/// The facts besides the samples.
fn described(mut run: RunFile, seconds: i64) -> RunFile {
    (run.started_ms, run.ended_ms) = (START_MS, START_MS + seconds * 1000);
    run.plan = Some(PlanIdentity {
        path: "plans/checkout.jmx".to_owned(),
        sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".to_owned(),
    });
    let environment = [
        ("host", "load-1"),
        ("processors", "4"),
        ("memory", "8192 MiB"),
    ];
    run.data = vec![DataFile {
        path: "users.csv".to_owned(),
        bytes: 812,
        sha256: Some("b1946ac92492d2347c6235b4d2611184".to_owned()),
    }];
    run.environment = environment
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .to_vec();
    run.verdict = Some(RunVerdict {
        state: "DEGRADED".to_owned(),
        reasons: vec![VerdictReason {
            what: "CPU quota of the control group used up".to_owned(),
            measured: "without CPU for 180 ms of 1000 ms".to_owned(),
            remedy: "raise the container's CPU limit, or send less from here".to_owned(),
            spans_ms: vec![(START_MS + 120_000, START_MS + 131_000)],
        }],
    });
    run.targets = vec!["shop.example:443".to_owned()];
    run.properties = vec![
        ("-Jusers".to_owned(), "30".to_owned()),
        ("-Jshop.password".to_owned(), "***".to_owned()),
    ];
    let threshold =
        |text: &str, outcome, value, limit, (sentence, statement): (&str, &str)| ThresholdResult {
            text: text.to_owned(),
            outcome,
            value,
            limit,
            unit: "ms".to_owned(),
            sentence: sentence.to_owned(),
            statement: statement.to_owned(),
        };
    run.thresholds = vec![
        threshold(
            "p95 > 800ms",
            ThresholdOutcome::Passed,
            Some(453.0),
            800.0,
            (
                "p95 453 ms   fails if > 800 ms",
                "The 95th percentile stayed below 800 ms: 453 ms",
            ),
        ),
        threshold(
            "label:POST /order p99 > 1000ms",
            ThresholdOutcome::Failed,
            Some(1_640.0),
            1_000.0,
            (
                "p99 of POST /order 1640 ms   fails if > 1000 ms",
                "The 99th percentile of POST /order went above 1000 ms: 1640 ms",
            ),
        ),
        threshold(
            "p95 of Pay > 300ms",
            ThresholdOutcome::NotJudged,
            None,
            300.0,
            (
                "p95 of Pay   fails if > 300 ms   no sample has the label `Pay`",
                "The 95th percentile of Pay could not be judged: no sample has the label `Pay`",
            ),
        ),
    ];
    run.connections = Some(Connections {
        opened: 812,
        reused: 9_651,
        handshakes_full: 400,
        handshakes_resumed: 412,
        closed_by_us: 800,
        closed_by_peer: 12,
    });
    let users = (0..seconds).step_by(6);
    run.planned_users = users
        .map(|second| (START_MS + second * 1000, (5 + second / 12) as u64))
        .collect();
    run.marks.push(Mark {
        at_ms: START_MS + 200_000,
        text: "database restarted".to_owned(),
    });
    run.time_use = Some(time_use());
    run.agents = vec![
        agent("eu-1", 6_120, "VALID"),
        agent("us-1", 5_880, "DEGRADED"),
    ];
    run.health = vec![
        health("Schedule delay", "ms", seconds),
        health("CPU", "cores", seconds),
    ];
    run
}

fn agent(name: &str, samples: u64, verdict: &str) -> RunAgent {
    RunAgent {
        name: name.to_owned(),
        state: "done".to_owned(),
        users: 25,
        samples,
        late_ms: Some(0.4),
        offset_ms: Some(-3.2),
        bound_ms: Some(0.6),
        verdict: Some(verdict.to_owned()),
    }
}

fn time_use() -> TimeUse {
    let part = |name: &str, mean_us, is_own_work| TimedPart {
        name: name.to_owned(),
        mean_us,
        is_own_work,
    };
    TimeUse {
        samples: 171,
        cpu_us: Some(41.0),
        parts: vec![
            part("connect", 90.0, false),
            part("TLS", 260.0, false),
            part("wait", 56_000.0, false),
            part("read", 16_000.0, false),
            part("sampler", 9.0, true),
            part("extract", 1.4, true),
        ],
    }
}

fn health(name: &str, unit: &str, seconds: i64) -> HealthGroup {
    let mut noise = Noise(3);
    let line = |name: &str, height: f64, noise: &mut Noise| HealthLine {
        name: name.to_owned(),
        values: (0..seconds)
            .map(|_| height * (0.5 + noise.next()))
            .collect(),
    };
    HealthGroup {
        name: name.to_owned(),
        unit: unit.to_owned(),
        at_ms: (1..=seconds)
            .map(|second| START_MS + second * 1000)
            .collect(),
        lines: vec![
            line("first", 0.4, &mut noise),
            line("second", 1.2, &mut noise),
        ],
    }
}

/// Twelve hours of 500 labels, by a clock that is driven by hand.
fn long() -> Recording {
    let mut noise = Noise(5);
    let mut recording = Recording::default();
    let labels: Vec<String> = (0..500).map(|i| format!("GET /some/path/{i}")).collect();
    for second in (0..12 * 3600).step_by(60) {
        for label in &labels {
            let mut sample = Sample::new(label.as_str().into(), "t".into());
            sample.set_ok();
            sample.start_ms = START_MS + second * 1000;
            sample.service_us = 20_000 + (noise.next() * 65_536.0) as u64;
            sample.set_end(sample.start_ms + sample.service_us as i64 / 1000);
            sample.all_threads = 100;
            recording.add(&sample);
        }
    }
    recording
}
