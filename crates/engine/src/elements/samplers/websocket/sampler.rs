//! One sample of a WebSocket sampler.

use std::sync::Arc;
use std::time::Instant;

use drumfire_expr::Template;
use drumfire_http::{Frame, Opcode};
use drumfire_results::{DataType, Sample, SharedText};
use drumfire_web::url::Url;

use super::call::WebSocketCall;
use super::client::WebSocketClient;
use super::decode::{DataType as Wanted, Payload, PayloadType, WebSocketAction, WebSocketAddress};
use super::filter::Filter;
use super::stop::WebSocketFailure;
use super::{call, filter, frames, upgrade};
use crate::elements::config::{CookieManager, HeaderManager, merged_headers};
use crate::elements::samplers::http::proxy::GeneralProxy;
use crate::elements::samplers::http::state::{user, worker};
use crate::elements::samplers::own_part::own_us;
use crate::run::context::{Context, StateId};
use crate::run::needs::Needs;
use crate::run::sampler::{Sampler, SamplerTurn};

/// A decoded WebSocket sampler.
pub struct WebSocketSampler {
    pub deed: WebSocketAction,
    /// The address of new connections, for samplers that can open one.
    pub address: Option<WebSocketAddress>,
    pub connect_timeout: Option<Template>,
    pub read_timeout: Option<Template>,
    /// Header Managers in scope, the innermost first.
    pub headers: Vec<HeaderManager>,
    pub cookies: Option<Arc<CookieManager>>,
    pub proxy: GeneralProxy,
    pub filters: Vec<Filter>,
    /// The user's connection, which all WebSocket samplers share.
    pub client: StateId,
    /// `websocket.result.size_includes_filtered_frames`.
    pub counts_filtered: bool,
    pub rename_children: bool,
    pub needs: Needs,
}

impl WebSocketSampler {
    /// `WebsocketSampler#sample`. A sample that fails before it sends anything begins and ends now; in JMeter it has no
    /// times at all.
    pub async fn sample(&self, cx: &mut Context, name: &Template) -> Sample {
        let mut sample = Sample::new(name.eval(cx).into_value(), cx.thread_name.clone());
        sample.start_ms = cx.clock().now_ms();
        sample.set_end(sample.start_ms);
        let call = match WebSocketCall::evaluate(self, cx) {
            Ok(call) => call,
            Err(error) => {
                fail(
                    &mut sample,
                    "Sampler error",
                    format!("Sampler error: {error}"),
                );
                return sample;
            }
        };
        let Some(mut client) = self.client(cx, &call, &mut sample) else {
            return sample;
        };
        let connects = !client.is_connected();
        let headers = if connects {
            self.headers(cx, &client, &mut sample)
        } else {
            Vec::new()
        };
        let (begin, begin_ns) = (Instant::now(), cx.clock().now_ns());
        sample.start_ms = (begin_ns / 1_000_000) as i64;
        client.begin(worker(cx).http.max_exchange());
        let mut opened = None;
        let outcome = if connects {
            let proxy = self.proxy.for_client(client.host());
            let opening = client.open(cx, call.limits(), &headers, proxy.map(Arc::as_ref));
            opening.await.map(|open| {
                sample.mark_connect(cx.clock().now_ms());
                sample.header_bytes = open.received_bytes;
                sample.sent_bytes = open.sent_bytes;
                opened = Some(open.answer);
            })
        } else {
            Ok(())
        };
        if self.needs.request {
            let reused = if connects {
                ""
            } else {
                "(using existing connection)\n"
            };
            let text = format!("Connect URL:\n{}\n{reused}", client.shown_url());
            sample.sampler_data = Some(text.into());
        }
        let outcome = match outcome {
            Ok(()) => self.act(cx, &mut client, &call, &mut sample).await,
            Err(stop) => Err(stop),
        };
        let end_ns = cx.clock().now_ns();
        sample.set_end((end_ns / 1_000_000) as i64);
        sample.service_us = (end_ns - begin_ns) / 1000;
        let is_new = opened.is_some();
        match outcome {
            Ok(frame) => {
                sample.own_us = own_us(begin, client.arrived());
                self.succeed(cx, &client, &mut sample, frame, opened);
            }
            Err(stop) => self.explain(&client, &mut sample, stop),
        }
        if is_new || client.is_connected() {
            cx.put_state(self.client, client);
        }
        sample
    }

    /// `prepareWebSocketClient`: the user's connection, or one that is yet to be opened. If there is neither, fails the
    /// sample.
    fn client(
        &self,
        cx: &mut Context,
        call: &WebSocketCall,
        sample: &mut Sample,
    ) -> Option<Box<WebSocketClient>> {
        let client: Option<Box<WebSocketClient>> = cx.take_state(self.client);
        if let Some(address) = &call.address {
            if let Some(mut client) = client {
                client.dispose();
            }
            return Some(Box::new(WebSocketClient::new(address)));
        }
        if client.is_none() {
            match self.deed {
                WebSocketAction::Close { .. } => {
                    sample.sampler_data = Some("No request sent.".into());
                    sample.message = SharedText::Static("No connection; nothing to close.");
                }
                WebSocketAction::PingPong { .. } => fail(
                    sample,
                    "Sampler error",
                    "Sampler must use existing connection, but there is no connection",
                ),
                _ => fail(
                    sample,
                    "Sampler error",
                    "Sampler configured for using existing connection, but there is no connection",
                ),
            }
        }
        client
    }

    /// The request's additional headers, in the order of a `HashMap`; the sample shows them.
    fn headers(
        &self,
        cx: &mut Context,
        client: &WebSocketClient,
        sample: &mut Sample,
    ) -> Vec<(String, String)> {
        if self.headers.is_empty() && self.cookies.is_none() {
            return Vec::new();
        }
        let mut map: Vec<(String, String)> = Vec::new();
        let mut put =
            |name: String, value: String| match map.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = value,
                None => map.push((name, value)),
            };
        let changed = user(cx).changed_headers();
        let merged = merged_headers(&self.headers, &changed, &mut |_, template| {
            template.eval(cx)
        });
        for header in merged {
            if !header.name.trim().is_empty() {
                put(header.name.into_owned(), header.value.into_owned());
            }
        }
        let cookies = self.cookies.as_ref().and_then(|cookies| {
            let url = Url::parse(&client.http_url()).ok()?;
            cookies.header(cx, &url)
        });
        if let Some(cookies) = cookies {
            put("Cookie".to_owned(), cookies);
        }
        upgrade::order_as_hash_map(&mut map);
        if self.needs.request {
            let lines: Vec<String> = map
                .iter()
                .map(|(name, value)| format!("{name}: {value}"))
                .collect();
            sample.request_headers = Some(lines.join("\n").into());
        }
        map
    }

    /// `doSample`: what the sampler does on its connection.
    async fn act(
        &self,
        cx: &mut Context,
        client: &mut WebSocketClient,
        call: &WebSocketCall,
        sample: &mut Sample,
    ) -> Result<Option<Frame>, WebSocketFailure> {
        match &self.deed {
            WebSocketAction::Open => Ok(None),
            WebSocketAction::RequestResponse(payload) => {
                self.send(cx, client, payload, sample).await?;
                let frame = self.receive(cx, client, call, sample).await?;
                let fits = match payload.kind {
                    PayloadType::Binary => client.is_binary(&frame),
                    PayloadType::Text | PayloadType::TextStomp => client.is_text(&frame),
                };
                if fits {
                    Ok(Some(frame))
                } else {
                    Err(WebSocketFailure::Unexpected(frame))
                }
            }
            WebSocketAction::Write(payload) => {
                self.send(cx, client, payload, sample).await?;
                Ok(None)
            }
            WebSocketAction::Read { wanted, .. } => {
                let frame = match self.receive(cx, client, call, sample).await {
                    Err(WebSocketFailure::ReadTimeout) if call.optional => return Ok(None),
                    received => received?,
                };
                let (is_text, is_binary) = (client.is_text(&frame), client.is_binary(&frame));
                let fits = match wanted {
                    Wanted::Text => is_text,
                    Wanted::Binary => is_binary,
                    Wanted::Any => is_text || is_binary,
                };
                if fits {
                    Ok(Some(frame))
                } else {
                    Err(WebSocketFailure::Unexpected(frame))
                }
            }
            WebSocketAction::PingPong { pong_only } => {
                let opcode = if *pong_only {
                    Opcode::Pong
                } else {
                    Opcode::Ping
                };
                sample.sent_bytes = client.send(cx, opcode, &[]).await?;
                if *pong_only {
                    return Ok(None);
                }
                let frame = self.receive(cx, client, call, sample).await?;
                match frame.opcode {
                    Opcode::Pong => Ok(Some(frame)),
                    _ => Err(WebSocketFailure::Unexpected(frame)),
                }
            }
            WebSocketAction::Close { .. } => self.close(cx, client, call, sample).await,
        }
    }

    async fn close(
        &self,
        cx: &mut Context,
        client: &mut WebSocketClient,
        call: &WebSocketCall,
        sample: &mut Sample,
    ) -> Result<Option<Frame>, WebSocketFailure> {
        const REASON: &str = "sampler requested close";
        let text = call.close_status.as_str();
        let Ok(status) = text.parse::<i32>() else {
            return Err(WebSocketFailure::Exception(call::not_a_number(text).into()));
        };
        if self.needs.request {
            let request_text =
                format!("Requested connection close with status {status} and reason '{REASON}'.");
            sample.sampler_data = Some(request_text.into());
        }
        let mut payload = (status as u16).to_be_bytes().to_vec();
        payload.extend_from_slice(REASON.as_bytes());
        sample.sent_bytes = client.send_close(cx, &payload).await?;
        let frame = self.receive(cx, client, call, sample).await?;
        match frame.opcode {
            Opcode::Close => Ok(Some(frame)),
            _ => Err(WebSocketFailure::Unexpected(frame)),
        }
    }

    /// `sendFrame`.
    async fn send(
        &self,
        cx: &mut Context,
        client: &mut WebSocketClient,
        payload: &Payload,
        sample: &mut Sample,
    ) -> Result<(), WebSocketFailure> {
        let request = match payload.evaluate(cx) {
            Ok(request) => request,
            Err(message) => {
                fail(sample, "Sampler Error", message);
                return Err(WebSocketFailure::Aborted);
            }
        };
        if self.needs.request {
            let before = sample.sampler_data.as_deref().unwrap_or_default();
            let text = format!("{before}\nRequest data:\n{}\n", request.shown());
            sample.sampler_data = Some(text.into());
        }
        sample.sent_bytes = client.send(cx, request.opcode, &request.bytes).await?;
        Ok(())
    }

    /// `readFrame`, through the filters.
    async fn receive(
        &self,
        cx: &mut Context,
        client: &mut WebSocketClient,
        call: &WebSocketCall,
        sample: &mut Sample,
    ) -> Result<Frame, WebSocketFailure> {
        match self.filters.as_slice() {
            [] => client.receive(cx, call.read_timeout_ms).await,
            filters => {
                let mut left_out = Vec::new();
                let sieve = filter::FilterChain {
                    filters,
                    counts: self.counts_filtered,
                    keeps_body: self.needs.body,
                };
                let received = sieve
                    .receive(cx, client, call.read_timeout_ms, sample, &mut left_out)
                    .await;
                for child in left_out {
                    sample.attach_child(child, self.rename_children);
                }
                received
            }
        }
    }

    fn succeed(
        &self,
        cx: &mut Context,
        client: &WebSocketClient,
        sample: &mut Sample,
        frame: Option<Frame>,
        opened: Option<upgrade::UpgradeHeaders>,
    ) {
        if let Some(frame) = &frame {
            let (head_bytes, payload_bytes) = frames::sizes(frame);
            sample.header_bytes += head_bytes;
            sample.body_bytes += payload_bytes;
        }
        sample.set_ok();
        if let Some(answer) = opened {
            sample.code = SharedText::Static("101");
            sample.message = SharedText::Static("Switching Protocols");
            if self.needs.headers {
                sample.response_headers = Some(answer.shown().into());
            }
        }
        match (&self.deed, frame) {
            (WebSocketAction::RequestResponse(_) | WebSocketAction::Read { .. }, Some(frame)) => {
                self.keep(cx, sample, &frame, client.is_binary(&frame));
            }
            (WebSocketAction::Read { .. }, None) => {
                sample.code = SharedText::Static("No response");
                sample.message = SharedText::Static("Read timeout, no response received.");
            }
            (WebSocketAction::Close { .. }, Some(frame)) => {
                let close = frames::CloseReason::of(&frame.payload);
                let status = close
                    .status
                    .map(|status| status.to_string())
                    .unwrap_or_default();
                let (reason, data) = match &close.reason {
                    Some(reason) => (
                        format!("Connection closed; close reason: '{reason}'."),
                        format!("{status}: {reason}"),
                    ),
                    None => ("Connection closed.".to_owned(), status.clone()),
                };
                sample.message = reason.into();
                sample.code = status.into();
                self.keep_text(sample, data.as_bytes());
            }
            _ => {}
        }
    }

    /// `processDefaultReadResponse`.
    fn keep(&self, cx: &mut Context, sample: &mut Sample, frame: &Frame, is_binary: bool) {
        if is_binary {
            sample.data_type = DataType::Binary;
            sample.response_data = self.needs.body.then(|| frame.payload.as_slice().into());
        } else {
            let text = String::from_utf8_lossy(&frame.payload);
            self.keep_text(sample, text.as_bytes());
        }
        let is_final = if frame.is_final { "true" } else { "false" };
        cx.vars
            .set_named("websocket.last_frame_final", is_final.into());
    }

    fn keep_text(&self, sample: &mut Sample, text: &[u8]) {
        sample.data_type = DataType::Text;
        sample.encoding = Some(SharedText::Static("UTF-8"));
        sample.response_data = self.needs.body.then(|| text.into());
    }

    /// The message of a failure.
    fn explain(&self, client: &WebSocketClient, sample: &mut Sample, stop: WebSocketFailure) {
        const IO: &str = "Websocket I/O error";
        match stop {
            WebSocketFailure::Upgrade(code, message) => fail(sample, code, message),
            WebSocketFailure::Io(message) => {
                fail(sample, IO, format!("WebSocket I/O error: {message}"))
            }
            WebSocketFailure::ReadTimeout => {
                fail(sample, IO, "WebSocket I/O error: Read timed out")
            }
            WebSocketFailure::Aborted => {}
            WebSocketFailure::Exception(text) => {
                fail(sample, "Sampler error", format!("Sampler error: {text}"));
            }
            WebSocketFailure::Unexpected(frame) => {
                let shown = frames::shown(&frame, client.is_binary(&frame));
                if let WebSocketAction::Close { .. } = self.deed {
                    fail(
                        sample,
                        "WebSocket error: unsuccesful close.",
                        format!("WebSocket error: received not a close frame, but {shown}"),
                    );
                } else {
                    let kind = frames::kind(&frame);
                    let code = format!("Sampler error: unexpected frame type ({kind}).");
                    fail(sample, code, format!("Received: {shown}"));
                }
            }
        }
    }
}

fn fail(sample: &mut Sample, code: impl Into<SharedText>, message: impl Into<SharedText>) {
    sample.success = false;
    sample.code = code.into();
    sample.message = message.into();
}

impl Sampler for WebSocketSampler {
    fn turn<'a>(&'a self, cx: &'a mut Context, name: &'a Template) -> SamplerTurn<'a> {
        SamplerTurn::wait(async move { Some(Box::new(self.sample(cx, name).await)) })
    }
}
