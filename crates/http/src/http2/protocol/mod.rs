//! The client's side of HTTP/2 (RFC 9113) without any input or output: takes and gives bytes.
//!
//! All memory is bounded whatever the server does: what arrives for an exchange by the windows and [`SizeLimits`], what is to be sent
//! by [`OUTPUT_BYTES`], above which the connection reads no more.
//!
//! | file | its part |
//! |---|---|
//! | `mod.rs` | the connection; what exchanges send and take |
//! | `receive.rs` | frames of the server |
//! | `heads.rs` | header blocks of the server |
//! | `stream.rs` | one stream |

mod heads;
mod receive;
mod stream;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::rc::Rc;
use std::task::Poll;

use crate::failure::{FailureKind, Http2Failure};
use crate::head::Head;
use crate::message::SizeLimits;
use crate::receive::InterimHeads;

use super::frame::{self, code, flag, kind, setting};
use super::window::{DEFAULT_WINDOW_BYTES, ReceiveWindow, SendWindow};
use crate::hpack::{Decoder, Encoder, RequestFields, TABLE_BYTES};

pub(super) use receive::HeadRoom;
pub(crate) use stream::Fault;

use heads::HeaderBlock;
use receive::DataFrame;
use stream::{Inbox, Stream, StreamEnd};

/// Receive windows of one response and of all together, as in Jetty's client.
const STREAM_WINDOW_BYTES: u32 = 8 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 16 << 20;
/// How many streams a client opens before it knows how many the server allows.
const FIRST_STREAMS: u32 = 100;
/// With more bytes than this to send, the connection reads no more, and exchanges wait before they add some.
pub(super) const OUTPUT_BYTES: usize = 64 << 10;
/// The highest number of a stream.
const LAST_STREAM: u32 = 0x7FFF_FFFF;
/// How many of the streams that this client ended early are told apart from those that both sides ended.
const KNOWN_RESETS: usize = 256;

/// The state of one connection.
pub(super) struct Protocol {
    /// The server's limits, from its SETTINGS.
    max_streams: u32,
    max_payload_bytes: usize,
    first_window_bytes: u32,
    has_settings: bool,
    encoder: Encoder,
    decoder: Decoder,
    send_window: SendWindow,
    receive_window: ReceiveWindow,
    /// In the order of their numbers.
    streams: Vec<Stream>,
    next_stream: u32,
    /// The streams that this client has ended early.
    resets: VecDeque<u32>,
    /// Streams up to this one may have been among them, too.
    forgotten_resets: u32,
    /// The start of an incomplete frame.
    partial: Vec<u8>,
    /// The DATA frame whose payload is arriving.
    data: Option<DataFrame>,
    /// The header block that CONTINUATION continues.
    block: Option<HeaderBlock>,
    sizes: SizeLimits,
    /// The code with which the server has said that it accepts no more streams.
    goodbye: Option<u32>,
    is_over: bool,
    /// Frames to be sent.
    pub output: Vec<u8>,
    /// The tickets of the exchanges for which something has arrived since the caller cleared this.
    pub stirred: Vec<u32>,
    /// Whether the server may now allow more streams than before, or has ended all waiting for one.
    pub has_more_room: bool,
}

/// A part of a response's body.
pub(super) enum Piece {
    Data(Vec<u8>),
    /// The end, with the trailers if there were some.
    End(Option<Vec<u8>>),
}

/// The head of a response, or what came before it.
pub(super) enum Begin {
    Interim(InterimHeads),
    /// The final head, and whether nothing follows.
    Head(Head, bool),
}

impl Protocol {
    /// Starts a connection. The output begins with the client's preface.
    pub fn new(sizes: SizeLimits) -> Self {
        let mut output = frame::PREFACE.to_vec();
        let head_bytes = u32::try_from(sizes.head_bytes).unwrap_or(u32::MAX);
        let settings = [
            (setting::HEADER_TABLE_SIZE, TABLE_BYTES as u32),
            (setting::ENABLE_PUSH, 0),
            (setting::INITIAL_WINDOW_SIZE, STREAM_WINDOW_BYTES),
            (setting::MAX_HEADER_LIST_SIZE, head_bytes),
        ];
        frame::put_settings(&mut output, &settings);
        let increment = CONNECTION_WINDOW_BYTES - DEFAULT_WINDOW_BYTES;
        frame::put_window_update(&mut output, 0, increment);
        Self {
            max_streams: FIRST_STREAMS,
            max_payload_bytes: frame::MAX_PAYLOAD_BYTES,
            first_window_bytes: DEFAULT_WINDOW_BYTES,
            has_settings: false,
            encoder: Encoder::new(),
            decoder: Decoder::new(),
            send_window: SendWindow::new(DEFAULT_WINDOW_BYTES),
            receive_window: ReceiveWindow::new(CONNECTION_WINDOW_BYTES),
            streams: Vec::new(),
            next_stream: 1,
            resets: VecDeque::new(),
            forgotten_resets: 0,
            partial: Vec::new(),
            data: None,
            block: None,
            sizes,
            goodbye: None,
            is_over: false,
            output,
            stirred: Vec::new(),
            has_more_room: false,
        }
    }

    /// Whether the connection is over, so that no exchange can continue.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether the server accepts more exchanges, now or after others have ended.
    pub fn is_fit(&self) -> bool {
        !self.is_over && self.goodbye.is_none() && self.next_stream <= LAST_STREAM
    }

    /// Begins a request, as soon as the server allows another one. Returns its stream.
    pub fn poll_open(
        &mut self,
        fields: &Rc<RequestFields>,
        ends: bool,
        ticket: u32,
    ) -> Poll<Result<u32, FailureKind>> {
        if !self.is_fit() {
            return Poll::Ready(Err(match self.goodbye {
                Some(code) => FailureKind::Http2(Http2Failure::GoAway(code)),
                None => FailureKind::ClosedBeforeResponse,
            }));
        }
        if self.streams.len() >= self.max_streams as usize || self.output.len() > OUTPUT_BYTES {
            return Poll::Pending;
        }
        let id = self.next_stream;
        self.next_stream += 2;
        let start = self.output.len();
        self.encoder.encode(fields, &mut self.output);
        frame::frame_block(&mut self.output, start, id, ends, self.max_payload_bytes);
        self.streams.push(Stream {
            id,
            ticket,
            send_window: SendWindow::new(self.first_window_bytes),
            receive_window: ReceiveWindow::new(STREAM_WINDOW_BYTES),
            is_sent: ends,
            has_head: false,
            inbox: Inbox::default(),
            end: None,
        });
        Poll::Ready(Ok(id))
    }

    /// How many bytes of a request's body can be sent now; `None` if the server refuses the rest.
    pub fn poll_room(&mut self, id: u32) -> Poll<Result<Option<usize>, FailureKind>> {
        let all = self.send_window.room();
        let Some(stream) = self.stream(id) else {
            return Poll::Ready(Ok(None));
        };
        match &stream.end {
            Some(StreamEnd::Failed(Fault::Http2(Http2Failure::Reset(code::NO_ERROR)))) => {
                return Poll::Ready(Ok(None));
            }
            Some(StreamEnd::Failed(fault)) => return Poll::Ready(Err(fault.clone().into())),
            _ if stream.is_sent => return Poll::Ready(Ok(None)),
            _ => {}
        }
        let room = all.min(stream.send_window.room());
        if room == 0 || self.output.len() > OUTPUT_BYTES {
            return Poll::Pending;
        }
        Poll::Ready(Ok(Some(room.min(self.max_payload_bytes))))
    }

    /// Appends a DATA frame, whose payload `fill` writes.
    pub fn send_data(
        &mut self,
        id: u32,
        bytes: usize,
        is_last: bool,
        fill: impl FnOnce(&mut [u8]) -> Result<(), FailureKind>,
    ) -> Result<(), FailureKind> {
        let start = self.output.len();
        let flags = if is_last { flag::END_STREAM } else { 0 };
        frame::put_head(&mut self.output, bytes, kind::DATA, flags, id);
        let payload = self.output.len();
        self.output.resize(payload + bytes, 0);
        fill(&mut self.output[payload..]).inspect_err(|_| self.output.truncate(start))?;
        self.send_window.sent(bytes);
        if let Some(stream) = self.stream(id) {
            stream.send_window.sent(bytes);
            stream.is_sent = is_last;
        }
        Ok(())
    }

    /// Takes the head of a response, or what came before it.
    pub fn poll_begin(&mut self, id: u32) -> Poll<Result<Begin, FailureKind>> {
        let Some(stream) = self.stream(id) else {
            return Poll::Ready(Err(FailureKind::Http2(Http2Failure::Closed)));
        };
        let inbox = &mut stream.inbox;
        if inbox.interim.count > 0 {
            let interim = std::mem::take(&mut inbox.interim);
            return Poll::Ready(Ok(Begin::Interim(interim)));
        }
        if let Some(head) = inbox.head.take() {
            let is_all = inbox.data.is_empty() && inbox.trailers.is_none();
            let ends = is_all && stream.is_complete();
            return Poll::Ready(Ok(Begin::Head(head, ends)));
        }
        match &stream.end {
            Some(StreamEnd::Failed(fault)) => Poll::Ready(Err(fault.clone().into())),
            _ => Poll::Pending,
        }
    }

    /// Takes the interim heads that have arrived.
    pub fn take_interim(&mut self, id: u32) -> InterimHeads {
        let stream = self.stream(id);
        stream.map_or(InterimHeads::default(), |stream| {
            std::mem::take(&mut stream.inbox.interim)
        })
    }

    /// Takes what has arrived of a response's body. Give data back with [`Protocol::consumed`].
    pub fn poll_piece(&mut self, id: u32) -> Poll<Result<Piece, FailureKind>> {
        let Some(stream) = self.stream(id) else {
            return Poll::Ready(Err(FailureKind::Http2(Http2Failure::Closed)));
        };
        if !stream.inbox.data.is_empty() {
            let data = std::mem::take(&mut stream.inbox.data);
            return Poll::Ready(Ok(Piece::Data(data)));
        }
        match &stream.end {
            Some(StreamEnd::Complete) => Poll::Ready(Ok(Piece::End(stream.inbox.trailers.take()))),
            Some(StreamEnd::Failed(fault)) => Poll::Ready(Err(fault.clone().into())),
            None => Poll::Pending,
        }
    }

    /// Accounts for data that was consumed, and keeps its memory for what comes next.
    pub fn consumed(&mut self, id: u32, mut data: Vec<u8>) {
        self.credit(id, data.len());
        if let Some(stream) = self.stream(id).filter(|stream| stream.end.is_none())
            && stream.inbox.data.capacity() == 0
        {
            data.clear();
            stream.inbox.data = data;
        }
    }

    /// Ends an exchange. If its stream is not over, the server is told to stop it.
    pub fn close(&mut self, id: u32) {
        let Ok(index) = self.streams.binary_search_by_key(&id, |stream| stream.id) else {
            return;
        };
        let stream = self.streams.remove(index);
        if !stream.is_over() && !self.is_over {
            self.reset(id, code::CANCEL);
        }
        self.widen(stream.inbox.data.len());
    }

    /// Says good-bye to the server.
    pub fn leave(&mut self) {
        if !self.is_over {
            frame::put_goaway(&mut self.output, code::NO_ERROR);
            self.end(Fault::Http2(Http2Failure::Closed));
        }
    }

    /// Accounts for the end of the server's bytes.
    pub fn end_of_input(&mut self) {
        self.end(Fault::Http2(match self.goodbye {
            Some(code) => Http2Failure::GoAway(code),
            None => Http2Failure::Closed,
        }));
    }

    /// Ends the connection, which fails all exchanges that are under way.
    pub fn end(&mut self, fault: Fault) {
        self.is_over = true;
        for stream in &mut self.streams {
            stream.finish(StreamEnd::Failed(fault.clone()));
            self.stirred.push(stream.ticket);
        }
    }

    fn stream(&mut self, id: u32) -> Option<&mut Stream> {
        let index = self.streams.binary_search_by_key(&id, |stream| stream.id);
        index.ok().map(|index| &mut self.streams[index])
    }

    /// Lets the server send as many bytes as were consumed of a stream.
    fn credit(&mut self, id: u32, bytes: usize) {
        self.widen(bytes);
        if let Some(stream) = self.stream(id).filter(|stream| stream.end.is_none())
            && let Some(increment) = stream.receive_window.consume(bytes)
        {
            frame::put_window_update(&mut self.output, id, increment);
        }
    }

    /// Lets the server send more on the connection.
    fn widen(&mut self, bytes: usize) {
        if let Some(increment) = self.receive_window.consume(bytes).filter(|_| !self.is_over) {
            frame::put_window_update(&mut self.output, 0, increment);
        }
    }

    /// Tells the server to end a stream.
    fn reset(&mut self, id: u32, code: u32) {
        frame::put_reset(&mut self.output, id, code);
        if self.resets.len() == KNOWN_RESETS {
            let oldest = self.resets.pop_front().unwrap_or(0);
            self.forgotten_resets = self.forgotten_resets.max(oldest);
        }
        self.resets.push_back(id);
    }
}
