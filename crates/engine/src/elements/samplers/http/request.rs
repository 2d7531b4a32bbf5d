//! One request, from its address to the bytes on the wire, and its exchange (`HTTPHC4Impl#sample`).

use std::fs::File;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use drumfire_http::{
    Body as WireBody, Identity, Incoming, Keep, Limits, Outgoing, Part as WirePart, Session,
    Target, Want, exchange,
};
use drumfire_results::{Kind, Sample};
use drumfire_web::Exception;
use drumfire_web::auth::{self, Negotiation};
use drumfire_web::body::{Body, Part, unreadable_file};
use drumfire_web::headers::{DEFAULT_USER_AGENT, RequestHead};
use drumfire_web::redirect::{auto_redirect, auto_redirect_failure, circular_redirect};
use drumfire_web::trace::{Client, Place};
use drumfire_web::url::{Url, Wire};

use super::call::Call;
use super::{HttpSampler, failure};
use crate::context::Context;
use crate::control::{Control, Stopping};
use tokio::sync::Notify;

/// A request that is ready to be sent.
pub(super) struct Sending {
    pub sample: Sample,
    pub url: Url,
    pub method: String,
    pub target: Rc<Target>,
    pub head: Vec<u8>,
    pub body: Option<Body>,
    pub is_head: bool,
    pub keep_alive: bool,
    /// The request headers as the sample shows them, where somebody reads them.
    pub head_text: Option<String>,
    /// The same without what only later requests need, to be repeated with another `Authorization`.
    pub(super) authorization: Option<Negotiation>,
}

/// What comes of preparing a request.
pub(super) enum Prepared {
    /// Nothing is sent: a failure, or a resource that is still fresh (then perhaps without a sample).
    Done(Option<Box<Sample>>),
    Send(Box<Sending>),
}

impl HttpSampler {
    /// One request and what follows it.
    pub(super) async fn fetch(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        url: &Url,
        method: &str,
        place: &Place<'_>,
    ) -> Option<Sample> {
        if call.reads_files() && url.protocol() == "file" {
            return self.fetch_file(cx, call, url, place).await;
        }
        let sending = match self.prepare(cx, call, url, method, place) {
            Prepared::Done(sample) => return sample.map(|sample| *sample),
            Prepared::Send(sending) => sending,
        };
        let outcome = self.send(cx, call, &sending).await;
        self.complete(cx, call, sending, outcome, place).await
    }

    /// All that happens before the first byte is sent.
    pub(super) fn prepare(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        url: &Url,
        method: &str,
        place: &Place<'_>,
    ) -> Prepared {
        let mut sample = Sample::new(call.label.clone(), cx.thread_name.clone());
        sample.kind = Kind::Http;
        sample.method = Some(method.to_owned().into());
        sample.url = Some(url.as_str().into());
        if !self.settings.rename_children {
            sample.label = url.as_str().into();
        }
        let built = if let Err(exception) = self.identity(cx, url.is_secure()) {
            Err((Box::new(sample), exception))
        } else if self.client == Client::HttpClient {
            cx.http.reset_if_needed();
            self.build(cx, call, url, method, place.is_redirect(), sample)
        } else {
            self.build_java(cx, call, url, method, place.is_redirect(), sample)
        };
        match built {
            Ok(prepared) => prepared,
            Err((mut sample, exception)) => {
                sample.start_ms = cx.clock().now_ms();
                sample.set_end(sample.start_ms);
                failure::apply(&mut sample, &exception, place, self.needs);
                Prepared::Done(Some(sample))
            }
        }
    }

    fn build(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        url: &Url,
        method: &str,
        following: bool,
        mut sample: Sample,
    ) -> Result<Prepared, (Box<Sample>, Exception)> {
        let fail = |sample: Sample, exception| Err((Box::new(sample), exception));
        let wire = match url.wire() {
            Ok(wire) => wire,
            Err(exception) => return fail(sample, exception),
        };
        let mut head = RequestHead::new(url, self.keep_alive, &call.headers);
        let cached = self
            .cache
            .as_ref()
            .and_then(|cache| cache.validators(cx, url, &head));
        if let Some(entry) = &cached {
            head.conditional(entry.last_modified.as_deref(), entry.etag.as_deref());
        }
        let cookies = self
            .cookies
            .as_ref()
            .and_then(|cookies| cookies.header(cx, url));
        head.cookies(cookies.as_deref());
        if self.needs.request {
            sample.cookies = Some(head.cookie_text(cookies.as_deref()).into());
        }
        if method.eq_ignore_ascii_case("GET")
            && let Some(cache) = &self.cache
            && cache.is_fresh(cx, url, &head)
        {
            sample.start_ms = cx.clock().now_ms();
            return Ok(Prepared::Done(self.fresh(sample)));
        }
        let (arguments, files) = (call.arguments(), call.files());
        let spec = call.body_spec(self, method, &arguments, &files, following);
        let body = match spec.build(head.first("Content-Type"), |bound| {
            drumfire_expr::Scope::random(cx).below(u64::from(bound)) as u32
        }) {
            Ok(body) => body,
            Err(exception) => return fail(sample, exception),
        };
        if let Some(body) = &body {
            if self.needs.request {
                sample.query_string = Some(body.shown().into());
            }
            if let Err(exception) = head.body(body) {
                return fail(sample, exception);
            }
        }
        head.finish(
            &wire.host_header,
            self.settings.user_agent.then_some(DEFAULT_USER_AGENT),
        );
        let mut authorization = self.auth.as_ref().map(|auth| {
            let rows = auth.rows(cx);
            Negotiation::begin(
                &mut cx.http.credentials,
                &rows,
                url,
                self.settings.preemptive_auth,
            )
        });
        if let Some(negotiation) = &mut authorization {
            let request = auth::Request {
                method,
                target: &wire.target,
                entity: None,
            };
            if let Some(value) = negotiation.header(&request, || nonce(cx)) {
                head.authorization(value);
            }
        }
        let target = self.target(cx, call, &wire);
        let through_proxy = target.proxy.is_some() && !wire.secure;
        let mut bytes = Vec::with_capacity(256);
        if through_proxy {
            head.append(method, url.as_str(), &mut bytes);
        } else {
            head.append(method, &wire.target, &mut bytes);
        }
        let head_text = self.shows_request().then(|| {
            let mut text = String::new();
            head.append_text(&mut text);
            text
        });
        let keep_alive = !head.asks_to_close();
        Ok(Prepared::Send(Box::new(Sending {
            sample,
            url: url.clone(),
            method: method.to_owned(),
            target,
            head: bytes,
            is_head: method.eq_ignore_ascii_case("HEAD"),
            body,
            keep_alive,
            head_text,
            authorization,
        })))
    }

    /// Where the connection leads.
    pub(super) fn target(&self, cx: &mut Context, call: &Call<'_>, wire: &Wire<'_>) -> Rc<Target> {
        let proxy = call
            .proxy
            .clone()
            .or_else(|| self.settings.proxy.as_ref()?.for_host(wire.connect_host));
        if proxy.is_none() && call.source.is_none() && (self.keystore.is_none() || !wire.secure) {
            return cx
                .http
                .plain_target(wire.connect_host, wire.connect_port, wire.secure);
        }
        let mut target = Target::new(wire.connect_host, wire.connect_port, wire.secure);
        target.proxy = proxy;
        target.source = call.source;
        // A certificate that is missing has ended the sample before.
        target.identity = self.identity(cx, wire.secure).unwrap_or_default();
        cx.http.target(target)
    }

    /// The certificate that the user shows if it is asked for one.
    fn identity(&self, cx: &mut Context, secure: bool) -> Result<Option<Arc<Identity>>, Exception> {
        self.keystore
            .as_ref()
            .filter(|_| secure)
            .map(|keystore| keystore.identity(cx))
            .transpose()
    }

    /// Whether the request headers of this sampler are read: by an assertion or a file, by the cache, or for the user agent
    /// that embedded resources depend on.
    pub(super) fn shows_request(&self) -> bool {
        self.needs.request || self.cache.is_some() || self.image_parser
    }

    /// `HTTPAbstractImpl#updateSampleResultForResourceInCache`.
    pub(super) fn fresh(&self, mut sample: Sample) -> Option<Box<Sample>> {
        let (code, message) = self.settings.cached_mode.status()?;
        sample.code = code.to_owned().into();
        sample.message = message.to_owned().into();
        sample.success = true;
        sample.set_end(sample.start_ms);
        Some(Box::new(sample))
    }

    /// The exchange itself, broken off when the run is told to stop now or a Sample Timeout is over.
    pub(super) async fn send(
        &self,
        cx: &Context,
        call: &Call<'_>,
        sending: &Sending,
    ) -> Result<Incoming, Trouble> {
        let begin = Instant::now();
        let exchange = transfer(&cx.http.session, sending, self.want(), call.limits);
        match cx.attend(exchange).await {
            Some(outcome) => outcome,
            None => Err(Trouble::Interrupted(begin)),
        }
    }

    /// The exchange as a future of its own, to run beside others.
    pub(super) fn detached(
        &self,
        cx: &Context,
        call: &Call<'_>,
        sending: Box<Sending>,
    ) -> impl Future<Output = (Box<Sending>, Result<Incoming, Trouble>)> + use<> {
        let session = cx.http.session.clone();
        let stop = Stop {
            notify: cx.worker.stop.clone(),
            control: cx.shared.control.clone(),
        };
        let (want, limits) = (self.want(), call.limits);
        async move {
            let begin = Instant::now();
            let outcome = tokio::select! {
                biased;
                outcome = transfer(&session, &sending, want, limits) => outcome,
                () = stop.now() => Err(Trouble::Interrupted(begin)),
            };
            (sending, outcome)
        }
    }

    /// What is kept of the body.
    fn want(&self) -> Want {
        let keep = if self.md5 {
            Keep::Md5
        } else if self.needs.body || self.image_parser {
            match self.settings.max_bytes_to_store {
                0 => Keep::All,
                most => Keep::UpTo(most),
            }
        } else {
            Keep::Nothing
        };
        let read = keep != Keep::Nothing;
        Want {
            keep,
            decode: read,
            decode_relaxed: self.settings.deflate_relaxed,
        }
    }

    /// Repeats a request that was answered with a challenge, and follows what HttpClient itself follows.
    pub(super) async fn settle(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        sending: &mut Sending,
        incoming: Incoming,
    ) -> Result<Incoming, Trouble> {
        let mut incoming = incoming;
        let mut visited = vec![sending.url.clone()];
        loop {
            if incoming.status == 401 && self.answer_challenge(cx, call, sending, &incoming)? {
                incoming = self.send(cx, call, sending).await?;
                continue;
            }
            if !self.auto_redirects {
                return Ok(incoming);
            }
            let location = incoming
                .header("Location")
                .map(|value| String::from_utf8_lossy(value).into_owned());
            let redirect = auto_redirect(
                incoming.status,
                &sending.method,
                &sending.url,
                location.as_deref(),
            )
            .map_err(Trouble::Java)?;
            let Some(redirect) = redirect else {
                return Ok(incoming);
            };
            if visited.contains(&redirect.url) {
                return Err(Trouble::Java(circular_redirect(&redirect.url)));
            }
            if visited.len() > self.settings.max_redirects as usize {
                return Err(Trouble::Java(auto_redirect_failure()));
            }
            visited.push(redirect.url.clone());
            self.redirect_request(
                cx,
                call,
                sending,
                &redirect.url,
                &redirect.method,
                redirect.same_request,
            )?;
            incoming = self.send(cx, call, sending).await?;
        }
    }

    fn answer_challenge(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        sending: &mut Sending,
        incoming: &Incoming,
    ) -> Result<bool, Trouble> {
        let Some(mut negotiation) = sending.authorization.take() else {
            return Ok(false);
        };
        let challenges: Vec<String> = incoming
            .headers()
            .filter(|(name, _)| name.eq_ignore_ascii_case(b"WWW-Authenticate"))
            .map(|(_, value)| String::from_utf8_lossy(value).into_owned())
            .collect();
        if !negotiation.challenged(&cx.http.credentials, challenges.iter().map(String::as_str)) {
            return Ok(false);
        }
        let (url, method) = (sending.url.clone(), sending.method.clone());
        let target = url.wire().map_err(Trouble::Java)?.target.into_owned();
        let request = auth::Request {
            method: &method,
            target: &target,
            entity: None,
        };
        let value = negotiation.header(&request, || nonce(cx));
        let body = sending.body.take();
        self.rewrite(cx, call, sending, &url, &method, body, value);
        sending.authorization = Some(negotiation);
        Ok(true)
    }

    fn redirect_request(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        sending: &mut Sending,
        url: &Url,
        method: &str,
        same: bool,
    ) -> Result<(), Trouble> {
        let body = if same { sending.body.take() } else { None };
        if self.client == Client::HttpClient {
            url.wire().map_err(Trouble::Java)?;
            self.rewrite(cx, call, sending, url, method, body, None);
        } else {
            self.rewrite_java(cx, call, sending, url, method, body);
        }
        sending.url = url.clone();
        sending.sample.url = Some(url.as_str().into());
        method.clone_into(&mut sending.method);
        sending.is_head = method.eq_ignore_ascii_case("HEAD");
        Ok(())
    }

    /// Makes the head of a follow-up request within the same sample.
    #[expect(
        clippy::too_many_arguments,
        reason = "each is one part of the request line or head"
    )]
    fn rewrite(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        sending: &mut Sending,
        url: &Url,
        method: &str,
        body: Option<Body>,
        authorization: Option<String>,
    ) {
        let Ok(wire) = url.wire() else { return };
        let mut head = RequestHead::new(url, self.keep_alive, &call.headers);
        let cookies = self
            .cookies
            .as_ref()
            .and_then(|cookies| cookies.header(cx, &sending.url));
        head.cookies(cookies.as_deref());
        if let Some(body) = &body {
            // It was sent before with the same headers, so they fit.
            let _ = head.body(body);
        }
        head.finish(
            &wire.host_header,
            self.settings.user_agent.then_some(DEFAULT_USER_AGENT),
        );
        if let Some(value) = authorization {
            head.authorization(value);
        }
        sending.head.clear();
        head.append(method, &wire.target, &mut sending.head);
        sending.target = self.target(cx, call, &wire);
        if let Some(text) = &mut sending.head_text {
            text.clear();
            head.append_text(text);
        }
        drop(head);
        sending.body = body;
    }
}

/// Told when the run is to stop now.
struct Stop {
    notify: Arc<Notify>,
    control: Control,
}

impl Stop {
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
    want: Want,
    limits: Limits,
) -> Result<Incoming, Trouble> {
    let mut files = Vec::new();
    let parts = match &sending.body {
        Some(body) => wire_parts(body, &mut files).map_err(Trouble::Java)?,
        None => Vec::new(),
    };
    let body = match parts.as_slice() {
        [] => WireBody::None,
        [WirePart::Bytes(bytes)] => WireBody::Bytes(bytes),
        parts => WireBody::Parts(parts),
    };
    let outgoing = Outgoing {
        head: &sending.head,
        body,
        is_head: sending.is_head,
        keep_alive: sending.keep_alive,
        expect_continue: None,
    };
    exchange(session, &sending.target, outgoing, want, limits)
        .await
        .map_err(Trouble::Exchange)
}

/// Why there is no response.
pub(super) enum Trouble {
    Exchange(Box<drumfire_http::Failure>),
    Java(Exception),
    /// The run was told to stop now, or a Sample Timeout was over; when the exchange began.
    Interrupted(Instant),
}

impl Trouble {
    /// The times and sizes of the part that happened.
    pub(super) fn failed_exchange(&self) -> Option<&drumfire_http::Failure> {
        match self {
            Trouble::Exchange(failure) => Some(failure),
            _ => None,
        }
    }
}

fn wire_parts<'b>(
    body: &'b Body,
    files: &'b mut Vec<File>,
) -> Result<Vec<WirePart<'b>>, Exception> {
    for part in &body.parts {
        if let Part::File { path, .. } = part {
            files.push(
                File::open(path)
                    .map_err(|error| unreadable_file(path, &error, body.parts.len() > 1))?,
            );
        }
    }
    let mut opened = files.iter();
    let parts = body.parts.iter().filter_map(|part| match part {
        Part::Bytes(bytes) => Some(WirePart::Bytes(bytes)),
        Part::File { len, .. } => opened.next().map(|file| WirePart::File {
            file,
            offset: 0,
            length: *len,
        }),
    });
    Ok(parts.collect())
}

fn nonce(cx: &mut Context) -> [u8; 8] {
    drumfire_expr::Scope::random(cx).next_u64().to_ne_bytes()
}
