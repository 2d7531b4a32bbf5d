//! Compressed bodies that cannot be read, as JMeter's `HTTPHC4Impl` reports them.

use crate::exception::Exception;
use crate::trace::Frame;
use crate::trace::frames::damage as frames;

/// The fault of a compressed body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage<'a> {
    /// The first bytes are not gzip's.
    NotGzip,
    /// A gzip method other than deflate.
    GzipMethod,
    /// The body ends within the gzip header.
    GzipHeaderEnd,
    /// The data is no deflate stream, in zlib's words.
    GzipData(&'a str),
    /// The body ends within the gzip data.
    GzipDataEnd,
    /// Check sum or length do not match.
    GzipTrailer,
    /// The body ends within check sum and length.
    GzipTrailerEnd,
    /// The body is too short to tell zlib from raw deflate.
    DeflateHeaderEnd,
    /// The data is no deflate stream, in zlib's words.
    Deflate(&'a str),
    /// The body ends within the deflate stream.
    DeflateEnd,
    /// Anything wrong with brotli.
    Brotli,
}

const ZIP: &str = "java.util.zip.ZipException";
const EOF: &str = "java.io.EOFException";
const ZLIB_END: &str = "Unexpected end of ZLIB input stream";

impl Damage<'_> {
    /// The exception, with its frames down to the reading of the body.
    pub(crate) fn exception(self) -> Exception {
        let (exception, raised): (_, &'static [&'static [Frame]]) = match self {
            Damage::NotGzip => (Exception::new(ZIP, "Not in GZIP format"), frames::NOT_GZIP),
            Damage::GzipMethod => (
                Exception::new(ZIP, "Unsupported compression method"),
                frames::GZIP_METHOD,
            ),
            Damage::GzipHeaderEnd => (Exception::without_message(EOF), frames::GZIP_HEADER_END),
            Damage::GzipData(text) => (Exception::new(ZIP, text.to_owned()), frames::GZIP_DATA),
            Damage::GzipDataEnd => (Exception::new(EOF, ZLIB_END), frames::GZIP_DATA_END),
            Damage::GzipTrailer => (
                Exception::new(ZIP, "Corrupt GZIP trailer"),
                frames::GZIP_TRAILER,
            ),
            Damage::GzipTrailerEnd => (Exception::without_message(EOF), frames::GZIP_TRAILER_END),
            Damage::DeflateHeaderEnd => (
                Exception::new(ZIP, "Unexpected end of stream"),
                frames::DEFLATE_HEADER_END,
            ),
            Damage::Deflate(text) => (Exception::new(ZIP, text.to_owned()), frames::DEFLATE),
            Damage::DeflateEnd => (Exception::new(EOF, ZLIB_END), frames::DEFLATE_END),
            // The cause in the decoder's own words is left out.
            Damage::Brotli => (
                Exception::new("java.io.IOException", "Brotli stream decoding failed"),
                frames::BROTLI,
            ),
        };
        exception.through(raised.iter().copied().flatten().copied())
    }
}
