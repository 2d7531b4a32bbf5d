//! A connection with its patterns, its latest messages and its log (`ServiceSocket`).

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use drumfire_http::{Frame, Limits, Opcode};
use drumfire_platform::message_error;
use drumfire_query::regex::{Dialect, Pattern, RegexOptions};

use super::super::client::WebSocketClient;
use super::super::frames::CloseReason;
use super::super::inflater::too_large;
use super::super::stop::WebSocketFailure;
use crate::elements::samplers::http::state::worker;
use crate::run::context::{Context, Unfinished};

/// Messages that are kept if the plan does not say.
const DEFAULT_BACKLOG: usize = 3;

const NORMAL: i32 = 1000;
const PROTOCOL_ERROR: i32 = 1002;
const NO_STATUS: i32 = 1005;
const LOST: i32 = 1006;
const NOT_UTF_8: i32 = 1007;
const TOO_LARGE: i32 = 1009;

message_error! {
    /// A line under `[Problems]` in the response message of a sample that fails.
    pub(super) struct Problem;
}

impl Problem {
    /// An exception without words of its own.
    pub fn unexpected(text: impl std::fmt::Display) -> Problem {
        format!("Unexpected error: {text}").into()
    }

    fn interrupted() -> Problem {
        "Execution interrupted: null".into()
    }
}

/// The settings that a connection takes from the sampler that opens it.
pub(super) struct LinkSettings {
    pub response_pattern: String,
    pub close_pattern: String,
    pub backlog: String,
    pub streams: bool,
    /// The memory that messages and log may take.
    pub max_bytes: u64,
}

/// A connection, whether it could be opened or not.
pub(super) struct Link {
    client: WebSocketClient,
    settings: LinkSettings,
    /// `None` accepts every message.
    response: Option<Pattern>,
    /// `None` accepts no message.
    close: Option<Pattern>,
    backlog: VecDeque<String>,
    /// Bytes of the backlog.
    backlog_bytes: usize,
    /// The message whose fragments are arriving.
    message: Vec<u8>,
    messages: u64,
    log: String,
    /// Why there never was a connection.
    unopened: Option<String>,
    is_open: bool,
    /// Whether the sample need not wait any longer.
    is_over: bool,
    /// The status with which the server closed the connection during the sample, unless that was normal.
    pub error: Option<i32>,
}

impl Link {
    pub fn new(client: WebSocketClient, settings: LinkSettings) -> Link {
        let mut log = "\n\n[Execution Flow]\n - Opening new connection\n".to_owned();
        let response = compiled(&mut log, "response message", &settings.response_pattern);
        let close = compiled(&mut log, "disconnect", &settings.close_pattern);
        Link {
            client,
            response,
            close: close.filter(|_| !settings.close_pattern.is_empty()),
            settings,
            backlog: VecDeque::new(),
            backlog_bytes: 0,
            message: Vec::new(),
            messages: 0,
            log,
            unopened: None,
            is_open: false,
            is_over: false,
            error: None,
        }
    }

    /// Begins a sample, which `drumfire.max_exchange_ms` limits.
    pub fn begin(&mut self, cx: &Context) {
        self.client.begin(worker(cx).http.max_exchange());
    }

    pub fn streams(&self) -> bool {
        self.settings.streams
    }

    /// `awaitOpen`: connects. A connection that cannot be opened takes all of `limit`, as in the plugin, where nothing tells the
    /// sampler of a failure.
    pub async fn open(
        &mut self,
        cx: &mut Context,
        limit: Duration,
        headers: &[(String, String)],
    ) -> Result<(), Problem> {
        self.tell(format_args!(
            " - Waiting for the server connection for {} MILLISECONDS\n",
            limit.as_millis()
        ));
        let due = Instant::now() + limit;
        let limits = Limits {
            connect: Some(limit),
            response: Some(limit),
            ..Limits::default()
        };
        // Both parts of opening have the limit, and the whole has it, too.
        let opening = tokio::time::timeout(limit, self.client.open(cx, limits, headers, None));
        let opened = opening.await.unwrap_or(Err(WebSocketFailure::ReadTimeout));
        match opened {
            Ok(_) => {
                self.is_open = true;
                self.log.push_str(
                    " - WebSocket conection has been opened\n - Connection established\n",
                );
            }
            Err(failure) => {
                let cause = words(failure);
                tracing::warn!("WebSocket Sampler: {}: {cause}", self.client.shown_url());
                self.unopened = Some(cause);
                if !cx.attend_sleep(due).await {
                    return Err(Problem::interrupted());
                }
                self.log
                    .push_str(" - Cannot connect to the remote server\n");
            }
        }
        Ok(())
    }

    /// `initialize`: begins a later sample on a streaming connection. Messages that arrived since the last one join the backlog.
    pub async fn reuse(&mut self, cx: &mut Context, limit: Duration) {
        let due = Instant::now() + limit;
        while self.is_open && Instant::now() < due {
            let Some(received) = at_once(self.client.receive(cx, 0)).await else {
                break;
            };
            self.take(cx, received).await;
        }
        self.log = "\n\n[Execution Flow]\n - Reusing exising connection\n".to_owned();
        self.error = None;
        self.is_over = false;
    }

    pub async fn send(&mut self, cx: &mut Context, payload: &str) -> Result<u64, Problem> {
        if let Some(cause) = &self.unopened {
            return Err(Problem::unexpected(format_args!(
                "Cannot invoke \"org.eclipse.jetty.websocket.api.Session.getRemote()\" because \"this.session\" is null\n{cause}"
            )));
        }
        if !self.is_open {
            return Err(Problem::unexpected(
                "RemoteEndpoint unavailable, current state [CLOSED], expecting [OPEN or CONNECTED]",
            ));
        }
        let sent = self.client.send(cx, Opcode::Text, payload.as_bytes()).await;
        sent.map_err(|failure| format!("IO Exception: {}", words(failure)).into())
    }

    /// `awaitClose`: waits for a message that matches, for the end of the connection, or for `limit`.
    pub async fn wait(&mut self, cx: &mut Context, limit: Duration) -> Result<(), Problem> {
        self.tell(format_args!(
            " - Waiting for messages for {} MILLISECONDS\n",
            limit.as_millis()
        ));
        let due = Instant::now() + limit;
        while !self.is_over {
            if !self.is_open {
                if !cx.attend_sleep(due).await {
                    return Err(Problem::interrupted());
                }
                break;
            }
            match cx.attend_by(Some(due), self.client.receive(cx, 0)).await {
                Ok(received) => self.take(cx, received).await,
                Err(Unfinished::TooLong) => break,
                Err(_) => return Err(Problem::interrupted()),
            }
        }
        if self.settings.streams {
            self.log.push_str(" - Leaving streaming connection open\n");
        } else {
            self.close(cx).await;
            self.log
                .push_str(" - WebSocket client closed by the client\n");
        }
        Ok(())
    }

    /// Takes what has arrived.
    async fn take(&mut self, cx: &mut Context, received: Result<Frame, WebSocketFailure>) {
        let frame = match received {
            Ok(frame) => frame,
            Err(failure) => {
                let status = match failure {
                    WebSocketFailure::Exception(_) => PROTOCOL_ERROR,
                    _ => LOST,
                };
                return self.end(status, Some(&words(failure)));
            }
        };
        match frame.opcode {
            Opcode::Ping => {
                // If it cannot be sent, the next read tells why.
                let _ = self.client.send(cx, Opcode::Pong, &frame.payload).await;
            }
            Opcode::Close => {
                let _ = self.client.send_close(cx, &frame.payload).await;
                let close = CloseReason::of(&frame.payload);
                let status = close.status.unwrap_or(NO_STATUS);
                let reason = close.reason.filter(|reason| !reason.is_empty());
                self.end(status, reason.as_deref());
            }
            _ if self.client.is_text(&frame) => {
                if !self.client.is_partly_inflated(&frame) {
                    self.message.extend_from_slice(&frame.payload);
                }
                let bytes = self.message.len() + self.backlog_bytes + self.log.len();
                if bytes as u64 > self.settings.max_bytes {
                    self.client.dispose();
                    return self.end(TOO_LARGE, Some(&too_large(self.settings.max_bytes)));
                }
                if frame.is_final {
                    let message = std::mem::take(&mut self.message);
                    self.read(cx, message).await;
                }
            }
            _ => {}
        }
    }

    /// `onMessage`.
    async fn read(&mut self, cx: &mut Context, message: Vec<u8>) {
        let Ok(text) = String::from_utf8(message) else {
            let mut payload = (NOT_UTF_8 as u16).to_be_bytes().to_vec();
            payload.extend_from_slice(b"Not valid UTF8!");
            let _ = self.client.send_close(cx, &payload).await;
            self.client.dispose();
            return self.end(NOT_UTF_8, Some("Not valid UTF8!"));
        };
        self.messages += 1;
        let (number, length) = (self.messages, text.encode_utf16().count());
        self.tell(format_args!(
            " - Received message #{number} ({length} bytes)"
        ));
        self.keep(format!("[Message {number}]\n{text}\n\n"));
        if self
            .response
            .as_ref()
            .is_none_or(|pattern| pattern.is_match(&text))
        {
            self.log.push_str("; matched response pattern\n");
            self.is_over = true;
        } else if self
            .close
            .as_ref()
            .is_some_and(|pattern| pattern.is_match(&text))
        {
            self.log.push_str("; matched connection close pattern\n");
            self.is_over = true;
            self.close(cx).await;
        } else {
            self.log.push_str("; didn't match any pattern\n");
        }
    }

    /// `addResponseMessage`.
    fn keep(&mut self, message: String) {
        let most = match self.settings.backlog.parse::<i32>() {
            Ok(most) => usize::try_from(most).unwrap_or_default(),
            Err(_) => {
                self.tell(format_args!(
                    " - Message backlog value not set; using default {DEFAULT_BACKLOG}\n"
                ));
                DEFAULT_BACKLOG
            }
        };
        self.backlog_bytes += message.len();
        self.backlog.push_back(message);
        while self.backlog.len() > most {
            let oldest = self.backlog.pop_front().unwrap_or_default();
            self.backlog_bytes -= oldest.len();
        }
    }

    /// `onClose`.
    fn end(&mut self, status: i32, reason: Option<&str>) {
        if status == NORMAL {
            self.log
                .push_str(" - WebSocket conection has been successfully closed by the server\n");
        } else {
            let reason = reason.unwrap_or("null");
            self.tell(format_args!(
                " - WebSocket conection closed unexpectedly by the server: [{status}] {reason}\n"
            ));
            self.error = Some(status);
        }
        self.is_open = false;
        self.is_over = true;
    }

    /// `close`: in the log, Jetty's client calls its own closing one of the server.
    async fn close(&mut self, cx: &mut Context) {
        if self.unopened.is_some() {
            self.log
                .push_str(" - WebSocket session wasn't started (...that's odd)\n");
            return;
        }
        if self.is_open {
            let mut payload = (NORMAL as u16).to_be_bytes().to_vec();
            payload.extend_from_slice(b"JMeter closed session.");
            // The connection ends all the same.
            let _ = self.client.send_close(cx, &payload).await;
            self.end(NORMAL, None);
        }
        self.client.dispose();
        self.log
            .push_str(" - WebSocket session closed by the client\n");
    }

    /// The messages that are kept (`getResponseMessage`).
    pub fn response(&self) -> String {
        self.backlog.iter().map(String::as_str).collect()
    }

    /// The log of the sample at hand (`getLogMessage`).
    pub fn log(&self) -> String {
        format!(
            "{}\n\n[Variables]\n - Message count: {}\n",
            self.log, self.messages
        )
    }

    fn tell(&mut self, line: std::fmt::Arguments<'_>) {
        self.log.write_fmt(line).expect("a String takes every text");
    }
}

/// A pattern of the plan; `None` if Java would not compile it, which the log tells.
fn compiled(log: &mut String, name: &str, text: &str) -> Option<Pattern> {
    log.push_str(&format!(" - Using {name} pattern \"{text}\"\n"));
    match Pattern::compile(text, Dialect::Java, RegexOptions::default()) {
        Ok(pattern) => Some(pattern),
        Err(error) => {
            let thrown = error.exception_text(text, Dialect::Java);
            let why = thrown
                .split_once(": ")
                .map(|(_, why)| why)
                .unwrap_or(&*thrown);
            log.push_str(&format!(
                " - Invalid {name} regular expression pattern: {why}\n"
            ));
            tracing::error!("Invalid {name} regular expression pattern: {why}");
            None
        }
    }
}

/// The words of a failure of the connection.
fn words(failure: WebSocketFailure) -> String {
    match failure {
        WebSocketFailure::Io(text) if text == "end of stream" => "Read EOF".to_owned(),
        WebSocketFailure::Io(text)
        | WebSocketFailure::Exception(text)
        | WebSocketFailure::Upgrade(_, text) => text,
        WebSocketFailure::ReadTimeout => "Read timed out".to_owned(),
        WebSocketFailure::Unexpected(_) | WebSocketFailure::Aborted => String::new(),
    }
}

/// Polls `work` once; `None` if it waits.
async fn at_once<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    std::future::poll_fn(|task| {
        Poll::Ready(match work.as_mut().poll(task) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        })
    })
    .await
}
