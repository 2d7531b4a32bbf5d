//! Writes a file of JSON lines, one for each second, for programs that follow a run.

use std::time::Duration;

use drumfire_results::{Distribution, LabelIncrement};
use serde_json::{Map, Value, json};

use crate::encoder::{Encoder, Interval, RunInfo};
use crate::numbers::{Times, label_numbers};

/// Encodes the lines of one run.
pub struct JsonLines {
    /// The run and the user's tags.
    pub run: RunInfo,
}

/// The metrics of a label, with the generator's own parts of its percentiles, and those of its streamed responses, if there are any.
fn numbers(label: &LabelIncrement) -> Value {
    let mut numbers = label_numbers(label);
    let all = Times::of([&label.ok, &label.failed]);
    let target = Times::of([&label.target]);
    for (name, percent) in [
        ("own_p50_ms", 50.0),
        ("own_p95_ms", 95.0),
        ("own_p99_ms", 99.0),
    ] {
        let own_ms = all.percentile_ms(percent) - target.percentile_ms(percent);
        let own_ms = (label.own.count() > 0).then_some(own_ms.max(0.0));
        numbers.insert(name.to_owned(), json!(own_ms));
    }
    if let Some(stream) = &label.stream {
        let times = |times: &Distribution| {
            let times = Times::of([times]);
            json!({
                "count": times.count(),
                "p50_ms": times.percentile_ms(50.0),
                "p95_ms": times.percentile_ms(95.0),
                "max_ms": times.max_ms(),
            })
        };
        let stream = json!({
            "events": stream.events,
            "tokens": stream.tokens,
            "first_event": times(&stream.first_event),
            "gap": times(&stream.gaps),
        });
        numbers.insert("stream".to_owned(), stream);
    }
    Value::Object(numbers)
}

impl Encoder for JsonLines {
    fn interval(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn encode(&mut self, interval: &Interval) -> Vec<Vec<u8>> {
        let labels: Vec<Value> = interval.increment.labels.iter().map(numbers).collect();
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

#[cfg(test)]
mod tests {
    use drumfire_results::StreamIncrement;

    use super::*;

    #[test]
    fn the_generators_part_of_a_percentile_is_known_if_the_kernel_stamps() {
        let mut label = LabelIncrement::new("Home".to_owned(), false);
        label.ok.record(8_000);
        label.target.record(8_000);
        assert_eq!(numbers(&label)["own_p50_ms"], Value::Null);
        label.target = Distribution::default();
        label.target.record(6_000);
        label.own.record(2_000);
        let own_ms = numbers(&label)["own_p50_ms"].as_f64().expect("a number");
        assert!((1.99..=2.01).contains(&own_ms), "{own_ms}");
    }

    #[test]
    fn labels_with_streams_have_their_numbers() {
        let mut label = LabelIncrement::new("Chat".to_owned(), false);
        assert!(numbers(&label).get("stream").is_none());
        let mut stream = StreamIncrement {
            events: 3,
            tokens: 2,
            ..StreamIncrement::default()
        };
        stream.first_event.record(800);
        stream.gaps.record(40);
        stream.gaps.record(60);
        label.stream = Some(Box::new(stream));
        let stream = &numbers(&label)["stream"];
        assert_eq!(
            (&stream["events"], &stream["tokens"]),
            (&json!(3), &json!(2))
        );
        assert_eq!(stream["first_event"]["p95_ms"], 0.8);
        assert_eq!(
            (&stream["gap"]["count"], &stream["gap"]["max_ms"]),
            (&json!(2), &json!(0.06))
        );
    }
}
