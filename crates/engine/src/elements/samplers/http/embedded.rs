//! Embedded resources of a page (`HTTPSamplerBase#downloadPageResources`).

use std::collections::VecDeque;
use std::time::Instant;

use drumfire_query::regex::{Dialect, Options, Pattern};
use drumfire_query::resources::{css_urls, embedded};
use drumfire_query::url::JavaUrl;
use drumfire_results::Sample;
use drumfire_web::Exception;
use drumfire_web::response::media_type;
use drumfire_web::url::Url;
use recycle_box::RecycleBox;
use tokio::task::JoinSet;

use super::HttpSampler;
use super::call::Call;
use super::failure;
use super::redirects::Nesting;
use super::request::{Prepared, Sending};
use super::transfer::Trouble;
use crate::run::context::Context;

/// `httpsampler.parallel_download` pool where the plan gives no number (`CONCURRENT_POOL_SIZE`).
const DEFAULT_POOL: usize = 6;

impl HttpSampler {
    /// The page with its resources as sub-results; the page itself if it has none.
    pub(super) async fn embedded(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        mut page: Sample,
        nesting: Nesting,
    ) -> Sample {
        let (begin, page_us) = (Instant::now(), page.precise_service_us());
        let addresses = self.addresses_or_error(cx, &mut page);
        if addresses.is_empty() {
            return page;
        }
        let mut whole = if self.settings.separate_container || nesting.is_redirect {
            let mut whole = page.clone();
            whole.children.clear();
            // Its thread writes its name into samples and their direct sub-results, in the end.
            page.thread_name = "".into();
            whole.attach_child(page, self.settings.rename_children);
            whole
        } else {
            page
        };
        self.fetch_all(cx, call, &mut whole, addresses, nesting)
            .await;
        let service_us = page_us + begin.elapsed().as_micros() as u64;
        whole.refine_service(service_us, whole.children.len() as u64);
        whole
    }

    /// A page that is its own container, with its resources.
    pub(super) async fn frames(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        mut page: Sample,
        nesting: Nesting,
    ) -> Sample {
        let addresses = self.addresses_or_error(cx, &mut page);
        self.fetch_all(cx, call, &mut page, addresses, nesting)
            .await;
        page
    }

    /// The addresses of the page's resources; a page that cannot be read gets a sub-result that says so.
    fn addresses_or_error(&self, cx: &mut Context, page: &mut Sample) -> Vec<JavaUrl> {
        self.addresses(cx, page).unwrap_or_else(|message| {
            let mut error = page.clone();
            let class = "org.apache.jmeter.protocol.http.parser.HTMLParseException";
            failure::apply(&mut error, &Exception::new(class, message), self.needs);
            page.add_child(error, self.settings.rename_children);
            self.settle_success(page, false);
            Vec::new()
        })
    }

    async fn fetch_all(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        whole: &mut Sample,
        addresses: Vec<JavaUrl>,
        nesting: Nesting,
    ) {
        let wanted = self.filter(cx, addresses, whole);
        let pool = self.pool(cx);
        if pool > 1 {
            self.fetch_together(cx, call, whole, wanted, nesting.inner(), pool)
                .await;
            return;
        }
        for url in wanted {
            let sample = self.fetch(cx, call, &url, "GET", nesting.inner()).await;
            self.add(whole, sample);
        }
    }

    /// What the page asks for, in order.
    fn addresses(&self, cx: &Context, page: &Sample) -> Result<Vec<JavaUrl>, String> {
        if page
            .response_data
            .as_ref()
            .is_none_or(|data| data.is_empty())
        {
            return Ok(Vec::new());
        }
        let content_type = page.content_type.as_deref().unwrap_or_default();
        let Ok(base) = JavaUrl::parse(None, page.url.as_deref().unwrap_or_default()) else {
            return Ok(Vec::new());
        };
        let text = crate::base::body::text(page, cx.parsed.default_charset.as_deref());
        match media_type(content_type).as_str() {
            "text/html" | "application/xhtml+xml" | "application/xml" | "text/xml" => {
                let agent = page.request_headers.as_deref().and_then(user_agent);
                embedded(&text, &base, agent).map_err(|error| error.0)
            }
            "text/css" => css_urls(&text, &base).map_err(|error| error.0),
            _ => Ok(Vec::new()),
        }
    }

    /// The addresses that pass both filters, in normal form; failures become sub-results.
    fn filter(
        &self,
        cx: &mut Context,
        addresses: Vec<JavaUrl>,
        whole: &mut Sample,
    ) -> VecDeque<Url> {
        let allow = self.pattern(&self.embedded_allow.eval(cx));
        let exclude = self.pattern(&self.embedded_exclude.eval(cx));
        let mut wanted = VecDeque::new();
        for address in addresses {
            let text = address.to_string();
            let parsed = Url::parse(&text).map(|url| url.sanitized().unwrap_or(url));
            let Ok(url) = parsed else {
                self.add_error(whole, format!("{text} is not a correct URI"));
                continue;
            };
            if allow
                .as_ref()
                .is_some_and(|allow| !allow.full_match(url.as_str()))
                || exclude
                    .as_ref()
                    .is_some_and(|exclude| exclude.full_match(url.as_str()))
            {
                continue;
            }
            match url.normalized() {
                Ok(url) => wanted.push_back(url),
                Err(_) => {
                    self.add_error(whole, format!("{} URI can not be normalized", url.as_str()))
                }
            }
        }
        wanted
    }

    fn pattern(&self, text: &str) -> Option<Pattern> {
        if text.is_empty() {
            return None;
        }
        let dialect = if self.settings.java_regex {
            Dialect::Java
        } else {
            Dialect::Oro
        };
        match Pattern::compile(text, dialect, Options::default()) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                tracing::warn!("Ignoring embedded URL string: {}", error.message);
                None
            }
        }
    }

    /// How many resources are fetched at once.
    fn pool(&self, cx: &mut Context) -> usize {
        if !self.concurrent {
            return 1;
        }
        self.pool_size.eval(cx).parse().unwrap_or(DEFAULT_POOL)
    }

    /// Fetches with up to `pool` requests under way; results in the order of the page.
    async fn fetch_together(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        whole: &mut Sample,
        mut wanted: VecDeque<Url>,
        nesting: Nesting,
        pool: usize,
    ) {
        let mut results: Vec<Option<Fetched>> = Vec::new();
        let mut running = JoinSet::new();
        loop {
            while running.len() < pool
                && let Some(url) = wanted.pop_front()
            {
                let index = results.len();
                results.push(None);
                if call.reads_files() && url.protocol() == "file" {
                    let sample = self.fetch_file(cx, call, &url, nesting).await;
                    results[index] = Some(Fetched::Done(sample));
                    continue;
                }
                match self.prepare(cx, call, &url, "GET", nesting) {
                    Prepared::Done(sample) => results[index] = Some(Fetched::Done(sample)),
                    Prepared::Send(sending) => {
                        let exchange = self.detached(cx, call, sending);
                        running.spawn_local(async move { (index, exchange.await) });
                    }
                }
            }
            // Whoever is interrupted while the pool works gives up all of it (`HTTPSamplerBase#downloadPageResources`).
            match cx.attend_others(running.join_next()).await {
                Some(Some(Ok((index, (sending, outcome))))) => {
                    results[index] = Some(Fetched::Answered(sending, outcome))
                }
                Some(Some(Err(error))) => tracing::error!("a download ended with a panic: {error}"),
                Some(None) => break,
                None => {
                    tracing::warn!("Interrupted fetching embedded resources");
                    return;
                }
            }
        }
        for result in results.into_iter().flatten() {
            let sample = match result {
                Fetched::Done(sample) => sample,
                Fetched::Answered(sending, outcome) => {
                    self.complete(cx, call, sending, outcome, nesting).await
                }
            };
            self.add(whole, sample);
        }
    }

    fn add(&self, whole: &mut Sample, sample: Option<Box<Sample>>) {
        let ok = whole.success && sample.as_ref().is_none_or(|sample| sample.success);
        if let Some(sample) = sample {
            whole.add_child(*sample, self.settings.rename_children);
        }
        self.settle_success(whole, ok);
    }

    fn add_error(&self, whole: &mut Sample, message: String) {
        // `new HTTPSampleResult(res)` copies the sub-results too.
        let mut error = whole.clone();
        failure::apply(
            &mut error,
            &Exception::new("java.lang.Exception", message),
            self.needs,
        );
        whole.add_child(error, self.settings.rename_children);
        self.settle_success(whole, false);
    }

    /// `HTTPSamplerBase#setParentSampleSuccess`.
    fn settle_success(&self, whole: &mut Sample, success: bool) {
        if self.settings.ignore_failed_embedded {
            return;
        }
        whole.success = success;
        if success {
            return;
        }
        let mut message = String::from("Embedded resource download error:");
        for child in whole.children.iter().filter(|child| !child.success) {
            message.push_str(child.url.as_deref().unwrap_or("null"));
            message.push_str(" code:");
            message.push_str(&child.code);
            message.push_str(" message:");
            message.push_str(&child.message);
            message.push_str(", ");
        }
        whole.message = message.into();
    }
}

enum Fetched {
    Done(Option<Box<Sample>>),
    Answered(
        RecycleBox<Sending>,
        Result<Box<drumfire_http::Incoming>, Trouble>,
    ),
}

/// `HTTPSamplerBase#getUserAgent`: from the request headers as the sample shows them.
fn user_agent(headers: &str) -> Option<&str> {
    let start = headers.find("User-Agent: ")? + "User-Agent: ".len();
    headers[start..].lines().next().map(str::trim)
}
