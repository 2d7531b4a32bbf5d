//! Writes a file of JSON lines, one for each second, for programs that follow a run.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::encoder::{Encoder, Interval, RunInfo};
use crate::numbers::label_numbers;

/// Encodes the lines of one run.
pub struct JsonLines {
    /// The run and the user's tags.
    pub run: RunInfo,
}

impl Encoder for JsonLines {
    fn interval(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn encode(&mut self, interval: &Interval) -> Vec<Vec<u8>> {
        let labels: Vec<Value> = interval
            .increment
            .labels
            .iter()
            .map(|label| Value::Object(label_numbers(label)))
            .collect();
        let errors: Vec<Value> = interval
            .increment
            .errors
            .iter()
            .map(|error| json!({"label": error.label, "code": error.code, "message": error.message, "count": error.count}))
            .collect();
        let marks: Vec<Value> = interval
            .marks
            .iter()
            .map(|(at_ms, text)| json!({"time_ms": at_ms, "text": text}))
            .collect();
        let words = ["VALID", "DEGRADED", "INVALID"];
        let verdict = interval
            .verdict
            .and_then(|verdict| words.get(usize::from(verdict)));
        let tags = self.run.tags.iter();
        let tags: Map<String, Value> = tags
            .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
            .collect();
        let line = json!({
            "run": self.run.id,
            "tags": tags,
            "time_ms": interval.at_ms,
            "users": {"active": interval.users.active, "started": interval.users.started, "ended": interval.users.ended},
            "verdict": verdict,
            "labels": labels,
            "errors": errors,
            "marks": marks,
            "last": interval.is_last,
        });
        vec![format!("{line}\n").into_bytes()]
    }
}
