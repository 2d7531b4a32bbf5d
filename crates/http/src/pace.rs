//! Speed limits for connections, as in JMeter's `SlowSocket`: a pause before each write for the bytes written, and before
//! each read for the bytes requested, whether they arrive or not.

use std::num::NonZeroU32;
use std::time::Duration;

use tokio::time::sleep;

use crate::message::Limits;
use crate::worker::PoolOptions;

/// The buffer size of HttpClient's reads and writes (`ConnectionConfig.DEFAULT`).
pub(crate) const PIECE_BYTES: usize = 8 * 1024;
/// Shorter reads request the whole buffer (`MessageConstraints`, `SessionInputBufferImpl`).
const MIN_DIRECT_BYTES: u64 = 512;

/// A speed limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub bytes_per_second: NonZeroU32,
}

impl Pace {
    /// The limit of one exchange, if it has its own.
    pub fn of(limits: Limits) -> Option<Pace> {
        let bytes_per_second = limits.bytes_per_second?;
        Some(Pace { bytes_per_second })
    }

    /// The limit of all connections.
    pub fn of_connections(pool: &PoolOptions, secure: bool) -> Option<Pace> {
        let bytes_per_second = if secure {
            pool.tls_bytes_per_second
        } else {
            pool.bytes_per_second
        };
        bytes_per_second.map(|bytes_per_second| Pace { bytes_per_second })
    }

    /// Waits for the time that `bytes` bytes take, in whole milliseconds (`CPSPauser.pause`).
    pub async fn pause(self, bytes: usize) {
        let ms = bytes as u64 * 1000 / u64::from(self.bytes_per_second.get());
        if ms > 0 {
            sleep(Duration::from_millis(ms)).await;
        }
    }

    /// Waits before the next read, with `ahead` bytes of the body remaining.
    pub async fn before_read(self, ahead: u64) {
        let asked = if ahead > MIN_DIRECT_BYTES {
            ahead.min(PIECE_BYTES as u64) as usize
        } else {
            PIECE_BYTES
        };
        self.pause(asked).await;
    }
}
