//! One request, from its address to the bytes on the wire (`HTTPHC4Impl#setupRequest`).

use std::rc::Rc;
use std::sync::Arc;

use drumfire_http::{ClientRules, Identity, Target};
use drumfire_java::Exception;
use drumfire_results::{Sample, SharedText};
use drumfire_web::auth::{self, Negotiation};
use drumfire_web::body::Body;
use drumfire_web::cache::CachedResponse;
use drumfire_web::headers::{DEFAULT_USER_AGENT, RequestHead};
use drumfire_web::property::Client;
use drumfire_web::url::{Url, WireAddress};
use recycle_box::RecycleBox;

use super::cache::{Differing, Given};
use super::call::HttpCall;
use super::proxy::{ProxyAccess, ProxyChoice, ProxyClient};
use super::settings::HttpSettings;
use super::state::{user, user_mut, worker};
use super::version::Versions;
use crate::elements::config::auth_manager::AuthManager;
use crate::elements::config::cache_manager::CacheManager;
use crate::elements::config::cookie_manager::CookieManager;
use crate::elements::config::keystore_config::Keystore;
use crate::elements::samplers::stream::StreamWatch;
use crate::run::context::Context;
use crate::run::needs::Needs;

/// A request that is ready to be sent.
pub(super) struct Sending {
    pub sample: Box<Sample>,
    pub url: Url,
    pub method: SharedText,
    pub target: Rc<Target>,
    pub head: Vec<u8>,
    pub body: Option<Body>,
    pub is_head: bool,
    pub keep_alive: bool,
    /// The request headers as the sample shows them, if something reads them.
    pub head_text: Option<String>,
    /// The state of the authorization, to repeat the request after a challenge.
    /// Boxed, since few requests have one and each user that waits holds this.
    pub(super) authorization: Option<Box<Negotiation>>,
    /// The client that talks to the proxy, if there is one; never with the implementation Java.
    pub(super) access: Option<Rc<ProxyAccess>>,
    /// How many tickets the proxy got.
    pub(super) proxy_tickets: u8,
    /// The observer of a response that is a stream.
    pub(super) watch: Option<Rc<StreamWatch>>,
}

/// Where a request goes, and how.
#[derive(Clone, Copy)]
struct Destination<'d> {
    url: &'d Url,
    wire: &'d WireAddress<'d>,
    method: &'d str,
    /// Whether it follows a redirect.
    following: bool,
}

/// A request as it is to be sent.
struct Draft {
    target: Rc<Target>,
    head: Vec<u8>,
    keep_alive: bool,
    body: Option<Body>,
    head_text: Option<String>,
    authorization: Option<Box<Negotiation>>,
}

/// The outcome of preparing a request.
pub(super) enum Prepared {
    /// Nothing is sent: a failure, or a resource that is still fresh (then perhaps without a sample).
    Done(Option<Box<Sample>>),
    Send(RecycleBox<Sending>),
}

/// Data of earlier responses for a request: the validators of a cached response, and cookies.
pub(super) struct Remembered {
    cached: Option<CachedResponse>,
    cookies: Option<String>,
}

impl Remembered {
    pub(super) fn add_to<'r>(&'r self, head: &mut RequestHead<'r>) {
        if let Some(entry) = &self.cached {
            head.conditional(entry.last_modified.as_deref(), entry.etag.as_deref());
        }
        head.cookies(self.cookies.as_deref());
    }

    /// The cookies of the request, as the sample shows them.
    pub(super) fn shown_in(&self, head: &RequestHead<'_>) -> Rc<str> {
        head.cookie_text(self.cookies.as_deref()).into()
    }
}

/// Makes the requests of a sampler.
pub(super) struct RequestBuilder {
    pub client: Client,
    pub versions: Versions,
    pub cookies: Option<Arc<CookieManager>>,
    pub cache: Option<Arc<CacheManager>>,
    pub auth: Option<Arc<AuthManager>>,
    pub keystore: Option<Arc<Keystore>>,
    pub needs: Needs,
    /// Whether the request headers of the samples are read: by an assertion or a file, by the cache, or for the user agent that
    /// embedded resources depend on.
    pub shows_request: bool,
    pub settings: Arc<HttpSettings>,
}

impl RequestBuilder {
    pub fn build(
        &self,
        cx: &mut Context,
        call: &HttpCall<'_>,
        url: &Url,
        method: SharedText,
        following: bool,
        mut sample: Box<Sample>,
    ) -> Result<Prepared, (Box<Sample>, Exception)> {
        let access = self.access(cx, call, url);
        user(cx).reset_if_needed(access.as_deref());
        let wire = match url.wire() {
            Ok(wire) => wire,
            Err(exception) => {
                // JMeter looks up the cookies before its client checks the address.
                let is_uri = exception.class != "java.net.URISyntaxException";
                let cookies = self.cookies.as_ref().filter(|_| is_uri);
                let blank = cookies.and_then(|_| url.cookie_origin().err());
                return Err((sample, blank.unwrap_or(exception)));
            }
        };
        if let Some(exception) = &call.route_failure {
            return Err((sample, exception.clone()));
        }
        let to = Destination {
            url,
            wire: &wire,
            method: &method,
            following,
        };
        let draft = if self.may_repeat(access.as_ref()) {
            self.repeat(cx, call, to).map(Some)
        } else {
            self.draft(cx, call, to, access.as_deref(), &mut sample)
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
            proxy_tickets: 0,
            watch: None,
        })))
    }

    /// Whether the header fields depend on nothing else but what [`Given`] says.
    fn may_repeat(&self, access: Option<&Rc<ProxyAccess>>) -> bool {
        access.is_none() && self.cache.is_none() && self.auth.is_none() && !self.shows_request
    }

    /// Drafts a request whose header fields are likely those of the sampler's last one.
    fn repeat(
        &self,
        cx: &mut Context,
        call: &HttpCall<'_>,
        to: Destination<'_>,
    ) -> Result<Draft, Exception> {
        let Destination { url, wire, .. } = to;
        let cookies = self
            .cookies
            .as_ref()
            .and_then(|cookies| cookies.header(cx, url));
        let content_type = call
            .headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case("Content-Type"));
        let body = self.body(cx, call, to, content_type.map(|header| &*header.value))?;
        let target = self.target(cx, call, url, wire);
        let given = Given {
            secure: wire.secure,
            host: &wire.host_header,
            keep_alive: call.keep_alive,
            headers: &call.headers,
            content_type: body.as_ref().map(|body| &body.content_type),
        };
        let differing = Differing {
            method: to.method,
            target: &wire.target,
            cookies: cookies.as_deref(),
            length: body.as_ref().map(|body| body.len).unwrap_or(0),
        };
        let (cache, mut head) = (&worker(cx).cache, cx.worker.room.head());
        let keep_alive = match cache.append_head(call.key, &given, differing, &mut head) {
            Some(keep_alive) => keep_alive,
            None if cache.learns_head(call.key, &given) => {
                let slots = self.slots(url, &given)?;
                cache.keep_head(call.key, &given, &slots, differing, &mut head)
            }
            None => {
                let mut fields = RequestHead::new(url, given.keep_alive, given.headers);
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
        let mut head = RequestHead::new(url, given.keep_alive, given.headers);
        if self.cookies.is_some() {
            head.cookie_slot();
        }
        if let Some(content_type) = given.content_type {
            head.body_slot(content_type)?;
        }
        head.finish(given.host, false, self.user_agent());
        Ok(head)
    }

    /// Drafts a request with all its header fields; `None` if the Cache Manager has a fresh response to it.
    fn draft(
        &self,
        cx: &mut Context,
        call: &HttpCall<'_>,
        to: Destination<'_>,
        access: Option<&ProxyAccess>,
        sample: &mut Sample,
    ) -> Result<Option<Draft>, Exception> {
        let Destination {
            url, wire, method, ..
        } = to;
        let mut head = RequestHead::new(url, call.keep_alive, &call.headers);
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
        let mut authorization = self.negotiation(cx, url, access)?;
        let target = self.target(cx, call, url, wire);
        let line = RequestLine::new(method, url, wire, &target);
        let authorized = self.authorized(cx, &line);
        let value = authorization
            .as_mut()
            .and_then(|negotiation| negotiation.header(&authorized, || nonce(cx)));
        line.finish(&mut head, wire, self.user_agent(), value, access);
        let bytes = line.bytes(&head, cx.worker.room.head());
        let (head_text, keep_alive) = (
            self.shows_request.then(|| head.text()),
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

    /// The validators and cookies that earlier responses left for this request.
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

    /// The body. Multipart bodies have a boundary from the user's random numbers.
    fn body(
        &self,
        cx: &mut Context,
        call: &HttpCall<'_>,
        to: Destination<'_>,
        content_type: Option<&str>,
    ) -> Result<Option<Body>, Exception> {
        let (arguments, files) = (call.arguments(), call.files());
        let spec = call.body_spec(to.method, &arguments, &files, to.following);
        spec.build(content_type, |bound| {
            drumfire_expr::Scope::random(cx).below(u64::from(bound)) as u32
        })
    }

    fn user_agent(&self) -> Option<&'static str> {
        self.settings.user_agent.then_some(DEFAULT_USER_AGENT)
    }

    /// The request as the authorization needs it.
    pub(super) fn authorized<'r>(
        &'r self,
        cx: &Context,
        line: &RequestLine<'r>,
    ) -> auth::AuthRequest<'r> {
        auth::AuthRequest {
            method: line.method,
            target: line.target,
            entity: None,
            workstation: &self.settings.workstation,
            now_ms: cx.clock().now_ms().unsigned_abs(),
        }
    }

    /// The authorization as known before the request, if there is an Authorization Manager.
    fn negotiation(
        &self,
        cx: &mut Context,
        url: &Url,
        access: Option<&ProxyAccess>,
    ) -> Result<Option<Box<Negotiation>>, Exception> {
        let Some(auth) = &self.auth else {
            return Ok(None);
        };
        let rows = auth.rows(cx);
        let preemptive = self.settings.preemptive_auth;
        let row = auth::find(&rows, url);
        if let Some(Err(unknown)) = row.map(|row| &row.mechanism) {
            return Err(unknown.clone());
        }
        if let Some(access) = access.filter(|_| preemptive && row.is_none()) {
            access.lose_credentials();
        }
        let credentials = &mut user_mut(cx).rare().credentials;
        let negotiation = Negotiation::begin(credentials, &rows, url, preemptive);
        Ok(Some(Box::new(negotiation)))
    }

    /// The proxy of a request: the sampler's own, else the one of the properties.
    fn proxy<'c>(&'c self, call: &'c HttpCall<'_>, url: &Url) -> Option<&'c Arc<ProxyChoice>> {
        call.proxy.as_ref().or_else(|| {
            let general = &self.settings.proxy;
            if self.client == Client::HttpClient {
                general.for_client(url.host())
            } else {
                general.for_java(url.host(), url.is_secure())
            }
        })
    }

    /// The user's client for this address and proxy; `None` without a proxy.
    pub(super) fn access(
        &self,
        cx: &mut Context,
        call: &HttpCall<'_>,
        url: &Url,
    ) -> Option<Rc<ProxyAccess>> {
        let choice = self.proxy(call, url)?;
        let secure = url.is_secure();
        let authority = match url.port() {
            Some(port) => format!("{}:{port}", url.host()),
            None => url.host().to_owned(),
        };
        let (worker, clock) = (cx.worker.clone(), cx.clock());
        let make = || {
            let client = ProxyClient {
                user_agent: self.user_agent(),
                preemptive: self.settings.preemptive_auth,
                workstation: self.settings.workstation.clone(),
                clock,
            };
            ProxyAccess::new(choice, secure, &authority, client, worker.new_random())
        };
        Some(
            user_mut(cx)
                .rare()
                .proxies
                .get(choice, secure, &authority, make),
        )
    }

    /// The target of the connection.
    pub(super) fn target(
        &self,
        cx: &mut Context,
        call: &HttpCall<'_>,
        url: &Url,
        wire: &WireAddress<'_>,
    ) -> Rc<Target> {
        let proxy = self.proxy(call, url);
        let version = self.versions.of(wire.secure);
        let rules = match self.client {
            Client::HttpClient | Client::File => ClientRules::HttpClient,
            Client::Java | Client::OldJava | Client::AccessLog => ClientRules::UrlConnection,
        };
        if proxy.is_none() && call.source.is_none() && (self.keystore.is_none() || !wire.secure) {
            return user_mut(cx).plain_target(
                wire.connect_host,
                wire.connect_port,
                wire.secure,
                version,
                rules,
            );
        }
        let mut target = Target::new(wire.connect_host, wire.connect_port, wire.secure);
        target.version = version;
        target.rules = rules;
        target.proxy = proxy.map(|choice| choice.proxy.clone());
        if self.client == Client::HttpClient {
            target.source = call.source.clone();
        }
        // If the certificate is missing, the sample has already failed.
        target.identity = self.identity(cx, wire.secure).unwrap_or_default();
        user_mut(cx).target(target)
    }

    /// The certificate that the user presents if it is asked for one.
    pub(super) fn identity(
        &self,
        cx: &mut Context,
        secure: bool,
    ) -> Result<Option<Arc<Identity>>, Exception> {
        self.keystore
            .as_ref()
            .filter(|_| secure)
            .map(|keystore| keystore.identity(cx))
            .transpose()
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

    /// Makes the head of a follow-up request within the same sample.
    pub(super) fn rewrite(
        &self,
        cx: &mut Context,
        call: &HttpCall<'_>,
        sending: &mut Sending,
        next: Next<'_>,
        authorization: Option<String>,
    ) {
        let Ok(wire) = next.url.wire() else { return };
        let mut head = RequestHead::new(next.url, call.keep_alive, &call.headers);
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
        self.trace(cx, sending);
    }

    /// Adds the `traceparent` of the sample that is under way, if requests are traced.
    pub(super) fn trace(&self, cx: &Context, sending: &mut Sending) {
        if let Some(tracing) = &self.settings.tracing
            && let Some(current) = user(cx).trace()
        {
            let ids = &worker(cx).trace_ids;
            let shown = sending.head_text.as_mut();
            let trace = tracing.stamp(current, ids, &mut sending.head, shown);
            sending.sample.trace.get_or_insert_with(|| Box::new(trace));
        }
    }
}

/// A follow-up request.
pub(super) struct Next<'n> {
    pub url: &'n Url,
    pub method: &'n str,
    pub body: Option<Body>,
}

/// The first line of a request, and the settings that depend on it.
pub(super) struct RequestLine<'l> {
    method: &'l str,
    /// The path, or the whole address if the request itself goes to a proxy.
    target: &'l str,
    by_proxy: bool,
}

impl<'l> RequestLine<'l> {
    pub fn new(method: &'l str, url: &'l Url, wire: &'l WireAddress<'_>, target: &Target) -> Self {
        let by_proxy = target.proxy.is_some() && !wire.secure;
        RequestLine {
            method,
            target: if by_proxy { url.as_str() } else { &wire.target },
            by_proxy,
        }
    }

    /// The headers that HttpClient adds last.
    fn finish<'h>(
        &self,
        head: &mut RequestHead<'h>,
        wire: &'h WireAddress<'_>,
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

/// The method as a text; common methods need no allocation.
pub(super) fn method_text(method: &str) -> SharedText {
    const KNOWN: [&str; 7] = ["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS"];
    match KNOWN.into_iter().find(|known| *known == method) {
        Some(known) => SharedText::Static(known),
        None => method.to_owned().into(),
    }
}

pub(super) fn nonce(cx: &mut Context) -> [u8; 8] {
    drumfire_expr::Scope::random(cx).next_u64().to_ne_bytes()
}
