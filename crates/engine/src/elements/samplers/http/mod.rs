//! The sampler of HTTP: one sample, with its redirects and embedded resources (`HTTPSamplerBase#sample`, `HTTPHC4Impl`).
//!
//! | file | step |
//! |---|---|
//! | `decode.rs` | the plan's properties, merged with HTTP Request Defaults and managers in scope |
//! | `addresses.rs` | the address each sampler asked last |
//! | `call.rs` | the settings of one sample, evaluated |
//! | `calls.rs` | those that each sampler had last |
//! | `heads.rs` | the header fields that each sampler sent last |
//! | `reader.rs` | properties in the order of JMeter's reading, until a function throws |
//! | `edits.rs` | what pre-processors change in them for one sample |
//! | `request.rs` | one request: address, head, cookies, cache, body |
//! | `java.rs` | the same for the implementation `Java` |
//! | `file.rs` | the same for the protocol `file` |
//! | `transfer.rs` | the exchange, tried again if need be |
//! | `response.rs` | one response in the words of a sample |
//! | `redirects.rs`, `embedded.rs` | what follows a response |
//! | `proxy.rs`, `source.rs` | through which proxy and from which address |
//! | `version.rs` | HTTP/1.1 or HTTP/2 |
//! | `ports.rs` | what the log says when local ports run out |
//! | `state.rs` | what a user and a worker keep between samples |

mod addresses;
mod call;
mod calls;
mod decode;
pub mod edits;
mod embedded;
mod failure;
mod file;
mod heads;
pub mod hints;
mod java;
mod proxy;
mod reader;
mod redirects;
mod request;
mod response;
mod settings;
pub mod source;
mod state;
mod transfer;
mod version;

use std::sync::Arc;
use std::time::Instant;

use drumfire_expr::Template;
use drumfire_http::place_in;
use drumfire_results::{Kind, Sample, Text};
use drumfire_web::Exception;
use drumfire_web::cookies::Cookie;
use drumfire_web::property::Client;

pub use decode::{PARALLEL, decode, is_applicable};
pub use proxy::{GeneralProxy, ProxyChoice};
pub use settings::Settings;
pub use state::{open_slot, user, user_mut, worker};

use crate::elements::config::{
    AuthManager, CacheManager, CookieManager, DnsCacheManager, HeaderManager, Keystore,
};
use crate::run::context::Context;
use crate::run::needs::Needs;
use crate::run::request::{Request, SeenCookie};
use crate::run::sampler::{RequestView, Sampler, SamplerTurn};
use call::Call;
use proxy::ProxyTemplate;
use redirects::Nesting;
use source::SourceTemplate;
use version::Versions;

/// The address of a page that exists only as a list of frames.
const FRAMES_URL: &str = "http://parallel-urls-list";

/// A decoded HTTP Request.
pub struct HttpSampler {
    client: Client,
    /// Why there is no implementation of this name.
    unknown_client: Option<Exception>,
    versions: Versions,
    protocol: Template,
    domain: Template,
    port: Template,
    path: Template,
    method: Template,
    content_encoding: Template,
    arguments: Vec<ArgumentTemplate>,
    files: Vec<FileTemplate>,
    /// Header Managers in scope, the innermost first.
    headers: Vec<HeaderManager>,
    follow_redirects: bool,
    auto_redirects: bool,
    keep_alive: bool,
    multipart: bool,
    browser_compatible: bool,
    raw_body: bool,
    image_parser: bool,
    concurrent: bool,
    md5: bool,
    pool_size: Template,
    embedded_allow: Template,
    embedded_exclude: Template,
    connect_timeout: Template,
    response_timeout: Template,
    bytes_per_second: Template,
    proxy: Option<ProxyTemplate>,
    source: Option<SourceTemplate>,
    cookies: Option<Arc<CookieManager>>,
    cache: Option<Arc<CacheManager>>,
    auth: Option<Arc<AuthManager>>,
    dns: Option<Arc<DnsCacheManager>>,
    keystore: Option<Arc<Keystore>>,
    needs: Needs,
    settings: Arc<Settings>,
}

struct ArgumentTemplate {
    name: Template,
    value: Template,
    metadata: Template,
    content_type: Template,
    always_encode: bool,
}

struct FileTemplate {
    path: Template,
    param_name: Template,
    mime_type: Template,
}

/// Where an Access Log Sampler's requests go; its own properties say it, not the configuration around it.
pub struct Server {
    pub protocol: Template,
    pub domain: Template,
    pub port: Template,
    pub image_parser: bool,
}

impl HttpSampler {
    /// The sampler with another server.
    #[must_use]
    pub fn at(mut self, server: Server) -> HttpSampler {
        self.protocol = server.protocol;
        self.domain = server.domain;
        self.port = server.port;
        self.image_parser = server.image_parser;
        self
    }

    /// Code has had the sampler's headers in hands, in the object that it was given. In the only manager in scope they stay so;
    /// a merged copy of several lasts for the sample at hand. Gives whether they stay.
    fn keep_headers(
        &self,
        cx: &mut Context,
        before: &[(String, String)],
        after: &[(String, String)],
    ) -> bool {
        let [only] = &*self.headers else {
            return false;
        };
        user_mut(cx)
            .rare()
            .changed_headers
            .change(only, before, after);
        true
    }

    /// Where the sampler is in memory, as a name for it: the plan outlives its users and never moves.
    fn place(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// The Cookie Manager in scope.
    pub fn cookie_manager(&self) -> Option<&CookieManager> {
        self.cookies.as_deref()
    }

    /// What is caught only by `HTTPSamplerBase#sample()` has neither label nor address (`errorResult(e, new HTTPSampleResult())`).
    pub fn nameless(&self, cx: &Context, exception: &Exception) -> Box<Sample> {
        let mut sample = Box::new(Sample::new("".into(), cx.thread_name.clone()));
        sample.kind = Kind::Http;
        sample.start_ms = cx.clock().now_ms();
        failure::apply(&mut sample, exception, self.needs);
        sample.set_end(sample.start_ms);
        sample
    }

    /// `HTTPSamplerBase#sample()`.
    // Inlined, the future is made where it is to be, and not copied there.
    #[inline]
    pub async fn sample(&self, cx: &mut Context, name: &Template) -> Option<Box<Sample>> {
        self.begin(cx);
        let call = self.call(cx, name);
        self.run(cx, &call).await
    }

    /// The same with the label that `HTTPSamplerBase#toString` gives.
    pub async fn sample_under_address(
        &self,
        cx: &mut Context,
        name: &Template,
    ) -> Option<Box<Sample>> {
        self.begin(cx);
        let call = self.call(cx, name);
        let label = call.shown(self, &worker(cx).addresses);
        let mut sample = self.run(cx, &call).await?;
        sample.label = label.into();
        Some(sample)
    }

    fn begin(&self, cx: &mut Context) {
        user_mut(cx).note_use();
        match &self.dns {
            Some(dns) => dns.install(cx),
            None => user(cx).joint.session.set_resolver(None),
        }
    }

    /// One sample of several addresses, fetched as the frames of a page would be (`ParallelHTTPSampler#sample`).
    pub async fn sample_together(
        &self,
        cx: &mut Context,
        name: &Template,
        addresses: &[String],
    ) -> Option<Box<Sample>> {
        self.begin(cx);
        let call = self.call(cx, name);
        if let Some((exception, true)) = call.failure(self.client_of(&call)) {
            return Some(self.nameless(cx, &exception));
        }
        let frames: String = addresses
            .iter()
            .map(|address| format!("<iframe src='{address}'></iframe>\n"))
            .collect();
        // It gets its label in the end: its sub-results are named after none.
        let mut page = Sample::new("".into(), cx.thread_name.clone());
        page.kind = Kind::Http;
        page.success = true;
        page.method = Some(Text::Static("GET"));
        page.url = Some(FRAMES_URL.into());
        page.request_headers = Some("\n".into());
        let lines: String = addresses.iter().map(|url| format!("{url}\n")).collect();
        page.sampler_data = Some(lines.into());
        page.content_type = Some("text/html".into());
        page.response_data = Some(frames.into_bytes().into());
        page.start_ms = cx.clock().now_ms();
        let begin = Instant::now();
        let mut page = self.frames(cx, &call, page, Nesting::default()).await;
        if page.end_ms == 0 {
            page.set_end(cx.clock().now_ms());
        }
        let parts = page.children.len() as u64;
        page.refine_service(begin.elapsed().as_micros() as u64, parts);
        page.label = call.label.clone();
        Some(Box::new(page))
    }

    /// The implementation that JMeter takes for the call's address.
    fn client_of(&self, call: &Call<'_>) -> Client {
        if call.reads_files() {
            Client::File
        } else {
            self.client
        }
    }

    async fn run(&self, cx: &mut Context, call: &Call<'_>) -> Option<Box<Sample>> {
        if let Some((exception, true)) = call.failure(self.client_of(call)) {
            return Some(self.nameless(cx, &exception));
        }
        let url = match call.url(self, &worker(cx).addresses) {
            Ok(url) => url,
            Err(exception) => return Some(self.nameless(cx, &exception)),
        };
        if let Some(exception) = self.unknown_client.as_ref().filter(|_| !call.reads_files()) {
            let mut sample = self.nameless(cx, exception);
            sample.label = call.label.clone();
            return Some(sample);
        }
        let mut sample = self
            .fetch(cx, call, &url, &call.method, Nesting::default())
            .await?;
        let is_nameless = sample.label.is_empty() && sample.url.is_none();
        if !is_nameless {
            sample.label = call.label.clone();
        }
        Some(sample)
    }
}

impl Sampler for HttpSampler {
    fn turn<'a>(&'a self, cx: &'a mut Context, name: &'a Template) -> SamplerTurn<'a> {
        let room = cx.worker.room.futures.room();
        SamplerTurn::Placed(place_in(room, || self.sample(cx, name)))
    }

    fn as_request(&self) -> Option<&dyn RequestView> {
        Some(self)
    }
}

impl RequestView for HttpSampler {
    fn request(&self, cx: &mut Context, name: &Template) -> Request {
        let before = Call::unedited(self, cx, name).to_request(self, cx);
        if user(cx).edits.is_empty() {
            return before;
        }
        let mut after = before.clone();
        for edit in user_mut(cx).edits.take() {
            edit.apply(cx, &mut after);
        }
        user_mut(cx).edits.add(edits::Replaced {
            before,
            after: after.clone(),
        });
        after
    }

    fn change(&self, cx: &mut Context, before: Request, mut after: Request, in_place: bool) {
        let is_kept = in_place
            && before.headers != after.headers
            && self.keep_headers(cx, &before.headers, &after.headers);
        if is_kept {
            after.headers.clone_from(&before.headers);
        }
        if before != after {
            user_mut(cx).edits.add(edits::Replaced { before, after });
        }
    }

    fn cookies(&self, cx: &mut Context) -> Vec<SeenCookie> {
        let manager = self.cookie_manager();
        manager.map_or_else(Vec::new, |manager| manager.cookies(cx))
    }

    fn set_cookies(&self, cx: &mut Context, cookies: Option<Vec<Cookie>>) {
        if let Some(manager) = self.cookie_manager() {
            manager.replace(cx, cookies);
        }
    }
}
