//! Streams of the demo site: server-sent events, lines of JSON, and the chunks of a chat completion, at a steady pace.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http_body_util::BodyExt as _;
use hyper::Response;
use hyper::body::{Body, Bytes, Frame};
use hyper::header;
use serde_json::{Value, json};
use tokio::time::{Instant, Sleep, sleep_until};

use super::reply::{self, Reply};
use super::routes::number;

/// The most events of a stream.
const MAX_EVENTS: u64 = 1_000_000;
/// The longest time before an event, in milliseconds.
const MAX_WAIT_MS: u64 = 60_000;

/// The words of a completion.
const WORDS: [&str; 8] = [
    "The ", "drum ", "sounds ", "while ", "the ", "fire ", "burns", ". ",
];

/// How a stream is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Sse,
    Ndjson,
    OpenAi,
}

impl Form {
    /// The form with this name; server-sent events without one.
    pub fn named(name: &str) -> Form {
        match name {
            "ndjson" => Form::Ndjson,
            "openai" => Form::OpenAi,
            _ => Form::Sse,
        }
    }

    fn content_type(self) -> &'static str {
        match self {
            Form::Ndjson => "application/x-ndjson",
            Form::Sse | Form::OpenAi => "text/event-stream",
        }
    }
}

/// A stream by the parameters of a query: `events` (10), `first_ms` before the first (100), `gap_ms` between them (20).
pub(super) fn reply(query: &str, form: Form) -> Reply {
    let ms = |name: &str, default: u64| {
        let ms = number(query, name).unwrap_or(default);
        Duration::from_millis(ms.min(MAX_WAIT_MS))
    };
    let body = Events {
        form,
        sent: 0,
        events: number(query, "events").unwrap_or(10).min(MAX_EVENTS),
        gap: ms("gap_ms", 20),
        due: Box::pin(sleep_until(Instant::now() + ms("first_ms", 100))),
        is_over: false,
    };
    let mut reply = Response::new(body.boxed());
    reply::set(&mut reply, header::CONTENT_TYPE, form.content_type());
    reply::set(&mut reply, header::CACHE_CONTROL, "no-cache");
    reply
}

/// A body with an event at each due time.
struct Events {
    form: Form,
    sent: u64,
    events: u64,
    gap: Duration,
    due: Pin<Box<Sleep>>,
    is_over: bool,
}

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        if self.sent < self.events {
            std::task::ready!(self.due.as_mut().poll(cx));
            let next = self.due.deadline() + self.gap;
            self.due.as_mut().reset(next);
            self.sent += 1;
        } else {
            self.is_over = true;
        }
        let text = if self.is_over {
            end(self.form, self.events)
        } else {
            event(self.form, self.sent)
        };
        if text.is_empty() {
            Poll::Ready(None)
        } else {
            Poll::Ready(Some(Ok(Frame::data(text.into()))))
        }
    }
}

/// The text of an event. It holds the time at which it was made, in microseconds since the Unix epoch.
fn event(form: Form, number: u64) -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let at_us = since.map(|since| since.as_micros() as u64).unwrap_or(0);
    match form {
        Form::Sse => {
            format!("id: {number}\nevent: tick\ndata: {{\"n\":{number},\"at_us\":{at_us}}}\n\n")
        }
        Form::Ndjson => format!("{{\"n\":{number},\"at_us\":{at_us}}}\n"),
        Form::OpenAi => {
            let word = WORDS[(number - 1) as usize % WORDS.len()];
            let role = match number {
                1 => chunk(
                    &json!({ "role": "assistant", "content": "" }),
                    &Value::Null,
                    &Value::Null,
                ),
                _ => String::new(),
            };
            format!(
                "{role}{}",
                chunk(&json!({ "content": word }), &Value::Null, &Value::Null)
            )
        }
    }
}

/// The text after the last event.
fn end(form: Form, events: u64) -> String {
    match form {
        Form::Sse | Form::Ndjson => String::new(),
        Form::OpenAi => {
            let usage = json!({ "prompt_tokens": 8, "completion_tokens": events, "total_tokens": 8 + events });
            let last = chunk(&json!({}), &json!("stop"), &usage);
            format!("{last}data: [DONE]\n\n")
        }
    }
}

/// A chunk of a chat completion.
fn chunk(delta: &Value, finish: &Value, usage: &Value) -> String {
    let chunk = json!({
        "object": "chat.completion.chunk",
        "model": "demo",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
        "usage": usage,
    });
    format!("data: {chunk}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn text(query: &str, form: Form) -> String {
        let body = reply(query, form).into_body();
        let whole = body.collect().await.expect("it has no errors").to_bytes();
        String::from_utf8(whole.to_vec()).expect("it is text")
    }

    #[tokio::test]
    async fn streams_have_as_many_events_as_asked_for() {
        let query = "events=3&first_ms=0&gap_ms=0";
        let sse = text(query, Form::named("sse")).await;
        assert_eq!(sse.matches("\n\n").count(), 3);
        assert!(sse.starts_with("id: 1\nevent: tick\ndata: {\"n\":1,\"at_us\":"));
        let lines = text(query, Form::named("ndjson")).await;
        assert_eq!(lines.lines().count(), 3);
        let none = text("events=0", Form::Sse).await;
        assert!(none.is_empty());
    }

    #[tokio::test]
    async fn completions_end_with_their_tokens() {
        let chat = text("events=2&first_ms=0&gap_ms=0", Form::named("openai")).await;
        let data: Vec<&str> = chat
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .collect();
        let (done, chunks) = data.split_last().expect("there are chunks");
        let chunks: Vec<Value> = chunks
            .iter()
            .map(|text| serde_json::from_str(text).expect("it is JSON"))
            .collect();
        let content = |chunk: &Value| {
            chunk["choices"][0]["delta"]["content"]
                .as_str()
                .map(str::to_owned)
        };
        let words: Vec<_> = chunks.iter().map(content).collect();
        assert_eq!(
            words[1..3],
            [Some("The ".to_owned()), Some("drum ".to_owned())]
        );
        assert_eq!(chunks[3]["usage"]["completion_tokens"], 2);
        assert_eq!((*done, chunks.len()), ("[DONE]", 4));
    }
}
