//! JSON JMESPath Assertion (`JMESPathAssertion`): checks that a JMESPath gives a value and, optionally, that it is
//! the expected one.
//!
//! Properties: `JMES_PATH`, `EXPECTED_VALUE`, `JSONVALIDATION`, `EXPECT_NULL`, `INVERT`, `ISREGEX`. It has no scope.
//!
//! Difference: the messages for malformed JSON and malformed expressions are not those of Jackson and io.burt's
//! library.

use drumfire_elements::assertions::jmespath_assertion as facts;
use drumfire_expr::Template;
use drumfire_query::jmespath::{JmesPath, JmesPathResult};
use drumfire_query::json::Value;
use drumfire_results::{AssertionResult, Sample};

use super::expectation::Expectation;
use super::verdict::Name;
use crate::base::exception_text::ExceptionText;
use crate::decode::Decoder;
use crate::decode::compiled::{CompiledProperty, NoRules};
use crate::decode::roles::Roles;
use crate::elements::json_query::JsonQuery;
use crate::run::parsed::JsonReader;
use crate::run::roles::{Act, AssertionRole};
use crate::run::view::AssertionView;

pub struct JmesPathAssertion {
    name: Name,
    path: CompiledProperty<JmesPath>,
    expectation: Expectation,
    query: JsonQuery,
}

pub fn decode(d: &mut Decoder) -> Roles {
    Roles::assertion(JmesPathAssertion::decode(d))
}

impl JmesPathAssertion {
    fn decode(d: &mut Decoder) -> JmesPathAssertion {
        let path = d.template(facts::PATH.name);
        JmesPathAssertion {
            name: Name::decode(d),
            path: CompiledProperty::new(d, path, NoRules),
            expectation: Expectation::decode(d),
            query: JsonQuery::new(JsonReader::Strict),
        }
    }

    /// Whether the value meets the expectation, before inversion.
    fn holds(
        &self,
        cx: &mut AssertionView,
        found: &JmesPathResult<'_, '_>,
    ) -> Result<bool, ExceptionText> {
        if !self.expectation.validates.get(cx) {
            Ok(!found.is_null())
        } else if self.expectation.null.get(cx) {
            Ok(found.is_null())
        } else if self.expectation.regex.get(cx) {
            self.expectation.matches(cx, &found.text())
        } else {
            self.equals(cx, found)
        }
    }

    fn equals(
        &self,
        cx: &mut AssertionView,
        found: &JmesPathResult<'_, '_>,
    ) -> Result<bool, ExceptionText> {
        let expected = self.expectation.text(cx);
        if found.text() == expected {
            return Ok(true);
        }
        found.equals_json(&expected).ok_or_else(|| {
            match drumfire_query::jmespath::parse_strict(&expected) {
                Err(error) => error.message.into(),
                Ok(_) => "".into(),
            }
        })
    }

    /// `buildFailureMessage`.
    fn failure(&self, cx: &mut AssertionView, is_inverted: bool) -> String {
        let not = if is_inverted { " not" } else { "" };
        if !self.expectation.validates.get(cx) {
            format!("JMESPATH {} expected{not} to exist", self.path.get(cx).text)
        } else if self.expectation.null.get(cx) {
            format!("Value expected{not} to be null")
        } else {
            let how = if self.expectation.regex.get(cx) {
                "match"
            } else {
                "be equal to"
            };
            format!("Value expected{not} to {how} {}", self.expectation.text(cx))
        }
    }

    /// `getResult`.
    async fn judge(&self, cx: &mut AssertionView, sample: &Sample) -> AssertionResult {
        if cx.parsed().has_no_text(sample) {
            return self.name.fail_for_null(cx);
        }
        let is_inverted = self.expectation.invert.get(cx);
        let path = |cx: &mut AssertionView| self.path.get(cx).outcome;
        let holds =
            |cx: &mut AssertionView, value: &Value<'_>| self.holds(cx, &JmesPathResult::of(value));
        // If the run is told to stop, the check is skipped.
        let Some(holds) = self.query.judge(cx, sample, path, holds).await else {
            return self.name.pass(cx);
        };
        match holds {
            Ok(holds) if holds == is_inverted => {
                let message = self.failure(cx, is_inverted);
                self.name.fail(cx, message)
            }
            Err(message) if !self.expectation.invert.get(cx) => self.name.error(cx, message),
            _ => self.name.pass_with_empty_message(cx),
        }
    }
}

impl AssertionRole for JmesPathAssertion {
    fn turn<'a>(
        &'a self,
        cx: &'a mut AssertionView,
        sample: &'a mut Sample,
    ) -> Act<'a, AssertionResult> {
        self.query
            .turn(cx, sample, move |cx, sample| self.judge(cx, sample))
    }

    fn row_name(&self) -> &Template {
        self.name.template()
    }
}

#[cfg(test)]
mod tests {
    use super::super::expectation::tests::element;
    use super::*;
    use crate::fixture;

    const BODY: &str = r#"{"a":{"x":1,"y":[1,2]},"n":null,"s":"q"}"#;

    fn check(body: &str, path: &str, expected: &str, flags: &str) -> AssertionResult {
        let xml = element("JMESPathAssertion", ("JMES_PATH", path), expected, flags);
        let (assertion, mut cx, _) =
            fixture::decode_with_findings(&[], &xml, JmesPathAssertion::decode);
        let sample = fixture::sample(body);
        fixture::on_worker_and_in_pool(&mut cx, async |cx| assertion.judge(cx, &sample).await)
    }

    fn message(path: &str, expected: &str, flags: &str) -> String {
        let verdict = check(BODY, path, expected, flags);
        assert!(!verdict.error);
        assert_eq!(
            verdict.failure,
            verdict
                .message
                .as_ref()
                .is_some_and(|message| !message.is_empty())
        );
        verdict
            .message
            .expect("JMeter always sets a message here")
            .to_string()
    }

    // Recorded from JMESPathAssertion itself.

    #[test]
    fn failures_say_what_was_expected() {
        assert_eq!(message("s", "q", "1001"), "");
        assert_eq!(message("s", "z", "1001"), "Value expected to match z");
        assert_eq!(
            message("s", "\"z\"", "1000"),
            "Value expected to be equal to \"z\""
        );
        assert_eq!(message("zz", "", "0001"), "JMESPATH zz expected to exist");
        assert_eq!(message("zz", "", "0011"), "");
        assert_eq!(message("s", "", "0011"), "JMESPATH s expected not to exist");
        assert_eq!(message("s", "", "1101"), "Value expected to be null");
        assert_eq!(message("n", "", "1111"), "Value expected not to be null");
        assert_eq!(
            message("s", "q", "1010"),
            "Value expected not to be equal to q"
        );
        assert_eq!(message("a", r#"{"y":[1,2],"x":1}"#, "1000"), "");
    }

    #[test]
    fn unreadable_json_is_an_error_unless_inverted() {
        for (body, path, expected, flags) in [
            ("{", "a", "", "0001"),
            (BODY, "[", "", "0001"),
            (BODY, "s", "z", "1000"),
            (BODY, "s", "(", "1001"),
        ] {
            let verdict = check(body, path, expected, flags);
            assert!(verdict.error && !verdict.failure, "{body} {path}");
            let inverted = format!("{}1{}", &flags[..2], &flags[3..]);
            let verdict = check(body, path, expected, &inverted);
            assert!(!verdict.error && !verdict.failure, "{body} {path}");
        }
        assert_eq!(
            check("", "a", "", "0001").message.as_deref(),
            Some("Response was null")
        );
        assert_eq!(
            check(BODY, "s", "(", "1001").message.as_deref(),
            Some("Invalid expression: (\nUnmatched parentheses.")
        );
    }
}
