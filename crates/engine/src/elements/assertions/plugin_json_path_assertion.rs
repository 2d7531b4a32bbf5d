//! JSON Path Assertion of jmeter-plugins (`com.atlantbh.jmeter.plugins.jsonutils.jsonpathassertion.JSONPathAssertion`): checks
//! that a JSONPath exists and, optionally, that it has the expected value.
//!
//! Properties: `JSON_PATH`, `JSONVALIDATION` (compare the value), `EXPECTED_VALUE` (for the whole value, or for one element of an
//! array; a regular expression unless `ISREGEX` is off), `EXPECT_NULL`, `INVERT`. With `INPUT_FORMAT` `YAML` the plugin's own
//! class runs it. It has no scope.
//!
//! It behaves as version 2.7 of the plugin. Versions before 2.0 lacked `ISREGEX`, failed on a null value with an exception's
//! message, and wrote objects as Java does (`{a=1}`).

use drumfire_elements::assertions::json_path_assertion as facts;
use drumfire_expr::Template;
use drumfire_query::json::Value;
use drumfire_query::regex::{Dialect, Pattern};
use drumfire_results::{AssertionResult, Sample};

use super::json_path_assertion::AssertedPath;
use super::verdict::Name;
use crate::base::exception_text::ExceptionText;
use crate::decode::Decoder;
use crate::decode::compiled::{CompiledProperty, RegexRules};
use crate::decode::roles::Roles;
use crate::decode::setting::Flag;
use crate::elements::json_query::JsonQuery;
use crate::run::parsed::JsonReader;
use crate::run::roles::{Act, AssertionRole};
use crate::run::view::AssertionView;

struct PluginJsonPathAssertion {
    name: Name,
    path: AssertedPath,
    validates: Flag,
    /// Present only if values may be compared with it.
    expected: Option<CompiledProperty<Pattern>>,
    is_regex: Flag,
    expects_null: Flag,
    inverts: Flag,
    query: JsonQuery,
}

pub fn decode(d: &mut Decoder) -> Roles {
    if d.text(facts::FORMAT.name) == "YAML" {
        return Roles::foreign("its input is YAML");
    }
    Roles::assertion(PluginJsonPathAssertion::decode(d))
}

impl PluginJsonPathAssertion {
    fn decode(d: &mut Decoder) -> PluginJsonPathAssertion {
        let validates = Flag::decode(d, facts::COMPARES.name, false);
        let expected = match validates {
            Flag::Fixed(false) => None,
            _ => {
                let expected = d.template(facts::EXPECTED_VALUE.name);
                // `JMeterUtils.getPatternCache`: ORO, whichever regex engine is configured.
                Some(CompiledProperty::new(d, expected, RegexRules(Dialect::Oro)))
            }
        };
        PluginJsonPathAssertion {
            name: Name::decode(d),
            path: AssertedPath::decode(d, facts::PATH.name),
            validates,
            expected,
            is_regex: Flag::decode(d, facts::IS_REGEX.name, true),
            expects_null: Flag::decode(d, facts::EXPECT_NULL.name, false),
            inverts: Flag::decode(d, facts::INVERT.name, false),
            query: JsonQuery::new(JsonReader::Smart),
        }
    }

    /// `doAssert`.
    ///
    /// # Errors
    /// With the message of the exception it throws if the assertion does not hold.
    fn assert(&self, cx: &mut AssertionView, found: &Value<'_>) -> Result<(), ExceptionText> {
        if !self.validates.get(cx) {
            return Ok(());
        }
        let expects_null = self.expects_null.get(cx);
        let held = |item: &Value<'_>| expects_null && matches!(item, Value::Null);
        let holds = match found {
            Value::Array(items) if items.is_empty() && self.expected_text(cx) == "[]" => true,
            Value::Array(items) => {
                let mut holds = false;
                for item in items {
                    holds = holds || held(item) || self.matches(cx, item)?;
                }
                holds || self.matches(cx, found)?
            }
            found => held(found) || self.matches(cx, found)?,
        };
        if holds {
            return Ok(());
        }
        if expects_null {
            let text = found.to_java_text();
            return Err(format!("Value expected to be null, but found '{text}'").into());
        }
        let (text, expected) = (found.to_assertion_text(), self.expected_text(cx));
        let message = if self.is_regex.get(cx) {
            format!("Value expected to match regexp '{expected}', but it did not match: '{text}'")
        } else {
            format!("Value expected to be '{expected}', but found '{text}'")
        };
        Err(message.into())
    }

    /// `isEquals`.
    fn matches(&self, cx: &mut AssertionView, found: &Value<'_>) -> Result<bool, ExceptionText> {
        let Some(expected) = &self.expected else {
            return Ok(false);
        };
        if !self.is_regex.get(cx) {
            return Ok(found.to_assertion_text() == self.expected_text(cx));
        }
        let pattern = expected
            .get(cx)
            .outcome
            .map_err(|exception| exception.without(MALFORMED))?;
        Ok(pattern.full_match(&found.to_assertion_text()))
    }

    fn expected_text(&self, cx: &mut AssertionView) -> String {
        let expected = self.expected.as_ref();
        expected.map_or_else(String::new, |expected| expected.get(cx).text.into_string())
    }

    /// The failure message of an inverted assertion whose check holds.
    fn inverted_failure(&self, cx: &mut AssertionView) -> String {
        let path = self.path.text(cx);
        if !self.validates.get(cx) {
            return format!("Failed that JSONPath not exists: {path}");
        }
        if self.expects_null.get(cx) {
            format!("Failed that JSONPath {path} not matches null")
        } else {
            format!(
                "Failed that JSONPath {path} not matches {}",
                self.expected_text(cx)
            )
        }
    }

    /// `getResult`.
    async fn judge(&self, cx: &mut AssertionView, sample: &Sample) -> AssertionResult {
        if cx.parsed().has_no_text(sample) {
            return self.name.fail_for_null(cx);
        }
        let path = |cx: &mut AssertionView| self.path.get(cx);
        let assert = |cx: &mut AssertionView, value: &Value<'_>| self.assert(cx, value);
        // If the run is told to stop, the check is skipped.
        let Some(outcome) = self.query.judge(cx, sample, path, assert).await else {
            return self.name.pass(cx);
        };
        let is_inverted = self.inverts.get(cx);
        self.name
            .judged(cx, outcome, is_inverted, |cx| self.inverted_failure(cx))
    }
}

const MALFORMED: &str = "org.apache.oro.text.MalformedCachePatternException: ";

impl AssertionRole for PluginJsonPathAssertion {
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
    use super::*;
    use crate::fixture;

    const BODY: &str = r#"{"a":{"x":1,"y":[1,2.50]},"n":null,"s":"q","e":[],"l":[{"k":1},"t",true],"m":["t",null]}"#;

    /// The message; `flags` are validation, null, invert and, if present, whether it is a regular expression. Passing gives the
    /// empty message.
    fn check(body: &str, path: &str, expected: &str, flags: &str) -> String {
        let class = "com.atlantbh.jmeter.plugins.jsonutils.jsonpathassertion.JSONPathAssertion";
        let flag = |index: usize| flags.as_bytes()[index] == b'1';
        let regex = match flags.len() {
            4 => format!(r#"<boolProp name="ISREGEX">{}</boolProp>"#, flag(3)),
            _ => String::new(),
        };
        let xml = format!(
            r#"<{class} guiclass="g" testclass="{class}" testname="j"><stringProp name="JSON_PATH">{path}</stringProp>
            <stringProp name="EXPECTED_VALUE">{expected}</stringProp><boolProp name="JSONVALIDATION">{}</boolProp>
            <boolProp name="EXPECT_NULL">{}</boolProp><boolProp name="INVERT">{}</boolProp>{regex}</{class}>"#,
            flag(0),
            flag(1),
            flag(2)
        );
        let (assertion, mut cx, _) =
            fixture::decode_with_findings(&[], &xml, PluginJsonPathAssertion::decode);
        let sample = fixture::sample(body);
        let verdict =
            fixture::on_worker_and_in_pool(&mut cx, async |cx| assertion.judge(cx, &sample).await);
        let message = verdict.message.expect("the plugin always sets a message");
        assert_eq!(verdict.failure, !message.is_empty());
        message.to_string()
    }

    // Recorded from jmeter-plugins-json 2.7.

    #[test]
    fn existence() {
        for path in ["$.s", "$.a", "$.n", "$.e"] {
            assert_eq!(check(BODY, path, "", "000"), "");
            assert_eq!(
                check(BODY, path, "", "001"),
                format!("Failed that JSONPath not exists: {path}")
            );
        }
        let missing = "No results for path: $['zz']";
        assert_eq!(check(BODY, "$.zz", "", "000"), missing);
        assert_eq!(check(BODY, "$.zz", "", "001"), "");
        assert_eq!(check(BODY, "", "", "000"), "path can not be null or empty");
    }

    #[test]
    fn the_whole_value_matches_the_expression() {
        for (path, expected) in [
            ("$.s", "q"),
            ("$.s", "."),
            ("$.a", ".*x.*"),
            ("$.e", "[]"),
            ("$.l", "t"),
            ("$.l", "true"),
            ("$.l", ".*k.*"),
            ("$.n", "null"),
            ("$.m", "t"),
            ("$.a.y", "2.5"),
            ("$..x", "1"),
        ] {
            assert_eq!(check(BODY, path, expected, "100"), "");
            assert_eq!(check(BODY, path, expected, "110"), "");
            assert_eq!(
                check(BODY, path, expected, "101"),
                format!("Failed that JSONPath {path} not matches {expected}")
            );
            assert_eq!(
                check(BODY, path, expected, "111"),
                format!("Failed that JSONPath {path} not matches null")
            );
        }
    }

    #[test]
    fn a_value_that_does_not_match() {
        for (path, expected, found) in [
            ("$.s", "Q", "q"),
            ("$.e", "x", "[]"),
            ("$.l", "z", r#"[{"k":1},"t",true]"#),
            ("$.a.y", "2.50", "[1,2.5]"),
            ("$..zz", "1", "[]"),
        ] {
            assert_eq!(
                check(BODY, path, expected, "100"),
                format!(
                    "Value expected to match regexp '{expected}', but it did not match: '{found}'"
                )
            );
            assert_eq!(
                check(BODY, path, expected, "110"),
                format!("Value expected to be null, but found '{found}'")
            );
            assert_eq!(check(BODY, path, expected, "101"), "");
        }
        assert_eq!(
            check(BODY, "$.s", "(", "100"),
            "Invalid expression: (\nUnmatched parentheses."
        );
    }

    #[test]
    fn null_is_a_text_too() {
        let differs = |found: &str| {
            format!("Value expected to match regexp 'z', but it did not match: '{found}'")
        };
        for (path, found) in [("$.n", "null"), ("$.m", r#"["t",null]"#)] {
            assert_eq!(check(BODY, path, "z", "100"), differs(found));
            assert_eq!(check(BODY, path, "null", "100"), "");
            assert_eq!(check(BODY, path, "z", "110"), "");
            assert_eq!(check(BODY, path, "z", "101"), "");
        }
    }

    #[test]
    fn without_expressions_the_text_is_the_same() {
        let check = |path: &str, expected: &str| check(BODY, path, expected, "1000");
        assert_eq!(check("$.s", "q"), "");
        assert_eq!(
            check("$.s", "[a-z]"),
            "Value expected to be '[a-z]', but found 'q'"
        );
        assert_eq!(check("$.a.y", "[1,2.5]"), "");
        assert_eq!(check("$.l", "true"), "");
        assert_eq!(check("$.a", r#"{"x":1,"y":[1,2.5]}"#), "");
        assert_eq!(check("$.n", "null"), "");
    }

    #[test]
    fn bodies_that_cannot_be_read() {
        assert_eq!(check("", "$.a", "", "000"), "Response was null");
        assert_eq!(
            check("{", "$.a", "", "000"),
            "net.minidev.json.parser.ParseException: Unexpected End Of File position 0: null"
        );
        assert_eq!(check("null", "$.a", "", "000"), "json can not be null");
        assert_eq!(check("abc", "$.a", "", "001"), "");
    }
}
