//! The exchanges that the proxy has recorded, and their conversion to HAR.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::time::Instant;

use base64::Engine as _;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use hyper::HeaderMap;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::seen::{Order, SeenExchange, Stage};

/// Longer bodies are forwarded whole but not recorded.
const LONGEST_BODY: usize = 50_000_000;

/// All exchanges of a recording, in the order in which they began.
#[derive(Debug, Default)]
pub struct Tape {
    entries: Vec<TapedExchange>,
    titles: Vec<String>,
    is_paused: bool,
    /// Connections that were not decrypted, by host.
    pub unread: BTreeMap<String, usize>,
    /// Servers whose certificate is not trusted, with the reason.
    pub untrusted: BTreeMap<String, String>,
}

/// One exchange.
#[derive(Debug)]
struct TapedExchange {
    sent_at: Timestamp,
    started: Instant,
    ended: Instant,
    page: Option<String>,
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    sent: Vec<u8>,
    /// The status, 0 without a response.
    status: u16,
    response_headers: Vec<(String, String)>,
    received: Vec<u8>,
    /// The bytes of the body, recorded or not.
    received_bytes: u64,
    /// Whether the recording was paused.
    is_left_out: bool,
    /// Whether the body was too long to record.
    is_cut: bool,
}

impl Tape {
    /// Carries out an order.
    pub fn obey(&mut self, order: Order) {
        match order {
            Order::Name(name) => self.titles.push(name),
            Order::Pause(is_paused) => self.is_paused = is_paused,
        }
    }

    /// A request at a stage, to be shown.
    pub fn seen(&self, place: usize, stage: Stage) -> SeenExchange {
        let entry = &self.entries[place];
        SeenExchange {
            number: place,
            stage,
            entry: entry.head(),
            bytes: entry.received_bytes,
            is_left_out: entry.is_left_out,
        }
    }

    /// Records a request and returns its index.
    pub fn request(&mut self, method: &str, url: String, headers: &HeaderMap) -> usize {
        let now = Instant::now();
        self.entries.push(TapedExchange {
            sent_at: Timestamp::now(),
            started: now,
            ended: now,
            page: self
                .titles
                .len()
                .checked_sub(1)
                .map(|number| format!("named-{number}")),
            method: method.to_owned(),
            url,
            headers: pairs(headers),
            sent: Vec::new(),
            status: 0,
            response_headers: Vec::new(),
            received: Vec::new(),
            received_bytes: 0,
            is_left_out: self.is_paused,
            is_cut: false,
        });
        self.entries.len() - 1
    }

    /// Adds to the body of the request.
    pub fn sent(&mut self, place: usize, bytes: &[u8]) {
        let entry = &mut self.entries[place];
        if entry.sent.len() + bytes.len() <= LONGEST_BODY {
            entry.sent.extend_from_slice(bytes);
        }
    }

    /// Records the head of the response.
    pub fn response(&mut self, place: usize, status: u16, headers: &HeaderMap) {
        let entry = &mut self.entries[place];
        entry.status = status;
        entry.response_headers = pairs(headers);
        entry.ended = Instant::now();
    }

    /// Adds to the body of the response.
    pub fn received(&mut self, place: usize, bytes: &[u8]) {
        let entry = &mut self.entries[place];
        entry.ended = Instant::now();
        entry.received_bytes += bytes.len() as u64;
        if entry.is_cut || entry.received.len() + bytes.len() > LONGEST_BODY {
            entry.is_cut = true;
            entry.received = Vec::new();
        } else if entry.is_read() {
            entry.received.extend_from_slice(bytes);
        }
    }

    /// The recording as HAR.
    pub fn har(&self) -> Value {
        let titles = self.titles.iter().enumerate();
        let pages: Vec<Value> = titles
            .map(|(number, title)| json!({ "id": format!("named-{number}"), "title": title }))
            .collect();
        let entries: Vec<Value> = self
            .entries
            .iter()
            .filter(|entry| !entry.is_left_out)
            .map(TapedExchange::har)
            .collect();
        json!({ "log": { "version": "1.2", "creator": { "name": "Drumfire" }, "pages": pages, "entries": entries } })
    }
}

impl TapedExchange {
    /// Whether correlation may search its body: not for images, fonts, audio, video or style sheets.
    fn is_read(&self) -> bool {
        let mime = self.mime();
        !["image/", "font/", "video/", "audio/", "text/css"]
            .iter()
            .any(|kind| mime.starts_with(kind))
    }

    fn mime(&self) -> &str {
        header(&self.response_headers, "content-type").unwrap_or("")
    }

    fn har(&self) -> Value {
        let mut entry = self.head();
        if !self.sent.is_empty() {
            let mime = header(&self.headers, "content-type").unwrap_or("");
            let text = String::from_utf8_lossy(&self.sent);
            entry["request"]["postData"] = json!({ "mimeType": mime, "text": text });
        }
        let content = &mut entry["response"]["content"];
        if let Some(body) = self.decoded() {
            match String::from_utf8(body) {
                Ok(text) => content["text"] = Value::from(text),
                Err(error) if is_latin(self.mime()) => {
                    let bytes = error.as_bytes().iter();
                    content["text"] =
                        Value::from(bytes.map(|&byte| char::from(byte)).collect::<String>());
                }
                Err(error) => {
                    content["text"] =
                        Value::from(base64::prelude::BASE64_STANDARD.encode(error.as_bytes()));
                    content["encoding"] = Value::from("base64");
                }
            }
        }
        entry
    }

    /// The entry of the HAR without bodies.
    fn head(&self) -> Value {
        let mut entry = json!({
            "startedDateTime": self.sent_at.to_string(),
            "time": (self.ended - self.started).as_secs_f64() * 1000.0,
            "_resourceType": self.kind(),
            "request": { "method": self.method, "url": self.url, "headers": fields(&self.headers) },
            "response": {
                "status": self.status,
                "headers": fields(&self.response_headers),
                "content": { "mimeType": self.mime() },
            },
        });
        if let Some(page) = &self.page {
            entry["pageref"] = Value::from(page.as_str());
        }
        entry
    }

    /// The browser's kind of resource, from `Sec-Fetch-Dest`; empty for other clients.
    fn kind(&self) -> &str {
        if self.status == 101 {
            return "websocket";
        }
        match header(&self.headers, "sec-fetch-dest").unwrap_or("") {
            "style" => "stylesheet",
            "audio" | "video" | "track" => "media",
            "empty" => "fetch",
            "report" => "cspviolationreport",
            kind => kind,
        }
    }

    /// The body without its content encoding; `None` if it was not recorded or cannot be decoded.
    fn decoded(&self) -> Option<Vec<u8>> {
        if self.is_cut || self.received.is_empty() {
            return None;
        }
        let mut decoded = Vec::new();
        let limit = LONGEST_BODY as u64;
        let body = self.received.as_slice();
        match header(&self.response_headers, "content-encoding").unwrap_or("identity") {
            "identity" => return Some(body.to_vec()),
            "gzip" | "x-gzip" => MultiGzDecoder::new(body)
                .take(limit)
                .read_to_end(&mut decoded),
            "deflate" => ZlibDecoder::new(body).take(limit).read_to_end(&mut decoded),
            _ => return None,
        }
        .ok()?;
        Some(decoded)
    }
}

fn is_latin(mime: &str) -> bool {
    let mime = mime.to_ascii_lowercase();
    mime.contains("iso-8859-1") || mime.contains("windows-1252")
}

fn pairs(headers: &HeaderMap) -> Vec<(String, String)> {
    headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), text(value)))
        .collect()
}

fn text(value: &hyper::header::HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

fn fields(headers: &[(String, String)]) -> Vec<Value> {
    headers
        .iter()
        .map(|(name, value)| json!({ "name": name, "value": value }))
        .collect()
}

/// The value of a header field. Stored names are already in lower case.
fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers
        .iter()
        .find(|(own, _)| own == name)
        .map(|(_, value)| value.as_str())
}
