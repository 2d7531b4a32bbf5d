//! The options of an import, and its errors.

use std::fmt;
use std::path::Path;

use crate::draft::Draft;
use crate::filter::Filter;

/// A format that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A recording as browsers save it.
    Har,
    /// cURL commands.
    Curl,
    /// PowerShell commands, as browsers copy them.
    PowerShell,
    /// An API description: OpenAPI or Swagger.
    OpenApi,
    /// A Postman collection.
    Postman,
    /// An access log of a web server.
    AccessLog,
    /// A GraphQL document.
    GraphQl,
}

/// Each format with the name that users give it.
pub const FORMATS: [(Format, &str); 7] = [
    (Format::Har, "har"),
    (Format::Curl, "curl"),
    (Format::PowerShell, "powershell"),
    (Format::OpenApi, "openapi"),
    (Format::Postman, "postman"),
    (Format::AccessLog, "access-log"),
    (Format::GraphQl, "graphql"),
];

impl Format {
    /// The name in [`FORMATS`].
    pub fn name(self) -> &'static str {
        let named = FORMATS.iter().find(|(format, _)| *format == self);
        named.map(|(_, name)| *name).unwrap_or_default()
    }

    /// The format of a name in [`FORMATS`].
    pub fn from_name(name: &str) -> Option<Format> {
        FORMATS
            .iter()
            .find(|(_, own)| *own == name)
            .map(|(format, _)| *format)
    }
}

/// The options of an import.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions {
    /// The format; `None` to detect it from the content.
    pub format: Option<Format>,
    /// Hosts whose requests are kept in addition to those of the first page's domain.
    pub domains: Vec<String>,
    /// Keep the requests of every host.
    pub all_domains: bool,
    /// Keep images, style sheets and scripts as requests of their own.
    pub keep_static: bool,
    /// Send the cookies that the recording brings along, from columns of the CSV file.
    pub keep_cookies: bool,
    /// Leave out the pauses between requests.
    pub no_think_time: bool,
    /// Keep requests to which the browser was redirected.
    pub keep_redirects: bool,
    /// Patterns that requests must match.
    pub filter: Option<Filter>,
    /// Group requests by names that the user typed and by pauses longer than this, in milliseconds; `None`
    /// to group them by pages.
    pub pause_ms: Option<i64>,
    /// Keep only the first request of each group.
    pub first_of_group: bool,
    /// The server for access logs and for API descriptions that name none; the endpoint for GraphQL
    /// documents.
    pub server: Option<String>,
    /// Reads the other files of a description. Without it, references to other files are not resolved.
    pub read: Option<ReadFile>,
}

/// Reads a file that a description names.
pub type ReadFile = fn(&Path) -> std::io::Result<Vec<u8>>;

/// Why an import failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportError {
    /// The message, without a hint.
    pub message: String,
    /// The remedy.
    pub hint: Option<String>,
}

impl ImportError {
    /// An error without a hint.
    pub fn new(message: impl Into<String>) -> ImportError {
        ImportError {
            message: message.into(),
            hint: None,
        }
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> ImportError {
        self.hint = Some(hint.into());
        self
    }

    /// The error for an import without a single request, with the reasons. The remedy becomes the hint.
    pub fn nothing(message: &str, remedy: &str, draft: &Draft) -> ImportError {
        let reasons: Vec<String> = draft
            .left_out
            .iter()
            .map(|(reason, count)| format!("{reason}: {count}"))
            .collect();
        let whole = if reasons.is_empty() {
            message.to_owned()
        } else {
            format!("{message}; left out: {}", reasons.join("; "))
        };
        ImportError::new(whole).hint(remedy)
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ImportError {}
