//! Size Assertion (`SizeAssertion`): compares the size of a part of a result, or a number in a variable.
//!
//! Properties: `Assertion.test_field` (`SizeAssertion.response_…`; the network size if unknown), `SizeAssertion.size`,
//! `SizeAssertion.operator` (1 = 2 != 3 > 4 < 5 >= 6 <=), and the scope. As in JMeter, a size that is not a number discards the
//! sample.

use drumfire_elements::assertions::size_assertion as facts;
use drumfire_expr::{Raised, Template};
use drumfire_java::values;
use drumfire_results::{AssertionResult, Sample};
use drumfire_web::status::grouped;

use super::verdict::Name;
use crate::base::exception_text::ExceptionText;
use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::decode::scoped::Scoped;
use crate::decode::setting::{Choice, WholeNumber};
use crate::run::needs::Needs;
use crate::run::roles::{Assertion, ResultScope};
use crate::run::view::AssertionView;

#[derive(Clone, Copy)]
enum SizeField {
    Headers,
    Body,
    Code,
    Message,
    Network,
}

pub struct SizeAssertion {
    name: Name,
    scoped: Scoped,
    field: Choice<SizeField>,
    allowed: Template,
    operator: WholeNumber,
}

pub fn decode(d: &mut Decoder) -> Roles {
    Roles::assertion(SizeAssertion::decode(d))
}

impl SizeAssertion {
    fn decode(d: &mut Decoder) -> SizeAssertion {
        SizeAssertion {
            name: Name::decode(d),
            scoped: Scoped::assertion(d),
            field: Choice::decode(d, facts::FIELD.name, "", field),
            allowed: d.template(facts::SIZE.name),
            operator: WholeNumber::decode(d, facts::OPERATOR.name, 0),
        }
    }

    /// The size, or the message that says why there is none.
    fn size(&self, cx: &mut AssertionView, sample: &Sample) -> Result<i64, ExceptionText> {
        let scope = self.scoped.read(cx);
        if scope.is_variable() {
            let value = scope.variable(cx);
            return value
                .as_deref()
                .and_then(values::parse_long)
                .ok_or_else(|| {
                    let name = scope.variable_name();
                    format!(
                        "Error parsing variable name: {name} value: {}",
                        value.as_deref().unwrap_or("null")
                    )
                    .into()
                });
        }
        let field = self.field.get(cx);
        self.field.repeat(cx, field.reads() - 1);
        Ok(match field {
            SizeField::Headers => sample.header_bytes as i64,
            SizeField::Body => sample.body_size() as i64,
            SizeField::Code => sample.code.encode_utf16().count() as i64,
            SizeField::Message => sample.message.encode_utf16().count() as i64,
            SizeField::Network => sample.received_bytes(),
        })
    }
}

/// The part whose size is compared.
fn field(text: &str) -> SizeField {
    match text {
        "SizeAssertion.response_headers" => SizeField::Headers,
        "SizeAssertion.response_data" => SizeField::Body,
        "SizeAssertion.response_code" => SizeField::Code,
        "SizeAssertion.response_message" => SizeField::Message,
        _ => SizeField::Network,
    }
}

impl SizeField {
    /// How often JMeter reads the property, once for each value that it may have (`getResult`).
    fn reads(self) -> usize {
        match self {
            SizeField::Headers => 1,
            SizeField::Body => 2,
            SizeField::Code => 3,
            SizeField::Message | SizeField::Network => 4,
        }
    }
}

/// Whether the sizes compare as wanted, and what JMeter says if not.
fn compare(operator: i32, size: i64, allowed: i64) -> (bool, &'static str) {
    match operator {
        1 => (size == allowed, "been equal to"),
        2 => (size != allowed, "not been equal to"),
        3 => (size > allowed, "been greater than"),
        4 => (size < allowed, "been less than"),
        5 => (size >= allowed, "been greater or equal to"),
        6 => (size <= allowed, "been less than or equal to"),
        _ => (false, "ERROR - invalid condition"),
    }
}

impl Assertion for SizeAssertion {
    fn check(&self, cx: &mut AssertionView, sample: &mut Sample) -> AssertionResult {
        let size = match self.size(cx, sample) {
            Ok(size) => size,
            Err(message) => return self.name.fail(cx, message),
        };
        let text = self.allowed.eval(cx);
        let Some(allowed) = values::parse_long(&text) else {
            cx.raise(Raised::exception(format!(
                "java.lang.NumberFormatException: For input string: \"{text}\""
            )));
            return self.name.pass(cx);
        };
        let (holds, should) = compare(self.operator.get(cx), size, allowed);
        if holds {
            return self.name.pass(cx);
        }
        self.allowed.repeat(cx, 1);
        let message = format!(
            "The result was the wrong size: It was {} bytes, but should have {should} {} bytes.",
            grouped(size),
            grouped(allowed)
        );
        self.name.fail(cx, message)
    }

    fn scope(&self, cx: &mut AssertionView) -> ResultScope {
        self.scoped.scope(cx)
    }

    fn name(&self) -> &Template {
        self.name.template()
    }

    fn needs(&self) -> Needs {
        Needs::NOTHING
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::view::View;

    fn check(
        field: &str,
        size: &str,
        operator: i32,
        more: &str,
    ) -> (Option<String>, Option<Raised>) {
        let xml = format!(
            r#"<SizeAssertion guiclass="x" testclass="SizeAssertion" testname="s"><stringProp name="Assertion.test_field">SizeAssertion.{field}</stringProp>
            <stringProp name="SizeAssertion.size">{size}</stringProp><intProp name="SizeAssertion.operator">{operator}</intProp>{more}</SizeAssertion>"#
        );
        let (assertion, mut cx) = fixture::decode(&xml, SizeAssertion::decode);
        cx.vars.set_named("v", "12".into());
        let mut sample = Sample {
            header_bytes: 100,
            body_bytes: 12345,
            ..Sample::default()
        };
        sample.set_ok();
        let verdict = assertion.check(View::of(&mut cx), &mut sample);
        (
            verdict.message.map(|message| message.to_string()),
            cx.take_raised(),
        )
    }

    fn wrong(size: &str, should: &str) -> (Option<String>, Option<Raised>) {
        (
            Some(format!(
                "The result was the wrong size: It was {size} bytes, but should have {should} bytes."
            )),
            None,
        )
    }

    #[test]
    fn each_operator_says_what_should_have_been() {
        let body = |size: &str, operator| check("response_data", size, operator, "");
        assert_eq!(body("2", 1), wrong("12,345", "been equal to 2"));
        assert_eq!(
            body("12345", 2),
            wrong("12,345", "not been equal to 12,345")
        );
        assert_eq!(
            body("1234567", 3),
            wrong("12,345", "been greater than 1,234,567")
        );
        assert_eq!(body("5", 4), wrong("12,345", "been less than 5"));
        assert_eq!(
            body("1234567", 5),
            wrong("12,345", "been greater or equal to 1,234,567")
        );
        assert_eq!(
            body("5", 6),
            wrong("12,345", "been less than or equal to 5")
        );
        assert_eq!(body("5", 0), wrong("12,345", "ERROR - invalid condition 5"));
        for (size, operator) in [
            ("12345", 1),
            ("1", 2),
            ("1", 3),
            ("99999", 4),
            ("12345", 5),
            ("12345", 6),
        ] {
            assert_eq!(body(size, operator), (None, None));
        }
    }

    #[test]
    fn each_field_has_its_size() {
        for (field, size) in [
            ("response_headers", "100"),
            ("response_code", "3"),
            ("response_message", "2"),
            ("response_network_size", "12445"),
        ] {
            assert_eq!(check(field, size, 1, ""), (None, None), "{field}");
        }
    }

    #[test]
    fn a_variable_holds_the_size() {
        let scope = |name: &str| {
            format!(
                r#"<stringProp name="Assertion.scope">variable</stringProp><stringProp name="Scope.variable">{name}</stringProp>"#
            )
        };
        assert_eq!(check("response_data", "12", 1, &scope("v")), (None, None));
        let message = "Error parsing variable name: w value: null".to_owned();
        assert_eq!(
            check("response_data", "12", 1, &scope("w")),
            (Some(message), None)
        );
    }

    #[test]
    fn a_size_that_is_no_number_loses_the_sample() {
        assert!(matches!(
            check("response_data", "", 1, "").1,
            Some(Raised::Exception(_))
        ));
    }
}
