//! Encodes the data that a TCP Sampler sends, and finds the end of its responses (`TCPClientImpl`,
//! `BinaryTCPClientImpl`, `LengthPrefixedBinaryTCPClientImpl`).

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use drumfire_java::charset::Charset;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes of one read; only the last byte of each is compared with the end-of-line byte.
const READ_BYTES: usize = 4096;

/// The limit on the bytes of a response, which JMeter does not have.
pub const MAX_RESPONSE_BYTES: &str = "drumfire.tcp.max_response_bytes";

/// How a response is read.
#[derive(Clone, Copy)]
pub struct ReadRules {
    /// The byte that ends a response.
    pub eol: Option<u8>,
    /// How long one read may take.
    pub timeout: Option<Duration>,
    /// Larger responses fail.
    pub max_bytes: u64,
}

impl ReadRules {
    fn check(self, length: usize) -> Result<(), TcpFailure> {
        let limit = self.max_bytes;
        if length as u64 <= limit {
            return Ok(());
        }
        let message = format!("the response exceeds {limit} bytes ({MAX_RESPONSE_BYTES})");
        Err(exception("java.io.IOException", message))
    }
}

/// How texts become bytes and back.
pub enum TcpClient {
    Text {
        /// `None` for a charset that Java does not know, either.
        charset: Option<Charset>,
        name: Box<str>,
    },
    /// Bytes as hexadecimal digits.
    Binary,
    /// Bytes as hexadecimal digits, after their length in a prefix of this size.
    LengthPrefixed { prefix_bytes: usize },
}

/// Why there is no whole response.
#[derive(Debug, PartialEq, Eq)]
pub enum TcpFailure {
    /// The text of the exception.
    Exception(String),
    /// The message of a `ReadException`, and what was read before it.
    Read { message: String, partial: Vec<u8> },
}

fn exception(class: &str, message: impl std::fmt::Display) -> TcpFailure {
    TcpFailure::Exception(format!("{class}: {message}"))
}

impl TcpClient {
    /// The bytes of a request. If the body is malformed, its length prefix is not sent, either.
    ///
    /// # Errors
    /// With Java's exception for a text that cannot be sent.
    pub fn encode<'t>(&self, text: &'t str) -> Result<Cow<'t, [u8]>, TcpFailure> {
        match self {
            TcpClient::Text {
                charset: Some(charset),
                ..
            } => Ok(charset.encode(text)),
            TcpClient::Text { name, .. } => {
                Err(exception("java.io.UnsupportedEncodingException", name))
            }
            TcpClient::Binary => from_hex(text).map(Cow::Owned),
            TcpClient::LengthPrefixed { prefix_bytes } => {
                let length = text.encode_utf16().count() / 2;
                let mut bytes = prefix(length, *prefix_bytes)?;
                bytes.extend(from_hex(text)?);
                Ok(Cow::Owned(bytes))
            }
        }
    }

    /// The text of a response, as bytes of the sample.
    pub fn decode(&self, bytes: Vec<u8>) -> Vec<u8> {
        match self {
            TcpClient::Text {
                charset: Some(charset),
                ..
            } => match charset.decode(&bytes) {
                Cow::Borrowed(_) => bytes,
                Cow::Owned(text) => charset.encode(&text).into_owned(),
            },
            TcpClient::Text { .. } => bytes,
            TcpClient::Binary | TcpClient::LengthPrefixed { .. } => to_hex(&bytes),
        }
    }

    /// The charset of the sample's response.
    pub fn charset_name(&self) -> &str {
        match self {
            TcpClient::Text { name, .. } => name,
            TcpClient::Binary | TcpClient::LengthPrefixed { .. } => "UTF-8",
        }
    }

    /// Reads a response; `first` is called when its first bytes are there.
    ///
    /// # Errors
    /// [`TcpFailure`], when it cannot be read to its end.
    pub async fn read(
        &self,
        stream: &mut (impl AsyncRead + Unpin),
        rules: ReadRules,
        mut first: impl FnMut(),
    ) -> Result<Vec<u8>, TcpFailure> {
        if let TcpClient::LengthPrefixed { prefix_bytes } = self {
            return read_prefixed(stream, *prefix_bytes, rules, first).await;
        }
        let mut response = Vec::new();
        loop {
            match read_piece(stream, &mut response, READ_BYTES, rules.timeout).await {
                Ok(0) => return Ok(response),
                Ok(count) => {
                    if response.len() == count {
                        first();
                    }
                    rules.check(response.len())?;
                    if rules.eol.is_some() && response.last().copied() == rules.eol {
                        return Ok(response);
                    }
                }
                Err(error) => return self.fail_read(&error, rules.eol, response),
            }
        }
    }

    fn fail_read(
        &self,
        error: &io::Error,
        eol: Option<u8>,
        partial: Vec<u8>,
    ) -> Result<Vec<u8>, TcpFailure> {
        let timed_out = error.kind() == io::ErrorKind::TimedOut;
        let message = match self {
            TcpClient::Text { .. } => {
                format!("Error reading from server, bytes read: {}", partial.len())
            }
            // Without an end-of-line byte, a response ends when the server falls silent.
            _ if timed_out && eol.is_none() => return Ok(partial),
            _ if timed_out => "Socket timed out while looking for EOM".to_owned(),
            _ => "Problems while trying to read".to_owned(),
        };
        Err(TcpFailure::Read { message, partial })
    }
}

/// `InputStream#read` of a socket with a timeout: appends at most this many bytes, and returns their number.
async fn read_piece(
    stream: &mut (impl AsyncRead + Unpin),
    response: &mut Vec<u8>,
    most: usize,
    timeout: Option<Duration>,
) -> io::Result<usize> {
    response.reserve(most.min(READ_BYTES));
    let mut piece = stream.take(most as u64);
    let reading = piece.read_buf(response);
    match timeout {
        None => reading.await,
        Some(timeout) => tokio::time::timeout(timeout, reading)
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())),
    }
}

/// `LengthPrefixedBinaryTCPClientImpl#read`: a prefix that is not there at once, or not whole, is an empty response.
async fn read_prefixed(
    stream: &mut (impl AsyncRead + Unpin),
    prefix_bytes: usize,
    rules: ReadRules,
    mut first: impl FnMut(),
) -> Result<Vec<u8>, TcpFailure> {
    let failed = |partial| TcpFailure::Read {
        message: String::new(),
        partial,
    };
    let mut prefix = Vec::new();
    let count = read_piece(stream, &mut prefix, prefix_bytes, rules.timeout)
        .await
        .map_err(|_| failed(Vec::new()))?;
    if count != prefix_bytes {
        return Ok(Vec::new());
    }
    first();
    let length = length(&prefix)?;
    let Ok(length) = usize::try_from(length) else {
        return Err(exception("java.lang.NegativeArraySizeException", length));
    };
    rules.check(length)?;
    // The buffer grows with the bytes that arrive, because the prefix may promise any number.
    let mut message = Vec::new();
    let mut is_late = false;
    while message.len() < length && !is_late {
        let missing = length - message.len();
        match read_piece(stream, &mut message, missing, rules.timeout).await {
            Ok(0) => {
                let filled = message.len();
                tracing::warn!("Incomplete message read, expected: {length} got: {filled}");
                break;
            }
            Ok(_) => {}
            Err(_) => is_late = true,
        }
    }
    // Java's array has its whole length at once.
    message.resize(length, 0);
    if is_late {
        Err(failed(message))
    } else {
        Ok(message)
    }
}

/// `TCPClientDecorator.byteArrayToInt`, which keeps the sign.
fn length(prefix: &[u8]) -> Result<i32, TcpFailure> {
    match *prefix {
        [a, b] => Ok(i16::from_be_bytes([a, b]).into()),
        [a, b, c, d] => Ok(i32::from_be_bytes([a, b, c, d])),
        _ => Err(exception(
            "java.lang.IllegalArgumentException",
            "Byte array is null or invalid length.",
        )),
    }
}

/// `TCPClientDecorator.intToByteArray`.
fn prefix(length: usize, bytes: usize) -> Result<Vec<u8>, TcpFailure> {
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    match bytes {
        2 if length > i16::MAX as u32 => Err(exception(
            "java.lang.IllegalArgumentException",
            "Value outside range for signed short int.",
        )),
        2 | 4 => Ok(length.to_be_bytes()[4 - bytes..].to_vec()),
        _ => Err(exception(
            "java.lang.IllegalArgumentException",
            "Length must be specified as either 2 or 4.",
        )),
    }
}

/// `BinaryTCPClientImpl.hexStringToByteArray`.
fn from_hex(text: &str) -> Result<Vec<u8>, TcpFailure> {
    let wrong = |message: String| Err(exception("java.lang.IllegalArgumentException", message));
    let chars: Vec<char> = text.chars().collect();
    if !chars.len().is_multiple_of(2) {
        return wrong("Hex-encoded binary string contains an uneven no. of digits".to_owned());
    }
    let mut bytes = Vec::with_capacity(chars.len() / 2);
    for pair in chars.chunks_exact(2) {
        match (pair[0].to_digit(16), pair[1].to_digit(16)) {
            (Some(high), Some(low)) => bytes.push((high << 4 | low) as u8),
            _ => {
                return wrong(format!(
                    "Hex-encoded binary string contains an invalid hex digit in '{}{}'",
                    pair[0], pair[1]
                ));
            }
        }
    }
    Ok(bytes)
}

/// `JOrphanUtils.baToHexString`.
fn to_hex(bytes: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| {
        [
            DIGITS[usize::from(byte >> 4)],
            DIGITS[usize::from(byte & 15)],
        ]
    });
    digits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> TcpClient {
        TcpClient::Text {
            charset: Charset::find("UTF-8"),
            name: "UTF-8".into(),
        }
    }

    fn sent(client: &TcpClient, text: &str) -> Result<Vec<u8>, String> {
        match client.encode(text) {
            Ok(bytes) => Ok(bytes.into_owned()),
            Err(TcpFailure::Exception(exception)) => Err(exception),
            Err(TcpFailure::Read { message, .. }) => Err(message),
        }
    }

    #[test]
    fn requests_are_text_or_hexadecimal_digits() {
        assert_eq!(sent(&text(), "ü\n"), Ok(vec![0xc3, 0xbc, 10]));
        assert_eq!(sent(&TcpClient::Binary, "00fFa9"), Ok(vec![0, 255, 169]));
        let prefixed = |prefix_bytes| TcpClient::LengthPrefixed { prefix_bytes };
        assert_eq!(sent(&prefixed(2), "0102"), Ok(vec![0, 2, 1, 2]));
        assert_eq!(sent(&prefixed(4), "01"), Ok(vec![0, 0, 0, 1, 1]));
        for (client, text, message) in [
            (
                TcpClient::Binary,
                "012",
                "Hex-encoded binary string contains an uneven no. of digits",
            ),
            (
                prefixed(2),
                "0x",
                "Hex-encoded binary string contains an invalid hex digit in '0x'",
            ),
            (
                prefixed(3),
                "01",
                "Length must be specified as either 2 or 4.",
            ),
        ] {
            let expected = format!("java.lang.IllegalArgumentException: {message}");
            assert_eq!(sent(&client, text), Err(expected));
        }
    }

    fn read(client: &TcpClient, eol: Option<u8>, bytes: &[u8]) -> Result<Vec<u8>, TcpFailure> {
        read_up_to(u64::MAX, client, eol, bytes)
    }

    fn read_up_to(
        max_bytes: u64,
        client: &TcpClient,
        eol: Option<u8>,
        bytes: &[u8],
    ) -> Result<Vec<u8>, TcpFailure> {
        let rules = ReadRules {
            eol,
            timeout: None,
            max_bytes,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime can be built");
        let mut stream = bytes;
        let read = client.read(&mut stream, rules, || {});
        runtime.block_on(read).map(|bytes| client.decode(bytes))
    }

    #[test]
    fn a_response_ends_with_the_byte_or_the_stream() {
        assert_eq!(read(&text(), None, b"ab\n"), Ok(b"ab\n".to_vec()));
        // The byte counts only at the end of a read.
        assert_eq!(
            read(&text(), Some(b'\n'), b"a\nb\n"),
            Ok(b"a\nb\n".to_vec())
        );
        assert_eq!(read(&text(), None, &[b'a', 0xff]), Ok("a\u{fffd}".into()));
        assert_eq!(
            read(&TcpClient::Binary, None, &[0, 0xaf]),
            Ok(b"00af".to_vec())
        );
    }

    #[test]
    fn a_prefix_says_how_much_is_read() {
        let two = TcpClient::LengthPrefixed { prefix_bytes: 2 };
        assert_eq!(read(&two, None, &[0, 2, 1, 2, 3]), Ok(b"0102".to_vec()));
        // Bytes that do not arrive stay zero.
        assert_eq!(read(&two, None, &[0, 2, 1]), Ok(b"0100".to_vec()));
        assert_eq!(read(&two, None, &[0]), Ok(Vec::new()));
        assert_eq!(
            read(&two, None, &[0xff, 0xfe, 1]),
            Err(TcpFailure::Exception(
                "java.lang.NegativeArraySizeException: -2".to_owned()
            ))
        );
    }

    #[test]
    fn a_response_beyond_the_limit_fails() {
        let prefixed = TcpClient::LengthPrefixed { prefix_bytes: 4 };
        let long = [0, 0, 0x13, 0x88].into_iter().chain([7; 5000]);
        let long: Vec<u8> = long.collect();
        for (client, bytes) in [
            (&text(), &long[..]),
            (&TcpClient::Binary, &long),
            (&prefixed, &long),
            // The largest length, of which nothing comes.
            (&prefixed, &[0x7f, 0xff, 0xff, 0xff]),
        ] {
            let message = "the response exceeds 4096 bytes (drumfire.tcp.max_response_bytes)";
            let failed = TcpFailure::Exception(format!("java.io.IOException: {message}"));
            assert_eq!(read_up_to(4096, client, None, bytes), Err(failed));
        }
        let within = read_up_to(5004, &prefixed, None, &long);
        assert_eq!(within.map(|text| text.len()), Ok(10_000));
    }
}
