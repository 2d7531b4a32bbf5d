//! Imports HAR 1.2, as Chromium, Firefox, Safari, Charles, Playwright and proxies write it.
//!
//! The reader is lenient: an entry only needs the address of its request.

use std::collections::HashMap;

use base64::Engine as _;
use jiff::Timestamp;
use serde_json::Value;

use crate::draft::Draft;
use crate::exchange::{Exchange, FormPart, Request, RequestBody, Response};
use crate::options::{ImportError, ImportOptions};
use crate::text::PlanText;
use crate::tidy::{self, Recording};
use crate::url::{self, Address};
use crate::{curl, names};

/// The error for a log that lists no requests.
pub fn without_entries() -> ImportError {
    ImportError::new("a HAR without `entries`").hint("save the recording again as HAR with content")
}

/// A draft of a recording.
///
/// # Errors
/// The recording holds no request that a plan can send.
pub fn import(har: &Value, options: &ImportOptions) -> Result<Draft, ImportError> {
    let log = &har["log"];
    let Some(entries) = log["entries"].as_array() else {
        return Err(without_entries());
    };
    let mut recording = Recording {
        name: "Recording".to_owned(),
        pages: pages(log),
        ..Recording::default()
    };
    for (place, entry) in entries.iter().enumerate() {
        match exchange(place, entry) {
            Ok(exchange) => recording.exchanges.push(exchange),
            Err(reason) => recording.omit(place, reason),
        }
    }
    if let Some(browser) = log.pointer("/creator/name").and_then(Value::as_str) {
        recording.name = format!("Recorded with {}", names::one_line(browser));
    }
    note_sanitized(&mut recording);
    let mut draft = tidy::draft(recording, options);
    if draft.steps().next().is_none() {
        return Err(ImportError::nothing(
            "no request that a plan can send",
            "Record the visit with the log preserved, and save it as HAR with content",
            &draft,
        ));
    }
    if draft.steps().all(|step| {
        step.response
            .as_ref()
            .is_none_or(|response| response.body.is_none())
    }) {
        draft.warn("the recording holds no bodies: values that the server gave cannot be found in it; save the HAR with content");
    }
    Ok(draft)
}

/// Titles by id.
fn pages(log: &Value) -> HashMap<String, String> {
    let pages = log["pages"].as_array().into_iter().flatten();
    pages
        .filter_map(|page| {
            let id = page["id"].as_str()?;
            let title = page["title"].as_str().unwrap_or("");
            Some((id.to_owned(), title_of(title)))
        })
        .collect()
}

/// The title of a page. Browsers store the address if the page has no title.
fn title_of(title: &str) -> String {
    match Address::parse(title) {
        Some(address) => address.bare_path(),
        None => names::one_line(title),
    }
}

/// Warns if cookies and credentials are missing. Chromium leaves them out of the HAR unless told otherwise.
fn note_sanitized(recording: &mut Recording) {
    let sends = |name: &str| {
        recording
            .exchanges
            .iter()
            .any(|exchange| exchange.request.header(name).is_some())
    };
    let gets = recording.exchanges.iter().any(|exchange| {
        exchange
            .response
            .as_ref()
            .is_some_and(|response| response.header("set-cookie").is_some())
    });
    let from_chromium = recording
        .exchanges
        .iter()
        .any(|exchange| !exchange.kind.is_empty());
    if from_chromium
        && recording.exchanges.len() > 1
        && !sends("cookie")
        && !gets
        && !sends("authorization")
    {
        recording.warnings.push(
            "the recording has neither cookies nor credentials; if the site uses any, export the HAR with sensitive data".to_owned(),
        );
    }
}

/// Converts the entry at a place, or gives the reason why it is left out.
pub(crate) fn exchange(place: usize, entry: &Value) -> Result<Exchange, &'static str> {
    let request = &entry["request"];
    let Some(url) = request["url"].as_str() else {
        return Err("entries without an address");
    };
    let lower = url.get(..6).unwrap_or(url).to_ascii_lowercase();
    if lower.starts_with("data:") || lower.starts_with("blob:") || lower.starts_with("about:") {
        return Err("data: and blob: entries, which are not requests");
    }
    let kind = entry["_resourceType"].as_str().unwrap_or("");
    if lower.starts_with("ws:") || lower.starts_with("wss:") || kind == "websocket" {
        return Err("WebSocket connections");
    }
    let Some(address) = Address::parse(url) else {
        return Err("entries whose address is not HTTP");
    };
    let method = request["method"].as_str().unwrap_or("GET");
    if method.eq_ignore_ascii_case("CONNECT") {
        return Err("CONNECT requests to a proxy");
    }
    let status = entry.pointer("/response/status").and_then(Value::as_i64);
    if status.is_some_and(|status| status <= 0) {
        return Err("requests that were blocked, cancelled or failed");
    }
    if entry
        .get("_fromCache")
        .is_some_and(|cached| !cached.is_null())
    {
        return Err("answers from the browser's cache");
    }
    let mut sent = Request::new(&method.to_ascii_uppercase(), address);
    sent.headers = headers(&request["headers"])
        .into_iter()
        .map(|(name, value)| (PlanText::from(name), PlanText::from(value)))
        .collect();
    // Safari and some proxies list cookies only in a field of their own.
    if sent.header("cookie").is_none() {
        let cookies = request["cookies"].as_array().into_iter().flatten();
        let pairs = cookies
            .filter_map(|cookie| {
                Some(format!(
                    "{}={}",
                    cookie["name"].as_str()?,
                    cookie["value"].as_str()?
                ))
            })
            .collect::<Vec<_>>()
            .join("; ");
        if !pairs.is_empty() {
            sent.headers.push(("Cookie".into(), pairs.into()));
        }
    }
    sent.body = body(
        &request["postData"],
        sent.header("content-type").unwrap_or(""),
    );
    Ok(Exchange {
        request: sent,
        response: entry.get("response").map(response),
        started_ms: entry["startedDateTime"].as_str().and_then(milliseconds),
        // Some programs write missing, negative or infinite times.
        elapsed_ms: entry["time"].as_f64().unwrap_or(0.0).clamp(0.0, 3.6e6) as i64,
        page: entry["pageref"].as_str().map(str::to_owned),
        kind: kind.to_owned(),
        expected_texts: texts(&entry["_expected"]),
        entry: place,
    })
}

/// The texts that the user of a recording browser expects.
fn texts(list: &Value) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(|text| text.as_str().map(str::to_owned))
        .collect()
}

fn milliseconds(text: &str) -> Option<i64> {
    let time: Timestamp = text.trim().parse().ok()?;
    Some(time.as_millisecond())
}

/// Header fields that have a name. HTTP/2 pseudo-fields, which begin with a colon, belong to the request line.
fn headers(fields: &Value) -> Vec<(String, String)> {
    let fields = fields.as_array().into_iter().flatten();
    fields
        .filter_map(|field| {
            let name = field["name"].as_str()?.trim();
            let value = field["value"].as_str().unwrap_or("");
            let is_real = !name.is_empty() && !name.starts_with(':');
            is_real.then_some((name, value))
        })
        // Browsers write several fields of one name as lines of one value.
        .flat_map(|(name, value)| {
            let lines = value.split('\n');
            lines.map(|line| (name.to_owned(), line.trim_end_matches('\r').to_owned()))
        })
        .collect()
}

fn body(data: &Value, content_type: &str) -> RequestBody {
    let text = data["text"].as_str().unwrap_or("");
    let text = match data["encoding"].as_str() {
        Some("base64") => base64_text(text),
        _ => text.to_owned(),
    };
    let mime = data["mimeType"].as_str().unwrap_or(content_type);
    let params = data["params"].as_array().map_or(&[][..], Vec::as_slice);
    if mime.starts_with("multipart/form-data") {
        let parts = params.iter().filter_map(part).collect::<Vec<_>>();
        return if parts.is_empty() && !text.is_empty() {
            multipart_of(&text, mime).unwrap_or(RequestBody::Raw(text.into()))
        } else {
            RequestBody::Multipart(parts)
        };
    }
    let is_form = mime.starts_with("application/x-www-form-urlencoded");
    if !text.is_empty() {
        return match curl::form_fields(&text).filter(|_| is_form) {
            Some(fields) => RequestBody::Form(fields),
            None => RequestBody::Raw(text.into()),
        };
    }
    let fields: Vec<_> = params
        .iter()
        .filter_map(|param| {
            // Some programs encode the values, most do not.
            let value = |name: &str| {
                param[name]
                    .as_str()
                    .map(|value| PlanText::from(plain(value)))
            };
            Some((value("name")?, value("value").unwrap_or_default()))
        })
        .collect();
    if fields.is_empty() {
        RequestBody::None
    } else {
        RequestBody::Form(fields)
    }
}

/// Decodes a value if encoding the result gives the value again.
fn plain(value: &str) -> String {
    let decoded = url::decode(value);
    if value.contains('%') && url::encode(&decoded).eq_ignore_ascii_case(value) {
        decoded
    } else {
        value.to_owned()
    }
}

fn part(param: &Value) -> Option<FormPart> {
    let name = PlanText::from(param["name"].as_str()?);
    let mime = param["contentType"].as_str().unwrap_or("").to_owned();
    Some(match param["fileName"].as_str() {
        Some(file) => FormPart::File {
            name,
            path: base_name(file).into(),
            content: param["value"].as_str().and_then(recorded),
            mime: if mime.is_empty() {
                "application/octet-stream".to_owned()
            } else {
                mime
            },
        },
        None => FormPart::Field {
            name,
            value: param["value"].as_str().unwrap_or("").into(),
            mime,
        },
    })
}

/// The content of an uploaded file, if the recording has it. Browsers leave it out, and binary content is
/// damaged.
fn recorded(content: &str) -> Option<String> {
    (!content.is_empty() && content.chars().all(is_text)).then(|| content.to_owned())
}

fn is_text(c: char) -> bool {
    c != char::REPLACEMENT_CHARACTER && (!c.is_control() || c.is_whitespace())
}

/// The file name without its folders, which exist only on the recording machine. The plan looks for the file
/// beside itself.
fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Parses a multipart body whose parts the recording does not list.
fn multipart_of(text: &str, mime: &str) -> Option<RequestBody> {
    let boundary = mime
        .split("boundary=")
        .nth(1)?
        .split(';')
        .next()?
        .trim_matches('"');
    let mut parts = Vec::new();
    for section in text.split(&format!("--{boundary}")).skip(1) {
        if section.starts_with("--") {
            break;
        }
        let (head, value) = section
            .split_once("\r\n\r\n")
            .or_else(|| section.split_once("\n\n"))?;
        let attribute = |name: &str| {
            let from = head.find(&format!(" {name}=\""))? + name.len() + 3;
            head[from..].split('"').next()
        };
        let name = PlanText::from(attribute("name")?);
        let mime = head
            .lines()
            .find_map(|line| {
                let (field, value) = line.split_once(':')?;
                field
                    .trim()
                    .eq_ignore_ascii_case("content-type")
                    .then(|| value.trim().to_owned())
            })
            .unwrap_or_default();
        parts.push(match attribute("filename") {
            Some(file) => FormPart::File {
                name,
                path: base_name(file).into(),
                content: recorded(value.strip_suffix("\r\n").unwrap_or(value)),
                mime,
            },
            None => FormPart::Field {
                name,
                value: value.trim_end_matches(['\r', '\n']).into(),
                mime,
            },
        });
    }
    Some(RequestBody::Multipart(parts))
}

fn response(response: &Value) -> Response {
    let content = &response["content"];
    let text = content["text"].as_str();
    let body = text.map(|text| match content["encoding"].as_str() {
        Some("base64") => base64_text(text),
        _ => text.to_owned(),
    });
    let mut headers = headers(&response["headers"]);
    // Safari and some proxies list cookies only in this field.
    if !headers
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case("set-cookie"))
    {
        for cookie in response["cookies"].as_array().into_iter().flatten() {
            if let (Some(name), Some(value)) = (cookie["name"].as_str(), cookie["value"].as_str()) {
                headers.push(("Set-Cookie".to_owned(), format!("{name}={value}")));
            }
        }
    }
    if let Some(location) = response["redirectURL"]
        .as_str()
        .filter(|url| !url.is_empty())
        && !headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case("location"))
    {
        headers.push(("Location".to_owned(), location.to_owned()));
    }
    Response {
        status: response["status"]
            .as_u64()
            .and_then(|status| u16::try_from(status).ok())
            .unwrap_or(0),
        headers,
        body,
        mime: content["mimeType"].as_str().unwrap_or("").to_owned(),
        hops: Vec::new(),
    }
}

/// Decodes a body from base64. Bodies that are not text become empty, because nothing is searched for in images.
fn base64_text(text: &str) -> String {
    let bytes = base64::prelude::BASE64_STANDARD
        .decode(text.trim())
        .unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests;
