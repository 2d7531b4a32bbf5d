//! What pre-processors change in an HTTP Request for one sample. JMeter has them set properties of the user's own copy of
//! the sampler, which gets its former values back after the sample (`TestElement#recoverRunningVersion`).

use drumfire_web::charset::{Charset, append_url_encoded, url_decode};

use crate::run::context::Context;

/// The settings of one sample that pre-processors may change, evaluated.
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
    pub arguments: Vec<RequestArgument>,
    /// What Header Managers in scope give.
    pub headers: Vec<(String, String)>,
    pub has_header_manager: bool,
    /// Of the Cookie Manager in scope, if there is one.
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

/// A change to be made to the next sample.
pub trait Edit {
    fn apply(&self, cx: &mut Context, request: &mut Request);
}

/// The changes that the pre-processors of the sampler at hand ask for.
#[derive(Default)]
pub struct Edits {
    /// The sampler at hand is an HTTP Request; others are not changed.
    applies: bool,
    edits: Vec<Box<dyn Edit>>,
}

impl Edits {
    /// A sampler's turn begins: changes meant for another one are forgotten.
    pub fn begin(&mut self, is_http: bool) {
        self.applies = is_http;
        self.edits.clear();
    }

    /// Whether the sampler at hand is an HTTP Request (`sampler instanceof HTTPSamplerBase`).
    pub fn applies(&self) -> bool {
        self.applies
    }

    pub fn add(&mut self, edit: impl Edit + 'static) {
        self.edits.push(Box::new(edit));
    }

    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    pub fn take(&mut self) -> Vec<Box<dyn Edit>> {
        std::mem::take(&mut self.edits)
    }
}

/// A request that code has had in hands, as it was and as it is: what it did not change stays as other edits make it.
pub struct Replaced {
    pub before: Request,
    pub after: Request,
}

impl Edit for Replaced {
    fn apply(&self, _: &mut Context, request: &mut Request) {
        let Replaced { before, after } = self;
        let texts = [
            (&before.name, &after.name, &mut request.name),
            (&before.protocol, &after.protocol, &mut request.protocol),
            (&before.domain, &after.domain, &mut request.domain),
            (&before.port, &after.port, &mut request.port),
            (&before.path, &after.path, &mut request.path),
            (&before.method, &after.method, &mut request.method),
            (
                &before.content_encoding,
                &after.content_encoding,
                &mut request.content_encoding,
            ),
        ];
        for (before, after, place) in texts {
            if before != after {
                place.clone_from(after);
            }
        }
        if before.raw_body != after.raw_body {
            request.raw_body = after.raw_body;
        }
        if before.arguments != after.arguments {
            request.arguments.clone_from(&after.arguments);
        }
        if before.headers != after.headers {
            request.headers.clone_from(&after.headers);
        }
    }
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

impl RequestArgument {
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
