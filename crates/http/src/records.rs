//! TLS records: decrypts incoming and encrypts outgoing data.

use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncodeTlsData, EncryptError, InsufficientSizeError,
    UnbufferedStatus,
};
use tokio::net::TcpStream;

use crate::failure::{FailureKind, TlsFailure};
use crate::socket::{Read, read_into};
use crate::worker::Scratch;

/// The TLS state of a connection.
pub(crate) struct TlsState {
    pub session: UnbufferedClientConnection,
    /// The start of an incomplete record.
    pub received: Vec<u8>,
    /// Encrypted bytes that the kernel has not accepted yet.
    pub unsent: Vec<u8>,
    /// Whether the peer has announced that it sends no more.
    pub closed: bool,
    /// Whether a record could not be processed. rustls panics unless every call passes the same buffer, so nothing is
    /// processed after the first error.
    pub broken: bool,
}

/// Reads records and passes on their plain text. The end of the stream is `Bytes(0)`, whether announced or not.
pub(crate) fn read_tls(
    stream: &TcpStream,
    tls: &mut TlsState,
    scratch: &mut Scratch,
    hand: &mut dyn FnMut(&[u8]) -> Result<(), FailureKind>,
) -> Result<Read, FailureKind> {
    if tls.broken {
        return Err(FailureKind::Tls(TlsFailure::Closed));
    }
    let before = tls.received.len();
    if before >= scratch.input.len() {
        // rustls only buffers that much for a message in tiny fragments.
        tls.broken = true;
        return Err(FailureKind::Tls(TlsFailure::MessageTooLarge(None)));
    }
    let input = &mut scratch.input;
    input[..before].copy_from_slice(&tls.received);
    let read = read_into(stream, &mut input[before..], &mut scratch.arrivals)?;
    let Read::Bytes(count @ 1..) = read else {
        return Ok(read);
    };
    tls.received.clear();
    let end = before + count;
    let processed = process_records(tls, &mut input[..end], hand);
    tls.broken = processed.is_err();
    let start = processed?;
    tls.received.extend_from_slice(&input[start..end]);
    Ok(read)
}

/// Decrypts the complete records in `input` and returns the offset of the incomplete one.
fn process_records(
    tls: &mut TlsState,
    input: &mut [u8],
    hand: &mut dyn FnMut(&[u8]) -> Result<(), FailureKind>,
) -> Result<usize, FailureKind> {
    let mut start = 0;
    loop {
        let UnbufferedStatus { mut discard, state } =
            tls.session.process_tls_records(&mut input[start..]);
        let mut more = true;
        match state.map_err(failed)? {
            ConnectionState::ReadTraffic(mut traffic) => {
                while let Some(record) = traffic.next_record() {
                    let record = record.map_err(failed)?;
                    discard += record.discard;
                    hand(record.payload)?;
                }
            }
            // The answer to a key update is sent with the next request.
            ConnectionState::EncodeTlsData(mut encode) => {
                append_encoded(&mut encode, &mut tls.unsent);
            }
            ConnectionState::TransmitTlsData(transmit) => transmit.done(),
            ConnectionState::PeerClosed | ConnectionState::Closed => {
                tls.closed = true;
                more = false;
            }
            _ => more = false,
        }
        start += discard;
        if !more {
            return Ok(start);
        }
    }
}

fn failed(error: rustls::Error) -> FailureKind {
    FailureKind::Tls(TlsFailure::from(error))
}

/// Appends `plain` to `output` as TLS records. TLS requires that bytes received right after the handshake are read first;
/// these go to `surplus`.
pub(crate) fn encrypt(
    tls: &mut TlsState,
    plain: &[u8],
    output: &mut Vec<u8>,
    surplus: &mut Vec<u8>,
) -> Result<(), FailureKind> {
    let failed = |error: rustls::Error| FailureKind::Tls(error.into());
    if tls.broken {
        return Err(FailureKind::Tls(TlsFailure::Closed));
    }
    // Cleared when everything has succeeded.
    tls.broken = true;
    loop {
        let status = tls.session.process_tls_records(&mut tls.received);
        let mut discard = status.discard;
        let state = status.state;
        let mut done = false;
        match state.map_err(failed)? {
            ConnectionState::WriteTraffic(mut writer) => {
                let start = output.len();
                // More room for a header and a tag per record is added on demand.
                output.resize(start + plain.len() + 256, 0);
                let mut result = writer.encrypt(plain, &mut output[start..]);
                if let Err(EncryptError::InsufficientSize(InsufficientSizeError {
                    required_size,
                })) = result
                {
                    output.resize(start + required_size, 0);
                    result = writer.encrypt(plain, &mut output[start..]);
                }
                let length = result.map_err(|error| other_tls(&error))?;
                output.truncate(start + length);
                done = true;
            }
            ConnectionState::EncodeTlsData(mut encode) => append_encoded(&mut encode, output),
            ConnectionState::TransmitTlsData(transmit) => transmit.done(),
            ConnectionState::ReadTraffic(mut traffic) => {
                while let Some(record) = traffic.next_record() {
                    let record = record.map_err(failed)?;
                    discard += record.discard;
                    surplus.extend_from_slice(record.payload);
                }
            }
            ConnectionState::PeerClosed => tls.closed = true,
            _ => return Err(FailureKind::Tls(TlsFailure::Closed)),
        }
        tls.received.drain(..discard);
        if done {
            tls.broken = false;
            return Ok(());
        }
    }
}

/// Appends TLS's own messages to `output`.
pub(crate) fn append_encoded(
    encode: &mut EncodeTlsData<'_, ClientConnectionData>,
    output: &mut Vec<u8>,
) {
    let start = output.len();
    output.resize(start + 1024, 0);
    let mut result = encode.encode(&mut output[start..]);
    if let Err(EncodeError::InsufficientSize(InsufficientSizeError { required_size })) = result {
        output.resize(start + required_size, 0);
        result = encode.encode(&mut output[start..]);
    }
    // The only other error is that the data was already encoded; then nothing remains to be sent.
    output.truncate(start + result.unwrap_or(0));
}

fn other_tls(error: &dyn std::fmt::Display) -> FailureKind {
    FailureKind::Tls(TlsFailure::Other(error.to_string().into()))
}
