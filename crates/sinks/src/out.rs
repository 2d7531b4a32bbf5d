//! `--out KIND=WHERE`: outputs that the user requests. They are checked before the run and started with it.

use std::net::SocketAddr;
use std::path::PathBuf;

use drumfire_authorities::Authorities;
use drumfire_platform::causes::cause;
use drumfire_platform::ports::bad_port;
use drumfire_platform::spelling::one_of;
use thiserror::Error;

use crate::clickhouse::ClickHouse;
use crate::encoder::{Encoder, RunInfo, Users};
use crate::exporter::{Delivery, Exporter};
use crate::graphite::Graphite;
use crate::influx::Influx;
use crate::json::JsonLines;
use crate::otlp::Otlp;
use crate::remote_write::RemoteWrite;
use crate::scrape::Scrape;
use crate::statsd::StatsD;
use crate::transport::Transport;
use drumfire_results::Increment;

/// The kinds, as users write them.
pub const KINDS: [&str; 8] = [
    "influxdb",
    "graphite",
    "prometheus",
    "prometheus-remote-write",
    "otlp",
    "statsd",
    "clickhouse",
    "json",
];

/// An output that a user asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedOutput {
    kind: &'static str,
    target: String,
}

/// Why an output is not available.
#[derive(Debug, Error)]
pub enum OutError {
    /// It is not `KIND=WHERE`.
    #[error("`{0}` is not KIND=WHERE\nhint: write `influxdb=http://127.0.0.1:8086/write?db=jmeter`, or another of {kinds}", kinds = KINDS.join(", "))]
    Form(String),
    /// There is no such kind.
    #[error("`{0}` is not a kind of output\nhint: {hint}", hint = one_of(.0, &KINDS))]
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
        let kind = KINDS
            .into_iter()
            .find(|known| *known == kind)
            .ok_or_else(|| OutError::Kind(kind.to_owned()))?;
        let out = RequestedOutput {
            kind,
            target: target.to_owned(),
        };
        let (is_right, expected) = match kind {
            "influxdb" | "prometheus-remote-write" | "otlp" | "clickhouse" => (
                is_url(target),
                "a URL: http:// or https:// and a host, with a port up to 65535",
            ),
            "graphite" | "statsd" => (
                is_host_and_port(target),
                "HOST:PORT, with a port from 1 to 65535",
            ),
            "prometheus" => (
                target.parse::<SocketAddr>().is_ok(),
                "ADDRESS:PORT of this machine, such as 127.0.0.1:9270",
            ),
            _ => (!target.is_empty(), "a file"),
        };
        let has_port = bad_port(target).is_none() || kind == "json";
        if is_right && has_port {
            Ok(out)
        } else {
            Err(OutError::Target {
                kind,
                target: shown(&out.target),
                expected,
            })
        }
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
        let started = match self.kind {
            "prometheus" => self.listen(run).map(Sink::Scrape),
            _ => self.export(run, authorities, now_ms).map(Sink::Exporter),
        };
        started.map_err(|error| OutError::Start {
            kind: self.kind,
            target: shown(&self.target),
            error,
        })
    }

    fn listen(&self, run: &RunInfo) -> std::io::Result<Scrape> {
        let address = self.target.parse().map_err(std::io::Error::other)?;
        Scrape::listen(address, run.clone())
    }

    fn export(
        &self,
        run: &RunInfo,
        authorities: &Authorities,
        now_ms: impl Fn() -> i64 + Send + 'static,
    ) -> std::io::Result<Exporter> {
        let target = self.target.clone();
        let post = |kind: &str| {
            let headers = vec![("Content-Type", kind.to_owned())];
            Transport::http(target.clone(), headers, authorities)
        };
        let (encoder, transport): (Box<dyn Encoder>, Transport) = match self.kind {
            "influxdb" => {
                let mut tags = vec![("run".to_owned(), run.id.clone())];
                tags.extend(run.tags.iter().cloned());
                let influx = Influx::new("drumfire".to_owned(), tags);
                (Box::new(influx), post("text/plain; charset=utf-8"))
            }
            "graphite" => (
                Box::new(Graphite::new("drumfire.".to_owned())),
                Transport::tcp(target),
            ),
            "statsd" => (
                Box::new(StatsD {
                    prefix: "drumfire.".to_owned(),
                }),
                Transport::udp(target),
            ),
            "prometheus-remote-write" => {
                let headers = [
                    ("Content-Type", "application/x-protobuf"),
                    ("Content-Encoding", "snappy"),
                    ("X-Prometheus-Remote-Write-Version", "0.1.0"),
                ];
                let headers = headers.map(|(name, value)| (name, value.to_owned())).into();
                (
                    Box::new(RemoteWrite::new(run.clone())),
                    Transport::http(target, headers, authorities),
                )
            }
            "otlp" => (
                Box::new(Otlp::new(run.clone())),
                post("application/x-protobuf"),
            ),
            "clickhouse" => (
                Box::new(ClickHouse { run: run.clone() }),
                post("text/plain; charset=utf-8"),
            ),
            _ => (
                Box::new(JsonLines { run: run.clone() }),
                Transport::file(PathBuf::from(target))?,
            ),
        };
        Exporter::start(self.kind, encoder, transport, now_ms)
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

/// A target without user and password, for messages.
fn shown(target: &str) -> String {
    drumfire_authorities::without_credentials(target).0
}

fn is_host_and_port(text: &str) -> bool {
    text.rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
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

    /// Sets the users, the verdict so far (0 VALID, 1 DEGRADED, 2 INVALID), and what all sinks dropped.
    pub fn tick(&self, users: Users, verdict: u8, dropped: &[(String, u64)]) {
        match self {
            Sink::Exporter(exporter) => exporter.feed().tick(users, verdict),
            Sink::Scrape(scrape) => scrape.tick(users, verdict, dropped.to_vec()),
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
    fn what_is_wrong_is_said_with_what_is_expected() {
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
            secret.contains("htps://h/") && !secret.contains("secret"),
            "{secret}"
        );
        assert!(RequestedOutput::parse("prometheus=127.0.0.1:9270").is_ok());
    }
}
