//! Compressed bodies that cannot be decoded, as JMeter's `HTTPHC4Impl` reports them.

use drumfire_java::Exception;

/// The defect of a compressed body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodingFault<'a> {
    /// The first bytes are not gzip's.
    NotGzip,
    /// A gzip method other than deflate.
    GzipMethod,
    /// The body ends within the gzip header.
    GzipHeaderEnd,
    /// The data is not a deflate stream; zlib's message.
    GzipData(&'a str),
    /// The body ends within the gzip data.
    GzipDataEnd,
    /// The check sum or length does not match.
    GzipTrailer,
    /// The body ends within the check sum or length.
    GzipTrailerEnd,
    /// The body is too short to distinguish zlib from raw deflate.
    DeflateHeaderEnd,
    /// The data is not a deflate stream; zlib's message.
    Deflate(&'a str),
    /// The body ends within the deflate stream.
    DeflateEnd,
    /// Any defect of a brotli stream.
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
            // The cause, with the decoder's own message, is omitted.
            EncodingFault::Brotli => {
                Exception::new("java.io.IOException", "Brotli stream decoding failed")
            }
        }
    }
}
