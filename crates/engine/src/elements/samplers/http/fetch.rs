//! The requests of one sample: the first one, the redirects that JMeter follows, and embedded resources
//! (`HTTPSamplerBase#resultProcessing`, `#followRedirects`, `#downloadPageResources`).

use std::collections::VecDeque;
use std::time::Instant;

use drumfire_http::Incoming;
use drumfire_java::url as java_url;
use drumfire_results::{DataType, Sample, SampleKind, SharedText};
use drumfire_web::local_file;
use drumfire_web::property::Client;
use drumfire_web::redirect::{nested_too_deep, too_many_redirects};
use drumfire_web::url::Url;
use recycle_box::RecycleBox;
use tokio::task::JoinSet;

use super::call::HttpCall;
use super::embedded::Resources;
use super::redirects::{Nesting, next_address, take_outcome};
use super::request::{Prepared, RequestBuilder, Sending, method_text};
use super::response::ResponseReader;
use super::settings::HttpSettings;
use super::settle::Settlement;
use super::state::worker;
use super::template::RequestTemplate;
use super::transfer::{Transfer, TransferFailure};
use super::{failure, file, java};
use crate::elements::samplers::stream::{StreamTemplate, StreamWatch};
use crate::run::context::Context;
use crate::run::needs::Needs;

/// Sends all requests of one sample, using the parts of its sampler.
#[derive(Clone, Copy)]
pub(super) struct Fetch<'f> {
    pub call: &'f HttpCall<'f>,
    pub template: &'f RequestTemplate,
    pub request: &'f RequestBuilder,
    pub transfer: &'f Transfer,
    pub reader: &'f ResponseReader,
    pub resources: &'f Resources,
    pub stream: Option<&'f StreamTemplate>,
    pub needs: Needs,
}

impl<'f> Fetch<'f> {
    /// The same for another request of the sample.
    fn next<'n>(&self, call: &'n HttpCall<'n>) -> Fetch<'n>
    where
        'f: 'n,
    {
        let same: Fetch<'n> = *self;
        Fetch { call, ..same }
    }

    fn settings(&self) -> &HttpSettings {
        &self.request.settings
    }

    fn settling(&self) -> Settlement<'_> {
        Settlement {
            request: self.request,
            transfer: self.transfer,
            follows: self.call.auto_redirects,
        }
    }

    /// Sends one request and what follows from it: redirects and embedded resources.
    pub async fn fetch(
        &self,
        cx: &mut Context,
        url: &Url,
        method: &str,
        nesting: Nesting,
    ) -> Option<Box<Sample>> {
        if self.call.reads_files() && url.protocol() == "file" {
            return Box::pin(self.fetch_file(cx, url, nesting)).await;
        }
        let mut sending = match self.prepare(cx, url, method, nesting) {
            Prepared::Done(sample) => return sample,
            Prepared::Send(sending) => sending,
        };
        if let Some(stream) = self.stream.filter(|_| nesting.depth == 0) {
            match stream.evaluate(cx, &self.call.headers) {
                Ok(rules) => sending.watch = rules.map(StreamWatch::begin_now),
                Err(exception) => {
                    let sending = cx.worker.room.take_request(sending);
                    let trouble = TransferFailure::Java(exception);
                    return Some(self.reader.failed(cx, sending, &trouble));
                }
            }
        }
        let outcome = self.transfer.send(cx, self.call, &sending).await;
        self.complete(cx, sending, outcome, nesting).await
    }

    /// Prepares a request: everything that happens before the first byte is sent.
    fn prepare(&self, cx: &mut Context, url: &Url, method: &str, nesting: Nesting) -> Prepared {
        let client = self.request.client;
        let sample = Sample::new(self.call.label.clone(), cx.thread_name.clone());
        let mut sample = cx.worker.room.sample(sample);
        sample.kind = SampleKind::Http;
        let method_text = method_text(method);
        sample.method = Some(method_text.clone());
        sample.url = Some(url.text());
        if !self.settings().rename_children {
            sample.label = url.text();
        }
        let built = if let Some((exception, _)) = self.call.failure(client) {
            Err((sample, exception))
        } else if let Err(exception) = self.request.identity(cx, url.is_secure()) {
            Err((sample, exception))
        } else if client == Client::HttpClient {
            self.request
                .build(cx, self.call, url, method_text, nesting.is_redirect, sample)
        } else {
            java::build(
                self.request,
                cx,
                self.call,
                url,
                method_text,
                nesting.is_redirect,
                sample,
            )
        };
        match built {
            Ok(Prepared::Send(mut sending)) => {
                self.request.trace(cx, &mut sending);
                Prepared::Send(sending)
            }
            Ok(prepared) => prepared,
            Err((_, exception)) if client != Client::HttpClient && exception.is_unchecked() => {
                Prepared::Done(Some(failure::nameless(cx, &exception, self.needs)))
            }
            Err((mut sample, exception)) => {
                sample.start_ms = cx.clock().now_ms();
                sample.set_end(sample.start_ms);
                failure::apply(&mut sample, &exception, self.needs);
                Prepared::Done(Some(sample))
            }
        }
    }

    /// Makes the finished sample from the outcome of the exchange.
    async fn complete(
        &self,
        cx: &mut Context,
        mut sending: RecycleBox<Sending>,
        mut outcome: Result<Box<Incoming>, TransferFailure>,
        nesting: Nesting,
    ) -> Option<Box<Sample>> {
        let begin = match &outcome {
            Ok(incoming) => Some(incoming.times.begin),
            Err(TransferFailure::Interrupted(begin)) => Some(*begin),
            Err(trouble) => trouble.failed_exchange().map(|failure| failure.times.begin),
        };
        sending.sample.start_ms = begin
            .map(|begin| cx.clock().ms(begin))
            .unwrap_or_else(|| cx.clock().now_ms());
        if let Ok(incoming) = outcome {
            let unsettled = matches!(incoming.status, 401 | 407)
                || (self.call.auto_redirects && (300..400).contains(&incoming.status));
            outcome = if unsettled {
                Box::pin(
                    self.settling()
                        .settle(cx, self.call, &mut sending, incoming),
                )
                .await
            } else {
                Ok(incoming)
            };
        }
        if self.call.auto_redirects && outcome.is_ok() {
            // Only a response tells the final address.
            sending.sample.url = Some(self.reader.asked_address(&sending.url).text());
        }
        match outcome {
            Ok(mut incoming) => {
                let sample = self
                    .reader
                    .read(cx, sending, &mut incoming, self.call, nesting);
                self.template.auto_redirects.repeat(cx, 1);
                worker(cx).http.take_back(incoming);
                match sample {
                    Ok(sample) => self.process(cx, sample, nesting).await,
                    Err(sample) => Some(sample),
                }
            }
            Err(trouble) => {
                let sending = cx.worker.room.take_request(sending);
                Some(self.reader.failed(cx, sending, &trouble))
            }
        }
    }

    /// `HTTPFileImpl#sample`, and what follows from it.
    async fn fetch_file(
        &self,
        cx: &mut Context,
        url: &Url,
        nesting: Nesting,
    ) -> Option<Box<Sample>> {
        let mut sample = Box::new(Sample::new(url.as_str().into(), cx.thread_name.clone()));
        sample.kind = SampleKind::Http;
        sample.start_ms = cx.clock().now_ms();
        let permitted = self.settings().permit("file:");
        let path = match permitted.and_then(|()| local_file::path(url)) {
            Ok(path) => path,
            Err(exception) => {
                failure::apply(&mut sample, &exception, self.needs);
                sample.set_end(cx.clock().now_ms());
                return Some(sample);
            }
        };
        sample.method = Some(SharedText::Static("GET"));
        sample.url = Some(url.as_str().into());
        let most = match self.settings().max_bytes_to_store {
            0 => file::DEFAULT_MOST_BYTES,
            most => most,
        };
        let read = file::read(&path, most);
        sample.set_end(cx.clock().now_ms());
        match read {
            Ok((data, size)) => {
                sample.set_ok();
                sample.body_bytes = size;
                if self.needs.body || self.resources.are_wanted.may_hold() {
                    sample.response_data = Some(data.into());
                }
                let content_type = format!("text/html; charset={}", self.call.file_encoding());
                sample.set_encoding_and_type(&content_type);
                sample.content_type = Some(content_type.into());
                self.process(cx, sample, nesting).await
            }
            Err(error) => {
                let exception = local_file::unreadable(&path, &error);
                failure::apply(&mut sample, &exception, self.needs);
                Some(sample)
            }
        }
    }

    /// `HTTPSamplerBase#resultProcessing`.
    async fn process(
        &self,
        cx: &mut Context,
        sample: Box<Sample>,
        nesting: Nesting,
    ) -> Option<Box<Sample>> {
        let mut sample = sample;
        let mut redirected = false;
        if !nesting.is_redirect
            && sample.redirect_location.is_some()
            && self.reader.follow_redirects.get(cx)
        {
            *sample = Box::pin(self.follow(cx, *sample, nesting)).await;
            redirected = true;
        }
        let may_have_resources = sample.success && sample.data_type == DataType::Text;
        if !may_have_resources || !self.resources.are_wanted.get(cx) {
            return Some(sample);
        }
        if nesting.depth > self.settings().max_frame_depth {
            let mut error = (*sample).clone();
            error.children.clear();
            failure::apply(&mut error, &nested_too_deep(), self.needs);
            sample.add_child(error, self.settings().rename_children);
        } else if !redirected {
            *sample = Box::pin(self.embedded(cx, *sample, nesting)).await;
        }
        Some(sample)
    }

    /// `HTTPSamplerBase#followRedirects`: the enclosing sample takes the outcome of the last response and has all of them
    /// as sub-results.
    async fn follow(&self, cx: &mut Context, first: Sample, nesting: Nesting) -> Sample {
        let rename = self.settings().rename_children;
        let mut total = first.clone();
        total.children.clear();
        let mut shown = first.clone();
        // JMeter's thread sets its name at the end, in samples and their direct sub-results only.
        shown.thread_name = "".into();
        total.attach_child(shown, rename);
        let mut service_us = first.precise_service_us();
        let mut last = first;
        let mut redirects = 0;
        while redirects < self.settings().max_redirects {
            let mut invalid = false;
            match next_address(&last, self.settings()) {
                Ok((url, method)) => {
                    let nesting = nesting.redirected();
                    let again = self.template.again(cx, self.call, nesting);
                    let fetch = self.next(again.as_deref().unwrap_or(self.call));
                    match fetch.fetch(cx, &url, &method, nesting).await {
                        Some(sample) => {
                            total.phases.add(sample.phases);
                            total.add_own(&sample);
                            total.add_trace(&sample);
                            service_us += sample.precise_service_us();
                            last = *sample;
                        }
                        None => break,
                    }
                }
                Err(exception) => {
                    failure::apply(&mut last, &exception, self.needs);
                    // In JMeter it is the same object as the sub-result that was redirected.
                    if let Some(shown) = total.children.last_mut() {
                        failure::apply(shown, &exception, self.needs);
                    }
                    last.redirect_location = None;
                    invalid = true;
                }
            }
            if last.children.is_empty() {
                if !invalid {
                    total.add_child(last.clone(), rename);
                }
            } else {
                for child in last.children.clone() {
                    total.add_child(child, rename);
                }
            }
            if last.redirect_location.is_none() {
                break;
            }
            redirects += 1;
        }
        if redirects >= self.settings().max_redirects {
            last.children.clear();
            failure::apply(
                &mut last,
                &too_many_redirects(self.settings().max_redirects),
                self.needs,
            );
            total.add_child(last.clone(), rename);
        }
        take_outcome(&mut total, last);
        total.refine_service(service_us, u64::from(redirects) + 1);
        total
    }

    /// The page with its resources as sub-results; the page itself if it has none.
    async fn embedded(&self, cx: &mut Context, mut page: Sample, nesting: Nesting) -> Sample {
        let (begin, page_us) = (Instant::now(), page.precise_service_us());
        let addresses = self.resources.addresses_or_error(cx, &mut page);
        if addresses.is_empty() {
            return page;
        }
        let own_us = page
            .own_us
            .map(|own_us| own_us + begin.elapsed().as_micros() as u64);
        let mut whole = if self.settings().separate_container || nesting.is_redirect {
            let mut whole = page.clone();
            whole.children.clear();
            // JMeter's thread sets its name at the end, in samples and their direct sub-results only.
            page.thread_name = "".into();
            whole.attach_child(page, self.settings().rename_children);
            whole
        } else {
            page
        };
        let before = whole.children.len();
        let lanes = self.fetch_all(cx, &mut whole, addresses, nesting).await;
        // Resources that are fetched side by side share the time. Those from the cache take none.
        let resources = whole.children[before..].iter();
        let sum_us: u64 = resources.filter_map(|resource| resource.own_us).sum();
        whole.own_us = own_us.map(|own_us| own_us + sum_us / lanes);
        let service_us = page_us + begin.elapsed().as_micros() as u64;
        whole.refine_service(service_us, whole.children.len() as u64);
        whole
    }

    /// Adds the resources of a page that is its own container.
    pub async fn frames(&self, cx: &mut Context, mut page: Sample, nesting: Nesting) -> Sample {
        let addresses = self.resources.addresses_or_error(cx, &mut page);
        self.fetch_all(cx, &mut page, addresses, nesting).await;
        page
    }

    /// Returns how many were under way side by side.
    async fn fetch_all(
        &self,
        cx: &mut Context,
        whole: &mut Sample,
        addresses: Vec<java_url::Url>,
        nesting: Nesting,
    ) -> u64 {
        let wanted = self.resources.filter(cx, addresses, whole);
        let pool = self.resources.pool(cx);
        if pool > 1 {
            let lanes = pool.min(wanted.len()).max(1) as u64;
            self.fetch_together(cx, whole, wanted, nesting.inner(), pool)
                .await;
            return lanes;
        }
        for url in wanted {
            let again = self.template.again(cx, self.call, nesting.inner());
            let fetch = self.next(again.as_deref().unwrap_or(self.call));
            let sample = fetch.fetch(cx, &url, "GET", nesting.inner()).await;
            self.resources.add(whole, sample);
        }
        1
    }

    /// Fetches with up to `pool` concurrent requests; results are in the order of the page.
    async fn fetch_together(
        &self,
        cx: &mut Context,
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
                if self.call.reads_files() && url.protocol() == "file" {
                    let sample = self.fetch_file(cx, &url, nesting).await;
                    results[index] = Some(Fetched::Done(sample));
                    continue;
                }
                self.template.note_copy(cx);
                let again = self.template.again(cx, self.call, nesting);
                let fetch = self.next(again.as_deref().unwrap_or(self.call));
                match fetch.prepare(cx, &url, "GET", nesting) {
                    Prepared::Done(sample) => results[index] = Some(Fetched::Done(sample)),
                    Prepared::Send(sending) => {
                        let exchange = self.transfer.detached(cx, fetch.call, sending);
                        running.spawn_local(async move { (index, exchange.await) });
                    }
                }
            }
            // A user that is interrupted during the downloads gives up all of them
            // (`HTTPSamplerBase#downloadPageResources`).
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
                    self.complete(cx, sending, outcome, nesting).await
                }
            };
            self.resources.add(whole, sample);
        }
    }
}

enum Fetched {
    Done(Option<Box<Sample>>),
    Answered(RecycleBox<Sending>, Result<Box<Incoming>, TransferFailure>),
}
