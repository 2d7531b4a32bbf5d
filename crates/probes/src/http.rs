//! Sources that are polled over HTTP. Counters become rates, computed from the difference to the
//! previous response.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use drumfire_authorities::{Authorities, told};
use ureq::Agent;

use crate::exposition::metrics;
use crate::series::MetricReading;
use crate::source::PollFailure;

/// The timeout of a request.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest response that is read, in bytes.
const MOST_BYTES: u64 = 8 << 20;

/// The counter of a server's requests.
const REQUESTS: &str = "requests";
/// A request with this header asks `drumfire mirror` how many others it has received.
pub const ASKS_MIRROR: &str = "X-Drumfire-Requests";

/// The format of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetricsFormat {
    /// node_exporter's metrics.
    Node,
    /// The response to a query of Prometheus's API. The values of a counter of requests are added up.
    Prometheus { counts_requests: bool },
    /// Apache's `mod_status`, with `?auto`.
    Apache,
    /// nginx's `stub_status`.
    Nginx,
    /// The count of `drumfire mirror`.
    Mirror,
}

/// A source over HTTP.
pub(crate) struct HttpSource {
    agent: Agent,
    url: String,
    /// The value of the `Authorization` field.
    credentials: Option<String>,
    form: MetricsFormat,
    rates: Rates,
    /// The requests that the server had counted at the last response.
    requests: Option<f64>,
}

impl HttpSource {
    pub fn new(url: String, form: MetricsFormat, authorities: &Authorities) -> HttpSource {
        let mut agent = Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .proxy(None);
        if drumfire_authorities::is_tls(&url) {
            agent = agent.tls_config(authorities.tls());
        }
        let (url, credentials) = drumfire_authorities::without_credentials(&url);
        let is_short = form == MetricsFormat::Apache && !url.contains('?');
        HttpSource {
            agent: agent.build().into(),
            url: if is_short { format!("{url}?auto") } else { url },
            credentials,
            form,
            rates: Rates::default(),
            requests: None,
        }
    }

    /// The requests that the server had counted at the last response.
    pub fn requests(&self) -> Option<f64> {
        self.requests
    }

    /// Polls the source once.
    pub fn read(&mut self) -> Result<Vec<MetricReading>, PollFailure> {
        let mut request = self.agent.get(&self.url);
        if let Some(credentials) = &self.credentials {
            request = request.header("Authorization", credentials);
        }
        if self.form == MetricsFormat::Mirror {
            request = request.header(ASKS_MIRROR, "count");
        }
        let mut answer = request.call().map_err(|error| told(&error))?;
        let body = answer.body_mut().with_config().limit(MOST_BYTES);
        let text = body.read_to_string().map_err(|error| told(&error))?;
        let readings = parse(self.form, &text, &mut self.rates.at(Instant::now()))?;
        self.requests = self.rates.last.get(REQUESTS).copied();
        Ok(readings)
    }
}

/// The last values of counters.
#[derive(Default)]
pub(crate) struct Rates {
    last: HashMap<String, f64>,
    read: Option<Instant>,
}

/// The counters of one response.
pub(crate) struct RatesNow<'r> {
    rates: &'r mut Rates,
    seconds: Option<f64>,
    new: HashMap<String, f64>,
}

impl Rates {
    pub fn at(&mut self, now: Instant) -> RatesNow<'_> {
        let seconds = self
            .read
            .map(|read| now.saturating_duration_since(read).as_secs_f64());
        self.read = Some(now);
        RatesNow {
            rates: self,
            seconds: seconds.filter(|seconds| *seconds > 0.0),
            new: HashMap::new(),
        }
    }
}

impl RatesNow<'_> {
    /// The growth of a counter per second since the previous response; `None` at first and after the
    /// counter was reset.
    fn of(&mut self, name: &str, value: f64) -> Option<f64> {
        let before = self.rates.last.get(name).copied();
        self.new.insert(name.to_owned(), value);
        let grown = value - before?;
        (grown >= 0.0).then_some(grown / self.seconds?)
    }
}

impl Drop for RatesNow<'_> {
    fn drop(&mut self) {
        self.rates.last = std::mem::take(&mut self.new);
    }
}

fn parse(
    form: MetricsFormat,
    text: &str,
    rates: &mut RatesNow<'_>,
) -> Result<Vec<MetricReading>, PollFailure> {
    match form {
        MetricsFormat::Node => Ok(node(text, rates)),
        MetricsFormat::Prometheus { counts_requests } => {
            let readings = prometheus(text)?;
            if counts_requests {
                rates.of(REQUESTS, readings.iter().map(|one| one.value).sum());
            }
            Ok(readings)
        }
        MetricsFormat::Apache => apache(text, rates),
        MetricsFormat::Nginx => nginx(text, rates),
        MetricsFormat::Mirror => mirror(text, rates),
    }
}

fn node(text: &str, rates: &mut RatesNow<'_>) -> Vec<MetricReading> {
    const MIB: f64 = (1 << 20) as f64;
    let (mut idle, mut all) = (None, None);
    let mut sums: HashMap<&str, f64> = HashMap::new();
    let (mut total, mut available) = (None, None);
    let mut readings = Vec::new();
    for metric in metrics(text) {
        match metric.name {
            "node_cpu_seconds_total" => {
                let mode = metric.label("mode").unwrap_or_default();
                *all.get_or_insert(0.0) += metric.value;
                if matches!(mode, "idle" | "iowait") {
                    *idle.get_or_insert(0.0) += metric.value;
                }
            }
            "node_load1" => readings.push(MetricReading::new(
                "Load",
                "",
                "of one minute",
                metric.value,
            )),
            "node_memory_MemTotal_bytes" => total = Some(metric.value),
            "node_memory_MemAvailable_bytes" => available = Some(metric.value),
            "node_network_receive_bytes_total" | "node_network_transmit_bytes_total"
                if metric.label("device") != Some("lo") =>
            {
                *sums.entry(metric.name).or_default() += metric.value;
            }
            "node_disk_read_bytes_total" | "node_disk_written_bytes_total" => {
                *sums.entry(metric.name).or_default() += metric.value;
            }
            _ => {}
        }
    }
    if let (Some(idle), Some(all)) = (idle, all) {
        let (idle, all) = (rates.of("idle", idle), rates.of("all", all));
        if let (Some(idle), Some(all)) = (idle, all.filter(|all| *all > 0.0)) {
            readings.push(MetricReading::new(
                "CPU",
                "%",
                "busy",
                100.0 * (1.0 - idle / all),
            ));
        }
    }
    if let (Some(total), Some(available)) = (total, available) {
        let used = 100.0 * (1.0 - available / total);
        readings.push(MetricReading::new("Memory", "%", "used", used));
    }
    for (name, chart, line) in [
        ("node_network_receive_bytes_total", "Network", "received"),
        ("node_network_transmit_bytes_total", "Network", "sent"),
        ("node_disk_read_bytes_total", "Disks", "read"),
        ("node_disk_written_bytes_total", "Disks", "written"),
    ] {
        if let Some(rate) = sums.get(name).and_then(|sum| rates.of(name, *sum)) {
            readings.push(MetricReading::new(chart, "MiB/s", line, rate / MIB));
        }
    }
    readings
}

fn prometheus(text: &str) -> Result<Vec<MetricReading>, PollFailure> {
    let answer: serde_json::Value =
        serde_json::from_str(text).map_err(|_| "the answer is not one of Prometheus")?;
    let value = |pair: &serde_json::Value| pair[1].as_str().and_then(|text| text.parse().ok());
    let result = &answer["data"]["result"];
    if answer["data"]["resultType"] == "scalar" {
        let value = value(result).ok_or("the answer is not a number")?;
        return Ok(vec![MetricReading::new("Query", "", "value", value)]);
    }
    let series = result.as_array().ok_or("the answer has no result")?;
    Ok(series
        .iter()
        .filter_map(|series| {
            let labels = series["metric"].as_object()?.iter().map(|(name, label)| {
                let label = label.as_str().unwrap_or_default();
                match name.as_str() {
                    "__name__" => label.to_owned(),
                    _ => format!("{name}={label}"),
                }
            });
            let line = labels.collect::<Vec<_>>().join(" ");
            let line = if line.is_empty() {
                "value".to_owned()
            } else {
                line
            };
            Some(MetricReading::new(
                "Query",
                "",
                line,
                value(&series["value"])?,
            ))
        })
        .collect())
}

fn mirror(text: &str, rates: &mut RatesNow<'_>) -> Result<Vec<MetricReading>, PollFailure> {
    let count = text.trim().strip_prefix(REQUESTS);
    let count = count.and_then(|count| count.trim().parse().ok());
    let rate = rates.of(
        REQUESTS,
        count.ok_or("the answer is not that of `drumfire mirror`")?,
    );
    let reading = |rate| MetricReading::new("Requests", "/s", "received", rate);
    Ok(rate.map(reading).into_iter().collect())
}

fn apache(text: &str, rates: &mut RatesNow<'_>) -> Result<Vec<MetricReading>, PollFailure> {
    let value = |name: &str| -> Option<f64> {
        let mut lines = text.lines();
        lines.find_map(|line| {
            line.strip_prefix(name)?
                .strip_prefix(':')?
                .trim()
                .parse()
                .ok()
        })
    };
    let busy = value("BusyWorkers").ok_or("the answer is not that of mod_status with `?auto`")?;
    let mut readings = vec![MetricReading::new("Workers", "", "busy", busy)];
    if let Some(idle) = value("IdleWorkers") {
        readings.push(MetricReading::new("Workers", "", "idle", idle));
    }
    if let Some(rate) = value("Total Accesses").and_then(|all| rates.of(REQUESTS, all)) {
        readings.push(MetricReading::new("Requests", "/s", "served", rate));
    }
    if let Some(rate) = value("Total kBytes").and_then(|all| rates.of("kbytes", all)) {
        readings.push(MetricReading::new("Bytes", "MiB/s", "sent", rate / 1024.0));
    }
    Ok(readings)
}

fn nginx(text: &str, rates: &mut RatesNow<'_>) -> Result<Vec<MetricReading>, PollFailure> {
    let wrong = "the answer is not that of stub_status";
    let after = |name: &str| -> Option<f64> {
        let rest = text.split_once(name)?.1;
        rest.split_whitespace().next()?.parse().ok()
    };
    let active = after("Active connections:").ok_or(wrong)?;
    let mut readings = vec![MetricReading::new("Connections", "", "active", active)];
    for line in ["Reading", "Writing", "Waiting"] {
        if let Some(value) = after(&format!("{line}:")) {
            readings.push(MetricReading::new(
                "Connections",
                "",
                line.to_lowercase(),
                value,
            ));
        }
    }
    let counters: Vec<f64> = text
        .split_once("requests")
        .map(|(_, rest)| rest)
        .ok_or(wrong)?
        .split_whitespace()
        .map_while(|word| word.parse().ok())
        .collect();
    if let [accepts, _, requests, ..] = counters[..] {
        let rates = [
            ("accepted", rates.of("accepts", accepts)),
            ("requests", rates.of(REQUESTS, requests)),
        ];
        for (line, rate) in rates {
            if let Some(rate) = rate {
                readings.push(MetricReading::new("Requests", "/s", line, rate));
            }
        }
    }
    Ok(readings)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    /// The readings of the second of two responses that are two seconds apart.
    fn read(
        form: MetricsFormat,
        first: &str,
        second: &str,
    ) -> Vec<(Cow<'static, str>, String, f64)> {
        let mut rates = Rates::default();
        let start = Instant::now();
        parse(form, first, &mut rates.at(start)).expect("an answer");
        let later = start + Duration::from_secs(2);
        let readings = parse(form, second, &mut rates.at(later)).expect("an answer");
        let mut read: Vec<_> = readings
            .into_iter()
            .map(|reading| (reading.chart, reading.line, reading.value))
            .collect();
        read.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
        read
    }

    fn rows(rows: &[(&'static str, &str, f64)]) -> Vec<(Cow<'static, str>, String, f64)> {
        let rows = rows.iter();
        rows.map(|(chart, line, value)| ((*chart).into(), (*line).to_owned(), *value))
            .collect()
    }

    #[test]
    fn node_exporter() {
        let page = |idle: f64, user: f64, received: u64| {
            format!(
                "node_cpu_seconds_total{{cpu=\"0\",mode=\"idle\"}} {idle}\nnode_cpu_seconds_total{{cpu=\"0\",mode=\"user\"}} {user}\nnode_load1 0.5\nnode_memory_MemTotal_bytes 1000\nnode_memory_MemAvailable_bytes 250\nnode_network_receive_bytes_total{{device=\"eth0\"}} {received}\nnode_network_receive_bytes_total{{device=\"lo\"}} 9e9\n"
            )
        };
        let found = read(
            MetricsFormat::Node,
            &page(10.0, 10.0, 0),
            &page(11.0, 11.0, 4 << 20),
        );
        let expected = [
            ("CPU", "busy", 50.0),
            ("Load", "of one minute", 0.5),
            ("Memory", "used", 75.0),
            ("Network", "received", 2.0),
        ];
        assert_eq!(found, rows(&expected));
    }

    #[test]
    fn apache_and_nginx() {
        let status = |all: u64| {
            format!("Total Accesses: {all}\nTotal kBytes: {all}\nBusyWorkers: 3\nIdleWorkers: 7\n")
        };
        let found = read(MetricsFormat::Apache, &status(0), &status(2048));
        let expected = [
            ("Bytes", "sent", 1.0),
            ("Requests", "served", 1024.0),
            ("Workers", "busy", 3.0),
            ("Workers", "idle", 7.0),
        ];
        assert_eq!(found, rows(&expected));
        let status = |all: u64| {
            format!(
                "Active connections: 5 \nserver accepts handled requests\n {all} {all} {} \nReading: 0 Writing: 1 Waiting: 4 \n",
                all * 2
            )
        };
        let found = read(MetricsFormat::Nginx, &status(10), &status(20));
        let expected = [
            ("Connections", "active", 5.0),
            ("Connections", "reading", 0.0),
            ("Connections", "waiting", 4.0),
            ("Connections", "writing", 1.0),
            ("Requests", "accepted", 5.0),
            ("Requests", "requests", 10.0),
        ];
        assert_eq!(found, rows(&expected));
        let mut rates = Rates::default();
        let mut now = rates.at(Instant::now());
        assert!(parse(MetricsFormat::Nginx, "<html>", &mut now).is_err());
        assert!(parse(MetricsFormat::Apache, "<html>", &mut now).is_err());
    }

    #[test]
    fn a_query_has_a_line_for_each_series() {
        let vector = r#"{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"up","job":"a"},"value":[1,"1"]},{"metric":{},"value":[1,"2.5"]}]}}"#;
        let found = prometheus(vector).expect("an answer");
        let lines: Vec<_> = found
            .iter()
            .map(|one| (one.line.as_str(), one.value))
            .collect();
        assert_eq!(lines, [("up job=a", 1.0), ("value", 2.5)]);
        let scalar = r#"{"data":{"resultType":"scalar","result":[1,"7"]}}"#;
        assert_eq!(prometheus(scalar).expect("an answer")[0].value, 7.0);
        assert!(prometheus("oops").is_err() && prometheus("{}").is_err());
    }

    #[test]
    fn a_counter_that_began_anew_has_no_rate() {
        let mut rates = Rates::default();
        let start = Instant::now();
        assert_eq!(rates.at(start).of("a", 5.0), None);
        let second = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(rates.at(second(1)).of("a", 7.0), Some(2.0));
        assert_eq!(rates.at(second(2)).of("a", 1.0), None);
        assert_eq!(rates.at(second(4)).of("a", 5.0), Some(2.0));
    }
}
