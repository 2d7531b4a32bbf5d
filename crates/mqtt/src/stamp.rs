//! Time and sequence number in front of a payload: `1764240000000ts_sep_flagPUBLISHER#17seq_sep_flagtext`. The time is that of
//! the MQTT plugin for JMeter; the sequence number is Drumfire's own.

use std::collections::HashMap;

use memchr::memmem;

/// The separator behind the time.
pub const TIME_MARK: &str = "ts_sep_flag";
/// The separator behind the sequence number.
const SEQUENCE_MARK: &str = "seq_sep_flag";
/// Neither a time nor a sequence number is looked for beyond these bytes.
const MAX_STAMP_BYTES: usize = 256;
/// Publishers whose sequences one watch follows.
const MAX_PUBLISHERS: usize = 10_000;

/// The time in front of a payload, in milliseconds since the Unix epoch. `None` without a mark; an error holds the text that
/// stands in the place of the time.
///
/// # Errors
/// The text before the mark is no whole number.
pub fn stamped_ms(payload: &[u8]) -> Option<Result<i64, String>> {
    let end = memmem::find(payload, TIME_MARK.as_bytes())?;
    let text = String::from_utf8_lossy(&payload[..end]);
    Some(text.parse().map_err(|_| text.into_owned()))
}

/// The sequence of a publisher.
#[derive(Debug, Default)]
pub struct Sequence {
    next: u64,
}

impl Sequence {
    /// The next number in front of a payload of this publisher.
    pub fn next(&mut self, publisher: &str) -> String {
        self.next += 1;
        format!("{publisher}#{}{SEQUENCE_MARK}", self.next)
    }
}

/// Publisher and number of a payload, if it has them.
pub fn sequence_of(payload: &[u8]) -> Option<(&str, u64)> {
    let head = &payload[..payload.len().min(MAX_STAMP_BYTES)];
    let end = memmem::find(head, SEQUENCE_MARK.as_bytes())?;
    let start =
        memmem::find(&head[..end], TIME_MARK.as_bytes()).map_or(0, |at| at + TIME_MARK.len());
    let (publisher, number) = std::str::from_utf8(&head[start..end])
        .ok()?
        .rsplit_once('#')?;
    Some((publisher, number.parse().ok()?))
}

/// Counts lost and repeated messages by their sequence numbers. A message counts as lost when a later one of its publisher arrives,
/// and no longer if it comes after all within the last 64 numbers.
#[derive(Debug, Default)]
pub struct SequenceWatch {
    publishers: HashMap<Box<str>, Seen>,
    lost: i64,
    repeated: u64,
}

#[derive(Debug, Default)]
struct Seen {
    highest: u64,
    /// Whether the numbers below the highest have arrived; the lowest bit is the highest number itself.
    recent: u64,
}

impl SequenceWatch {
    /// Takes a message. Payloads without a number, and publishers beyond the first 10,000, are not followed.
    pub fn take(&mut self, payload: &[u8]) {
        let Some((publisher, number)) = sequence_of(payload) else {
            return;
        };
        let Some(seen) = self.publishers.get_mut(publisher) else {
            if self.publishers.len() < MAX_PUBLISHERS {
                // A subscriber that comes later does not miss the earlier messages.
                let seen = Seen {
                    highest: number,
                    recent: u64::MAX,
                };
                self.publishers.insert(publisher.into(), seen);
            }
            return;
        };
        if number > seen.highest {
            let ahead = number - seen.highest;
            self.lost += i64::try_from(ahead - 1).unwrap_or(i64::MAX);
            seen.recent = u32::try_from(ahead)
                .ok()
                .and_then(|ahead| seen.recent.checked_shl(ahead))
                .unwrap_or(0)
                | 1;
            seen.highest = number;
            return;
        }
        let behind = seen.highest - number;
        let bit = u32::try_from(behind)
            .ok()
            .and_then(|behind| 1_u64.checked_shl(behind));
        match bit {
            Some(bit) if seen.recent & bit == 0 => {
                seen.recent |= bit;
                self.lost -= 1;
            }
            _ => self.repeated += 1,
        }
    }

    /// The messages that were lost and repeated since the last call.
    pub fn take_counts(&mut self) -> (i64, u64) {
        (
            std::mem::take(&mut self.lost),
            std::mem::take(&mut self.repeated),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_stands_before_its_mark() {
        assert_eq!(
            stamped_ms(b"1764240000000ts_sep_flagtext"),
            Some(Ok(1_764_240_000_000))
        );
        assert_eq!(stamped_ms(b"xts_sep_flag"), Some(Err("x".to_owned())));
        assert_eq!(stamped_ms(b"text"), None);
    }

    #[test]
    fn losses_and_repetitions_by_number() {
        let mut sequence = Sequence::default();
        let messages: Vec<Vec<u8>> = (0..100)
            .map(|_| format!("17ts_sep_flag{}x", sequence.next("c#1")).into_bytes())
            .collect();
        assert_eq!(sequence_of(&messages[4]), Some(("c#1", 5)));
        let mut watch = SequenceWatch::default();
        for index in [3, 4, 6, 6, 8, 7, 4] {
            watch.take(&messages[index]);
        }
        assert_eq!(watch.take_counts(), (1, 2));
        watch.take(&messages[99]);
        watch.take(b"text");
        assert_eq!(watch.take_counts(), (90, 0));
        watch.take(&messages[5]);
        assert_eq!(watch.take_counts(), (0, 1));
    }
}
