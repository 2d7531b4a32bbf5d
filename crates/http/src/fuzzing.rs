//! The entry points of the fuzz targets of this crate; only built with `--cfg fuzzing`.

pub use crate::http2::fuzzing::{frames, header_block};

use crate::failure::{DecodeFailure, FailureKind};
use crate::message::{SizeLimits, WantedParts};
use crate::receive::Receiver;

/// Reads a response and returns its status, head and body as text, or its failure.
///
/// The bytes arrive in pieces of `piece_bytes`; the connection is closed after the last one.
pub fn response(bytes: &[u8], piece_bytes: usize) -> String {
    match receive(bytes, piece_bytes) {
        Ok(receiver) => {
            let head = receiver
                .head
                .as_ref()
                .map(|head| (head.status, &head.bytes));
            let kept = receiver.leaves_connection_usable(false);
            format!("{head:?} {kept} {:?}", receiver.body.stored)
        }
        // The decompressor's message depends on the number of bytes that it had available.
        Err(FailureKind::Decode(DecodeFailure::Corrupt(..))) => "corrupt".to_owned(),
        Err(kind) => format!("{kind:?}"),
    }
}

fn receive(bytes: &[u8], piece_bytes: usize) -> Result<Receiver, FailureKind> {
    let mut receiver = Receiver::new(WantedParts::ALL, false, SizeLimits::default());
    for piece in bytes.chunks(piece_bytes) {
        if receiver.is_done() {
            return Ok(receiver);
        }
        receiver.push(piece)?;
        finish_turns(&mut receiver)?;
    }
    if !receiver.is_done() {
        receiver.end_of_stream()?;
        finish_turns(&mut receiver)?;
    }
    Ok(receiver)
}

/// Runs all decoding turns without yielding, since there are no other users.
fn finish_turns(receiver: &mut Receiver) -> Result<(), FailureKind> {
    while receiver.is_due() {
        receiver.next_turn()?;
    }
    Ok(())
}
