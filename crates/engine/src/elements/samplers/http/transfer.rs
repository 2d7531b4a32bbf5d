//! The exchange of a request: sends it, retries as the properties say, and aborts when the run is to stop.

use std::fs::File;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use drumfire_http::{
    Body as WireBody, BodyWatch, Decode, Failure, FailureKind, Incoming, Keep, Limits, Outgoing,
    Part, Phase, Session, Target, Tunnel, WantedParts, exchange,
};
use drumfire_java::Exception;
use drumfire_platform::files::open_regular;
use drumfire_web::body::{Body, BodyStretch, unreadable_file};
use drumfire_web::property::Client;
use recycle_box::RecycleBox;
use tokio::sync::Notify;

use super::call::HttpCall;
use super::proxy::JavaTunnel;
use super::request::Sending;
use super::settings::{HttpSettings, permit};
use super::state::user;
use crate::run::context::Context;
use crate::run::control::{Control, Stopping};
use crate::run::property::Flag;

/// How many bytes of a failed response are stored if nothing in the plan reads it: the report shows the first of each kind.
const KEPT_OF_FAILED_BYTES: u64 = 64 << 10;

/// Sends the requests of a sampler.
pub(super) struct Transfer {
    is_client: bool,
    want: WantedParts,
    retries: u32,
    retries_sent: bool,
    allowed_hosts: Option<Arc<[String]>>,
}

impl Transfer {
    /// `md5` stores a digest of bodies, `reads_bodies` stores bodies. If samples evaluate `md5`, bodies are stored whole, since
    /// JMeter evaluates it only when there is a body.
    pub fn new(
        client: Client,
        settings: &HttpSettings,
        md5: &Flag,
        reads_bodies: bool,
    ) -> Transfer {
        let keep = match (md5, reads_bodies, settings.max_bytes_to_store) {
            (Flag::Fixed(true), ..) => Keep::Md5,
            (Flag::Computed(_), ..) => Keep::All,
            (_, true, 0) => Keep::All,
            (_, true, most) => Keep::UpTo(most),
            (_, false, _) => Keep::Failed(KEPT_OF_FAILED_BYTES),
        };
        let is_decoded = !matches!(keep, Keep::Failed(_)) || settings.decode_unread;
        let is_client = client == Client::HttpClient;
        Transfer {
            is_client,
            want: WantedParts {
                keep,
                decode: match (is_decoded, client) {
                    (false, _) => Decode::Nothing,
                    (true, Client::Java | Client::OldJava | Client::AccessLog) => Decode::PlainGzip,
                    (true, _) => Decode::All,
                },
                relaxed: settings.relaxed,
                trailers: false,
                pieces: false,
            },
            retries: match client {
                Client::HttpClient => settings.retries,
                Client::Java | Client::OldJava => settings.java_retries,
                _ => 0,
            },
            retries_sent: settings.retries_sent,
            allowed_hosts: settings.allowed_hosts.clone(),
        }
    }

    /// The terms of every exchange of a sample.
    fn terms(&self, call: &HttpCall<'_>) -> Terms {
        Terms {
            want: self.want,
            limits: call.limits,
            retries: self.retries,
            retries_sent: self.retries_sent,
            is_client: self.is_client,
            allowed_hosts: self.allowed_hosts.clone(),
        }
    }

    /// Runs the exchange; aborts it when the run is told to stop now or a Sample Timeout expires.
    pub async fn send(
        &self,
        cx: &Context,
        call: &HttpCall<'_>,
        sending: &Sending,
    ) -> Result<Box<Incoming>, TransferFailure> {
        let begin = Instant::now();
        // Pin in place; moving it would copy a large future.
        let terms = self.terms(call);
        let exchange = pin!(transfer(&user(cx).joint.session, sending, &terms, begin));
        let outcome = match cx.attend(exchange).await {
            Some(outcome) => outcome,
            None => Err(TransferFailure::Interrupted(begin)),
        };
        if outcome.is_ok() && self.is_client {
            user(cx).keep_token();
        }
        outcome
    }

    /// The exchange as a future of its own, to run beside others.
    pub fn detached(
        &self,
        cx: &Context,
        call: &HttpCall<'_>,
        sending: RecycleBox<Sending>,
    ) -> impl Future<Output = (RecycleBox<Sending>, Result<Box<Incoming>, TransferFailure>)> + use<>
    {
        let joint = user(cx).joint.clone();
        let stop = StopSignal {
            notify: cx.worker.stop.clone(),
            control: cx.shared.control.clone(),
        };
        let terms = self.terms(call);
        async move {
            let begin = Instant::now();
            let outcome = tokio::select! {
                biased;
                outcome = transfer(&joint.session, &sending, &terms, begin) => outcome,
                () = stop.now() => Err(TransferFailure::Interrupted(begin)),
            };
            (sending, outcome)
        }
    }
}

/// How a request is sent, and which parts of its response are stored.
struct Terms {
    want: WantedParts,
    limits: Limits,
    retries: u32,
    retries_sent: bool,
    /// Whether the implementation is HttpClient4, otherwise Java.
    is_client: bool,
    /// The hosts that requests may go to; `None` allows all.
    allowed_hosts: Option<Arc<[String]>>,
}

impl Terms {
    /// Refuses a request to a host that is not allowed, as the first hop or as its target.
    fn permit(&self, target: &Target) -> Result<(), TransferFailure> {
        let allowed = self.allowed_hosts.as_deref();
        let proxy = target.proxy.as_ref().map(|proxy| &proxy.host);
        let mut hosts = [Some(&target.host), proxy].into_iter().flatten();
        let permitted = hosts.try_for_each(|host| permit(allowed, host));
        permitted.map_err(TransferFailure::Java)
    }
}

/// Resolves when the run is to stop now.
struct StopSignal {
    notify: Arc<Notify>,
    control: Control,
}

impl StopSignal {
    async fn now(&self) {
        loop {
            let stopped = self.notify.notified();
            if self.control.state() == Stopping::Now {
                return;
            }
            stopped.await;
        }
    }
}

async fn transfer(
    session: &Session,
    sending: &Sending,
    terms: &Terms,
    begin: Instant,
) -> Result<Box<Incoming>, TransferFailure> {
    terms.permit(&sending.target)?;
    let mut files = Vec::new();
    let parts = match &sending.body {
        Some(body) => match wire_parts(body, &mut files) {
            Ok(parts) => parts,
            Err(exception) => {
                return Err(Box::pin(unsent(session, sending, terms, begin, exception)).await);
            }
        },
        None => Vec::new(),
    };
    let body = match parts.as_slice() {
        [] => WireBody::None,
        [Part::Bytes(bytes)] => WireBody::Bytes(bytes),
        parts => WireBody::Parts(parts),
    };
    let mut want = terms.want;
    let watch = sending
        .watch
        .clone()
        .map(|watch| watch as Rc<dyn BodyWatch>);
    if watch.is_some() && want.decode == Decode::Nothing {
        want.decode = Decode::All;
    }
    let mut outgoing = Outgoing {
        head: &sending.head,
        body,
        is_head: sending.is_head,
        keep_alive: sending.keep_alive,
        expect_continue: None,
        tunnel: tunnel(sending),
        watch: watch.as_ref(),
        begin,
    };
    let mut tries = 0;
    loop {
        let trying = exchange(session, &sending.target, outgoing, want, terms.limits);
        match trying.await {
            Ok(mut incoming) => {
                incoming.times.begin = begin;
                if sending.target.tls && sending.target.proxy.is_some() {
                    // JMeter takes the time at which the proxy is connected.
                    incoming.times.connected = incoming.times.tcp_connected;
                }
                return Ok(incoming);
            }
            Err(failure) if tries < terms.retries && terms.tries_again(sending, &failure) => {
                tries += 1;
                outgoing.begin = Instant::now();
            }
            Err(mut failure) => {
                failure.times.begin = begin;
                return match failure.kind {
                    // The proxy's answer is the result (`TunnelRefusedException`).
                    FailureKind::ProxyRefused(mut refusal) if sending.access.is_some() => {
                        if let Some(access) = &sending.access {
                            access.mark_refused();
                        }
                        refusal.times.begin = begin;
                        refusal.times.connected = failure.times.tcp_connected;
                        Ok(refusal)
                    }
                    _ => Err(TransferFailure::Exchange(failure)),
                };
            }
        }
    }
}

/// The tunnel through the proxy, if there is a proxy.
fn tunnel(sending: &Sending) -> Option<&dyn Tunnel> {
    match &sending.access {
        Some(access) => Some(&**access),
        None => sending.target.proxy.as_ref().map(|_| &JavaTunnel as _),
    }
}

/// The failure of a body that cannot be sent. JMeter notices that only once it is connected, so this connects, but sends
/// nothing.
async fn unsent(
    session: &Session,
    sending: &Sending,
    terms: &Terms,
    begin: Instant,
    exception: Exception,
) -> TransferFailure {
    let Ok(nothing) = File::open(drumfire_platform::files::EMPTY) else {
        return TransferFailure::Java(exception);
    };
    let unreadable = [Part::File {
        file: &nothing,
        offset: 0,
        length: 1,
    }];
    let outgoing = Outgoing {
        head: &[],
        body: WireBody::Parts(&unreadable),
        is_head: false,
        keep_alive: false,
        expect_continue: None,
        tunnel: sending
            .access
            .as_ref()
            .map(|access| &**access as &dyn Tunnel),
        watch: None,
        begin,
    };
    let trying = exchange(session, &sending.target, outgoing, terms.want, terms.limits);
    match trying.await {
        Err(mut failure) if !matches!(failure.phase, Phase::Write | Phase::Head | Phase::Body) => {
            failure.times.begin = begin;
            TransferFailure::Exchange(failure)
        }
        _ => TransferFailure::Java(exception),
    }
}

/// Whether a retry may succeed: HttpClient4's, or otherwise that of the implementation Java, which retries only after a
/// `BindException` (`HTTPJavaImpl#sample`).
fn may_help(kind: &FailureKind, is_client: bool) -> bool {
    match kind {
        FailureKind::AddressNotAvailable => true,
        FailureKind::Reset
        | FailureKind::BrokenPipe
        | FailureKind::ClosedBeforeResponse
        | FailureKind::HostUnreachable
        | FailureKind::NetworkUnreachable
        | FailureKind::TooManyFiles
        | FailureKind::Io(_) => is_client,
        _ => false,
    }
}

impl Terms {
    /// `StandardHttpRequestRetryHandler`: no retry after failures that make it pointless (a timeout, a refusal, an unknown
    /// host, TLS), nor of a request that was sent completely, unless its method is idempotent.
    fn tries_again(&self, sending: &Sending, failure: &Failure) -> bool {
        const IDEMPOTENT: [&str; 6] = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"];
        if !self.is_client {
            return may_help(&failure.kind, false);
        }
        let method = sending.method.to_ascii_uppercase();
        may_help(&failure.kind, true)
            && failure.phase != Phase::Body
            && (IDEMPOTENT.contains(&method.as_str())
                || failure.times.sent.is_none()
                || self.retries_sent)
    }
}

/// Why there is no response.
pub enum TransferFailure {
    Exchange(Box<Failure>),
    Java(Exception),
    /// The run was told to stop now, or a Sample Timeout expired; holds the time at which the exchange began.
    Interrupted(Instant),
}

impl TransferFailure {
    /// The failed exchange, with its times and sizes as far as it got.
    pub(super) fn failed_exchange(&self) -> Option<&Failure> {
        match self {
            TransferFailure::Exchange(failure) => Some(failure),
            _ => None,
        }
    }
}

fn wire_parts<'b>(body: &'b Body, files: &'b mut Vec<File>) -> Result<Vec<Part<'b>>, Exception> {
    if let Some(exception) = &body.unsendable {
        return Err(exception.clone());
    }
    for part in &body.parts {
        if let BodyStretch::File { path, .. } = part {
            files.push(open_regular(path).map_err(|error| unreadable_file(path, &error))?);
        }
    }
    let mut opened = files.iter();
    let parts = body.parts.iter().filter_map(|part| match part {
        BodyStretch::Bytes(bytes) => Some(Part::Bytes(bytes)),
        BodyStretch::Shared(text) => Some(Part::Bytes(text.as_bytes())),
        BodyStretch::File { len, .. } => opened.next().map(|file| Part::File {
            file,
            offset: 0,
            length: *len,
        }),
    });
    Ok(parts.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_implementation_java_tries_again_only_where_no_port_is_free() {
        let tried = |is_client| {
            let kinds = [
                FailureKind::AddressNotAvailable,
                FailureKind::Reset,
                FailureKind::Refused,
            ];
            kinds.map(|kind| may_help(&kind, is_client))
        };
        assert_eq!(tried(true), [true, true, false]);
        assert_eq!(tried(false), [true, false, false]);
    }
}
