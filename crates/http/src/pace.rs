//! Connections slowed down to so many bytes a second, as JMeter's `SlowSocket` does it: a pause before each write for
//! the bytes written, and before each read for the bytes asked for, whether they come or not.

use std::num::NonZeroU32;
use std::time::Duration;

use tokio::time::sleep;

use crate::message::Limits;
use crate::worker::PoolOptions;

/// The buffer through which HttpClient reads and writes (`ConnectionConfig.DEFAULT`).
pub(crate) const PIECE_BYTES: usize = 8 * 1024;
/// Shorter reads go through that buffer, which is filled as far as it goes (`MessageConstraints`, `SessionInputBufferImpl`).
const MIN_DIRECT_BYTES: u64 = 512;

/// How fast a connection may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub bytes_per_second: NonZeroU32,
}

impl Pace {
    /// The pace of one exchange, if it has one of its own.
    pub fn of(limits: Limits) -> Option<Pace> {
        let bytes_per_second = limits.bytes_per_second?;
        Some(Pace { bytes_per_second })
    }

    /// The pace of all connections.
    pub fn of_connections(pool: &PoolOptions, secure: bool) -> Option<Pace> {
        let bytes_per_second = if secure {
            pool.tls_bytes_per_second
        } else {
            pool.bytes_per_second
        };
        bytes_per_second.map(|bytes_per_second| Pace { bytes_per_second })
    }

    /// Waits for so many bytes: whole milliseconds (`CPSPauser.pause`).
    pub async fn pause(self, bytes: usize) {
        let ms = bytes as u64 * 1000 / u64::from(self.bytes_per_second.get());
        if ms > 0 {
            sleep(Duration::from_millis(ms)).await;
        }
    }

    /// Waits before the next read, where so many bytes of the body are still to come.
    pub async fn before_read(self, ahead: u64) {
        let asked = if ahead > MIN_DIRECT_BYTES {
            ahead.min(PIECE_BYTES as u64) as usize
        } else {
            PIECE_BYTES
        };
        self.pause(asked).await;
    }
}
