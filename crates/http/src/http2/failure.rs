//! Maps errors of `h2` to this crate's failures.

use crate::failure::{FailureKind, Http2Failure};

/// Classifies an error of `h2`.
pub(crate) fn kind(error: h2::Error) -> FailureKind {
    let code = error.reason().map(u32::from).unwrap_or(0);
    if error.is_io() {
        let is_end = |kind| {
            matches!(
                kind,
                std::io::ErrorKind::UnexpectedEof | std::io::ErrorKind::BrokenPipe
            )
        };
        return match error.into_io() {
            Some(error) if error.raw_os_error().is_none() && is_end(error.kind()) => {
                FailureKind::Http2(Http2Failure::Closed)
            }
            Some(error) => FailureKind::from_io(error),
            None => FailureKind::Http2(Http2Failure::Closed),
        };
    }
    FailureKind::Http2(if error.is_go_away() && error.is_remote() {
        Http2Failure::GoAway(code)
    } else if error.is_reset() && error.is_remote() {
        Http2Failure::Reset(code)
    } else {
        Http2Failure::Broken(code)
    })
}
