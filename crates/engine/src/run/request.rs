//! An HTTP Request, as pre-processors and scripts see and change it for one sample.

use std::time::Duration;

use drumfire_java::charset::Charset;
use drumfire_java::url_coding::{append_url_encoded, url_decode};
use drumfire_web::cookies::Cookie;

use crate::run::step::SamplerId;

/// Texts of HTTP Requests that code reads have numbers from here on; those below are texts of Java elements.
const REQUEST_TEXTS: usize = 1 << 30;

/// How many texts of one HTTP Request have numbers.
const TEXTS_OF_REQUEST: usize = 1 << 12;

/// The first character of a placeholder for a text that is not evaluated. No text of a plan begins with it.
const UNREAD: char = '\0';

/// A text of an HTTP Request that is evaluated each time that code reads it (`FunctionProperty`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnreadText {
    /// The request, in the thread group of the user that reads it.
    pub sampler: SamplerId,
    /// Which of its texts.
    pub place: usize,
}

impl UnreadText {
    /// The text with that number, if it is one of an HTTP Request.
    pub fn numbered(number: usize) -> Option<UnreadText> {
        let number = number.checked_sub(REQUEST_TEXTS)?;
        let sampler = u32::try_from(number / TEXTS_OF_REQUEST).ok()?;
        let place = number % TEXTS_OF_REQUEST;
        Some(UnreadText { sampler, place })
    }

    /// The placeholder for it. `None` if its number would have more than the 31 bits of Java's numbers.
    pub fn stand_in(self) -> Option<String> {
        let sampler = usize::try_from(self.sampler).ok()?;
        let is_numbered =
            self.place < TEXTS_OF_REQUEST && sampler < REQUEST_TEXTS / TEXTS_OF_REQUEST;
        let number = REQUEST_TEXTS + sampler * TEXTS_OF_REQUEST + self.place;
        is_numbered.then(|| format!("{UNREAD}{number}"))
    }
}

/// The settings of one sample that pre-processors may change, evaluated or [unread](UnreadText).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    pub name: String,
    pub protocol: String,
    pub domain: String,
    pub port: String,
    pub path: String,
    pub method: String,
    pub content_encoding: String,
    pub raw_body: bool,
    pub multipart: bool,
    pub browser_compatible: bool,
    /// `HTTPSampler.connect_timeout`.
    pub connect_timeout: Option<Duration>,
    /// `HTTPSampler.response_timeout`.
    pub response_timeout: Option<Duration>,
    pub arguments: Vec<RequestArgument>,
    pub files: Vec<RequestFile>,
    /// The headers of the Header Managers in scope.
    pub headers: Vec<(String, String)>,
    pub has_header_manager: bool,
    /// The policy of the Cookie Manager in scope, if there is one.
    pub cookie_policy: Option<String>,
}

/// One argument (`HTTPArgument`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestArgument {
    pub name: String,
    pub value: String,
    pub metadata: String,
    pub content_type: String,
    pub always_encode: bool,
}

/// A file to upload (`HTTPFileArg`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestFile {
    pub path: String,
    pub param_name: String,
    pub mime_type: String,
}

/// A cookie as a script sees it.
pub struct SeenCookie {
    pub cookie: Cookie,
    /// The text in the plan, if its value has variables.
    pub written: Option<Box<str>>,
}

impl Request {
    /// `HTTPSamplerBase#setPath(String)`: the query of a GET or DELETE becomes arguments.
    pub fn set_path(&mut self, path: &str) {
        let is_full = path.starts_with("http://") || path.starts_with("https://");
        match path.split_once('?') {
            Some((path, query)) if !is_full && matches!(self.method.as_str(), "GET" | "DELETE") => {
                self.path = path.to_owned();
                for (name, value, metadata) in parse_arguments(query) {
                    // A value that cannot be decoded is an exception in JMeter, which ends the sample.
                    self.arguments
                        .extend(RequestArgument::encoded(name, value, metadata));
                }
            }
            _ => self.path = path.to_owned(),
        }
    }
}

/// Whether a text stands for one that is not evaluated.
pub fn is_unread(text: &str) -> bool {
    text.starts_with(UNREAD)
}

/// Replaces the placeholders of headers that a script kept with the evaluated values that they stand for.
pub fn settle_headers(
    headers: &mut [(String, String)],
    before: &[(String, String)],
    evaluated: &[(String, String)],
) {
    for (_, value) in headers.iter_mut().filter(|(_, value)| is_unread(value)) {
        let place = before.iter().position(|(_, one)| one == value);
        if let Some((_, text)) = place.and_then(|place| evaluated.get(place)) {
            value.clone_from(text);
        }
    }
}

impl RequestArgument {
    /// Replaces a placeholder with the evaluated value of the argument that it stands for.
    pub fn settle(&mut self, before: &[RequestArgument], evaluated: &[RequestArgument]) {
        if is_unread(&self.value) {
            let place = before.iter().position(|one| one.value == self.value);
            if let Some(argument) = place.and_then(|place| evaluated.get(place)) {
                self.value.clone_from(&argument.value);
            }
        }
    }

    /// `HTTPSamplerBase#addNonEncodedArgument`: sent as it is.
    pub fn plain(name: &str, value: &str, metadata: &str) -> RequestArgument {
        RequestArgument {
            name: name.to_owned(),
            value: value.to_owned(),
            metadata: metadata.to_owned(),
            content_type: DEFAULT_CONTENT_TYPE.to_owned(),
            always_encode: false,
        }
    }

    /// `HTTPSamplerBase#addEncodedArgument`: given encoded, kept decoded, and encoded again if that makes a difference.
    /// `None` if it cannot be decoded.
    pub fn encoded(name: &str, value: &str, metadata: &str) -> Option<RequestArgument> {
        let mut argument = RequestArgument {
            metadata: metadata.to_owned(),
            ..RequestArgument::decoded(name, value)?
        };
        argument.always_encode =
            encode(&argument.name) != argument.name || encode(&argument.value) != argument.value;
        Some(argument)
    }

    /// `new HTTPArgument(name, value, true)`: decoded, and always encoded when sent.
    pub fn decoded(name: &str, value: &str) -> Option<RequestArgument> {
        let name = url_decode(name, &Charset::UTF_8).ok()?;
        let value = url_decode(value, &Charset::UTF_8).ok()?;
        Some(RequestArgument {
            always_encode: true,
            ..RequestArgument::plain(&name, &value, "=")
        })
    }
}

/// `HTTPArgument#getContentType` where none is set.
const DEFAULT_CONTENT_TYPE: &str = "text/plain";

fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    append_url_encoded(text, &Charset::UTF_8, &mut out);
    out
}

/// Name, value and separator of each argument of a query (`HTTPSamplerBase#parseArguments`).
pub fn parse_arguments(query: &str) -> impl Iterator<Item = (&str, &str, &'static str)> {
    let arguments = query
        .split('&')
        .map(|argument| match argument.split_once('=') {
            Some((name, value)) => (name, value, "="),
            None => (argument, "", ""),
        });
    arguments.filter(|(name, _, _)| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unread_text_is_found_by_what_stands_for_it() {
        let found = |sampler, place| {
            let stand_in = UnreadText { sampler, place }.stand_in()?;
            let number: usize = stand_in.strip_prefix(UNREAD)?.parse().ok()?;
            assert!(i32::try_from(number).is_ok());
            UnreadText::numbered(number)
        };
        let last = (1 << 18) - 1;
        for (sampler, place) in [(0, 0), (7, 4095), (last, 0), (last, 4095)] {
            assert_eq!(found(sampler, place), Some(UnreadText { sampler, place }));
        }
        assert_eq!(found(0, 4096), None);
        assert_eq!(found(last + 1, 0), None);
        assert_eq!(UnreadText::numbered(12), None);
    }

    fn shown(request: &Request) -> String {
        let arguments: Vec<String> = request
            .arguments
            .iter()
            .map(|argument| {
                format!(
                    "{}{}{} {}",
                    argument.name, argument.metadata, argument.value, argument.always_encode
                )
            })
            .collect();
        format!("{} [{}]", request.path, arguments.join(", "))
    }

    fn with_path(method: &str, path: &str) -> String {
        let mut request = Request {
            method: method.to_owned(),
            ..Request::default()
        };
        request.set_path(path);
        shown(&request)
    }

    #[test]
    fn the_query_of_a_get_becomes_arguments() {
        assert_eq!(
            with_path("GET", "/a?b=c%20d&e=&f&&=g"),
            "/a [b=c d true, e= false, f false]"
        );
        assert_eq!(with_path("DELETE", "/a?b=c"), "/a [b=c false]");
        assert_eq!(with_path("POST", "/a?b=c"), "/a?b=c []");
        assert_eq!(with_path("GET", "http://h/a?b=c"), "http://h/a?b=c []");
        assert_eq!(with_path("GET", "/a"), "/a []");
    }

    #[test]
    fn encoded_arguments_are_kept_decoded() {
        let argument = RequestArgument::encoded("a+b", "%C3%A9", "=").expect("it can be decoded");
        assert_eq!(
            (
                argument.name.as_str(),
                argument.value.as_str(),
                argument.always_encode
            ),
            ("a b", "é", true)
        );
        assert_eq!(RequestArgument::encoded("a", "%zz", "="), None);
    }
}
