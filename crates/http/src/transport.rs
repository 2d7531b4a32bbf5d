//! Network statistics of connections: TCP segments and targets.

use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::net::TcpStream;

use crate::sys;
use crate::worker::add;

/// Interval at which an open connection's segments are read.
const PACE: Duration = Duration::from_secs(1);
/// Minimum interval between two reads of one worker. Thousands of connections with a request a second would otherwise cost a system
/// call for almost every request. They are then read less often, and their rest is counted when they close.
const PACE_OF_WORKER: Duration = Duration::from_millis(5);
/// Limit of targets to list; with more, the target is a whole system.
const MOST_TARGETS: usize = 64;

/// Counters of one worker's connections.
#[derive(Default)]
pub(crate) struct Transport {
    pub sent: Cell<u64>,
    pub sent_again: Cell<u64>,
    /// When a connection's segments were read last.
    looked: Cell<Option<Instant>>,
    local_ports: RefCell<Vec<u16>>,
    targets: RefCell<Vec<String>>,
}

impl Transport {
    /// Records a target, and its port if it runs on this machine: if its address is a loopback address or equals the
    /// local one.
    pub fn note_target(&self, host: &str, stream: &TcpStream, peer: IpAddr, port: u16) {
        let mut targets = self.targets.borrow_mut();
        let is_it = |known: &String| {
            known
                .rsplit_once(':')
                .is_some_and(|(name, number)| name == host && number.parse() == Ok(port))
        };
        if targets.len() < MOST_TARGETS && !targets.iter().any(is_it) {
            targets.push(format!("{host}:{port}"));
        }
        let mut ports = self.local_ports.borrow_mut();
        if ports.contains(&port) || ports.len() >= MOST_TARGETS {
            return;
        }
        let is_local = peer.is_loopback()
            || stream
                .local_addr()
                .is_ok_and(|own| own.ip().to_canonical() == peer.to_canonical());
        if is_local {
            ports.push(port);
        }
    }

    /// Whether the segments of a connection may be read now; if so, notes that they are.
    fn may_look(&self, now: Instant) -> bool {
        let looked = self.looked.get();
        let is_over = looked.is_none_or(|at| now.saturating_duration_since(at) >= PACE_OF_WORKER);
        if is_over {
            self.looked.set(Some(now));
        }
        is_over
    }

    pub fn targets(&self) -> Vec<String> {
        self.targets.borrow().clone()
    }

    pub fn local_ports(&self) -> Vec<u16> {
        self.local_ports.borrow().clone()
    }
}

/// The segments of one connection that were already counted.
pub(crate) struct Segments {
    transport: Rc<Transport>,
    counted: (u64, u64),
    looked: Instant,
}

impl Segments {
    pub fn new(transport: Rc<Transport>, now: Instant) -> Self {
        Self {
            transport,
            counted: (0, 0),
            looked: now,
        }
    }

    /// Counts the segments sent since the last look, if that was at least a second ago and the worker has not just looked at
    /// another connection.
    pub fn look(&mut self, stream: &TcpStream, now: Instant) {
        let is_due = now.saturating_duration_since(self.looked) >= PACE;
        if is_due && self.transport.may_look(now) {
            self.looked = now;
            self.count(stream);
        }
    }

    /// Counts the segments sent since the last look.
    pub fn count(&mut self, stream: &TcpStream) {
        if let Some((sent, again)) = sys::segments(stream) {
            let (before, again_before) = self.counted;
            add(&self.transport.sent, sent.saturating_sub(before));
            let again_since = again.saturating_sub(again_before);
            add(&self.transport.sent_again, again_since);
            self.counted = (sent, again);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_reads_segments_of_many_connections_at_a_bounded_rate() {
        let (transport, begin) = (Transport::default(), Instant::now());
        let looks = (0..1_000).filter(|ms| transport.may_look(begin + Duration::from_millis(*ms)));
        assert_eq!(looks.count(), 200);
    }
}
