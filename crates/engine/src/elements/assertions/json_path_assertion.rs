//! JSON Assertion (`JSONPathAssertion`): checks that a JSONPath exists and, optionally, that it has the expected
//! value.
//!
//! Properties: `JSON_PATH`, `EXPECTED_VALUE`, `JSONVALIDATION`, `EXPECT_NULL`, `INVERT`, `ISREGEX`. It has no scope.

use drumfire_elements::assertions::json_assertion as facts;
use drumfire_expr::Template;
use drumfire_query::json::{Json, Value};
use drumfire_query::jsonpath::JsonPath;
use drumfire_results::{AssertionResult, Sample};

use super::expectation::Expectation;
use super::verdict::Name;
use crate::base::exception_text::ExceptionText;
use crate::decode::Decoder;
use crate::decode::compiled::{CompiledProperty, NoRules, Use};
use crate::decode::roles::Roles;
use crate::elements::json_query::JsonQuery;
use crate::run::parsed::JsonReader;
use crate::run::roles::{Act, AssertionRole};
use crate::run::view::AssertionView;

pub struct JsonPathAssertion {
    name: Name,
    path: AssertedPath,
    expectation: Expectation,
    query: JsonQuery,
}

/// The path of the plan; `None` if it is literally the empty text.
pub(super) struct AssertedPath(Option<CompiledProperty<JsonPath>>);

impl AssertedPath {
    pub(super) fn decode(d: &mut Decoder, property: &str) -> AssertedPath {
        let path = d.template(property);
        AssertedPath((!path.is_empty_literal()).then(|| CompiledProperty::new(d, path, NoRules)))
    }

    pub(super) fn text(&self, cx: &mut AssertionView) -> String {
        match &self.0 {
            Some(path) => path.get(cx).text.into_string(),
            None => String::new(),
        }
    }

    /// # Errors
    /// The message of JMeter's library for a malformed path, or of JMeter for an empty one.
    pub(super) fn get(&self, cx: &mut AssertionView) -> Result<Use<'_, JsonPath>, ExceptionText> {
        match &self.0 {
            Some(path) => path.get(cx).outcome,
            None => Err("path can not be null or empty".into()),
        }
    }
}

pub fn decode(d: &mut Decoder) -> Roles {
    Roles::assertion(JsonPathAssertion::decode(d))
}

impl JsonPathAssertion {
    fn decode(d: &mut Decoder) -> JsonPathAssertion {
        JsonPathAssertion {
            name: Name::decode(d),
            path: AssertedPath::decode(d, facts::PATH.name),
            expectation: Expectation::decode(d),
            query: JsonQuery::new(JsonReader::Smart),
        }
    }

    /// `doAssert`: the message of the exception it throws if the assertion does not hold.
    fn assert(&self, cx: &mut AssertionView, found: &Value<'_>) -> Result<(), ExceptionText> {
        if !self.expectation.validates.get(cx) {
            return match found {
                Value::Array(items) if items.is_empty() && !self.path.get(cx)?.is_definite() => Err(format!(
                    "JSONPath '{}' is indefinite and the extracted Value is an empty Array. Please use an assertion value, to be sure to get a correct result. Expected value was '{}'",
                    self.path.text(cx),
                    self.expectation.text(cx)
                ).into()),
                _ => Ok(()),
            };
        }
        if self.holds(cx, found)? {
            return Ok(());
        }
        if self.expectation.null.get(cx) {
            return Err(format!(
                "Value in json path '{}' expected to be null, but found '{}'",
                self.path.text(cx),
                found.to_java_text()
            )
            .into());
        }
        let is_regex = self.expectation.regex.get(cx);
        let text = self.path.text(cx);
        let (expected, found) = (self.expectation.text(cx), found.to_assertion_text());
        let message = if is_regex {
            format!(
                "Value in json path '{text}' expected to match regexp '{expected}', but it did not match: '{found}'"
            )
        } else {
            format!("Value in json path '{text}' expected to be '{expected}', but found '{found}'")
        };
        Err(message.into())
    }

    /// `arrayMatched` for an array, else `isEquals`.
    fn holds(&self, cx: &mut AssertionView, found: &Value<'_>) -> Result<bool, ExceptionText> {
        if let Value::Array(items) = found {
            if items.is_empty() && self.expectation.text(cx) == "[]" {
                return Ok(true);
            }
            for item in items {
                let is_null = matches!(item, Value::Null);
                if (is_null && self.expectation.null.get(cx)) || self.equals(cx, item)? {
                    return Ok(true);
                }
            }
            return self.equals(cx, found);
        }
        let expects_null = self.expectation.null.get(cx);
        Ok((expects_null && matches!(found, Value::Null)) || self.equals(cx, found)?)
    }

    fn equals(&self, cx: &mut AssertionView, found: &Value<'_>) -> Result<bool, ExceptionText> {
        if self.expectation.regex.get(cx) {
            return self.expectation.matches(cx, &found.to_assertion_text());
        }
        let expected = self.expectation.text(cx);
        Ok(match Json::parse(&expected) {
            Ok(json) => json.root().java_equals(found),
            // JSONValue.parse gives null.
            Err(_) => matches!(found, Value::Null),
        })
    }

    fn inverted_failure(&self, cx: &mut AssertionView) -> String {
        if !self.expectation.validates.get(cx) {
            return format!("Failed that JSONPath not exists: {}", self.path.text(cx));
        }
        let expects_null = self.expectation.null.get(cx);
        let path = self.path.text(cx);
        if expects_null {
            format!("Failed that JSONPath {path} not matches null")
        } else {
            let expected = self.expectation.text(cx);
            format!("Failed that JSONPath {path} not matches {expected}")
        }
    }

    /// `getResult`.
    async fn judge(&self, cx: &mut AssertionView, sample: &Sample) -> AssertionResult {
        if cx.parsed().has_no_text(sample) {
            return self.name.fail_for_null(cx);
        }
        let is_inverted = self.expectation.invert.get(cx);
        let path = |cx: &mut AssertionView| self.path.get(cx);
        let assert = |cx: &mut AssertionView, value: &Value<'_>| self.assert(cx, value);
        // If the run is told to stop, the check is skipped.
        let Some(outcome) = self.query.judge(cx, sample, path, assert).await else {
            return self.name.pass(cx);
        };
        self.name
            .judged(cx, outcome, is_inverted, |cx| self.inverted_failure(cx))
    }
}

impl AssertionRole for JsonPathAssertion {
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

    const BODY: &str = r#"{"a":{"x":1,"y":[1,2]},"n":null,"s":"q","d":1.50,"e":[]}"#;
    const EXISTS: &str = "0000";

    /// The message; `flags` are validation, null, invert and regex. Passing gives the empty message.
    fn check(body: &str, path: &str, expected: &str, flags: &str) -> String {
        let xml = element("JSONPathAssertion", ("JSON_PATH", path), expected, flags);
        let (assertion, mut cx, _) =
            fixture::decode_with_findings(&[], &xml, JsonPathAssertion::decode);
        let sample = fixture::sample(body);
        let verdict =
            fixture::on_worker_and_in_pool(&mut cx, async |cx| assertion.judge(cx, &sample).await);
        let message = verdict.message.expect("JMeter always sets a message here");
        assert_eq!(verdict.failure, !message.is_empty());
        message.to_string()
    }

    // Recorded from JSONPathAssertion itself.

    #[test]
    fn existence() {
        assert_eq!(check(BODY, "$.s", "", EXISTS), "");
        assert_eq!(
            check(BODY, "$.zz", "", EXISTS),
            "No results for path: $['zz']"
        );
        assert_eq!(check(BODY, "$.zz", "", "0011"), "");
        assert_eq!(
            check(BODY, "$.s", "", "0011"),
            "Failed that JSONPath not exists: $.s"
        );
        let message = "JSONPath '$..zz' is indefinite and the extracted Value is an empty Array. Please use an assertion value, to be sure to get a correct result. Expected value was 'E'";
        assert_eq!(check(BODY, "$..zz", "E", "0001"), message);
    }

    #[test]
    fn values() {
        for (path, expected, flags) in [
            ("$.s", "q", "1001"),
            ("$.s", "q", "1000"),
            ("$.s", "\"q\"", "1000"),
            ("$.n", "", "1101"),
            ("$.d", "1.5", "1001"),
            ("$.d", "1.5", "1000"),
            ("$.a.y", "2", "1001"),
            ("$.a.y", "[1,2]", "1000"),
            ("$.e", "[]", "1001"),
            ("$.a", r#"{"y":[1,2],"x":1}"#, "1000"),
        ] {
            assert_eq!(check(BODY, path, expected, flags), "", "{path} {expected}");
        }
        assert_eq!(
            check(BODY, "$.s", "z", "1001"),
            "Value in json path '$.s' expected to match regexp 'z', but it did not match: 'q'"
        );
        assert_eq!(
            check(BODY, "$.s", "z", "1000"),
            "Value in json path '$.s' expected to be 'z', but found 'q'"
        );
        assert_eq!(
            check(BODY, "$.a.y", "9", "1001"),
            "Value in json path '$.a.y' expected to match regexp '9', but it did not match: '[1,2]'"
        );
        assert_eq!(
            check(BODY, "$.a", "k", "1000"),
            r#"Value in json path '$.a' expected to be 'k', but found '{"x":1,"y":[1,2]}'"#
        );
        assert_eq!(
            check(BODY, "$.n", "", "1000"),
            "Value in json path '$.n' expected to be '', but found 'null'"
        );
        assert_eq!(
            check(BODY, "$.n", "", "1001"),
            "Value in json path '$.n' expected to match regexp '', but it did not match: 'null'"
        );
        assert_eq!(
            check(BODY, "$.s", "(", "1001"),
            "Invalid expression: (\nUnmatched parentheses."
        );
    }

    #[test]
    fn nulls_and_inversion() {
        assert_eq!(
            check(BODY, "$.s", "", "1101"),
            "Value in json path '$.s' expected to be null, but found 'q'"
        );
        assert_eq!(
            check(BODY, "$.a", "", "1101"),
            "Value in json path '$.a' expected to be null, but found '{x=1, y=[1,2]}'"
        );
        assert_eq!(
            check(BODY, "$.s", "q", "1011"),
            "Failed that JSONPath $.s not matches q"
        );
        assert_eq!(
            check(BODY, "$.n", "q", "1111"),
            "Failed that JSONPath $.n not matches null"
        );
    }

    #[test]
    fn bodies_and_paths_that_cannot_be_read() {
        assert_eq!(check(BODY, "", "", EXISTS), "path can not be null or empty");
        assert_eq!(
            check("{", "$.a", "", EXISTS),
            "net.minidev.json.parser.ParseException: Unexpected End Of File position 0: null"
        );
        assert_eq!(check("", "$.a", "", EXISTS), "Response was null");
        assert_eq!(check("null", "$.a", "", EXISTS), "json can not be null");
        let no_object = "Expected to find an object with property ['a'] in path $ but found 'java.lang.String'. This is not a json object according to the JsonProvider: 'com.jayway.jsonpath.spi.json.JsonSmartJsonProvider'.";
        assert_eq!(check("abc", "$.a", "", EXISTS), no_object);
        assert_eq!(check(" ", "$.a", "", EXISTS), no_object);
    }
}
