//! One request, from its address to the bytes on the wire, and its exchange (`HTTPHC4Impl#sample`).

use std::rc::Rc;
use std::sync::Arc;

use drumfire_http::{Decode, Identity, Incoming, Keep, Target, Want};
use drumfire_results::{Kind, Sample, Text};
use drumfire_web::Exception;
use drumfire_web::auth::{self, Negotiation};
use drumfire_web::body::Body;
use drumfire_web::cache::Entry;
use drumfire_web::charset::decode_latin1;
use drumfire_web::headers::{DEFAULT_USER_AGENT, Header, RequestHead};
use drumfire_web::property::Client;
use drumfire_web::redirect::{auto_redirect, auto_redirect_failure, circular_redirect};
use drumfire_web::url::{Url, Wire};
use recycle_box::RecycleBox;

use super::call::Call;
use super::heads::{Differing, Given};
use super::proxy::{ProxyAccess, ProxyChoice};
use super::redirects::Nesting;
use super::transfer::Trouble;
use super::{HttpSampler, failure};
use crate::run::context::Context;

/// What is kept of a failed response that nothing in the plan reads: the report shows the first of each kind.
const KEPT_OF_FAILED_BYTES: u64 = 64 << 10;

/// A request that is ready to be sent.
pub(super) struct Sending {
    pub sample: Box<Sample>,
    pub url: Url,
    pub method: Text,
    pub target: Rc<Target>,
    pub head: Vec<u8>,
    pub body: Option<Body>,
    pub is_head: bool,
    pub keep_alive: bool,
    /// The request headers as the sample shows them, where somebody reads them.
    pub head_text: Option<String>,
    /// The same without what only later requests need, to be repeated with another `Authorization`.
    pub(super) authorization: Option<Negotiation>,
    /// The client that talks to the proxy, if there is one; never with the implementation Java.
    pub(super) access: Option<Rc<ProxyAccess>>,
}

/// Where a request goes, and how.
#[derive(Clone, Copy)]
struct Destination<'d> {
    url: &'d Url,
    wire: &'d Wire<'d>,
    method: &'d str,
    /// It follows a redirect.
    following: bool,
}

/// A request as it is to be sent.
struct Draft {
    target: Rc<Target>,
    head: Vec<u8>,
    keep_alive: bool,
    body: Option<Body>,
    head_text: Option<String>,
    authorization: Option<Negotiation>,
}

/// What comes of preparing a request.
pub(super) enum Prepared {
    /// Nothing is sent: a failure, or a resource that is still fresh (then perhaps without a sample).
    Done(Option<Box<Sample>>),
    Send(RecycleBox<Sending>),
}

/// What earlier responses left for a request: the validators of a cached one, and cookies.
pub(super) struct Remembered {
    cached: Option<Entry>,
    cookies: Option<String>,
}

impl Remembered {
    pub(super) fn add_to<'r>(&'r self, head: &mut RequestHead<'r>) {
        if let Some(entry) = &self.cached {
            head.conditional(entry.last_modified.as_deref(), entry.etag.as_deref());
        }
        head.cookies(self.cookies.as_deref());
    }

    /// What a sample says of the cookies it sent.
    pub(super) fn shown_in(&self, head: &RequestHead<'_>) -> Rc<str> {
        head.cookie_text(self.cookies.as_deref()).into()
    }
}

impl HttpSampler {
    /// One request and what follows it.
    pub(super) async fn fetch(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        url: &Url,
        method: &str,
        nesting: Nesting,
    ) -> Option<Box<Sample>> {
        if call.reads_files() && url.protocol() == "file" {
            return Box::pin(self.fetch_file(cx, call, url, nesting)).await;
        }
        let sending = match self.prepare(cx, call, url, method, nesting) {
            Prepared::Done(sample) => return sample,
            Prepared::Send(sending) => sending,
        };
        let outcome = self.send(cx, call, &sending).await;
        self.complete(cx, call, sending, outcome, nesting).await
    }

    /// All that happens before the first byte is sent.
    pub(super) fn prepare(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        url: &Url,
        method: &str,
        nesting: Nesting,
    ) -> Prepared {
        let sample = Sample::new(call.label.clone(), cx.thread_name.clone());
        let mut sample = cx.worker.room.sample(sample);
        sample.kind = Kind::Http;
        let method_text = method_text(method);
        sample.method = Some(method_text.clone());
        sample.url = Some(url.text());
        if !self.settings.rename_children {
            sample.label = url.text();
        }
        let built = if let Some((exception, _)) = call.failure(self.client) {
            Err((sample, exception))
        } else if let Err(exception) = self.identity(cx, url.is_secure()) {
            Err((sample, exception))
        } else if self.client == Client::HttpClient {
            self.build(cx, call, url, method_text, nesting.is_redirect, sample)
        } else {
            self.build_java(cx, call, url, method_text, nesting.is_redirect, sample)
        };
        match built {
            Ok(prepared) => prepared,
            Err((_, exception))
                if self.client != Client::HttpClient && exception.is_unchecked() =>
            {
                Prepared::Done(Some(self.nameless(cx, &exception)))
            }
            Err((mut sample, exception)) => {
                sample.start_ms = cx.clock().now_ms();
                sample.set_end(sample.start_ms);
                failure::apply(&mut sample, &exception, self.needs);
                Prepared::Done(Some(sample))
            }
        }
    }

    fn build(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        url: &Url,
        method: Text,
        following: bool,
        mut sample: Box<Sample>,
    ) -> Result<Prepared, (Box<Sample>, Exception)> {
        let access = self.access(cx, call, url);
        super::user(cx).reset_if_needed(access.as_deref());
        let wire = match url.wire() {
            Ok(wire) => wire,
            Err(exception) => {
                // Cookies are looked for before the client looks at the address.
                let is_uri = exception.class != "java.net.URISyntaxException";
                let cookies = self.cookies.as_ref().filter(|_| is_uri);
                let blank = cookies.and_then(|_| url.cookie_origin().err());
                return Err((sample, blank.unwrap_or(exception)));
            }
        };
        if let Some(exception) = &call.source_failure {
            return Err((sample, exception.clone()));
        }
        let to = Destination {
            url,
            wire: &wire,
            method: &method,
            following,
        };
        let draft = match self.may_repeat(access.as_ref()) {
            true => self.repeat(cx, call, to).map(Some),
            false => self.draft(cx, call, to, access.as_deref(), &mut sample),
        };
        let draft = match draft {
            Ok(Some(draft)) => draft,
            Ok(None) => return Ok(Prepared::Done(self.fresh(sample, cx.clock().now_ms()))),
            Err(exception) => return Err((sample, exception)),
        };
        Ok(Prepared::Send(cx.worker.room.request(Sending {
            sample,
            url: url.clone(),
            is_head: method.eq_ignore_ascii_case("HEAD"),
            method,
            target: draft.target,
            head: draft.head,
            keep_alive: draft.keep_alive,
            body: draft.body,
            head_text: draft.head_text,
            authorization: draft.authorization,
            access,
        })))
    }

    /// Whether the fields of the head are always made of the same few things, see [`Given`].
    fn may_repeat(&self, access: Option<&Rc<ProxyAccess>>) -> bool {
        access.is_none() && self.cache.is_none() && self.auth.is_none() && !self.shows_request()
    }

    /// A request whose fields are likely those of the sampler's last one.
    fn repeat(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        to: Destination<'_>,
    ) -> Result<Draft, Exception> {
        let Destination { url, wire, .. } = to;
        let cookies = self.cookies.as_ref();
        let cookies = cookies.and_then(|cookies| cookies.header(cx, url));
        let is_type = |header: &&Header<'_>| header.name.eq_ignore_ascii_case("Content-Type");
        let content_type = call.headers.iter().find(is_type);
        let body = self.body(cx, call, to, content_type.map(|header| &*header.value))?;
        let target = self.target(cx, call, url, wire);
        let given = Given {
            secure: wire.secure,
            host: &wire.host_header,
            headers: &call.headers,
            content_type: body.as_ref().map(|body| &body.content_type),
        };
        let differing = Differing {
            method: to.method,
            target: &wire.target,
            cookies: cookies.as_deref(),
            length: body.as_ref().map_or(0, |body| body.len),
        };
        let (heads, mut head) = (&super::worker(cx).heads, cx.worker.room.head());
        let keep_alive = match heads.append(self, &given, differing, &mut head) {
            Some(keep_alive) => keep_alive,
            None if heads.learns(self, &given) => {
                let slots = self.slots(url, &given)?;
                heads.learn(self, &given, &slots, differing, &mut head)
            }
            None => {
                let mut fields = RequestHead::new(url, self.keep_alive, given.headers);
                fields.cookies(differing.cookies);
                if let Some(body) = &body {
                    fields.body(body)?;
                }
                fields.finish(given.host, false, self.user_agent());
                fields.append(differing.method, differing.target, &mut head);
                !fields.asks_to_close()
            }
        };
        Ok(Draft {
            target,
            head,
            keep_alive,
            body,
            head_text: None,
            authorization: None,
        })
    }

    /// The head of such a request, with slots for cookies and length.
    fn slots<'h>(&self, url: &Url, given: &Given<'h>) -> Result<RequestHead<'h>, Exception> {
        let mut head = RequestHead::new(url, self.keep_alive, given.headers);
        if self.cookies.is_some() {
            head.cookie_slot();
        }
        if let Some(content_type) = given.content_type {
            head.body_slot(content_type)?;
        }
        head.finish(given.host, false, self.user_agent());
        Ok(head)
    }

    /// A request in full; `None` if there is a fresh answer to it.
    fn draft(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        to: Destination<'_>,
        access: Option<&ProxyAccess>,
        sample: &mut Sample,
    ) -> Result<Option<Draft>, Exception> {
        let Destination {
            url, wire, method, ..
        } = to;
        let mut head = RequestHead::new(url, self.keep_alive, &call.headers);
        let remembered = self.remembered(cx, url, &head);
        remembered.add_to(&mut head);
        if self.needs.request {
            sample.cookies = Some(remembered.shown_in(&head));
        }
        if self.has_fresh(cx, url, method, &head) {
            return Ok(None);
        }
        let body = self.body(cx, call, to, head.first("Content-Type"))?;
        if let Some(body) = &body {
            if self.needs.request {
                sample.query_string = Some(body.shown().into());
            }
            head.body(body)?;
        }
        let mut authorization = self.negotiation(cx, url, access);
        let target = self.target(cx, call, url, wire);
        let line = RequestLine::new(method, url, wire, &target);
        let value = authorization
            .as_mut()
            .and_then(|negotiation| negotiation.header(&line.authorized(), || nonce(cx)));
        line.finish(&mut head, wire, self.user_agent(), value, access);
        let bytes = line.bytes(&head, cx.worker.room.head());
        let (head_text, keep_alive) = (
            self.shows_request().then(|| head.text()),
            !head.asks_to_close(),
        );
        drop(head);
        Ok(Some(Draft {
            target,
            head: bytes,
            keep_alive,
            body,
            head_text,
            authorization,
        }))
    }

    /// Whether the Cache Manager has an answer that needs no request.
    pub(super) fn has_fresh(
        &self,
        cx: &mut Context,
        url: &Url,
        method: &str,
        head: &RequestHead,
    ) -> bool {
        method.eq_ignore_ascii_case("GET")
            && self
                .cache
                .as_ref()
                .is_some_and(|cache| cache.is_fresh(cx, url, head))
    }

    /// What earlier responses left for this request.
    pub(super) fn remembered(
        &self,
        cx: &mut Context,
        url: &Url,
        head: &RequestHead<'_>,
    ) -> Remembered {
        Remembered {
            cached: self
                .cache
                .as_ref()
                .and_then(|cache| cache.validators(cx, url, head)),
            cookies: self
                .cookies
                .as_ref()
                .and_then(|cookies| cookies.header(cx, url)),
        }
    }

    /// The body, with a boundary from the user's random numbers where it has parts.
    fn body(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        to: Destination<'_>,
        content_type: Option<&str>,
    ) -> Result<Option<Body>, Exception> {
        let (arguments, files) = (call.arguments(), call.files());
        let spec = call.body_spec(self, to.method, &arguments, &files, to.following);
        spec.build(content_type, |bound| {
            drumfire_expr::Scope::random(cx).below(u64::from(bound)) as u32
        })
    }

    fn user_agent(&self) -> Option<&'static str> {
        self.settings.user_agent.then_some(DEFAULT_USER_AGENT)
    }

    /// What is known of the authorization before the request, if there is an Authorization Manager.
    fn negotiation(
        &self,
        cx: &mut Context,
        url: &Url,
        access: Option<&ProxyAccess>,
    ) -> Option<Negotiation> {
        let rows = self.auth.as_ref()?.rows(cx);
        let preemptive = self.settings.preemptive_auth;
        if let Some(access) = access.filter(|_| preemptive && auth::find(&rows, url).is_none()) {
            access.lose_credentials();
        }
        Some(Negotiation::begin(
            &mut super::user_mut(cx).rare().credentials,
            &rows,
            url,
            preemptive,
        ))
    }

    /// The proxy of a request: the sampler's own, else the one of the properties.
    fn proxy<'c>(&'c self, call: &'c Call<'_>, url: &Url) -> Option<&'c Arc<ProxyChoice>> {
        let general = || {
            let general = &self.settings.proxy;
            if self.client == Client::HttpClient {
                general.for_client(url.host())
            } else {
                general.for_java(url.host(), url.is_secure())
            }
        };
        call.proxy.as_ref().or_else(general)
    }

    /// The user's client for this address and proxy; `None` without a proxy.
    fn access(&self, cx: &mut Context, call: &Call<'_>, url: &Url) -> Option<Rc<ProxyAccess>> {
        let choice = self.proxy(call, url)?;
        let secure = url.is_secure();
        let authority = match url.port() {
            Some(port) => format!("{}:{port}", url.host()),
            None => url.host().to_owned(),
        };
        let worker = cx.worker.clone();
        let make = || {
            let preemptive = self.settings.preemptive_auth;
            let (agent, random) = (self.user_agent(), worker.new_random());
            ProxyAccess::new(choice, secure, &authority, agent, preemptive, random)
        };
        Some(
            super::user_mut(cx)
                .rare()
                .proxies
                .get(choice, secure, &authority, make),
        )
    }

    /// Where the connection leads.
    pub(super) fn target(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        url: &Url,
        wire: &Wire<'_>,
    ) -> Rc<Target> {
        let proxy = self.proxy(call, url);
        let version = self.versions.of(wire.secure);
        if proxy.is_none() && call.source.is_none() && (self.keystore.is_none() || !wire.secure) {
            return super::user_mut(cx).plain_target(
                wire.connect_host,
                wire.connect_port,
                wire.secure,
                version,
            );
        }
        let mut target = Target::new(wire.connect_host, wire.connect_port, wire.secure);
        target.version = version;
        target.proxy = proxy.map(|choice| choice.proxy.clone());
        if self.client == Client::HttpClient {
            target.source = call.source.clone();
        }
        // A certificate that is missing has ended the sample before.
        target.identity = self.identity(cx, wire.secure).unwrap_or_default();
        super::user_mut(cx).target(target)
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
    pub(super) fn fresh(&self, mut sample: Box<Sample>, now_ms: i64) -> Option<Box<Sample>> {
        sample.start_ms = now_ms;
        let (code, message) = self.settings.cached_mode.status()?;
        sample.code = code.to_owned().into();
        sample.message = message.to_owned().into();
        sample.success = true;
        sample.set_end(now_ms);
        Some(sample)
    }

    /// What is kept of the body.
    pub(super) fn want(&self) -> Want {
        let keep = if self.md5 {
            Keep::Md5
        } else if self.needs.body || self.image_parser {
            match self.settings.max_bytes_to_store {
                0 => Keep::All,
                most => Keep::UpTo(most),
            }
        } else {
            Keep::Failed(KEPT_OF_FAILED_BYTES)
        };
        let read = !matches!(keep, Keep::Failed(_)) || self.settings.decode_unread;
        Want {
            keep,
            decode: match (read, self.client) {
                (false, _) => Decode::Nothing,
                (true, Client::Java | Client::OldJava | Client::AccessLog) => Decode::PlainGzip,
                (true, _) => Decode::All,
            },
            relaxed: self.settings.relaxed,
        }
    }

    /// Repeats a request that was answered with a challenge, and follows what HttpClient itself follows.
    pub(super) async fn settle(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        sending: &mut Sending,
        incoming: Box<Incoming>,
    ) -> Result<Box<Incoming>, Trouble> {
        if self.client != Client::HttpClient {
            return match self.auto_redirects {
                true => self.settle_java(cx, call, sending, incoming).await,
                false => Ok(incoming),
            };
        }
        let mut incoming = incoming;
        let mut visited = vec![sending.url.clone()];
        loop {
            let again = match incoming.status {
                401 => self.answer_challenge(cx, call, sending, &incoming)?,
                407 => self.answer_proxy(cx, call, sending, &incoming),
                _ => false,
            };
            if again {
                incoming = self.send(cx, call, sending).await?;
                continue;
            }
            if !self.auto_redirects {
                return Ok(incoming);
            }
            let location = incoming
                .header("Location")
                .map(|value| decode_latin1(value).into_owned());
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
            .map(|(_, value)| decode_latin1(value).into_owned())
            .collect();
        let known = &super::user_mut(cx).rare().credentials;
        if !negotiation.challenged(known, challenges.iter().map(String::as_str)) {
            return Ok(false);
        }
        let (url, method) = (sending.url.clone(), sending.method.clone());
        let wire = url.wire().map_err(Trouble::Java)?;
        let line = RequestLine::new(&method, &url, &wire, &sending.target);
        let value = negotiation.header(&line.authorized(), || nonce(cx));
        let next = Next {
            url: &url,
            method: &method,
            body: sending.body.take(),
        };
        self.rewrite(cx, call, sending, next, value);
        sending.authorization = Some(negotiation);
        Ok(true)
    }

    /// Answers a proxy's wish for credentials, if there are any.
    fn answer_proxy(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        sending: &mut Sending,
        incoming: &Incoming,
    ) -> bool {
        let access = sending.access.clone();
        if sending.target.tls || !access.is_some_and(|access| access.answers(incoming)) {
            return false;
        }
        let (url, method) = (sending.url.clone(), sending.method.clone());
        let line = url.wire().map(|wire| {
            let line = RequestLine::new(&method, &url, &wire, &sending.target);
            let negotiation = sending.authorization.as_mut();
            negotiation.and_then(|negotiation| negotiation.header(&line.authorized(), || nonce(cx)))
        });
        let next = Next {
            url: &url,
            method: &method,
            body: sending.body.take(),
        };
        self.rewrite(cx, call, sending, next, line.unwrap_or_default());
        true
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
        url.wire().map_err(Trouble::Java)?;
        sending.access = self.access(cx, call, url);
        let next = Next { url, method, body };
        self.rewrite(cx, call, sending, next, None);
        sending.url = url.clone();
        sending.method = method_text(method);
        sending.is_head = method.eq_ignore_ascii_case("HEAD");
        Ok(())
    }

    /// Makes the head of a follow-up request within the same sample.
    fn rewrite(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        sending: &mut Sending,
        next: Next<'_>,
        authorization: Option<String>,
    ) {
        let Ok(wire) = next.url.wire() else { return };
        let mut head = RequestHead::new(next.url, self.keep_alive, &call.headers);
        let cookies = self
            .cookies
            .as_ref()
            .and_then(|cookies| cookies.header(cx, &sending.url));
        head.cookies(cookies.as_deref());
        if let Some(body) = &next.body {
            // It was sent before with the same headers, so they fit.
            let _ = head.body(body);
        }
        sending.target = self.target(cx, call, next.url, &wire);
        let line = RequestLine::new(next.method, next.url, &wire, &sending.target);
        let (agent, access) = (self.user_agent(), sending.access.as_deref());
        line.finish(&mut head, &wire, agent, authorization, access);
        sending.head = line.bytes(&head, cx.worker.room.head());
        if let Some(text) = &mut sending.head_text {
            *text = head.text();
        }
        drop(head);
        sending.body = next.body;
    }
}

/// A follow-up request.
struct Next<'n> {
    url: &'n Url,
    method: &'n str,
    body: Option<Body>,
}

/// The first line of a request, and what depends on it.
struct RequestLine<'l> {
    method: &'l str,
    /// The path, or the whole address where the request itself goes to a proxy.
    target: &'l str,
    by_proxy: bool,
}

impl<'l> RequestLine<'l> {
    fn new(method: &'l str, url: &'l Url, wire: &'l Wire<'_>, target: &Target) -> Self {
        let by_proxy = target.proxy.is_some() && !wire.secure;
        RequestLine {
            method,
            target: if by_proxy { url.as_str() } else { &wire.target },
            by_proxy,
        }
    }

    /// What authorization is computed from.
    fn authorized(&self) -> auth::Request<'l> {
        auth::Request {
            method: self.method,
            target: self.target,
            entity: None,
        }
    }

    /// The headers that HttpClient adds last.
    fn finish<'h>(
        &self,
        head: &mut RequestHead<'h>,
        wire: &'h Wire<'_>,
        user_agent: Option<&'static str>,
        authorization: Option<String>,
        access: Option<&ProxyAccess>,
    ) {
        head.finish(&wire.host_header, self.by_proxy, user_agent);
        if let Some(value) = authorization {
            head.authorization(value);
        }
        let access = access.filter(|_| self.by_proxy);
        if let Some(value) = access.and_then(|access| access.header(self.method, self.target)) {
            head.proxy_authorization(value);
        }
    }

    /// The bytes of the head, in `room`.
    fn bytes(&self, head: &RequestHead<'_>, mut room: Vec<u8>) -> Vec<u8> {
        head.append(self.method, self.target, &mut room);
        room
    }
}

/// The methods that occur need no allocation.
pub(super) fn method_text(method: &str) -> Text {
    const KNOWN: [&str; 7] = ["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS"];
    match KNOWN.into_iter().find(|known| *known == method) {
        Some(known) => Text::Static(known),
        None => method.to_owned().into(),
    }
}

fn nonce(cx: &mut Context) -> [u8; 8] {
    drumfire_expr::Scope::random(cx).next_u64().to_ne_bytes()
}
