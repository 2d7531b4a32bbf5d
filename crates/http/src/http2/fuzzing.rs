//! The entry points of the fuzz targets `http2_frames` and `hpack`. A test gives them random frames, too.

use std::fmt::Write as _;
use std::rc::Rc;
use std::task::Poll;

use super::protocol::{Begin, HeadRoom, Piece, Protocol};
use crate::hpack::{Decoder, Encoder, LineSink, RequestFields};
use crate::known_heads::KnownHeads;
use crate::message::SizeLimits;

/// Gives the frames of a server, in pieces of `piece_bytes`, to two requests, and returns what they get as text.
pub fn frames(bytes: &[u8], piece_bytes: usize) -> String {
    let sizes = SizeLimits {
        head_bytes: 4096,
        ..SizeLimits::default()
    };
    let mut protocol = Protocol::new(sizes);
    let mut fields = RequestFields::default();
    fields.add(b":path", b"/");
    let fields = Rc::new(fields);
    let streams = [true, false].map(|ends| match protocol.poll_open(&fields, ends, 0) {
        Poll::Ready(Ok(id)) => id,
        _ => unreachable!("a new connection has room"),
    });
    let heads = KnownHeads::default();
    let mut lines = Vec::new();
    let mut texts = [String::new(), String::new()];
    for piece in bytes.chunks(piece_bytes) {
        protocol.output.clear();
        let mut room = HeadRoom {
            heads: &heads,
            lines: &mut lines,
        };
        protocol.receive(piece, &mut room);
        // No frame has an answer that is longer than itself, but for the heads of those that are cut.
        assert!(protocol.output.len() <= 2 * piece.len() + 64);
        for (id, text) in streams.into_iter().zip(&mut texts) {
            take(&mut protocol, id, text);
        }
    }
    protocol.end_of_input();
    for (id, text) in streams.into_iter().zip(&mut texts) {
        take(&mut protocol, id, text);
    }
    texts.concat()
}

/// Appends what has arrived on a stream, until it has ended.
fn take(protocol: &mut Protocol, id: u32, text: &mut String) {
    if text.ends_with('!') {
        return;
    }
    while !text.contains("head ") {
        match protocol.poll_begin(id) {
            Poll::Ready(Ok(Begin::Interim(_))) => {}
            Poll::Ready(Ok(Begin::Head(head, _))) => {
                let _ = write!(text, "head {:?} ", head.bytes);
            }
            Poll::Ready(Err(kind)) => return *text += &format!("{kind:?}!"),
            Poll::Pending => return,
        }
    }
    loop {
        match protocol.poll_piece(id) {
            Poll::Ready(Ok(Piece::Data(data))) => {
                data.iter().for_each(|byte| _ = write!(text, "{byte:02x}"));
                protocol.consumed(id, data);
            }
            Poll::Ready(Ok(Piece::End(trailers))) => return *text += &format!("{trailers:?}!"),
            Poll::Ready(Err(kind)) => return *text += &format!("{kind:?}!"),
            Poll::Pending => return,
        }
    }
}

/// Reads a header block. Its fields survive another encoder and decoder.
pub fn header_block(block: &[u8]) {
    let mut decoder = Decoder::new();
    let mut said = Lines::default();
    if decoder.decode(block, &mut said).is_err() {
        return;
    }
    let mut fields = RequestFields::default();
    for (start, name_bytes) in &said.fields {
        let line = &said.lines[*start..];
        let end = line.iter().position(|byte| *byte == b'\r');
        let end = end.expect("a line has an end, which its value does not contain");
        fields.add(&line[..*name_bytes], &line[name_bytes + 2..end]);
    }
    let (fields, mut encoder, mut other) = (Rc::new(fields), Encoder::new(), Decoder::new());
    for bytes in [4096, 64, 0, 4096] {
        encoder.resize(bytes);
        let (mut block, mut again) = (Vec::new(), Lines::default());
        encoder.encode(&fields, &mut block);
        let decoded = other.decode(&block, &mut again);
        assert!(decoded.is_ok() && again.lines == said.lines);
    }
}

/// Keeps all lines of a block, up to a size.
#[derive(Default)]
struct Lines {
    lines: Vec<u8>,
    fields: Vec<(usize, usize)>,
}

impl LineSink for Lines {
    fn is_open(&self) -> bool {
        self.lines.len() < 1 << 16
    }

    fn lines(&mut self) -> &mut Vec<u8> {
        &mut self.lines
    }

    fn judge(&mut self, start: usize, name_bytes: usize) {
        self.fields.push((start, name_bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::super::frame::put_head;
    use super::*;

    /// Numbers that look random (xorshift).
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, sides: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 as usize % sides
        }
    }

    /// A block of some fields, mostly sound.
    fn block(dice: &mut Dice) -> Vec<u8> {
        const FIELDS: [&[u8]; 10] = [
            b"\x88",
            b"\x08\x03103",
            b"\x40\x01a\x01b",
            b"\x0f\x10\x01x",
            b"\x5c\x015",
            b"\xbe",
            b"\xbf",
            b"\x3f\x01",
            b"\x20",
            b"\x40\x81\x1f\x82\x1c\x64",
        ];
        let mut block = if dice.roll(4) > 0 {
            b"\x88".to_vec()
        } else {
            Vec::new()
        };
        for _ in 0..dice.roll(4) {
            block.extend_from_slice(FIELDS[dice.roll(FIELDS.len())]);
        }
        block
    }

    /// Frames that a server might send, and now and then a byte that none would.
    fn random_frames(dice: &mut Dice) -> Vec<u8> {
        let mut frames = Vec::new();
        put_head(&mut frames, 0, 4, 0, 0);
        if dice.roll(4) > 0 {
            put_head(&mut frames, 1, 1, 4, 1);
            frames.push(0x88);
        }
        for _ in 0..dice.roll(12) {
            let kind = [0, 0, 0, 1, 1, 1, 3, 4, 6, 7, 8, 9, 2, 5, 200][dice.roll(15)];
            let flags = [0, 0, 1, 4, 4, 4, 5, 12, 36, 9][dice.roll(10)];
            let payload = match kind {
                1 | 9 => block(dice),
                0 => vec![dice.roll(5) as u8; dice.roll(20)],
                _ => vec![dice.roll(3) as u8; [4, 4, 5, 6, 8, 8, 0][dice.roll(7)]],
            };
            let stream = match kind {
                4 | 6 | 7 => 0,
                _ => [1, 1, 1, 3, 3, 0, 2, 5][dice.roll(8)],
            };
            put_head(&mut frames, payload.len(), kind, flags, stream);
            frames.extend(payload);
        }
        if dice.roll(8) == 0 {
            let at = dice.roll(frames.len());
            frames[at] = dice.roll(256) as u8;
        }
        frames
    }

    #[test]
    fn random_frames_mean_the_same_however_they_are_cut() {
        let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
        let mut ends = [0; 2];
        for _ in 0..2000 {
            let bytes = random_frames(&mut dice);
            let whole = frames(&bytes, bytes.len());
            let piece_bytes = dice.roll(30) + 1;
            assert_eq!(
                frames(&bytes, piece_bytes),
                whole,
                "{bytes:?} by {piece_bytes}"
            );
            ends[usize::from(whole.contains("head "))] += 1;
            header_block(&block(&mut dice));
        }
        // Neither all of them fail, nor none.
        assert!(ends.iter().all(|count| *count > 100), "{ends:?}");
    }
}
