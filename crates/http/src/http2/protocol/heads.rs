//! Header blocks of the server: interim and final heads, and trailers.

use crate::binary_head;

use super::super::frame::{FrameHead, HEAD_BYTES, code, flag};
use super::super::response::ResponseLines;
use super::Protocol;
use super::receive::HeadRoom;
use super::stream::{Fault, StreamEnd};

/// A header block that CONTINUATION continues.
pub(super) struct HeaderBlock {
    pub stream: u32,
    ends: bool,
    bytes: Vec<u8>,
    /// The size of the frames' heads, in bytes, which bounds the number of empty frames.
    overhead_bytes: usize,
}

impl Protocol {
    pub(super) fn begin_block(
        &mut self,
        head: &FrameHead,
        payload: &[u8],
        room: &mut HeadRoom<'_>,
    ) -> Result<(), u32> {
        let content = head.content(payload).ok_or(code::PROTOCOL_ERROR)?;
        self.receiving(head.stream)?;
        let ends = head.has(flag::END_STREAM);
        if head.has(flag::END_HEADERS) {
            return self.take_block(head.stream, ends, content, room);
        }
        self.block = Some(HeaderBlock {
            stream: head.stream,
            ends,
            bytes: content.to_vec(),
            overhead_bytes: HEAD_BYTES,
        });
        Ok(())
    }

    pub(super) fn continue_block(
        &mut self,
        head: &FrameHead,
        payload: &[u8],
        room: &mut HeadRoom<'_>,
    ) -> Result<(), u32> {
        let mut block = self.block.take().ok_or(code::PROTOCOL_ERROR)?;
        block.bytes.extend_from_slice(payload);
        block.overhead_bytes += HEAD_BYTES;
        let limit = self.sizes.head_bytes;
        if block.bytes.len() + block.overhead_bytes > limit {
            if let Some(index) = self.receiving(block.stream)? {
                self.finish(index, StreamEnd::Failed(Fault::HeadTooLarge { limit }));
            }
            return Err(code::ENHANCE_YOUR_CALM);
        }
        if head.has(flag::END_HEADERS) {
            return self.take_block(block.stream, block.ends, &block.bytes, room);
        }
        self.block = Some(block);
        Ok(())
    }

    /// Reads a whole block, even if nobody wants it: it changes the decoder's table.
    fn take_block(
        &mut self,
        id: u32,
        ends: bool,
        block: &[u8],
        room: &mut HeadRoom<'_>,
    ) -> Result<(), u32> {
        let index = self.receiving(id)?;
        let is_trailers = index.is_some_and(|index| self.streams[index].has_head);
        let limit = self.sizes.head_bytes;
        let mut lines = ResponseLines::new(room.lines, limit, is_trailers);
        let decoded = self.decoder.decode(block, &mut lines);
        decoded.map_err(|_| code::COMPRESSION_ERROR)?;
        let Some(index) = index else {
            return Ok(());
        };
        if lines.is_too_large {
            self.fail(index, code::CANCEL, Fault::HeadTooLarge { limit });
            return Ok(());
        }
        let is_sound = lines.is_sound();
        let (status, reason) = (lines.status, lines.reason);
        match status {
            _ if !is_sound => self.break_off(index, code::PROTOCOL_ERROR),
            None if ends => {
                self.streams[index].inbox.trailers = Some(room.lines.clone());
                self.finish(index, StreamEnd::Complete);
            }
            Some(100..200) if !ends => {
                let interim = &mut self.streams[index].inbox.interim;
                interim.count += 1;
                interim.bytes += room.lines.len();
                self.stir(index);
            }
            // Trailers end their stream, and interim heads do not.
            None | Some(100..200) => self.break_off(index, code::PROTOCOL_ERROR),
            Some(status) => {
                room.lines.extend_from_slice(b"\r\n");
                let head = binary_head::head(room.lines, status, 2, reason, room.heads);
                let Ok(head) = head else {
                    self.break_off(index, code::PROTOCOL_ERROR);
                    return Ok(());
                };
                let stream = &mut self.streams[index];
                (stream.inbox.head, stream.has_head) = (Some(head), true);
                match ends {
                    true => self.finish(index, StreamEnd::Complete),
                    false => self.stir(index),
                }
            }
        }
        Ok(())
    }
}
