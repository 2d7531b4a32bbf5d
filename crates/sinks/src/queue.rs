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
    /// How many of the first batches were sent, and are not yet known to have arrived.
    sent: usize,
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
        let next = self.waiting.get(self.sent);
        next.map(|(_, batch)| batch.as_slice())
    }

    /// Notes that the next batch was sent. It stays until it is confirmed.
    pub fn sent(&mut self) {
        self.sent = self.waiting.len().min(self.sent + 1);
    }

    /// Removes the batches that were sent, which have arrived. Returns their number.
    pub fn confirm(&mut self) -> u64 {
        let confirmed = self.sent as u64;
        for _ in 0..confirmed {
            self.remove_first();
        }
        confirmed
    }

    /// Notes that the batches that were sent have not arrived, and are to be sent again.
    pub fn send_again(&mut self) {
        self.sent = 0;
    }

    fn remove_first(&mut self) {
        if let Some((_, batch)) = self.waiting.pop_front() {
            self.bytes -= batch.len();
            self.sent = self.sent.saturating_sub(1);
        }
    }

    /// Drops the first batch, which will never be accepted, such as one that the destination calls
    /// malformed.
    pub fn drop_oldest(&mut self) {
        if !self.waiting.is_empty() {
            self.remove_first();
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
    fn a_batch_that_was_sent_stays_until_it_is_confirmed() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        (1..=3).for_each(|number| queue.push(vec![number], now));
        queue.sent();
        queue.sent();
        assert_eq!(queue.first(now), Some(&[3][..]));
        queue.send_again();
        assert_eq!(queue.first(now), Some(&[1][..]));
        queue.sent();
        assert_eq!((queue.confirm(), queue.len()), (1, 2));
        queue.sent();
        queue.drop_oldest();
        assert_eq!((queue.confirm(), queue.dropped()), (0, 1));
        assert_eq!(queue.first(now), Some(&[3][..]));
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
