//! A request that is being sent.

use std::fs::File;
use std::io::{self, IoSlice};

use drumfire_platform::files::read_at;

use crate::failure::FailureKind;
use crate::message::{Body, Part};

/// Limit of slices in one write.
pub(crate) const MAX_SLICES: usize = 16;

/// The part of a request that is still to be sent.
pub(crate) struct UnsentRequest<'a> {
    head: &'a [u8],
    body: Body<'a>,
    /// Segment 0 is the head, the others are the parts of the body.
    segment: usize,
    /// Bytes of that segment that were already sent.
    offset: u64,
    /// Bytes sent in total.
    pub sent: u64,
}

#[derive(Clone, Copy)]
pub(crate) enum Segment<'a> {
    Bytes(&'a [u8]),
    File {
        file: &'a File,
        offset: u64,
        length: u64,
    },
}

impl Segment<'_> {
    fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File { length, .. } => *length,
        }
    }
}

impl<'a> UnsentRequest<'a> {
    pub fn new(head: &'a [u8], body: Body<'a>) -> Self {
        Self {
            head,
            body,
            segment: 0,
            offset: 0,
            sent: 0,
        }
    }

    /// Skips the head, which was sent in another form with `sent` bytes.
    pub fn skip_head(&mut self, sent: u64) {
        self.segment = 1;
        self.sent = sent;
    }

    fn segment(&self, index: usize) -> Option<Segment<'a>> {
        if index == 0 {
            return Some(Segment::Bytes(self.head));
        }
        match self.body {
            Body::None => None,
            Body::Bytes(bytes) => (index == 1).then_some(Segment::Bytes(bytes)),
            Body::Parts(parts) => parts.get(index - 1).map(|part| match part {
                Part::Bytes(bytes) => Segment::Bytes(bytes),
                Part::File {
                    file,
                    offset,
                    length,
                } => Segment::File {
                    file,
                    offset: *offset,
                    length: *length,
                },
            }),
        }
    }

    /// The number of bytes that are still to be sent.
    pub fn left(&self) -> u64 {
        let unsent = (self.segment..).map_while(|index| self.segment(index));
        unsent.map(|segment| segment.len()).sum::<u64>() - self.offset
    }

    /// The unsent rest of the current segment.
    pub fn current(&mut self) -> Option<Segment<'a>> {
        loop {
            let segment = self.segment(self.segment)?;
            if self.offset < segment.len() {
                return Some(match segment {
                    Segment::Bytes(bytes) => Segment::Bytes(&bytes[self.offset as usize..]),
                    Segment::File {
                        file,
                        offset,
                        length,
                    } => Segment::File {
                        file,
                        offset: offset + self.offset,
                        length: length - self.offset,
                    },
                });
            }
            self.segment += 1;
            self.offset = 0;
        }
    }

    /// Collects the bytes from `first`, the current segment, up to the next file.
    pub fn gather(&self, first: &'a [u8], slices: &mut [IoSlice<'a>; MAX_SLICES]) -> usize {
        slices[0] = IoSlice::new(first);
        let mut count = 1;
        while count < MAX_SLICES {
            match self.segment(self.segment + count) {
                Some(Segment::Bytes(bytes)) => slices[count] = IoSlice::new(bytes),
                _ => break,
            }
            count += 1;
        }
        count
    }

    pub fn advance(&mut self, mut count: u64) {
        self.sent += count;
        while let Some(segment) = self.segment(self.segment) {
            let rest = segment.len() - self.offset;
            if count < rest {
                self.offset += count;
                return;
            }
            count -= rest;
            self.segment += 1;
            self.offset = 0;
        }
    }

    /// Copies the next bytes into `out`, as many as fit.
    pub fn fill(&mut self, out: &mut [u8]) -> Result<usize, FailureKind> {
        let mut at = 0;
        while at < out.len() {
            let count = match self.current() {
                None => break,
                Some(Segment::Bytes(bytes)) => {
                    let count = bytes.len().min(out.len() - at);
                    out[at..at + count].copy_from_slice(&bytes[..count]);
                    count
                }
                Some(Segment::File {
                    file,
                    offset,
                    length,
                }) => {
                    let room = out.len() - at;
                    let asked = usize::try_from(length).map(|l| l.min(room)).unwrap_or(room);
                    let read = read_at(file, &mut out[at..at + asked], offset);
                    match read.map_err(FailureKind::File)? {
                        0 => return Err(file_too_short()),
                        count => count,
                    }
                }
            };
            at += count;
            self.advance(count as u64);
        }
        Ok(at)
    }
}

pub(crate) fn file_too_short() -> FailureKind {
    FailureKind::File(io::ErrorKind::UnexpectedEof.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads all bytes of a source in pieces of this size.
    fn read(mut source: UnsentRequest<'_>, piece: usize) -> Vec<u8> {
        let mut all = Vec::new();
        loop {
            let mut buffer = vec![0; piece];
            let count = source.fill(&mut buffer).expect("there is no file");
            if count == 0 {
                assert_eq!(source.sent, all.len() as u64);
                return all;
            }
            all.extend_from_slice(&buffer[..count]);
        }
    }

    #[test]
    fn pieces_of_any_size_make_the_whole() {
        let parts = [
            Part::Bytes(b""),
            Part::Bytes(b"one"),
            Part::Bytes(b""),
            Part::Bytes(b"two"),
        ];
        for piece in 1..12 {
            assert_eq!(
                read(UnsentRequest::new(b"head", Body::None), piece),
                b"head"
            );
            let source = UnsentRequest::new(b"head", Body::Bytes(b"body"));
            assert_eq!(read(source, piece), b"headbody");
            let source = UnsentRequest::new(b"head", Body::Parts(&parts));
            assert_eq!(read(source, piece), b"headonetwo");
        }
    }

    #[test]
    fn one_write_gathers_what_is_left() {
        let mut source = UnsentRequest::new(b"head", Body::Bytes(b"body"));
        source.advance(2);
        let Some(Segment::Bytes(first)) = source.current() else {
            panic!("half of the head is left");
        };
        let mut slices = [IoSlice::new(&[]); MAX_SLICES];
        assert_eq!(source.gather(first, &mut slices), 2);
        assert_eq!((&*slices[0], &*slices[1]), (&b"ad"[..], &b"body"[..]));
        source.advance(3);
        let Some(Segment::Bytes(rest)) = source.current() else {
            panic!("most of the body is left");
        };
        assert_eq!(rest, b"ody");
        source.advance(3);
        assert!(source.current().is_none());
    }

    #[test]
    fn the_body_alone_follows_a_head_sent_before() {
        let mut source = UnsentRequest::new(b"head", Body::Bytes(b"body"));
        assert_eq!(source.left(), 8);
        source.skip_head(4);
        assert_eq!(source.left(), 4);
        source.advance(1);
        assert_eq!(source.left(), 3);
        let mut source = UnsentRequest::new(b"head", Body::Bytes(b"body"));
        source.skip_head(4);
        let mut buffer = [0; 8];
        assert_eq!(source.fill(&mut buffer).expect("there is no file"), 4);
        assert_eq!((&buffer[..4], source.sent), (&b"body"[..], 8));
        assert_eq!(source.left(), 0);
    }
}
