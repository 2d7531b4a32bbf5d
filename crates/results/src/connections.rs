//! Connections that the users of a run opened, reused and closed.

use serde::{Deserialize, Serialize};

/// The counts of a run's connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connections {
    /// Connections opened.
    pub opened: u64,
    /// Requests sent on a connection that an earlier request had opened.
    pub reused: u64,
    /// Full TLS handshakes.
    pub handshakes_full: u64,
    /// Resumed TLS handshakes.
    pub handshakes_resumed: u64,
    /// Connections closed by Drumfire: without keep-alive, for a new iteration, or past
    /// their time to live.
    #[serde(default)]
    pub closed_by_us: u64,
    /// Connections closed by the server, or at its request.
    #[serde(default)]
    pub closed_by_peer: u64,
}

impl Connections {
    /// The difference from earlier counts.
    pub fn since(self, then: Connections) -> Connections {
        Connections {
            opened: self.opened.saturating_sub(then.opened),
            reused: self.reused.saturating_sub(then.reused),
            handshakes_full: self.handshakes_full.saturating_sub(then.handshakes_full),
            handshakes_resumed: self
                .handshakes_resumed
                .saturating_sub(then.handshakes_resumed),
            closed_by_us: self.closed_by_us.saturating_sub(then.closed_by_us),
            closed_by_peer: self.closed_by_peer.saturating_sub(then.closed_by_peer),
        }
    }

    /// The sums of both counts.
    pub fn plus(self, other: Connections) -> Connections {
        Connections {
            opened: self.opened.saturating_add(other.opened),
            reused: self.reused.saturating_add(other.reused),
            handshakes_full: self.handshakes_full.saturating_add(other.handshakes_full),
            handshakes_resumed: self
                .handshakes_resumed
                .saturating_add(other.handshakes_resumed),
            closed_by_us: self.closed_by_us.saturating_add(other.closed_by_us),
            closed_by_peer: self.closed_by_peer.saturating_add(other.closed_by_peer),
        }
    }
}
