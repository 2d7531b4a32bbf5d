//! Turns a sampler's arguments and files into a query string or request body.
//!
//! The rules are those of `HTTPHC4Impl.setupHttpEntityEnclosingRequestData` and `HTTPSamplerBase.getQueryString`.

use std::borrow::Cow;
use std::path::Path;

use drumfire_java::Exception;
use drumfire_java::charset::Charset;
use drumfire_java::text::is_blank;
use drumfire_java::uri::append_percent;
use drumfire_java::url_coding::{append_url_encoded, is_form_safe, url_decode};

use crate::body_parts::file_part;
pub use crate::body_parts::{Argument, BodySpec, BodyStretch, FileArgument};
use crate::local_file::{open_failure, without_extra_slashes};
use crate::multipart;

/// The text that JMeter shows in a result instead of the content of an upload file.
pub const FILE_PLACEHOLDER: &str = "<actual file content, not shown here>";

/// The `Content-Type` header that a body implies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContentType {
    /// Nothing is added.
    None,
    /// JMeter sets it before HttpClient adds anything, so it precedes `Content-Length`.
    Set(String),
    /// HttpClient adds it after `Content-Length`, if the request has no `Content-Type` header, not even an empty one.
    Entity(Cow<'static, str>),
    /// As `Entity`, after JMeter removed every `Content-Type` header (multipart).
    Replace(String),
}

/// A request body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The pieces in order.
    pub parts: Vec<BodyStretch>,
    /// Total size in bytes.
    pub len: u64,
    /// The `Content-Type` header that goes with it.
    pub content_type: ContentType,
    charset: Charset,
    shown: Option<String>,
    /// Whether it is a form, whose fields HttpClient takes apart when it sends the request to another address.
    is_form: bool,
    /// The failure of sending it, reported once there is a connection.
    pub unsendable: Option<Exception>,
}

impl Body {
    /// The body of the same request to another address, and the query that is sent there instead (`RequestBuilder#copy`). A form
    /// without fields is left out, and a `DELETE` sends its fields in the address.
    pub fn redirected(self, method: &str) -> (Option<Body>, Option<String>) {
        if !self.is_form || (self.len > 0 && method != "DELETE") {
            return (Some(self), None);
        }
        let query = self.shown().into_owned();
        (None, Some(query).filter(|query| !query.is_empty()))
    }

    /// The text that JMeter stores as the result's query string and shows in the sampler data. [`FILE_PLACEHOLDER`]
    /// replaces file contents.
    pub fn shown(&self) -> Cow<'_, str> {
        if let Some(shown) = &self.shown {
            return Cow::Borrowed(shown);
        }
        match self.parts.as_slice() {
            [] => Cow::Borrowed(""),
            [BodyStretch::Bytes(bytes)] => self.charset.decode(bytes),
            parts => {
                let mut bytes = Vec::new();
                for part in parts {
                    match part {
                        BodyStretch::Bytes(b) => bytes.extend_from_slice(b),
                        BodyStretch::Shared(text) => bytes.extend_from_slice(text.as_bytes()),
                        BodyStretch::File { .. } => {
                            bytes.extend_from_slice(FILE_PLACEHOLDER.as_bytes())
                        }
                    }
                }
                Cow::Owned(self.charset.decode(&bytes).into_owned())
            }
        }
    }
}

/// Writes the query string of the arguments (`HTTPSamplerBase.getQueryString`). Names are always encoded in UTF-8.
///
/// If Java does not know the content encoding, encoded values are omitted, as in JMeter.
pub fn append_query_string(arguments: &[Argument<'_>], content_encoding: &str, out: &mut String) {
    let charset = if is_blank(content_encoding) {
        Some(Charset::UTF_8)
    } else {
        Charset::find(content_encoding)
    };
    let lengths = arguments
        .iter()
        .map(|argument| argument.name.len() + argument.metadata.len() + argument.value.len() + 1);
    out.reserve(lengths.sum());
    let mut first = true;
    for argument in arguments.iter().filter(|a| !a.name.is_empty()) {
        if !first {
            out.push('&');
        }
        first = false;
        if argument.always_encode {
            append_url_encoded(argument.name, &Charset::UTF_8, out);
        } else {
            out.push_str(argument.name);
        }
        out.push_str(argument.metadata);
        match &charset {
            Some(charset) if argument.always_encode => {
                append_url_encoded(argument.value, charset, out)
            }
            None if argument.always_encode => {}
            _ => out.push_str(argument.value),
        }
    }
}

impl BodySpec<'_> {
    /// `HTTPSamplerBase.getSendFileAsPostBody`: exactly one file, and it has no parameter name.
    pub(crate) fn sends_file_as_body(&self) -> bool {
        matches!(self.files, [file] if !file.path.is_empty() && file.param_name.is_empty())
    }

    /// `HTTPSamplerBase.getSendParameterValuesAsPostBody`: raw, or all arguments are unnamed.
    pub(crate) fn sends_values_as_body(&self) -> bool {
        self.raw || (!self.arguments.is_empty() && self.arguments.iter().all(|a| a.name.is_empty()))
    }

    /// `HTTPSamplerBase.getUseMultipart`.
    pub(crate) fn uses_multipart(&self) -> bool {
        self.multipart
            || (!self.files.is_empty()
                && self.files.iter().all(|f| !f.path.is_empty())
                && !self.sends_file_as_body())
    }

    /// Whether the request carries an entity at all (`HTTPHC4Impl.createHttpRequest`). A `GET` does only if it sends a
    /// file or plain values. A method that JMeter does not know by name always does, even if its body is empty.
    ///
    /// # Errors
    /// `IllegalArgumentException` when the method is not a token.
    pub fn has_entity(&self) -> Result<bool, Exception> {
        match self.method {
            "GET" => Ok(!self.following_redirect
                && ((self.arguments.is_empty() && self.sends_file_as_body())
                    || self.sends_values_as_body())),
            "HEAD" | "TRACE" | "OPTIONS" => Ok(false),
            method if is_token(method) => Ok(true),
            method => {
                let message = format!("Unexpected method: '{method}'");
                Err(Exception::illegal_argument(message))
            }
        }
    }

    /// Builds the body. `own_content_type` is the value of the first `Content-Type` header of the request so far.
    /// `random(n)` returns a number below n, for the multipart boundary.
    ///
    /// # Errors
    /// JMeter's failures: an unknown charset, a content type that cannot be parsed, or a broken escape in a value that
    /// is marked as already encoded.
    pub fn build(
        &self,
        own_content_type: Option<&str>,
        random: impl FnMut(u32) -> u32,
    ) -> Result<Option<Body>, Exception> {
        if !self.has_entity()? {
            return Ok(None);
        }
        let charset = self.charset()?;
        if self.uses_multipart() {
            let boundary = multipart::boundary(random);
            let parts = multipart::build(self, &charset, &boundary)?;
            let value = multipart::content_type(&boundary, &charset);
            return Ok(Some(Body::new(parts, ContentType::Replace(value), charset)));
        }
        let keeps_own = own_content_type.is_some_and(|value| !value.is_empty());
        let body = if self.arguments.is_empty() && self.sends_file_as_body() {
            let content_type = self
                .set_content_type(keeps_own)
                .unwrap_or(ContentType::None);
            Body {
                shown: Some(FILE_PLACEHOLDER.to_owned()),
                ..Body::new(
                    vec![file_part(self.files[0].resolved)],
                    content_type,
                    charset,
                )
            }
        } else if self.sends_values_as_body() {
            self.values_body(keeps_own, charset)
        } else {
            self.form_body(keeps_own, charset)?
        };
        Ok(Some(body))
    }

    pub(crate) fn charset(&self) -> Result<Charset, Exception> {
        if self.content_encoding.is_empty() {
            Ok(Charset::UTF_8)
        } else {
            Charset::for_name(self.content_encoding)
        }
    }

    /// The `Content-Type` that JMeter sets itself: the type of the first file, or the form type if configured.
    fn set_content_type(&self, keeps_own: bool) -> Option<ContentType> {
        if keeps_own {
            return None;
        }
        let mime_type = self.files.first().map(|file| file.mime_type).unwrap_or("");
        if !mime_type.is_empty() {
            Some(ContentType::Set(mime_type.to_owned()))
        } else if self.add_content_type_if_missing {
            Some(ContentType::Set(FORM_TYPE.to_owned()))
        } else {
            None
        }
    }

    /// The values concatenated without encoding (`StringEntity`).
    fn values_body(&self, keeps_own: bool, charset: Charset) -> Body {
        if !self.pieces.is_empty() {
            let content_type = self
                .set_content_type(keeps_own)
                .unwrap_or_else(|| ContentType::Entity(with_charset("text/plain", &charset)));
            let parts = self.pieces.iter().cloned().map(BodyStretch::Shared);
            return Body::new(parts.collect(), content_type, charset);
        }
        let mut text = String::with_capacity(self.arguments.iter().map(|a| a.value.len()).sum());
        for argument in self.arguments {
            if argument.always_encode {
                append_url_encoded(argument.value, &charset, &mut text);
            } else {
                text.push_str(argument.value);
            }
        }
        let content_type = self
            .set_content_type(keeps_own)
            .unwrap_or_else(|| ContentType::Entity(with_charset("text/plain", &charset)));
        if charset == Charset::UTF_8 {
            return Body::new(
                vec![BodyStretch::Bytes(text.into_bytes())],
                content_type,
                charset,
            );
        }
        let bytes = charset.encode(&text).into_owned();
        Body {
            shown: Some(text),
            ..Body::new(vec![BodyStretch::Bytes(bytes)], content_type, charset)
        }
    }

    /// `HTTPHC4Impl.createUrlEncodedFormEntity`: values marked as encoded are decoded, then all are encoded.
    fn form_body(&self, keeps_own: bool, charset: Charset) -> Result<Body, Exception> {
        let mut text = String::new();
        for argument in self.arguments.iter().filter(|a| !a.is_skippable()) {
            let (mut name, mut value) =
                (Cow::Borrowed(argument.name), Cow::Borrowed(argument.value));
            if !argument.always_encode {
                name = url_decode(argument.name, &charset)?;
                value = url_decode(argument.value, &charset)?;
            }
            if !text.is_empty() {
                text.push('&');
            }
            append_form_encoded(&name, &charset, &mut text);
            text.push('=');
            append_form_encoded(&value, &charset, &mut text);
        }
        let content_type = if !keeps_own && self.add_content_type_if_missing {
            ContentType::Set(FORM_TYPE.to_owned())
        } else {
            ContentType::Entity(with_charset(FORM_TYPE, &charset))
        };
        // The text is ASCII, but encoding still matters: UTF-16 makes it longer.
        let bytes = charset.encode(&text).into_owned();
        Ok(Body {
            is_form: true,
            ..Body::new(vec![BodyStretch::Bytes(bytes)], content_type, charset)
        })
    }
}

const FORM_TYPE: &str = "application/x-www-form-urlencoded";

fn with_charset(mime_type: &'static str, charset: &Charset) -> Cow<'static, str> {
    match (mime_type, charset.name()) {
        (FORM_TYPE, "UTF-8") => Cow::Borrowed("application/x-www-form-urlencoded; charset=UTF-8"),
        ("text/plain", "UTF-8") => Cow::Borrowed("text/plain; charset=UTF-8"),
        (_, name) => Cow::Owned(format!("{mime_type}; charset={name}")),
    }
}

impl Body {
    pub(crate) fn new(
        parts: Vec<BodyStretch>,
        content_type: ContentType,
        charset: Charset,
    ) -> Self {
        let len = parts
            .iter()
            .map(|part| match part {
                BodyStretch::Bytes(bytes) => bytes.len() as u64,
                BodyStretch::Shared(text) => text.len() as u64,
                BodyStretch::File { len, .. } => *len,
            })
            .sum();
        Self {
            parts,
            len,
            content_type,
            charset,
            shown: None,
            is_form: false,
            unsendable: None,
        }
    }
}

/// The failure of sending a file that cannot be opened (`java.io.FileInputStream`).
pub fn unreadable_file(path: &Path, error: &std::io::Error) -> Exception {
    let reason = open_failure(error);
    let path = without_extra_slashes(&path.to_string_lossy());
    Exception::new(
        "java.io.FileNotFoundException",
        format!("{path} ({reason})"),
    )
}

/// `HttpWebdav.isWebdavMethod`: any HTTP token.
fn is_token(method: &str) -> bool {
    !method.is_empty() && method.bytes().all(legal)
}

fn legal(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b)
}

/// HttpClient's `URLEncodedUtils.format` of one name or value: encodes byte by byte, so bytes that look safe stay
/// unchanged.
fn append_form_encoded(text: &str, charset: &Charset, out: &mut String) {
    for b in charset.encode(text).iter() {
        match *b {
            b if is_form_safe(b) => out.push(char::from(b)),
            b' ' => out.push('+'),
            b => append_percent(b, out),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::rc::Rc;

    use super::*;

    fn arg<'a>(name: &'a str, value: &'a str, always_encode: bool) -> Argument<'a> {
        Argument {
            name,
            value,
            metadata: "=",
            always_encode,
            content_type: "text/plain",
        }
    }

    #[test]
    fn a_file_that_cannot_be_sent_is_named_as_java_names_it() {
        let error = std::io::Error::from(std::io::ErrorKind::NotFound);
        let exception = unreadable_file(Path::new("/data//a.txt"), &error);
        assert_eq!(
            exception.response_message(),
            "Non HTTP response message: /data/a.txt (No such file or directory)"
        );
    }

    /// A body of arguments, all else as usual.
    pub(crate) fn spec<'a>(method: &'a str, arguments: &'a [Argument<'a>]) -> BodySpec<'a> {
        BodySpec {
            method,
            raw: false,
            multipart: false,
            browser_compatible: false,
            content_encoding: "",
            arguments,
            files: &[],
            following_redirect: false,
            add_content_type_if_missing: false,
            pieces: &[],
        }
    }

    fn build(spec: BodySpec<'_>) -> Body {
        spec.build(None, |_| 0).unwrap().unwrap()
    }

    fn bytes(body: &Body) -> &[u8] {
        match body.parts.as_slice() {
            [BodyStretch::Bytes(bytes)] => bytes,
            other => panic!("{other:?}"),
        }
    }

    fn entity(value: &'static str) -> ContentType {
        ContentType::Entity(value.into())
    }

    #[test]
    fn query_strings_are_the_recorded_ones() {
        let query = |arguments: &[Argument<'_>], encoding: &str| {
            let mut out = String::new();
            append_query_string(arguments, encoding, &mut out);
            out
        };
        let flag = Argument {
            metadata: "",
            ..arg("n", "", true)
        };
        let arguments = [
            arg("a", "1 2&ü", true),
            arg("b b", "x y", true),
            flag,
            arg("raw", "%20+é", false),
            arg("", "skipped", true),
        ];
        assert_eq!(query(&arguments, ""), "a=1+2%26%C3%BC&b+b=x+y&n&raw=%20+é");
        assert_eq!(
            query(&[arg("aé", "ü€", true)], "ISO-8859-1"),
            "a%C3%A9=%FC%3F"
        );
        assert_eq!(
            query(&[arg("a", "b", true), arg("c", "d", false)], "nope"),
            "a=&c=d"
        );
    }

    #[test]
    fn forms_are_the_recorded_ones() {
        let arguments = [
            arg("a", "1 2&ü", true),
            arg("b b", "x+y", true),
            arg("n", "", true),
            arg("raw", "%20+%C3%A9", false),
            arg("", "skip", true),
            arg(" ", "sp", true),
            arg("${v}", "unresolved", true),
        ];
        let body = build(spec("POST", &arguments));
        assert_eq!(bytes(&body), b"a=1+2%26%C3%BC&b+b=x%2By&n=&raw=++%C3%A9");
        assert_eq!(body.len, 40);
        assert_eq!(
            body.content_type,
            entity("application/x-www-form-urlencoded; charset=UTF-8")
        );
        assert_eq!(body.shown(), "a=1+2%26%C3%BC&b+b=x%2By&n=&raw=++%C3%A9");
        let latin1 = [arg("aé", "ü€", true)];
        let body = build(BodySpec {
            content_encoding: "ISO-8859-1",
            ..spec("POST", &latin1)
        });
        assert_eq!(bytes(&body), b"a%E9=%FC%3F");
        assert_eq!(
            body.content_type,
            entity("application/x-www-form-urlencoded; charset=ISO-8859-1")
        );
        let empty = build(spec("PUT", &[]));
        assert_eq!((bytes(&empty), empty.len), (&b""[..], 0));
        assert_eq!(
            empty.content_type,
            entity("application/x-www-form-urlencoded; charset=UTF-8")
        );
    }

    #[test]
    fn raw_bodies_are_the_recorded_ones() {
        let arguments = [arg("", "a b", true), arg("", "c d", false)];
        let body = build(BodySpec {
            raw: true,
            ..spec("POST", &arguments)
        });
        assert_eq!((bytes(&body), &*body.shown()), (&b"a+bc d"[..], "a+bc d"));
        assert_eq!(body.content_type, entity("text/plain; charset=UTF-8"));
        let latin1 = [arg("", "ü€", false)];
        let body = build(BodySpec {
            content_encoding: "ISO-8859-1",
            ..spec("POST", &latin1)
        });
        assert_eq!(bytes(&body), b"\xfc?");
        assert_eq!(body.shown(), "ü€");
        assert_eq!(body.content_type, entity("text/plain; charset=ISO-8859-1"));
        // The entity's content type only applies if the request has none; the header list decides that.
        let own = spec("POST", &latin1)
            .build(Some("application/json"), |_| 0)
            .unwrap()
            .unwrap();
        assert_eq!(own.content_type, entity("text/plain; charset=UTF-8"));
    }

    #[test]
    fn a_long_raw_body_stays_in_its_pieces() {
        let arguments = [arg("", "", false)];
        let pieces: [Rc<str>; 3] = ["ü[".into(), "long".into(), "long]".into()];
        let body = build(BodySpec {
            raw: true,
            pieces: &pieces,
            ..spec("POST", &arguments)
        });
        assert_eq!((body.parts.len(), body.len), (3, 12));
        assert!(
            matches!(&body.parts[1], BodyStretch::Shared(text) if Rc::ptr_eq(text, &pieces[1]))
        );
        assert_eq!(body.shown(), "ü[longlong]");
        assert_eq!(body.content_type, entity("text/plain; charset=UTF-8"));
    }

    #[test]
    fn files_can_be_the_body() {
        let path = std::env::temp_dir().join(format!("drumfire-web-body-{}", std::process::id()));
        std::fs::write(&path, "hello file").unwrap();
        let name = path.to_str().unwrap();
        let file = FileArgument {
            path: name,
            resolved: &path,
            param_name: "",
            mime_type: "text/x",
        };
        let body = build(BodySpec {
            files: &[file],
            ..spec("PUT", &[])
        });
        assert_eq!(
            body.parts,
            [BodyStretch::File {
                path: path.clone(),
                len: 10
            }]
        );
        assert_eq!(body.content_type, ContentType::Set("text/x".into()));
        assert_eq!(body.shown(), FILE_PLACEHOLDER);
        let untyped = FileArgument {
            mime_type: "",
            ..file
        };
        let body = build(BodySpec {
            files: &[untyped],
            ..spec("GET", &[])
        });
        assert_eq!((body.content_type, body.len), (ContentType::None, 10));
        let own = BodySpec {
            files: &[file],
            ..spec("POST", &[])
        }
        .build(Some("a/b"), |_| 0);
        assert_eq!(own.unwrap().unwrap().content_type, ContentType::None);
        std::fs::remove_file(&path).unwrap();
        let missing = Path::new("/nonexistent/f");
        let failure = unreadable_file(missing, &std::fs::File::open(missing).unwrap_err());
        assert_eq!(
            failure.message.unwrap(),
            "/nonexistent/f (No such file or directory)"
        );
    }

    #[test]
    fn methods_decide_whether_there_is_a_body() {
        let entity = |method, raw| {
            BodySpec {
                raw,
                ..spec(method, &[])
            }
            .has_entity()
        };
        for method in ["POST", "PUT", "PATCH", "DELETE", "PROPFIND", "FOO", "get"] {
            assert_eq!(entity(method, false), Ok(true), "{method}");
        }
        for method in ["GET", "HEAD", "TRACE", "OPTIONS"] {
            assert_eq!(entity(method, false), Ok(false), "{method}");
        }
        assert_eq!(entity("GET", true), Ok(true));
        assert_eq!(entity("HEAD", true), Ok(false));
        let followed = BodySpec {
            raw: true,
            following_redirect: true,
            ..spec("GET", &[])
        };
        assert_eq!(followed.has_entity(), Ok(false));
        assert_eq!(
            entity("A B", false).unwrap_err().message.unwrap(),
            "Unexpected method: 'A B'"
        );
    }

    #[test]
    fn an_unknown_charset_fails_with_its_name() {
        let failure = BodySpec {
            content_encoding: "nope",
            ..spec("POST", &[])
        }
        .build(None, |_| 0)
        .unwrap_err();
        assert_eq!(
            failure.class,
            "java.nio.charset.UnsupportedCharsetException"
        );
        assert_eq!(failure.message.unwrap(), "nope");
    }
}
