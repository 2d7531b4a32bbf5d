//! Imports Postman collections 2.0 and 2.1 with their environments.

mod scripts;

use std::collections::{HashMap, HashSet};

use drumfire_platform::words::counted;
use serde_json::Value;

use crate::draft::{Draft, DraftStep, Transaction};
use crate::exchange::{Auth, FormPart, Request, RequestBody};
use crate::extractor::{Extractor, ExtractorSource};
use crate::names;
use crate::options::ImportError;
use crate::text::PlanText;
use crate::url::{self, Address};
use scripts::ScriptValue;

/// How deep nested folders are followed.
const DEEPEST: usize = 64;

/// Whether a file is an environment or globals.
pub fn is_environment(value: &Value) -> bool {
    value["values"].is_array() && value.get("item").is_none() && value.get("log").is_none()
}

/// A draft of a collection.
///
/// # Errors
/// The collection has version 1, or holds no request.
pub fn import(file: &Value, environments: &[Value]) -> Result<Draft, ImportError> {
    // Postman's API wraps the collection.
    let collection = file.get("collection").unwrap_or(file);
    if collection.get("requests").is_some() && collection.get("item").is_none() {
        return Err(ImportError::new("a collection of version 1")
            .hint("export it from Postman as Collection v2.1"));
    }
    let name = collection
        .pointer("/info/name")
        .and_then(Value::as_str)
        .unwrap_or("Postman");
    let mut importer = Importer {
        draft: Draft::new(names::one_line(name)),
        aliases: Vec::new(),
        left_scripts: Vec::new(),
    };
    for environment in environments {
        importer.variables(&environment["values"]);
    }
    importer.variables(&collection["variable"]);
    let around = Around {
        name: Vec::new(),
        auth: &collection["auth"],
    };
    let items = collection["item"].as_array().map_or(&[][..], Vec::as_slice);
    importer.scripts(collection, None);
    importer.items(items, &around);
    if importer.draft.steps().next().is_none() {
        return Err(ImportError::nothing(
            "the collection has no request",
            "Export the collection that holds the requests, as Collection v2.1",
            &importer.draft,
        ));
    }
    importer.draft.cookies = true;
    Ok(importer.finish())
}

/// The folders around an item.
struct Around<'v> {
    name: Vec<String>,
    auth: &'v Value,
}

struct Importer {
    draft: Draft,
    /// Variables that scripts set to texts and calls of functions.
    aliases: Vec<(String, PlanText)>,
    /// The items with scripts that are not carried over, and the number of lines.
    left_scripts: Vec<(String, usize)>,
}

impl Importer {
    fn variables(&mut self, values: &Value) {
        for variable in values.as_array().into_iter().flatten() {
            let Some(key) = variable["key"].as_str().or(variable["id"].as_str()) else {
                continue;
            };
            let is_off = variable["enabled"] == false || variable["disabled"] == true;
            if !is_off {
                let value = scalar(&variable["value"]);
                self.draft.variable(&variable_name(key), text(&value), "");
            }
        }
    }

    fn items(&mut self, items: &[Value], around: &Around<'_>) {
        let mut direct = Vec::new();
        for item in items {
            let name = names::one_line(item["name"].as_str().unwrap_or("Folder"));
            if let Some(inner) = item["item"].as_array() {
                if around.name.len() >= DEEPEST {
                    self.draft.leave_out("folders that are nested too deeply");
                    continue;
                }
                let mut path = around.name.clone();
                path.push(name);
                let auth = if own_auth(&item["auth"]) {
                    &item["auth"]
                } else {
                    around.auth
                };
                self.scripts(item, None);
                self.items(inner, &Around { name: path, auth });
            } else if let Some(step) = self.step(item, around) {
                direct.push(step);
            }
        }
        if !direct.is_empty() {
            let name = (!around.name.is_empty()).then(|| around.name.join(" / "));
            self.draft.transactions.push(Transaction {
                name,
                steps: direct,
                ..Transaction::default()
            });
        }
    }

    fn step(&mut self, item: &Value, around: &Around<'_>) -> Option<DraftStep> {
        let value = &item["request"];
        let (address_of, method) = match value {
            // A request may consist of its address alone.
            Value::String(url) => (Value::String(url.clone()), "GET"),
            Value::Object(_) => (
                value["url"].clone(),
                value["method"].as_str().unwrap_or("GET"),
            ),
            _ => {
                self.draft.leave_out("items without a request");
                return None;
            }
        };
        let Some(address) = self.address(&address_of) else {
            self.draft.leave_out("requests without an HTTP address");
            return None;
        };
        let mut request = Request::new(&method.to_ascii_uppercase(), address);
        request.name = item["name"]
            .as_str()
            .map(names::one_line)
            .filter(|name| !name.is_empty());
        let described = &value["description"];
        request.comment = described
            .as_str()
            .or(described["content"].as_str())
            .unwrap_or("")
            .to_owned();
        for field in value["header"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|field| field["disabled"] != true)
        {
            if let Some(name) = field["key"].as_str().filter(|name| !name.is_empty()) {
                request
                    .headers
                    .push((text(name), text(&scalar(&field["value"]))));
            }
        }
        request.body = self.body(&value["body"], &mut request.headers);
        let auth = if own_auth(&value["auth"]) {
            &value["auth"]
        } else {
            around.auth
        };
        self.auth(auth, &mut request);
        let mut step = DraftStep::from(request);
        self.scripts(item, Some(&mut step));
        Some(step)
    }

    /// The raw address without its disabled parameters, or else the address made of its parts.
    fn address(&mut self, url: &Value) -> Option<Address> {
        let raw = url.as_str().or(url["raw"].as_str()).unwrap_or("");
        let raw = if raw.is_empty() {
            joined(url)
        } else {
            raw.to_owned()
        };
        let raw = raw.split('#').next().unwrap_or("");
        let (before, query) = raw.split_once('?').unwrap_or((raw, ""));
        let mut whole = before.to_owned();
        for variable in url["variable"].as_array().into_iter().flatten() {
            if let Some(key) = variable["key"].as_str() {
                let value = scalar(&variable["value"]);
                let value = if value.is_empty() {
                    format!("{{{{{key}}}}}")
                } else {
                    value
                };
                whole = whole
                    .split('/')
                    .map(|part| {
                        if part == format!(":{key}") {
                            value.as_str()
                        } else {
                            part
                        }
                    })
                    .collect::<Vec<_>>()
                    .join("/");
            }
        }
        let mut address = self.address_of(&whole)?;
        let listed = url["query"].as_array();
        let query = match listed {
            Some(parameters) => {
                let enabled = parameters.iter().filter(|one| one["disabled"] != true);
                let pairs = enabled.filter_map(|one| {
                    let key = part(one["key"].as_str().unwrap_or(""));
                    if one["value"].is_null() {
                        one["key"].is_string().then_some(key)
                    } else {
                        Some(format!("{key}={}", part(&scalar(&one["value"]))))
                    }
                });
                pairs.collect::<Vec<_>>().join("&")
            }
            None => query.to_owned(),
        };
        if !query.is_empty() {
            address.path.push("?");
            let query = text(&query).map_literals(url::sendable_query);
            address.path.append(query);
        }
        Some(address)
    }

    /// Parses an address that may begin with a variable, which holds the whole server or its host.
    fn address_of(&mut self, raw: &str) -> Option<Address> {
        let raw = raw.trim();
        let split = raw
            .strip_prefix("{{")
            .and_then(|rest| rest.split_once("}}"));
        let Some((name, path)) = split.filter(|(_, path)| path.is_empty() || path.starts_with('/'))
        else {
            return if raw.is_empty() {
                None
            } else {
                address_of(raw)
            };
        };
        let name = variable_name(name);
        let mut variables = self.draft.variables.iter();
        let variable = variables.find(|(own, _, _)| *own == name);
        let is_whole = variable.is_none_or(|(_, value, _)| value.template().contains("://"));
        if variable.is_none() {
            self.draft.variable(&name, "http://localhost", "The server");
            self.draft.warn(format!(
                "variable `{name}` has no value: name the environment too, or set it in the plan"
            ));
        }
        let path = text(if path.is_empty() { "/" } else { path }).map_literals(url::sendable_path);
        if !is_whole {
            return Some(Address {
                scheme: "http".into(),
                host: PlanText::variable(&name),
                path,
                ..Address::default()
            });
        }
        // JMeter takes a path that begins with a scheme as the whole address.
        let mut whole = PlanText::variable(&name);
        whole.append(path);
        Some(Address {
            path: whole,
            ..Address::default()
        })
    }

    fn body(&mut self, body: &Value, headers: &mut Vec<(PlanText, PlanText)>) -> RequestBody {
        if body["disabled"] == true {
            return RequestBody::None;
        }
        match body["mode"].as_str().unwrap_or("") {
            "raw" => raw(body, headers),
            "urlencoded" => {
                headers.retain(|(name, _)| !name.is_named("content-type"));
                let fields = enabled_pairs(&body["urlencoded"]);
                RequestBody::Form(fields.map(field).collect())
            }
            "formdata" => {
                headers.retain(|(name, _)| !name.is_named("content-type"));
                let fields = enabled_pairs(&body["formdata"]);
                RequestBody::Multipart(fields.map(|one| self.part(one)).collect())
            }
            "file" => {
                let path = body["file"]
                    .as_str()
                    .or(body.pointer("/file/src").and_then(Value::as_str))
                    .unwrap_or("");
                RequestBody::File {
                    path: text(path),
                    mime: String::new(),
                }
            }
            "graphql" => {
                type_if_missing(headers, "application/json");
                RequestBody::Raw(graphql(&body["graphql"]))
            }
            _ => RequestBody::None,
        }
    }

    fn part(&mut self, one: &Value) -> FormPart {
        let name = text(&scalar(&one["key"]));
        let mime = one["contentType"].as_str().unwrap_or("").to_owned();
        if one["type"] != "file" {
            return FormPart::Field {
                name,
                value: text(&scalar(&one["value"])),
                mime,
            };
        }
        let path = one["src"].as_str().or(one["src"][0].as_str()).unwrap_or("");
        if path.is_empty() {
            self.draft
                .warn(format!("form field `{}` names no file", name.template()));
        }
        FormPart::File {
            name,
            path: text(path),
            content: None,
            mime: if mime.is_empty() {
                "application/octet-stream".to_owned()
            } else {
                mime
            },
        }
    }

    fn auth(&mut self, auth: &Value, request: &mut Request) {
        let kind = auth["type"].as_str().unwrap_or("noauth");
        let value = |name: &str| -> PlanText {
            // 2.1 has a list of keys and values, 2.0 an object.
            let of_list = auth[kind]
                .as_array()
                .and_then(|list| list.iter().find(|one| one["key"] == name));
            text(&scalar(
                of_list.map_or(&auth[kind][name], |one| &one["value"]),
            ))
        };
        match kind {
            "noauth" | "" => {}
            "basic" | "digest" => {
                request.auth = Some(Auth {
                    user: value("username"),
                    password: value("password"),
                    mechanism: if kind == "basic" { "BASIC" } else { "DIGEST" },
                });
            }
            "bearer" | "oauth2" => {
                let token = if kind == "bearer" {
                    value("token")
                } else {
                    value("accessToken")
                };
                let token = if token.is_empty() {
                    self.draft.variable("token", "", "A bearer token");
                    PlanText::variable("token")
                } else {
                    token
                };
                let mut field = PlanText::from("Bearer ");
                field.append(token);
                request.headers.push(("Authorization".into(), field));
            }
            "apikey" => {
                let name = value("key").template();
                if value("in").literal() == Some("query") {
                    request.address.add_parameter(&name, value("value"));
                } else {
                    request.headers.push((name.into(), value("value")));
                }
            }
            other => self.draft.warn(format!(
                "authorization `{other}` has no counterpart: its requests are sent without it"
            )),
        }
    }

    /// Carries over what a script sets and expects. A value of a response becomes an extractor; texts and functions stand in
    /// place of the variable.
    fn scripts(&mut self, item: &Value, mut step: Option<&mut DraftStep>) {
        for event in item["event"].as_array().into_iter().flatten() {
            let source = match &event["script"]["exec"] {
                Value::String(text) => text.clone(),
                Value::Array(lines) => {
                    let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
                    lines.join("\n")
                }
                _ => continue,
            };
            let script = scripts::read(&source);
            let is_after = event["listen"] == "test";
            let mut rest = script.rest;
            for (name, value) in script.sets {
                if !self.set(variable_name(&name), value, is_after, step.as_deref_mut()) {
                    rest += 1;
                }
            }
            if let (Some(step), true) = (step.as_deref_mut(), is_after) {
                step.expected_code = script.status;
            }
            if rest > 0 {
                let name = item["name"].as_str().unwrap_or("the collection");
                self.left_scripts.push((names::one_line(name), rest));
            }
        }
    }

    /// Sets a variable; returns whether a plan can.
    fn set(
        &mut self,
        name: String,
        value: ScriptValue,
        is_after: bool,
        step: Option<&mut DraftStep>,
    ) -> bool {
        match value {
            ScriptValue::Text(text) => {
                let call = text.literal().is_none();
                match step.filter(|_| call && !is_after) {
                    // Each use of a function would give another value.
                    Some(step) => step.assigned.push((name, text)),
                    None => self.aliases.push((name, text)),
                }
                true
            }
            ScriptValue::Joined(parts) => {
                let Some(step) = step.filter(|_| is_after) else {
                    return false;
                };
                let mut whole = PlanText::default();
                for part in parts {
                    match part {
                        ScriptValue::Text(text) => whole.append(text),
                        part => {
                            let Some(source) = source_of(part) else {
                                return false;
                            };
                            let variable = format!("{name}_{}", step.extractors.len() + 1);
                            whole.append(PlanText::variable(&variable));
                            step.extractors.push(Extractor { variable, source });
                        }
                    }
                }
                self.aliases.push((name, whole));
                true
            }
            value => match (source_of(value), step.filter(|_| is_after)) {
                (Some(source), Some(step)) => {
                    step.extractors.push(Extractor {
                        variable: name,
                        source,
                    });
                    true
                }
                _ => false,
            },
        }
    }

    /// Puts the texts in place of the variables that scripts set to them, unless a response sets them too.
    fn finish(mut self) -> Draft {
        let extractors = self.draft.steps().flat_map(|step| &step.extractors);
        let mut taken: HashSet<String> = extractors.map(|one| one.variable.clone()).collect();
        let assigned = self.draft.steps().flat_map(|step| &step.assigned);
        taken.extend(assigned.map(|(name, _)| name.clone()));
        let mut aliases: HashMap<String, PlanText> = HashMap::new();
        for (name, value) in std::mem::take(&mut self.aliases) {
            let variable = format!("${{{name}}}");
            if !taken.contains(&name) && !value.template().contains(&variable) {
                aliases.entry(variable).or_insert(value);
            }
        }
        for step in self.draft.steps_mut().filter(|_| !aliases.is_empty()) {
            // A text may hold a variable that is set to a text, but not endlessly.
            for _ in 0..3 {
                step.each_text(|text| text.replace_expressions(|own| aliases.get(own)));
            }
        }
        let is_alias = |name: &String| aliases.contains_key(&format!("${{{name}}}"));
        self.draft.variables.retain(|(name, _, _)| !is_alias(name));
        if let [first, rest @ ..] = self.left_scripts.as_slice() {
            let lines: usize = self.left_scripts.iter().map(|(_, lines)| lines).sum();
            let lines = counted(lines as u64, "line");
            let warning = match rest.len() {
                0 => format!("scripts of `{}` are not carried over: {lines}", first.0),
                more => format!(
                    "scripts of `{}` and {more} more are not carried over: {lines}",
                    first.0
                ),
            };
            self.draft.warn(warning);
        }
        self.draft
    }
}

/// The extractor's source for a value of a script, if it comes from the response.
fn source_of(value: ScriptValue) -> Option<ExtractorSource> {
    match value {
        ScriptValue::Json(path) => Some(ExtractorSource::Json(path)),
        ScriptValue::Header(field) => Some(ExtractorSource::header(format!(
            "(?i){}: (.+)",
            plain(&field)
        ))),
        ScriptValue::Cookie(cookie) => Some(ExtractorSource::header(format!(
            "(?i)Set-Cookie: {}=([^;\\s]*)",
            plain(&cookie)
        ))),
        _ => None,
    }
}

/// A value of the list may hold the characters that separate parameters.
fn part(value: &str) -> String {
    value.replace('&', "%26").replace('#', "%23")
}

fn field(one: &Value) -> (PlanText, PlanText) {
    (text(&scalar(&one["key"])), text(&scalar(&one["value"])))
}

/// A name within a regular expression.
fn plain(name: &str) -> String {
    let mut out = String::new();
    for sign in name.chars() {
        if !sign.is_alphanumeric() && !"-_".contains(sign) {
            out.push('\\');
        }
        out.push(sign);
    }
    out
}

/// The pairs of a list that are sent.
fn enabled_pairs(list: &Value) -> impl Iterator<Item = &Value> {
    let list = list.as_array().into_iter().flatten();
    list.filter(|one| one["disabled"] != true && one["key"].is_string())
}

fn type_if_missing(headers: &mut Vec<(PlanText, PlanText)>, mime: &str) {
    if !headers
        .iter()
        .any(|(name, _)| name.is_named("content-type"))
    {
        headers.push(("Content-Type".into(), mime.into()));
    }
}

/// A raw body, with the content type of its language.
fn raw(body: &Value, headers: &mut Vec<(PlanText, PlanText)>) -> RequestBody {
    let raw = body["raw"].as_str().unwrap_or("");
    if raw.is_empty() {
        return RequestBody::None;
    }
    let language = body.pointer("/options/raw/language");
    let mime = match language.and_then(Value::as_str).unwrap_or("") {
        "json" => "application/json",
        "xml" => "application/xml",
        "html" => "text/html",
        "javascript" => "application/javascript",
        _ => "text/plain",
    };
    type_if_missing(headers, mime);
    RequestBody::Raw(text(raw))
}

fn own_auth(auth: &Value) -> bool {
    auth.is_object() && auth["type"].is_string()
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn joined(url: &Value) -> String {
    let host = list(&url["host"], ".");
    let port = scalar(&url["port"]);
    let port = if port.is_empty() {
        port
    } else {
        format!(":{port}")
    };
    let protocol = url["protocol"].as_str().unwrap_or("http");
    format!("{protocol}://{host}{port}/{}", list(&url["path"], "/"))
}

fn list(value: &Value, separator: &str) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let parts: Vec<String> = parts
                .iter()
                .map(|part| {
                    part["value"]
                        .as_str()
                        .map(str::to_owned)
                        .unwrap_or_else(|| scalar(part))
                })
                .collect();
            parts.join(separator)
        }
        _ => String::new(),
    }
}

/// An address that may hold `{{variables}}`.
fn address_of(raw: &str) -> Option<Address> {
    let (scheme, rest) = match raw.split_once("://") {
        Some((scheme, rest)) => (scheme.to_ascii_lowercase(), rest),
        None => ("http".to_owned(), raw),
    };
    if !raw.contains("{{") {
        return Address::parse(&format!("{scheme}://{rest}"));
    }
    if !scheme.starts_with("http") && !scheme.starts_with("{{") {
        return None;
    }
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let (host, port) = authority.rsplit_once(':').unwrap_or((authority, ""));
    let path = if path.is_empty() { "/" } else { path };
    Some(Address {
        scheme: text(&scheme),
        host: text(host),
        port: text(port),
        path: text(path).map_literals(url::sendable_path),
    })
}

/// Rewrites characters that JMeter does not allow in a name within `${…}`.
fn variable_name(name: &str) -> String {
    name.trim().replace(['{', '}', ',', '(', ')', '$'], "_")
}

/// Converts a text with `{{variables}}`, including Postman's dynamic ones.
pub(crate) fn text(raw: &str) -> PlanText {
    let mut text = PlanText::default();
    let mut rest = raw;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else {
            break;
        };
        text.push(before);
        text.append(match dynamic(name.trim()) {
            Some(call) => PlanText::expression(call),
            None => PlanText::variable(&variable_name(name)),
        });
        rest = after;
    }
    text.push(rest);
    text
}

fn dynamic(name: &str) -> Option<&'static str> {
    Some(match name {
        "$guid" | "$randomUUID" => "${__UUID}",
        "$timestamp" => "${__time(/1000)}",
        "$isoTimestamp" => "${__time(yyyy-MM-dd'T'HH:mm:ss.SSS'Z')}",
        "$randomInt" => "${__Random(0,1000)}",
        "$randomBoolean" => "${__groovy(new Random().nextBoolean())}",
        "$randomFirstName" | "$randomLastName" | "$randomUserName" | "$randomWord" => {
            "${__RandomString(8,abcdefghijklmnopqrstuvwxyz)}"
        }
        "$randomEmail" => "${__RandomString(8,abcdefghijklmnopqrstuvwxyz)}@example.com",
        "$randomAlphaNumeric" => "${__RandomString(1,abcdefghijklmnopqrstuvwxyz0123456789)}",
        "$randomPassword" => "${__RandomString(15,abcdefghijklmnopqrstuvwxyz0123456789)}",
        _ => return None,
    })
}

/// `{"query":…,"variables":…}`; the variables are JSON in a text.
fn graphql(value: &Value) -> PlanText {
    let mut whole = PlanText::from("{\"query\":\"");
    whole.append(
        text(value["query"].as_str().unwrap_or("")).map_literals(|literal| {
            let quoted = quoted(literal);
            quoted[1..quoted.len() - 1].to_owned()
        }),
    );
    whole.push("\"");
    let variables = scalar(&value["variables"]);
    if !variables.trim().is_empty() {
        whole.push(",\"variables\":");
        whole.append(text(variables.trim()));
    }
    if let Some(name) = value["operationName"]
        .as_str()
        .filter(|name| !name.is_empty())
    {
        whole.push(&format!(",\"operationName\":{}", quoted(name)));
    }
    whole.push("}");
    whole
}

fn quoted(raw: &str) -> String {
    Value::from(raw).to_string()
}

#[cfg(test)]
mod tests;
