//! XPath2 Extractor (`XPath2Extractor`): puts what an XPath finds in XML into variables.
//!
//! Properties: `XPathExtractor2.refname`, `.xpathQuery`, `.default`, `.matchNumber` (negative: all; 0, also if missing: random),
//! `.namespaces` (lines `prefix=URI`), `.fragment` (nodes as XML), and the scope.
//!
//! As in JMeter, the scopes with sub-results search the main result once for each of their results, and a body that is not XML
//! adds a failed assertion result to the sample but leaves the sample successful.
//!
//! Differences: native are XPath 2.0's grammar with `let`, `||`, `!` and `=>`, strings, booleans and numbers, and the usual
//! functions. Java runs an element whose expression has dates, durations, functions as values, maps or arrays, or a function that
//! is not native. Messages are Saxon's in the usual cases.

use std::rc::Rc;

use drumfire_elements::post::xpath2_extractor as facts;
use drumfire_expr::Template;
use drumfire_results::Sample;

use super::xpath_extractor::{Store, Values, failed_extraction};
use crate::base::exception_text::ExceptionText;
use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::decode::scoped::{ScopeReading, Scoped};
use crate::decode::setting::{Flag, WholeNumber};
use crate::elements::java;
use crate::elements::xpath2_query::XPath2Query;
use crate::run::input::Input;
use crate::run::needs::Needs;
use crate::run::roles::{Act, PostProcessorRole};
use crate::run::view::PostProcessorView;

pub struct XPath2Extractor {
    scoped: Scoped,
    name: Template,
    reference: Template,
    query: XPath2Query,
    default: Template,
    match_number: WholeNumber,
    fragment: Flag,
}

pub fn decode(d: &mut Decoder) -> Roles {
    let (query, namespaces) = (facts::QUERY.name, facts::NAMESPACES.name);
    if let Some(why) = XPath2Query::beyond(d, query, namespaces) {
        return java::instead(d, &why, java::post);
    }
    Roles::post(XPath2Extractor::decode(d))
}

impl XPath2Extractor {
    fn decode(d: &mut Decoder) -> XPath2Extractor {
        let query = d.template(facts::QUERY.name);
        XPath2Extractor {
            scoped: Scoped::extractor(d),
            name: d.name(),
            reference: d.template(facts::NAME.name),
            query: XPath2Query::decode(d, query, facts::NAMESPACES.name),
            default: d.template(facts::DEFAULT.name),
            match_number: WholeNumber::decode(d, facts::MATCH_NUMBER.name, 0),
            fragment: Flag::decode(d, facts::FRAGMENT.name, false),
        }
    }

    async fn extract(
        &self,
        cx: &mut PostProcessorView,
        (scope, sample): (&ScopeReading<'_>, &Sample),
    ) -> Result<Values, ExceptionText> {
        let number = self.match_number.get(cx);
        let mut values = Values::new();
        let element = (drumfire_elements::post::xpath_extractor::CLASS, &self.name);
        for input in scope.inputs_or_warning(cx, sample, element) {
            let input = match input {
                Input::Variable(value) if value.is_empty() => continue,
                Input::Variable(_) => input,
                Input::Result(_) => Input::Result(sample),
            };
            let to = (number, &mut values);
            self.search(cx, &input, to).await?;
        }
        Ok(values)
    }

    /// `XPathUtil#putValuesForXPathInListUsingSaxon`.
    async fn search(
        &self,
        cx: &mut PostProcessorView,
        input: &Input<'_>,
        (number, found): (i32, &mut Values),
    ) -> Result<(), ExceptionText> {
        let fragment = self.fragment.get(cx);
        let query = self.query.text(cx);
        let query = (&*query, input);
        let looked = self.query.look(cx, query, fragment).await?;
        let Some(looked) = looked else {
            return Ok(());
        };
        let mut items = looked.items.map_err(|error| error.message)?.into_iter();
        match number {
            number if number < 0 => found.extend(items.map(|item| Some(Rc::from(item)))),
            0 if items.len() == 0 => {
                // JMeter calls `XdmValue#itemAt` with the index before the first.
                return Err("-1".into());
            }
            number => {
                let index = match number {
                    0 => cx.random().index(items.len()),
                    number => number as usize - 1,
                };
                match items.nth(index) {
                    Some(item) => found.push(Some(Rc::from(item))),
                    None => tracing::warn!(
                        "Error : The match number to extract exceed the total number of matches:{number}"
                    ),
                }
            }
        }
        Ok(())
    }
}

impl XPath2Extractor {
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
                    "Exception while processing '{}', message:{message}",
                    self.query.text(cx)
                );
                let name = self.name.eval(cx).into_value();
                sample.assertions.push(failed_extraction(name, &message));
            }
        }
    }
}

impl PostProcessorRole for XPath2Extractor {
    fn turn<'a>(&'a self, cx: &'a mut PostProcessorView, sample: &'a mut Sample) -> Act<'a> {
        let searches = self.query.searches();
        self.scoped
            .extract(searches, cx, sample, |cx, scope, sample| {
                self.process(cx, scope, sample)
            })
    }

    fn reads(&self) -> Needs {
        self.scoped.needs(Needs::BODY)
    }
}
