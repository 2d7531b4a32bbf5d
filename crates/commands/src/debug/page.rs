//! Answers the browser's requests of a debugging session: paths below `/api/debug`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use drumfire_engine::{Control, SampleView};
use drumfire_serve::{Extension, Refused};
use serde::Deserialize;
use serde_json::{Value, json};

use super::session::{Change, DebugSession, Pace, Shown, part_name};
use super::text::Secrets;
use super::{curl, testers};

/// The page of a session.
pub struct DebugPage {
    session: DebugSession,
    secrets: Secrets,
    control: Control,
    /// Set when the browser asks to close the session.
    is_closed: Arc<AtomicBool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Go {
    pace: String,
    /// New values of variables; null removes a variable.
    #[serde(default)]
    edits: BTreeMap<String, Option<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Breakpoints {
    names: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TextTest {
    sample: usize,
    kind: String,
    expression: String,
}

impl DebugPage {
    /// The page of a session. It sets `is_closed` when the browser closes the session.
    pub fn new(
        session: DebugSession,
        secrets: Secrets,
        control: Control,
        is_closed: Arc<AtomicBool>,
    ) -> DebugPage {
        DebugPage {
            session,
            secrets,
            control,
            is_closed,
        }
    }

    fn overview(&self) -> Value {
        let samples: Vec<Value> = self.session.samples(|samples| {
            let samples = (1..).zip(samples);
            samples
                .map(|(number, shown)| brief(number, shown, self.secrets))
                .collect()
        });
        let halted = self.session.halted().map(|halted| {
            json!({
                "part": part_name(halted.turn.part),
                "name": halted.turn.name,
                "class": halted.turn.class,
                "threadName": halted.thread_name,
                "variables": self.variables(&halted.variables),
            })
        });
        json!({
            "samples": samples,
            "halted": halted,
            "breakpoints": self.session.breakpoints(),
            "over": self.session.is_over(),
        })
    }

    fn sample(&self, number: usize) -> Result<Value, Refused> {
        self.session.samples(|samples| {
            let shown = number.checked_sub(1).and_then(|place| samples.get(place));
            let shown = shown.ok_or("There is no such sample")?;
            let steps: Vec<Value> = shown
                .steps
                .iter()
                .map(|step| {
                    let changes: Vec<Value> = step
                        .changes
                        .iter()
                        .map(|change| self.change(change))
                        .collect();
                    json!({
                        "part": part_name(step.turn.part),
                        "name": step.turn.name,
                        "class": step.turn.class,
                        "changes": changes,
                    })
                })
                .collect();
            Ok(json!({
                "number": number,
                "threadName": shown.thread_name,
                "sample": self.view(&shown.sample),
                "steps": steps,
                "variables": self.variables(&shown.variables),
            }))
        })
    }

    fn change(&self, change: &Change) -> Value {
        let shown = |value: &Option<String>| {
            let value = value.as_ref();
            value.map(|value| self.secrets.value(&change.name, value).into_owned())
        };
        json!({ "name": change.name, "before": shown(&change.before), "after": shown(&change.after) })
    }

    fn variables(&self, variables: &BTreeMap<String, String>) -> Value {
        let shown = variables.iter();
        let shown =
            shown.map(|(name, value)| (name.clone(), self.secrets.value(name, value).into()));
        Value::Object(shown.collect())
    }

    fn view(&self, sample: &SampleView) -> Value {
        let secrets = self.secrets;
        let masked = SampleView {
            url: secrets.fields(&sample.url).into_owned(),
            request_headers: secrets.headers(&sample.request_headers).into_owned(),
            cookies: secrets.cookies(&sample.cookies).to_owned(),
            request_body: secrets.fields(&sample.request_body).into_owned(),
            children: Vec::new(),
            ..sample.clone()
        };
        let children: Vec<Value> = sample
            .children
            .iter()
            .map(|child| self.view(child))
            .collect();
        let assertions = sample.assertions.iter().map(|(name, fault)| {
            let fault = fault.as_ref().map(|fault| secrets.fields(fault));
            json!({"name": name, "fault": fault})
        });
        let assertions: Vec<Value> = assertions.collect();
        json!({
            "label": secrets.fields(&sample.label), "code": sample.code,
            "message": secrets.fields(&sample.message), "success": sample.success, "startMs": sample.start_ms, "elapsedUs": sample.elapsed_us, "latencyMs": sample.latency_ms,
            "connectMs": sample.connect_ms, "sentBytes": sample.sent_bytes, "receivedBytes": sample.received_bytes,
            "url": masked.url, "method": sample.method, "requestHeaders": masked.request_headers,
            "cookies": masked.cookies, "requestBody": masked.request_body,
            "responseHeaders": secrets.headers(&sample.response_headers), "contentType": sample.content_type,
            "responseBody": secrets.fields(&sample.response_body), "isBinary": sample.is_binary,
            "assertions": assertions,
            "curl": curl::command(&masked), "children": children,
        })
    }

    fn test(&self, test: &TextTest) -> Result<Value, Refused> {
        let body = self.session.samples(|samples| {
            let shown = test
                .sample
                .checked_sub(1)
                .and_then(|place| samples.get(place));
            shown.map(|shown| shown.sample.response_body.clone())
        });
        let body = body.ok_or("There is no such sample")?;
        let found = testers::find(&test.kind, &test.expression, &body)?;
        Ok(json!({ "found": found }))
    }

    fn go(&self, go: Go) -> Result<Value, Refused> {
        let pace = Pace::of_word(&go.pace)?;
        self.session.go_on(pace, go.edits.into_iter().collect());
        Ok(json!({}))
    }
}

impl Extension for DebugPage {
    fn facts(&self) -> Value {
        json!({ "kind": "debug" })
    }

    fn answer(&self, method: &str, path: &str, body: &[u8]) -> Option<Result<Value, Refused>> {
        let path = path.strip_prefix("/api/debug")?;
        Some(match (method, path) {
            ("GET", "") => Ok(self.overview()),
            ("GET", path) => {
                let number = path.strip_prefix("/samples/")?.parse().ok()?;
                self.sample(number)
            }
            ("POST", "/go") => read(body).and_then(|go| self.go(go)),
            ("POST", "/break") => read(body).map(|wanted: Breakpoints| {
                self.session.break_at(wanted.names);
                json!({})
            }),
            ("POST", "/test") => read(body).and_then(|test: TextTest| self.test(&test)),
            ("POST", "/end") => {
                self.control.shutdown_soon();
                self.session.end();
                Ok(json!({}))
            }
            ("POST", "/close") => {
                self.control.shutdown_soon();
                self.session.end();
                self.is_closed.store(true, Ordering::Relaxed);
                Ok(json!({}))
            }
            _ => return None,
        })
    }
}

fn read<T: for<'de> Deserialize<'de>>(body: &[u8]) -> Result<T, Refused> {
    serde_json::from_slice(body).map_err(|error| format!("The body does not fit: {error}").into())
}

fn brief(number: usize, shown: &Shown, secrets: Secrets) -> Value {
    fn of(sample: &SampleView, secrets: Secrets) -> Value {
        json!({
            "label": secrets.fields(&sample.label),
            "code": sample.code,
            "message": secrets.fields(&sample.message),
            "success": sample.success,
            "elapsedUs": sample.elapsed_us,
            "children": sample.children.iter().map(|child| of(child, secrets)).collect::<Vec<_>>(),
        })
    }
    let mut brief = of(&shown.sample, secrets);
    brief["number"] = number.into();
    brief["threadName"] = shown.thread_name.as_str().into();
    // The page's search looks through these as they were on the wire.
    brief["elements"] = shown
        .steps
        .iter()
        .map(|step| step.turn.name.clone())
        .collect();
    brief
}
