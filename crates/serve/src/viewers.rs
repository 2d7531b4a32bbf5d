//! The open pages, each with a bounded queue of events.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame};
use serde::Serialize;
use tokio::sync::mpsc::{self, Receiver, Sender};

/// The number of events that may wait for a browser. A slower browser loses its connection; it reconnects and begins
/// with the sum.
const ROOM: usize = 32;
/// The most open pages at a time.
const MOST_VIEWERS: usize = 32;

/// The pages that follow a run.
#[derive(Debug, Default)]
pub(crate) struct Viewers(Vec<Sender<Bytes>>);

impl Viewers {
    /// Whether no page is open.
    pub(crate) fn is_empty(&mut self) -> bool {
        self.0.retain(|viewer| !viewer.is_closed());
        self.0.is_empty()
    }

    /// Sends an event to all pages. Drops those whose queue is full.
    pub(crate) fn tell(&mut self, event: &Bytes) {
        self.0
            .retain(|viewer| viewer.try_send(event.clone()).is_ok());
    }

    /// A stream that begins with an event; `None` if there are too many already.
    pub(crate) fn join(&mut self, first: Bytes) -> Option<EventStream> {
        if !self.is_empty() && self.0.len() >= MOST_VIEWERS {
            return None;
        }
        let (sender, receiver) = mpsc::channel(ROOM);
        // The new queue has room for it.
        let _ = sender.try_send(first);
        self.0.push(sender);
        Some(EventStream(receiver))
    }

    /// Ends all streams once they have sent their waiting events.
    pub(crate) fn close(&mut self) {
        self.0.clear();
    }
}

/// A server-sent event.
pub(crate) fn event(name: &str, content: &impl Serialize) -> Bytes {
    let json = serde_json::to_string(content).expect("numbers and texts can be written");
    event_of(name, &json)
}

/// A server-sent event with a text that has no line ends.
pub(crate) fn event_of(name: &str, line: &str) -> Bytes {
    Bytes::from(format!("event: {name}\ndata: {line}\n\n"))
}

/// The body of a response that lasts until the run ends.
#[derive(Debug)]
pub(crate) struct EventStream(Receiver<Bytes>);

impl Body for EventStream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = self.0.poll_recv(cx);
        next.map(|event| event.map(|event| Ok(Frame::data(event))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_viewer_that_does_not_read_is_dropped_and_others_go_on() {
        let mut viewers = Viewers::default();
        let mut slow = viewers.join(event_of("state", "0")).expect("there is room");
        for second in 0..ROOM {
            viewers.tell(&event("second", &second));
        }
        assert!(viewers.is_empty());
        let mut read = 0;
        while slow.0.try_recv().is_ok() {
            read += 1;
        }
        assert_eq!(read, ROOM);
        let streams: Vec<_> = (0..MOST_VIEWERS + 1)
            .map(|_| viewers.join(event_of("state", "0")).is_some())
            .collect();
        // These streams were dropped at once, so there is room again.
        assert!(streams.iter().all(|is_joined| *is_joined));
    }
}
