//! Outputs against the real programs that they are for, and the boards of `dashboards/` against what they hold then.
//!
//! `cargo xtask sinks` runs these tests. Each starts its program on ports of its own, sends one run, and compares with the
//! result file. A program that is not installed is reported and is no failure.

mod carbon;
mod clickhouse;
mod influxdb;
mod prometheus;
mod stage;
mod statsd;
mod victoria_metrics;
