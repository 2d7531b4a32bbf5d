//! XML Assertion (`XMLAssertion`): checks that the body is well-formed XML without a document type.
//!
//! No properties, no scope. Difference: only common errors have the messages of Xerces.

use drumfire_expr::Template;
use drumfire_query::xpath::{Tree, XPathError, doctype};
use drumfire_results::{AssertionResult, Sample};

use super::verdict::Name;
use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::run::input::Input;
use crate::run::parsed::XmlMode;
use crate::run::roles::{Act, AssertionRole};
use crate::run::search::{Searches, XmlText};
use crate::run::view::AssertionView;

const DOCTYPE: &str = "DOCTYPE is disallowed when the feature \"http://apache.org/xml/features/disallow-doctype-decl\" set to true.";

pub struct XmlAssertion {
    name: Name,
    searches: Searches,
}

pub fn decode(d: &mut Decoder) -> Roles {
    Roles::assertion(XmlAssertion::decode(d))
}

const READING: XmlMode = XmlMode::Decoded { namespaces: false };

/// The assertion gives the parser a text, in which a byte order mark is a character.
const MARK: &str = "Content is not allowed in prolog.";

impl XmlAssertion {
    fn decode(d: &mut Decoder) -> XmlAssertion {
        XmlAssertion {
            name: Name::decode(d),
            searches: Searches::with_parsing(),
        }
    }

    /// The message of the parser for a body that is not well-formed.
    async fn fault(&self, cx: &mut AssertionView, sample: &Sample) -> Option<String> {
        let text = XmlText {
            input: &Input::Result(sample),
            mode: READING,
        };
        let message = |tree: &Result<Tree, XPathError>, (): &()| {
            let error = tree.as_ref().err()?;
            Some(error.message.clone())
        };
        let fault = self.searches.search(cx, text, &(), message).await;
        fault.flatten()
    }

    async fn judge(&self, cx: &mut AssertionView, sample: &Sample) -> AssertionResult {
        let text = cx.parsed().body_text(sample);
        if text.is_empty() {
            return self.name.fail_for_null(cx);
        }
        let fault = match doctype(&text) {
            _ if text.starts_with('\u{FEFF}') => Some(MARK.to_owned()),
            Some(_) => Some(DOCTYPE.to_owned()),
            None => self.fault(cx, sample).await,
        };
        match fault {
            Some(message) => AssertionResult {
                failure: true,
                ..self.name.error(cx, message)
            },
            None => self.name.pass(cx),
        }
    }
}

impl AssertionRole for XmlAssertion {
    fn turn<'a>(
        &'a self,
        cx: &'a mut AssertionView,
        sample: &'a mut Sample,
    ) -> Act<'a, AssertionResult> {
        let bytes = Input::Result(sample).bytes();
        self.searches
            .turn(cx, bytes, move |cx| self.judge(cx, sample))
    }

    fn row_name(&self) -> &Template {
        self.name.template()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::view::View;

    fn check(body: &str) -> AssertionResult {
        let xml =
            r#"<XMLAssertion guiclass="XMLAssertionGui" testclass="XMLAssertion" testname="x"/>"#;
        let (assertion, mut cx) = fixture::decode(xml, XmlAssertion::decode);
        assertion
            .turn(View::of(&mut cx), &mut fixture::sample(body))
            .done()
    }

    // Recorded from XMLAssertion itself.
    #[test]
    fn well_formed_xml_passes_and_all_else_is_failure_and_error() {
        for body in [
            "<a/>",
            "<?xml version='1.0'?><!-- c --><a b='c'/>",
            "<p:a/>",
        ] {
            assert_eq!(check(body).message, None, "{body}");
        }
        for (body, message) in [
            (
                "<a>",
                "XML document structures must start and end within the same entity.",
            ),
            (
                "<a></b>",
                "The element type \"a\" must be terminated by the matching end-tag \"</a>\".",
            ),
            ("x", "Content is not allowed in prolog."),
            ("<a/>x", "Content is not allowed in trailing section."),
            (" ", "Premature end of file."),
            ("<!-- c --><!DOCTYPE a><a/>", DOCTYPE),
        ] {
            let verdict = check(body);
            assert_eq!(verdict.message.as_deref(), Some(message), "{body}");
            assert!(verdict.failure && verdict.error);
        }
        let empty = check("");
        assert_eq!(
            (empty.failure, empty.error, empty.message.as_deref()),
            (true, false, Some("Response was null"))
        );
    }
}
