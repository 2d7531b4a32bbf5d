//! Imports cURL commands, as browsers copy them and as documentation prints them.
//!
//! An unknown option causes a warning, never an error. The warning names each option that changes the request in a way that
//! JMeter cannot reproduce.

mod glob;
mod options;
mod words;

use base64::Engine as _;

use crate::draft::{Draft, DraftStep};
use crate::exchange::{Auth, FormPart, Request, RequestBody};
use crate::options::ImportError;
use crate::text::PlanText;
use crate::url::{self, Address};
use options::{Action, Given};
use words::CommandLine;

/// Whether a text looks like a cURL command.
pub(crate) fn is_curl(text: &str) -> bool {
    words::commands(text)
        .iter()
        .any(|command| request_words(command).is_some())
}

/// A draft of all requests in a text of cURL commands.
///
/// # Errors
/// There is no cURL command with an address in it.
pub fn import(text: &str) -> Result<Draft, ImportError> {
    let mut draft = Draft::new("cURL");
    let mut steps = Vec::new();
    for command in words::commands(text) {
        let Some(words) = request_words(&command) else {
            let program = command.words.first().map(String::as_str).unwrap_or("");
            draft.leave_out(&format!("commands that are not cURL ({program})"));
            continue;
        };
        let mut parts = vec![Vec::new()];
        for word in words {
            if word == "--next" || word == "-:" {
                parts.push(Vec::new());
            } else if let Some(part) = parts.last_mut() {
                part.push(word.as_str());
            }
        }
        for part in parts {
            let mut call = CurlCommand {
                input: command.input.clone(),
                ..CurlCommand::default()
            };
            call.read(&part, &mut draft);
            let requests = call.requests(&mut draft);
            steps.extend(requests.into_iter().map(DraftStep::from));
        }
    }
    const REMEDY: &str = "Give it an address: `curl https://shop.example/`";
    draft.with_steps(steps, ("no cURL command with an address", REMEDY))
}

/// The words after `curl`. In documentation a prompt may precede it.
fn request_words(command: &CommandLine) -> Option<&[String]> {
    let is_curl = |word: &String| {
        let program = word.rsplit(['/', '\\']).next().unwrap_or("");
        matches!(program, "curl" | "curl.exe")
    };
    let before = |word: &String| {
        let is_prefix = [
            "$", ">", "%", "sudo", "time", "exec", "env", "nohup", "if", "then", "else", "while",
            "until", "!", "{", "(",
        ];
        is_prefix.contains(&word.as_str()) || word.contains('=')
    };
    let at = command.words.iter().position(|word| !before(word))?;
    is_curl(&command.words[at]).then(|| &command.words[at + 1..])
}

/// The options of one command.
#[derive(Default)]
struct CurlCommand {
    urls: Vec<String>,
    method: Option<String>,
    headers: Vec<(String, String)>,
    /// Parts of the body, joined by `&`.
    data: Vec<String>,
    /// The file that holds the body.
    file: Option<String>,
    parts: Vec<FormPart>,
    query: Vec<String>,
    auth: Option<(String, String)>,
    digest: bool,
    as_query: bool,
    head: bool,
    json: bool,
    follow: bool,
    globoff: bool,
    /// Segments `.` and `..` of paths stay.
    is_path_as_is: bool,
    upload: Option<String>,
    connect_timeout_ms: Option<u64>,
    response_timeout_ms: Option<u64>,
    input: Option<String>,
}

impl CurlCommand {
    fn read(&mut self, words: &[&str], draft: &mut Draft) {
        for given in options::given(words) {
            match given {
                Given::Argument(url) => self.urls.push(url.to_owned()),
                Given::Unknown(option) => {
                    draft.warn(format!(
                        "cURL option `{option}` is not known and was ignored"
                    ));
                }
                Given::Option(option, Action::Ignored, _) => {
                    // This option only affects how the response is shown or stored.
                    let _ = option;
                }
                Given::Option(option, Action::Told, _) => {
                    draft.warn(format!(
                        "cURL option `{option}` has no counterpart in a plan and was ignored"
                    ));
                }
                Given::Option(option, action, value) => self.apply(option, action, value, draft),
            }
        }
    }

    fn apply(&mut self, option: &str, action: Action, value: &str, draft: &mut Draft) {
        match action {
            Action::Url => self.urls.push(value.to_owned()),
            Action::Insecure => draft.insecure = true,
            Action::Method => self.method = Some(value.to_owned()),
            Action::Header => self.header(value, draft),
            Action::Agent => self
                .headers
                .push(("User-Agent".to_owned(), value.to_owned())),
            Action::Referer => self.headers.push((
                "Referer".to_owned(),
                value.trim_end_matches(";auto").to_owned(),
            )),
            Action::Cookie if value.contains('=') => {
                self.headers.push(("Cookie".to_owned(), value.to_owned()))
            }
            Action::Cookie => draft.warn(format!("cookie file `{value}` is not read")),
            Action::Bearer => self
                .headers
                .push(("Authorization".to_owned(), format!("Bearer {value}"))),
            Action::User => {
                let (user, password) = value.split_once(':').unwrap_or((value, ""));
                self.auth = Some((user.to_owned(), password.to_owned()));
            }
            Action::Digest => self.digest = true,
            Action::Data => self.data(value, true),
            Action::Binary => self.data(value, false),
            Action::Raw => self.data.push(value.to_owned()),
            Action::Encoded => self.data.push(encoded(value)),
            Action::Json => {
                self.json = true;
                self.data(value, false);
            }
            Action::Query => self.query.push(encoded(value)),
            Action::Form => self.form(value, true, draft),
            Action::FormText => self.form(value, false, draft),
            Action::AsQuery => self.as_query = true,
            Action::Head => self.head = true,
            Action::Follow => self.follow = true,
            Action::GlobOff => self.globoff = true,
            Action::Range => {
                // curl takes a lone number as the start of the rest.
                let rest = if value.contains('-') { "" } else { "-" };
                let range = format!("bytes={value}{rest}");
                self.headers.push(("Range".to_owned(), range));
            }
            Action::PathAsIs => self.is_path_as_is = true,
            Action::Upload => self.upload = Some(value.to_owned()),
            Action::ConnectTimeout => self.connect_timeout_ms = milliseconds(value),
            Action::Timeout => self.response_timeout_ms = milliseconds(value),
            Action::Ignored | Action::Told => {}
        }
        if option == "--aws-sigv4" {
            draft.warn("requests signed with `--aws-sigv4` need a signature for each request: the plan sends none");
        }
    }

    fn header(&mut self, value: &str, draft: &mut Draft) {
        if let Some(file) = value.strip_prefix('@') {
            draft.warn(format!("header file `{file}` is not read"));
            return;
        }
        // `Name;` sends the field with an empty value; `Name:` removes one of cURL's own fields.
        match value.split_once(':') {
            Some((name, value)) if !value.trim().is_empty() => {
                self.headers
                    .push((name.trim().to_owned(), value.trim().to_owned()));
            }
            Some(_) => {}
            None => self
                .headers
                .push((value.trim_end_matches(';').to_owned(), String::new())),
        }
    }

    fn data(&mut self, value: &str, strips_lines: bool) {
        match value.strip_prefix('@') {
            Some("-") => {
                let input = self.input.clone().unwrap_or_default();
                self.data.push(if strips_lines {
                    input.replace('\n', "")
                } else {
                    input
                });
            }
            Some(file) => self.file = Some(file.to_owned()),
            None => self.data.push(value.to_owned()),
        }
    }

    /// Parses `name=value`, `name=@file;type=…;filename=…` or `name=<file`.
    fn form(&mut self, value: &str, has_files: bool, draft: &mut Draft) {
        let Some((name, content)) = value.split_once('=') else {
            draft.warn(format!(
                "form field `{value}` has no value and was left out"
            ));
            return;
        };
        let name = PlanText::from(name);
        let file = content.strip_prefix('@').filter(|_| has_files);
        let mut pieces = file.unwrap_or(content).split(';');
        let first = pieces.next().unwrap_or("");
        let mime = pieces
            .filter_map(|piece| piece.trim().strip_prefix("type="))
            .next()
            .unwrap_or("")
            .to_owned();
        self.parts.push(
            match (file, content.strip_prefix('<').filter(|_| has_files)) {
                (Some(_), _) => FormPart::File {
                    name,
                    path: first.trim_matches('"').into(),
                    content: None,
                    mime: if mime.is_empty() {
                        type_of(first).to_owned()
                    } else {
                        mime
                    },
                },
                (None, Some(file)) => {
                    let value = PlanText::expression(format!(
                        "${{__FileToString({})}}",
                        file.replace(',', "\\,")
                    ));
                    FormPart::Field { name, value, mime }
                }
                (None, None) if has_files && !mime.is_empty() => FormPart::Field {
                    name,
                    value: first.into(),
                    mime,
                },
                (None, None) => FormPart::Field {
                    name,
                    value: content.into(),
                    mime: String::new(),
                },
            },
        );
    }

    fn requests(self, draft: &mut Draft) -> Vec<Request> {
        let mut requests = Vec::new();
        let globbed = |url: &String| {
            if self.globoff {
                vec![url.clone()]
            } else {
                // curl would refuse a wrong pattern; the author means its characters.
                glob::addresses(url).unwrap_or_else(|| vec![url.clone()])
            }
        };
        for url in &self.urls.iter().flat_map(globbed).collect::<Vec<_>>() {
            let full = if url.contains("://") {
                url.clone()
            } else {
                format!("http://{url}")
            };
            match Address::parse(&full) {
                Some(address) if self.is_path_as_is => requests.push(self.request(address)),
                Some(address) => requests.push(self.request(address.without_dot_segments())),
                None => draft.leave_out(&format!("addresses that are not HTTP ({url})")),
            }
        }
        requests
    }

    fn request(&self, mut address: Address) -> Request {
        let body = self.body();
        let file = self
            .upload
            .as_deref()
            .filter(|file| !matches!(*file, "-" | "."));
        let path = address.path.literal().unwrap_or("").to_owned();
        let (bare, rest) = path.split_at(path.find('?').unwrap_or(path.len()));
        if let Some(file) = file.filter(|_| bare.ends_with('/')) {
            // Where the address names no file, curl adds the name of the one that it sends.
            let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
            address.path = format!("{bare}{}{rest}", url::encode_segment(name)).into();
        }
        let mut query = self.query.clone();
        if self.as_query {
            query.extend(self.data.iter().cloned());
        }
        for parameters in query.iter().filter(|query| !query.is_empty()) {
            let path = address.path.template();
            let separator = match path.contains('?') {
                _ if path.ends_with(['?', '&']) => "",
                true => "&",
                false => "?",
            };
            let parameters = url::sendable_query(parameters).replace('#', "%23");
            address.path.push(&format!("{separator}{parameters}"));
        }
        let method = match (&self.method, self.head, &body, &self.upload) {
            (Some(method), ..) => method.clone(),
            (_, true, ..) => "HEAD".to_owned(),
            (_, _, _, Some(_)) => "PUT".to_owned(),
            (_, _, RequestBody::None, _) => "GET".to_owned(),
            _ => "POST".to_owned(),
        };
        let mut request = Request::new(&method, address);
        request.follow_redirects = self.follow;
        request.connect_timeout_ms = self.connect_timeout_ms;
        request.response_timeout_ms = self.response_timeout_ms;
        let fields = self.headers.iter();
        request.headers = fields
            .filter(|(name, _)| !is_own(name))
            .map(|(name, value)| {
                (
                    PlanText::from(name.as_str()),
                    PlanText::from(value.as_str()),
                )
            })
            .collect();
        if self.json {
            request.default_header("Content-Type", "application/json");
            request.default_header("Accept", "application/json");
        }
        if matches!(body, RequestBody::Raw(_) | RequestBody::File { .. }) && self.upload.is_none() {
            request.default_header("Content-Type", "application/x-www-form-urlencoded");
        }
        self.authorize(&mut request);
        request.body = body;
        request
    }

    /// Adds the credentials. cURL sends basic credentials preemptively, and so does a plan that contains the header field
    /// itself.
    fn authorize(&self, request: &mut Request) {
        let Some((user, password)) = &self.auth else {
            return;
        };
        if self.digest {
            request.auth = Some(Auth {
                user: user.as_str().into(),
                password: password.as_str().into(),
                mechanism: "DIGEST",
            });
        } else {
            let token = base64::prelude::BASE64_STANDARD.encode(format!("{user}:{password}"));
            request.default_header("Authorization", format!("Basic {token}"));
        }
    }

    fn body(&self) -> RequestBody {
        if let Some(path) = self
            .upload
            .as_ref()
            .or(self.file.as_ref().filter(|_| self.data.is_empty()))
        {
            return RequestBody::File {
                path: path.as_str().into(),
                mime: String::new(),
            };
        }
        if !self.parts.is_empty() {
            return RequestBody::Multipart(self.parts.clone());
        }
        if self.data.is_empty() || self.as_query {
            return RequestBody::None;
        }
        let joined = self.data.join(if self.json { "" } else { "&" });
        let content_type = self
            .headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        // The fields of other methods would go into the address.
        let method = self.method.as_deref().unwrap_or("POST");
        let is_form = !self.json
            && ["POST", "PUT", "PATCH"].contains(&method)
            && content_type
                .is_none_or(|(_, value)| value.starts_with("application/x-www-form-urlencoded"));
        match form_fields(&joined).filter(|_| is_form) {
            Some(fields) => RequestBody::Form(fields),
            None => RequestBody::Raw(joined.into()),
        }
    }
}

/// The type that curl gives a file of a form, by the end of its name.
fn type_of(file: &str) -> &'static str {
    const TYPES: [(&str, &str); 10] = [
        (".gif", "image/gif"),
        (".jpg", "image/jpeg"),
        (".jpeg", "image/jpeg"),
        (".png", "image/png"),
        (".svg", "image/svg+xml"),
        (".txt", "text/plain"),
        (".htm", "text/html"),
        (".html", "text/html"),
        (".pdf", "application/pdf"),
        (".xml", "application/xml"),
    ];
    let lower = file.trim_matches('"').to_ascii_lowercase();
    let mut types = TYPES.iter();
    types
        .find(|(end, _)| lower.ends_with(end))
        .map(|(_, mime)| *mime)
        .unwrap_or("application/octet-stream")
}

fn is_own(name: &str) -> bool {
    matches!(
        name.to_ascii_lowercase().as_str(),
        "content-length" | "host" | "connection"
    )
}

/// The fields of a form body; `None` unless sending them yields the same bytes.
pub(crate) fn form_fields(body: &str) -> Option<Vec<(PlanText, PlanText)>> {
    let mut fields = Vec::new();
    for field in body.split('&') {
        let (name, value) = field.split_once('=')?;
        if name.is_empty() || name.contains(['{', '<', '"', '\n']) {
            return None;
        }
        if !is_same(name) || !is_same(value) {
            return None;
        }
        fields.push((url::decode(name).into(), url::decode(value).into()));
    }
    Some(fields)
}

fn is_same(text: &str) -> bool {
    let plain = text.replace('+', "%20");
    url::encode(&url::decode(text)).eq_ignore_ascii_case(&plain) || !text.contains('%')
}

/// Encodes the content of `content`, `=content` or `name=content`.
fn encoded(value: &str) -> String {
    match value.split_once('=') {
        Some(("", content)) => url::encode(content),
        Some((name, content)) => format!("{name}={}", url::encode(content)),
        None => url::encode(value),
    }
}

fn milliseconds(seconds: &str) -> Option<u64> {
    let seconds: f64 = seconds.parse().ok()?;
    // Negative values become 0, and absurdly large ones the largest number.
    Some((seconds * 1000.0) as u64)
}

#[cfg(test)]
mod tests;
