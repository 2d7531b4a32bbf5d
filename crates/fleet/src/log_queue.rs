//! A queue for lines of an agent's log on their way to the coordinator.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::wire::{LogLevel, LogLine};

/// The most bytes that may wait; beyond that, the oldest lines are dropped. All of them fit into one NATS
/// message.
const MOST_BYTES: usize = 256 << 10;
/// The overhead of a line beside its texts, in bytes.
const LINE_BYTES: usize = 16;
/// The longest line, in characters.
const LONGEST: usize = 2_000;

/// Lines of a log that wait to be sent. Writing to the queue never waits for the network.
#[derive(Debug, Default)]
pub struct LogQueue(Mutex<PendingLines>);

#[derive(Debug, Default)]
struct PendingLines {
    lines: VecDeque<LogLine>,
    bytes: usize,
    dropped: u64,
}

fn bytes_of(line: &LogLine) -> usize {
    LINE_BYTES + line.category.len() + line.text.len()
}

impl LogQueue {
    /// Adds a line. If the queue is full, the oldest lines are dropped.
    pub fn push(&self, level: LogLevel, category: &str, text: &str) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let line = LogLine {
            level,
            category: category.to_owned(),
            text: text.chars().take(LONGEST).collect(),
        };
        waiting.bytes += bytes_of(&line);
        waiting.lines.push_back(line);
        while waiting.bytes > MOST_BYTES
            && let Some(oldest) = waiting.lines.pop_front()
        {
            waiting.bytes -= bytes_of(&oldest);
            waiting.dropped += 1;
        }
    }

    /// The lines since the last call, with one about dropped lines.
    pub fn take(&self) -> Vec<LogLine> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lines: Vec<LogLine> = waiting.lines.drain(..).collect();
        waiting.bytes = 0;
        let dropped = std::mem::take(&mut waiting.dropped);
        if dropped > 0 {
            lines.push(LogLine {
                level: LogLevel::Warning,
                category: "drumfire.agent".to_owned(),
                text: format!(
                    "{dropped} lines of the log were dropped because too many were waiting"
                ),
            });
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_lines_are_kept_and_the_others_counted() {
        let queue = LogQueue::default();
        let text = |number: usize| format!("{number:0LONGEST$}");
        let room = MOST_BYTES / (LINE_BYTES + "a.B".len() + LONGEST);
        for number in 0..room + 3 {
            queue.push(LogLevel::Info, "a.B", &text(number));
        }
        let lines = queue.take();
        assert_eq!(lines.len(), room + 1);
        assert_eq!(lines[0].text, text(3));
        assert!(lines[room].text.starts_with("3 lines"));
        assert!(queue.take().is_empty());
    }
}
