//! JSON Path Assertion of jmeter-plugins (`com.atlantbh.jmeter.plugins.jsonutils.jsonpathassertion.JSONPathAssertion`): a JSONPath
//! leads somewhere, and, if wanted, to an expected value.
//!
//! Properties: `JSON_PATH`, `JSONVALIDATION` (compare the value), `EXPECTED_VALUE` (a regular expression for the whole value, or
//! for one element of an array), `EXPECT_NULL`, `INVERT`. The body is read as UTF-8, whatever its charset. It has no scope.

use drumfire_expr::Template;
use drumfire_query::json::{Json, Value};
use drumfire_query::jsonpath::JsonPath;
use drumfire_query::regex::{Dialect, Pattern};
use drumfire_results::{AssertionResult, Sample};

use super::verdict::Name;
use crate::compile::Decoder;
use crate::compiled::{Compiled, Only, RegexRules};
use crate::context::Context;
use crate::elements::{Assertion, Roles};
use crate::program::Needs;
use crate::scoped::Input;
use crate::setting::Flag;

struct JsonPathAssertion {
    name: Name,
    /// None where the plan spells out the empty text.
    path: Option<Compiled<JsonPath>>,
    path_text: Template,
    validates: Flag,
    /// Compiled where values may be compared with it.
    expected: Option<Compiled<Pattern>>,
    expects_null: Flag,
    inverts: Flag,
}

pub fn decode(d: &mut Decoder) -> Roles {
    Roles::assertion(JsonPathAssertion::decode(d))
}

impl JsonPathAssertion {
    fn decode(d: &mut Decoder) -> JsonPathAssertion {
        let path = d.template("JSON_PATH");
        let path = (!path.is_empty_literal()).then(|| Compiled::new(d, path, Only));
        let validates = Flag::decode(d, "JSONVALIDATION", false);
        let expected = match validates {
            Flag::Fixed(false) => None,
            _ => {
                let expected = d.template("EXPECTED_VALUE");
                // JMeterUtils.getPatternCache, whatever engine is chosen
                Some(Compiled::new(d, expected, RegexRules(Dialect::Oro)))
            }
        };
        JsonPathAssertion {
            name: Name::decode(d),
            path,
            path_text: d.template("JSON_PATH"),
            validates,
            expected,
            expects_null: Flag::decode(d, "EXPECT_NULL", false),
            inverts: Flag::decode(d, "INVERT", false),
        }
    }

    /// `doAssert`.
    ///
    /// # Errors
    /// With the message of the exception it throws if the assertion does not hold.
    fn assert(&self, cx: &mut Context, json: &Json<'_>) -> Result<(), String> {
        let path = self.path.as_ref().ok_or("path can not be null or empty")?;
        let path = path.get(cx).outcome?;
        let found = path.read(json).map_err(|error| error.message)?;
        if !self.validates.get(cx) {
            return Ok(());
        }
        let expects_null = self.expects_null.get(cx);
        let (items, java_name) = match &*found {
            Value::Array(items) if items.is_empty() && self.expected_text(cx) == "[]" => {
                return Ok(());
            }
            Value::Array(items) => (items.as_slice(), "subj"),
            found => (std::slice::from_ref(found), "value"),
        };
        for item in items {
            if !matches!(item, Value::Null) {
                if self.matches(cx, item)? {
                    return Ok(());
                }
            } else if expects_null {
                return Ok(());
            } else {
                return Err(format!(
                    "Cannot invoke \"Object.toString()\" because \"{java_name}\" is null"
                ));
            }
        }
        let text = found.to_java_text();
        Err(match expects_null {
            true => format!("Value expected to be null, but found '{text}'"),
            false => format!(
                "Value expected to be '{}', but found '{text}'",
                self.expected_text(cx)
            ),
        })
    }

    /// `isEquals`.
    fn matches(&self, cx: &mut Context, found: &Value<'_>) -> Result<bool, String> {
        let Some(expected) = &self.expected else {
            return Ok(false);
        };
        let pattern = expected.get(cx).outcome.map_err(|exception| {
            exception
                .strip_prefix(MALFORMED)
                .map_or(exception.clone(), str::to_owned)
        })?;
        Ok(pattern.full_match(&found.to_java_text()))
    }

    fn expected_text(&self, cx: &mut Context) -> String {
        let expected = self.expected.as_ref();
        expected.map_or_else(String::new, |expected| expected.get(cx).text.into_string())
    }

    /// What is wrong although the assertion holds.
    fn inverted_failure(&self, cx: &mut Context) -> String {
        let path = self.path_text.eval(cx).into_string();
        if !self.validates.get(cx) {
            return format!("Failed that JSONPath not exists: {path}");
        }
        match self.expects_null.get(cx) {
            true => format!("Failed that JSONPath {path} not matches null"),
            false => format!(
                "Failed that JSONPath {path} not matches {}",
                self.expected_text(cx)
            ),
        }
    }
}

const MALFORMED: &str = "org.apache.oro.text.MalformedCachePatternException: ";

impl Assertion for JsonPathAssertion {
    fn check(&self, cx: &mut Context, sample: &mut Sample) -> AssertionResult {
        let Some(data) = sample.response_data.clone().filter(|data| !data.is_empty()) else {
            return self.name.fail_for_null(cx);
        };
        let text = String::from_utf8_lossy(&data);
        let input = match *cx.parsed.body_text(sample) == *text {
            true => Input::Result(sample),
            false => Input::Variable(text.into()),
        };
        let body = cx.parsed.json(&input);
        let outcome = match body.get() {
            Ok(json) => self.assert(cx, json),
            Err(error) => Err(error.to_string()),
        };
        match (outcome, self.inverts.get(cx)) {
            (Ok(()), false) | (Err(_), true) => self.name.pass_with_empty_message(cx),
            (Err(message), false) => self.name.fail(cx, message),
            (Ok(()), true) => {
                let message = self.inverted_failure(cx);
                self.name.fail(cx, message)
            }
        }
    }

    fn name(&self, cx: &mut Context) -> String {
        self.name.text(cx).to_string()
    }

    fn needs(&self) -> Needs {
        Needs::BODY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    const BODY: &str = r#"{"a":{"x":1,"y":[1,2.50]},"n":null,"s":"q","e":[],"l":[{"k":1},"t",true],"m":["t",null]}"#;

    /// The message; `flags` are validation, null and invert. Passing gives the empty message.
    fn check(body: &str, path: &str, expected: &str, flags: &str) -> String {
        let class = "com.atlantbh.jmeter.plugins.jsonutils.jsonpathassertion.JSONPathAssertion";
        let flag = |index: usize| flags.as_bytes()[index] == b'1';
        let xml = format!(
            r#"<{class} guiclass="g" testclass="{class}" testname="j"><stringProp name="JSON_PATH">{path}</stringProp>
            <stringProp name="EXPECTED_VALUE">{expected}</stringProp><boolProp name="JSONVALIDATION">{}</boolProp>
            <boolProp name="EXPECT_NULL">{}</boolProp><boolProp name="INVERT">{}</boolProp></{class}>"#,
            flag(0),
            flag(1),
            flag(2)
        );
        let (assertion, mut cx, _) =
            fixture::decode_with_findings(&[], &xml, JsonPathAssertion::decode);
        let verdict = assertion.check(&mut cx, &mut fixture::sample(body));
        let message = verdict.message.expect("the plugin always sets a message");
        assert_eq!(verdict.failure, !message.is_empty());
        message.to_string()
    }

    // Recorded from jmeter-plugins-extras-libs 1.4.0.

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
            ("$.a", ".x=1.*"),
            ("$.e", "[]"),
            ("$.l", "t"),
            ("$.l", "true"),
            ("$.l", ".k=1."),
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
                format!("Value expected to be '{expected}', but found '{found}'")
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
    fn null_is_an_exception_unless_it_is_expected() {
        for (path, java_name) in [("$.n", "value"), ("$.m", "subj")] {
            assert_eq!(
                check(BODY, path, "z", "100"),
                format!("Cannot invoke \"Object.toString()\" because \"{java_name}\" is null")
            );
            assert_eq!(check(BODY, path, "z", "110"), "");
            assert_eq!(check(BODY, path, "z", "101"), "");
        }
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
