//! Received messages in batches, each of which becomes a sample (`SubSampler`, `SubBean`).

use std::collections::VecDeque;
use std::mem::size_of;

use drumfire_mqtt::{SequenceWatch, stamped_ms};

/// The messages of one sample.
#[derive(Debug, Default, PartialEq)]
pub struct Batch {
    /// The number of messages.
    pub count: u32,
    /// The sum of their lengths in UTF-16 units.
    pub units: u64,
    /// How long they took on average, in milliseconds.
    pub average_ms: f64,
    /// Their texts, each with a line feed, if the sampler shows them.
    pub texts: String,
}

/// The messages that a sampler waits for, and their parts that it needs.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// A batch is full with this many messages; `None` if time ends it.
    pub count: Option<u32>,
    /// Whether payloads begin with a time.
    pub stamped: bool,
    /// Whether texts are kept.
    pub texts: bool,
}

/// The messages that a sampler has not taken yet.
#[derive(Debug, Default)]
pub struct Inbox {
    pub wanted: Wanted,
    batches: VecDeque<Batch>,
    /// The memory of the batches.
    bytes: usize,
    /// Messages beyond the memory that they may take.
    left_out: u64,
    /// Lost and repeated messages, if payloads have sequence numbers.
    pub sequences: Option<SequenceWatch>,
}

impl Inbox {
    /// Takes a message that arrived at `now_ms`.
    pub fn take(&mut self, payload: &[u8], now_ms: i64, max_bytes: usize) {
        if let Some(watch) = &mut self.sequences {
            watch.take(payload);
        }
        let is_full = |batch: &Batch| Some(batch.count) == self.wanted.count;
        if self.batches.back().is_none_or(is_full) {
            if self.bytes + size_of::<Batch>() > max_bytes {
                self.left_out += 1;
                return;
            }
            self.batches.push_back(Batch::default());
            self.bytes += size_of::<Batch>();
        }
        let batch = self
            .batches
            .back_mut()
            .expect("one was there or has been put there");
        if self.wanted.stamped
            && let Some(Ok(sent_ms)) = stamped_ms(payload)
        {
            let count = f64::from(batch.count);
            let elapsed = (now_ms - sent_ms) as f64;
            batch.average_ms = (batch.average_ms * count + elapsed) / (count + 1.0);
        }
        let text = String::from_utf8_lossy(payload);
        batch.units += match text.is_ascii() {
            true => text.len(),
            false => text.encode_utf16().count(),
        } as u64;
        batch.count += 1;
        if self.wanted.texts {
            if self.bytes + text.len() > max_bytes {
                self.left_out += 1;
                return;
            }
            self.bytes += text.len() + 1;
            batch.texts.push_str(&text);
            batch.texts.push('\n');
        }
    }

    /// Whether a batch of the wanted number is there.
    pub fn is_ready(&self) -> bool {
        let first = self.batches.front();
        first.is_some_and(|batch| Some(batch.count) >= self.wanted.count)
    }

    /// The first batch, and how many messages did not fit into memory since the last call.
    pub fn pop(&mut self) -> (Batch, u64) {
        let batch = self.batches.pop_front().unwrap_or_default();
        self.bytes -= (batch.texts.len() + size_of::<Batch>()).min(self.bytes);
        (batch, std::mem::take(&mut self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_full_with_the_wanted_number() {
        let mut inbox = Inbox {
            wanted: Wanted {
                count: Some(2),
                stamped: true,
                texts: true,
            },
            ..Inbox::default()
        };
        for payload in ["100ts_sep_flagä", "70ts_sep_flag", "c"] {
            assert!(!inbox.is_ready());
            inbox.take(payload.as_bytes(), 110, 1 << 20);
            if payload != "c" && inbox.is_ready() {
                break;
            }
        }
        inbox.take(b"c", 110, 1 << 20);
        let (batch, left_out) = inbox.pop();
        assert_eq!((batch.count, batch.units, batch.average_ms), (2, 28, 25.0));
        assert_eq!(batch.texts, "100ts_sep_flagä\n70ts_sep_flag\n");
        assert_eq!(left_out, 0);
        assert!(!inbox.is_ready());
        assert_eq!(inbox.pop().0.count, 1);
        assert_eq!((inbox.pop().0, inbox.bytes), (Batch::default(), 0));
    }

    #[test]
    fn messages_beyond_the_memory_are_counted() {
        let mut inbox = Inbox {
            wanted: Wanted {
                texts: true,
                ..Wanted::default()
            },
            ..Inbox::default()
        };
        let limit = size_of::<Batch>() + 10;
        for _ in 0..4 {
            inbox.take(b"12345678", 0, limit);
        }
        let (batch, left_out) = inbox.pop();
        assert_eq!(
            (batch.count, batch.texts.as_str(), left_out),
            (4, "12345678\n", 3)
        );
    }
}
