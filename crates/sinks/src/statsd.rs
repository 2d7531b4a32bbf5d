//! StatsD: counters and timers as UDP datagrams. StatsD computes percentiles itself, so each interval sends its times as values
//! with a sampling rate, which preserves their counts.

use std::fmt::Write as _;
use std::time::Duration;

use crate::encoder::{Encoder, Interval};

/// The size of a datagram that fits into an Ethernet frame.
const DATAGRAM: usize = 1_400;
/// The most values sent per label and interval. If there are more, a subset is sent with a sampling rate.
const VALUES: u64 = 200;

/// Encodes StatsD's lines.
pub struct StatsD {
    /// The prefix of every name, including its dot.
    pub prefix: String,
}

impl Encoder for StatsD {
    fn interval(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn encode(&mut self, interval: &Interval) -> Vec<Vec<u8>> {
        let mut datagrams = vec![String::new()];
        let mut add = |line: String| {
            let full = datagrams
                .last()
                .is_some_and(|last| !last.is_empty() && last.len() + line.len() > DATAGRAM);
            if full {
                datagrams.push(String::new());
            }
            if let Some(last) = datagrams.last_mut() {
                last.push_str(&line);
            }
        };
        for label in &interval.increment.labels {
            let name = format!("{}{}", self.prefix, name(&label.label));
            add(format!(
                "{name}.ok:{}|c\n",
                label.count.saturating_sub(label.errors)
            ));
            add(format!("{name}.failed:{}|c\n", label.errors));
            add(format!("{name}.received_bytes:{}|c\n", label.bytes));
            add(format!("{name}.sent_bytes:{}|c\n", label.sent_bytes));
            let elapsed = label.elapsed().histogram();
            let share = (VALUES as f64 / elapsed.count().max(1) as f64).min(1.0);
            for (us, count) in elapsed.buckets() {
                let times = (count as f64 * share).ceil() as u64;
                for _ in 0..times {
                    let mut line = format!("{name}.elapsed:{}|ms", us as f64 / 1000.0);
                    if times < count {
                        let _ = write!(line, "|@{}", times as f64 / count as f64);
                    }
                    add(line + "\n");
                }
            }
        }
        add(format!(
            "{}users:{}|g\n",
            self.prefix, interval.users.active
        ));
        datagrams.into_iter().map(String::into_bytes).collect()
    }
}

/// A label as part of a name. StatsD splits names at colons, bars and at signs, and Graphite behind it at dots.
fn name(label: &str) -> String {
    label
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_results::{Increment, LabelIncrement};

    fn interval(samples: u64) -> Interval {
        let mut label = LabelIncrement::new("a:b".to_owned(), false);
        label.count = samples;
        for _ in 0..samples {
            label.ok.record(1_200);
        }
        Interval {
            increment: Increment {
                labels: vec![label],
                ..Increment::default()
            },
            ..Interval::default()
        }
    }

    #[test]
    fn a_few_samples_are_sent_one_by_one() {
        let datagrams = StatsD {
            prefix: "drumfire.".to_owned(),
        }
        .encode(&interval(2));
        let text = String::from_utf8(datagrams.concat()).expect("text");
        assert_eq!(
            text.matches("drumfire.a_b.elapsed:1.2|ms\n").count(),
            2,
            "{text}"
        );
        assert!(text.contains("drumfire.a_b.ok:2|c\n") && text.ends_with("drumfire.users:0|g\n"));
    }

    #[test]
    fn many_samples_keep_their_count_by_a_sampling_rate() {
        let datagrams = StatsD {
            prefix: String::new(),
        }
        .encode(&interval(1_000));
        assert!(datagrams.iter().all(|datagram| datagram.len() <= DATAGRAM));
        let text = String::from_utf8(datagrams.concat()).expect("text");
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with("a_b.elapsed"))
            .collect();
        assert_eq!(lines.len(), 200);
        assert!(
            lines.iter().all(|line| line.ends_with("|ms|@0.2")),
            "{}",
            lines[0]
        );
    }
}
