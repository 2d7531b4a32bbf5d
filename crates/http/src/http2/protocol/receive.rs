//! Frames of the server. Errors are the codes of errors of the connection (RFC 9113 section 5.4.1).

use crate::failure::Http2Failure;
use crate::known_heads::KnownHeads;

use super::super::frame::{FrameHead, HEAD_BYTES, MAX_PAYLOAD_BYTES, code, flag, kind, setting};
use super::super::frame::{put_goaway, put_head};
use super::stream::{Fault, StreamEnd};
use super::{OUTPUT_BYTES, Protocol};

/// The memory and the tables that a connection needs to read the head of a response.
pub(crate) struct HeadRoom<'a> {
    pub heads: &'a KnownHeads,
    /// Memory for lines.
    pub lines: &'a mut Vec<u8>,
}

/// A DATA frame without padding, whose payload is passed on as it arrives.
#[derive(Clone, Copy)]
pub(super) struct DataFrame {
    stream: u32,
    /// Bytes that have not arrived yet.
    left: usize,
    ends: bool,
}

/// A stream that a frame names.
pub(super) enum Place {
    /// Its index.
    Open(usize),
    /// This client ended it, which the server may not know yet.
    Reset,
    /// Both sides have ended it.
    Closed,
    /// Nobody has opened it.
    Idle,
}

impl Protocol {
    /// Processes received bytes.
    pub fn receive(&mut self, bytes: &[u8], room: &mut HeadRoom<'_>) {
        if self.is_over {
            return;
        }
        if let Err(code) = self.read(bytes, room) {
            put_goaway(&mut self.output, code);
            self.end(Fault::Http2(Http2Failure::Broken(code)));
        }
    }

    fn read(&mut self, mut rest: &[u8], room: &mut HeadRoom<'_>) -> Result<(), u32> {
        while !rest.is_empty() {
            if let Some(frame) = self.data.take() {
                rest = self.take_data(frame, rest);
            } else if self.partial.is_empty() {
                match bytes_at_once(rest)? {
                    Some(length) if length <= rest.len() => {
                        let (frame, after) = rest.split_at(length);
                        self.take_frame(frame, room)?;
                        rest = after;
                    }
                    _ => {
                        self.partial.extend_from_slice(rest);
                        return Ok(());
                    }
                }
            } else {
                let wanted = bytes_at_once(&self.partial)?.unwrap_or(HEAD_BYTES);
                let missing = (wanted - self.partial.len()).min(rest.len());
                let (more, after) = rest.split_at(missing);
                self.partial.extend_from_slice(more);
                rest = after;
                if bytes_at_once(&self.partial)? == Some(self.partial.len()) {
                    let frame = std::mem::take(&mut self.partial);
                    self.take_frame(&frame, room)?;
                }
            }
        }
        Ok(())
    }

    fn take_frame(&mut self, frame: &[u8], room: &mut HeadRoom<'_>) -> Result<(), u32> {
        let head = FrameHead::read(frame).ok_or(code::FRAME_SIZE_ERROR)?;
        let payload = &frame[HEAD_BYTES..];
        let is_continued = head.kind == kind::CONTINUATION;
        let block = self.block.as_ref().map(|block| block.stream);
        if !self.has_settings && head.kind != kind::SETTINGS
            || block != is_continued.then_some(head.stream)
        {
            return Err(code::PROTOCOL_ERROR);
        }
        let is_of_connection = matches!(head.kind, kind::SETTINGS | kind::PING | kind::GOAWAY);
        let is_of_either = head.kind == kind::WINDOW_UPDATE || head.kind > kind::CONTINUATION;
        if !is_of_either && is_of_connection != (head.stream == 0) {
            return Err(code::PROTOCOL_ERROR);
        }
        match head.kind {
            kind::DATA => self.begin_data(&head, payload),
            kind::HEADERS => self.begin_block(&head, payload, room),
            kind::CONTINUATION => self.continue_block(&head, payload, room),
            kind::PRIORITY if payload.len() != 5 => Err(code::FRAME_SIZE_ERROR),
            kind::RST_STREAM => self.take_reset(head.stream, payload),
            kind::SETTINGS => self.take_settings(&head, payload),
            // This client has disabled them.
            kind::PUSH_PROMISE => Err(code::PROTOCOL_ERROR),
            kind::PING => self.take_ping(&head, payload),
            kind::GOAWAY => self.take_goaway(payload),
            kind::WINDOW_UPDATE => self.take_window_update(head.stream, payload),
            _ => Ok(()),
        }
    }

    pub(super) fn place(&self, id: u32) -> Place {
        match self.streams.binary_search_by_key(&id, |stream| stream.id) {
            Ok(index) => Place::Open(index),
            Err(_) if id >= self.next_stream || id.is_multiple_of(2) => Place::Idle,
            Err(_) if id <= self.forgotten_resets || self.resets.contains(&id) => Place::Reset,
            Err(_) => Place::Closed,
        }
    }

    /// The open stream that a frame of a response is for; `None` if the frame is to be ignored.
    pub(super) fn receiving(&self, id: u32) -> Result<Option<usize>, u32> {
        match self.place(id) {
            Place::Open(index) => match &self.streams[index].end {
                None => Ok(Some(index)),
                Some(StreamEnd::Failed(_)) => Ok(None),
                Some(StreamEnd::Complete) => Err(code::STREAM_CLOSED),
            },
            Place::Reset => Ok(None),
            Place::Closed => Err(code::STREAM_CLOSED),
            Place::Idle => Err(code::PROTOCOL_ERROR),
        }
    }

    /// Notes that something has arrived for the exchange of a stream.
    pub(super) fn stir(&mut self, index: usize) {
        let ticket = self.streams[index].ticket;
        if self.stirred.last() != Some(&ticket) {
            self.stirred.push(ticket);
        }
    }

    pub(super) fn finish(&mut self, index: usize, end: StreamEnd) {
        self.streams[index].finish(end);
        self.stir(index);
    }

    /// Fails a stream, and tells the server to end it.
    pub(super) fn fail(&mut self, index: usize, code: u32, fault: Fault) {
        self.reset(self.streams[index].id, code);
        self.finish(index, StreamEnd::Failed(fault));
    }

    /// Fails a stream on which the server broke the rules.
    pub(super) fn break_off(&mut self, index: usize, code: u32) {
        self.fail(index, code, Fault::Http2(Http2Failure::Broken(code)));
    }

    fn begin_data(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), u32> {
        if !self.receive_window.receive(head.length) {
            return Err(code::FLOW_CONTROL_ERROR);
        }
        if let Some(index) = self.receiving(head.stream)? {
            let stream = &mut self.streams[index];
            let is_allowed = stream.receive_window.receive(head.length);
            if !is_allowed {
                self.break_off(index, code::FLOW_CONTROL_ERROR);
            } else if !stream.has_head {
                self.break_off(index, code::PROTOCOL_ERROR);
            }
        }
        let ends = head.has(flag::END_STREAM);
        if !head.has(flag::PADDED) {
            let frame = DataFrame {
                stream: head.stream,
                left: head.length,
                ends,
            };
            self.continue_data(frame);
            return Ok(());
        }
        let content = head.content(payload).ok_or(code::PROTOCOL_ERROR)?;
        let frame = DataFrame {
            stream: head.stream,
            left: content.len(),
            ends,
        };
        // Nobody consumes the padding.
        self.credit(head.stream, payload.len() - content.len());
        if content.is_empty() {
            self.continue_data(frame);
        } else {
            self.take_data(frame, content);
        }
        Ok(())
    }

    /// Passes on the payload at the front of `bytes`, and returns what follows it.
    fn take_data<'b>(&mut self, mut frame: DataFrame, bytes: &'b [u8]) -> &'b [u8] {
        let (payload, rest) = bytes.split_at(frame.left.min(bytes.len()));
        frame.left -= payload.len();
        match self.receiving(frame.stream) {
            Ok(Some(index)) => {
                self.streams[index].inbox.data.extend_from_slice(payload);
                self.stir(index);
            }
            _ => self.widen(payload.len()),
        }
        self.continue_data(frame);
        rest
    }

    /// Waits for the rest of a frame, or ends its stream if nothing is left.
    fn continue_data(&mut self, frame: DataFrame) {
        if frame.left > 0 {
            self.data = Some(frame);
        } else if frame.ends
            && let Ok(Some(index)) = self.receiving(frame.stream)
        {
            self.finish(index, StreamEnd::Complete);
        }
    }

    fn take_reset(&mut self, id: u32, payload: &[u8]) -> Result<(), u32> {
        let code = number(payload)?;
        match self.place(id) {
            Place::Idle => return Err(code::PROTOCOL_ERROR),
            Place::Reset | Place::Closed => {}
            // The server does not need the rest of the request (section 8.1).
            Place::Open(index) if self.streams[index].is_complete() => {
                self.streams[index].is_sent = true;
                self.stir(index);
            }
            Place::Open(index) => {
                let fault = Fault::Http2(Http2Failure::Reset(code));
                self.finish(index, StreamEnd::Failed(fault));
            }
        }
        Ok(())
    }

    fn take_settings(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), u32> {
        if head.has(flag::ACK) {
            return match (self.has_settings, payload) {
                (false, _) => Err(code::PROTOCOL_ERROR),
                (true, []) => Ok(()),
                (true, _) => Err(code::FRAME_SIZE_ERROR),
            };
        }
        let (settings, []) = payload.as_chunks::<6>() else {
            return Err(code::FRAME_SIZE_ERROR);
        };
        if !self.has_settings {
            // Without a setting, there is no limit.
            self.max_streams = u32::MAX;
            self.has_settings = true;
        }
        for [i0, i1, value @ ..] in settings {
            self.set(u16::from_be_bytes([*i0, *i1]), u32::from_be_bytes(*value))?;
        }
        self.has_more_room = true;
        put_head(&mut self.output, 0, kind::SETTINGS, flag::ACK, 0);
        Ok(())
    }

    fn set(&mut self, identifier: u16, value: u32) -> Result<(), u32> {
        match identifier {
            setting::HEADER_TABLE_SIZE => self.encoder.resize(value),
            setting::ENABLE_PUSH if value != 0 => return Err(code::PROTOCOL_ERROR),
            setting::MAX_CONCURRENT_STREAMS => self.max_streams = value,
            setting::INITIAL_WINDOW_SIZE => {
                let change = i64::from(value) - i64::from(self.first_window_bytes);
                self.first_window_bytes = value;
                for index in 0..self.streams.len() {
                    if !self.streams[index].send_window.change(change) {
                        return Err(code::FLOW_CONTROL_ERROR);
                    }
                    self.stir(index);
                }
                if value > i32::MAX as u32 {
                    return Err(code::FLOW_CONTROL_ERROR);
                }
            }
            setting::MAX_FRAME_SIZE => {
                let bytes = value as usize;
                if !(MAX_PAYLOAD_BYTES..1 << 24).contains(&bytes) {
                    return Err(code::PROTOCOL_ERROR);
                }
                self.max_payload_bytes = bytes.min(OUTPUT_BYTES);
            }
            _ => {}
        }
        Ok(())
    }

    fn take_ping(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), u32> {
        if payload.len() != 8 {
            return Err(code::FRAME_SIZE_ERROR);
        }
        if !head.has(flag::ACK) {
            put_head(&mut self.output, payload.len(), kind::PING, flag::ACK, 0);
            self.output.extend_from_slice(payload);
        }
        Ok(())
    }

    fn take_goaway(&mut self, payload: &[u8]) -> Result<(), u32> {
        let (last, rest) = payload.split_at_checked(4).ok_or(code::FRAME_SIZE_ERROR)?;
        let last = number(last)? & 0x7FFF_FFFF;
        let code = number(rest.get(..4).ok_or(code::FRAME_SIZE_ERROR)?)?;
        self.goodbye = Some(code);
        self.has_more_room = true;
        for index in 0..self.streams.len() {
            if self.streams[index].id > last {
                let fault = Fault::Http2(Http2Failure::GoAway(code));
                self.finish(index, StreamEnd::Failed(fault));
            }
        }
        Ok(())
    }

    fn take_window_update(&mut self, id: u32, payload: &[u8]) -> Result<(), u32> {
        let increment = number(payload)? & 0x7FFF_FFFF;
        if id == 0 {
            if increment == 0 {
                return Err(code::PROTOCOL_ERROR);
            }
            if !self.send_window.change(increment.into()) {
                return Err(code::FLOW_CONTROL_ERROR);
            }
            (0..self.streams.len()).for_each(|index| self.stir(index));
            return Ok(());
        }
        match self.place(id) {
            Place::Idle => Err(code::PROTOCOL_ERROR),
            Place::Reset | Place::Closed => Ok(()),
            Place::Open(index) => {
                if increment == 0 {
                    self.break_off(index, code::PROTOCOL_ERROR);
                } else if !self.streams[index].send_window.change(increment.into()) {
                    self.break_off(index, code::FLOW_CONTROL_ERROR);
                }
                self.stir(index);
                Ok(())
            }
        }
    }
}

/// How many bytes of the frame at the start of `bytes` are processed at once: all, but for DATA without padding only its head.
/// `None` if the head is incomplete.
fn bytes_at_once(bytes: &[u8]) -> Result<Option<usize>, u32> {
    let Some(head) = FrameHead::read(bytes) else {
        return Ok(None);
    };
    if head.length > MAX_PAYLOAD_BYTES {
        return Err(code::FRAME_SIZE_ERROR);
    }
    let is_streamed = head.kind == kind::DATA && !head.has(flag::PADDED);
    Ok(Some(if is_streamed {
        HEAD_BYTES
    } else {
        HEAD_BYTES + head.length
    }))
}

/// A payload that is one number.
fn number(payload: &[u8]) -> Result<u32, u32> {
    let bytes = <[u8; 4]>::try_from(payload).map_err(|_| code::FRAME_SIZE_ERROR)?;
    Ok(u32::from_be_bytes(bytes))
}
