//! XPath Extractor (`XPathExtractor`): puts what an XPath finds in XML, or in HTML read as a tree, into variables.
//!
//! Properties: `XPathExtractor.refname`, `.xpathQuery`, `.default`, `.matchNumber` (-1, also if missing: all; 0 random), `.tolerant`
//! (read as tag soup), `.namespace`, `.fragment` (elements as XML), and the scope. `.quiet`, `.show_warnings`,
//! `.report_errors`, `.validate`, `.whitespace` and `.download_dtds` change nothing here: JTidy's warnings are not reported, its
//! errors do not fail the sample, and DTDs are not read.
//!
//! As in JMeter a body that is not XML adds a failed assertion result to the sample but leaves the sample successful.

use std::rc::Rc;

use drumfire_elements::post::xpath_extractor as facts;
use drumfire_expr::Template;
use drumfire_query::xpath::{XPath, XPathResult};
use drumfire_results::{AssertionResult, Sample};

use super::variable_names::VariableNames;
use crate::base::exception_text::ExceptionText;
use crate::decode::Decoder;
use crate::decode::compiled::{CompiledProperty, NoRules};
use crate::decode::roles::Roles;
use crate::decode::scoped::{ScopeReading, Scoped};
use crate::decode::setting::{Flag, Unused, WholeNumber};
use crate::elements::xpath_query::{EvaluationError, look};
use crate::run::input::Input;
use crate::run::needs::Needs;
use crate::run::parsed::XmlMode;
use crate::run::roles::{Act, PostProcessorRole};
use crate::run::search::{Searches, XmlText};
use crate::run::view::PostProcessorView;

pub struct XPathExtractor {
    scoped: Scoped,
    name: Template,
    reference: Template,
    query: CompiledProperty<XPath>,
    default: Template,
    match_number: WholeNumber,
    tolerant: Flag,
    namespaces: Flag,
    fragment: Flag,
    unused: Unused,
    searches: Searches,
}

/// The nodes found; a node without a value is `None`.
pub(super) type Values = Vec<Option<Rc<str>>>;

pub fn decode(d: &mut Decoder) -> Roles {
    Roles::post(XPathExtractor::decode(d))
}

impl XPathExtractor {
    fn decode(d: &mut Decoder) -> XPathExtractor {
        let query = d.template(facts::QUERY.name);
        XPathExtractor {
            scoped: Scoped::extractor(d),
            name: d.name(),
            reference: d.template(facts::NAME.name),
            query: CompiledProperty::new(d, query, NoRules),
            default: d.template(facts::DEFAULT.name),
            match_number: WholeNumber::decode(d, facts::MATCH_NUMBER.name, -1),
            tolerant: Flag::decode(d, facts::TOLERANT.name, false),
            namespaces: Flag::decode(d, facts::NAMESPACES.name, false),
            fragment: Flag::decode(d, facts::FRAGMENT.name, false),
            unused: Unused::decode(
                d,
                &[
                    facts::QUIET,
                    facts::SHOW_WARNINGS,
                    facts::REPORT_ERRORS,
                    facts::FETCH_DTDS,
                ],
            ),
            searches: Searches::with_parsing(),
        }
    }

    async fn extract(
        &self,
        cx: &mut PostProcessorView,
        (scope, sample): (&ScopeReading<'_>, &Sample),
    ) -> Result<Values, ExceptionText> {
        let element = (facts::CLASS, &self.name);
        let inputs = scope.inputs_or_warning(cx, sample, element);
        let number = self.match_number.get(cx);
        let mut values = Values::new();
        for input in &inputs {
            if matches!(input, Input::Variable(value) if value.is_empty()) {
                break;
            }
            let namespaces = self.namespaces.get(cx);
            let mode = if self.tolerant.get(cx) {
                XmlMode::Tolerant
            } else {
                XmlMode::Xml { namespaces }
            };
            self.unused.eval(cx);
            let text = XmlText { input, mode };
            let (_, answer) = look(cx, &self.searches, text, &self.query, &self.fragment).await;
            let answer = answer.map_err(EvaluationError::into_message)?;
            collect(cx, answer, number, &mut values);
        }
        Ok(values)
    }

    async fn process(
        &self,
        cx: &mut PostProcessorView,
        scope: ScopeReading<'_>,
        sample: &mut Sample,
    ) {
        let reference = self.reference.eval(cx);
        let default = self.default.eval(cx).into_value();
        let store = Store::begin(cx, &reference, default);
        match self.extract(cx, (&scope, sample)).await {
            Ok(found) => store.keep(cx, found),
            Err(message) => {
                tracing::warn!(
                    "Exception while processing ({}). {message}",
                    self.query.get(cx).text
                );
                let name = self.name.eval(cx).into_value();
                sample.assertions.push(failed_extraction(name, &message));
            }
        }
    }
}

/// `XPathUtil#putValuesForXPathInList`: takes the chosen one of nodes, or any other result as it is.
fn collect(cx: &mut PostProcessorView, answer: XPathResult, number: i32, found: &mut Values) {
    let all = |values: Vec<Option<String>>| values.into_iter().map(|value| value.map(Rc::from));
    match answer {
        XPathResult::Nodes(nodes) if number >= 0 => {
            let chosen = match number {
                0 if nodes.is_empty() => return,
                0 => cx.random().index(nodes.len()),
                number => number as usize - 1,
            };
            found.extend(all(nodes).nth(chosen));
        }
        answer => found.extend(all(answer.into_values())),
    }
}

/// Writes the values found to `name`, `name_1`, …, `name_matchNr`. `begin` sets the variables as if nothing was found.
pub(super) struct Store<'n> {
    reference: &'n str,
    names: VariableNames,
    /// The number of matches before this sample.
    previous: i32,
}

impl<'n> Store<'n> {
    pub(super) fn begin(
        cx: &mut PostProcessorView,
        reference: &'n str,
        default: Rc<str>,
    ) -> Store<'n> {
        let mut names = VariableNames::new(reference);
        cx.vars_mut().set_named(reference, default);
        let previous = names.count("_matchNr", cx.vars()).unwrap_or(0);
        names.set_match_count(0, cx.vars_mut());
        names.remove_numbered(1..=1, cx.vars_mut());
        Store {
            reference,
            names,
            previous,
        }
    }

    pub(super) fn keep(mut self, cx: &mut PostProcessorView, found: Values) {
        let count = found.len();
        self.names.set_match_count(count, cx.vars_mut());
        if let Some(Some(first)) = found.first() {
            cx.vars_mut().set_named(self.reference, first.clone());
        }
        for (index, value) in found.into_iter().enumerate() {
            if let Some(value) = value {
                self.names.set_numbered(index + 1, value, cx.vars_mut());
            }
        }
        let next = count as i32 + 1;
        let last = next.max(self.previous);
        self.names.remove_numbered(next..=last, cx.vars_mut());
    }
}

/// `addAssertionFailure`: the sample stays successful.
pub(super) fn failed_extraction(name: Rc<str>, message: &ExceptionText) -> AssertionResult {
    AssertionResult {
        name: Some(name.into()),
        failure: true,
        error: false,
        message: Some(format!("{message}\nSee log file for further details.").into()),
    }
}

impl PostProcessorRole for XPathExtractor {
    fn turn<'a>(&'a self, cx: &'a mut PostProcessorView, sample: &'a mut Sample) -> Act<'a> {
        let searches = &self.searches;
        self.scoped
            .extract(searches, cx, sample, |cx, scope, sample| {
                self.process(cx, scope, sample)
            })
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

    const BODY: &str = "<a><b>1</b><b>2</b><c k='z'><d/></c></a>";

    fn run(
        body: &str,
        query: &str,
        number: i32,
        flags: &str,
    ) -> (Vec<String>, Vec<AssertionResult>) {
        let flag = |name: &str| {
            format!(
                r#"<boolProp name="XPathExtractor.{name}">{}</boolProp>"#,
                flags.contains(name)
            )
        };
        let query = query.replace('"', "&quot;");
        let xml = format!(
            r#"<XPathExtractor guiclass="x" testclass="XPathExtractor" testname="n"><stringProp name="XPathExtractor.refname">v</stringProp>
            <stringProp name="XPathExtractor.xpathQuery">{query}</stringProp><stringProp name="XPathExtractor.matchNumber">{number}</stringProp>
            <stringProp name="XPathExtractor.default">D</stringProp>{}{}{}</XPathExtractor>"#,
            flag("tolerant"),
            flag("namespace"),
            flag("fragment")
        );
        let (extractor, mut cx, _) =
            fixture::decode_with_findings(&[], &xml, XPathExtractor::decode);
        cx.vars.set_named("v_matchNr", "4".into());
        for number in 1..6 {
            cx.vars.set_named(&format!("v_{number}"), "old".into());
        }
        let mut sample = fixture::sample(body);
        extractor.turn(View::of(&mut cx), &mut sample).done();
        assert!(sample.success);
        (fixture::variables(&cx, "v"), sample.assertions)
    }

    fn found(body: &str, query: &str, number: i32, flags: &str) -> Vec<String> {
        let (variables, assertions) = run(body, query, number, flags);
        assert!(assertions.is_empty());
        variables
    }

    // Recorded from XPathExtractor itself.

    #[test]
    fn nodes_by_number() {
        assert_eq!(
            found(BODY, "//b", -1, ""),
            ["v=1", "v_1=1", "v_2=2", "v_5=old", "v_matchNr=2"]
        );
        assert_eq!(
            found(BODY, "//b", 2, ""),
            ["v=2", "v_1=2", "v_5=old", "v_matchNr=1"]
        );
        assert_eq!(found(BODY, "//b", 3, ""), ["v=D", "v_5=old", "v_matchNr=0"]);
        assert_eq!(
            found(BODY, "//z", -1, ""),
            ["v=D", "v_5=old", "v_matchNr=0"]
        );
    }

    #[test]
    fn other_values() {
        assert_eq!(found(BODY, "//c/@k", -1, "")[..2], ["v=z", "v_1=z"]);
        assert_eq!(found(BODY, "count(//b)", -1, "")[..2], ["v=2", "v_1=2"]);
        assert_eq!(found(BODY, "//b='1'", -1, "")[..2], ["v=true", "v_1=true"]);
        assert_eq!(found(BODY, "string(//b)", 5, "")[..2], ["v=1", "v_1=1"]);
        assert_eq!(
            found(BODY, "//b", 1, "fragment")[..2],
            ["v=<b>1</b>", "v_1=<b>1</b>"]
        );
        // An element without text is a match without a value.
        assert_eq!(
            found(BODY, "//c", -1, ""),
            ["v=D", "v_5=old", "v_matchNr=1"]
        );
    }

    #[test]
    fn tag_soup_and_namespaces() {
        assert_eq!(
            found("<html><p>x<p>y", "//p", -1, "tolerant")[..3],
            ["v=x", "v_1=x", "v_2=y"]
        );
        let body = "<p:a xmlns:p='u'><p:b>1</p:b></p:a>";
        assert_eq!(found(body, "//p:b", -1, "namespace")[..2], ["v=1", "v_1=1"]);
    }

    #[test]
    fn malformed_xml_leaves_a_failed_assertion_result() {
        let (variables, assertions) = run("<a>", "//b", -1, "");
        assert_eq!(
            variables,
            [
                "v=D",
                "v_2=old",
                "v_3=old",
                "v_4=old",
                "v_5=old",
                "v_matchNr=0"
            ]
        );
        let message = "XML document structures must start and end within the same entity.\nSee log file for further details.";
        assert_eq!(assertions[0].message.as_deref(), Some(message));
        assert!(assertions[0].failure && assertions[0].name.as_deref() == Some("n"));
        assert_eq!(run(BODY, "//[", -1, "").1.len(), 1);
    }
}
