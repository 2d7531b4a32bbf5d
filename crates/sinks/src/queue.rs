//! A queue of batches to send, bounded by bytes and by age. The oldest batch is dropped first.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The most bytes that one sink may queue.
const MOST_BYTES: usize = 8 << 20;
/// A batch that could not be sent for this long is dropped.
const OLDEST: Duration = Duration::from_secs(60);

/// The queued batches, and the number of dropped ones.
#[derive(Debug, Default)]
pub struct Queue {
    waiting: VecDeque<(Instant, Vec<u8>)>,
    bytes: usize,
    dropped: u64,
}

impl Queue {
    /// Adds a batch; drops the oldest ones until it fits.
    pub fn push(&mut self, batch: Vec<u8>, now: Instant) {
        if batch.is_empty() {
            return;
        }
        self.bytes += batch.len();
        self.waiting.push_back((now, batch));
        while self.bytes > MOST_BYTES {
            self.drop_oldest();
        }
    }

    /// The batch to send next.
    pub fn first(&mut self, now: Instant) -> Option<&[u8]> {
        while self
            .waiting
            .front()
            .is_some_and(|(since, _)| now.duration_since(*since) > OLDEST)
        {
            self.drop_oldest();
        }
        self.waiting.front().map(|(_, batch)| batch.as_slice())
    }

    /// Removes the first batch after its delivery.
    pub fn delivered(&mut self) {
        if let Some((_, batch)) = self.waiting.pop_front() {
            self.bytes -= batch.len();
        }
    }

    /// Drops the first batch, which will never be accepted, such as one that the destination calls
    /// malformed.
    pub fn drop_oldest(&mut self) {
        if !self.waiting.is_empty() {
            self.delivered();
            self.dropped += 1;
        }
    }

    /// The number of queued batches.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The number of dropped batches.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_batches_make_room() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        for size in [5 << 20, 2 << 20, 4 << 20] {
            queue.push(vec![0; size], now);
        }
        assert_eq!((queue.len(), queue.dropped()), (2, 1));
        assert_eq!(queue.first(now).map(<[u8]>::len), Some(2 << 20));
    }

    #[test]
    fn a_batch_is_kept_for_a_minute() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        queue.push(vec![1], now);
        assert!(queue.first(now + OLDEST).is_some());
        assert!(
            queue
                .first(now + OLDEST + Duration::from_millis(1))
                .is_none()
        );
        assert_eq!(queue.dropped(), 1);
    }
}
