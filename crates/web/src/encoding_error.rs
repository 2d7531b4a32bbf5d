//! Compressed bodies that cannot be decoded, as JMeter's `HTTPHC4Impl` reports them.

use drumfire_java::Exception;

/// The defect of a compressed body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodingError<'a> {
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

impl EncodingError<'_> {
    /// The exception that reading the body throws.
    pub(crate) fn exception(self) -> Exception {
        match self {
            EncodingError::NotGzip => Exception::new(ZIP, "Not in GZIP format"),
            EncodingError::GzipMethod => Exception::new(ZIP, "Unsupported compression method"),
            EncodingError::GzipHeaderEnd | EncodingError::GzipTrailerEnd => {
                Exception::without_message(EOF)
            }
            EncodingError::GzipData(text) | EncodingError::Deflate(text) => {
                Exception::new(ZIP, text.to_owned())
            }
            EncodingError::GzipDataEnd | EncodingError::DeflateEnd => Exception::new(EOF, ZLIB_END),
            EncodingError::GzipTrailer => Exception::new(ZIP, "Corrupt GZIP trailer"),
            EncodingError::DeflateHeaderEnd => Exception::new(ZIP, "Unexpected end of stream"),
            // The cause, with the decoder's own message, is omitted.
            EncodingError::Brotli => {
                Exception::new("java.io.IOException", "Brotli stream decoding failed")
            }
        }
    }
}
