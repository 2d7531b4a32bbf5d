//! One response in the words of a sample.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use drumfire_health::Stage;
use drumfire_http::{Incoming, Phase, Times};
use drumfire_results::{DataType, Phases, Sample, Text};
use drumfire_web::Exception;
use drumfire_web::charset::decode_latin1;
use drumfire_web::java_client::java_missing_location;
use drumfire_web::property::Client;
use drumfire_web::redirect::{is_redirect, missing_location};
use drumfire_web::response::{self, ResponseHead};
use drumfire_web::url::Url;
use recycle_box::RecycleBox;

use super::HttpSampler;
use super::call::Call;
use super::failure;
use super::hints;
use super::redirects::Nesting;
use super::request::Sending;
use super::transfer::Trouble;
use crate::run::context::Context;

impl HttpSampler {
    /// From the end of the exchange to the finished sample.
    pub(super) async fn complete(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        mut sending: RecycleBox<Sending>,
        mut outcome: Result<Box<Incoming>, Trouble>,
        nesting: Nesting,
    ) -> Option<Box<Sample>> {
        let begin = match &outcome {
            Ok(incoming) => Some(incoming.times.begin),
            Err(Trouble::Interrupted(begin)) => Some(*begin),
            Err(trouble) => trouble.failed_exchange().map(|failure| failure.times.begin),
        };
        sending.sample.start_ms =
            begin.map_or_else(|| cx.clock().now_ms(), |begin| cx.clock().ms(begin));
        if let Ok(incoming) = outcome {
            let unsettled = matches!(incoming.status, 401 | 407)
                || (self.auto_redirects && (300..400).contains(&incoming.status));
            outcome = if unsettled {
                Box::pin(self.settle(cx, call, &mut sending, incoming)).await
            } else {
                Ok(incoming)
            };
        }
        if self.auto_redirects && outcome.is_ok() {
            // Only a response says where it came from at last.
            sending.sample.url = Some(self.asked_address(&sending.url).text());
        }
        match outcome {
            Ok(mut incoming) => {
                let sample = self.read(cx, sending, &mut incoming, nesting);
                super::worker(cx).http.take_back(incoming);
                match sample {
                    Ok(sample) => self.process(cx, call, sample, nesting).await,
                    Err(sample) => Some(sample),
                }
            }
            Err(trouble) => {
                let sending = cx.worker.room.take_request(sending);
                Some(self.failed(cx, sending, &trouble))
            }
        }
    }

    /// The address that was asked: HttpClient's request has it in its own form, without a fragment.
    fn asked_address(&self, url: &Url) -> Url {
        let own = || {
            let wire = url.wire().ok()?;
            let authority = url.authority()?;
            Url::parse(&format!("{}://{authority}{}", url.protocol(), wire.target)).ok()
        };
        match self.client {
            Client::HttpClient => own().unwrap_or_else(|| url.clone()),
            _ => url.clone(),
        }
    }

    /// The sample of a response; as an error, one that JMeter fails on after it came.
    fn read(
        &self,
        cx: &mut Context,
        sending: RecycleBox<Sending>,
        incoming: &mut Incoming,
        nesting: Nesting,
    ) -> Result<Box<Sample>, Box<Sample>> {
        let Sending {
            mut sample,
            mut url,
            method,
            head_text,
            access,
            head,
            ..
        } = cx.worker.room.take_request(sending);
        cx.worker.room.take_head_back(head);
        let refused = access.and_then(|access| access.take_refused());
        let secure = incoming.handshake.is_some();
        if cx.is_timed {
            let stages = &cx.worker.stages;
            stages.add_exchange(&incoming.times, secure, Stage::Read);
        }
        self.read_times(cx, &mut sample, &incoming.times, incoming.reused);
        sample.phases = phases(&incoming.times, secure);
        sample.code = code(incoming.status);
        sample.message = message(incoming.reason());
        sample.success = response::is_success(incoming.status);
        if self.client == Client::HttpClient {
            sample.sent_bytes = incoming.wire.sent_bytes;
        }
        if let Some(value) = incoming.content_type() {
            super::worker(cx).media_type.apply(value, &mut sample);
        }
        self.read_body(&mut sample, incoming);
        sample.request_headers = head_text
            .map(|text| self.shown_request(refused.unwrap_or(text)))
            .map(Into::into);
        let parsed = self.read_head(&mut sample, incoming);
        if is_redirect(incoming.status, &method) {
            match incoming.location() {
                Some(location) => sample.redirect_location = Some(decode_latin1(location).into()),
                // Nothing is missed until it is to be followed.
                None if self.client == Client::Java => {
                    if self.follow_redirects && !nesting.is_redirect {
                        return Err(self.nameless(cx, &java_missing_location()));
                    }
                }
                None => {
                    // JMeter takes the sizes only afterwards.
                    (sample.header_bytes, sample.body_bytes) = (0, 0);
                    let exception = missing_location(&method, &url);
                    return Err(self.fail(sample, &exception));
                }
            }
        }
        if self.auto_redirects && self.client == Client::HttpClient {
            url = url.as_sent().unwrap_or(url);
            sample.url = Some(url.text());
        }
        self.receive_cookies(cx, incoming, &url);
        if let (Some(cache), Some(head)) = (&self.cache, &parsed) {
            let sent = sample.request_headers.clone().unwrap_or_default();
            if let Err(exception) = cache.save(cx, &method, &url, &sent, head) {
                return Err(self.fail(sample, &exception));
            }
        }
        Ok(sample)
    }

    fn receive_cookies(&self, cx: &mut Context, incoming: &Incoming, url: &Url) {
        let Some(cookies) = &self.cookies else {
            return;
        };
        for (name, value) in incoming.headers() {
            if name.eq_ignore_ascii_case(b"Set-Cookie") {
                cookies.receive(cx, &decode_latin1(value), url);
            }
        }
    }

    /// The head as JMeter shows it, if somebody looks at it, and the sizes; gives the head that was shown.
    fn read_head<'a>(
        &self,
        sample: &mut Sample,
        incoming: &'a Incoming,
    ) -> Option<ResponseHead<'a>> {
        let java = self.client != Client::HttpClient;
        sample.header_bytes = incoming.wire.head_bytes;
        // The implementation Java counts what it reads of the body, after chunks and before decompression.
        sample.body_bytes = match java {
            true => incoming.encoded_len.unwrap_or(incoming.body_len),
            false => incoming.wire.body_bytes,
        };
        if !self.needs.headers && self.cache.is_none() {
            return None;
        }
        let head = ResponseHead::parse(&incoming.head)?;
        let mut text = String::new();
        head.append_text(!java && incoming.wire.body_bytes > 0, &mut text);
        let received = sample.header_bytes + sample.body_bytes;
        let sizes = response::sizes(received, &text, head.header_count());
        sample.header_bytes = u64::try_from(sizes.headers).unwrap_or(0);
        sample.body_bytes = u64::try_from(sizes.body).unwrap_or(0);
        sample.response_headers = Some(text.into());
        Some(head)
    }

    /// Latency is the first byte of the body, or the end where there is none, as `HTTPSamplerBase#readResponse` has it.
    fn read_times(&self, cx: &Context, sample: &mut Sample, times: &Times, reused: bool) {
        let clock = cx.clock();
        sample.set_end(clock.ms(times.end));
        sample.service_us = times.end.saturating_duration_since(times.begin).as_micros() as u64;
        sample.mark_latency(clock.ms(times.first_body.unwrap_or(times.end)));
        if let Some(connected) = times
            .connected
            .filter(|_| !reused && self.client == Client::HttpClient)
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

    fn read_body(&self, sample: &mut Sample, incoming: &mut Incoming) {
        // Of nothing no digest is made (`HTTPSamplerBase#readResponse`).
        if let Some(digest) = incoming.md5.filter(|_| incoming.body_len > 0) {
            let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            sample.response_data = Some(Rc::from(hex.into_bytes()));
        } else if let Some(body) = incoming.body.take() {
            sample.response_data = Some(Rc::from(body));
            sample.sniff_html_encoding();
        }
    }

    /// A sample that failed after its response.
    fn fail(&self, mut sample: Box<Sample>, exception: &Exception) -> Box<Sample> {
        failure::apply(&mut sample, exception, self.needs);
        sample
    }

    /// The sample of an exchange that failed.
    pub(super) fn failed(&self, cx: &Context, sending: Sending, trouble: &Trouble) -> Box<Sample> {
        let Sending {
            mut sample,
            target,
            head_text,
            url,
            ..
        } = sending;
        sample.request_headers = head_text.map(Into::into);
        let clock = cx.clock();
        if let Some(failed) = trouble.failed_exchange() {
            hints::tell(cx, failed, &target);
            if cx.is_timed {
                let last = broken_stage(failed.phase);
                cx.worker
                    .stages
                    .add_exchange(&failed.times, target.tls, last);
            }
            sample.set_end(clock.ms(failed.times.end));
            sample.service_us = failed
                .times
                .end
                .saturating_duration_since(failed.times.begin)
                .as_micros() as u64;
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

/// The parts of an exchange, as far as it came. Where nothing shook hands, connecting has all the time to the connection.
fn phases(times: &Times, is_secure: bool) -> Phases {
    let since = |from: Instant, to: Instant| to.saturating_duration_since(from).as_micros() as u64;
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
    phases.wait_us = times.first_byte.map_or(0, |first| since(ready, first));
    phases
}

/// The stage in which an exchange failed.
fn broken_stage(phase: Phase) -> Stage {
    match phase {
        Phase::Resolve => Stage::Resolve,
        Phase::Connect | Phase::Proxy => Stage::Connect,
        Phase::TlsHandshake => Stage::Handshake,
        Phase::Write => Stage::Write,
        Phase::Head => Stage::Wait,
        Phase::Body => Stage::Read,
    }
}

/// The codes that occur need no allocation.
fn code(status: u16) -> Text {
    Text::Static(match status {
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

fn message(reason: &[u8]) -> Text {
    match reason {
        b"OK" => Text::Static("OK"),
        b"" => Text::EMPTY,
        _ => reason
            .iter()
            .map(|byte| char::from(*byte))
            .collect::<String>()
            .into(),
    }
}

/// What the last `Content-Type` said: most responses say the same as the one before.
#[derive(Default)]
pub struct MediaType(RefCell<Option<Known>>);

struct Known {
    /// As received.
    value: Box<[u8]>,
    content_type: Rc<str>,
    encoding: Option<Text>,
    data_type: DataType,
}

impl MediaType {
    /// Gives the sample its type, charset and kind of data.
    fn apply(&self, value: &[u8], sample: &mut Sample) {
        let mut last = self.0.borrow_mut();
        let known = match &mut *last {
            Some(known) if *known.value == *value => known,
            other => other.insert(Known::read(value)),
        };
        sample.content_type = Some(known.content_type.clone());
        if known.encoding.is_some() {
            sample.encoding.clone_from(&known.encoding);
        }
        sample.data_type.clone_from(&known.data_type);
    }
}

impl Known {
    fn read(value: &[u8]) -> Known {
        let text = decode_latin1(value);
        let mut sample = Sample::default();
        sample.set_encoding_and_type(&text);
        Known {
            value: value.into(),
            content_type: text.into(),
            encoding: sample.encoding,
            data_type: sample.data_type,
        }
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

    #[test]
    fn a_content_type_is_read_anew_when_it_changes() {
        let media_type = MediaType::default();
        let read = |value: &[u8]| {
            let mut sample = Sample::default();
            media_type.apply(value, &mut sample);
            let encoding = sample.encoding.map(|name| name.as_str().to_owned());
            (
                sample.data_type,
                encoding,
                sample.content_type.expect("it is set"),
            )
        };
        for _ in 0..2 {
            let (kind, encoding, value) = read(b"text/html; charset=utf-8");
            assert_eq!((kind, encoding.as_deref()), (DataType::Text, Some("utf-8")));
            assert_eq!(&*value, "text/html; charset=utf-8");
        }
        let (kind, encoding, value) = read(b"image/png\xe9");
        assert_eq!((kind, encoding), (DataType::Binary, None));
        assert_eq!(&*value, "image/png\u{e9}");
    }
}
