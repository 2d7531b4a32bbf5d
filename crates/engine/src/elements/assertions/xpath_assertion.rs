//! XPath Assertion (`XPathAssertion`): checks that an XPath finds nodes or is true.
//!
//! Properties: `XPath.xpath` (`/` if missing), `XPath.negate`, `XPath.tolerant` (read as tag soup), `XPath.namespace`, and the
//! scope. `XPath.validate`, `.whitespace`, `.quiet`, `.report_errors`, `.show_warnings` and `.download_dtds` change nothing here:
//! DTDs are not read, and JTidy's warnings are not reported. The response's charset applies, not the one that the XML declares.

use drumfire_elements::assertions::xpath_assertion as facts;
use drumfire_expr::Template;
use drumfire_query::xpath::{self, XPath, XPathResult};
use drumfire_results::{AssertionResult, Sample, SharedText};

use super::verdict::Name;
use crate::decode::Decoder;
use crate::decode::compiled::{CompiledProperty, NoRules};
use crate::decode::roles::Roles;
use crate::decode::scoped::Scoped;
use crate::decode::setting::{Flag, Unused};
use crate::elements::xpath_query::{EvaluationError, look};
use crate::run::input::Input;
use crate::run::needs::Needs;
use crate::run::parsed::XmlMode;
use crate::run::roles::{Act, AssertionRole, ResultScope};
use crate::run::search::{Searches, XmlText};
use crate::run::view::AssertionView;

pub struct XPathAssertion {
    name: Name,
    scoped: Scoped,
    query: CompiledProperty<XPath>,
    negate: Flag,
    tolerant: Flag,
    namespaces: Flag,
    unused: Unused,
    searches: Searches,
}

pub fn decode(d: &mut Decoder) -> Roles {
    Roles::assertion(XPathAssertion::decode(d))
}

impl XPathAssertion {
    fn decode(d: &mut Decoder) -> XPathAssertion {
        let query = d
            .optional(facts::QUERY.name)
            .unwrap_or_else(|| Template::raw("/"));
        XPathAssertion {
            name: Name::decode(d),
            scoped: Scoped::assertion(d),
            query: CompiledProperty::new(d, query, NoRules),
            negate: Flag::decode(d, facts::INVERT.name, false),
            tolerant: Flag::decode(d, facts::TOLERANT.name, false),
            namespaces: Flag::decode(d, facts::NAMESPACES.name, false),
            unused: Unused::decode(
                d,
                &[
                    facts::VALIDATE,
                    facts::IGNORE_WHITESPACE,
                    facts::QUIET,
                    facts::SHOW_WARNINGS,
                    facts::REPORT_ERRORS,
                    facts::FETCH_DTDS,
                ],
            ),
            searches: Searches::with_parsing(),
        }
    }

    /// `XPathUtil#computeAssertionResult`: returns whether it failed, and the message, which a success may have, too.
    fn judge(
        &self,
        cx: &mut AssertionView,
        answer: &XPathResult,
        query: &str,
    ) -> (bool, SharedText) {
        let negate = self.negate.get(cx);
        match answer {
            XPathResult::Nodes(nodes) if nodes.is_empty() => {
                (!negate, format!("No Nodes Matched {query}").into())
            }
            XPathResult::Nodes(_) if negate => (
                true,
                "Specified XPath was found... Turn off negate if this is not desired".into(),
            ),
            XPathResult::Nodes(_) => (false, SharedText::EMPTY),
            XPathResult::Bool(value) if negate => {
                (*value, format!("Nodes Matched for {query}").into())
            }
            XPathResult::Bool(value) => (!value, format!("No Nodes Matched for {query}").into()),
            XPathResult::Text(_) => (true, format!("Cannot understand: {query}").into()),
        }
    }

    async fn check_input(&self, cx: &mut AssertionView, input: &Input<'_>) -> AssertionResult {
        let shown = cx.parsed().text(input);
        if shown.is_empty() {
            return self.name.fail_for_null(cx);
        }
        let (mut mode, mut read) = (XmlMode::Tolerant, None);
        self.unused.eval(cx);
        let namespaces = self.namespaces.get(cx);
        if !self.tolerant.get(cx) {
            mode = XmlMode::Decoded { namespaces };
            // The parser gets the bytes of the response, whatever charset its header names.
            let decoded = match input {
                Input::Result(sample) => sample.response_data.as_deref().map(xpath::decode),
                Input::Variable(value) => Some(xpath::decode(value.as_bytes())),
            };
            match decoded {
                Some(Ok(text)) if *text != *shown => read = Some(Input::Variable(text.into())),
                Some(Err(error)) => {
                    let class = if error.is_of_bytes() {
                        "IOException"
                    } else {
                        "SAXException"
                    };
                    return self.name.error(cx, format!("{class}: {}", error.message));
                }
                _ => {}
            }
        }
        let input = read.as_ref().unwrap_or(input);
        let text = XmlText { input, mode };
        let fragment = Flag::Fixed(false);
        let (query, answer) = look(cx, &self.searches, text, &self.query, &fragment).await;
        match answer {
            Ok(answer) => {
                let (failure, message) = self.judge(cx, &answer, &query);
                AssertionResult {
                    failure,
                    message: Some(message),
                    ..self.name.pass(cx)
                }
            }
            Err(EvaluationError::Text(message)) => {
                self.name.error(cx, format!("SAXException: {message}"))
            }
            Err(EvaluationError::Query(message)) => {
                self.negate.repeat(cx, 1);
                let message = format!("TransformerException: {message} for: {query}");
                self.name.error(cx, message)
            }
        }
    }

    async fn check(&self, cx: &mut AssertionView, input: Option<Input<'_>>) -> AssertionResult {
        match input {
            Some(input) => self.check_input(cx, &input).await,
            None => self.name.fail_for_null(cx),
        }
    }
}

impl AssertionRole for XPathAssertion {
    fn turn<'a>(
        &'a self,
        cx: &'a mut AssertionView,
        sample: &'a mut Sample,
    ) -> Act<'a, AssertionResult> {
        let searches = &self.searches;
        self.scoped
            .judge(searches, cx, sample, |cx, input| self.check(cx, input))
    }

    fn applies_to(&self, cx: &mut AssertionView) -> ResultScope {
        self.scoped.scope(cx)
    }

    fn row_name(&self) -> &Template {
        self.name.template()
    }

    fn reads(&self) -> Needs {
        self.scoped.needs(Needs::BODY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::view::View;

    const BODY: &str = "<a><b/></a>";

    fn check(body: &str, query: &str, negate: bool, tolerant: bool) -> (bool, bool, String) {
        let xml = format!(
            r#"<XPathAssertion guiclass="x" testclass="XPathAssertion" testname="x"><stringProp name="XPath.xpath">{query}</stringProp>
            <boolProp name="XPath.negate">{negate}</boolProp><boolProp name="XPath.tolerant">{tolerant}</boolProp></XPathAssertion>"#
        );
        let (assertion, mut cx, _) =
            fixture::decode_with_findings(&[], &xml, XPathAssertion::decode);
        let verdict = assertion
            .turn(View::of(&mut cx), &mut fixture::sample(body))
            .done();
        (
            verdict.failure,
            verdict.error,
            verdict
                .message
                .map(|message| message.to_string())
                .unwrap_or_default(),
        )
    }

    // Recorded from XPathAssertion itself.

    #[test]
    fn nodes_and_truth() {
        let row = |failure: bool, message: &str| (failure, false, message.to_owned());
        assert_eq!(check(BODY, "//b", false, false), row(false, ""));
        assert_eq!(
            check(BODY, "//c", false, false),
            row(true, "No Nodes Matched //c")
        );
        let found = "Specified XPath was found... Turn off negate if this is not desired";
        assert_eq!(check(BODY, "//b", true, false), row(true, found));
        assert_eq!(
            check(BODY, "//c", true, false),
            row(false, "No Nodes Matched //c")
        );
        assert_eq!(
            check(BODY, "count(//b)=1", false, false),
            row(false, "No Nodes Matched for count(//b)=1")
        );
        assert_eq!(
            check(BODY, "count(//b)=2", false, false),
            row(true, "No Nodes Matched for count(//b)=2")
        );
        assert_eq!(
            check(BODY, "count(//b)=1", true, false),
            row(true, "Nodes Matched for count(//b)=1")
        );
        assert_eq!(
            check(BODY, "count(//b)", false, false),
            row(true, "Cannot understand: count(//b)")
        );
        assert_eq!(check("<html><p>x", "//p", false, true), row(false, ""));
        assert_eq!(
            check("", "//b", false, false),
            row(true, "Response was null")
        );
    }

    #[test]
    fn malformed_xml_and_queries_are_errors() {
        let row = |message: &str| (false, true, message.to_owned());
        assert_eq!(
            check("<a>", "//b", false, false),
            row("SAXException: XML document structures must start and end within the same entity.")
        );
        assert_eq!(
            check("<a><p/></a>", "//p[p:x=1]", false, false),
            row("TransformerException: Prefix must resolve to a namespace: p for: //p[p:x=1]")
        );
        assert!(check("<a/>", "//[", false, false).1);
    }
}
