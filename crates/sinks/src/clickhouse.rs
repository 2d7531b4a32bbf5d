//! ClickHouse: a row for each second and label in `JSONEachRow`, in a table that the first request
//! creates.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::encoder::{Encoder, Interval, RunInfo};
use crate::numbers::label_numbers;

/// The statement that creates the table. Each batch of rows follows [`ClickHouse::INSERT`].
const CREATE: &str = "CREATE TABLE IF NOT EXISTS drumfire_seconds (run String, time DateTime64(3), label String, transaction Bool, \
                      count UInt64, failed UInt64, received_bytes UInt64, sent_bytes UInt64, min_ms Float64, mean_ms Float64, max_ms Float64, \
                      p50_ms Float64, p90_ms Float64, p95_ms Float64, p99_ms Float64, users UInt64, tags Map(String, String)) \
                      ENGINE = MergeTree ORDER BY (run, label, time)";

/// Encodes the rows of one run.
pub struct ClickHouse {
    /// The run and the user's tags.
    pub run: RunInfo,
}

impl ClickHouse {
    /// The statement before the rows of a batch.
    pub const INSERT: &str = "INSERT INTO drumfire_seconds FORMAT JSONEachRow\n";
}

impl Encoder for ClickHouse {
    fn interval(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn start(&mut self, _: i64) -> Vec<Vec<u8>> {
        vec![CREATE.as_bytes().to_vec()]
    }

    fn encode(&mut self, interval: &Interval) -> Vec<Vec<u8>> {
        if interval.increment.labels.is_empty() {
            return Vec::new();
        }
        let tags: Map<_, _> = self
            .run
            .tags
            .iter()
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect();
        let mut batch = Self::INSERT.as_bytes().to_vec();
        for label in &interval.increment.labels {
            let mut row = Map::new();
            row.insert("run".to_owned(), json!(self.run.id));
            let seconds = interval.at_ms as f64 / 1000.0;
            row.insert("time".to_owned(), json!(seconds));
            row.extend(label_numbers(label));
            row.insert("users".to_owned(), json!(interval.users.active));
            row.insert("tags".to_owned(), json!(tags));
            batch.extend_from_slice(Value::Object(row).to_string().as_bytes());
            batch.push(b'\n');
        }
        vec![batch]
    }
}
