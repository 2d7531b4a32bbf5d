//! HTTP requests and their timers.

use drumfire_elements::config::user_defined_variables;
use drumfire_elements::items;
use drumfire_elements::samplers::http_request;
use drumfire_elements::shared::http;
use drumfire_elements::timers::{
    constant_timer, gaussian_random_timer, poisson_random_timer, uniform_random_timer,
};
use drumfire_jmx::{Element, Node, Prop};
use serde_json::Value;

use crate::amount::milliseconds;
use crate::elements::{headers, scheme_of};
use crate::error::TaurusError;
use crate::extractors::{existing, of_request};
use crate::files::Files;
use crate::value::{Table, has_variable, is_true, json, list, table, text, text_or};

/// The settings that a request inherits.
pub(crate) struct InheritedSettings<'c> {
    pub scenario: &'c Table,
    pub files: &'c Files,
}

impl InheritedSettings<'_> {
    /// The setting of a request, or else of its scenario.
    fn option<'v>(&'v self, request: &'v Table, key: &str) -> Option<&'v Value> {
        request
            .get(key)
            .filter(|value| !value.is_null())
            .or_else(|| self.scenario.get(key).filter(|value| !value.is_null()))
    }

    fn flag(&self, request: &Table, key: &str, default: bool) -> bool {
        self.option(request, key)
            .map(|value| is_true(Some(value)))
            .unwrap_or(default)
    }
}

/// A request with its headers, timer, assertions and extractors.
pub(crate) fn http_request(
    request: &Table,
    around: &InheritedSettings<'_>,
) -> Result<Node, TaurusError> {
    let Some(url) = request.get("url").map(text) else {
        let fault = TaurusError::new(format!(
            "a request has no url: {}",
            json(&Value::Object(request.clone()))
        ));
        return Err(fault.hint("write `url: https://…` or one of the blocks of Taurus"));
    };
    let label = text_or(request, "label", &url);
    let method = text_or(request, "method", "GET");
    let method = if has_variable(&method) {
        method
    } else {
        method.to_uppercase()
    };
    let mut node = http_request::FACTS.node(&label);
    let body = body_of(request, around)?;
    let uploads = uploads(request, &method, around)?;
    let body_file = text_or(request, "body-file", "");
    let is_file =
        !is_true(body.as_ref()) && uploads.is_empty() && !body_file.is_empty() && method != "GET";
    if let Some(body) = body.filter(|body| !body.is_null()) {
        node = with_body(node, &body)?;
    }
    node = with_address(node, &url)
        .with(http::METHOD.name, method)
        .with(
            http::USE_KEEPALIVE.name,
            around.flag(request, "keepalive", true),
        )
        .with(
            http::FOLLOW_REDIRECTS.name,
            around.flag(request, "follow-redirects", true),
        )
        .with(http::AUTO_REDIRECTS.name, false);
    let timeout = request.get("timeout").map(milliseconds);
    if let Some(timeout) = timeout.filter(|timeout| is_true(Some(timeout))) {
        node = node
            .with(http::CONNECT_TIMEOUT.name, text(&timeout))
            .with(http::RESPONSE_TIMEOUT.name, text(&timeout));
    }
    if let Some(encoding) = request.get("content-encoding") {
        node = node.with(http::CONTENT_ENCODING.name, text(encoding));
    }
    if is_file {
        let file = [(
            "path".to_owned(),
            Value::from(existing(&body_file, around.files)?),
        )];
        node = with_files(node, &[file.into_iter().collect()]);
    } else if !uploads.is_empty() {
        node = with_files(node, &uploads);
    }
    let mut children = Vec::new();
    if let Some(fields) = table(request, "headers").filter(|fields| !fields.is_empty()) {
        children.push(headers(fields));
    }
    children.extend(timer(around.option(request, "think-time"))?);
    children.extend(of_request(request, around.files)?);
    Ok(node.above(children))
}

/// The body of a request: a text, or fields of a form.
fn body_of(request: &Table, around: &InheritedSettings<'_>) -> Result<Option<Value>, TaurusError> {
    let Some(body) = request.get("body") else {
        return Ok(None);
    };
    let is_json = [table(request, "headers"), table(around.scenario, "headers")]
        .into_iter()
        .flatten()
        .find_map(|fields| {
            let field = fields
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
            field.map(|(_, value)| text(value).eq_ignore_ascii_case("application/json"))
        })
        .unwrap_or(false);
    Ok(Some(match body {
        Value::Number(_) | Value::Bool(_) => Value::from(json(body)),
        Value::Object(fields) if is_simple(fields) && !is_json => body.clone(),
        Value::Object(_) | Value::Array(_) => Value::from(json(body)),
        other => other.clone(),
    }))
}

fn is_simple(fields: &Table) -> bool {
    fields
        .values()
        .all(|value| matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_)))
}

fn with_body(node: Node, body: &Value) -> Result<Node, TaurusError> {
    match body {
        Value::Object(fields) if fields.is_empty() => Ok(node),
        Value::Object(fields) => {
            let items = fields.iter().map(|(name, value)| {
                let argument = Element::new("HTTPArgument")
                    .with(items::NAME.name, name.as_str())
                    .with(items::VALUE.name, text(value))
                    .with(items::ENCODE.name, true)
                    .with(items::USE_EQUALS.name, true)
                    .with(items::METADATA.name, "=");
                Prop::new(name, argument)
            });
            Ok(node.with(http::ARGUMENTS.name, arguments(items.collect())))
        }
        body => {
            let argument = Element::new("HTTPArgument").with(items::VALUE.name, text(body));
            let raw = arguments(vec![Prop::new("elementProp", argument)]);
            Ok(node
                .with(http::BODY_RAW.name, true)
                .with(http::ARGUMENTS.name, raw))
        }
    }
}

fn arguments(items: Vec<Prop>) -> Element {
    Element::new(user_defined_variables::CLASS)
        .shown("ArgumentsPanel", "")
        .with(user_defined_variables::VARIABLES.name, items)
}

/// Sets protocol, host, port and path from a URL, which is split as in Python.
fn with_address(mut node: Node, url: &str) -> Node {
    let url = url.split('#').next().unwrap_or_default();
    let (scheme, rest) = scheme_of(url);
    if let Some(scheme) = scheme {
        node = node.with(http::PROTOCOL.name, scheme.to_ascii_lowercase());
    }
    let (host, path) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len())),
        None => ("", rest),
    };
    if !host.is_empty() {
        let mut parts = host.split(':');
        let name = parts.next().unwrap_or_default();
        if !name.is_empty() {
            node = node.with(http::DOMAIN.name, name);
        }
        node = node.with(http::PORT.name, parts.next().unwrap_or_default());
    }
    node.with(http::PATH.name, path.strip_suffix('?').unwrap_or(path))
}

fn uploads(
    request: &Table,
    method: &str,
    around: &InheritedSettings<'_>,
) -> Result<Vec<Table>, TaurusError> {
    let mut all = Vec::new();
    for file in list(request, "upload-files") {
        let mut file = crate::value::as_table(file, "path");
        let Some(path) = file.get("path").map(text) else {
            return Err(TaurusError::new("an entry of `upload-files` has no path")
                .hint("write `path: file`"));
        };
        if method == "POST" && !is_true(file.get("param")) {
            let fault = TaurusError::new(format!(
                "`upload-files` does not name the field of `{path}`"
            ));
            return Err(fault.hint("write `param: field`"));
        }
        if method == "PUT" {
            file.insert("param".to_owned(), Value::from(""));
        }
        if !file.contains_key("mime-type") {
            file.insert("mime-type".to_owned(), Value::from(mime_type(&path)));
        }
        file.insert(
            "path".to_owned(),
            Value::from(existing(&path, around.files)?),
        );
        all.push(file);
    }
    // PUT sends a single file as its body.
    if method == "PUT" {
        all.truncate(1);
    }
    Ok(all)
}

fn with_files(node: Node, files: &[Table]) -> Node {
    let items = files.iter().map(|file| {
        let path = text_or(file, "path", "");
        let element = Element::new("HTTPFileArg")
            .with(items::FILE_PATH.name, path.as_str())
            .with(items::FILE_PARAMETER.name, text_or(file, "param", ""))
            .with(items::FILE_TYPE.name, text_or(file, "mime-type", ""));
        Prop::new(&path, element)
    });
    let list = Element::new("HTTPFileArgs").with(items::FILE_LIST.name, items.collect::<Vec<_>>());
    node.with(http::FILES.name, list)
}

fn mime_type(path: &str) -> &'static str {
    let ending = path
        .rsplit('.')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    match ending.as_str() {
        "py" => "text/x-python",
        "txt" => "text/plain",
        "csv" => "text/csv",
        "htm" | "html" => "text/html",
        "css" => "text/css",
        "js" => "text/javascript",
        "json" => "application/json",
        "xml" => "text/xml",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        "png" => "image/png",
        "gif" => "image/gif",
        "jpg" | "jpeg" => "image/jpeg",
        "svg" => "image/svg+xml",
        "mp4" => "video/mp4",
        _ => "application/octet-stream",
    }
}

/// The name of the timer.
const THINK_TIME: &str = "Think-Time";

/// The timer of a think time: a duration, or `uniform(2s, 500ms)`, `gaussian(…)`, `poisson(…)`.
fn timer(think_time: Option<&Value>) -> Result<Option<Node>, TaurusError> {
    let Some(think_time) = think_time.filter(|time| is_true(Some(time))) else {
        return Ok(None);
    };
    let written = text(think_time);
    let call = written
        .strip_suffix(')')
        .and_then(|inside| inside.split_once('('));
    let Some((kind, inside)) = call.filter(|(kind, _)| {
        ["uniform", "gaussian", "poisson"].contains(&kind.to_ascii_lowercase().as_str())
    }) else {
        let node = constant_timer::FACTS.node(THINK_TIME);
        return Ok(Some(node.with(
            constant_timer::DELAY.name,
            text(&milliseconds(think_time)),
        )));
    };
    let parts: Vec<&str> = inside
        .split([',', ' '])
        .filter(|part| !part.is_empty())
        .collect();
    let [Some(mean), Some(deviation)] =
        [parts.first(), parts.get(1)].map(|part| part.and_then(|part| ms(part)))
    else {
        let fault = TaurusError::new(format!("`think-time: {written}` does not have two times"));
        return Err(fault.hint("write `uniform(2s, 500ms)`"));
    };
    Ok(Some(match kind.to_ascii_lowercase().as_str() {
        "uniform" => timer_node(uniform_random_timer::CLASS, mean - deviation, deviation * 2),
        "gaussian" => timer_node(gaussian_random_timer::CLASS, mean, deviation),
        _ => timer_node(poisson_random_timer::CLASS, deviation, mean - deviation),
    }))
}

/// A timer with a delay and a range, in ms.
fn timer_node(class: &str, delay: i64, range: i64) -> Node {
    Node::new(class, &format!("{class}Gui"), THINK_TIME)
        .with(constant_timer::DELAY.name, delay.to_string())
        .with(uniform_random_timer::RANGE.name, range.to_string())
}

fn ms(text: &str) -> Option<i64> {
    milliseconds(&Value::from(text)).as_i64()
}
