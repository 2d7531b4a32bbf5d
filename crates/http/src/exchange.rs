//! One request and its response.

use crate::connect::open;
use crate::failure::Failure;
use crate::http1::over_http1;
use crate::http2::Streams;
#[cfg(feature = "http3")]
use crate::http3::Quic;
use crate::message::{ClientRules, Incoming, Limits, Outgoing, Times, WantedParts};
use crate::multiplex::over_shared;
use crate::session::Session;
use crate::target::Target;
use crate::url_connection;
use crate::version::HttpVersion;
use crate::worker::add;

/// Sends a request to `target` and receives the response.
///
/// Uses the session's most recently used idle connection to an equal target, or opens one. The
/// connection returns to the session if request and response allow it; it is closed after a
/// failure, and if the future is dropped.
///
/// Needs a current-thread tokio runtime with I/O and time enabled.
///
/// # Errors
/// See [`FailureKind`](crate::failure::FailureKind). All addresses of a name are tried until one accepts the connection. Nothing
/// else is retried by the rules of [`ClientRules::HttpClient`].
#[expect(
    clippy::manual_async_fn,
    reason = "an async function stores its arguments twice, in each user that waits"
)]
pub fn exchange<'a>(
    session: &'a Session,
    target: &'a Target,
    out: Outgoing<'a>,
    want: WantedParts,
    limits: Limits,
) -> impl Future<Output = Result<Box<Incoming>, Box<Failure>>> + 'a {
    async move {
        if target.version == HttpVersion::Http2 && (target.tls || target.proxy.is_none()) {
            let rooms = &session.worker().rooms;
            let mut place =
                rooms.place(|| over_shared::<Streams>(session, target, out, want, limits));
            let outcome = place.as_mut().await;
            rooms.take_place_back(place);
            return outcome;
        }
        #[cfg(feature = "http3")]
        if target.version == HttpVersion::Http3 && target.tls && target.proxy.is_none() {
            return Box::pin(over_shared::<Quic>(session, target, out, want, limits)).await;
        }
        let mut times = Times::starting(out.begin);
        let (connection, handshake, reused) = match session.take_idle(target, out.begin) {
            Some(connection) => {
                add(&session.worker().counts.reused, 1);
                (connection, None, true)
            }
            None => {
                let (connection, handshake) =
                    Box::pin(open(session, target, out.tunnel, limits, &mut times)).await?;
                (connection, handshake, false)
            }
        };
        let way = (connection, handshake, reused);
        match over_http1(session, way, &out, want, limits, &mut times).await {
            Err(failure)
                if target.rules == ClientRules::UrlConnection
                    && url_connection::sends_again(&failure) =>
            {
                Box::pin(over_new(session, target, &out, want, limits)).await
            }
            outcome => outcome,
        }
    }
}

/// Sends the request over a new connection.
async fn over_new(
    session: &Session,
    target: &Target,
    out: &Outgoing<'_>,
    want: WantedParts,
    limits: Limits,
) -> Result<Box<Incoming>, Box<Failure>> {
    let mut times = Times::starting(out.begin);
    let (connection, handshake) = open(session, target, out.tunnel, limits, &mut times).await?;
    let way = (connection, handshake, false);
    over_http1(session, way, out, want, limits, &mut times).await
}
