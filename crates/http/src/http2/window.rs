//! Flow control (RFC 9113 section 5.2).

/// The window of a stream or connection before any setting.
pub(super) const DEFAULT_WINDOW_BYTES: u32 = 65_535;
/// The largest window.
const MAX_WINDOW_BYTES: i64 = (1 << 31) - 1;

/// How much the peer lets this client send. A change of the settings may make it negative.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendWindow(i64);

impl SendWindow {
    pub fn new(bytes: u32) -> Self {
        Self(bytes.into())
    }

    /// The number of bytes that may be sent now.
    pub fn room(self) -> usize {
        usize::try_from(self.0).unwrap_or(0)
    }

    pub fn sent(&mut self, bytes: usize) {
        self.0 -= bytes as i64;
    }

    /// Changes the window; false if it exceeds the largest one.
    #[must_use]
    pub fn change(&mut self, bytes: i64) -> bool {
        self.0 += bytes;
        self.0 <= MAX_WINDOW_BYTES
    }
}

/// How much this client lets the peer send.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiveWindow {
    size: u32,
    /// The bytes that the peer may still send.
    left: u32,
    /// Bytes that were consumed, but not announced to the peer yet.
    owed: u32,
}

impl ReceiveWindow {
    pub fn new(size: u32) -> Self {
        Self {
            size,
            left: size,
            owed: 0,
        }
    }

    /// Accounts for received bytes; false if the peer was not allowed to send them.
    #[must_use]
    pub fn receive(&mut self, bytes: usize) -> bool {
        let left = u32::try_from(bytes)
            .ok()
            .and_then(|bytes| self.left.checked_sub(bytes));
        self.left = left.unwrap_or(0);
        left.is_some()
    }

    /// Accounts for consumed bytes. Returns the increment to announce, which is due once half of the window is used up.
    pub fn consume(&mut self, bytes: usize) -> Option<u32> {
        // More than the window was never received.
        self.owed += bytes as u32;
        if self.owed < self.size / 2 {
            return None;
        }
        self.left += self.owed;
        Some(std::mem::take(&mut self.owed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_window_is_announced_at_once() {
        let mut window = ReceiveWindow::new(100);
        assert!(window.receive(60));
        assert_eq!(window.consume(49), None);
        assert_eq!(window.consume(11), Some(60));
        assert!(window.receive(100) && !window.receive(1));
    }

    #[test]
    fn a_window_to_send_in_has_bounds() {
        let mut window = SendWindow::new(10);
        window.sent(4);
        assert_eq!(window.room(), 6);
        assert!(window.change(-10));
        assert_eq!(window.room(), 0);
        assert!(window.change(MAX_WINDOW_BYTES));
        assert!(!window.change(10));
    }
}
