//! `multipart/form-data` as HttpClient's `MultipartEntityBuilder` writes it.

use std::borrow::Cow;
use std::path::Path;

use drumfire_java::Exception;
use drumfire_java::charset::Charset;
use drumfire_java::text::is_blank;

use crate::body_parts::{Argument, BodySpec, BodyStretch, FileArgument, file_part};
use crate::header_value::{append_parameter, parse_elements};

const BOUNDARY_CHARS: &[u8; 64] =
    b"-_1234567890abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// A boundary of 30 to 40 characters (`MultipartEntityBuilder.generateBoundary`); `random(n)` returns a number below
/// n.
pub(crate) fn boundary(mut random: impl FnMut(u32) -> u32) -> String {
    let count = random(11) + 30;
    (0..count)
        .map(|_| char::from(BOUNDARY_CHARS[random(64) as usize % 64]))
        .collect()
}

/// The `Content-Type` of the whole body.
pub(crate) fn content_type(boundary: &str, charset: &Charset) -> String {
    format!(
        "multipart/form-data; boundary={boundary}; charset={}",
        charset.name()
    )
}

/// The parts: arguments first, then files.
pub(crate) fn build(
    spec: &BodySpec<'_>,
    charset: &Charset,
    boundary: &str,
) -> Result<Vec<BodyStretch>, Exception> {
    let mut out = MultipartWriter {
        browser_compatible: spec.browser_compatible,
        // In browser-compatible mode, part headers use the charset of the body; otherwise UTF-8 (RFC 6532).
        header_charset: if spec.browser_compatible {
            charset.clone()
        } else {
            Charset::UTF_8
        },
        delimiter: charset.encode(boundary).into_owned(),
        bytes: Vec::new(),
        parts: Vec::new(),
    };
    for argument in spec.arguments.iter().filter(|a| !a.is_skippable()) {
        out.argument(argument, charset)?;
    }
    for file in spec.files {
        out.file(file)?;
    }
    Ok(out.finish())
}

struct MultipartWriter {
    browser_compatible: bool,
    header_charset: Charset,
    delimiter: Vec<u8>,
    bytes: Vec<u8>,
    parts: Vec<BodyStretch>,
}

impl MultipartWriter {
    fn argument(&mut self, argument: &Argument<'_>, charset: &Charset) -> Result<(), Exception> {
        let content_type = if argument.content_type.contains(';') {
            MimeType::parse(argument.content_type)?
        } else {
            MimeType::create(argument.content_type, charset)?
        };
        self.begin();
        self.disposition(argument.name, None);
        if !self.browser_compatible {
            self.field("Content-Type", &content_type.text);
            self.field("Content-Transfer-Encoding", "8bit");
        }
        self.bytes.extend_from_slice(b"\r\n");
        let charset = content_type.charset.unwrap_or(Charset::US_ASCII);
        self.bytes
            .extend_from_slice(&charset.encode(argument.value));
        self.bytes.extend_from_slice(b"\r\n");
        Ok(())
    }

    fn file(&mut self, file: &FileArgument<'_>) -> Result<(), Exception> {
        let content_type = MimeType::parse(file.mime_type)?;
        if is_blank(file.param_name) {
            return Err(Exception::new(
                "java.lang.IllegalStateException",
                "Name is blank",
            ));
        }
        self.begin();
        let name = file
            .resolved
            .file_name()
            .map(|n| n.to_string_lossy())
            .unwrap_or(Cow::Borrowed(""));
        let name = encode_file_name(&name, &self.header_charset);
        self.disposition(file.param_name, Some(&name));
        self.field("Content-Type", &content_type.text);
        if !self.browser_compatible {
            self.field("Content-Transfer-Encoding", "binary");
        }
        self.bytes.extend_from_slice(b"\r\n");
        self.content(file.resolved);
        self.bytes.extend_from_slice(b"\r\n");
        Ok(())
    }

    fn content(&mut self, path: &Path) {
        self.parts
            .push(BodyStretch::Bytes(std::mem::take(&mut self.bytes)));
        self.parts.push(file_part(path));
    }

    fn begin(&mut self) {
        self.bytes.extend_from_slice(b"--");
        self.bytes.extend_from_slice(&self.delimiter);
        self.bytes.extend_from_slice(b"\r\n");
    }

    fn disposition(&mut self, name: &str, file_name: Option<&str>) {
        let mut value = format!("form-data; name=\"{}\"", escape(name));
        if let Some(file_name) = file_name {
            value.push_str(&format!("; filename=\"{}\"", escape(file_name)));
        }
        self.field("Content-Disposition", &value);
    }

    fn field(&mut self, name: &str, value: &str) {
        self.bytes
            .extend_from_slice(&self.header_charset.encode(name));
        self.bytes.extend_from_slice(b": ");
        self.bytes
            .extend_from_slice(&self.header_charset.encode(value));
        self.bytes.extend_from_slice(b"\r\n");
    }

    fn finish(mut self) -> Vec<BodyStretch> {
        self.bytes.extend_from_slice(b"--");
        self.bytes.extend_from_slice(&self.delimiter);
        self.bytes.extend_from_slice(b"--\r\n");
        self.parts.push(BodyStretch::Bytes(self.bytes));
        self.parts
    }
}

/// `FormBodyPartBuilder.encodeForHeader`.
fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(['"', '\\', '\r']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 4);
    for c in text.chars() {
        if matches!(c, '"' | '\\' | '\r') {
            out.push('\\');
        }
        out.push(c);
    }
    Cow::Owned(out)
}

/// `ConversionUtils.percentEncode(ConversionUtils.encodeWithEntities(name, charset))`.
pub(crate) fn encode_file_name<'a>(name: &'a str, charset: &Charset) -> Cow<'a, str> {
    if name
        .chars()
        .all(|c| charset.can_encode(c) && !matches!(c, '"' | '\r' | '\n'))
    {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len() + 8);
    for c in name.chars() {
        match c {
            '"' => out.push_str("%22"),
            '\n' => out.push_str("%0A"),
            '\r' => out.push_str("%0D"),
            c if charset.can_encode(c) => out.push(c),
            // As in JMeter, without the semicolon that should end an entity.
            c => out.push_str(&format!("&#{}", c as u32)),
        }
    }
    Cow::Owned(out)
}

/// `org.apache.http.entity.ContentType`: its text, and its charset if it has one.
struct MimeType {
    text: String,
    charset: Option<Charset>,
}

impl MimeType {
    /// `ContentType.create(mimeType, charset)`.
    fn create(mime_type: &str, charset: &Charset) -> Result<Self, Exception> {
        if is_blank(mime_type) {
            return Err(Exception::illegal_argument("MIME type may not be blank"));
        }
        if mime_type.contains(['"', ',', ';']) {
            return Err(Exception::illegal_argument(
                "MIME type may not contain reserved characters",
            ));
        }
        Ok(Self {
            text: format!("{}; charset={}", mime_type.to_lowercase(), charset.name()),
            charset: Some(charset.clone()),
        })
    }

    /// `ContentType.parse(text)`.
    fn parse(text: &str) -> Result<Self, Exception> {
        let elements = parse_elements(text);
        let Some(element) = elements.first() else {
            return Err(Exception::new(
                "org.apache.http.ParseException",
                format!("Invalid content type: {text}"),
            ));
        };
        let charset = element
            .params
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("charset"))
            .and_then(|(_, value)| value.as_deref())
            .filter(|value| !is_blank(value))
            .map(Charset::for_name)
            .transpose()?;
        let mut out = element.name.clone();
        for (name, value) in &element.params {
            out.push_str("; ");
            append_parameter(name, value.as_deref(), false, &mut out);
        }
        Ok(Self { text: out, charset })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::{Body, ContentType};

    fn arg<'a>(name: &'a str, value: &'a str, content_type: &'a str) -> Argument<'a> {
        Argument {
            name,
            value,
            metadata: "=",
            always_encode: true,
            content_type,
        }
    }

    fn build_body<'a>(
        arguments: &'a [Argument<'a>],
        files: &'a [FileArgument<'a>],
        browser_compatible: bool,
        content_encoding: &'a str,
    ) -> Result<Body, Exception> {
        let spec = BodySpec {
            method: "POST",
            raw: false,
            multipart: true,
            browser_compatible,
            content_encoding,
            arguments,
            files,
            following_redirect: false,
            add_content_type_if_missing: false,
            pieces: &[],
        };
        Ok(spec.build(None, |_| 12)?.expect("a POST has a body"))
    }

    fn file<'a>(path: &'a str, param_name: &'a str, mime_type: &'a str) -> FileArgument<'a> {
        FileArgument {
            path,
            resolved: Path::new(path),
            param_name,
            mime_type,
        }
    }

    #[test]
    fn boundaries_have_30_to_40_characters() {
        assert_eq!(boundary(|_| 0), "-".repeat(30));
        assert_eq!(boundary(|n| n - 1), "Z".repeat(40));
    }

    #[test]
    fn strict_parts_carry_all_headers() {
        let arguments = [
            arg("a", "b", "text/plain"),
            arg("j", "{}", "Application/JSON"),
            arg("k", "ü", "x/y; charset=ISO-8859-1;p=\"q r\""),
            arg("  ", "skipped", "text/plain"),
        ];
        let body = build_body(
            &arguments,
            &[file("/nonexistent/f", "f1", "text/plain")],
            false,
            "",
        )
        .unwrap();
        let b = boundary(|_| 12);
        let expected = format!(
            "--{b}\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: text/plain; charset=UTF-8\r\n\
             Content-Transfer-Encoding: 8bit\r\n\r\nb\r\n\
             --{b}\r\nContent-Disposition: form-data; name=\"j\"\r\nContent-Type: application/json; charset=UTF-8\r\n\
             Content-Transfer-Encoding: 8bit\r\n\r\n{{}}\r\n\
             --{b}\r\nContent-Disposition: form-data; name=\"k\"\r\n\
             Content-Type: x/y; charset=ISO-8859-1; p=\"q r\"\r\nContent-Transfer-Encoding: 8bit\r\n\r\n\u{fffd}\r\n\
             --{b}\r\nContent-Disposition: form-data; name=\"f1\"; filename=\"f\"\r\nContent-Type: text/plain\r\n\
             Content-Transfer-Encoding: binary\r\n\r\n<actual file content, not shown here>\r\n--{b}--\r\n"
        );
        assert_eq!(body.shown(), expected);
        assert_eq!(
            body.content_type,
            ContentType::Replace(format!("multipart/form-data; boundary={b}; charset=UTF-8"))
        );
        let sent: usize = body
            .parts
            .iter()
            .map(|p| {
                if let BodyStretch::Bytes(b) = p {
                    b.len()
                } else {
                    0
                }
            })
            .sum();
        assert_eq!(body.len, sent as u64);
    }

    #[test]
    fn browser_compatible_parts_are_the_recorded_ones() {
        let arguments = [
            arg("p1", "v1", "text/plain"),
            arg("pé\"q\\", "vü", "text/plain"),
        ];
        let files = [file("/nonexistent/naïve \"q\"€.txt", "fé", "image/png")];
        let body = build_body(&arguments, &files, true, "ISO-8859-1").unwrap();
        let b = boundary(|_| 12);
        assert_eq!(
            body.shown(),
            format!(
                "--{b}\r\nContent-Disposition: form-data; name=\"p1\"\r\n\r\nv1\r\n\
                 --{b}\r\nContent-Disposition: form-data; name=\"pé\\\"q\\\\\"\r\n\r\nvü\r\n\
                 --{b}\r\nContent-Disposition: form-data; name=\"fé\"; filename=\"naïve %22q%22&#8364.txt\"\r\n\
                 Content-Type: image/png\r\n\r\n<actual file content, not shown here>\r\n--{b}--\r\n"
            )
        );
    }

    #[test]
    fn bad_types_fail_as_recorded() {
        let failure = |arguments: &[Argument<'_>], files: &[FileArgument<'_>]| {
            let failure = build_body(arguments, files, false, "").unwrap_err();
            (
                failure.class.into_owned(),
                failure.message.unwrap().into_owned(),
            )
        };
        assert_eq!(
            failure(&[], &[file("f", "f1", "")]),
            (
                "org.apache.http.ParseException".to_owned(),
                "Invalid content type: ".into()
            )
        );
        assert_eq!(
            failure(&[], &[file("f", "f1", "text/plain; charset=x")]),
            (
                "java.nio.charset.UnsupportedCharsetException".to_owned(),
                "x".into()
            )
        );
        assert_eq!(
            failure(&[arg("a", "b", " ")], &[]).1,
            "MIME type may not be blank"
        );
        assert_eq!(
            failure(&[], &[file("f", " ", "a/b"), file("g", "x", "a/b")]).1,
            "Name is blank"
        );
    }

    #[test]
    fn an_empty_form_is_one_closing_line() {
        let body = build_body(&[], &[], false, "").unwrap();
        assert_eq!(body.shown(), format!("--{}--\r\n", boundary(|_| 12)));
    }
}
