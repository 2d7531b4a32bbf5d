//! Decodes content encodings incrementally as a body arrives.
//!
//! A few bytes may expand to gigabytes, so a decoder stops when its [`DecodeBudget`] is spent and continues with the next one.

use std::cell::Cell;

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::{Crc, Decompress, FlushDecompress, Status};

use crate::failure::{Coded, DecodeFailure, FailureKind};
use crate::framing::Emit;
use crate::headers::trim;
use crate::message::RelaxedDecoding;

/// Limit of the pieces in which decoded bytes are passed on.
const PIECE_BYTES: usize = 16 * 1024;

/// Longest gzip header (its file name and comment have no limit of their own).
const MAX_GZIP_HEADER_BYTES: usize = 64 * 1024;

/// The number of bytes to decode before other users get their turn.
pub(crate) struct DecodeBudget {
    bytes: usize,
    spent: Cell<usize>,
}

impl DecodeBudget {
    pub fn of(bytes: usize) -> Self {
        Self {
            bytes,
            spent: Cell::new(0),
        }
    }

    fn spend(&self, bytes: usize) {
        self.spent.set(self.spent.get() + bytes);
    }

    fn is_over(&self) -> bool {
        self.spent.get() >= self.bytes
    }

    /// The number of bytes decoded in this turn.
    pub fn spent(&self) -> usize {
        self.spent.get()
    }
}

/// The decoders of one response, in the order of application.
pub(crate) struct Decoder {
    stages: Vec<DecoderSlot>,
    relaxed: RelaxedDecoding,
}

/// A decoder and its unprocessed input. Even an empty input may still produce output.
struct DecoderSlot {
    stage: DecodeStage,
    held: Option<Vec<u8>>,
}

/// How far a decoder got with its input.
enum Flow {
    /// It consumed all input.
    On,
    /// The turn ended; this is the rest of the input.
    Paused(Vec<u8>),
}

impl Decoder {
    /// Decoders for the value of a Content-Encoding header; `None` if there is nothing to decode. Fails if more than `limit`
    /// codings would have to be decoded, because each decoder needs memory.
    ///
    /// HttpClient's `ResponseContentEncoding` decodes the encodings in the order listed (not in reverse, as RFC 9110
    /// requires) and ignores unknown ones.
    pub fn for_encodings(
        value: &[u8],
        relaxed: RelaxedDecoding,
        limit: usize,
    ) -> Result<Option<Self>, FailureKind> {
        let mut stages = Vec::new();
        for element in value.split(|b| *b == b',') {
            let name = element.split(|b| matches!(b, b';' | b'=')).next();
            let Some(stage) = name.and_then(|name| DecodeStage::named(trim(name))) else {
                continue;
            };
            if stages.len() == limit {
                return Err(FailureKind::TooManyCodings { limit });
            }
            stages.push(DecoderSlot { stage, held: None });
        }
        Ok((!stages.is_empty()).then_some(Self { stages, relaxed }))
    }

    /// Decodes a piece of the body. When the turn is over, it stores the rest for [`Decoder::resume`].
    pub fn push(
        &mut self,
        input: &[u8],
        turn: &DecodeBudget,
        emit: Emit,
    ) -> Result<(), FailureKind> {
        run(&mut self.stages, input, turn, emit)
    }

    /// Whether input waits for another turn.
    pub fn is_behind(&self) -> bool {
        self.stages.iter().any(|slot| slot.held.is_some())
    }

    /// Decodes stored input, as far as this turn allows.
    pub fn resume(&mut self, turn: &DecodeBudget, emit: Emit) -> Result<(), FailureKind> {
        for index in (0..self.stages.len()).rev() {
            if let Some(held) = self.stages[index].held.take() {
                run(&mut self.stages[index..], &held, turn, emit)?;
            }
        }
        Ok(())
    }

    /// Ends the body. Fails if the encoded data is incomplete, unless relaxed.
    pub fn finish(&mut self) -> Result<(), FailureKind> {
        let unended = self
            .stages
            .iter()
            .find_map(|slot| slot.stage.unended(self.relaxed));
        unended.map_or(Ok(()), |coded| {
            Err(FailureKind::Decode(DecodeFailure::UnexpectedEnd(coded)))
        })
    }
}

/// Passes `input` through the stages and the output of the last one to `emit`.
fn run(
    stages: &mut [DecoderSlot],
    input: &[u8],
    turn: &DecodeBudget,
    emit: Emit,
) -> Result<(), FailureKind> {
    let Some((DecoderSlot { stage, held }, rest)) = stages.split_first_mut() else {
        turn.spend(input.len());
        return emit(input);
    };
    if let Some(held) = held {
        held.extend_from_slice(input);
        return Ok(());
    }
    let mut next = |piece: &[u8]| run(rest, piece, turn, emit);
    if let Flow::Paused(left) = stage.push(input, turn, &mut next)? {
        *held = Some(left);
    }
    Ok(())
}

enum DecodeStage {
    Gzip(Box<Gunzip>),
    Deflate(Box<Inflate>),
    Brotli(Box<Unbrotli>),
}

impl DecodeStage {
    fn named(name: &[u8]) -> Option<Self> {
        match name.to_ascii_lowercase().as_slice() {
            b"gzip" | b"x-gzip" => Some(Self::Gzip(Box::new(Gunzip::new()))),
            b"deflate" => Some(Self::Deflate(Box::new(Inflate::new()))),
            b"br" => Some(Self::Brotli(Box::new(Unbrotli::new()))),
            _ => None,
        }
    }

    fn push(&mut self, input: &[u8], turn: &DecodeBudget, emit: Emit) -> Result<Flow, FailureKind> {
        match self {
            Self::Gzip(stage) => stage.push(input, turn, emit),
            Self::Deflate(stage) => stage.push(input, turn, emit),
            Self::Brotli(stage) => stage.push(input, turn, emit),
        }
    }

    /// The part of the stream that is incomplete, unless that is allowed.
    fn unended(&self, relaxed: RelaxedDecoding) -> Option<Coded> {
        match self {
            Self::Gzip(stage) => stage.unended(relaxed.gzip),
            Self::Deflate(stage) if stage.inflate.is_none() => Some(Coded::DeflateHeader),
            Self::Deflate(stage) => (!stage.ended && !relaxed.deflate).then_some(Coded::Deflate),
            Self::Brotli(stage) => (!stage.ended).then_some(Coded::Brotli),
        }
    }
}

/// Why inflating stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pause {
    /// It needs more input.
    Input,
    /// The turn is over.
    Turn,
    /// The stream has ended.
    End,
}

/// Inflates from the start of `input`; returns the number of bytes consumed and why it stopped.
fn inflate(
    coded: Coded,
    inflate: &mut Decompress,
    input: &[u8],
    piece: &mut [u8],
    turn: &DecodeBudget,
    emit: Emit,
) -> Result<(usize, Pause), FailureKind> {
    let mut at = 0;
    loop {
        let (taken, made) = (inflate.total_in(), inflate.total_out());
        let status = inflate
            .decompress(&input[at..], piece, FlushDecompress::None)
            .map_err(|error| corrupt(coded, reason(error.message())))?;
        at += (inflate.total_in() - taken) as usize;
        let made = (inflate.total_out() - made) as usize;
        if made > 0 {
            emit(&piece[..made])?;
        }
        match status {
            Status::StreamEnd => return Ok((at, Pause::End)),
            Status::BufError => return Ok((at, Pause::Input)),
            Status::Ok if at == input.len() && made < piece.len() => return Ok((at, Pause::Input)),
            Status::Ok if turn.is_over() => return Ok((at, Pause::Turn)),
            Status::Ok => {}
        }
    }
}

fn corrupt(coded: Coded, text: &str) -> FailureKind {
    FailureKind::Decode(DecodeFailure::Corrupt(coded, text.into()))
}

/// zlib's message. If its fast loop finds the error, zlib-rs loses the message; a distance too far back is then by far
/// the most frequent cause.
fn reason(message: Option<&str>) -> &str {
    match message {
        None | Some("repeated call with bad state") => "invalid distance too far back",
        Some(message) => message,
    }
}

/// `deflate`: zlib by the standard, and raw deflate from some servers (`DeflateInputStream` of HttpClient accepts both).
struct Inflate {
    /// The first bytes, until they suffice to distinguish the two.
    first: Vec<u8>,
    inflate: Option<Decompress>,
    piece: Box<[u8]>,
    ended: bool,
}

impl Inflate {
    fn new() -> Self {
        Self {
            first: Vec::new(),
            inflate: None,
            piece: vec![0; PIECE_BYTES].into(),
            ended: false,
        }
    }

    fn push(&mut self, input: &[u8], turn: &DecodeBudget, emit: Emit) -> Result<Flow, FailureKind> {
        if self.ended {
            return Ok(Flow::On);
        }
        if self.inflate.is_some() {
            return self.go_on(input, turn, emit);
        }
        self.first.extend_from_slice(input);
        if let [method, flags, ..] = self.first[..] {
            let is_zlib = method & 0x0f == 8
                && method >> 4 <= 7
                && u16::from_be_bytes([method, flags]).is_multiple_of(31);
            self.inflate = Some(Decompress::new(is_zlib));
            let first = std::mem::take(&mut self.first);
            return self.go_on(&first, turn, emit);
        }
        Ok(Flow::On)
    }

    fn go_on(
        &mut self,
        input: &[u8],
        turn: &DecodeBudget,
        emit: Emit,
    ) -> Result<Flow, FailureKind> {
        let Some(stream) = &mut self.inflate else {
            return Ok(Flow::On);
        };
        let (taken, pause) = inflate(Coded::Deflate, stream, input, &mut self.piece, turn, emit)?;
        self.ended = pause == Pause::End;
        Ok(match pause {
            Pause::Turn => Flow::Paused(input[taken..].to_vec()),
            Pause::Input | Pause::End => Flow::On,
        })
    }
}

/// gzip with several members and with garbage after the last, as `java.util.zip.GZIPInputStream` reads it.
struct Gunzip {
    state: GzipState,
    /// An incomplete header or trailer.
    pending: Vec<u8>,
    inflate: Decompress,
    check: Crc,
    piece: Box<[u8]>,
    members: u32,
    /// Whether a turn ended within the data: there may be more output without further input.
    paused: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum GzipState {
    Header,
    Data,
    Trailer,
    Rubbish,
}

const GZIP_TRAILER_BYTES: usize = 8;

impl Gunzip {
    fn new() -> Self {
        Self {
            state: GzipState::Header,
            pending: Vec::new(),
            inflate: Decompress::new(false),
            check: Crc::new(),
            piece: vec![0; PIECE_BYTES].into(),
            members: 0,
            paused: false,
        }
    }

    fn unended(&self, relaxed: bool) -> Option<Coded> {
        match self.state {
            GzipState::Header if self.members == 0 => Some(Coded::GzipHeader),
            GzipState::Data if !relaxed => Some(Coded::GzipData),
            GzipState::Trailer if !relaxed => Some(Coded::GzipTrailer),
            _ => None,
        }
    }

    fn push(
        &mut self,
        mut input: &[u8],
        turn: &DecodeBudget,
        emit: Emit,
    ) -> Result<Flow, FailureKind> {
        while !input.is_empty() || std::mem::take(&mut self.paused) {
            let taken = match self.state {
                GzipState::Header => self.header(input)?,
                GzipState::Data => {
                    let check = &mut self.check;
                    let (taken, pause) = inflate(
                        Coded::GzipData,
                        &mut self.inflate,
                        input,
                        &mut self.piece,
                        turn,
                        &mut |piece| {
                            check.update(piece);
                            emit(piece)
                        },
                    )?;
                    match pause {
                        Pause::Input => {}
                        Pause::End => self.state = GzipState::Trailer,
                        Pause::Turn => {
                            self.paused = true;
                            return Ok(Flow::Paused(input[taken..].to_vec()));
                        }
                    }
                    taken
                }
                GzipState::Trailer => self.trailer(input)?,
                GzipState::Rubbish => input.len(),
            };
            input = &input[taken..];
        }
        Ok(Flow::On)
    }

    /// Reads a member's header; returns the number of bytes consumed from `input`.
    fn header(&mut self, input: &[u8]) -> Result<usize, FailureKind> {
        let before = self.pending.len();
        self.pending.extend_from_slice(input);
        match gzip_header_len(&self.pending) {
            Ok(None) => Ok(input.len()),
            Ok(Some(length)) => {
                self.pending.clear();
                self.inflate.reset(false);
                self.check.reset();
                self.state = GzipState::Data;
                Ok(length - before)
            }
            Err(_) if self.members > 0 => {
                self.state = GzipState::Rubbish;
                Ok(input.len())
            }
            Err(failure) => Err(FailureKind::Decode(failure)),
        }
    }

    fn trailer(&mut self, input: &[u8]) -> Result<usize, FailureKind> {
        let take = (GZIP_TRAILER_BYTES - self.pending.len()).min(input.len());
        self.pending.extend_from_slice(&input[..take]);
        if let [a, b, c, d, e, f, g, h] = self.pending[..] {
            if u32::from_le_bytes([a, b, c, d]) != self.check.sum()
                || u32::from_le_bytes([e, f, g, h]) != self.check.amount()
            {
                return Err(FailureKind::Decode(DecodeFailure::Checksum));
            }
            self.pending.clear();
            self.members += 1;
            self.state = GzipState::Header;
        }
        Ok(take)
    }
}

/// The length of the gzip header at the start of `bytes`, or `None` if it is incomplete.
fn gzip_header_len(bytes: &[u8]) -> Result<Option<usize>, DecodeFailure> {
    const MAGIC: [u8; 2] = [0x1f, 0x8b];
    const DEFLATE: u8 = 8;

    if bytes.iter().zip(MAGIC).any(|(byte, magic)| *byte != magic) {
        return Err(DecodeFailure::NotGzip);
    }
    if bytes.get(2).is_some_and(|method| *method != DEFLATE) {
        let text = "Unsupported compression method";
        return Err(DecodeFailure::Corrupt(Coded::GzipHeader, text.into()));
    }
    match gzip_fields_end(bytes) {
        None if bytes.len() > MAX_GZIP_HEADER_BYTES => {
            let text = "endless gzip header";
            Err(DecodeFailure::Corrupt(Coded::GzipHeader, text.into()))
        }
        length => Ok(length),
    }
}

/// Offset of the end of the optional fields (RFC 1952 section 2.3).
fn gzip_fields_end(bytes: &[u8]) -> Option<usize> {
    const FHCRC: u8 = 2;
    const FEXTRA: u8 = 4;
    const FNAME: u8 = 8;
    const FCOMMENT: u8 = 16;

    let flags = *bytes.get(3)?;
    let mut at = 10;
    if flags & FEXTRA != 0 {
        let length = bytes.get(at..at + 2)?;
        at += 2 + usize::from(u16::from_le_bytes([length[0], length[1]]));
    }
    for text in [FNAME, FCOMMENT] {
        if flags & text != 0 {
            at += memchr::memchr(0, bytes.get(at..)?)? + 1;
        }
    }
    if flags & FHCRC != 0 {
        at += 2;
    }
    (bytes.len() >= at).then_some(at)
}

struct Unbrotli {
    state: BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>,
    piece: Box<[u8]>,
    ended: bool,
}

impl Unbrotli {
    fn new() -> Self {
        let alloc = StandardAlloc::default;
        Self {
            state: BrotliState::new(alloc(), alloc(), alloc()),
            piece: vec![0; PIECE_BYTES].into(),
            ended: false,
        }
    }

    fn push(&mut self, input: &[u8], turn: &DecodeBudget, emit: Emit) -> Result<Flow, FailureKind> {
        let (mut available_in, mut at, mut total) = (input.len(), 0, 0);
        while !self.ended {
            let (mut room, mut made) = (self.piece.len(), 0);
            let result = BrotliDecompressStream(
                &mut available_in,
                &mut at,
                input,
                &mut room,
                &mut made,
                &mut self.piece,
                &mut total,
                &mut self.state,
            );
            if made > 0 {
                emit(&self.piece[..made])?;
            }
            match result {
                BrotliResult::ResultSuccess => self.ended = true,
                BrotliResult::NeedsMoreInput if room > 0 => break,
                // More output may come, even after the last input.
                BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
                BrotliResult::ResultFailure => {
                    return Err(corrupt(Coded::Brotli, "corrupted brotli stream"));
                }
            }
            if !self.ended && turn.is_over() {
                return Ok(Flow::Paused(input[at..].to_vec()));
            }
        }
        Ok(Flow::On)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoded_bytes_are_available_before_more_input_arrives() {
        let text: String = (0..8_000).map(|n| format!("line {n}\n")).collect();
        let mut cut = Vec::new();
        brotli::BrotliCompress(&mut text.as_bytes(), &mut cut, &Default::default())
            .expect("writing to a vector");
        cut.truncate(cut.len() / 2);
        let decoded = |input_bytes| {
            let (mut stage, mut length) = (Unbrotli::new(), 0);
            for input in cut.chunks(input_bytes) {
                let count = &mut |piece: &[u8]| {
                    length += piece.len();
                    Ok(())
                };
                stage
                    .push(input, &DecodeBudget::of(usize::MAX), count)
                    .expect("it is sound so far");
            }
            length
        };
        assert!(decoded(1) > PIECE_BYTES);
        assert_eq!(decoded(cut.len()), decoded(1));
    }

    /// Pushes the input in one piece and returns the output of all turns of `turn_bytes`, and their number.
    fn in_turns(encodings: &[u8], input: &[u8], turn_bytes: usize) -> (Vec<u8>, usize) {
        let decoder = Decoder::for_encodings(encodings, RelaxedDecoding::default(), 8);
        let mut decoder = decoder
            .expect("there are few")
            .expect("the encodings are known");
        let mut decoded = Vec::new();
        let mut turns = 1;
        let mut keep = |piece: &[u8]| {
            decoded.extend_from_slice(piece);
            Ok(())
        };
        let (first, last) = input.split_at(input.len() / 2);
        let turn = DecodeBudget::of(turn_bytes);
        decoder.push(first, &turn, &mut keep).expect("it is sound");
        decoder.push(last, &turn, &mut keep).expect("it is sound");
        while decoder.is_behind() {
            turns += 1;
            let turn = DecodeBudget::of(turn_bytes);
            decoder.resume(&turn, &mut keep).expect("it is sound");
        }
        decoder.finish().expect("the stream has ended");
        (decoded, turns)
    }

    fn gzipped(bytes: &[u8]) -> Vec<u8> {
        let mut head = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
        let mut deflate = flate2::Compress::new(flate2::Compression::best(), false);
        let mut coded = Vec::with_capacity(bytes.len() + 1024);
        let ended = deflate.compress_vec(bytes, &mut coded, flate2::FlushCompress::Finish);
        assert_eq!(ended.expect("there is room"), Status::StreamEnd);
        let mut check = Crc::new();
        check.update(bytes);
        head.extend_from_slice(&coded);
        head.extend_from_slice(&check.sum().to_le_bytes());
        head.extend_from_slice(&check.amount().to_le_bytes());
        head
    }

    #[test]
    fn decoding_in_turns_gives_the_same_bytes() {
        let text: Vec<u8> = (0..400_000_u32).map(|n| (n / 900) as u8).collect();
        let gzip = gzipped(&text);
        let mut brotli = Vec::new();
        brotli::BrotliCompress(&mut &*text, &mut brotli, &Default::default())
            .expect("writing to a vector");
        let twice = gzipped(&gzip);
        let members = [&*gzip, &*gzip].concat();
        for (encodings, input, repeated) in [
            (&b"gzip"[..], &gzip, 1),
            (b"deflate", &gzip[10..gzip.len() - 8].to_vec(), 1),
            (b"br", &brotli, 1),
            (b"gzip, gzip", &twice, 1),
            (b"gzip", &members, 2),
        ] {
            let name = String::from_utf8_lossy(encodings);
            for turn_bytes in [1, 100_000, 1 << 30] {
                let (decoded, turns) = in_turns(encodings, input, turn_bytes);
                assert!(decoded == text.repeat(repeated), "{name} by {turn_bytes}");
                let expected = decoded.len() / turn_bytes.max(PIECE_BYTES);
                assert!(turns >= expected / 5, "{name} by {turn_bytes}: {turns}");
                assert!(turn_bytes < 1 << 30 || turns == 1, "{name}");
            }
        }
    }
}
