//! Makes a sample of a response.

use std::sync::Arc;
use std::time::Instant;

use drumfire_health::Stage;
use drumfire_http::{Incoming, Phase, Times};
use drumfire_java::Exception;
use drumfire_java::charset::decode_latin1;
use drumfire_platform::words::hex;
use drumfire_results::{Phases, Sample, SharedText};
use drumfire_web::java_client::{java_missing_location, java_reason, java_response_head};
use drumfire_web::property::Client;
use drumfire_web::redirect::{is_redirect, missing_location};
use drumfire_web::response::{self, ResponseHead};
use drumfire_web::url::Url;
use md5::{Digest, Md5};
use recycle_box::RecycleBox;

use super::call::HttpCall;
use super::failure;
use super::hints;
use super::redirects::Nesting;
use super::request::Sending;
use super::settings::HttpSettings;
use super::state::{hints as state_hints, worker};
use super::transfer::TransferFailure;
use crate::elements::config::cache_manager::CacheManager;
use crate::elements::config::cookie_manager::CookieManager;
use crate::run::context::Context;
use crate::run::needs::Needs;
use crate::run::property::Flag;

/// Makes samples of responses.
pub(super) struct ResponseReader {
    pub client: Client,
    pub follow_redirects: Flag,
    /// Whether bodies are replaced by their digests.
    pub md5: Flag,
    pub cookies: Option<Arc<CookieManager>>,
    pub cache: Option<Arc<CacheManager>>,
    pub needs: Needs,
    pub settings: Arc<HttpSettings>,
}

impl ResponseReader {
    /// The requested address. HttpClient's request has it in its own form, without a fragment.
    pub fn asked_address(&self, url: &Url) -> Url {
        let without_user = || {
            let wire = url.wire().ok()?;
            let authority = url.authority()?;
            Url::parse(&format!("{}://{authority}{}", url.protocol(), wire.target)).ok()
        };
        match self.client {
            Client::HttpClient => without_user().unwrap_or_else(|| url.clone()),
            _ => url.clone(),
        }
    }

    /// The sample of a response. As the error: the sample of one that arrived, but on which JMeter fails.
    pub fn read(
        &self,
        cx: &mut Context,
        sending: RecycleBox<Sending>,
        incoming: &mut Incoming,
        call: &HttpCall<'_>,
        nesting: Nesting,
    ) -> Result<Box<Sample>, Box<Sample>> {
        let Sending {
            mut sample,
            mut url,
            method,
            head_text,
            access,
            head,
            watch,
            ..
        } = cx.worker.room.take_request(sending);
        cx.worker.room.take_head_back(head);
        let refused = access.and_then(|access| access.take_refused());
        self.read_times(cx, &mut sample, incoming);
        sample.stream = watch.and_then(|watch| watch.finish());
        sample.code = code(incoming.status);
        sample.message = match self.client {
            Client::HttpClient => message(incoming.reason()),
            _ => message(java_reason(incoming.status_line())),
        };
        sample.success = response::is_success(incoming.status);
        if self.client == Client::HttpClient {
            sample.sent_bytes = incoming.wire.sent_bytes;
        }
        if let Some(value) = incoming.content_type() {
            worker(cx).media_type.apply(value, &mut sample);
        }
        self.read_body(cx, &mut sample, incoming, &method);
        sample.request_headers = head_text
            .map(|text| self.shown_request(refused.unwrap_or(text)))
            .map(Into::into);
        let parsed = self.read_head(&mut sample, incoming);
        if is_redirect(incoming.status, &method, self.settings.keeps_method) {
            match incoming.location() {
                Some(location) => sample.redirect_location = Some(decode_latin1(location).into()),
                // The missing header only matters when the redirect is to be followed.
                None if self.client == Client::Java => {
                    if !nesting.is_redirect && self.follow_redirects.get(cx) {
                        return Err(failure::nameless(cx, &java_missing_location(), self.needs));
                    }
                }
                None => {
                    // JMeter sets the sizes only afterwards.
                    (sample.header_bytes, sample.body_bytes) = (0, 0);
                    sample.sent_bytes = 0;
                    let exception = missing_location(&method, &url);
                    return Err(self.fail(sample, &exception));
                }
            }
        }
        if call.auto_redirects && self.client == Client::HttpClient {
            url = url.as_sent().unwrap_or(url);
            sample.url = Some(url.text());
        }
        if let Err(exception) = self.receive_cookies(cx, incoming, &url) {
            return Err(self.fail(sample, &exception));
        }
        if let (Some(cache), Some(head)) = (&self.cache, &parsed) {
            let sent = sample.request_headers.clone().unwrap_or_default();
            if let Err(exception) = cache.save(cx, &method, &url, &sent, head) {
                return Err(self.fail(sample, &exception));
            }
        }
        Ok(sample)
    }

    fn receive_cookies(
        &self,
        cx: &mut Context,
        incoming: &Incoming,
        url: &Url,
    ) -> Result<(), Exception> {
        let Some(cookies) = &self.cookies else {
            return Ok(());
        };
        let mut headers = incoming
            .headers()
            .filter(|(name, _)| name.eq_ignore_ascii_case(b"Set-Cookie"))
            .map(|(_, value)| decode_latin1(value))
            .peekable();
        if headers.peek().is_none() {
            return Ok(());
        }
        cookies.receive(cx, headers, url)
    }

    /// Sets the sizes and, if something reads it, the head as JMeter shows it; returns that head.
    fn read_head<'a>(
        &self,
        sample: &mut Sample,
        incoming: &'a Incoming,
    ) -> Option<ResponseHead<'a>> {
        if self.client != Client::HttpClient {
            return self.read_java_head(sample, incoming);
        }
        sample.header_bytes = incoming.wire.head_bytes;
        sample.body_bytes = incoming.wire.body_bytes;
        let is_regular = !incoming.reason().is_empty() && incoming.head.ends_with(b"\r\n\r\n");
        if !self.needs.headers && self.cache.is_none() && is_regular {
            return None;
        }
        let head = ResponseHead::parse(&incoming.head)?;
        let mut text = String::new();
        head.append_text(incoming.wire.body_bytes > 0, &mut text);
        let received = sample.header_bytes + sample.body_bytes;
        let sizes = response::sizes(received, &text, head.header_count());
        sample.header_bytes = u64::try_from(sizes.headers).unwrap_or(0);
        match u64::try_from(sizes.body) {
            // As if nothing had counted it (`SampleResult#getBodySizeAsLong`).
            Ok(0) => sample.body_bytes = incoming.body_len,
            Ok(body_bytes) => sample.body_bytes = body_bytes,
            // The shown status line is longer than the received one.
            Err(_) => (sample.header_bytes, sample.body_bytes) = (received, 0),
        }
        sample.response_headers = Some(text.into());
        Some(head)
    }

    /// The implementation `Java` computes the size of the head from its text. Of the body it counts what it reads, after chunks and
    /// before decompression.
    fn read_java_head<'a>(
        &self,
        sample: &mut Sample,
        incoming: &'a Incoming,
    ) -> Option<ResponseHead<'a>> {
        let text = java_response_head(incoming.status_line(), incoming.headers());
        let line_ends = text.bytes().filter(|byte| *byte == b'\n').count();
        sample.header_bytes = (text.chars().count() + line_ends + "\r\n".len()) as u64;
        // It reads the body of a failed response elsewhere, where nothing counts encoded bytes.
        let encoded_len = incoming.encoded_len.filter(|_| incoming.status < 400);
        sample.body_bytes = encoded_len.unwrap_or(incoming.body_len);
        sample.response_headers = self.needs.headers.then(|| text.into());
        self.cache.as_ref()?;
        ResponseHead::parse(&incoming.head)
    }

    /// Latency ends with the first byte of the body, or with the response if that is empty, as in
    /// `HTTPSamplerBase#readResponse`.
    fn read_times(&self, cx: &Context, sample: &mut Sample, incoming: &Incoming) {
        let Incoming { times, reused, .. } = incoming;
        let secure = incoming.handshake.is_some();
        if cx.is_timed {
            let stages = &cx.worker.stages;
            stages.add_exchange(times, secure, Stage::Read);
        }
        sample.phases = phases(times, secure);
        let clock = cx.clock();
        if let (Some(tracing), Some(trace)) = (&self.settings.tracing, &mut sample.trace) {
            tracing.read_response(incoming, trace);
        }
        let end_ms = clock.ms(times.end);
        sample.set_end(end_ms);
        sample.service_us = since(times.begin, times.end);
        sample.own_us = times.own().map(|own| own.as_micros() as u64);
        // A short response is read at once.
        let first_body = times.first_body.filter(|first| *first != times.end);
        sample.mark_latency(first_body.map_or(end_ms, |first| clock.ms(first)));
        if let Some(connected) = times
            .connected
            .filter(|_| !*reused && self.client == Client::HttpClient)
        {
            sample.mark_connect(clock.ms(connected));
        }
    }

    /// The request headers of a sample with a response: `httpclient.localaddress` is added for display.
    fn shown_request(&self, text: String) -> String {
        let local = self.settings.local_address.as_ref();
        match local.filter(|_| self.client == Client::HttpClient) {
            Some(local) => format!("{text}X-LocalAddress: {}\n", local.shown),
            None => text,
        }
    }

    fn read_body(
        &self,
        cx: &mut Context,
        sample: &mut Sample,
        incoming: &mut Incoming,
        method: &str,
    ) {
        let has_body = self.client != Client::HttpClient
            || method != "HEAD" && !matches!(incoming.status, 204 | 205 | 304);
        if has_body
            && let Flag::Computed(_) = self.md5
            && self.md5.get(cx)
        {
            let body = incoming.body.take();
            incoming.md5 = body.map(|body| Md5::digest(body).into());
        }
        // JMeter makes no digest of an empty body (`HTTPSamplerBase#readResponse`).
        if let Some(digest) = incoming.md5.filter(|_| incoming.body_len > 0) {
            sample.response_data = Some(hex(&digest).into());
        } else if let Some(body) = incoming.body.take() {
            sample.response_data = Some(body.into());
            sample.sniff_html_encoding();
        }
    }

    /// A sample that failed after its response.
    fn fail(&self, mut sample: Box<Sample>, exception: &Exception) -> Box<Sample> {
        failure::apply(&mut sample, exception, self.needs);
        sample
    }

    /// The sample of an exchange that failed.
    pub fn failed(&self, cx: &Context, sending: Sending, trouble: &TransferFailure) -> Box<Sample> {
        let Sending {
            mut sample,
            target,
            head_text,
            url,
            watch,
            ..
        } = sending;
        sample.request_headers = head_text.map(Into::into);
        sample.stream = watch.and_then(|watch| watch.finish());
        let clock = cx.clock();
        if let Some(failed) = trouble.failed_exchange() {
            hints::tell(state_hints(cx), failed, &target);
            if cx.is_timed {
                let last = broken_stage(failed.phase);
                cx.worker
                    .stages
                    .add_exchange(&failed.times, target.tls, last);
            }
            sample.set_end(clock.ms(failed.times.end));
            sample.service_us = since(failed.times.begin, failed.times.end);
            sample.phases = phases(&failed.times, target.tls);
            // HttpClient's operator calls connectEnd whether or not it has connected.
            if !failed.reused && self.client == Client::HttpClient {
                sample.mark_connect(clock.ms(failed.times.connected.unwrap_or(failed.times.end)));
            }
        } else {
            sample.set_end(clock.now_ms());
        }
        let exception = failure::exception(trouble, &url, &target, self.client);
        failure::apply(&mut sample, &exception, self.needs);
        sample
    }
}

/// The phases of an exchange, as far as it got. Without a handshake, all the time until the connection is ready counts as
/// connecting.
pub fn phases(times: &Times, is_secure: bool) -> Phases {
    let mut phases = Phases::default();
    let mut ready = times.begin;
    // Only the exchange that opened the connection has looked up a name.
    if let Some(resolved) = times.resolved {
        let answered = times.tcp_connected.unwrap_or(resolved);
        ready = times.connected.unwrap_or(answered);
        let connected = if is_secure { answered } else { ready };
        phases.resolve_us = since(times.begin, resolved);
        phases.connect_us = since(resolved, connected);
        phases.handshake_us = since(connected, ready);
    }
    phases.wait_us = times
        .first_byte
        .map(|first| since(ready, first))
        .unwrap_or(0);
    phases
}

pub fn since(from: Instant, to: Instant) -> u64 {
    to.saturating_duration_since(from).as_micros() as u64
}

/// The stage in which an exchange failed.
pub fn broken_stage(phase: Phase) -> Stage {
    match phase {
        Phase::Resolve => Stage::Resolve,
        Phase::Connect | Phase::Proxy => Stage::Connect,
        Phase::TlsHandshake => Stage::Handshake,
        Phase::Write => Stage::Write,
        Phase::Head => Stage::Wait,
        Phase::Body => Stage::Read,
    }
}

/// The code as a text; common codes need no allocation.
fn code(status: u16) -> SharedText {
    SharedText::Static(match status {
        // Only the implementation Java takes a stream without a status line as a response.
        0 => "(null)",
        200 => "200",
        201 => "201",
        202 => "202",
        204 => "204",
        206 => "206",
        301 => "301",
        302 => "302",
        303 => "303",
        304 => "304",
        307 => "307",
        308 => "308",
        400 => "400",
        401 => "401",
        403 => "403",
        404 => "404",
        405 => "405",
        429 => "429",
        500 => "500",
        502 => "502",
        503 => "503",
        504 => "504",
        _ => return status.to_string().into(),
    })
}

fn message(reason: &[u8]) -> SharedText {
    match reason {
        b"OK" => SharedText::Static("OK"),
        b"" => SharedText::EMPTY,
        _ => reason
            .iter()
            .map(|byte| char::from(*byte))
            .collect::<String>()
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_parts_of_an_exchange_are_told_apart() {
        let begin = Instant::now();
        let at = |us| begin + Duration::from_micros(us);
        let opened = Times {
            begin,
            resolved: Some(at(100)),
            tcp_connected: Some(at(300)),
            connected: Some(at(900)),
            sent: Some(at(910)),
            arrivals: None,
            first_byte: Some(at(5_000)),
            first_body: Some(at(5_010)),
            end: at(9_000),
        };
        assert_eq!(phases(&opened, true), [100, 200, 600, 4_100].into());
        assert_eq!(phases(&opened, false), [100, 800, 0, 4_100].into());
        let reused = Times {
            resolved: None,
            tcp_connected: None,
            connected: None,
            ..opened
        };
        assert_eq!(phases(&reused, false), [0, 0, 0, 5_000].into());
        let refused = Times {
            tcp_connected: None,
            connected: None,
            first_byte: None,
            ..opened
        };
        assert_eq!(phases(&refused, true), [100, 0, 0, 0].into());
    }
}
