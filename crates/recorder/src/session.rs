//! The DevTools session with the browser: turns its events into entries of the recording.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::{RecordError, Visit};

/// The network counts as idle after this long without a request.
const REST: Duration = Duration::from_millis(800);
/// How long to wait for a page whose network never becomes idle.
const LONGEST_WAIT: Duration = Duration::from_secs(20);
const TICK: Duration = Duration::from_millis(100);

/// A request that the browser sent.
#[derive(Debug, Default)]
struct BrowserRequest {
    request: Value,
    response: Value,
    body: Option<Value>,
    /// Seconds since 1970.
    sent_at: f64,
    /// The browser's clock in seconds.
    started: f64,
    ended: f64,
    page: String,
    kind: String,
    cookie: Option<String>,
    set_cookie: Option<String>,
    failed: bool,
}

/// The purpose of a reply to one of our commands.
enum Purpose {
    Body(usize),
    PostData(usize),
    Title(String),
    /// The first page's session is listening. Requests sent before that would be missed.
    Listening(String),
}

pub struct Session {
    browser: Browser,
    url: String,
    headless: bool,
    actions: std::vec::IntoIter<String>,
    next_id: u64,
    asked: HashMap<u64, Purpose>,
    entries: Vec<BrowserRequest>,
    /// Index of each request's entry, by session and the browser's request id.
    places: HashMap<(String, String), usize>,
    titles: HashMap<String, String>,
    /// The session of the newest page, in which scripts run.
    page: Option<String>,
    is_opened: bool,
    under_way: usize,
    last_event: Instant,
    last_action: Instant,
    /// The transaction that the user named.
    named: Option<String>,
}

impl Session {
    pub fn new(browser: Browser, visit: &Visit) -> Session {
        Session {
            browser,
            url: visit.url.clone(),
            headless: visit.headless,
            actions: visit.actions.clone().into_iter(),
            next_id: 0,
            asked: HashMap::new(),
            entries: Vec::new(),
            places: HashMap::new(),
            titles: HashMap::new(),
            page: None,
            is_opened: false,
            under_way: 0,
            last_event: Instant::now(),
            last_action: Instant::now(),
            named: None,
        }
    }

    pub fn run(
        mut self,
        stop: &AtomicBool,
        names: &Receiver<String>,
        seen: &mut dyn FnMut(&str),
    ) -> Result<Value, RecordError> {
        let attach = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
        self.command(None, "Target.setAutoAttach", attach);
        while !stop.load(Ordering::SeqCst) {
            while let Ok(name) = names.try_recv() {
                let key = format!("named-{}", self.titles.len());
                self.titles.insert(key.clone(), name);
                self.named = Some(key);
            }
            match self.browser.messages.recv_timeout(TICK) {
                Ok(message) => self.message(&message, seen),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    if self.is_at_rest() && !self.act() {
                        break;
                    }
                }
            }
            if !self.is_opened && self.last_action.elapsed() > LONGEST_WAIT {
                break;
            }
        }
        if !self.is_opened {
            return Err(RecordError::NoPage);
        }
        Ok(self.har())
    }

    fn is_at_rest(&self) -> bool {
        let rests =
            self.under_way == 0 && self.asked.is_empty() && self.last_event.elapsed() > REST;
        self.is_opened
            && (rests || self.last_action.elapsed() > LONGEST_WAIT)
            && self.last_action.elapsed() > REST
    }

    /// Runs the next script; returns whether the recording continues.
    fn act(&mut self) -> bool {
        let Some(script) = self.actions.next() else {
            return !self.headless;
        };
        self.last_action = Instant::now();
        let page = self.page.clone();
        let parameters = json!({ "expression": script, "awaitPromise": true, "userGesture": true });
        self.command(page.as_deref(), "Runtime.evaluate", parameters);
        true
    }

    fn command(&mut self, session: Option<&str>, method: &str, parameters: Value) -> u64 {
        self.next_id += 1;
        let mut command = json!({ "id": self.next_id, "method": method, "params": parameters });
        if let Some(session) = session {
            command["sessionId"] = Value::from(session);
        }
        self.browser.send(&command);
        self.next_id
    }

    fn message(&mut self, message: &Value, seen: &mut dyn FnMut(&str)) {
        if let Some(id) = message["id"].as_u64() {
            if let Some(purpose) = self.asked.remove(&id) {
                self.answer(purpose, &message["result"]);
            }
            return;
        }
        let session = message["sessionId"].as_str().unwrap_or("").to_owned();
        let parameters = &message["params"];
        let method = message["method"].as_str().unwrap_or("");
        if method.starts_with("Network.") {
            self.last_event = Instant::now();
        }
        match method {
            "Target.attachedToTarget" => self.attached(parameters),
            "Network.requestWillBeSent" => self.sent(&session, parameters),
            "Network.requestWillBeSentExtraInfo" => {
                let cookie = header(&parameters["headers"], "cookie");
                self.with_entry(&session, parameters, |entry| {
                    entry.cookie = cookie.or(entry.cookie.take())
                });
            }
            "Network.responseReceivedExtraInfo" => {
                let cookie = header(&parameters["headers"], "set-cookie");
                self.with_entry(&session, parameters, |entry| {
                    entry.set_cookie = cookie.or(entry.set_cookie.take())
                });
            }
            "Network.responseReceived" => self.received(&session, parameters, seen),
            "Network.loadingFinished" => self.finished(&session, parameters),
            "Network.loadingFailed" => {
                if self.is_known(&session, parameters) {
                    self.under_way = self.under_way.saturating_sub(1);
                }
                self.with_entry(&session, parameters, |entry| {
                    entry.failed = entry.response.is_null()
                });
            }
            "Page.loadEventFired" => {
                let ask = json!({ "expression": "document.title" });
                if let Some(page) = self
                    .entries
                    .iter()
                    .rev()
                    .find(|entry| entry.kind == "document")
                    .map(|entry| entry.page.clone())
                {
                    let id = self.command(Some(&session), "Runtime.evaluate", ask);
                    self.asked.insert(id, Purpose::Title(page));
                }
            }
            _ => {}
        }
    }

    /// Listens to a new page, worker or frame, and opens the address in the first page.
    fn attached(&mut self, parameters: &Value) {
        let Some(session) = parameters["sessionId"].as_str().map(str::to_owned) else {
            return;
        };
        let target = &parameters["targetInfo"];
        let is_own = target["url"]
            .as_str()
            .is_some_and(|url| url.starts_with("chrome"));
        if is_own {
            // A part of the browser's own window.
            self.command(Some(&session), "Runtime.runIfWaitingForDebugger", json!({}));
            return;
        }
        let large = json!({ "maxTotalBufferSize": 200_000_000, "maxResourceBufferSize": 50_000_000, "maxPostDataSize": 1_000_000 });
        let enabled = self.command(Some(&session), "Network.enable", large);
        if target["type"] == "page" {
            self.command(Some(&session), "Page.enable", json!({}));
            let attach =
                json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
            self.command(Some(&session), "Target.setAutoAttach", attach);
            self.page = Some(session.clone());
        }
        self.command(Some(&session), "Runtime.runIfWaitingForDebugger", json!({}));
        if !self.is_opened && self.page.is_some() {
            self.asked.insert(enabled, Purpose::Listening(session));
        }
    }

    fn is_known(&self, session: &str, parameters: &Value) -> bool {
        let id = parameters["requestId"].as_str().unwrap_or("").to_owned();
        self.places.contains_key(&(session.to_owned(), id))
    }

    fn with_entry(
        &mut self,
        session: &str,
        parameters: &Value,
        change: impl FnOnce(&mut BrowserRequest),
    ) {
        let id = parameters["requestId"].as_str().unwrap_or("").to_owned();
        let place = self.places.get(&(session.to_owned(), id)).copied();
        if let Some(entry) = place.and_then(|place| self.entries.get_mut(place)) {
            change(entry);
        }
    }

    fn sent(&mut self, session: &str, parameters: &Value) {
        let url = parameters["request"]["url"].as_str().unwrap_or("");
        if !url.starts_with("http") {
            return;
        }
        let id = parameters["requestId"].as_str().unwrap_or("").to_owned();
        let redirect = &parameters["redirectResponse"];
        let is_redirected = !redirect.is_null();
        if is_redirected {
            let ended = parameters["timestamp"].as_f64().unwrap_or(0.0);
            self.with_entry(session, parameters, |entry| {
                entry.response = redirect.clone();
                entry.ended = ended;
            });
        } else {
            self.under_way += 1;
        }
        let loader = parameters["loaderId"].as_str().unwrap_or("");
        let place = self.entries.len();
        self.entries.push(BrowserRequest {
            request: parameters["request"].clone(),
            sent_at: parameters["wallTime"].as_f64().unwrap_or(0.0),
            started: parameters["timestamp"].as_f64().unwrap_or(0.0),
            page: self.named.clone().unwrap_or_else(|| loader.to_owned()),
            kind: parameters["type"]
                .as_str()
                .unwrap_or("")
                .to_ascii_lowercase(),
            ..BrowserRequest::default()
        });
        self.places.insert((session.to_owned(), id.clone()), place);
        let request = &parameters["request"];
        if request["hasPostData"] == true && request.get("postData").is_none() {
            let asked = self.command(
                Some(session),
                "Network.getRequestPostData",
                json!({ "requestId": id }),
            );
            self.asked.insert(asked, Purpose::PostData(place));
        }
    }

    fn received(&mut self, session: &str, parameters: &Value, seen: &mut dyn FnMut(&str)) {
        let response = parameters["response"].clone();
        self.with_entry(session, parameters, |entry| {
            let method = entry.request["method"].as_str().unwrap_or("");
            let url = entry.request["url"].as_str().unwrap_or("");
            if !url.starts_with("data:") {
                seen(&format!("{} {method} {url}", response["status"]));
            }
            entry.response = response;
        });
    }

    fn finished(&mut self, session: &str, parameters: &Value) {
        let id = parameters["requestId"].as_str().unwrap_or("").to_owned();
        let Some(place) = self.places.get(&(session.to_owned(), id.clone())).copied() else {
            return;
        };
        self.under_way = self.under_way.saturating_sub(1);
        self.entries[place].ended = parameters["timestamp"].as_f64().unwrap_or(0.0);
        // Nothing is searched for in these bodies.
        if !matches!(
            self.entries[place].kind.as_str(),
            "image" | "font" | "media" | "stylesheet"
        ) {
            let asked = self.command(
                Some(session),
                "Network.getResponseBody",
                json!({ "requestId": id }),
            );
            self.asked.insert(asked, Purpose::Body(place));
        }
    }

    fn answer(&mut self, purpose: Purpose, result: &Value) {
        match purpose {
            Purpose::Body(place) => {
                self.entries[place].body = result.get("body").is_some().then(|| result.clone())
            }
            Purpose::PostData(place) => {
                if let Some(data) = result.get("postData") {
                    self.entries[place].request["postData"] = data.clone();
                }
            }
            Purpose::Listening(session) if !self.is_opened => {
                self.is_opened = true;
                self.last_action = Instant::now();
                let url = json!({ "url": self.url });
                self.command(Some(&session), "Page.navigate", url);
            }
            Purpose::Listening(_) => {}
            Purpose::Title(page) => {
                let title = result
                    .pointer("/result/value")
                    .and_then(Value::as_str)
                    .unwrap_or("");
                if !title.is_empty() {
                    self.titles.entry(page).or_insert_with(|| title.to_owned());
                }
            }
        }
    }

    fn har(&self) -> Value {
        let pages: Vec<Value> = self
            .titles
            .iter()
            .map(|(id, title)| json!({ "id": id, "title": title }))
            .collect();
        let entries: Vec<Value> = self.entries.iter().map(BrowserRequest::har).collect();
        json!({ "log": { "version": "1.2", "creator": { "name": "Drumfire" }, "pages": pages, "entries": entries } })
    }
}

impl BrowserRequest {
    fn har(&self) -> Value {
        let mut sent = fields(&self.request["headers"]);
        if let Some(cookie) = &self.cookie {
            sent.push(json!({ "name": "Cookie", "value": cookie }));
        }
        let mut received = fields(&self.response["headers"]);
        // Browsers separate several cookies by line ends.
        for cookie in self.set_cookie.iter().flat_map(|cookies| cookies.lines()) {
            received.push(json!({ "name": "Set-Cookie", "value": cookie }));
        }
        let mut request = json!({ "method": self.request["method"], "url": self.request["url"], "headers": sent });
        if let Some(data) = self.post_data() {
            let kind = header(&self.request["headers"], "content-type").unwrap_or_default();
            request["postData"] = json!({ "mimeType": kind, "text": data });
        }
        let mut content = json!({ "mimeType": self.response["mimeType"] });
        if let Some(body) = &self.body {
            content["text"] = body["body"].clone();
            if body["base64Encoded"] == true {
                content["encoding"] = Value::from("base64");
            }
        }
        let status = if self.failed {
            Value::from(0)
        } else {
            self.response["status"].clone()
        };
        let time = Timestamp::from_millisecond((self.sent_at * 1000.0) as i64).unwrap_or_default();
        let mut entry = json!({
            "startedDateTime": time.to_string(),
            "time": ((self.ended - self.started) * 1000.0).max(0.0),
            "pageref": self.page,
            "_resourceType": self.kind,
            "request": request,
            "response": { "status": status, "headers": received, "content": content },
        });
        if self.response["fromDiskCache"] == true || self.response["fromPrefetchCache"] == true {
            entry["_fromCache"] = Value::from("disk");
        }
        entry
    }

    fn post_data(&self) -> Option<String> {
        if let Some(data) = self.request["postData"].as_str() {
            return Some(data.to_owned());
        }
        let parts = self.request["postDataEntries"].as_array()?;
        let bytes: Vec<u8> = parts
            .iter()
            .filter_map(|part| {
                base64::prelude::BASE64_STANDARD
                    .decode(part["bytes"].as_str()?)
                    .ok()
            })
            .flatten()
            .collect();
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn fields(headers: &Value) -> Vec<Value> {
    let headers = headers.as_object().into_iter().flatten();
    headers
        .map(|(name, value)| json!({ "name": name, "value": value }))
        .collect()
}

fn header(headers: &Value, wanted: &str) -> Option<String> {
    let headers = headers.as_object()?;
    let found = headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(wanted));
    found
        .and_then(|(_, value)| value.as_str())
        .map(str::to_owned)
}
