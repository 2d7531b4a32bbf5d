//! Sends the metrics of a running test elsewhere: InfluxDB, Graphite, Prometheus, OpenTelemetry, StatsD, ClickHouse, a JSON file.
//!
//! An [`Encoder`] turns an [`Interval`] into bytes and does nothing else. An [`Exporter`] owns a thread that collects increments,
//! encodes them once per interval, and passes the bytes through a bounded queue to a [`Transport`]. A destination that is slow,
//! down or sends invalid responses costs no sample: batches that do not fit into the queue are dropped and counted.

#![warn(missing_docs)]

mod clickhouse;
mod cumulative;
mod encoder;
mod exporter;
mod graphite;
mod influx;
mod influx_raw;
mod influx_two;
mod json;
mod numbers;
mod otlp;
mod out;
mod prometheus;
mod queue;
mod remote_write;
mod scrape;
mod statsd;
mod transport;
mod windows;

pub use clickhouse::ClickHouse;
pub use encoder::{Encoder, Interval, RunInfo, Users};
pub use exporter::{Delivery, Exporter, Feed};
pub use graphite::{Graphite, GraphiteFormat};
pub use influx::Influx;
pub use influx_raw::InfluxRaw;
pub use influx_two::{InfluxTwo, Sent};
pub use json::JsonLines;
pub use otlp::Otlp;
pub use out::{OutError, OutputKind, RequestedOutput, Sink};
pub use prometheus::{AgentMetrics, Prometheus, agent_text};
pub use remote_write::RemoteWrite;
pub use scrape::{MetricsServer, MetricsText, Scrape};
pub use statsd::StatsD;
pub use transport::{Transport, TransportError};
pub use windows::{LastValues, Window, Windows};
