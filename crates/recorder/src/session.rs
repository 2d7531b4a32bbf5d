//! The DevTools session with the browser: turns its events into entries of the recording.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::bar::{self, Wish};
use crate::browser::Browser;
use crate::seen::{Order, Seen, SeenExchange, Stage};
use crate::{RecordError, Visit};

/// The network counts as idle after this long without a request.
const REST: Duration = Duration::from_millis(800);
/// How long to wait for a page whose network never becomes idle.
const LONGEST_WAIT: Duration = Duration::from_secs(20);
const TICK: Duration = Duration::from_millis(100);
/// Types of responses that a page reads while they arrive.
const STREAMS: [&str; 6] = [
    "text/event-stream",
    "application/x-ndjson",
    "application/stream",
    "application/grpc",
    "multipart/x-mixed-replace",
    "application/octet-stream",
];

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
    /// Whether the browser tells the header of the response as it was on the wire.
    has_wire_header: bool,
    failed: bool,
    /// The bytes of the response on the wire.
    bytes: u64,
    /// Whether the recording was paused.
    is_left_out: bool,
    /// Texts that the user expects in the response.
    expected: Vec<String>,
}

/// What the browser tells apart about the requests of one id: a request and those to which it was redirected, in order. It may tell
/// it before the requests themselves.
#[derive(Debug, Default)]
struct Wire {
    /// Indices of the entries.
    entries: Vec<usize>,
    /// The `Cookie` of each request.
    cookies: Vec<Option<String>>,
    /// The `Set-Cookie` of each response, in lines.
    set_cookies: Vec<Option<String>>,
}

/// The purpose of a reply to one of our commands.
enum Purpose {
    Body(usize),
    /// The body of a response that the page does not have yet: its entry, the session, and the paused request.
    HeldBody(Option<usize>, String, String),
    PostData(usize),
    Title(String),
    /// The result of a script, by its number from 1.
    Script(usize),
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
    /// The requests by session and the browser's request id.
    wires: HashMap<(String, String), Wire>,
    titles: HashMap<String, String>,
    /// The session of the newest page, in which scripts run.
    page: Option<String>,
    is_opened: bool,
    under_way: usize,
    last_event: Instant,
    last_action: Instant,
    /// The transaction that the user named.
    named: Option<String>,
    /// The number of scripts that have run.
    scripts: usize,
    /// Whether requests are left out for now.
    is_paused: bool,
    /// Whether the user ended the recording in the bar.
    is_ended: bool,
    failed: Option<RecordError>,
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
            wires: HashMap::new(),
            titles: HashMap::new(),
            page: None,
            is_opened: false,
            under_way: 0,
            last_event: Instant::now(),
            last_action: Instant::now(),
            named: None,
            scripts: 0,
            is_paused: false,
            is_ended: false,
            failed: None,
        }
    }

    pub fn run(
        mut self,
        stop: &AtomicBool,
        orders: &Receiver<Order>,
        seen: &mut dyn FnMut(Seen),
    ) -> Result<Value, RecordError> {
        let attach = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
        self.command(None, "Target.setAutoAttach", attach);
        while !stop.load(Ordering::SeqCst) {
            while let Ok(order) = orders.try_recv() {
                self.obey(order, seen);
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
            if self.is_ended || self.failed.is_some() {
                break;
            }
        }
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if !self.is_opened {
            return Err(RecordError::NoPage);
        }
        Ok(self.har())
    }

    fn obey(&mut self, order: Order, seen: &mut dyn FnMut(Seen)) {
        match &order {
            Order::Name(name) => {
                let key = format!("named-{}", self.titles.len());
                self.titles.insert(key.clone(), name.clone());
                self.named = Some(key);
            }
            Order::Pause(is_paused) => self.is_paused = *is_paused,
        }
        seen(Seen::Done(order));
    }

    /// Tells of a request that has reached a stage.
    fn tell(&self, place: usize, stage: Stage, seen: &mut dyn FnMut(Seen)) {
        if let Some(entry) = self.entries.get(place) {
            seen(Seen::Exchange(SeenExchange {
                number: place,
                stage,
                entry: entry.head(None, None),
                bytes: entry.bytes,
                is_left_out: entry.is_left_out,
            }));
        }
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
        let asked = self.command(page.as_deref(), "Runtime.evaluate", parameters);
        self.scripts += 1;
        self.asked.insert(asked, Purpose::Script(self.scripts));
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

    fn message(&mut self, message: &Value, seen: &mut dyn FnMut(Seen)) {
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
            "Network.requestWillBeSent" => self.sent(&session, parameters, seen),
            "Network.requestWillBeSentExtraInfo" => {
                let cookie = header(&parameters["headers"], "cookie");
                self.wire(&session, parameters).cookies.push(cookie);
            }
            "Network.responseReceivedExtraInfo" => {
                let cookie = header(&parameters["headers"], "set-cookie");
                self.wire(&session, parameters).set_cookies.push(cookie);
            }
            "Fetch.requestPaused" => self.held(&session, parameters),
            "Runtime.bindingCalled" if parameters["name"] == bar::BINDING => {
                let wish = parameters["payload"].as_str().unwrap_or("");
                self.wish(&session, wish, seen);
            }
            "Network.responseReceived" => self.received(&session, parameters, seen),
            "Network.loadingFinished" => self.finished(&session, parameters, seen),
            "Network.loadingFailed" => {
                if self.is_known(&session, parameters) {
                    self.under_way = self.under_way.saturating_sub(1);
                }
                self.with_entry(&session, parameters, |entry| {
                    entry.failed = entry.response.is_null()
                });
                if let Some(index) = self.entry_of(&session, &parameters["requestId"]) {
                    self.tell(index, Stage::Complete, seen);
                }
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
        // The browser drops the bodies of a page that it leaves, so each is read before the page has it.
        let held = json!({ "patterns": [
            { "resourceType": "XHR", "requestStage": "Response" },
            { "resourceType": "Fetch", "requestStage": "Response" },
            { "resourceType": "Document", "requestStage": "Response" },
        ] });
        self.command(Some(&session), "Fetch.enable", held);
        if target["type"] == "page" {
            self.command(Some(&session), "Page.enable", json!({}));
            self.command(Some(&session), "Runtime.enable", json!({}));
            let binding = json!({ "name": bar::BINDING });
            self.command(Some(&session), "Runtime.addBinding", binding);
            let script = json!({ "source": bar::script(!self.headless) });
            self.command(
                Some(&session),
                "Page.addScriptToEvaluateOnNewDocument",
                script,
            );
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
        self.entry_of(session, &parameters["requestId"]).is_some()
    }

    fn wire(&mut self, session: &str, parameters: &Value) -> &mut Wire {
        let id = parameters["requestId"].as_str().unwrap_or("").to_owned();
        self.wires.entry((session.to_owned(), id)).or_default()
    }

    /// The index of the newest entry of a request.
    fn entry_of(&self, session: &str, id: &Value) -> Option<usize> {
        let id = id.as_str().unwrap_or("").to_owned();
        let wire = self.wires.get(&(session.to_owned(), id))?;
        wire.entries.last().copied()
    }

    fn with_entry(
        &mut self,
        session: &str,
        parameters: &Value,
        change: impl FnOnce(&mut BrowserRequest),
    ) {
        let entry_index = self.entry_of(session, &parameters["requestId"]);
        if let Some(entry) = entry_index.and_then(|place| self.entries.get_mut(place)) {
            change(entry);
        }
    }

    /// Reads the body of a response that the browser holds back, or lets it go on if it has none or never ends.
    fn held(&mut self, session: &str, parameters: &Value) {
        let request = parameters["requestId"].as_str().unwrap_or("").to_owned();
        let status = parameters["responseStatusCode"].as_u64().unwrap_or(0);
        let headers = parameters["responseHeaders"]
            .as_array()
            .into_iter()
            .flatten();
        let kind = headers
            .filter(|field| {
                let name = field["name"].as_str().unwrap_or("");
                name.eq_ignore_ascii_case("content-type")
            })
            .find_map(|field| field["value"].as_str())
            .unwrap_or("")
            .to_ascii_lowercase();
        let is_stream = STREAMS.iter().any(|stream| kind.starts_with(stream));
        if !(200..300).contains(&status) && status < 400 || is_stream {
            let parameters = json!({ "requestId": request });
            self.command(Some(session), "Fetch.continueRequest", parameters);
            return;
        }
        let entry_index = self.entry_of(session, &parameters["networkId"]);
        let ask = json!({ "requestId": request });
        let asked = self.command(Some(session), "Fetch.getResponseBody", ask);
        let purpose = Purpose::HeldBody(entry_index, session.to_owned(), request);
        self.asked.insert(asked, purpose);
    }

    /// Does what the user, or a script, asks for in the page.
    fn wish(&mut self, session: &str, wish: &str, seen: &mut dyn FnMut(Seen)) {
        match Wish::read(wish) {
            Some(Wish::Step(name)) => self.obey(Order::Name(name), seen),
            Some(Wish::Pause(is_paused)) => self.obey(Order::Pause(is_paused), seen),
            Some(Wish::Expect(text)) => {
                let note = match self
                    .entries
                    .iter_mut()
                    .rev()
                    .find(|entry| entry.holds(&text))
                {
                    Some(entry) => {
                        entry.expected.push(text.clone());
                        let url = entry.request["url"].as_str().unwrap_or("");
                        format!("expects `{text}` in {url}")
                    }
                    None => format!("no response holds `{text}`"),
                };
                seen(Seen::Note(note.clone()));
                let ask = json!({ "expression": bar::tell(&note) });
                self.command(Some(session), "Runtime.evaluate", ask);
            }
            Some(Wish::State) => {
                let name = self.named.as_ref().and_then(|key| self.titles.get(key));
                let state = bar::state(name.map(String::as_str).unwrap_or(""), self.is_paused);
                let ask = json!({ "expression": state });
                self.command(Some(session), "Runtime.evaluate", ask);
            }
            Some(Wish::Stop) => self.is_ended = true,
            None => {}
        }
    }

    fn sent(&mut self, session: &str, parameters: &Value, seen: &mut dyn FnMut(Seen)) {
        let url = parameters["request"]["url"].as_str().unwrap_or("");
        if !url.starts_with("http") {
            return;
        }
        let id = parameters["requestId"].as_str().unwrap_or("").to_owned();
        let redirect = &parameters["redirectResponse"];
        let is_redirected = !redirect.is_null();
        if is_redirected {
            let ended = parameters["timestamp"].as_f64().unwrap_or(0.0);
            let has_wire_header = parameters["redirectHasExtraInfo"] != false;
            self.with_entry(session, parameters, |entry| {
                entry.response = redirect.clone();
                entry.ended = ended;
                entry.has_wire_header = has_wire_header;
            });
            if let Some(index) = self.entry_of(session, &parameters["requestId"]) {
                self.tell(index, Stage::Answered, seen);
                self.tell(index, Stage::Complete, seen);
            }
        } else {
            self.under_way += 1;
        }
        let loader = parameters["loaderId"].as_str().unwrap_or("");
        let entry_index = self.entries.len();
        self.entries.push(BrowserRequest {
            request: parameters["request"].clone(),
            sent_at: parameters["wallTime"].as_f64().unwrap_or(0.0),
            started: parameters["timestamp"].as_f64().unwrap_or(0.0),
            page: self.named.clone().unwrap_or_else(|| loader.to_owned()),
            is_left_out: self.is_paused,
            kind: parameters["type"]
                .as_str()
                .unwrap_or("")
                .to_ascii_lowercase(),
            ..BrowserRequest::default()
        });
        self.wire(session, parameters).entries.push(entry_index);
        self.tell(entry_index, Stage::Sent, seen);
        let request = &parameters["request"];
        if request["hasPostData"] == true && request.get("postData").is_none() {
            let asked = self.command(
                Some(session),
                "Network.getRequestPostData",
                json!({ "requestId": id }),
            );
            self.asked.insert(asked, Purpose::PostData(entry_index));
        }
    }

    fn received(&mut self, session: &str, parameters: &Value, seen: &mut dyn FnMut(Seen)) {
        let response = parameters["response"].clone();
        let has_wire_header = parameters["hasExtraInfo"] != false;
        self.with_entry(session, parameters, |entry| {
            entry.response = response;
            entry.has_wire_header = has_wire_header;
        });
        if let Some(index) = self.entry_of(session, &parameters["requestId"]) {
            self.tell(index, Stage::Answered, seen);
        }
    }

    fn finished(&mut self, session: &str, parameters: &Value, seen: &mut dyn FnMut(Seen)) {
        let id = parameters["requestId"].as_str().unwrap_or("").to_owned();
        let Some(index) = self.entry_of(session, &parameters["requestId"]) else {
            return;
        };
        self.under_way = self.under_way.saturating_sub(1);
        self.entries[index].ended = parameters["timestamp"].as_f64().unwrap_or(0.0);
        self.entries[index].bytes = parameters["encodedDataLength"].as_f64().unwrap_or(0.0) as u64;
        self.tell(index, Stage::Complete, seen);
        // Nothing is searched for in these bodies.
        let is_known = self.entries[index].body.is_some();
        if !is_known
            && !matches!(
                self.entries[index].kind.as_str(),
                "image" | "font" | "media" | "stylesheet"
            )
        {
            let asked = self.command(
                Some(session),
                "Network.getResponseBody",
                json!({ "requestId": id }),
            );
            self.asked.insert(asked, Purpose::Body(index));
        }
    }

    fn answer(&mut self, purpose: Purpose, result: &Value) {
        match purpose {
            Purpose::Body(place) => {
                self.entries[place].body = result.get("body").is_some().then(|| result.clone())
            }
            Purpose::HeldBody(place, session, request) => {
                if let Some(entry) = place.and_then(|place| self.entries.get_mut(place)) {
                    entry.body = text_of(result);
                }
                let go_on = json!({ "requestId": request });
                self.command(Some(&session), "Fetch.continueRequest", go_on);
            }
            Purpose::Script(number) => {
                // A script that leads to another page has no result.
                if let Some(details) = result.get("exceptionDetails") {
                    let thrown = details
                        .pointer("/exception/description")
                        .or_else(|| details.pointer("/exception/value"));
                    let text = match thrown.and_then(Value::as_str).or(details["text"].as_str()) {
                        Some(text) => text.lines().next().unwrap_or("").to_owned(),
                        None => "an exception".to_owned(),
                    };
                    self.failed = Some(RecordError::Script(number, text));
                }
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
        let mut cookies: Vec<Option<&str>> = vec![None; self.entries.len()];
        let mut set_cookies = cookies.clone();
        for wire in self.wires.values() {
            for (place, cookie) in wire.entries.iter().zip(&wire.cookies) {
                cookies[*place] = cookie.as_deref();
            }
            let wire_entries = wire
                .entries
                .iter()
                .filter(|place| self.entries[**place].has_wire_header);
            for (place, cookie) in wire_entries.zip(&wire.set_cookies) {
                set_cookies[*place] = cookie.as_deref();
            }
        }
        let entries: Vec<Value> = self
            .entries
            .iter()
            .zip(cookies.into_iter().zip(set_cookies))
            .filter(|(entry, _)| !entry.is_left_out)
            .map(|(entry, (cookie, set_cookie))| entry.har(cookie, set_cookie))
            .collect();
        json!({ "log": { "version": "1.2", "creator": { "name": "Drumfire" }, "pages": pages, "entries": entries } })
    }
}

impl BrowserRequest {
    /// Whether the response holds a text that the page shows.
    fn holds(&self, text: &str) -> bool {
        let body = self.body.as_ref().and_then(|body| body["body"].as_str());
        body.is_some_and(|body| body.contains(text))
    }

    fn har(&self, cookie: Option<&str>, set_cookie: Option<&str>) -> Value {
        let mut entry = self.head(cookie, set_cookie);
        if let Some(data) = self.post_data() {
            let kind = header(&self.request["headers"], "content-type").unwrap_or_default();
            entry["request"]["postData"] = json!({ "mimeType": kind, "text": data });
        }
        if let Some(body) = &self.body {
            let content = &mut entry["response"]["content"];
            content["text"] = body["body"].clone();
            if body["base64Encoded"] == true {
                content["encoding"] = Value::from("base64");
            }
        }
        entry
    }

    /// The entry of the HAR without bodies.
    fn head(&self, cookie: Option<&str>, set_cookie: Option<&str>) -> Value {
        let mut sent = fields(&self.request["headers"]);
        if let Some(cookie) = cookie {
            sent.push(json!({ "name": "Cookie", "value": cookie }));
        }
        let mut received = fields(&self.response["headers"]);
        // Browsers separate several cookies by line ends.
        for cookie in set_cookie.iter().flat_map(|cookies| cookies.lines()) {
            received.push(json!({ "name": "Set-Cookie", "value": cookie }));
        }
        let request = json!({ "method": self.request["method"], "url": self.request["url"], "headers": sent });
        let content = json!({ "mimeType": self.response["mimeType"] });
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
        if !self.expected.is_empty() {
            entry["_expected"] = json!(self.expected);
        }
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

/// A body that was held back, if it is UTF-8. The browser itself decodes other bodies, when the page has them.
fn text_of(result: &Value) -> Option<Value> {
    let body = result["body"].as_str()?;
    if result["base64Encoded"] != true {
        return Some(result.clone());
    }
    let bytes = base64::prelude::BASE64_STANDARD.decode(body).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    Some(json!({ "body": text, "base64Encoded": false }))
}

fn fields(headers: &Value) -> Vec<Value> {
    let headers = headers.as_object().into_iter().flatten();
    headers
        .map(|(name, value)| json!({ "name": name, "value": value }))
        .collect()
}

fn header(headers: &Value, wanted: &str) -> Option<String> {
    let headers = headers.as_object()?;
    headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
        .and_then(|(_, value)| value.as_str())
        .map(str::to_owned)
}
