//! Compressed bodies that cannot be read, as JMeter's `HTTPHC4Impl` reports them.

use crate::exception::Exception;

/// The fault of a compressed body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodingFault<'a> {
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

impl EncodingFault<'_> {
    /// The exception that reading the body throws.
    pub(crate) fn exception(self) -> Exception {
        match self {
            EncodingFault::NotGzip => Exception::new(ZIP, "Not in GZIP format"),
            EncodingFault::GzipMethod => Exception::new(ZIP, "Unsupported compression method"),
            EncodingFault::GzipHeaderEnd | EncodingFault::GzipTrailerEnd => {
                Exception::without_message(EOF)
            }
            EncodingFault::GzipData(text) | EncodingFault::Deflate(text) => {
                Exception::new(ZIP, text.to_owned())
            }
            EncodingFault::GzipDataEnd | EncodingFault::DeflateEnd => Exception::new(EOF, ZLIB_END),
            EncodingFault::GzipTrailer => Exception::new(ZIP, "Corrupt GZIP trailer"),
            EncodingFault::DeflateHeaderEnd => Exception::new(ZIP, "Unexpected end of stream"),
            // The cause in the decoder's own words is left out.
            EncodingFault::Brotli => {
                Exception::new("java.io.IOException", "Brotli stream decoding failed")
            }
        }
    }
}
