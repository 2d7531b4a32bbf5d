//! Lines of an agent's log on their way to the coordinator.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::wire::{LogLevel, LogLine};

/// Lines that wait at most; of more, the latest are kept.
const MOST_LINES: usize = 200;
/// A line has at most this many characters.
const LONGEST: usize = 2_000;

/// Lines of a log that wait to be sent. Writing to it never waits for a network.
#[derive(Debug, Default)]
pub struct LogQueue(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    lines: VecDeque<LogLine>,
    dropped: u64,
}

impl LogQueue {
    /// Takes a line; of too many the oldest goes.
    pub fn push(&self, level: LogLevel, category: &str, text: &str) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.lines.push_back(LogLine {
            level,
            category: category.to_owned(),
            text: text.chars().take(LONGEST).collect(),
        });
        if waiting.lines.len() > MOST_LINES {
            waiting.lines.pop_front();
            waiting.dropped += 1;
        }
    }

    /// Lines since the last call, with one on those that found no room.
    pub fn take(&self) -> Vec<LogLine> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lines: Vec<LogLine> = waiting.lines.drain(..).collect();
        let dropped = std::mem::take(&mut waiting.dropped);
        if dropped > 0 {
            lines.push(LogLine {
                level: LogLevel::Warning,
                category: "drumfire.agent".to_owned(),
                text: format!("{dropped} lines of the log found no room"),
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
        for number in 0..MOST_LINES + 3 {
            queue.push(LogLevel::Info, "a.B", &number.to_string());
        }
        let lines = queue.take();
        assert_eq!(lines.len(), MOST_LINES + 1);
        assert_eq!(lines[0].text, "3");
        assert!(lines[MOST_LINES].text.starts_with("3 lines"));
        assert!(queue.take().is_empty());
    }
}
