//! The decoded sampler: evaluates the settings of a sample, or finds them in the worker's cache, and fetches.

use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use drumfire_expr::{Scope, Template};
use drumfire_http::place_in;
use drumfire_java::{Exception, file_server};
use drumfire_results::{Sample, SampleKind, SharedText};
use drumfire_web::cookies::Cookie;
use drumfire_web::property::Client;
use drumfire_web::url::Url;

use super::cache::Cached;
use super::call::HttpCall;
use super::edits::Replaced;
use super::embedded::Resources;
use super::failure;
use super::fetch::Fetch;
use super::redirects::Nesting;
use super::request::RequestBuilder;
use super::response::ResponseReader;
use super::state::{user, user_mut, worker};
use super::template::RequestTemplate;
use super::transfer::Transfer;
use crate::elements::config::cookie_manager::CookieManager;
use crate::elements::config::dns_cache_manager::DnsCacheManager;
use crate::elements::samplers::stream::StreamTemplate;
use crate::run::context::Context;
use crate::run::needs::Needs;
use crate::run::request::{Request, SeenCookie};
use crate::run::sampler::{RequestView, Sampler, SamplerTurn};

/// The address of a page that exists only as a list of frames.
const FRAMES_URL: &str = "http://parallel-urls-list";

/// A decoded HTTP Request.
pub struct HttpSampler {
    pub(super) template: RequestTemplate,
    /// Why there is no implementation of this name.
    pub(super) unknown_client: Option<Exception>,
    pub(super) request: RequestBuilder,
    pub(super) transfer: Transfer,
    pub(super) reader: ResponseReader,
    pub(super) resources: Resources,
    pub(super) stream: Option<StreamTemplate>,
    pub(super) dns: Option<Arc<DnsCacheManager>>,
    pub(super) needs: Needs,
}

/// The settings of a sample. They are large and held during the whole sample, so they are behind a pointer.
pub(super) enum Held<'s> {
    Known(Rc<HttpCall<'static>>),
    Own(Box<HttpCall<'s>>),
}

impl<'s> Deref for Held<'s> {
    type Target = HttpCall<'s>;

    fn deref(&self) -> &HttpCall<'s> {
        match self {
            Held::Known(call) => call,
            Held::Own(call) => call,
        }
    }
}

impl HttpSampler {
    /// The sample of a failure that only `HTTPSamplerBase#sample()` catches.
    pub fn nameless(&self, cx: &Context, exception: &Exception) -> Box<Sample> {
        failure::nameless(cx, exception, self.needs)
    }

    fn fetch<'f>(&'f self, call: &'f HttpCall<'f>) -> Fetch<'f> {
        Fetch {
            call,
            template: &self.template,
            request: &self.request,
            transfer: &self.transfer,
            reader: &self.reader,
            resources: &self.resources,
            stream: self.stream.as_ref(),
            needs: self.needs,
        }
    }

    fn url(&self, cx: &Context, call: &HttpCall<'_>) -> Result<Url, Exception> {
        call.url(|target| worker(cx).cache.address(call.key, target))
    }

    /// The settings of the next sample, with what pre-processors change in them.
    pub(super) fn call(&self, cx: &mut Context, name: &Template) -> Held<'_> {
        if !user(cx).edits.is_empty() {
            let mut call = Box::new(self.template.evaluate(cx, name));
            self.edit(cx, &mut call);
            return Held::Own(call);
        }
        if user(cx).has_changed_headers() {
            return Held::Own(Box::new(self.template.evaluate(cx, name)));
        }
        let version = match worker(cx).cache.settings(self.template.key(), cx) {
            Cached::Hit(call) => return Held::Known(call),
            Cached::Rejected => return Held::Own(Box::new(self.template.evaluate(cx, name))),
            Cached::Miss => cx.properties().version(),
        };
        let call = Box::new(self.template.evaluate(cx, name));
        worker(cx)
            .cache
            .keep_settings(cx, version, &call, || self.template.ingredients(name));
        Held::Own(call)
    }

    /// The settings as pre-processors and scripts see them.
    fn to_request(&self, cx: &mut Context, call: &HttpCall<'_>) -> Request {
        let cookies = self.cookie_manager();
        let policy = cookies.and_then(|manager| manager.policy(cx));
        call.to_request(!self.template.headers.is_empty(), policy.map(str::to_owned))
    }

    /// Applies the changes that pre-processors ask for. Scripts that run after the sample still see them.
    fn edit(&self, cx: &mut Context, call: &mut HttpCall<'_>) {
        let mut request = self.to_request(cx, call);
        let before = (!cx.shared.program.java.is_empty()).then(|| request.clone());
        for edit in user_mut(cx).edits.take() {
            edit.apply(cx.random(), &mut request);
        }
        if let Some(before) = before {
            let after = request.clone();
            user_mut(cx).edits.add(Replaced { before, after });
        }
        call.replace(request, |path| file_server::resolve(path, cx.base_dir()));
    }

    /// Records a script's changes to the sampler's headers. With a single manager in scope they persist; with several, the
    /// headers are a merged copy, which lasts for the current sample. Returns whether they persist.
    fn keep_headers(
        &self,
        cx: &mut Context,
        before: &[(String, String)],
        after: &[(String, String)],
    ) -> bool {
        let [only] = &*self.template.headers else {
            return false;
        };
        user_mut(cx)
            .rare()
            .changed_headers
            .change(only, before, after);
        true
    }

    /// The Cookie Manager in scope.
    pub fn cookie_manager(&self) -> Option<&CookieManager> {
        self.request.cookies.as_deref()
    }

    /// `HTTPSamplerBase#sample()`.
    // Inlining builds the future in place instead of copying it there.
    #[inline]
    pub async fn sample(&self, cx: &mut Context, name: &Template) -> Option<Box<Sample>> {
        self.begin(cx);
        let call = self.call(cx, name);
        let is_own = matches!(call, Held::Own(_));
        let sample = self.run(cx, &call).await;
        drop(call);
        match sample {
            Some(mut sample) if is_own && name.literal().is_none() => {
                name_again(cx, name, &mut sample);
                Some(sample)
            }
            sample => sample,
        }
    }

    /// Makes a sample with the label that `HTTPSamplerBase#toString` gives.
    pub async fn sample_under_address(
        &self,
        cx: &mut Context,
        name: &Template,
    ) -> Option<Box<Sample>> {
        self.begin(cx);
        let call = self.call(cx, name);
        let label = call.shown(self.url(cx, &call).ok());
        let mut sample = self.run(cx, &call).await?;
        sample.label = label.into();
        Some(sample)
    }

    fn begin(&self, cx: &mut Context) {
        user_mut(cx).note_use();
        if let Some(tracing) = &self.request.settings.tracing {
            let trace = tracing.begin(&worker(cx).trace_ids);
            user_mut(cx).rare().trace = Some(trace);
        }
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
        // The label is set at the end, so that no sub-result is named after it.
        let mut page = Sample::new("".into(), cx.thread_name.clone());
        page.kind = SampleKind::Http;
        page.success = true;
        page.method = Some(SharedText::Static("GET"));
        page.url = Some(FRAMES_URL.into());
        page.request_headers = Some("\n".into());
        let lines: String = addresses.iter().map(|url| format!("{url}\n")).collect();
        page.sampler_data = Some(lines.into());
        page.content_type = Some("text/html".into());
        page.response_data = Some(frames.into_bytes().into());
        page.start_ms = cx.clock().now_ms();
        let begin = Instant::now();
        let mut page = self.fetch(&call).frames(cx, page, Nesting::default()).await;
        if page.end_ms == 0 {
            page.set_end(cx.clock().now_ms());
        }
        let parts = page.children.len() as u64;
        page.refine_service(begin.elapsed().as_micros() as u64, parts);
        page.label = call.label.clone();
        Some(Box::new(page))
    }

    /// The implementation that JMeter takes for the call's address.
    fn client_of(&self, call: &HttpCall<'_>) -> Client {
        if call.reads_files() {
            Client::File
        } else {
            self.template.client
        }
    }

    async fn run(&self, cx: &mut Context, call: &HttpCall<'_>) -> Option<Box<Sample>> {
        if let Some((exception, true)) = call.failure(self.client_of(call)) {
            return Some(self.nameless(cx, &exception));
        }
        let url = match self.url(cx, call) {
            Ok(url) => url,
            Err(exception) => return Some(self.nameless(cx, &exception)),
        };
        if let Some(exception) = self.unknown_client.as_ref().filter(|_| !call.reads_files()) {
            let mut sample = self.nameless(cx, exception);
            sample.label = call.label.clone();
            return Some(sample);
        }
        let mut sample = self
            .fetch(call)
            .fetch(cx, &url, &call.method, Nesting::default())
            .await?;
        let is_nameless = sample.label.is_empty() && sample.url.is_none();
        if !is_nameless {
            sample.label = call.label.clone();
        }
        Some(sample)
    }
}

/// Evaluates a name with functions again. JMeter evaluates it for each request of a sample and again when the sample has ended
/// (`HTTPAbstractImpl#configureSampleLabel`, `HTTPSamplerBase#sample`): sub-results have the first one, the sample has the last.
/// With `function.cache.per.iteration` there is one for all.
fn name_again(cx: &mut Context, name: &Template, sample: &mut Sample) {
    let is_nameless = sample.label.is_empty() && sample.url.is_none();
    if is_nameless
        || name.functions().is_empty()
        || cx
            .properties()
            .get_bool("function.cache.per.iteration", false)
    {
        return;
    }
    for _ in 0..requests(sample) {
        sample.label = name.eval(cx).into_string().into();
    }
}

/// How many requests a sample stands for.
fn requests(sample: &Sample) -> usize {
    if sample.children.is_empty() {
        1
    } else {
        sample.children.iter().map(requests).sum()
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
        let before = {
            let call = if user(cx).edits.reads() {
                self.template.evaluate(cx, name)
            } else {
                self.template.leave(cx, name)
            };
            self.to_request(cx, &call)
        };
        if user(cx).edits.is_empty() {
            return before;
        }
        let mut after = before.clone();
        for edit in user_mut(cx).edits.take() {
            edit.apply(cx.random(), &mut after);
        }
        user_mut(cx).edits.add(Replaced {
            before,
            after: after.clone(),
        });
        after
    }

    fn text(&self, cx: &mut Context, name: &Template, place: usize) -> String {
        let text = self.template.placed(name, place);
        text.map(|text| text.eval(cx).into_string())
            .unwrap_or_default()
    }

    fn change(&self, cx: &mut Context, before: Request, mut after: Request, in_place: bool) {
        let is_kept = in_place
            && before.headers != after.headers
            && self.keep_headers(cx, &before.headers, &after.headers);
        if is_kept {
            after.headers.clone_from(&before.headers);
        }
        if before != after {
            user_mut(cx).edits.add(Replaced { before, after });
        }
    }

    fn cookies(&self, cx: &mut Context) -> Vec<SeenCookie> {
        let manager = self.cookie_manager();
        manager
            .map(|manager| manager.cookies(cx))
            .unwrap_or_default()
    }

    fn set_cookies(&self, cx: &mut Context, cookies: Option<Vec<Cookie>>) {
        if let Some(manager) = self.cookie_manager() {
            manager.replace(cx, cookies);
        }
    }
}
