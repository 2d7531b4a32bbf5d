//! Assembles a response from the bytes of a connection. No I/O happens here.

use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::collector::Collector;
use crate::decode::{DecodeBudget, Decoder};
use crate::failure::FailureKind;
use crate::framing::{Framing, outlives};
use crate::head::{Head, scan};
use crate::known_heads::KnownHeads;
use crate::message::{ClientRules, Decode, Keep, SizeLimits, WantedParts};
use crate::url_connection;
use crate::watch::{BodyWatch, Watched};

/// Work after which other users of the worker get their turn, in bytes copied: well below a millisecond.
const TURN_WORK: usize = 1 << 20;
/// Decoding or digesting a byte costs about as much as copying this many.
const WORK_OF_CODING: usize = 4;
/// The kernel drops this many bytes in the time that copying one byte takes.
const DISCARDED_PER_WORK: usize = 4;

/// The most pieces of a body whose arrival is noted.
const MOST_PIECES: usize = 1 << 16;

/// Interim responses that did not come as bytes of HTTP/1.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InterimHeads {
    pub count: usize,
    /// Their size in the form of HTTP/1.1, in bytes.
    pub bytes: usize,
}

/// A response that is being received.
pub(crate) struct Receiver {
    want: WantedParts,
    /// The client whose rules the response is read by.
    pub rules: ClientRules,
    is_head: bool,
    /// The request is CONNECT: a 2xx has no body (RFC 9112 section 6.3).
    pub is_connect: bool,
    /// Whether `push` returns after an interim response.
    pub stop_at_interim: bool,
    /// The status of the last interim response.
    pub interim: Option<u16>,
    /// The number of interim responses so far.
    interim_heads: usize,
    /// Sees the body while it arrives, if its head makes it worth that.
    pub watch: Option<Rc<dyn BodyWatch>>,
    /// The worker's cache of parsed heads.
    pub known: Option<Rc<KnownHeads>>,
    /// The start of an incomplete head.
    pending: Vec<u8>,
    pub head: Option<Head>,
    framing: Framing,
    decoder: Option<Box<Decoder>>,
    encoded_len: u64,
    done: bool,
    /// Whether the whole body has arrived but is not decoded yet.
    ending: bool,
    /// Whether the body is taken as it is although it has not arrived completely.
    is_cut: bool,
    /// Whether the observer ended the body before it was complete.
    is_ended_early: bool,
    sizes: SizeLimits,
    /// The work done in this turn.
    work: usize,
    pub body: Collector,
    pub trailers: Box<[u8]>,
    pub pieces: Vec<(u64, Instant)>,
    pub head_bytes: u64,
    pub body_bytes: u64,
    pub first_byte: Option<Instant>,
    pub first_body: Option<Instant>,
    /// When the last byte was read, if nothing of the body was decoded or digested after that.
    pub ended: Option<Instant>,
    /// When the kernel received the first and the last byte.
    pub arrivals: Option<(Instant, Instant)>,
}

impl Receiver {
    pub fn new(want: WantedParts, is_head: bool, sizes: SizeLimits) -> Self {
        Self {
            want,
            rules: ClientRules::HttpClient,
            is_head,
            is_connect: false,
            stop_at_interim: false,
            interim: None,
            interim_heads: 0,
            watch: None,
            known: None,
            pending: Vec::new(),
            head: None,
            framing: Framing::None,
            decoder: None,
            encoded_len: 0,
            done: false,
            ending: false,
            is_cut: false,
            is_ended_early: false,
            sizes,
            work: 0,
            body: Collector::new(want.keep, sizes),
            trailers: Box::default(),
            pieces: Vec::new(),
            head_bytes: 0,
            body_bytes: 0,
            first_byte: None,
            first_body: None,
            ended: None,
            arrivals: None,
        }
    }

    /// Notes when the kernel received the bytes of the last read. The end of a stream has no stamp; a response that it ends was
    /// complete at an unknown time. An observer may end the response here.
    pub fn arrived(&mut self, at: Option<Instant>) {
        if let Some(watch) = &self.body.watch
            && watch.arrived(at.unwrap_or_else(Instant::now)) == Watched::Ends
        {
            self.end_early();
        }
        match at {
            Some(at) if self.first_byte.is_some() => {
                let first = self.arrivals.map_or(at, |(first, _)| first);
                self.arrivals = Some((first, at));
            }
            None if self.done => self.arrivals = None,
            _ => {}
        }
    }

    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Ends the response here, as if it were complete. Does nothing if it is.
    fn end_early(&mut self) {
        if !self.done {
            (self.is_ended_early, self.ending, self.done) = (true, false, true);
        }
    }

    /// Whether the observer ended the body before it was complete.
    pub fn is_ended_early(&self) -> bool {
        self.is_ended_early
    }

    /// Whether an observer sees the body. It wants each byte at once.
    pub fn is_watched(&self) -> bool {
        self.body.watch.is_some()
    }

    /// How long to wait for more of the response: `limit`, or less if the observed body ends earlier by itself.
    pub fn patience(&self, limit: Option<Duration>) -> Option<Duration> {
        let Some(deadline) = self.body.watch.as_ref().and_then(|watch| watch.deadline()) else {
            return limit;
        };
        let left = deadline.saturating_duration_since(Instant::now());
        Some(limit.map_or(left, |limit| limit.min(left)))
    }

    /// Ends an observed body whose time is over; false if it is not.
    pub fn is_over_in_time(&mut self) -> bool {
        let deadline = self.body.watch.as_ref().and_then(|watch| watch.deadline());
        let is_over = deadline.is_some_and(|deadline| deadline <= Instant::now());
        if is_over {
            self.end_early();
            // The time since the last byte is not the program's own.
            self.arrivals = None;
        }
        is_over
    }

    /// Whether the trailers are to be kept.
    pub fn wants_trailers(&self) -> bool {
        self.want.trailers
    }

    /// Notes when a piece of the body arrived, if that is wanted.
    pub fn note_piece(&mut self, at: Option<Instant>) {
        if self.want.pieces && self.pieces.len() < MOST_PIECES {
            let at = at.unwrap_or_else(Instant::now);
            self.pieces.push((self.body.len, at));
        }
    }

    /// Keeps the trailers in the form of HTTP/1.1.
    pub fn keep_trailers(&mut self, lines: Vec<u8>) -> Result<(), FailureKind> {
        if lines.len() > self.sizes.head_bytes {
            return Err(FailureKind::HeadTooLarge {
                limit: self.sizes.head_bytes,
            });
        }
        self.body_bytes += lines.len() as u64;
        self.trailers = lines.into();
        Ok(())
    }

    /// Bytes of HTTP received.
    pub fn received_bytes(&self) -> u64 {
        self.head_bytes + self.body_bytes
    }

    /// Whether the head tells the length of the body.
    pub fn has_announced_length(&self) -> bool {
        let head = self.head.as_ref();
        head.is_some_and(|head| head.facts.content_lengths > 0)
    }

    pub fn in_body(&self) -> bool {
        self.head.is_some()
    }

    /// Whether the response is complete and allows reusing the connection.
    pub fn leaves_connection_usable(&self, by_proxy: bool) -> bool {
        match (&self.head, self.rules) {
            _ if self.is_cut || self.is_ended_early => false,
            (None, _) => false,
            (Some(head), ClientRules::HttpClient) => outlives(head, self.is_head),
            (Some(_), ClientRules::UrlConnection) => self.idle_time(by_proxy).is_some(),
        }
    }

    /// How long the connection may be idle, as far as the response or its reader's rules say.
    pub fn idle_time(&self, by_proxy: bool) -> Option<Duration> {
        let head = self.head.as_ref()?;
        match self.rules {
            ClientRules::HttpClient => head.facts.keep_alive.timeout_s.map(Duration::from_secs),
            ClientRules::UrlConnection => url_connection::idle_time(head, self.is_head, by_proxy),
        }
    }

    /// Length of the body before decoding, if it is decoded.
    pub fn encoded_len(&self) -> Option<u64> {
        self.decoder.as_ref().map(|_| self.encoded_len)
    }

    /// Consumes bytes of the connection and returns how many belong to this response. The number is less than all only if
    /// the response is complete, or receiving stopped at an interim response.
    pub fn push(&mut self, bytes: &[u8]) -> Result<usize, FailureKind> {
        if bytes.is_empty() {
            return Ok(0);
        }
        let now = Instant::now();
        self.first_byte.get_or_insert(now);
        let mut at = 0;
        while self.head.is_none() && at < bytes.len() {
            at += self.push_head(&bytes[at..])?;
            if self.stop_at_interim && self.interim.is_some() {
                return Ok(at);
            }
        }
        if at < bytes.len() && !self.done {
            at += self.push_body(&bytes[at..], now)?;
        }
        if self.done && self.decoder.is_none() && !self.body.is_digested() {
            self.ended = Some(now);
        }
        self.work += at;
        Ok(at)
    }

    fn push_head(&mut self, bytes: &[u8]) -> Result<usize, FailureKind> {
        if self.rules == ClientRules::UrlConnection && self.interim.is_none() {
            match self.begins_with_status_line(bytes) {
                None => {
                    self.pending.extend_from_slice(bytes);
                    return Ok(bytes.len());
                }
                Some(false) => return self.begin_unknown().map(|()| 0),
                Some(true) => {}
            }
        }
        let before = self.pending.len();
        let scanned = if before == 0 {
            self.recognise(bytes)?
        } else {
            self.pending.extend_from_slice(bytes);
            if may_end_head(&self.pending, before) {
                scan(&self.pending, false)?
            } else {
                None
            }
        };
        let Some((head, end)) = scanned else {
            if before == 0 {
                self.pending.extend_from_slice(bytes);
            }
            self.check_head(self.pending.len())?;
            return Ok(bytes.len());
        };
        self.check_head(end)?;
        self.pending = Vec::new();
        self.head_bytes += end as u64;
        self.end_of_head(head)?;
        Ok(end - before)
    }

    /// Whether the stream begins as `HttpURLConnection` expects it; `None` if more bytes are needed.
    fn begins_with_status_line(&self, bytes: &[u8]) -> Option<bool> {
        let mut first = self.pending.iter().chain(bytes);
        (self.pending.len() + bytes.len() >= url_connection::SHORTEST_HEAD_BYTES)
            .then(|| b"HTTP/1.".iter().all(|byte| first.next() == Some(byte)))
    }

    /// Takes the stream as a response without a status, whose body is not read.
    fn begin_unknown(&mut self) -> Result<(), FailureKind> {
        self.is_cut = true;
        self.begin(url_connection::head_of_unknown(), true)
    }

    /// Fails if the heads so far, and `length` bytes of the next one, exceed the limit.
    fn check_head(&self, length: usize) -> Result<(), FailureKind> {
        let limit = self.sizes.head_bytes;
        if self.head_bytes + length as u64 > limit as u64 {
            return Err(FailureKind::HeadTooLarge { limit });
        }
        Ok(())
    }

    /// Counts interim responses that did not come through [`Receiver::push`]. Fails beyond the limits.
    pub fn skip_interim(&mut self, heads: InterimHeads) -> Result<(), FailureKind> {
        if heads.count == 0 {
            return Ok(());
        }
        self.first_byte.get_or_insert_with(Instant::now);
        self.check_head(heads.bytes)?;
        self.head_bytes += heads.bytes as u64;
        self.count_interim(heads.count)
    }

    fn count_interim(&mut self, count: usize) -> Result<(), FailureKind> {
        self.interim_heads += count;
        let limit = self.sizes.interim_heads;
        if self.interim_heads > limit {
            return Err(FailureKind::TooManyInterimHeads { limit });
        }
        Ok(())
    }

    /// Finds or parses the head at the start of `bytes`, if it is complete.
    fn recognise(&self, bytes: &[u8]) -> Result<Option<(Head, usize)>, FailureKind> {
        let Some(known) = &self.known else {
            return scan(bytes, false);
        };
        if let Some(head) = known.find(bytes) {
            let end = head.bytes.len();
            return Ok(Some((head, end)));
        }
        let scanned = scan(bytes, false)?;
        if let Some((head, _)) = &scanned {
            known.add(head, bytes);
        }
        Ok(scanned)
    }

    fn end_of_head(&mut self, head: Head) -> Result<(), FailureKind> {
        let is_interim = match self.rules {
            ClientRules::HttpClient => head.status < 200,
            ClientRules::UrlConnection => head.status == url_connection::CONTINUE,
        };
        if is_interim {
            self.interim = Some(head.status);
            return self.count_interim(1);
        }
        if let Keep::Failed(limit) = self.body.keep {
            self.body.keep = if head.status >= 400 && !head.facts.content_encoded {
                Keep::UpTo(limit)
            } else {
                Keep::Nothing
            };
        }
        if let Some(watch) = self.watch.as_ref()
            && let Some(most) = watch.begin(head.status, head.content_type())
        {
            self.body.watch = self.watch.clone();
            self.body.keep_at_most(most);
        }
        let no_body = self.is_head || (self.is_connect && head.status / 100 == 2);
        self.framing = match self.rules {
            ClientRules::HttpClient => Framing::of(head.status, no_body, &head.facts),
            ClientRules::UrlConnection => {
                url_connection::framing(head.status, no_body, &head.facts)
            }
        };
        if let Framing::Length { expected, .. } = self.framing {
            self.body.announce(expected)?;
        }
        self.done = self.framing.is_done();
        if self.want.decode != Decode::Nothing && head.facts.content_encoded && !self.done {
            let mut encodings =
                crate::headers::Headers::after_status_line(&head.bytes).filter(is_encoding);
            let encodings = match self.rules {
                ClientRules::HttpClient => encodings.next(),
                ClientRules::UrlConnection => encodings.last(),
            };
            if let Some((_, value)) =
                encodings.filter(|(_, value)| self.want.decode == Decode::All || *value == b"gzip")
            {
                let limit = self.sizes.content_codings;
                let decoder = Decoder::for_encodings(value, self.want.relaxed, limit)?;
                self.decoder = decoder.map(Box::new);
            }
            self.body.is_decoded = self.decoder.is_some();
        }
        self.head = Some(head);
        Ok(())
    }

    /// Sets a head that did not come through [`Receiver::push`]. The body, if any, ends with the stream.
    pub fn begin(&mut self, head: Head, ends: bool) -> Result<(), FailureKind> {
        self.first_byte.get_or_insert_with(Instant::now);
        self.head_bytes += head.bytes.len() as u64;
        self.end_of_head(head)?;
        if ends {
            self.framing.end_of_stream()?;
            self.framing = Framing::None;
            return self.finish();
        }
        Ok(())
    }

    fn push_body(&mut self, bytes: &[u8], now: Instant) -> Result<usize, FailureKind> {
        match self.decode_body(bytes, now) {
            Err(kind) => self.drop_body(kind).map(|()| bytes.len()),
            taken => taken,
        }
    }

    fn decode_body(&mut self, bytes: &[u8], now: Instant) -> Result<usize, FailureKind> {
        let (body, decoder) = (&mut self.body, &mut self.decoder);
        let taken = match decoder {
            None => self.framing.feed(bytes, &mut |piece| body.take(piece))?,
            Some(decoder) => {
                let share = TURN_WORK.saturating_sub(self.work) / WORK_OF_CODING;
                let turn = DecodeBudget::of(share);
                let taken = self.framing.feed(bytes, &mut |piece| {
                    self.encoded_len += piece.len() as u64;
                    decoder.push(piece, &turn, &mut |decoded| body.take(decoded))
                })?;
                self.work += turn.spent() * WORK_OF_CODING;
                taken
            }
        };
        if self.body.is_digested() {
            self.work += taken * WORK_OF_CODING;
        }
        self.body_bytes += taken as u64;
        self.first_body.get_or_insert(now);
        if self.framing.is_done() {
            self.finish()?;
        }
        Ok(taken)
    }

    /// Completes the response without its body, if the reader's rules say so for this failure.
    fn drop_body(&mut self, kind: FailureKind) -> Result<(), FailureKind> {
        let status = self.head.as_ref().map(|head| head.status).unwrap_or(0);
        if self.rules == ClientRules::HttpClient || !url_connection::drops_body(status, &kind) {
            return Err(kind);
        }
        self.body = Collector::new(Keep::All, self.sizes);
        self.encoded_len = 0;
        (self.is_cut, self.ending, self.done) = (true, false, true);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), FailureKind> {
        if self.is_behind() {
            self.ending = true;
            return Ok(());
        }
        self.done = true;
        if let (Framing::Chunked(chunked), ClientRules::UrlConnection, Some(head)) =
            (&self.framing, self.rules, &mut self.head)
        {
            url_connection::add_trailers(head, chunked.trailers());
        }
        self.decoder.as_mut().map_or(Ok(()), |d| d.finish())
    }

    /// Whether part of the body waits for decoding.
    fn is_behind(&self) -> bool {
        self.decoder.as_ref().is_some_and(|d| d.is_behind())
    }

    /// Whether the body has used up its share of the worker's time: see [`take_turns`].
    pub fn is_due(&self) -> bool {
        self.work >= TURN_WORK || self.is_behind()
    }

    /// Starts another turn, which continues decoding.
    pub fn next_turn(&mut self) -> Result<(), FailureKind> {
        self.work = 0;
        let (body, decoder) = (&mut self.body, &mut self.decoder);
        let Some(decoder) = decoder.as_mut().filter(|decoder| decoder.is_behind()) else {
            return Ok(());
        };
        let turn = DecodeBudget::of(TURN_WORK / WORK_OF_CODING);
        decoder.resume(&turn, &mut |decoded| body.take(decoded))?;
        if self.ending { self.finish() } else { Ok(()) }
    }

    /// Handles the end of the stream. Fails if the response is incomplete.
    pub fn end_of_stream(&mut self) -> Result<(), FailureKind> {
        if self.head.is_none() {
            let pending = std::mem::take(&mut self.pending);
            if self.rules == ClientRules::UrlConnection
                && pending.len() < url_connection::SHORTEST_HEAD_BYTES
            {
                return Err(FailureKind::ClosedBeforeResponse);
            }
            // Count bytes of interim responses: their sender is an HTTP server.
            if let Some((head, end)) = scan(&pending, true)? {
                self.head_bytes += end as u64;
                self.end_of_head(head)?;
            }
            if self.head.is_none() {
                return Err(FailureKind::ClosedBeforeResponse);
            }
        }
        if self.rules == ClientRules::UrlConnection
            && let Framing::Length { .. } = self.framing
        {
            self.framing = Framing::None;
            self.is_cut = true;
        }
        self.framing.end_of_stream()?;
        self.finish().or_else(|kind| self.drop_body(kind))
    }

    /// The number of following bytes that are body and only need to be counted, not inspected.
    pub fn discardable(&self) -> u64 {
        if self.head.is_none() || self.done || self.decoder.is_some() || self.body.wants_bytes() {
            0
        } else {
            self.framing.payload_ahead()
        }
    }

    /// The number of following bytes that certainly belong to the body.
    pub fn payload_ahead(&self) -> u64 {
        if self.head.is_none() || self.done {
            0
        } else {
            self.framing.payload_ahead()
        }
    }

    /// Whether no framing follows the payload ahead.
    pub fn rest_is_payload(&self) -> bool {
        !matches!(self.framing, Framing::Chunked(_))
    }

    /// Accounts for bytes that the kernel dropped.
    pub fn discarded(&mut self, count: u64) -> Result<(), FailureKind> {
        self.body.len += count;
        self.work += count as usize / DISCARDED_PER_WORK;
        self.took_payload(count)
    }

    /// The number of following bytes that can be appended to [`Collector::stored`] unchanged.
    pub fn storable(&self) -> u64 {
        if self.head.is_none()
            || self.done
            || self.decoder.is_some()
            || self.want.keep != Keep::All
            || self.is_watched()
        {
            0
        } else {
            self.framing.payload_ahead()
        }
    }

    /// Accounts for bytes that were appended to [`Collector::stored`].
    pub fn stored(&mut self, count: u64) -> Result<(), FailureKind> {
        self.body.len += count;
        self.work += count as usize;
        self.body.check()?;
        self.took_payload(count)
    }

    fn took_payload(&mut self, count: u64) -> Result<(), FailureKind> {
        self.first_body.get_or_insert_with(Instant::now);
        self.body_bytes += count;
        self.framing.skip_payload(count);
        if self.framing.is_done() {
            self.finish()?;
        }
        Ok(())
    }
}

fn is_encoding((name, _): &(&[u8], &[u8])) -> bool {
    name.eq_ignore_ascii_case(b"content-encoding")
}

/// Whether a head may end in `bytes` from `at` on: whether a line end is followed by an empty line there. A head that arrives
/// in many pieces is not parsed again for each of them.
fn may_end_head(bytes: &[u8], at: usize) -> bool {
    let from = at.saturating_sub(2);
    memchr::memchr_iter(b'\n', &bytes[from..])
        .any(|end| matches!(bytes[from + end + 1..], [b'\n', ..] | [b'\r', b'\n', ..]))
}

/// Yields to the other users of the worker, and decodes the rest of the received bytes.
pub(crate) async fn take_turns(receiver: &mut Receiver) -> Result<(), FailureKind> {
    while receiver.is_due() {
        tokio::task::yield_now().await;
        receiver.next_turn()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
