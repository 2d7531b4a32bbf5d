//! The rules of `java.net.HttpURLConnection` for reading responses and keeping connections, where they differ from those of
//! HttpClient (`sun.net.www.http.HttpClient#parseHTTPHeader`, `KeepAliveCache`).

use std::rc::Rc;
use std::time::Duration;

use crate::failure::{Coded, DecodeFailure, Failure, FailureKind, Phase};
use crate::framing::{Chunked, Framing};
use crate::head::{Facts, Head, KeepAlive};

/// How long an idle connection is kept, unless the server announces another time.
const IDLE_TIME: Duration = Duration::from_secs(5);
/// The same for a proxy that asks to keep the connection.
const PROXY_IDLE_TIME: Duration = Duration::from_secs(60);

/// The first bytes of a stream are compared with a status line. A shorter stream counts as empty.
pub(crate) const SHORTEST_HEAD_BYTES: usize = 8;

/// The only status of an interim response. All others end the head.
pub(crate) const CONTINUE: u16 = 100;

/// Adds the trailers of a chunked body to the head.
pub(crate) fn add_trailers(head: &mut Head, trailers: &[u8]) {
    if !trailers.is_empty() {
        let fields = head.bytes.trim_ascii_end();
        head.bytes = [fields, b"\r\n", trailers, b"\r\n"].concat().into();
    }
}

/// Whether the response has no body, whatever its headers say.
fn is_bodiless(status: u16, is_head: bool) -> bool {
    is_head || matches!(status, 204 | 304)
}

/// How the body ends.
pub(crate) fn framing(status: u16, is_head: bool, facts: &Facts) -> Framing {
    if is_bodiless(status, is_head) {
        return Framing::None;
    }
    if facts.transfer_encoding.is_some_and(|t| t.only_chunked) {
        return Framing::Chunked(Chunked::with_trailers());
    }
    match facts.last_content_length.map(u64::try_from) {
        Some(Ok(expected)) => Framing::Length {
            expected,
            remaining: expected,
        },
        _ => Framing::UntilClose,
    }
}

/// How long the connection may be idle before it serves another exchange; `None` if it is closed. A value of `Connection` other
/// than `keep-alive` closes it.
pub(crate) fn idle_time(head: &Head, is_head: bool, by_proxy: bool) -> Option<Duration> {
    let facts = &head.facts;
    let asked = facts.proxy_connection.filter(|_| by_proxy);
    let asked = asked.or(facts.connection);
    let idle_time = match asked {
        Some(tokens) if tokens.only_keep_alive => {
            let KeepAlive {
                timeout_s,
                most_requests,
            } = facts.keep_alive;
            let usual = if by_proxy { PROXY_IDLE_TIME } else { IDLE_TIME };
            let stated = timeout_s.map(Duration::from_secs);
            let may_serve = most_requests.is_none_or(|most| most > 1);
            may_serve.then_some(stated.unwrap_or(usual))?
        }
        Some(_) => return None,
        None if head.version.1 == 0 => return None,
        None => IDLE_TIME,
    };
    let ends = !matches!(framing(head.status, is_head, facts), Framing::UntilClose);
    Some(idle_time).filter(|time| ends && !time.is_zero())
}

/// Whether the request is sent once more on a new connection, whatever its method: the connection broke before the whole head
/// of a response had arrived.
pub(crate) fn sends_again(failure: &Failure) -> bool {
    matches!(failure.phase, Phase::Write | Phase::Head)
        && matches!(
            failure.kind,
            FailureKind::ClosedBeforeResponse
                | FailureKind::Reset
                | FailureKind::BrokenPipe
                | FailureKind::Io(_)
        )
}

/// Whether the body is dropped because it does not begin as a gzip stream. `HTTPJavaImpl#readResponse` then asks for the body of a
/// failed response instead, which a success does not have.
pub(crate) fn drops_body(status: u16, kind: &FailureKind) -> bool {
    let begins_wrong = matches!(
        kind,
        FailureKind::Decode(
            DecodeFailure::NotGzip
                | DecodeFailure::UnexpectedEnd(Coded::GzipHeader)
                | DecodeFailure::Corrupt(Coded::GzipHeader, _)
        )
    );
    status < 400 && begins_wrong
}

/// The head of a response that does not begin with a status line.
pub(crate) fn head_of_unknown() -> Head {
    const TYPE: &[u8] = b"unknown/unknown";
    let bytes = [TYPE, b"\r\n\r\n"].concat();
    Head {
        status: 0,
        version: (1, 0),
        reason: 0..TYPE.len(),
        bytes: Rc::from(bytes),
        facts: Facts {
            content_type: Some(0..TYPE.len()),
            ..Facts::default()
        },
    }
}
