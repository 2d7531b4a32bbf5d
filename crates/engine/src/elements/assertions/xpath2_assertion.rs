//! XPath2 Assertion (`XPath2Assertion`): checks that an XPath finds something or is true.
//!
//! Properties: `XPath.xpath` (`/` if missing), `XPath.negate`, `XPath.namespaces` (lines `prefix=URI`), and the scope.
//!
//! As in JMeter, a success has a message, too, and Xalan also compiles the expression: the type that XPath 1.0 gives it
//! decides whether its value counts, and anything that XPath 1.0 lacks (`matches`, `exists`, `for`, `eq`, …) is an
//! error.
//!
//! Differences: as for the XPath2 Extractor.

use drumfire_elements::assertions::xpath2_assertion as facts;
use drumfire_expr::Template;
use drumfire_results::{AssertionResult, Sample};

use super::verdict::Name;
use crate::base::exception_text::ExceptionText;
use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::decode::scoped::Scoped;
use crate::decode::setting::Flag;
use crate::elements::java;
use crate::elements::xpath2_query::XPath2Query;
use crate::run::input::Input;
use crate::run::needs::Needs;
use crate::run::roles::{Act, AssertionRole, ResultScope};
use crate::run::view::AssertionView;

pub struct XPath2Assertion {
    name: Name,
    scoped: Scoped,
    query: XPath2Query,
    negate: Flag,
}

/// The outcome of evaluating the expression.
enum Look {
    /// The expression is empty, or the run was told to stop.
    Nothing,
    /// Xalan's message for an expression whose type it cannot determine.
    Refused(String),
    Holds(bool),
}

pub fn decode(d: &mut Decoder) -> Roles {
    if d.element.props.get(facts::QUERY.name).is_some()
        && let Some(why) = XPath2Query::beyond(d, facts::QUERY.name, facts::NAMESPACES.name)
    {
        return java::instead(d, &why, java::assertion);
    }
    Roles::assertion(XPath2Assertion::decode(d))
}

impl XPath2Assertion {
    fn decode(d: &mut Decoder) -> XPath2Assertion {
        let query = d
            .optional(facts::QUERY.name)
            .unwrap_or_else(|| Template::raw("/"));
        XPath2Assertion {
            name: Name::decode(d),
            scoped: Scoped::assertion(d),
            query: XPath2Query::decode(d, query, facts::NAMESPACES.name),
            negate: Flag::decode(d, facts::INVERT.name, false),
        }
    }

    async fn look(
        &self,
        cx: &mut AssertionView,
        query: (&str, &Input<'_>),
    ) -> Result<Look, ExceptionText> {
        let Some(answer) = self.query.look(cx, query, false).await? else {
            return Ok(Look::Nothing);
        };
        let is_boolean = match answer.is_boolean {
            Ok(is_boolean) => is_boolean,
            Err(error) => return Ok(Look::Refused(error.message)),
        };
        let items = answer.items.map_err(|error| error.message)?;
        Ok(Look::Holds(match items.first() {
            None => false,
            Some(first) if is_boolean => first == "true",
            Some(_) => true,
        }))
    }

    /// `XPathUtil#computeAssertionResultUsingSaxon`.
    async fn check_input(&self, cx: &mut AssertionView, input: &Input<'_>) -> AssertionResult {
        let query = self.query.text(cx);
        let look = self.look(cx, (&query, input)).await;
        let negate = self.negate.get(cx);
        match look {
            Ok(Look::Nothing) => self.name.pass_with_empty_message(cx),
            Ok(Look::Refused(message)) => self
                .name
                .error(cx, format!("Exception: {message} for:{query}")),
            Ok(Look::Holds(holds)) => {
                let what = if negate {
                    "Nodes Matched"
                } else {
                    "No Nodes Matched"
                };
                AssertionResult {
                    failure: holds == negate,
                    ..self.name.fail(cx, format!("{what} for {query}"))
                }
            }
            Err(message) => {
                let query = self.query.text(cx);
                let message = format!(
                    "Exception occurred computing assertion with XPath:{query}, error:{message}"
                );
                self.name.error(cx, message)
            }
        }
    }
}

impl XPath2Assertion {
    async fn check(&self, cx: &mut AssertionView, input: Option<Input<'_>>) -> AssertionResult {
        let is_empty =
            |input: &Input<'_>| matches!(input, Input::Variable(value) if value.is_empty());
        match input.filter(|input| !is_empty(input)) {
            Some(input) => self.check_input(cx, &input).await,
            None => self.name.fail_for_null(cx),
        }
    }
}

impl AssertionRole for XPath2Assertion {
    fn turn<'a>(
        &'a self,
        cx: &'a mut AssertionView,
        sample: &'a mut Sample,
    ) -> Act<'a, AssertionResult> {
        let searches = self.query.searches();
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
