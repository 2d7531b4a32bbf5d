//! Completes exchanges of all HTTP versions.

use std::rc::Rc;
use std::time::Instant;

use crate::carriers::{Carrier, Carriers};
use crate::failure::{Failure, FailureKind, Phase};
use crate::message::{Incoming, Times, WireBytes};
use crate::receive::Receiver;
use crate::session::Session;
use crate::worker::{Worker, add};

/// Builds the outcome of a finished exchange.
pub(crate) fn finish(
    worker: &Worker,
    receiver: &mut Receiver,
    times: &Times,
    sent_bytes: u64,
    reused: bool,
    kept_alive: bool,
) -> Box<Incoming> {
    let mut incoming =
        take_incoming(receiver, times).expect("a response is complete only after its head");
    incoming.wire.sent_bytes = sent_bytes;
    incoming.reused = reused;
    incoming.kept_alive = kept_alive;
    worker.responses.boxed(incoming)
}

#[cold]
pub(crate) fn failed(
    kind: FailureKind,
    receiver: Receiver,
    sent_bytes: u64,
    mut times: Times,
    reused: bool,
) -> Box<Failure> {
    times.first_byte = receiver.first_byte;
    times.first_body = receiver.first_body;
    let phase = match times.sent {
        None => Phase::Write,
        Some(_) if receiver.in_body() => Phase::Body,
        Some(_) => Phase::Head,
    };
    Box::new(Failure {
        kind,
        phase,
        times,
        wire: WireBytes {
            sent_bytes,
            head_bytes: receiver.head_bytes,
            body_bytes: receiver.body_bytes,
        },
        reused,
        addresses: Vec::new(),
    })
}

/// Takes the response out of its receiver; `None` if its head never arrived.
pub(crate) fn take_incoming(receiver: &mut Receiver, times: &Times) -> Option<Incoming> {
    let encoded_len = receiver.encoded_len();
    let wire = WireBytes {
        sent_bytes: 0,
        head_bytes: receiver.head_bytes,
        body_bytes: receiver.body_bytes,
    };
    let head = receiver.head.take()?;
    let body_len = receiver.body.len;
    let (body, md5) = receiver.body.take_parts();
    Some(Incoming {
        status: head.status,
        version: head.version,
        head: head.bytes,
        reason: head.reason,
        content_type: head.facts.content_type,
        location: head.facts.location,
        body,
        trailers: std::mem::take(&mut receiver.trailers),
        pieces: std::mem::take(&mut receiver.pieces),
        md5,
        body_len,
        encoded_len,
        wire,
        times: Times {
            first_byte: receiver.first_byte,
            first_body: receiver.first_body,
            arrivals: receiver.arrivals,
            ..*times
        },
        reused: false,
        kept_alive: false,
        handshake: None,
    })
}

/// The end of an exchange on a connection that others may share.
pub(crate) struct Ending {
    pub receiver: Receiver,
    pub times: Times,
    pub sent_bytes: u64,
    pub reused: bool,
    /// Whether the connection may be kept alive.
    pub keep_alive: bool,
}

impl Ending {
    /// Counts the exchange, and keeps or closes the connection.
    pub fn settle<C: Carrier>(
        mut self,
        outcome: Result<(), FailureKind>,
        session: &Session,
        carriers: &mut Carriers<C>,
        carrier: &Rc<C>,
    ) -> Result<Box<Incoming>, Box<Failure>> {
        self.times.end = Instant::now();
        let counts = &session.worker().counts;
        counts.transferred(self.sent_bytes, self.receiver.received_bytes());
        if let Err(kind) = outcome {
            add(&counts.failures, 1);
            if carrier.is_over() {
                carriers.drop(carrier, kind.is_end_by_peer(), counts);
            }
            let (times, reused) = (self.times, self.reused);
            return Err(failed(kind, self.receiver, self.sent_bytes, times, reused));
        }
        add(&counts.exchanges, 1);
        let kept_alive = self.keep_alive && !carrier.is_over();
        if kept_alive {
            session.keep(carrier.lifetime(), self.times.end);
        } else {
            carriers.drop(carrier, self.keep_alive, counts);
        }
        Ok(finish(
            session.worker(),
            &mut self.receiver,
            &self.times,
            self.sent_bytes,
            self.reused,
            kept_alive,
        ))
    }
}
