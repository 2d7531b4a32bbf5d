//! `--out KIND=WHERE`: outputs that the user requests. They are checked before the run and started with it.

use std::net::SocketAddr;
use std::path::PathBuf;

use drumfire_authorities::Authorities;
use drumfire_platform::causes::cause;
use drumfire_platform::ports::{bad_port, is_host_and_port};
use drumfire_platform::secrets;
use drumfire_platform::spelling::one_of;
use thiserror::Error;

use crate::clickhouse::ClickHouse;
use crate::encoder::{Encoder, RunInfo, Users};
use crate::exporter::{Delivery, Exporter};
use crate::graphite::Graphite;
use crate::influx::Influx;
use crate::json::JsonLines;
use crate::otlp::Otlp;
use crate::prometheus::AgentMetrics;
use crate::remote_write::RemoteWrite;
use crate::scrape::Scrape;
use crate::statsd::StatsD;
use crate::transport::Transport;
use drumfire_results::Increment;

/// A kind of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// InfluxDB's line protocol, by HTTP.
    InfluxDb,
    /// Graphite's plain text, over TCP.
    Graphite,
    /// A page for Prometheus to scrape.
    Prometheus,
    /// Prometheus's remote write, by HTTP.
    PrometheusRemoteWrite,
    /// OpenTelemetry's metrics, by HTTP.
    Otlp,
    /// StatsD, over UDP.
    StatsD,
    /// Rows for ClickHouse, by HTTP.
    ClickHouse,
    /// Lines of JSON in a file.
    Json,
}

impl OutputKind {
    /// All kinds.
    pub const ALL: [OutputKind; 8] = [
        OutputKind::InfluxDb,
        OutputKind::Graphite,
        OutputKind::Prometheus,
        OutputKind::PrometheusRemoteWrite,
        OutputKind::Otlp,
        OutputKind::StatsD,
        OutputKind::ClickHouse,
        OutputKind::Json,
    ];

    /// The name that users write.
    pub fn name(self) -> &'static str {
        match self {
            OutputKind::InfluxDb => "influxdb",
            OutputKind::Graphite => "graphite",
            OutputKind::Prometheus => "prometheus",
            OutputKind::PrometheusRemoteWrite => "prometheus-remote-write",
            OutputKind::Otlp => "otlp",
            OutputKind::StatsD => "statsd",
            OutputKind::ClickHouse => "clickhouse",
            OutputKind::Json => "json",
        }
    }

    /// The kind with this name.
    fn named(name: &str) -> Option<OutputKind> {
        OutputKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    fn names() -> [&'static str; 8] {
        OutputKind::ALL.map(OutputKind::name)
    }

    /// Whether this may be its place, and what usually is.
    fn fits(self, target: &str) -> (bool, &'static str) {
        let has_port = bad_port(target).is_none();
        match self {
            OutputKind::InfluxDb
            | OutputKind::PrometheusRemoteWrite
            | OutputKind::Otlp
            | OutputKind::ClickHouse => (
                is_url(target) && has_port,
                "a URL: http:// or https:// and a host, with a port up to 65535",
            ),
            OutputKind::Graphite | OutputKind::StatsD => (
                is_host_and_port(target) && has_port,
                "HOST:PORT, with a port from 1 to 65535",
            ),
            OutputKind::Prometheus => (
                target.parse::<SocketAddr>().is_ok() && has_port,
                "ADDRESS:PORT of this machine, such as 127.0.0.1:9270",
            ),
            OutputKind::Json => (!target.is_empty(), "a file"),
        }
    }
}

/// An output that a user asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedOutput {
    kind: OutputKind,
    target: String,
}

/// Why an output is not available.
#[derive(Debug, Error)]
pub enum OutError {
    /// It is not `KIND=WHERE`.
    #[error("`{0}` is not KIND=WHERE\nhint: write `influxdb=http://127.0.0.1:8086/write?db=jmeter`, or another of {kinds}", kinds = OutputKind::names().join(", "))]
    Form(String),
    /// There is no such kind.
    #[error("`{0}` is not a kind of output\nhint: {hint}", hint = one_of(.0, &OutputKind::names()))]
    Kind(String),
    /// The part after the kind is wrong.
    #[error("`{target}` is not a place for {kind}\nhint: write {expected}")]
    Target {
        /// The kind.
        kind: &'static str,
        /// The part after the kind.
        target: String,
        /// The usual value.
        expected: &'static str,
    },
    /// The output could not be started.
    #[error("`{kind}={target}`: {}", cause(error))]
    Start {
        /// The kind.
        kind: &'static str,
        /// The part after the kind.
        target: String,
        /// The system's error.
        error: std::io::Error,
    },
}

impl RequestedOutput {
    /// Parses `KIND=WHERE`.
    ///
    /// # Errors
    /// [`OutError`], which states what was expected.
    pub fn parse(text: &str) -> Result<RequestedOutput, OutError> {
        let (kind, target) = text
            .split_once('=')
            .ok_or_else(|| OutError::Form(text.to_owned()))?;
        let kind = OutputKind::named(kind).ok_or_else(|| OutError::Kind(kind.to_owned()))?;
        let (is_right, expected) = kind.fits(target);
        if !is_right {
            return Err(OutError::Target {
                kind: kind.name(),
                target: shown(target),
                expected,
            });
        }
        Ok(RequestedOutput {
            kind,
            target: target.to_owned(),
        })
    }

    /// Starts the output, which trusts these authorities. `now_ms` returns the time in milliseconds since the Unix
    /// epoch.
    ///
    /// # Errors
    /// A port or a file cannot be opened.
    pub fn start(
        &self,
        run: &RunInfo,
        authorities: &Authorities,
        now_ms: impl Fn() -> i64 + Send + 'static,
    ) -> Result<Sink, OutError> {
        let started = self.begin(run, authorities, now_ms);
        started.map_err(|error| OutError::Start {
            kind: self.kind.name(),
            target: shown(&self.target),
            error,
        })
    }

    fn begin(
        &self,
        run: &RunInfo,
        authorities: &Authorities,
        now_ms: impl Fn() -> i64 + Send + 'static,
    ) -> std::io::Result<Sink> {
        let target = self.target.clone();
        let post = |kind: &str| {
            let headers = vec![("Content-Type", kind.to_owned())];
            Transport::http(target.clone(), headers, authorities)
        };
        let (encoder, transport): (Box<dyn Encoder>, Transport) = match self.kind {
            OutputKind::Prometheus => {
                let address = target.parse().map_err(std::io::Error::other)?;
                return Scrape::listen(address, run.clone()).map(Sink::Scrape);
            }
            OutputKind::InfluxDb => {
                let mut tags = vec![("run".to_owned(), run.id.clone())];
                tags.extend(run.tags.iter().cloned());
                let influx = Influx::new("drumfire".to_owned(), tags);
                (Box::new(influx), post("text/plain; charset=utf-8"))
            }
            OutputKind::Graphite => (
                Box::new(Graphite::new("drumfire.".to_owned())),
                Transport::tcp(target),
            ),
            OutputKind::StatsD => (
                Box::new(StatsD {
                    prefix: "drumfire.".to_owned(),
                }),
                Transport::udp(target),
            ),
            OutputKind::PrometheusRemoteWrite => {
                let headers = [
                    ("Content-Type", "application/x-protobuf"),
                    ("Content-Encoding", "snappy"),
                    ("X-Prometheus-Remote-Write-Version", "0.1.0"),
                ]
                .map(|(name, value)| (name, value.to_owned()))
                .into();
                (
                    Box::new(RemoteWrite::new(run.clone())),
                    Transport::http(target, headers, authorities),
                )
            }
            OutputKind::Otlp => (
                Box::new(Otlp::new(run.clone())),
                post("application/x-protobuf"),
            ),
            OutputKind::ClickHouse => (
                Box::new(ClickHouse { run: run.clone() }),
                post("text/plain; charset=utf-8"),
            ),
            OutputKind::Json => (
                Box::new(JsonLines { run: run.clone() }),
                Transport::file(PathBuf::from(target))?,
            ),
        };
        Exporter::start(self.kind.name(), encoder, transport, now_ms).map(Sink::Exporter)
    }
}

/// Whether it has a scheme and a host.
fn is_url(text: &str) -> bool {
    let rest = ["http://", "https://"]
        .iter()
        .find_map(|scheme| text.strip_prefix(scheme));
    let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    let host = authority.map(|authority| authority.rsplit('@').next().unwrap_or(authority));
    host.is_some_and(|host| !host.is_empty() && !host.starts_with(':'))
}

/// A target without secrets, for messages.
fn shown(target: &str) -> String {
    secrets::shown("target", target).into_owned()
}

/// A running output.
pub enum Sink {
    /// It pushes metrics to a destination.
    Exporter(Exporter),
    /// Its metrics are pulled by a scraper.
    Scrape(Scrape),
}

impl Sink {
    /// Adds samples.
    pub fn add(&self, increment: Increment) {
        match self {
            Sink::Exporter(exporter) => exporter.feed().add(increment),
            Sink::Scrape(scrape) => scrape.add(increment),
        }
    }

    /// Sets the users, the verdict (0 VALID, 1 DEGRADED, 2 INVALID, `None` until it is known), and what all sinks dropped.
    pub fn tick(&self, users: Users, verdict: Option<u8>, dropped: &[(String, u64)]) {
        match self {
            Sink::Exporter(exporter) => exporter.feed().tick(users, verdict),
            Sink::Scrape(scrape) => scrape.tick(users, verdict, dropped.to_vec()),
        }
    }

    /// Sets the agents of a run on several machines.
    pub fn set_agents(&self, agents: &[AgentMetrics]) {
        if let Sink::Scrape(scrape) = self {
            scrape.set_agents(agents.to_vec());
        }
    }

    /// Adds an action of a user or an element.
    pub fn mark(&self, at_ms: i64, text: &str) {
        if let Sink::Exporter(exporter) = self {
            exporter.feed().mark(at_ms, text);
        }
    }

    /// Its deliveries so far.
    pub fn delivery(&self) -> Delivery {
        match self {
            Sink::Exporter(exporter) => exporter.feed().delivery(),
            Sink::Scrape(_) => Delivery {
                sink: "prometheus".to_owned(),
                ..Delivery::default()
            },
        }
    }

    /// Signals the end of the run, without waiting.
    pub fn close(&self) {
        if let Sink::Exporter(exporter) = self {
            exporter.close();
        }
    }

    /// Ends it. Remaining batches may be sent for up to five seconds.
    pub fn end(self) -> Delivery {
        match self {
            Sink::Exporter(exporter) => exporter.end(),
            Sink::Scrape(_) => self.delivery(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_one_name_and_is_parsed_by_it() {
        for kind in OutputKind::ALL {
            let target = match kind {
                OutputKind::Graphite | OutputKind::Prometheus | OutputKind::StatsD => {
                    "127.0.0.1:2003"
                }
                OutputKind::Json => "numbers.json",
                _ => "http://127.0.0.1:8086/",
            };
            let parsed = RequestedOutput::parse(&format!("{}={target}", kind.name()));
            assert_eq!(parsed.expect("it is right").kind, kind);
        }
    }

    #[test]
    fn wrong_outputs_are_refused_with_the_expected_form() {
        let why = |text: &str| {
            RequestedOutput::parse(text)
                .expect_err("it is wrong")
                .to_string()
        };
        assert!(why("influxdb").contains("is not KIND=WHERE"));
        assert!(why("influx=http://x").contains("hint: write `influxdb`"));
        assert_eq!(
            why("graphite=host"),
            "`host` is not a place for graphite\nhint: write HOST:PORT, with a port from 1 to 65535"
        );
        assert!(why("otlp=127.0.0.1:4318").contains("and a host"));
        assert!(why("otlp=http://:4318/x").contains("and a host"));
        assert!(RequestedOutput::parse("otlp=http://me:pw@h").is_ok());
        let secret = why("influxdb=htps://me:secret@h/");
        assert!(
            secret.contains("htps://***@h/") && !secret.contains("secret"),
            "{secret}"
        );
        assert!(RequestedOutput::parse("prometheus=127.0.0.1:9270").is_ok());
    }
}
