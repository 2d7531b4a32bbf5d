//! The part of a result that a Regular Expression or Boundary Extractor searches (`RegexExtractor.useHeaders`).

use drumfire_expr::{Raised, Text};
use drumfire_results::Sample;

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::decode::scoped::Scoped;
use crate::decode::setting::Choice;
use crate::elements::java;
use crate::run::input::Input;
use crate::run::needs::Needs;
use crate::run::view::PostProcessorView;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtractorField {
    Url,
    ResponseHeaders,
    RequestHeaders,
    Code,
    Message,
    /// The body with its HTML entities replaced.
    UnescapedBody,
    /// The body as Apache Tika reads it, which only Java can do. For a variable it has no effect.
    Document,
    Body,
}

impl ExtractorField {
    /// The property; anything unknown means the body.
    pub fn decode(d: &mut Decoder, property: &str) -> Choice<ExtractorField> {
        Choice::decode(d, property, "", ExtractorField::read)
    }

    fn read(text: &str) -> ExtractorField {
        match text.to_ascii_lowercase().as_str() {
            "url" => ExtractorField::Url,
            "true" => ExtractorField::ResponseHeaders,
            "request_headers" => ExtractorField::RequestHeaders,
            "code" => ExtractorField::Code,
            "message" => ExtractorField::Message,
            "unescaped" => ExtractorField::UnescapedBody,
            "as_document" => ExtractorField::Document,
            _ => ExtractorField::Body,
        }
    }

    /// How often JMeter reads the property, once for each value that it may have (`RegexExtractor#getInputString`).
    fn reads(self) -> usize {
        match self {
            ExtractorField::Url => 1,
            ExtractorField::ResponseHeaders => 2,
            ExtractorField::RequestHeaders => 3,
            ExtractorField::Code => 4,
            ExtractorField::Message => 5,
            ExtractorField::UnescapedBody => 6,
            ExtractorField::Document | ExtractorField::Body => 7,
        }
    }

    /// The needs of an extractor that reads this field.
    pub fn needs(field: &Choice<ExtractorField>) -> Needs {
        field
            .fixed()
            .map(ExtractorField::own_needs)
            .unwrap_or(Needs::ALL)
    }

    fn own_needs(self) -> Needs {
        match self {
            ExtractorField::Url | ExtractorField::Code | ExtractorField::Message => Needs::NOTHING,
            ExtractorField::ResponseHeaders => Needs {
                headers: true,
                ..Needs::NOTHING
            },
            ExtractorField::RequestHeaders => Needs {
                request: true,
                ..Needs::NOTHING
            },
            ExtractorField::UnescapedBody | ExtractorField::Document | ExtractorField::Body => {
                Needs::BODY
            }
        }
    }

    /// The text to be searched; a variable is taken as it is.
    ///
    /// # Errors
    /// When the body has an entity that stands for no character (`StringEscapeUtils.unescapeHtml4`).
    pub fn text<'s>(
        field: &Choice<ExtractorField>,
        cx: &mut PostProcessorView,
        input: &Input<'s>,
    ) -> Result<Text<'s>, Raised> {
        let Input::Result(sample) = input else {
            return Ok(cx.parsed().text(input));
        };
        let sample: &'s Sample = sample;
        let chosen = field.get(cx);
        field.repeat(cx, chosen.reads() - 1);
        Ok(match chosen {
            ExtractorField::Url => Text::Literal(sample.url.as_deref().unwrap_or("")),
            ExtractorField::ResponseHeaders => {
                Text::Literal(sample.response_headers.as_deref().unwrap_or(""))
            }
            ExtractorField::RequestHeaders => {
                Text::Literal(sample.request_headers.as_deref().unwrap_or(""))
            }
            ExtractorField::Code => Text::Literal(&sample.code),
            ExtractorField::Message => Text::Literal(&sample.message),
            ExtractorField::Body | ExtractorField::Document => cx.parsed().body_text(sample),
            ExtractorField::UnescapedBody => {
                let text = cx.parsed().body_text(sample);
                match drumfire_expr::unescape_html4(&text)? {
                    std::borrow::Cow::Borrowed(_) => text,
                    std::borrow::Cow::Owned(unescaped) => Text::Owned(unescaped),
                }
            }
        })
    }
}

/// Why Java runs an element that reads a body as a document.
pub const DOCUMENT: &str = "it reads the body as a document, which needs Apache Tika";

/// Lets Java run an extractor that reads a body as a document.
pub fn instead(d: &mut Decoder, scoped: &Scoped, field: &Choice<ExtractorField>) -> Option<Roles> {
    let is_document = field.fixed() == Some(ExtractorField::Document);
    (is_document && !scoped.is_always_variable()).then(|| java::instead(d, DOCUMENT, java::post))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::context::Context;
    use crate::run::view::View;

    fn field(value: &str) -> (Choice<ExtractorField>, Context) {
        let xml = format!(
            r#"<RegexExtractor guiclass="x" testclass="RegexExtractor" testname="r"><stringProp name="f">{value}</stringProp></RegexExtractor>"#
        );
        fixture::decode(&xml, |d| ExtractorField::decode(d, "f"))
    }

    #[test]
    fn each_field_reads_its_part_and_needs_no_more() {
        let sample = Sample {
            url: Some("http://h/p".into()),
            response_headers: Some("HTTP/1.1 200 OK\n".into()),
            request_headers: Some("Host: h\n".into()),
            code: "200".into(),
            message: "OK".into(),
            ..fixture::sample("a &lt; b &amp;amp; &nope; &#65;")
        };
        let read = |name: &str| {
            let (field, mut cx) = field(name);
            let text = ExtractorField::text(&field, View::of(&mut cx), &Input::Result(&sample))
                .expect("a text")
                .into_string();
            let needs = ExtractorField::needs(&field);
            (text, [needs.body, needs.headers, needs.request])
        };
        let body = "a &lt; b &amp;amp; &nope; &#65;".to_owned();
        assert_eq!(read("URL"), ("http://h/p".to_owned(), [false; 3]));
        assert_eq!(
            read("TRUE"),
            ("HTTP/1.1 200 OK\n".to_owned(), [false, true, false])
        );
        assert_eq!(
            read("request_headers"),
            ("Host: h\n".to_owned(), [false, false, true])
        );
        assert_eq!(read("code"), ("200".to_owned(), [false; 3]));
        assert_eq!(read("message"), ("OK".to_owned(), [false; 3]));
        assert_eq!(
            read("unescaped"),
            ("a < b &amp; &nope; A".to_owned(), [true, false, false])
        );
        assert_eq!(read("false"), (body.clone(), [true, false, false]));
        assert_eq!(read(""), (body, [true, false, false]));
    }
}
