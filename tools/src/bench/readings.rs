//! Parses the figures in each program's output.

use std::io::{BufRead as _, BufReader};
use std::ops::Range;
use std::path::Path;

use serde_json::Value;

/// The samples of one round, and those of their times that the program reports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoundReading {
    pub samples: u64,
    pub failed: u64,
    pub p50_ms: Option<f64>,
    pub p99_ms: Option<f64>,
    pub p999_ms: Option<f64>,
    /// The start of the first sample, since the Unix epoch.
    pub first_ms: Option<u64>,
}

impl RoundReading {
    /// Keeps the counts only.
    pub fn without_times(self) -> RoundReading {
        RoundReading {
            samples: self.samples,
            failed: self.failed,
            ..RoundReading::default()
        }
    }
}

/// Reads a JTL file, in whole milliseconds. It counts all samples, or those that began within a range, and all failures.
pub fn jtl(file: &Path, counted_ms: Option<Range<u64>>) -> Option<RoundReading> {
    let counted_ms = counted_ms.unwrap_or(0..u64::MAX);
    let mut rows = csv::Reader::from_path(file).ok()?;
    let head = rows.headers().ok()?.clone();
    let place = |name: &str| head.iter().position(|column| column == name);
    let (began, elapsed, success) = (place("timeStamp")?, place("elapsed")?, place("success")?);
    let mut times = Vec::new();
    let mut failed = 0;
    let mut first_ms = None;
    for row in rows.records() {
        let row = row.ok()?;
        let began_ms = row[began].parse::<u64>().ok()?;
        first_ms = Some(first_ms.map_or(began_ms, |known: u64| known.min(began_ms)));
        if counted_ms.contains(&began_ms) {
            times.push(row[elapsed].parse::<u32>().ok()?);
        }
        if &row[success] != "true" {
            failed += 1;
        }
    }
    times.sort_unstable();
    let percentile = |share: f64| {
        let rank = (times.len() as f64 * share).ceil() as usize;
        times.get(rank.saturating_sub(1)).map(|ms| f64::from(*ms))
    };
    Some(RoundReading {
        samples: times.len() as u64,
        failed,
        p50_ms: percentile(0.5),
        p99_ms: percentile(0.99),
        p999_ms: percentile(0.999),
        first_ms,
    })
}

/// The first row of a results file with a failed sample.
pub fn first_failure(file: &Path) -> Option<String> {
    let mut rows = BufReader::new(std::fs::File::open(file).ok()?).lines();
    rows.find_map(|row| row.ok().filter(|row| row.contains(",false,")))
}

/// Median and 99th percentile, in milliseconds, from the table's last row.
pub fn drumfire(said: &str) -> Option<(f64, f64)> {
    let heads = said.lines().find(|line| line.starts_with("label"))?;
    let total = said.lines().find(|line| line.starts_with("TOTAL"))?;
    // "failed %" is one column.
    let heads = heads.replace("failed %", "failed%");
    let place = |name: &str| heads.split_whitespace().position(|head| head == name);
    let cell = |name: &str| milliseconds(total.split_whitespace().nth(place(name)?)?);
    Some((cell("p50")?, cell("p99")?))
}

/// Samples and failures from the table's last row, for runs without a results file.
pub fn summary(said: &str) -> Option<RoundReading> {
    let total = said.lines().find(|line| line.starts_with("TOTAL"))?;
    let mut numbers = total
        .split_whitespace()
        .filter_map(|cell| cell.replace(',', "").parse::<u64>().ok());
    Some(RoundReading {
        samples: numbers.next()?,
        failed: numbers.next()?,
        ..RoundReading::default()
    })
}

/// The generator's own delay in microseconds: the 99th percentile.
pub fn late_us(said: &str) -> Option<f64> {
    spread(said, "late by the generator itself: ", "p99 ").map(|ms| ms * 1000.0)
}

/// The longest response time from the intended start, in milliseconds.
pub fn longest_ms(said: &str) -> Option<f64> {
    spread(said, "response from the intended start: ", "max ")
}

/// A number in milliseconds from a line such as `late by …: p50 20µs, p99 190µs, p99.9 1.30, max 12.0 ms (5,000 times)`.
fn spread(said: &str, line: &str, name: &str) -> Option<f64> {
    let line = said.lines().find_map(|own| own.trim().strip_prefix(line))?;
    let part = line.split(", ").find_map(|part| part.strip_prefix(name))?;
    milliseconds(part.split(' ').next()?)
}

/// Parses a time as our terminal output writes it: milliseconds without a unit, microseconds with one.
fn milliseconds(text: &str) -> Option<f64> {
    match text.strip_suffix("µs") {
        Some(us) => Some(number(us)? / 1000.0),
        None => number(text),
    }
}

fn number(text: &str) -> Option<f64> {
    text.replace(',', "").parse::<f64>().ok()
}

/// The line that `benches/wrk.lua` prints.
pub fn wrk(said: &str) -> Option<RoundReading> {
    let line = said.lines().find_map(|line| line.strip_prefix("bench "))?;
    let numbers: Vec<u64> = line
        .split(' ')
        .filter_map(|word| word.parse().ok())
        .collect();
    let [samples, failed, p50_us, p99_us, p999_us] = numbers[..] else {
        return None;
    };
    Some(RoundReading {
        samples,
        failed,
        p50_ms: ms(p50_us),
        p99_ms: ms(p99_us),
        p999_ms: ms(p999_us),
        first_ms: None,
    })
}

fn ms(us: u64) -> Option<f64> {
    Some(us as f64 / 1000.0)
}

/// Reads oha's JSON. oha counts requests in progress at the end as aborted; they are ignored here.
pub fn oha(said: &str) -> Option<RoundReading> {
    let report: Value = serde_json::from_str(said).ok()?;
    let all = sum(&report["statusCodeDistribution"], &|_| true);
    let bad_status = sum(&report["statusCodeDistribution"], &|code| code != "200");
    let errors = sum(&report["errorDistribution"], &|error| {
        error != "aborted due to deadline"
    });
    let ms = |name: &str| {
        report["latencyPercentiles"][name]
            .as_f64()
            .map(|s| s * 1000.0)
    };
    Some(RoundReading {
        samples: all,
        failed: bad_status + errors,
        p50_ms: ms("p50"),
        p99_ms: ms("p99"),
        p999_ms: ms("p99.9"),
        first_ms: None,
    })
}

fn sum(part: &Value, wanted: &dyn Fn(&str) -> bool) -> u64 {
    let entries = part.as_object().into_iter().flatten();
    entries
        .filter(|(name, _)| wanted(name))
        .filter_map(|(_, count)| count.as_u64())
        .sum::<u64>()
}

/// Reads k6's export: requests, or messages received over WebSockets.
pub fn k6(summary: &str) -> Option<RoundReading> {
    let report: Value = serde_json::from_str(summary).ok()?;
    let metrics = &report["metrics"];
    let times = &metrics["http_req_duration"];
    let count = |name: &str| metrics[name]["count"].as_u64();
    Some(RoundReading {
        samples: count("http_reqs").or_else(|| count("ws_msgs_received"))?,
        // In a rate metric, `passes` counts the samples for which it is true.
        failed: metrics["http_req_failed"]["passes"].as_u64().unwrap_or(0),
        p50_ms: times["p(50)"].as_f64(),
        p99_ms: times["p(99)"].as_f64(),
        p999_ms: times["p(99.9)"].as_f64(),
        first_ms: None,
    })
}

/// The export of loadr: a list of metrics.
pub fn loadr(summary: &str) -> Option<RoundReading> {
    let report: Value = serde_json::from_str(summary).ok()?;
    let metrics = report["metrics"].as_array()?;
    let metric = |name: &str| {
        let named = metrics.iter().find(|metric| metric["metric"] == name);
        named.map(|metric| &metric["agg"])
    };
    let requests = metric("http_reqs")?;
    let samples = requests["count"].as_f64().or(requests["sum"].as_f64())? as u64;
    let failed = metric("http_req_failed").and_then(|agg| agg["rate"].as_f64());
    let times = metric("http_req_duration")?;
    Some(RoundReading {
        samples,
        failed: (failed.unwrap_or(0.0) * samples as f64).round() as u64,
        p50_ms: times["med"].as_f64(),
        p99_ms: times["p99"].as_f64(),
        p999_ms: None,
        first_ms: None,
    })
}

/// Reads Artillery's JSON. A response that a check does not accept counts as failed.
pub fn artillery(summary: &str) -> Option<RoundReading> {
    let report: Value = serde_json::from_str(summary).ok()?;
    let all = &report["aggregate"];
    let count = |name: &str| all["counters"][name].as_u64().unwrap_or(0);
    let times = &all["summaries"]["http.response_time"];
    Some(RoundReading {
        samples: all["counters"]["http.responses"].as_u64()?,
        failed: count("plugins.expect.failed") + count("vusers.failed"),
        p50_ms: times["median"].as_f64(),
        p99_ms: times["p99"].as_f64(),
        p999_ms: times["p999"].as_f64(),
        first_ms: None,
    })
}

/// Reads Locust's JSON: a list of requests, each with a histogram of milliseconds.
pub fn locust(said: &str) -> Option<RoundReading> {
    let from = said.find('[')?;
    let mut lists = serde_json::Deserializer::from_str(&said[from..]).into_iter::<Vec<Value>>();
    let entries = lists.next()?.ok()?;
    let sum = |name: &str| {
        entries
            .iter()
            .filter_map(|entry| entry[name].as_u64())
            .sum()
    };
    let mut times = std::collections::BTreeMap::<u64, u64>::new();
    for entry in &entries {
        for (ms, count) in entry["response_times"].as_object()? {
            let ms = ms.parse::<f64>().ok()? as u64;
            *times.entry(ms).or_default() += count.as_u64()?;
        }
    }
    let all: u64 = times.values().sum();
    let percentile = |share: f64| {
        let rank = (all as f64 * share).ceil() as u64;
        let mut seen = 0;
        times.iter().find_map(|(ms, count)| {
            seen += count;
            (seen >= rank).then_some(*ms as f64)
        })
    };
    Some(RoundReading {
        samples: sum("num_requests"),
        failed: sum("num_failures"),
        p50_ms: percentile(0.5),
        p99_ms: percentile(0.99),
        p999_ms: percentile(0.999),
        first_ms: None,
    })
}

/// Reads Gatling's last table: requests, failures, and percentiles as configured by default in `benches/gatling`.
pub fn gatling(said: &str) -> Option<RoundReading> {
    let row = |name: &str| {
        let line = said.lines().rev().find(|line| line.contains(name))?;
        let cells = line.split_once(name)?.1.replace(',', "");
        let numbers = cells
            .split(|c: char| !c.is_ascii_digit())
            .filter(|cell| !cell.is_empty());
        Some(
            numbers
                .filter_map(|cell| cell.parse::<u64>().ok())
                .collect::<Vec<_>>(),
        )
    };
    let counts = row("request count")?;
    let ms = |name: &str| Some(*row(name)?.first()? as f64);
    Some(RoundReading {
        samples: *counts.first()?,
        // The columns are total, OK and KO; a dash means zero.
        failed: counts.get(2).copied().unwrap_or(0),
        p50_ms: ms("response time 50th percentile").or_else(|| ms("50th percentile")),
        p99_ms: ms("response time 99th percentile").or_else(|| ms("99th percentile")),
        p999_ms: None,
        first_ms: None,
    })
}

/// Reads one line per response, with its status.
pub fn curl(said: &str) -> Option<RoundReading> {
    // HTTP's code, and those of FTP after a transfer and a farewell.
    const DONE: [&str; 3] = ["200", "226", "221"];
    let codes = || said.lines().filter(|line| !line.is_empty());
    Some(RoundReading {
        samples: codes().count() as u64,
        failed: codes().filter(|code| !DONE.contains(code)).count() as u64,
        ..RoundReading::default()
    })
}

/// Counts one line per sample.
pub fn lines(said: &str) -> RoundReading {
    RoundReading {
        samples: said.lines().count() as u64,
        ..RoundReading::default()
    }
}

/// `requests: 9 total, 9 started, 9 done, 8 succeeded, 1 failed, 0 errored, 0 timeout`.
pub fn h2load(said: &str) -> Option<RoundReading> {
    let line = said
        .lines()
        .find_map(|line| line.strip_prefix("requests: "))?;
    let count = |name: &str| -> Option<u64> {
        let part = line.split(", ").find(|part| part.ends_with(name))?;
        part.split(' ').next()?.parse().ok()
    };
    Some(RoundReading {
        samples: count("done")?,
        failed: count("failed")? + count("errored")?,
        ..RoundReading::default()
    })
}

/// The report of ghz: calls by status, and times in nanoseconds.
pub fn ghz(said: &str) -> Option<RoundReading> {
    let report: Value = serde_json::from_str(said).ok()?;
    let ms = |percentage: u64| {
        let found = report["latencyDistribution"].as_array()?.iter();
        let mut found = found.filter(|part| part["percentage"] == percentage);
        Some(found.next()?["latency"].as_f64()? / 1e6)
    };
    let statuses = &report["statusCodeDistribution"];
    Some(RoundReading {
        samples: report["count"].as_u64()?,
        failed: sum(statuses, &|status| status != "OK"),
        p50_ms: ms(50),
        p99_ms: ms(99),
        ..RoundReading::default()
    })
}

/// Converts vegeta's record of each request to the lines that [`vegeta`] and [`late_us`] read. Vegeta starts requests evenly
/// spaced and does not report its own delay. The k-th start is due `k` intervals after an origin, which is chosen so that no
/// start is early.
pub fn vegeta_lines(rows: &str, per_second: u32) -> Option<String> {
    let mut starts_ns = Vec::new();
    let mut times_ns = Vec::new();
    let mut failed = 0;
    for row in rows.lines() {
        let mut cells = row.split(',');
        starts_ns.push(cells.next()?.parse::<i64>().ok()?);
        failed += u64::from(cells.next()? != "200");
        times_ns.push(cells.next()?.parse::<i64>().ok()?);
    }
    starts_ns.sort_unstable();
    let space_ns = 1_000_000_000 / i64::from(per_second);
    let mut late_ns: Vec<i64> = starts_ns
        .iter()
        .zip(0i64..)
        .map(|(start, k)| start - k * space_ns)
        .collect();
    let begin_ns = *late_ns.iter().min()?;
    late_ns.iter_mut().for_each(|late| *late -= begin_ns);
    let spread = |mut ns: Vec<i64>| {
        ns.sort_unstable();
        let ms = |share: f64| {
            let rank = (ns.len() as f64 * share).ceil() as usize;
            ns.get(rank.saturating_sub(1))
                .map_or(0.0, |ns| *ns as f64 / 1e6)
        };
        format!(
            "p50 {:.3}, p99 {:.3}, p99.9 {:.3}, max {:.3} ms ({} times)",
            ms(0.5),
            ms(0.99),
            ms(0.999),
            ms(1.0),
            ns.len()
        )
    };
    let samples = times_ns.len();
    Some(format!(
        "samples {samples} {failed}\nservice time: {}\nlate by the generator itself: {}\n",
        spread(times_ns),
        spread(late_ns)
    ))
}

/// Reads the lines that [`vegeta_lines`] writes.
pub fn vegeta(said: &str) -> Option<RoundReading> {
    let line = said
        .lines()
        .find_map(|line| line.strip_prefix("samples "))?;
    let (samples, failed) = line.split_once(' ')?;
    let ms = |name: &str| spread(said, "service time: ", name);
    Some(RoundReading {
        samples: samples.parse().ok()?,
        failed: failed.parse().ok()?,
        p50_ms: ms("p50 "),
        p99_ms: ms("p99 "),
        p999_ms: ms("p99.9 "),
        first_ms: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ghz_prints() {
        let said = r#"{"count": 3, "statusCodeDistribution": {"OK": 2, "Unavailable": 1},
            "latencyDistribution": [{"percentage": 50, "latency": 1500000}, {"percentage": 99, "latency": 2000000}]}"#;
        let reading = ghz(said).expect("a report");
        assert_eq!((reading.samples, reading.failed), (3, 1));
        assert_eq!((reading.p50_ms, reading.p99_ms), (Some(1.5), Some(2.0)));
    }

    #[test]
    fn counts_of_artillery() {
        let report = r#"{"aggregate": {"counters": {"http.responses": 9, "plugins.expect.ok": 3, "plugins.expect.failed": 1},
            "summaries": {"http.response_time": {"median": 2, "p99": 30.3, "p999": 37.7}}}}"#;
        let reading = artillery(report).expect("a report");
        assert_eq!((reading.samples, reading.failed), (9, 1));
        assert_eq!((reading.p50_ms, reading.p999_ms), (Some(2.0), Some(37.7)));
        assert!(artillery("{}").is_none());
    }

    #[test]
    fn counts_of_h2load() {
        let said = "finished in 1.0s\nrequests: 9 total, 9 started, 8 done, 7 succeeded, 1 failed, 2 errored, 0 timeout\n";
        let reading = h2load(said).expect("a line");
        assert_eq!((reading.samples, reading.failed), (8, 3));
        assert!(h2load("nothing").is_none());
    }

    #[test]
    fn vegetas_recording_gives_its_lateness() {
        // Starts are due every 200 us, and the second one is 30 us late. The third row of the file started first.
        let rows = "1000230000,200,500000,\n1000400000,404,700000,\n1000000000,200,900000,\n";
        let said = vegeta_lines(rows, 5_000).expect("rows");
        assert_eq!(late_us(&said), Some(30.0));
        let reading = vegeta(&said).expect("a count");
        assert_eq!((reading.samples, reading.failed), (3, 1));
        assert_eq!((reading.p50_ms, reading.p99_ms), (Some(0.7), Some(0.9)));
        assert_eq!(vegeta_lines("", 5_000), None);
    }

    #[test]
    fn a_results_file_is_counted() {
        let file = std::env::temp_dir().join(format!("drumfire-bench-{}.jtl", std::process::id()));
        let mut text = "timeStamp,elapsed,label,success\n".to_owned();
        for ms in 1..=1000 {
            // A text of several lines, as the answer of a mail server.
            text.push_str(&format!("{ms},{ms},\"a,\nb\",{}\n", ms != 7));
        }
        std::fs::write(&file, text).expect("the temporary folder is writable");
        let reading = jtl(&file, None).expect("it has rows");
        let part = jtl(&file, Some(901..1000)).expect("it has rows");
        std::fs::remove_file(&file).expect("it is there");
        assert_eq!((reading.samples, reading.failed), (1000, 1));
        assert_eq!((reading.p50_ms, reading.p99_ms), (Some(500.0), Some(990.0)));
        assert_eq!(reading.p999_ms, Some(999.0));
        assert_eq!((part.samples, part.failed), (99, 1));
        assert_eq!((part.p50_ms, part.first_ms), (Some(950.0), Some(1)));
    }

    #[test]
    fn our_table_has_hundredths_of_milliseconds() {
        let said = "\
label     samples   failed failed %   rate/s     p50     p99     max
Home        1,000        0     0.00     12.5    0.10    0.20     200
TOTAL       1,500        3     0.20     12.5   120µs    1,234     200\n";
        assert_eq!(drumfire(said), Some((0.12, 1234.0)));
        assert_eq!(drumfire("nothing"), None);
    }

    #[test]
    fn numbers_of_our_summary() {
        let said = "TOTAL       1,500        3     0.20     12.5    0.12    1,234     200\n\
                    response from the intended start: p50 100µs, p99 1.20, p99.9 1.30, max 1,012.5 ms (5 times)\n\
                    late by the generator itself: p50 20µs, p99 190µs, p99.9 1.30, max 12.0 ms (5,000 times)\n";
        let reading = summary(said).expect("a table");
        assert_eq!((reading.samples, reading.failed), (1_500, 3));
        assert_eq!(late_us(said), Some(190.0));
        assert_eq!(longest_ms(said), Some(1_012.5));
        assert_eq!(late_us("late by the generator itself: none"), None);
    }

    #[test]
    fn wrk_and_curl_say_how_many_there_were() {
        let reading = wrk("Latency\nbench 1234 0 80 200 1500\n").expect("a line");
        assert_eq!((reading.samples, reading.p999_ms), (1234, Some(1.5)));
        assert_eq!(wrk("unable to connect"), None);
        let reading = curl("200\n200\n404\n").expect("lines");
        assert_eq!((reading.samples, reading.failed), (3, 1));
    }

    #[test]
    fn json_of_oha_and_k6() {
        let reading = oha(
            r#"{"statusCodeDistribution":{"200":9},"errorDistribution":{"aborted due to deadline":10},
            "latencyPercentiles":{"p50":0.0001,"p99":0.002,"p99.9":0.003}}"#,
        );
        let reading = reading.expect("a report");
        assert_eq!(
            (reading.samples, reading.failed, reading.p99_ms),
            (9, 0, Some(2.0))
        );
        let reading = k6(
            r#"{"metrics":{"http_reqs":{"count":5},"http_req_failed":{"passes":1},
            "http_req_duration":{"p(50)":0.1,"p(99)":0.2,"p(99.9)":0.3}}}"#,
        );
        let reading = reading.expect("a report");
        assert_eq!(
            (reading.samples, reading.failed, reading.p50_ms),
            (5, 1, Some(0.1))
        );
    }

    #[test]
    fn json_of_loadr_and_locust() {
        let reading = loadr(
            r#"{"metrics":[{"metric":"http_reqs","agg":{"count":200,"sum":200.0}},
            {"metric":"http_req_failed","agg":{"rate":0.01}},
            {"metric":"http_req_duration","agg":{"med":0.4,"p99":1.5}}]}"#,
        );
        let reading = reading.expect("a report");
        assert_eq!(
            (reading.samples, reading.failed, reading.p99_ms),
            (200, 2, Some(1.5))
        );
        let reading = locust(
            r#"[{"name":"List","num_requests":3,"num_failures":0,"response_times":{"1":2,"9":1}},
            {"name":"Cart","num_requests":1,"num_failures":1,"response_times":{"2":1}}]
            and a last word"#,
        );
        let reading = reading.expect("a list");
        assert_eq!(
            (
                reading.samples,
                reading.failed,
                reading.p50_ms,
                reading.p99_ms
            ),
            (4, 1, Some(1.0), Some(9.0))
        );
    }

    #[test]
    fn tables_of_gatling() {
        let said = "\
> request count                                   12,345 | 12,345 |         -
> response time 50th percentile (ms)                   1 |      1 |         -
> response time 99th percentile (ms)                   9 |      9 |         -\n";
        let reading = gatling(said).expect("a table");
        assert_eq!((reading.samples, reading.failed), (12_345, 0));
        assert_eq!(reading.samples, 12_345);
    }
}
