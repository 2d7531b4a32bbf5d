//! Requests and their responses, independent of the input's format.

use crate::text::PlanText;
use crate::url::Address;

/// One request and its response.
#[derive(Debug, Clone, Default)]
pub struct Exchange {
    /// The request.
    pub request: Request,
    /// The response; `None` for inputs that only describe requests.
    pub response: Option<Response>,
    /// When the request was sent, in milliseconds since 1970.
    pub started_ms: Option<i64>,
    /// How long it took, in milliseconds.
    pub elapsed_ms: i64,
    /// The page or the user action that it belongs to: a key of [`Recording::pages`](crate::tidy::Recording).
    pub page: Option<String>,
    /// The browser's kind of resource, such as `document`, `xhr` or `image`; empty if unknown.
    pub kind: String,
    /// Texts that the user expects in the response.
    pub expected_texts: Vec<String>,
    /// Its index among the entries of the recording.
    pub entry: usize,
}

/// A request as a plan sends it.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The name that a person would give it; if there is none, one is made from the method and the path.
    pub name: Option<String>,
    /// The comment of its element in the plan.
    pub comment: String,
    /// The method, in capitals.
    pub method: String,
    /// The address.
    pub address: Address,
    /// Header fields: name and value.
    pub headers: Vec<(PlanText, PlanText)>,
    /// The body.
    pub body: RequestBody,
    /// The credentials for it.
    pub auth: Option<Auth>,
    /// Whether JMeter follows redirects itself.
    pub follow_redirects: bool,
    /// Whether each request opens a new connection.
    pub no_keep_alive: bool,
    /// The connect timeout, in milliseconds.
    pub connect_timeout_ms: Option<u64>,
    /// The response timeout, in milliseconds.
    pub response_timeout_ms: Option<u64>,
}

impl Request {
    /// A request without header fields and body that follows redirects.
    pub fn new(method: &str, address: Address) -> Request {
        Request {
            method: method.to_owned(),
            address,
            follow_redirects: true,
            ..Request::default()
        }
    }

    /// The name under which it is measured.
    pub fn label(&self) -> String {
        self.name
            .clone()
            .unwrap_or_else(|| crate::names::label(self))
    }

    /// The literal value of a header field.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(own, _)| own.is_named(name))
            .and_then(|(_, value)| value.literal())
    }

    /// Sets a header field unless the request has it.
    pub fn default_header(&mut self, name: &str, value: impl Into<PlanText>) {
        if !self.headers.iter().any(|(own, _)| own.is_named(name)) {
            self.headers.push((name.into(), value.into()));
        }
    }
}

/// The body of a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum RequestBody {
    /// No body.
    #[default]
    None,
    /// Sent unchanged.
    Raw(PlanText),
    /// Fields of a form, decoded.
    Form(Vec<(PlanText, PlanText)>),
    /// `multipart/form-data`.
    Multipart(Vec<FormPart>),
    /// The content of a file.
    File {
        /// The file.
        path: PlanText,
        /// The type of its content; empty for none.
        mime: String,
    },
}

/// A part of a `multipart/form-data` body.
#[derive(Debug, Clone, PartialEq)]
pub enum FormPart {
    /// A field of the form.
    Field {
        /// The name of the field.
        name: PlanText,
        /// The value.
        value: PlanText,
        /// The type of the value; empty for none.
        mime: String,
    },
    /// A file.
    File {
        /// The name of the field.
        name: PlanText,
        /// The file.
        path: PlanText,
        /// The type of its content.
        mime: String,
        /// Its content, where the input has it.
        content: Option<String>,
    },
}

/// Credentials that the HTTP Authorization Manager sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Auth {
    /// The name of the user.
    pub user: PlanText,
    /// The password.
    pub password: PlanText,
    /// `BASIC` or `DIGEST`.
    pub mechanism: &'static str,
}

/// A response as the input has it.
#[derive(Debug, Clone, Default)]
pub struct Response {
    /// 0 if none came.
    pub status: u16,
    /// Header fields: name and value.
    pub headers: Vec<(String, String)>,
    /// `None` where the recording has no body.
    pub body: Option<String>,
    /// The type of the content, such as `text/html`.
    pub mime: String,
    /// The redirects that the client followed to this response.
    pub hops: Vec<Redirect>,
}

/// A redirect that the client followed.
#[derive(Debug, Clone, Default)]
pub struct Redirect {
    /// The status.
    pub status: u16,
    /// Header fields: name and value.
    pub headers: Vec<(String, String)>,
}

impl Redirect {
    /// The first value of a header field.
    pub fn header(&self, name: &str) -> Option<&str> {
        first_of(&self.headers, name)
    }
}

fn first_of<'h>(headers: &'h [(String, String)], name: &str) -> Option<&'h str> {
    let field = headers
        .iter()
        .find(|(own, _)| own.eq_ignore_ascii_case(name));
    field.map(|(_, value)| value.as_str())
}

impl Response {
    /// The first value of a header field.
    pub fn header(&self, name: &str) -> Option<&str> {
        first_of(&self.headers, name)
    }

    /// Whether it redirects the client to another address.
    pub fn is_redirect(&self) -> bool {
        matches!(self.status, 301 | 302 | 303 | 307 | 308)
    }
}
